"""Where the expansion asks for a step that is small against a parameter, as h^2 << eps (mathematics.md section 9).

``sqrt(m2 - m3**2 + eps)``: on a constant history ``m2 = m3**2``, and eps alone is left under the root.  On the true
history ``m2 - m3**2`` is O(h^2), and the expansion in h is one in ``h^2/eps``.  For ``m1 - m2 + eps`` with two
averages of the gradient it is O(h), and the expansion is one in ``h/eps``.  The same holds where the gradient stays
as a factor: ``(m1 - m2)**2 + delta*m1*m2`` is ``delta grad**2`` there.
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Add, Expr, Pow, Rational, S, Symbol

from symmem.algebra.atoms import GRAD, LR, is_scalar
from symmem.algebra.directional import derivative
from symmem.algebra.results import Assumption, Sentence
from symmem.derivation.gains import at_frozen_point, limit_gains
from symmem.derivation.paths import paths
from symmem.derivation.singular import singular_limit
from symmem.derivation.smoothness import rough_parts
from symmem.method.method import Method


def small_steps(method: Method, order: int) -> Iterator[Assumption]:
    """One sentence for each part of Phi, or of a g that reads others, that a parameter alone keeps from 0."""
    for inner, left, power in _left_to_parameters(method, order):
        reason = (
            (", without the gradient",) if is_scalar(left) else (", and 0 without ", *_small(left, method))
        )
        words = (inner, " is ", left, " on a constant history", *reason, ": the expansion needs ")
        yield Assumption(
            Sentence.of(*words, LR**power, " much smaller than ", left, *_numbers(left, power, method))
        )


def largest_step(method: Method, order: int = 1) -> float | None:
    """The number that h has to be well below at the defaults, for gradients of size 1; None where there is none."""
    found = _left_to_parameters(method, order)
    values = [(left.xreplace({**method.defaults, GRAD: S.One}), power) for _, left, power in found]
    numbers = [
        float(value) ** (1 / power) for value, power in values if value.is_number and value.is_positive
    ]
    return min(numbers, default=None)


def _left_to_parameters(method: Method, order: int) -> Iterator[tuple[Expr, Expr, int]]:
    """The part, its frozen value, and the power of h that has to be small against that."""
    if singular_limit(method, order) is not None:
        return
    readers = [channel.g for channel in method.channels if method.read_by(channel)]
    for rough in (each for part in (method.phi, *readers) for each in rough_parts(part, order)):
        seen = [c for c in method.channels if rough.inner.has(c.symbol) and paths(method, c)]
        left = at_frozen_point(rough.inner, method, limit_gains(method))
        if not seen or left == 0:
            continue
        bare = rough.inner.xreplace(dict.fromkeys(_small(left, method), S.Zero))
        if not is_scalar(left) and bare in (S.Zero, rough.inner):
            continue
        yield rough.inner, left, 2 if _first_order(bare, method) == 0 else 1


def _small(left: Expr, method: Method) -> tuple[Symbol, ...]:
    """The parameters without which this frozen value is 0."""
    return tuple(p for p in method.defaults if p in left.free_symbols and left.xreplace({p: S.Zero}) == 0)


def _first_order(inner: Expr, method: Method) -> Expr:
    """What is O(h) in the inner expression: along each path a channel lies ``f_1 slope`` from its frozen value."""
    moved = [
        derivative(inner, {c.symbol: path.kernel.factorial_moment(1) * path.slope})
        for c in method.channels
        if inner.has(c.symbol)
        for path in paths(method, c)
    ]
    return at_frozen_point(Add(*moved), method, limit_gains(method))


def _numbers(left: Expr, power: int, method: Method) -> tuple[str | Expr, ...]:
    """At the defaults: the h that is to be small against."""
    value = left.xreplace(method.defaults)
    if not (isinstance(value, Rational) and value > 0):
        return ()
    return (f" (at the defaults h well below {float(Pow(value, Rational(1, power))):.3g})",)
