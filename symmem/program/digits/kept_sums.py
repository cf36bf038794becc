"""Numbers inside sums over the past that stay: which of them subtract, and the one step that each depends on.

A sum that does not close is added up step by step, ``sum_s w(n, s) f(s)``.  What stands in a term is a number of its
own, and may be a closed form that cancels: ``beta/(1-beta) - (s+1) beta^(s+1)/(1-beta^(s+1))``, the mean lag of step s.
Where it depends on one step, or on the difference of two, it is written as one of step n (mathematics.md section 14).
"""

from __future__ import annotations

from collections.abc import Callable

from sympy import Add, Expr, Mul, Pow, S, Symbol

from symmem.algebra.atoms import STEP, is_scalar, moves_with_theta
from symmem.algebra.real_functions import with_arguments
from symmem.program.digits.decay_functions import Shortfall, Whole
from symmem.program.digits.late_steps import by_indicator, either
from symmem.program.digits.shortfalls import without_cancellation

Stable = Callable[[Expr], Expr]
"""A number of step n, written without cancellation."""


def kept(sum_: Expr, stable: Stable, factored: Stable, failed: Callable[[Expr], None]) -> Expr:
    """A sum with the numbers in its terms written by ``stable``; of two steps, one by one, as they are ``factored``.

    ``failed`` hears of those that subtract for all that.
    """
    steps = frozenset({STEP, *_indices(sum_)})

    def walked(part: Expr) -> Expr:
        if not part.args or not part.free_symbols & steps:
            return part
        split = by_indicator(part, steps) if is_scalar(part) else None
        if split is not None:
            before, since = (walked(factored(each)) for each in split[1:])
            return either(split[0], before, since)
        numbers = [each for each in Mul.make_args(part) if is_scalar(each) and not each.has(type(sum_))]
        for number in numbers:
            if subtracts(number, steps):
                own = number.free_symbols & steps
                beside = [each for each in numbers if _belongs(each, own, steps)]
                found = _of_one_step(Mul(*beside), steps, stable) or _product(Mul(*beside), steps, factored)
                if found is not None:
                    others = [each for each in Mul.make_args(part) if each not in beside]
                    return found * walked(Mul(*others))
                # A norm of vectors has the digits of the numbers in them, which are walked next.
                if not moves_with_theta(number):
                    failed(number)
        return with_arguments(part, map(walked, part.args))

    return without_cancellation(walked(sum_))


def _belongs(factor: Expr, own: frozenset[Symbol], steps: frozenset[Symbol]) -> bool:
    """Whether parts of a factor may cancel with a number of these steps; a weight ``beta^(n-s)`` stays by itself."""
    moving = factor.free_symbols & steps
    return not moving or (moving == own and not (isinstance(factor, Pow) and factor.exp.free_symbols))


def _indices(sum_: Expr) -> set[Symbol]:
    """The indices of a sum and of the sums inside it."""
    return {symbol for each in sum_.find(type(sum_)) for symbol in each.bound_symbols}


def subtracts(number: Expr, steps: frozenset[Symbol] = frozenset({STEP})) -> bool:
    """Whether powers that move with a step are subtracted, other than from 1, anywhere in a number."""
    if not isinstance(number, Add):
        return any(subtracts(each, steps) for each in number.find(Add))
    cleared = without_cancellation(number)
    if not isinstance(cleared, Add) or not any(_moves(term, steps) for term in cleared.args):
        return False
    return len({_is_negative(term) for term in cleared.args}) > 1


def _is_negative(term: Expr) -> bool:
    """The sign of a term as it is shown, factor by factor: ``-k (1 - beta)`` has one, ``1 - beta`` has none."""
    shown = Mul(*(each.args[0] if isinstance(each, Whole) else each for each in Mul.make_args(term)))
    signs = 0
    for factor in Mul.make_args(shown):
        constant = factor.as_coeff_Add()[0] if isinstance(factor, Add) else S.Zero
        signs += bool(constant < 0) if constant != 0 else factor.could_extract_minus_sign()
    return signs % 2 == 1


def _moves(term: Expr, steps: frozenset[Symbol]) -> bool:
    powers = (power.exp for power in term.atoms(Pow))
    shortfalls = (each.args[1] for each in term.atoms(Shortfall))
    return any(exponent.free_symbols & steps for exponent in (*powers, *shortfalls))


def _of_one_step(number: Expr, steps: frozenset[Symbol], stable: Stable) -> Expr | None:
    """The number, stabilised with its step in the place of n; None where it depends on two steps, one by one."""
    present = sorted(number.free_symbols & steps, key=lambda symbol: (symbol != STEP, str(symbol)))
    if len(present) == 1:
        return stable(number.xreplace({present[0]: STEP})).xreplace({STEP: present[0]})
    if len(present) == 2:
        late, early = present
        lag = number.subs(early, late - _LAG)
        if late not in lag.free_symbols:
            return stable(lag.xreplace({_LAG: STEP})).subs(STEP, late - early)
    return None


def _product(number: Expr, steps: frozenset[Symbol], factored: Stable) -> Expr | None:
    """The number as a product, where no factor subtracts: the tail of ``grad - c m1`` is ``1 - c`` times that of m1."""
    found = factored(number)
    return None if subtracts(found, steps) else found


_LAG = Symbol("lag")
"""How many steps one lies before the other; no name of a declaration reaches it."""
