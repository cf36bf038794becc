"""The C target's own records: what is computed before the loop and inside it, printed numbers, launches; by value."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import probe
import pytest
from sympy import (
    Abs,
    Add,
    Expr,
    Integer,
    Mul,
    Rational,
    S,
    Symbol,
    exp,
    lambdify,
    log,
    pi,
    sign,
    sqrt,
    symbols,
    tanh,
)

from symmem.algebra.results import Missing
from symmem.program.digits.decay_functions import Complete, Shortfall, Whole
from symmem.program.lowering import vector_routine
from symmem.program.products import lower_products, product_symbol
from symmem.program.statements import Apply, Assign, Internal, Loop, Statement
from symmem.program.updates import updates
from symmem.targets.c.entries import PassWriter
from symmem.targets.c.functions import wrapped
from symmem.targets.c.launches import FORMS, Parts, directions, products
from symmem.targets.c.names import fields_of
from symmem.targets.c.numbers import coefficients
from symmem.targets.c.passes import Pass, pass_of
from symmem.targets.c.printing import DOUBLE, FLOAT, NUMBER, WIDE, CPrinter

THETA, GRAD, LR, N = symbols("theta grad lr n")
BETA, EPS = symbols("beta eps")
HV = product_symbol(1)


def run(statements: tuple[Statement, ...], values: dict[Symbol, float]) -> dict[Symbol, float]:
    """The statements, entry by entry, by an interpreter that knows nothing of C."""
    values = dict(values)
    for statement in statements:
        if isinstance(statement, Assign):
            for name, value in statement.assignments:
                values[name] = number(value, values)
        elif isinstance(statement, Apply):
            inner = dict(values)
            for name, value in statement.function.locals:
                inner[name] = number(value, inner)
            values[statement.result] = number(statement.function.output, inner)
        elif isinstance(statement, Loop):
            total = 0.0
            first, stop = (int(number(bound, values)) for bound in (statement.first, statement.stop))
            for step in range(first, stop):
                total += run(statement.body, values | {statement.index: float(step)})[statement.term]
            values[statement.result] = total
    return values


def number(expression: Expr, values: dict[Symbol, float]) -> float:
    known = expression.subs(list(values.items())).replace(Complete, complete)
    known = known.replace(Shortfall, lambda decay, power: 1 - decay**power).replace(
        Whole, lambda inner: inner
    )
    return float(known.evalf(20))


def complete(order: Expr, width: Expr, *factors: Expr) -> Expr:
    """``h_order`` of the nodes, each a product of ``width`` factors, from its definition."""
    nodes = [Mul(*factors[at : at + int(width)]) for at in range(0, len(factors), int(width))]
    return (
        Add(*(Mul(*chosen) for chosen in combinations_with_replacement(nodes, int(order))))
        if order >= 0
        else S.Zero
    )


def value_of(work: Pass, given: dict[Symbol, float]) -> float:
    """Before, with what a call gives; then inside, with the numbers and the vectors alone."""
    before = run(work.before, given)
    known = {symbol: before[symbol] for symbol in work.numbers}
    entries = {vector: given[vector] for vector in work.vectors}
    return run(work.inside, known | entries)[work.output.result]


def test_a_pass_splits_a_routine_without_a_change_of_value() -> None:
    formula = THETA - LR * (
        GRAD / sqrt(GRAD**2 + EPS) + BETA / (1 - BETA) * HV * (GRAD**2 + EPS) ** Rational(-3, 2)
    )
    work = pass_of(vector_routine(formula, [HV]))
    assert work.vectors == (THETA, GRAD, HV)
    assert all(statement.result != HV for statement in work.inside)
    assert not work.has_sum
    given = {THETA: 0.3, GRAD: -0.7, HV: 1.9, LR: 0.01, BETA: 0.9, EPS: 0.125}
    assert value_of(work, given) == pytest.approx(number(formula, given), rel=1e-14)


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("role", ["memoryless", "correction", "step"])
@pytest.mark.parametrize("name", ["adamw", "rmsprop"])
def test_passes_have_the_values_of_the_formulas(name: str, role: str, n: int) -> None:
    """RMSprop has a sum over past steps inside the loop at finite n."""
    derivation = probe.derivation(name, 1)
    work = pass_of(lower_products(derivation)[role].finite)
    given = {Symbol(key): value for key, value in probe.parameters(name).items()}
    given |= {THETA: 0.4, GRAD: -0.8, LR: 0.05, N: float(n)}
    theta, change = given[THETA], derivation.M.subs(N, n).doit()
    # The Hessian is 3 here: D2L(v) = 3 v.
    change = change.replace(lambda part: part.func.__name__ == "D2L", lambda part: 3 * part.args[0])
    update, change = (number(value.doit(), given) for value in (derivation.F.subs(N, n), change))
    exact = {"memoryless": update, "correction": change, "step": theta - 0.05 * (update + change)}
    program = lower_products(derivation)
    for position, variants in enumerate(directions(program), start=1):
        direction = pass_of(variants.finite)
        given[product_symbol(position)] = 3 * value_of(direction, given)
    assert value_of(work, given) == pytest.approx(exact[role], rel=1e-12)


X, Y = symbols("x y")


@pytest.mark.parametrize(
    ("expression", "double", "single"),
    [
        (X + 1, "x + 1.0", "x + 1.0f"),
        (1 - X, "1.0 - x", "1.0f - x"),
        (-X * Y, "-x * y", "-x * y"),
        (X**3, "x * x * x", "x * x * x"),
        (Y / X**2, "y / (x * x)", "y / (x * x)"),
        (X ** Rational(4, 3), "pow(x, 1.3333333333333333)", "powf(x, 1.3333333333333333f)"),
        (1 / X, "symmem_reciprocal(x)", "symmem_reciprocalf(x)"),
        (1 / sqrt(X + Y), "symmem_rsqrt(x + y)", "symmem_rsqrtf(x + y)"),
        (sign(X) * Abs(Y), "fabs(y) * symmem_sign(x)", "fabsf(y) * symmem_signf(x)"),
        (X * (X - Y), "x * (x - y)", "x * (x - y)"),
    ],
    ids=str,
)
def test_printed(expression: Expr, double: str, single: str) -> None:
    assert CPrinter(DOUBLE).source(expression) == double
    assert CPrinter(FLOAT).source(expression) == single


@pytest.mark.parametrize(
    "expression",
    [
        X - (Y - X) / (X * Y), -(X + Y) / (2 * X), X / (Y / (X + 1)), (X - 1) ** 2 / Y**3, -((X + Y) ** 2), X * -Y / 7,
        exp(-X) * tanh(Y) / log(2 + X), Rational(22, 7) * X - Rational(1, 3), 1 / (X * Y) - pi, 2 - (X - (Y - 3)),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_printed_has_the_value(expression: Expr) -> None:
    """C's arithmetic between doubles is Python's, once its functions have names."""
    names = {"pow": math.pow, "exp": math.exp, "log": math.log, "tanh": math.tanh, "sqrt": math.sqrt}
    source = CPrinter(NUMBER).source(expression)
    for x, y in ((0.3, 1.7), (2.5, 0.2)):
        value = eval(source, names | {"x": x, "y": y})
        assert value == pytest.approx(float(lambdify((X, Y), expression, "mpmath")(x, y)), rel=1e-14)


def test_numbers_of_every_precision() -> None:
    third = Rational(1, 3)
    assert float(CPrinter(DOUBLE).source(Integer(2) ** 60)) == 2.0**60
    assert abs(Fraction(CPrinter(DOUBLE).source(third)) - Fraction(1, 3)) < Fraction(1, 2**54)


def test_the_names_inside_are_our_own() -> None:
    """A parameter is read as a field once; in the loop it has a number."""
    names = ["numbers", "theta_", "errno", "i"]
    eps, weight, decay, rate = map(Symbol, names)
    formula = weight * THETA + rate * GRAD / sqrt(GRAD**2 + eps) + decay * HV
    work = pass_of(vector_routine(formula, [HV]))
    lines = coefficients(work, fields_of(names))
    assert sorted(lines) == sorted(
        f"numbers[{k}] = params->{fields_of(names)[number]};" for k, number in enumerate(work.numbers)
    )
    assert "params->errno_;" in " ".join(lines)
    body = PassWriter(work, DOUBLE, "double").body()
    words = set(" ".join(line.partition("/*")[0] for line in body).replace("[", " ").split())
    assert not words & {"errno", "errno_", "params"}
    assert {"a1", "a2", "a3", "a4"} <= words


def test_roots_of_a_run_are_taken_at_once_in_double_alone() -> None:
    work = pass_of(vector_routine(GRAD / sqrt(GRAD**2 + EPS)))
    assert PassWriter(work, DOUBLE, "double").uses_roots
    assert not PassWriter(work, FLOAT, "float").uses_roots
    assert not PassWriter(work, WIDE).uses_roots
    assert not PassWriter(pass_of(vector_routine(GRAD * EPS)), DOUBLE, "double").uses_roots


def test_launches() -> None:
    """AdamW needs one product in both forms; its loops are shared, its numbers are not."""
    program = lower_products(probe.derivation("adamw", 1))
    parts = Parts(program, updates(probe.derivation("adamw", 1)), fields_of(program.parameters))
    assert [products(program, form) for form in FORMS.values()] == [1, 1]
    limit, finite = parts.launches("step", "limit"), parts.launches("step", "finite")
    assert not isinstance(limit, Missing)
    assert not isinstance(finite, Missing)
    assert limit[0].same_loop(finite[0])
    assert (limit[0].numbers, finite[0].numbers) == ("step_limit_numbers", "step_finite_numbers")
    assert (limit[0].vectors, limit[0].outs) == (("theta", "grad", "hv"), ("theta",))
    assert list(parts.passes.values()) == ["step"]
    assert parts.launches("direction", "limit")[0].outs == ("out",)


def test_arguments_are_broken_behind_commas() -> None:
    assert wrapped(["a", "b", "c"], 80, "    ") == "a, b, c"
    lines = wrapped([f"argument{k}" for k in range(30)], 40, "    ").split("\n")
    assert len(lines) > 3
    assert all(line.endswith(",") for line in lines[:-1])
    assert all(len(line) <= 100 for line in lines)
    assert np.concatenate([line.strip().rstrip(",").split(", ") for line in lines]).tolist() == [
        f"argument{k}" for k in range(30)
    ]
    assert Internal("a1") != Symbol("a1")
