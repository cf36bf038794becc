"""Values into an expression: rebuilt from its leaves by the guarded constructors, as the parser builds it."""

from __future__ import annotations

from collections.abc import Mapping

from sympy import (
    Add,
    And,
    Expr,
    Max,
    Min,
    Mul,
    NumberSymbol,
    Or,
    Piecewise,
    Pow,
    Product,
    Rational,
    S,
    Symbol,
)
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from symmem.algebra.where import where
from symmem.declaration import bounded, hints, stepwise
from symmem.errors import DeclarationError, quote


def substitute(expression: Expr, values: Mapping[Symbol, Expr]) -> Expr:
    """The expression with the values put in; a branch that is not taken is not looked at."""
    if isinstance(expression, Symbol):
        return values.get(expression, expression)
    if isinstance(expression, Piecewise):
        return substitute(_chain(expression), values)
    if isinstance(expression, where):
        return _branch(expression, values)
    if isinstance(expression, Product):
        return _product(expression, values)
    arguments = [substitute(argument, values) for argument in expression.args]
    if isinstance(expression, (Rational, NumberSymbol)):
        return expression
    if isinstance(expression, Add):
        return bounded.add(*arguments)
    if isinstance(expression, Mul):
        return bounded.multiply(*arguments)
    if isinstance(expression, Pow):
        return bounded.power(*arguments)
    if isinstance(expression, (Min, Max)):
        return stepwise.extreme("min" if isinstance(expression, Min) else "max", arguments)
    if isinstance(expression, AppliedUndef):
        return expression.func(*arguments)
    if expression.func in bounded.HEADS and len(arguments) == 1:
        return bounded.call(bounded.HEADS[expression.func], arguments[0])
    raise DeclarationError(
        f"{quote(str(expression))} is not in the language; use exact numbers, symbols, arithmetic "
        f"and {', '.join(bounded.FUNCTIONS)}"
    )


def plain(expression: Expr, *, of_the_step: bool = False) -> Expr:
    """A SymPy expression from Python code, rebuilt with plain symbols; refuses what the language has not."""
    if not of_the_step and expression.has(Min, Max, Piecewise, where, Product):
        raise DeclarationError(f"{quote(str(expression))} is not in the language here: {hints.ONLY_NUMBERS}")
    symbols = expression.atoms(Symbol)
    return substitute(expression, {symbol: Symbol(symbol.name) for symbol in symbols})


def _branch(expression: where, values: Mapping[Symbol, Expr]) -> Expr:
    condition, value, otherwise = expression.args
    holds = _condition(condition, values)
    if holds in (S.true, S.false):
        return substitute(value if holds == S.true else otherwise, values)
    return stepwise.chosen(holds, substitute(value, values), substitute(otherwise, values))


def _chain(expression: Piecewise) -> Expr:
    """SymPy's own branches, from Python code, as one inside another."""
    *branches, (found, condition) = expression.args
    if condition != S.true:
        raise DeclarationError(f"{quote(str(expression))} has no value else; add a branch with True")
    for value, holds in reversed(branches):
        found = where(holds, value, found)
    return found


def _condition(condition: Boolean, values: Mapping[Symbol, Expr]) -> Boolean:
    if isinstance(condition, Relational):
        left, right = substitute(condition.lhs, values), substitute(condition.rhs, values)
        return stepwise.comparison(condition.func, left, right)
    if isinstance(condition, (And, Or)):
        parts = [_condition(part, values) for part in condition.args]
        return stepwise.joined(parts, all_of_them=isinstance(condition, And))
    return condition


def _product(expression: Product, values: Mapping[Symbol, Expr]) -> Expr:
    """The index is the product's own: no value is put in its place."""
    if len(expression.limits) > 1:
        raise stepwise.NestedProductError(stepwise.NESTED)
    ((index, first, last),) = expression.limits
    plain_index = Symbol(index.name)
    inside = {symbol: value for symbol, value in values.items() if symbol.name != index.name}
    factor = substitute(expression.function, {**inside, index: plain_index})
    return stepwise.product(factor, plain_index, substitute(first, values), substitute(last, values))
