"""Entrywise expressions -> entrywise functions, by named passes.

hoist     every maximal scalar subexpression becomes one scalar argument
roots     the powers of one base become products of one root: 1/sqrt(x), sqrt(x) or 1/x
factor    what all terms of a sum share stands in front of it
share     repeated subexpressions become local values
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from sympy import Add, Expr, Mul, Pow, Rational, S, Symbol, cse, default_sort_key

from symmem.algebra.atoms import GRAD, THETA
from symmem.algebra.real_functions import with_arguments
from symmem.program.statements import Assignment, Entrywise

Vectors = frozenset[Symbol]
NameScalar = Callable[[Expr], Expr]
Fresh = Callable[[str], Symbol]
HALF = Rational(1, 2)


def entrywise(expression: Expr, vectors: Vectors, name_scalar: NameScalar, fresh: Fresh) -> Entrywise:
    """The function of an entrywise expression; ``name_scalar`` names a scalar outside, ``fresh`` a local value."""
    hoisted = hoist(expression, vectors, name_scalar)
    definitions, output = roots(hoisted, vectors, fresh)
    entrywise = vectors | {name for name, _ in definitions}
    assignments = [(name, factor(value, entrywise)) for name, value in definitions]
    local_values, output = share(assignments, factor(output, entrywise), fresh)
    free = _free(local_values, output)
    ordered = sorted(
        free, key=lambda symbol: (symbol != THETA, symbol != GRAD, len(symbol.name), symbol.name)
    )
    return Entrywise(
        tuple(symbol for symbol in ordered if symbol in vectors),
        tuple(symbol for symbol in ordered if symbol not in vectors),
        tuple(local_values),
        output,
    )


def hoist(expression: Expr, vectors: Vectors, name_scalar: NameScalar) -> Expr:
    """The expression with each maximal scalar part replaced by a name, a number or a parameter.

    Scalars are named in the order of the vectors that they multiply, so that two formulas which differ in their
    coefficients alone get the same function.
    """

    def of(part: Expr) -> Expr:
        if not part.free_symbols & vectors:
            return name_scalar(part)
        if isinstance(part, Symbol):
            return part
        if isinstance(part, Add):
            terms = sorted((_split(term, vectors) for term in part.args), key=_by_vector)
            constant = Add(*(scalar for scalar, vector in terms if vector == 1))
            products = [product(scalar, vector) for scalar, vector in terms if vector != 1]
            return Add(name_scalar(constant) if constant != 0 else constant, *products)
        if isinstance(part, Mul):
            return product(*_split(part, vectors))
        return with_arguments(part, map(of, part.args))

    def product(scalar: Expr, vector: Expr) -> Expr:
        named = name_scalar(scalar)
        factors = sorted(Mul.make_args(vector), key=default_sort_key)
        return Mul(named, *(of(each) for each in factors))

    return of(expression)


def roots(expression: Expr, vectors: Vectors, fresh: Fresh) -> tuple[list[Assignment], Expr]:
    """Local roots, and the expression in them.

    One root serves all powers of a base: with ``r = x**(-1/2)``, ``x**(-3/2)`` is ``r**3`` and ``1/x`` is ``r**2``.
    Where ``sqrt(x)`` stands in the expression too, it is taken first, and ``r`` is one over it.
    """
    named = _Roots(expression, vectors, fresh)
    output = named.rewritten(expression)
    return named.definitions, output


class _Roots:
    """The roots of one expression, each defined when it is first met, after the roots inside its base."""

    def __init__(self, expression: Expr, vectors: Vectors, fresh: Fresh) -> None:
        self._exponents: dict[Expr, set[Rational]] = {}
        for power in expression.atoms(Pow):
            if power.base.free_symbols & vectors and isinstance(power.exp, Rational):
                self._exponents.setdefault(power.base, set()).add(power.exp)
        self._fresh = fresh
        self._names: dict[tuple[Expr, Expr], Symbol] = {}
        self.definitions: list[Assignment] = []

    def rewritten(self, part: Expr) -> Expr:
        if isinstance(part, Pow) and part.base in self._exponents and isinstance(part.exp, Rational):
            return self._power(part.base, part.exp)
        return with_arguments(part, map(self.rewritten, part.args)) if part.args else part

    def _power(self, base: Expr, exponent: Rational) -> Expr:
        is_product = exponent.p > 0 and exponent.q == 1
        if is_product or exponent.q > 2:
            return Pow(self.rewritten(base), exponent)
        if exponent > 0:
            return self._root(base, HALF) ** exponent.p
        has_halves = any(each.q == 2 for each in self._exponents[base])
        unit = -HALF if has_halves else S.NegativeOne
        return Pow(self._root(base, unit), exponent / unit)

    def _root(self, base: Expr, exponent: Expr) -> Symbol:
        """The name of ``base**exponent``, for the exponents 1/2, -1/2 and -1."""
        if (base, exponent) not in self._names:
            if exponent == -HALF and HALF in self._exponents[base]:
                value = 1 / self._root(base, HALF)
            else:
                value = Pow(self.rewritten(base), exponent)
            self._names[base, exponent] = self._fresh("r" if exponent < 0 else "q")
            self.definitions.append((self._names[base, exponent], value))
        return self._names[base, exponent]


def factor(expression: Expr, vectors: Vectors) -> Expr:
    """``c1 r**3 + c2 r`` as ``r (c1 r**2 + c2)``, everywhere in the expression."""
    if not expression.args:
        return expression
    parts = [factor(argument, vectors) for argument in expression.args]
    if not isinstance(expression, Add):
        return with_arguments(expression, parts)
    powers = [_powers(term, vectors) for term in parts]
    shared = {symbol: min(each.get(symbol, 0) for each in powers) for symbol in set[Symbol]().union(*powers)}
    common = Mul(*(symbol**count for symbol, count in shared.items() if count > 0))
    if common == 1:
        return Add(*parts)
    return Mul(common, Add(*(term / common for term in parts)))


def share(assignments: Sequence[Assignment], output: Expr, fresh: Fresh) -> tuple[list[Assignment], Expr]:
    """Repeated subexpressions as local values, every value after those it is made of."""
    names = [name for name, _ in assignments]
    replacements, reduced = cse(
        [*(value for _, value in assignments), output], symbols=_stream(fresh, "t"), list=False
    )
    found = [*replacements, *zip(names, reduced[:-1], strict=True)]
    return _in_order(found), reduced[-1]


def _stream(fresh: Fresh, stem: str) -> Iterator[Symbol]:
    while True:
        yield fresh(stem)


def only_read(assignments: Sequence[Assignment], wanted: set[Symbol]) -> list[Assignment]:
    """The assignments without those that nobody reads: a part that got a name may cancel where it stood."""
    read, kept = set(wanted), []
    for name, value in reversed(assignments):
        if name in read:
            kept.append((name, value))
            read |= value.free_symbols
    return kept[::-1]


def _in_order(assignments: Iterable[Assignment]) -> list[Assignment]:
    waiting = dict(assignments)
    ordered: list[Assignment] = []

    def place(name: Symbol) -> None:
        value = waiting.pop(name)
        for needed in sorted(value.free_symbols & set(waiting), key=lambda symbol: symbol.name):
            if needed in waiting:
                place(needed)
        ordered.append((name, value))

    while waiting:
        place(next(iter(waiting)))
    return ordered


def _split(term: Expr, vectors: Vectors) -> tuple[Expr, Expr]:
    """``(scalar, vector)`` factors of a term."""
    factors = Mul.make_args(term)
    scalars = [each for each in factors if not each.free_symbols & vectors]
    return Mul(*scalars), Mul(*(each for each in factors if each.free_symbols & vectors))


def _by_vector(parts: tuple[Expr, Expr]) -> Any:
    return default_sort_key(parts[1])


def _powers(term: Expr, vectors: Vectors) -> dict[Symbol, int]:
    """The symbols of a product with their positive whole exponents; scalars are not counted."""
    found: dict[Symbol, int] = {}
    for each in Mul.make_args(term):
        base, exponent = each.as_base_exp()
        if isinstance(base, Symbol) and exponent.is_Integer and exponent > 0 and base in vectors:
            found[base] = int(exponent)
    return found


def _free(assignments: Sequence[Assignment], output: Expr) -> set[Symbol]:
    names = {name for name, _ in assignments}
    return set(output.free_symbols).union(*(value.free_symbols for _, value in assignments)) - names
