"""Weights under which formulas are powers of one scale: ``x -> K^w x`` for every symbol, and ``f -> K^v f``.

Each formula has to be an eigenfunction of the generator, ``sum_x w_x x df/dx = v f``.  That is linear in the weights:
they are found from numbers, and the answer is proved as an identity in K.

    f = x/sqrt(y + p),  w_x = 0, w_y = -1:      w_p = -1, v = 1/2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from random import Random

from mpmath import mp, mpf
from sympy import Dummy, Expr, Rational, Symbol, bottom_up, factor_terms, lcm

Weights = dict[Symbol, Rational]
DIGITS, LARGEST_DENOMINATOR = 40, 24


def scale_weights(
    formulas: Sequence[tuple[Symbol, Expr]], known: Mapping[Symbol, Rational], free: Sequence[Symbol]
) -> Weights | None:
    """The weights of the formulas, by their names, and of as few ``free`` symbols as can be; None where there are none.

    A formula may contain the names of those before it.  All symbols are positive; one that has no weight stays.
    """
    for count in range(len(free) + 1):
        for moved in combinations(free, count):
            weights = _guess(formulas, known, moved)
            if weights is not None and _is_identity(formulas, weights):
                return weights
    return None


def _guess(
    formulas: Sequence[tuple[Symbol, Expr]], known: Mapping[Symbol, Rational], moved: Sequence[Symbol]
) -> Weights | None:
    unknown = [*moved, *(name for name, _ in formulas)]
    rows, right = [], []
    with mp.workdps(DIGITS):
        for name, formula in formulas:
            for row, value in _equations(name, formula, known, unknown):
                rows.append(row)
                right.append(value)
        matrix = mp.matrix(rows)
        try:
            solution = mp.lu_solve(matrix.T * matrix, matrix.T * mp.matrix(right))
        except ZeroDivisionError:
            return None  # a weight that nothing determines
        found = [Rational(str(mp.nstr(x, 25))).limit_denominator(LARGEST_DENOMINATOR) for x in solution]
    return {**known, **dict(zip(unknown, found, strict=True))}


def _equations(
    name: Symbol, formula: Expr, known: Mapping[Symbol, Rational], unknown: Sequence[Symbol]
) -> list[tuple[list[mpf], mpf]]:
    """``sum_u w_u u df/du - w_name f = -sum_k w_k k df/dk`` at as many points as there are unknowns, and some more."""
    random = Random(0)
    positive = _positive(formula)
    symbols = sorted(positive.free_symbols, key=str)
    slopes = {str(x): x * positive.diff(x) for x in symbols}
    found = []
    for _ in range(len(unknown) + 2):
        point = {x: Rational(random.randint(10, 90), 100) for x in symbols}
        numbers = {text: slope.subs(point).evalf(DIGITS) for text, slope in slopes.items()}
        value = positive.subs(point).evalf(DIGITS)
        row = [mpf(str(numbers.get(str(u), 0))) - (mpf(str(value)) if u == name else 0) for u in unknown]
        right = -sum(mpf(str(numbers.get(str(k), 0))) * mpf(w.p) / w.q for k, w in known.items())
        found.append((row, right))
    return found


def _is_identity(formulas: Sequence[tuple[Symbol, Expr]], weights: Weights) -> bool:
    """Whether every formula is multiplied by its power of K, as an identity."""
    whole = lcm([Rational(weight.q) for weight in weights.values()] or [Rational(1)])
    scale = Dummy("K", positive=True)  # K^(1/whole), so that all powers are whole
    for name, formula in formulas:
        positive = _positive(formula)
        powers = {
            x: scale ** (weights[Symbol(x.name)] * whole) * x
            for x in positive.free_symbols
            if Symbol(x.name) in weights
        }
        scaled = bottom_up(positive.subs(powers, simultaneous=True), factor_terms)
        plain = bottom_up(positive, factor_terms)
        if (scaled / scale ** (weights[name] * whole) - plain).expand() != 0:
            return False
    return True


def _positive(formula: Expr) -> Expr:
    """The formula of positive symbols, where a size is the thing itself and a sign is 1."""
    return formula.xreplace({x: Symbol(x.name, positive=True) for x in formula.free_symbols}).doit()
