"""Where the expansion asks for a step that is small against a parameter, as h^2 << eps (mathematics.md section 9).

``sqrt(m2 - m3**2 + eps)``: on a constant history ``m2 = m3**2``, and eps alone is left under the root.  On the true
history ``m2 - m3**2`` is O(h^2), and the expansion in h is one in ``h^2/eps``.  For ``m1 - m2 + eps`` with two
averages of the gradient it is O(h), and the expansion is one in ``h/eps``.  The same holds where the gradient stays
as a factor: ``(m1 - m2)**2 + delta*m1*m2`` is ``delta grad**2`` there.  How large that O(h) or O(h^2) is, with all
memories through which it comes, says :mod:`.drift`.
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Add, Expr, S, Symbol
from sympy.core.relational import Relational

from symmem.algebra.atoms import GRAD, LR, THETA, is_constant
from symmem.algebra.directional import derivative
from symmem.algebra.results import Assumption, Sentence
from symmem.derivation.conditions.drift import drift
from symmem.derivation.conditions.singular import singular_limit
from symmem.derivation.conditions.smoothness import rough_parts
from symmem.derivation.gains import at_frozen_point, limit_gains
from symmem.derivation.past.paths import paths
from symmem.method.method import Method
from symmem.records import record


@record(frozen=True)
class Left:
    """``part`` is ``frozen`` on a constant history, by its small parameters; ``bare`` is the part without these."""

    part: Expr
    frozen: Expr
    bare: Expr
    power: int


def small_steps(method: Method, order: int) -> Iterator[Assumption]:
    """One sentence for each part of Phi, or of a g that reads others, that a parameter alone keeps from 0."""
    for left in _left_to_parameters(method, order):
        small = () if is_constant(left.frozen) else ("and 0 without ", *_small(left.frozen, method))
        words = (
            left.part,
            " is ",
            left.frozen,
            " on a constant history, ",
            *(small or ("without the gradient",)),
        )
        rest = (": the expansion needs what the true history adds, of the order of ", LR**left.power)
        yield Assumption(
            Sentence.of(*words, *rest, ", to be much smaller than that", *_numbers(left, method))
        )


def largest_step(method: Method, order: int = 1) -> float | None:
    """The number that h has to be well below at the defaults, with all of size 1; None where there is none."""
    found = [_largest(left, method) for left in _left_to_parameters(method, order)]
    return min((number for number in found if number is not None), default=None)


def _left_to_parameters(method: Method, order: int) -> Iterator[Left]:
    """The parts, and the power of h that has to be small against their frozen values."""
    if singular_limit(method, order) is not None:
        return
    readers = [channel.g for channel in method.channels if method.read_by(channel)]
    for rough in (each for part in (method.phi, *readers) for each in rough_parts(part, order)):
        seen = [c for c in method.channels if rough.inner.has(c.symbol) and paths(method, c)]
        left = at_frozen_point(rough.inner, method, limit_gains(method))
        if not seen or left.is_number:  # a number is no small parameter
            continue
        bare = rough.inner.xreplace(dict.fromkeys(_small(left, method), S.Zero))
        if not is_constant(left) and bare in (S.Zero, rough.inner):
            continue
        yield Left(rough.inner, left, bare, 2 if _first_order(bare, method) == 0 else 1)


def _small(left: Expr, method: Method) -> tuple[Symbol, ...]:
    """The parameters without which this frozen value is 0; one that a condition compares has no such place."""
    compared = {symbol for each in left.atoms(Relational) for symbol in each.free_symbols}
    asked = [p for p in method.defaults if p in left.free_symbols - compared]
    return tuple(p for p in asked if left.xreplace({p: S.Zero}) == 0)


def _first_order(inner: Expr, method: Method) -> Expr:
    """What is O(h) in the inner expression: along each path a channel lies ``f_1 slope`` from its frozen value."""
    moved = [
        derivative(inner, {c.symbol: path.kernel.factorial_moment(1) * path.slope})
        for c in method.channels
        if inner.has(c.symbol)
        for path in paths(method, c)
    ]
    return at_frozen_point(Add(*moved), method, limit_gains(method))


def _largest(left: Left, method: Method) -> float | None:
    """``(frozen/c)^(1/p)`` where the part moves by ``c h^p``; None where the frozen value is no number above 0."""
    value = left.frozen.xreplace({**method.defaults, GRAD: S.One, THETA: S.One})
    if not (value.is_number and value.is_positive):
        return None
    # A tensor has no unit: there memory is not counted.
    moved, power = drift(method, left.bare) or drift(method, left.part) or (1.0, left.power)
    return float((float(value) / moved) ** (1 / power))


def _numbers(left: Left, method: Method) -> tuple[str, ...]:
    """At the defaults: what h has to be small against."""
    largest = _largest(left, method)
    if largest is None:
        return ()
    return (f" (at the defaults, with gradient and Hessian of size 1, h well below {largest:.3g})",)
