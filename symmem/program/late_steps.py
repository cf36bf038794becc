"""What delays leave in numbers: a step that is read late, and first steps that are taken out of a closed form."""

from __future__ import annotations

from sympy import Add, Dummy, Expr, Max, Min, Pow, S, Sum, preorder_traversal

from symmem.algebra.atoms import STEP


def takes_out_first_steps(number: Expr) -> bool:
    """Whether a number still takes the first steps of a delay out of a closed form: powers of decays, subtracted.

    Sums over the past that stay stand beside one another; what is inside them is looked at by itself.
    """
    every = [each for each in preorder_traversal(number) if isinstance(each, Add) and each.has(Min, Max)]
    sums = (each.xreplace({inner: Dummy() for inner in each.atoms(Sum)}) for each in every)
    return any(
        each.has(Min, Max)
        and any(power.exp.free_symbols for power in each.atoms(Pow))
        and len({term.could_extract_minus_sign() for term in each.args}) > 1
        for each in sums
    )


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
