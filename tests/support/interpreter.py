"""A Program run as it stands, in 50 digits: the meaning of its statements, apart from every target.

Vectors are tuples of mpf; ``contract`` and the opaque functions are the caller's.  Sums run over all their terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import mpmath
from mpmath import fprod, mpf
from sympy import Expr, Symbol, lambdify

from symmem.algebra.atoms import THETA
from symmem.program.program import Routine
from symmem.program.statements import Apply, Assign, Contract, Entrywise, Evaluate, Loop, Statement, Total

Vector = tuple[mpf, ...]
Value = mpf | Vector


class Interpreter:
    """Runs routines from given values of symbols."""

    def __init__(
        self,
        given: Mapping[Symbol, Value],
        contract: Callable[..., Vector] | None = None,
        functions: Mapping[str, Callable[..., Vector]] | None = None,
    ) -> None:
        self._given = dict(given)
        self._contract = contract
        self._functions = functions or {}

    def run(self, routine: Routine) -> Value:
        with mpmath.workdps(60):
            values = dict(self._given)
            self._block(routine.statements, values)
            return values[routine.result]

    def _block(self, statements: Iterable[Statement], values: dict[Symbol, Value]) -> None:
        for statement in statements:
            if isinstance(statement, Assign):
                for name, expression in statement.assignments:
                    assert name not in values, f"{name} is assigned twice"
                    values[name] = number(expression, values)
            else:
                assert statement.result not in values, f"{statement.result} is assigned twice"
                values[statement.result] = self._value(statement, values)

    def _value(self, statement: Statement, values: dict[Symbol, Value]) -> Value:
        if isinstance(statement, Apply):
            return entries(statement.function, values)
        if isinstance(statement, Total):
            return sum(values[statement.vector])
        if isinstance(statement, Contract):
            assert self._contract is not None
            return self._contract(values[THETA], *(values[each] for each in statement.directions))
        if isinstance(statement, Evaluate):
            return self._functions[statement.function](*(values[each] for each in statement.arguments))
        assert isinstance(statement, Loop)
        return self._sum(statement, values)

    def _sum(self, loop: Loop, values: dict[Symbol, Value]) -> Value:
        total: Any = mpf(0) if loop.is_scalar else tuple(mpf(0) for _ in values[THETA])
        for step in range(int(number(loop.first, values)), int(number(loop.stop, values))):
            inner = {**values, loop.index: mpf(step)}
            self._block(loop.body, inner)
            term = inner[loop.term]
            total = total + term if loop.is_scalar else tuple(a + b for a, b in zip(total, term, strict=True))
        return total


def number(expression: Expr, values: Mapping[Symbol, Value]) -> mpf:
    symbols = sorted(expression.free_symbols, key=str)
    names = [Symbol(f"z{k}") for k in range(len(symbols))]
    renamed = expression.xreplace(dict(zip(symbols, names, strict=True)))
    return mpf(lambdify(names, renamed, [DECAY_FUNCTIONS, "mpmath"])(*(values[symbol] for symbol in symbols)))


def entries(function: Entrywise, values: Mapping[Symbol, Value]) -> Vector:
    """The function at every entry; it sees its own arguments alone."""
    shared = {symbol: values[symbol] for symbol in function.scalars}
    assert all(isinstance(value, mpf) for value in shared.values())
    found = []
    for position in range(len(values[THETA])):
        local = shared | {vector: values[vector][position] for vector in function.vectors}
        for name, expression in function.locals:
            local[name] = number(expression, local)
        found.append(number(function.output, local))
    return tuple(found)


def complete(order: mpf, width: int, *factors: mpf) -> mpf:
    """The sum of all products of ``order`` nodes: the coefficient of ``x^order`` in ``prod 1/(1 - node x)``."""
    if order < 0:
        return mpf(0)
    values = [mpf(1)] + [mpf(0)] * int(order)
    for at in range(0, len(factors), width):
        node = fprod(factors[at : at + width])
        for place in range(1, len(values)):
            values[place] += node * values[place - 1]
    return values[-1]


DECAY_FUNCTIONS = {"Complete": complete, "Shortfall": lambda x, k: 1 - mpf(x) ** k, "Whole": lambda x: x}
