"""Rational solutions of polynomial equations: one unknown after the other, wherever an equation is linear in it.

    nu*(1 - beta) = c*(1 + gamma - gamma/beta),  1 - nu = c*gamma/beta    ->    nu = ..., c = ...

An equation is factored, and every factor is a case; a factor without unknowns is taken to be no zero.  What is found is
a proposal: whoever asks proves it.  Roots that are not rational are not looked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sympy import Expr, Poly, Symbol, count_ops, expand, factor_list, fraction, together

Solution = dict[Symbol, Expr]
LONGEST = 4000
"""Operations of an equation that is still factored."""


def solutions(equations: Sequence[Expr], unknowns: Sequence[Symbol]) -> Iterator[Solution]:
    """Assignments of the unknowns under which all equations hold; an unknown that is free is not in them."""
    left = []
    for equation in equations:
        above = expand(fraction(together(equation))[0])
        if above == 0:
            continue
        if above.free_symbols.isdisjoint(unknowns):
            return
        left.append(above)
    if not left:
        yield {}
        return
    for equation in sorted(left, key=count_ops):
        cases = _cases(equation, unknowns)
        if cases:
            break
    else:
        return
    for unknown, value in cases:
        rest = [each.xreplace({unknown: value}) for each in left if each is not equation]
        others = [each for each in unknowns if each != unknown]
        for found in solutions(rest, others):
            yield {**found, unknown: together(value.xreplace(found)).cancel()}


def _cases(equation: Expr, unknowns: Sequence[Symbol]) -> list[tuple[Symbol, Expr]]:
    """For each factor of the equation an unknown in which it is linear, the one with the shortest value."""
    if count_ops(equation) > LONGEST:
        return []
    cases = []
    for factor, _ in factor_list(equation)[1]:
        linear = [_solved(factor, unknown) for unknown in unknowns if factor.has(unknown)]
        values = [found for found in linear if found is not None]
        if values:
            cases.append(min(values, key=lambda found: count_ops(found[1])))
    return cases


def _solved(factor: Expr, unknown: Symbol) -> tuple[Symbol, Expr] | None:
    polynomial = Poly(factor, unknown)
    if polynomial.degree() != 1:
        return None
    slope, rest = polynomial.all_coeffs()
    return unknown, -rest / slope
