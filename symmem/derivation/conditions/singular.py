"""Singular places: where Phi or its derivatives have no value on a constant history there is no result, but a reason.

The one guard of a Derivation: no ``nan``, ``zoo`` or ``oo`` leaves it.  Six ways to get there:

    m1/sqrt(m2 - m3**2)   for n -> infinity m2 = m3**2 on a constant history: 0/0      (centred RMSProp without eps)
    1/m1, b -> 0          the frozen value of m1 tends to 0
    sign(m1 - m2)         for n -> infinity m1 = m2 on a constant history, and the sign is that of what is left out
    m2/m1, b = n - 3      m1 is 0 at step 3 whatever the history
    sqrt(-1 - m1**2)      no real value at any gradient
    1/(m1 - 1), g = 1     with bias correction m1 is 1 at every step; without it, with b = 1, at the first one
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TypeVar

from sympy import Expr, Integer, Poly, Symbol, fraction, together

from symmem.algebra.atoms import STEP
from symmem.algebra.finite import is_finite
from symmem.algebra.head import Roughness
from symmem.algebra.results import Missing, Named, Part, Sentence, Whose
from symmem.derivation.conditions.real_values import never_real
from symmem.derivation.conditions.smoothness import rough_parts
from symmem.derivation.gains import (
    Gains,
    at_frozen_point,
    frozen_point,
    frozen_update,
    gains,
    limit_gains,
    unsettled,
)
from symmem.method.method import Method

Result = TypeVar("Result")

FIRST_STEPS = 4
"""At these an update is tried, and a gain for 0, whatever it is made of; a polynomial in n has its roots tried too."""
LAST_STEP = 1_000_000
"""No run is longer: a factor that vanishes later is not looked at there."""
_EPS = Sentence.of("keep its denominators and roots away from zero, e.g. with an ", Symbol("eps"))
_SMOOTH = Sentence.of("take a smooth function in its place, e.g. with an ", Symbol("eps"), " under a root")
_REAL = Sentence.of("change a sign, or take abs(x) of the argument")
_AT_ZERO = (Roughness.ROOT, Roughness.SINGULAR, Roughness.JUMP, Roughness.KINK)
"""What may not stand at the zero of its argument whatever the gradient: ``sign(m1 - m2)`` is 1 or -1 all the same."""


def guarded(whose: Whose, place: str, expressions: Iterable[Expr], result: Result) -> Result | Missing:
    """The result, if the expressions that it is made of are finite; else the reason."""
    if all(map(is_finite, expressions)):
        return result
    return Missing(Sentence.of(whose, place, ": the formula divides by zero there"), (_EPS,))


@lru_cache(maxsize=256)
def singular_step(method: Method, order: int) -> Missing | None:
    """Why there is no F at step n: Phi is singular on every constant history, or at one step whatever the history."""
    found = _singular(method, order, gains(method), "where the history is constant")
    if found is not None:
        return found
    zeros = frozenset(_steps_of_zero_gains(method))
    for step in sorted(zeros.union(range(FIRST_STEPS))):
        if not is_finite(_update_at(method, step)):
            phi = (Whose(method.name), Named("Phi"), " = ", method.phi)
            why = ", where a b is 0" if step in zeros else ", whatever the history"
            return Missing(Sentence.of(*phi, f" has no value at step n = {step}{why}"), (_EPS,))
    return None


def _update_at(method: Method, step: int) -> Expr:
    """``F^(n)`` at n = ``step``; a zero is put into Phi before anything is collected."""
    if method.is_cascade:
        return frozen_update(method, gains(method)).xreplace({STEP: Integer(step)})
    return frozen_update(method, tuple(gain.xreplace({STEP: Integer(step)}) for gain in gains(method)))


@lru_cache(maxsize=256)
def singular_limit(method: Method, order: int) -> Missing | None:
    """Why there is no limit of many steps: the gains have none, or Phi is singular there."""
    for missing in (unsettled(method), singular_step(method, order)):
        if missing is not None:
            return missing
    return _singular(method, order, limit_gains(method), "where the history is constant, for n -> infinity")


def _singular(method: Method, order: int, values: Gains, where: str) -> Missing | None:
    phi = (Whose(method.name), Named("Phi"), " = ", method.phi)
    if not is_finite(frozen_update(method, values)):
        point = frozen_point(method, values)
        for position, channel in enumerate(method.channels, start=1):
            if method.read_by(channel) and not is_finite(point[channel.symbol]):
                place = f"momentum {position}: g = "
                return Missing(Sentence.of(phi[0], place, channel.g, f" is singular {where}"), (_EPS,))
        return Missing(Sentence.of(*phi, f" is singular {where}"), (_EPS,))
    named: list[tuple[tuple[Part, ...], Expr, bool]] = [(phi[:2], method.phi, True)]
    for position, channel in enumerate(method.channels, start=1):
        named.append(((phi[0], f"g of momentum {position}"), channel.g, bool(method.read_by(channel))))
    for name, expression, reads in named:
        for part, which in never_real(expression, method, values):
            why = f", which has no real value {where}: its argument is never above 0{which}"
            return Missing(Sentence.of(*name, " contains ", part, why), (_REAL,))
        for rough in rough_parts(expression, order) if reads else ():
            if rough.roughness in _AT_ZERO and at_frozen_point(rough.inner, method, values) == 0:
                words = (" contains ", rough.part, ", which is not differentiable ", where, ": ", rough.inner)
                advice = _SMOOTH if rough.roughness in (Roughness.JUMP, Roughness.KINK) else _EPS
                return Missing(Sentence.of(*name, *words, " is 0 there, whatever the gradient"), (advice,))
    return None


def _steps_of_zero_gains(method: Method) -> Iterator[int]:
    """Steps at which a channel is 0 whatever the history."""
    for gain in gains(method):
        if STEP not in gain.free_symbols:
            continue
        for step in range(FIRST_STEPS):
            if gain.xreplace({STEP: Integer(step)}) == 0:
                yield step
        for factor in fraction(together(gain))[0].as_ordered_factors():
            if factor.free_symbols == {STEP} and factor.is_polynomial(STEP):
                roots = Poly(factor, STEP).ground_roots()
                yield from (
                    int(root) for root in roots if root.is_Integer and FIRST_STEPS <= root <= LAST_STEP
                )
