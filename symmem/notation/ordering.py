"""The order in which a person writes terms and factors; used by structure.py.

Keys are compared as tuples; ties keep SymPy's own order, which is canonical.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sympy import Add, Expr, Mul, Pow, S, Sum, Symbol

from symmem.algebra.atoms import GRAD, LR, MOMENTUM_NAME, STEP, THETA, is_scalar
from symmem.algebra.symbols import BATCHES, CHANGE
from symmem.records import record

Key = tuple[Any, ...]


@record(frozen=True)
class Placed:
    """A term of a sum in its place; terms of one group may change places to let a positive one lead.

    The terms of a polynomial in the number of batches are ``counted``: its highest power leads, N (1 - beta) - 1.
    """

    term: Expr
    degree: Expr
    transient: bool
    counted: bool = False


@lru_cache(maxsize=8192)
def symbols_of(expression: Expr) -> frozenset[Symbol]:
    """The free symbols; the formulas of one optimizer share most of their parts, each of which is asked many times."""
    if isinstance(expression, (Add, Mul, Pow)):
        return frozenset().union(*map(symbols_of, expression.args))
    return frozenset(expression.free_symbols)


@lru_cache(maxsize=8192)
def powers(expression: Expr) -> tuple[tuple[Expr, Expr], ...]:
    """The factors as (base, exponent)."""
    factors = Mul.make_args(expression)
    return tuple((f.base, f.exp) if isinstance(f, Pow) else (f, S.One) for f in factors)


def _first_momentum(expression: Expr) -> int:
    """The smallest number of a momentum variable in the expression, 0 where there is none."""
    found = [MOMENTUM_NAME.fullmatch(symbol.name) for symbol in symbols_of(expression)]
    return min((int(match.group(1)) for match in found if match), default=0)


def _batches(term: Expr) -> int:
    """The power of the number of batches in a term."""
    return sum(int(e) for base, e in powers(term) if base == BATCHES and e.is_Integer)


def is_negative(term: Expr) -> bool:
    """Whether a minus is written in front."""
    return bool(term.as_coeff_Mul()[0].is_negative)


@record(frozen=True)
class TermOrder:
    """`positions`: the declared order of the parameters; `indices`: the step and the bound indices."""

    positions: Mapping[str, int]
    indices: frozenset[Symbol]

    def is_index(self, expression: Expr) -> bool:
        """A polynomial in the steps, such as 2 n + 1 or N - n - 1: written with the highest power first."""
        symbols = symbols_of(expression) - {BATCHES}
        polynomial = all(base.is_Atom for term in Add.make_args(expression) for base, _ in powers(term))
        return polynomial and symbols <= self.indices and not expression.is_Number

    def terms(self, expression: Add) -> list[Placed]:
        """The terms of a sum in order.

        In general by power of h; numbers; vectors before scalars; grad before theta; constants before
        transients; by the power below.  A positive number behind positive vectors: |grad L|^2 + 1.
        """
        if self.is_index(expression):
            ordered = sorted(expression.args, key=self._index_key)
            counted = BATCHES in symbols_of(expression)
            return [Placed(term, S.Zero, False, counted) for term in ordered]
        if self._is_counted(expression):
            ordered = sorted(expression.args, key=self._counted_key)
            return [Placed(term, S.Zero, self._is_transient(term), True) for term in ordered]
        others = [term for term in expression.args if not term.is_Number]
        behind = all(not is_scalar(term) and not is_negative(term) for term in others)
        if all(base.is_Atom and is_scalar(base) for term in others for base, _ in powers(term)):
            # A polynomial in the parameters, by rising degree: 1 + 4 beta + beta^2.
            ordered = sorted(
                expression.args,
                key=lambda term: (*self._term_key(term, behind)[:-2], self._power(term), self._names(term)),
            )
        else:
            ordered = sorted(expression.args, key=lambda term: self._term_key(term, behind))
        return [Placed(term, self._degree(term), bool(symbols_of(term) & self.indices)) for term in ordered]

    def _is_counted(self, expression: Add) -> bool:
        """A polynomial in the number of batches: N (1 - beta) - 1 - beta."""
        return any(map(_batches, expression.args)) and all(map(is_scalar, expression.args))

    def _counted_key(self, term: Expr) -> Key:
        return (self._is_transient(term), -_batches(term), self._power(term), self._names(term))

    def _is_transient(self, term: Expr) -> bool:
        return any(symbols_of(e) & {BATCHES, *self.indices} for _, e in powers(term))

    def _names(self, expression: Expr) -> tuple[tuple[int, str], ...]:
        known = len(self.positions)
        return tuple(sorted((self.positions.get(s.name, known), s.name) for s in symbols_of(expression)))

    def _degree(self, term: Expr) -> Expr:
        """The power of h in a term, if it is a number."""
        degree = sum((exponent for base, exponent in powers(term) if base == LR), S.Zero)
        return degree if degree.is_Number else S.Zero

    def _term_key(self, term: Expr, number_behind: bool) -> Key:
        symbols = symbols_of(term)
        number = 0 if symbols else (1 if number_behind else -1)
        below = [-e for b, e in powers(term) if e.is_Number and e.is_negative and not is_scalar(b)]
        return (
            self._degree(term), number, is_scalar(term), term.has(Sum), _first_momentum(term), THETA in symbols,
            CHANGE in symbols, bool(symbols & self.indices), self._decay(term), max(below, default=S.Zero),
            self._names(term),
        )  # fmt: skip

    def _power(self, term: Expr) -> Expr:
        """The degree of a monomial."""
        return sum((e for base, e in powers(term) if not base.is_Number and e.is_Number), S.Zero)

    def _decay(self, term: Expr) -> Expr:
        """How fast a transient decays: 2 for beta^(2 n + 1)."""
        rates = [e.coeff(STEP) for b, e in powers(term) if symbols_of(e) & self.indices]
        return max((rate for rate in rates if rate.is_Number), default=S.Zero)

    def _index_key(self, term: Expr) -> Key:
        degree = sum((e for b, e in powers(term) if not b.is_Number and e.is_Number), S.Zero)
        return (-degree, self._names(term))

    def scalar(self, base: Expr, exponent: Expr) -> Key:
        """A scalar factor: h, parameters, polynomials of the step, transient powers, sums."""
        if base == LR:
            return (0,)
        if base == BATCHES:
            return (1, ())
        if self.is_index(base) and exponent.is_Number:
            return (2, self._names(base))
        if symbols_of(exponent):
            return (3, self._names(base))
        return (4 if isinstance(base, Add) else 1, self._names(base))

    def vector(self, base: Expr) -> Key:
        """Norms and the loss, then entrywise factors: grad, functions of it, theta, sums."""
        if is_scalar(base):
            return (-1 if isinstance(base, Add) else -2, ())
        rank = 0 if base == GRAD else 3 if isinstance(base, Add) else 2 if THETA in symbols_of(base) else 1
        return (rank, self._names(base))
