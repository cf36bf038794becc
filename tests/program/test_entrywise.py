"""The passes that make entrywise functions: each leaves the value as it was, and does what its name says."""

from __future__ import annotations

import pytest
from sympy import Expr, Pow, Rational, S, Symbol, expand, log, sqrt, tanh

from symmem.program.blocks import Names
from symmem.program.entrywise import entrywise, factor, hoist, only_read, roots, share
from symmem.program.statements import Internal

a, b = Symbol("a"), Symbol("b")
v, w = Symbol("v"), Symbol("w", positive=True)
VECTORS = frozenset({v, w})

EXPRESSIONS = [
    a * v + b * v,
    (a + b) * v / (1 + a),
    v / sqrt(w + a),
    v / sqrt(w + a) + b * v / (w + a) ** Rational(3, 2),
    sqrt(w + a) + 1 / sqrt(w + a) + (w + a) ** Rational(5, 2),
    v / (w + a) + v**2 / (w + a) ** 2,
    v / (sqrt(w) + a) ** 2 + 1 / sqrt(w),
    tanh(a * b * v) * (a + 1) + log(w + b),
    w ** Rational(1, 3) + w**2 + w**-2,
    (a + b) ** 2 + v,
    a * v**3 / sqrt(w**2 + 1) + b * v / sqrt(w**2 + 1) + v,
    v * 0 + a,
]
POINT = {a: Rational(3, 7), b: Rational(5, 11), v: Rational(-13, 9), w: Rational(17, 6)}


def back(expression: Expr, definitions: list[tuple[Symbol, Expr]]) -> Expr:
    for name, value in reversed(definitions):
        expression = expression.xreplace({name: value})
    return expression


def assert_same(new: Expr, old: Expr) -> None:
    assert expand(new - old) == 0 or abs((new - old).xreplace(POINT).evalf(40)) < 1e-35


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_hoist(expression: Expr) -> None:
    named: list[tuple[Symbol, Expr]] = []

    def name(scalar: Expr) -> Expr:
        if scalar.is_Number or isinstance(scalar, Symbol):
            return scalar
        named.append((Internal(f"c{len(named)}"), scalar))
        return named[-1][0]

    found = hoist(expression, VECTORS, name)
    assert_same(back(found, named), expression)
    for part in found.atoms(Pow):
        assert part.free_symbols & VECTORS, "a scalar expression is left"
    assert not any(scalar.free_symbols & VECTORS for _, scalar in named)


def test_hoist_takes_the_largest_scalars() -> None:
    taken: list[Expr] = []

    def name(scalar: Expr) -> Expr:
        taken.append(scalar)
        return Internal(f"c{len(taken)}")

    found = hoist(a * b * v + (a + b) * w + a**2 + b, VECTORS, name)
    assert set(taken) == {a * b, a + b, a**2 + b}
    assert len(found.args) == 3


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_roots(expression: Expr) -> None:
    definitions, output = roots(expression, VECTORS, Names().fresh)
    assert_same(back(output, definitions), expression)
    left = [power for power in output.atoms(Pow) if power.base.free_symbols & VECTORS]
    assert all((power.exp.is_Integer and power.exp > 0) or power.exp.q > 2 for power in left)


def test_one_root_serves_all_powers_of_a_base() -> None:
    base = w + a
    definitions, output = roots(
        v / sqrt(base) + v / base + v * base ** Rational(-3, 2), VECTORS, Names().fresh
    )
    assert [value for _, value in definitions] == [1 / sqrt(base)]
    (root,) = (name for name, _ in definitions)
    assert output == v * root + v * root**2 + v * root**3
    definitions, _ = roots(v / base + v / base**2, VECTORS, Names().fresh)
    assert [value for _, value in definitions] == [1 / base]
    definitions, _ = roots(sqrt(base) + v / sqrt(base), VECTORS, Names().fresh)
    first, second = definitions
    assert first[1] == sqrt(base)
    assert second[1] == 1 / first[0]


def test_roots_of_scalars_stay() -> None:
    definitions, output = roots(v * sqrt(a), VECTORS, Names().fresh)
    assert definitions == []
    assert output == v * sqrt(a)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_factor(expression: Expr) -> None:
    assert_same(factor(expression, VECTORS), expression)


def test_factor_takes_out_what_all_terms_share() -> None:
    found = factor(a * v**3 * w + b * v * w, VECTORS)
    assert found == v * w * (a * v**2 + b)
    assert factor(a * v + a * w, VECTORS) == a * v + a * w, "a scalar is not taken out"
    assert factor(v + a, VECTORS) == v + a


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_share(expression: Expr) -> None:
    definitions = [(Internal("r1"), 1 / sqrt(w + a)), (Internal("r2"), tanh(w + a) * expression)]
    output = expression * Internal("r1") + Internal("r2")
    found, reduced = share(definitions, output, Names().fresh)
    known: set[Symbol] = {a, b, v, w}
    for name, value in found:
        assert value.free_symbols <= known, "a value is read before it is made"
        known.add(name)
    assert_same(back(reduced, found), back(output, definitions))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_whole_function(expression: Expr) -> None:
    named: list[tuple[Symbol, Expr]] = []

    def name(scalar: Expr) -> Expr:
        if scalar.is_Number or isinstance(scalar, Symbol):
            return scalar
        named.append((Internal(f"c{len(named)}"), scalar))
        return named[-1][0]

    found = entrywise(expression, VECTORS, name, Names().fresh)
    assert set(found.vectors) == expression.free_symbols & VECTORS
    assert not set(found.scalars) & VECTORS
    free = set(found.output.free_symbols).union(*(value.free_symbols for _, value in found.locals))
    assert free - {local for local, _ in found.locals} == {*found.vectors, *found.scalars}
    assert_same(back(back(found.output, list(found.locals)), named), expression)


def test_functions_that_differ_in_their_coefficients_are_one() -> None:
    def made(expression: Expr) -> object:
        counted = Names()
        return entrywise(expression, VECTORS, lambda _: counted.fresh("c"), Names().fresh)

    assert made(a * v + b * w**2) == made((a + b) * v + (a - b) * w**2)
    assert made(a * v + S(2) * w) != made(a * v + b * tanh(w))


def test_what_nobody_reads_has_no_name() -> None:
    """A chain of names behind the wanted one stays, in its order; a chain that ends nowhere goes, link by link."""
    x, y, z, u = (Internal(name) for name in "xyzu")
    given = [(x, a + 1), (z, a - 1), (u, z**2), (y, x * b), (v, 2 * y)]
    assert only_read(given, {v}) == [(x, a + 1), (y, x * b), (v, 2 * y)]
