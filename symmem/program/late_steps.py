"""What delays leave in numbers: a step that is read late, and first steps that are taken out of a closed form."""

from __future__ import annotations

from sympy import Add, Expr, Max, Min, Pow, S, preorder_traversal

from symmem.algebra.atoms import STEP


def takes_out_first_steps(scalar: Expr) -> bool:
    """Whether a sum in it takes the first steps of a delay out of a closed form, which subtracts."""
    sums = (each for each in preorder_traversal(scalar) if isinstance(each, Add))
    return any(
        each.has(Min, Max) and each.has(Pow) and any(term.could_extract_minus_sign() for term in each.args)
        for each in sums
    )


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
