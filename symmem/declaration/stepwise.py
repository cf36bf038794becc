"""Numbers that depend on the step: ``min``, ``max``, ``where`` and ``prod``, for b and for the rate.

Nothing is differentiated there, so branches are allowed.  Guarded as :mod:`symmem.declaration.bounded` is: SymPy
evaluates no more than it can in no time, and a product with given ends is written out, up to a bound.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import MappingProxyType

from sympy import And, Expr, Ge, Gt, Integer, Le, Lt, Max, Min, Or, Product, S, Symbol
from sympy.logic.boolalg import Boolean

from symmem.algebra.atoms import STEP
from symmem.algebra.where import where
from symmem.declaration import bounded

MAX_FACTORS = 64
"""Of a product whose ends are numbers."""
NAMES = ("min", "max", "where", "prod")
COMPARISONS: Mapping[type[ast.cmpop], Callable[..., Boolean]] = MappingProxyType(
    {ast.Lt: Lt, ast.LtE: Le, ast.Gt: Gt, ast.GtE: Ge}
)


NESTED = "prod: a product inside a product is not known; write it as one, over one index"


class NotWholeError(bounded.ArithmeticRefusal):
    """A product that does not begin and end at whole numbers."""


class NestedProductError(bounded.ArithmeticRefusal):
    """A product over several indices."""


def extreme(name: str, arguments: list[Expr]) -> Expr:
    """``min(x, y, ...)`` or ``max(x, y, ...)``."""
    evaluate = not any(map(bounded.is_nested, arguments))
    return bounded.checked(bounded.built(Min if name == "min" else Max, *arguments, evaluate=evaluate))


def comparison(relation: Callable[..., Boolean], left: Expr, right: Expr) -> Boolean:
    """``left < right`` and its kin."""
    evaluate = not bounded.is_nested(left) and not bounded.is_nested(right)
    return bounded.built(relation, left, right, evaluate=evaluate)


def joined(conditions: list[Boolean], *, all_of_them: bool) -> Boolean:
    """``and`` or ``or``."""
    return And(*conditions) if all_of_them else Or(*conditions)


def chosen(condition: Boolean, value: Expr, otherwise: Expr) -> Expr:
    """The value where the condition holds, else the other one."""
    return bounded.checked(where(condition, value, otherwise))


def product(factor: Expr, index: Symbol, first: Expr, last: Expr) -> Expr:
    """``prod_{index=first..last} factor``: 1 where last < first."""
    if factor.has(Product):
        raise NestedProductError(NESTED)
    for end in (first, last):
        terms = end.as_coefficients_dict()
        whole = set(terms) <= {S.One, STEP} and all(isinstance(each, Integer) for each in terms.values())
        if not whole or terms[STEP] < 0:
            raise NotWholeError(
                f"prod: {end} is no whole number at every step; let it begin and end at numbers such as 1 and n + 1"
            )
    count = last - first + 1
    if isinstance(count, Integer) and not first.free_symbols:
        if count > MAX_FACTORS:
            raise bounded.TooLargeError(
                f"prod: more than {MAX_FACTORS} factors between numbers; let it end at n"
            )
        return bounded.multiply(
            *(bounded.checked(factor.xreplace({index: first + k})) for k in range(int(count)))
        )
    constant = index not in factor.free_symbols
    if constant and bounded.is_positive_at_every_step(count + 1):
        return bounded.power(factor, count)
    return bounded.checked(Product(factor, (index, first, last)))
