"""What delays leave in numbers: a step that is read late, and first steps that are taken out of a closed form."""

from __future__ import annotations

from sympy import Add, Dummy, Expr, Max, Min, Pow, S, Sum, Symbol, default_sort_key, preorder_traversal

from symmem.algebra.atoms import STEP
from symmem.program.digits.decay_functions import Complete, Whole


def takes_out_first_steps(number: Expr) -> bool:
    """Whether a number still takes the first steps of a delay out of a closed form: powers of decays, subtracted.

    Sums over the past that stay stand beside one another; what is inside them is looked at by itself.
    """
    every = [each for each in preorder_traversal(number) if isinstance(each, Add) and each.has(Min, Max)]
    sums = (each.xreplace({inner: Dummy() for inner in each.atoms(Sum)}) for each in every)
    return any(
        each.has(Min, Max)
        and (any(power.exp.free_symbols for power in each.atoms(Pow)) or _has_late_sums(each))
        and len({term.could_extract_minus_sign() for term in each.args}) > 1
        for each in sums
    )


def _has_late_sums(number: Expr) -> bool:
    """Whether sums of products of decays stand in it, some of which begin two steps late or more."""
    late = (late_step(each) for each in number.atoms(Complete))
    return any(each is not None and not each.has(STEP - 1) for each in late)


def counted(number: Expr) -> Expr:
    """``n - max(0, n - d)``, the steps since a value was read, as ``min(n, d)``: no large number is subtracted."""
    if not isinstance(number, Add):
        return number
    factors = {term: factor for factor, term in (each.as_coeff_Mul() for each in number.args)}
    for late, factor in factors.items():
        if isinstance(late, Max) and late_step(late) is not None and factors.get(STEP) == -factor:
            (step,) = (argument for argument in late.args if argument != 0)
            rest = Add(*(factor * term for term, factor in factors.items() if term not in (STEP, late)))
            return rest - factor * Min(STEP, STEP - step)
    return number


def by_indicator(number: Expr, steps: frozenset[Symbol]) -> tuple[Expr, Expr, Expr] | None:
    """``max(0, min(1, n - d))``, which is 0 or 1, in a sum that has it, and its two values; None where there is none.

    ``a + b - a x`` has lost b for x = 1, where a is large; ``(a + b) (1 - x) + b x`` has not.
    """
    if not isinstance(number, Add):
        return None
    # That of the index of a sum inside the number stays inside that sum.
    outside = [each for each in number.atoms(Max, Min) if each.free_symbols <= number.free_symbols]
    for each in sorted(outside, key=default_sort_key):
        least = [part for part in each.args if part != 0] if isinstance(each, Max) else [each]
        if len(least) == 1 and isinstance(least[0], Min) and len(least[0].args) == 2:
            one, step = sorted(least[0].args, key=lambda part: part != 1)
            begins = step in steps or (isinstance(each, Max) and _is_moved(step, steps))
            if one == 1 and begins:
                return each, number.xreplace({each: S.Zero}), number.xreplace({each: S.One})
    return None


def _is_moved(step: Expr, steps: frozenset[Symbol]) -> bool:
    """Whether it is a step and a whole number."""
    return any((step - each).is_Integer for each in steps)


def either(indicator: Expr, before: Expr, since: Expr) -> Expr:
    """The one value or the other; of the two terms one is 0."""
    return before * Whole(1 - indicator) + since * indicator


def late_step(scalar: Expr) -> Expr | None:
    """``max(0, n - d)`` where a number depends on n through it alone, as what is read at a delay does; else None."""
    found = [atom for atom in scalar.atoms(Max) if STEP in atom.free_symbols]
    if (
        len(found) != 1
        or S.Zero not in found[0].args
        or STEP in scalar.xreplace({found[0]: S.One}).free_symbols
    ):
        return None
    (step,) = (argument for argument in found[0].args if argument != 0)
    return found[0] if (STEP - step).is_Integer else None
