"""Roots and functions with unknowns inside, each taken to be one that the other optimizer has too.

``sqrt(nu*X + (1 - nu)*grad**2)`` can be ``sqrt(X)`` if ``nu*X + (1 - nu)*grad**2 - X`` is 0 for all X and grad: the
coefficients ``nu - 1`` and ``1 - nu`` are equations.  Two roots may differ by a factor, one unknown more:
``sqrt(s**2*u)`` is ``s*sqrt(u)``.  A root of unknowns alone is one unknown more, with its square known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sympy import Dummy, Expr, Poly, Pow, S, Symbol, default_sort_key

from symmem.checks.zero import Normal


@dataclass(frozen=True)
class Match:
    """Generators of the second that are one of the first, if the equations hold; a root of unknowns is an unknown."""

    same: dict[Symbol, Expr] = field(default_factory=dict)
    equations: tuple[Expr, ...] = ()
    unknowns: tuple[Symbol, ...] = ()


@dataclass(frozen=True)
class Matching:
    """The generators of two optimizers; those of the first are ``known``.

    ``constant`` are the symbols that are no function of the past, the ``unknowns`` among them.
    """

    normal: Normal
    known: frozenset[Symbol]
    constant: frozenset[Expr]
    unknowns: frozenset[Symbol]

    @property
    def hidden(self) -> frozenset[Symbol]:
        """The unknowns inside roots and functions of the past."""
        found: set[Symbol] = set()
        for symbol in self.normal.generators.values():
            inside = self.normal.written(symbol).free_symbols
            if symbol not in self.known and not inside <= self.constant:
                found |= inside & self.unknowns
        return frozenset(found)

    def all(self) -> Iterator[Match]:
        """Every way in which the generators with unknowns inside are generators of the first."""
        found = [Match()]
        for key, symbol in self.normal.generators.items():
            inside = self.normal.written(symbol).free_symbols
            if symbol not in self.known and not inside.isdisjoint(self.unknowns):
                found = [longer for match in found for longer in self._longer(match, key, symbol)]
        yield from found

    def _longer(self, match: Match, key: object, symbol: Symbol) -> Iterator[Match]:
        """The match with one more generator."""
        function, parts = _parts(key)
        parts = [part.xreplace(match.same) for part in parts]
        if symbol in self.normal.roots and parts[0].free_symbols <= self.constant.union(match.unknowns):
            degree, _ = self.normal.roots[symbol]
            equations = (*match.equations, symbol**degree - parts[0])
            yield replace(match, equations=equations, unknowns=(*match.unknowns, symbol))
            return
        for other, twin in self.normal.generators.items():
            ours, theirs = _parts(other)
            if twin not in self.known or ours != function or len(theirs) != len(parts):
                continue
            factor, unknowns = S.One, match.unknowns
            powers = self._powers(symbol, parts)
            if powers is not None:
                scale = Dummy("s")
                theirs, factor = [scale ** powers[0] * theirs[0]], scale ** powers[1]
                unknowns = (*unknowns, scale)
            equations = self._equal(parts, theirs, self.constant.union(unknowns))
            if all(each == 0 or each.free_symbols & self.unknowns.union(unknowns) for each in equations):
                same = {**match.same, symbol: factor * twin}
                yield Match(same, (*match.equations, *equations), unknowns)

    def _powers(self, symbol: Symbol, parts: list[Expr]) -> tuple[int, Expr] | None:
        """``(p, q)`` with ``f(s^p x) = s^q f(x)`` for s > 0, of a root or a function; None where there are none."""
        if symbol in self.normal.roots:
            return self.normal.roots[symbol][0], S.One
        degree = self.normal.degree(self.normal.written(symbol))
        return None if degree is None or len(parts) > 1 else (1, degree)

    def _equal(self, parts: list[Expr], others: list[Expr], constant: frozenset[Expr]) -> tuple[Expr, ...]:
        differences = [self.normal.numerator(x - y) for x, y in zip(parts, others, strict=True)]
        return tuple(equation for each in differences for equation in coefficients(each, constant))


def _parts(key: object) -> tuple[object, list[Expr]]:
    """What a generator stands for: a power of one base, or a function of its arguments."""
    if key[0] is Pow:  # type: ignore[index]
        return (Pow, key[2]), [key[1]]  # type: ignore[index]
    return key[0], list(key[1])  # type: ignore[index]


def coefficients(polynomial: Expr, constant: frozenset[Expr]) -> list[Expr]:
    """Of a polynomial in all symbols that are not constant: where it is 0 for all of them, all of these are."""
    variables = sorted(polynomial.free_symbols - constant, key=default_sort_key)
    return Poly(polynomial, *variables).coeffs() if variables else [polynomial]
