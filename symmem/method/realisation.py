"""A kernel as a linear recursion: what code keeps while the method runs, and what noise is summed with.

    x <- A x + B g,      m = C x,      before the step n = 0:  x = first g(theta_0)

A sum of kernels stands side by side, a memory of a memory in series.
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Add, Expr, Integer, S

from symmem.algebra.atoms import STEP
from symmem.records import record


@record(frozen=True)
class Realisation:
    """The entries may depend on n, the step that is being made; ``first`` is 0 for a state that starts empty."""

    A: tuple[tuple[Expr, ...], ...]
    B: tuple[Expr, ...]
    C: tuple[Expr, ...]
    first: tuple[Expr, ...]

    @property
    def delay(self) -> int:
        """d for a shift register, which gives the oldest of its d + 1 values; 0 for one running sum."""
        size = len(self.B)
        shift = tuple(tuple(S.One if j == i - 1 else S.Zero for j in range(size)) for i in range(size))
        assert size == 1 or shift == self.A, "neither one sum nor a shift register"
        return size - 1


def side_by_side(realisations: Sequence[Realisation]) -> Realisation:
    """The realisation of a sum: all states at once, and m the sum of what they give."""
    total = sum(len(each.B) for each in realisations)
    rows: list[tuple[Expr, ...]] = []
    for each in realisations:
        before = (S.Zero,) * len(rows)
        after = (S.Zero,) * (total - len(rows) - len(each.B))
        rows += [(*before, *row, *after) for row in each.A]
    return Realisation(
        tuple(rows),
        tuple(entry for each in realisations for entry in each.B),
        tuple(entry for each in realisations for entry in each.C),
        tuple(entry for each in realisations for entry in each.first),
    )


def in_series(outer: Realisation, inner: Realisation) -> Realisation:
    """The outer recursion fed with what the inner one gives at the same step, ``y = C2 (A2 x2 + B2 g)``."""
    read = [_dot(inner.C, [row[j] for row in inner.A]) for j in range(len(inner.B))]
    through = _dot(inner.C, inner.B)
    rows = [(*row, *(b * entry for entry in read)) for row, b in zip(outer.A, outer.B, strict=True)]
    rows += [((S.Zero,) * len(outer.B) + row) for row in inner.A]
    # A state of the outer one that starts with the first value starts with y at n = 0.
    updated = [_dot(row, inner.first) + b for row, b in zip(inner.A, inner.B, strict=True)]
    start = _dot(inner.C, updated).xreplace({STEP: Integer(0)})
    return Realisation(
        tuple(rows),
        (*(b * through for b in outer.B), *inner.B),
        (*outer.C, *(S.Zero for _ in inner.C)),
        (*(entry * start for entry in outer.first), *inner.first),
    )


def _dot(left: Sequence[Expr], right: Sequence[Expr]) -> Expr:
    return Add(*(x * y for x, y in zip(left, right, strict=True)))
