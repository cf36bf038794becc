"""M and F_straight under any schedule of the learning rate, from a few sums over the past rates.

With the rate h(s) of step s, the past enters by sums ``A(n) = sum_{s<n} f(n, s) h(s)`` (mathematics.md section 2).
Where ``f(n + 1, s) = r f(n, s)`` they go on by themselves:

    A(n + 1) = r (A(n) + f(n, n) h(n)),        for Adam  f = beta^(n-s) (1 - beta^(s+1))/(1 - beta),  r = beta
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain

from sympy import Expr, Product, S, Sum, Symbol, powsimp

from symmem.algebra.atoms import LR, PAST, STEP, is_scalar, moves_with_theta
from symmem.algebra.every import every
from symmem.algebra.families import RATE
from symmem.algebra.results import Missing
from symmem.algebra.where import where
from symmem.derivation.derivation import Derivation
from symmem.method.method import Method
from symmem.program.expansion import formulas
from symmem.program.lowering import vector_routine
from symmem.program.program import Routine
from symmem.program.statements import Internal
from symmem.program.straight import straight_formulas

NOW = Internal("now")
"""The rate of the present step."""


@dataclass(frozen=True)
class PastRates:
    """M and F_straight at step n by the ``sums``; what each of these becomes after the step, of itself and NOW."""

    correction: Routine
    straight: Routine | None
    sums: tuple[Symbol, ...]
    after: tuple[Expr, ...]


def past_rates(derivation: Derivation) -> PastRates | None:
    """The formulas of order 1; None where a sum does not go on by itself, as a sum of vectors does not."""
    if derivation.order != 1:
        return None
    rated = Derivation(_with_any_rate(derivation.method), 1)
    (_, change), _ = formulas(rated)
    line, _, _ = straight_formulas(rated)
    known = [each for each in (change, line) if not isinstance(each, Missing)]
    found = dict.fromkeys(chain.from_iterable(_sums(each) for each in known))
    after = every(map(_after, found))
    if isinstance(change, Missing) or after is None:
        return None
    names = {each: Internal(f"past{k}") for k, each in enumerate(found, start=1)}
    ready = [each.xreplace({**names, LR: S.One}) for each in known]
    if any(each.has(RATE) for each in ready):
        return None
    routines = [vector_routine(each) for each in ready]
    nexts = [each.xreplace(names) for each in after]
    return PastRates(routines[0], (*routines, None)[1], tuple(names.values()), tuple(nexts))


def _with_any_rate(method: Method) -> Method:
    """The method whose rate at step n is what it declares, times a number that is not known yet."""
    made = Method.of(
        method.name,
        method.phi,
        method.channels,
        parameters=method.parameters,
        functions=method.functions,
        declared=method.declared,
        schedule=RATE(STEP) * method.rate_at(STEP),
    )
    return replace(made, channels=method.channels)


def _sums(formula: Expr) -> list[Sum]:
    """The sums of numbers with past rates in them, in an order that does not change."""
    return sorted((each for each in formula.atoms(Sum) if each.has(RATE) and is_scalar(each)), key=str)


def _after(total: Sum) -> Expr | None:
    """``r (A + f(n, n) h(n))``; None where the terms do not fall by a common factor, or are no plain numbers.

    A number that moves with theta is another one after the step, and a branch or a product is a statement of its own.
    """
    index, first, last = total.limits[0]
    if len(total.limits) > 1 or (index, first, last) != (PAST, 0, STEP - 1):
        return None
    term = total.function
    if moves_with_theta(term) or term.has(where, Product):
        return None
    ratio = powsimp(term.xreplace({STEP: STEP + 1}) / term)
    if ratio.has(STEP, PAST):
        return None
    newest = term.xreplace({PAST: STEP}).xreplace({RATE(STEP): NOW})
    return ratio * (total + newest)
