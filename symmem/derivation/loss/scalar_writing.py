"""A modified loss as a person writes it: power by power of h, one term for each contraction, equal factors together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sympy import Add, Expr, Mul

from symmem.algebra.atoms import LR, moves_with_theta, terms_of
from symmem.algebra.scalar_forms import canonical
from symmem.algebra.scalars import Scalars


def gathered(potential: Expr, numbers: Scalars, values: Mapping[Expr, Expr] | None = None) -> Expr:
    """The scalar, equal in value: its coefficients in lowest terms, the common one of each power of h in front.

    ``values`` are put in for symbols of the coefficients.
    """
    rows: dict[Expr, dict[Expr, list[Expr]]] = {}
    for term in terms_of(canonical(potential)):
        factors = Mul.make_args(term)
        power = Mul(*(factor for factor in factors if factor.as_base_exp()[0] == LR))
        moving = Mul(*(factor for factor in factors if moves_with_theta(factor)))
        fixed = Mul(*(f for f in factors if f.as_base_exp()[0] != LR and not moves_with_theta(f)))
        rows.setdefault(power, {}).setdefault(moving, []).append(fixed)
    return Add(*(power * _row(row, numbers, values or {}) for power, row in rows.items()))


def _row(row: Mapping[Expr, list[Expr]], numbers: Scalars, values: Mapping[Expr, Expr]) -> Expr:
    return by_factor(
        ((numbers.tidy(Add(*factors).xreplace(dict(values))), part) for part, factors in row.items()), numbers
    )


def by_factor(terms: Iterable[tuple[Expr, Expr]], numbers: Scalars) -> Expr:
    """``sum of factor * part``: the parts whose factors differ by a number together, the common factor in front."""
    shared: dict[Expr, list[Expr]] = {}
    for factor, part in terms:
        if factor != 0:
            number, core = numbers.split_number(factor)
            shared.setdefault(core, []).append(number * part)
    content = numbers.content(list(shared))
    return Mul(content, Add(*(numbers.ratio(core, content) * Add(*parts) for core, parts in shared.items())))
