"""The Program proved by itself: its statements, run in 50 digits, against the formulas that it was made from."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import cast

import mpmath
import probe
import pytest
from interpreter import Interpreter
from mpmath import mpf
from sympy import Function, Sum, Symbol, sqrt, tanh
from truth import FIRST, FUNCTIONS, LOSS, LR, THETA, literal_of, load, number_of

from symmem.algebra.atoms import AGO, GRAD, PAST, STEP, contraction, total
from symmem.algebra.atoms import LR as RATE
from symmem.algebra.atoms import THETA as POINT
from symmem.algebra.results import Advice, Missing, Sentence
from symmem.algebra.where import where
from symmem.derivation.derivation import Derivation
from symmem.derivation.marked_sums import MarkedSums
from symmem.method.reading import method_of
from symmem.program.lowering import lower, number_routine, vector_routine
from symmem.program.needs import Need
from symmem.program.products import direction_name, lower_products, product_symbol
from symmem.program.program import Program, Routine, Variants
from symmem.program.ranges import split_ranges
from symmem.program.statements import Assign, Contract, Evaluate, Internal, Loop

TIGHT = mpf(10) ** -40
ROUNDED = mpf(10) ** -14
"""The probe set rounds the step."""


@cache
def program(name: str, order: int) -> Program:
    return lower(probe.derivation(name, order))


def values(name: str, n: int | None) -> dict[Symbol, object]:
    literal = literal_of(load(name))
    with mpmath.workdps(60):
        numbers = {Symbol(key): mpf(value.p) / value.q for key, value in literal.numbers.items()}
        point = tuple(mpf(entry) for entry in THETA)
        found = {**numbers, RATE: mpf(LR.p) / LR.q, POINT: point, GRAD: tuple(LOSS.gradient(point))}
        return found | ({} if n is None else {STEP: mpf(n)})


def interpreter(name: str, n: int | None) -> Interpreter:
    opaque = {}
    for function in load(name).functions:
        opaque |= dict.fromkeys(
            [function.name + suffix for suffix in ("", "_jvp", "_jvp2")], FUNCTIONS[function.name]
        )
    return Interpreter(values(name, n), lambda theta, *vs: tuple(LOSS.contraction(theta, *vs)), opaque)


def assert_close(found: object, exact: object, tolerance: mpf = TIGHT) -> None:
    with mpmath.workdps(60):
        pairs = list(zip(found, exact, strict=True))
        assert max(abs(a - b) / (1 + abs(b)) for a, b in pairs) < tolerance


@pytest.mark.parametrize("n", [0, 1, 4, None])
@pytest.mark.parametrize(
    ("name", "order"), [*((name, 1) for name in FIRST), ("adamw", 2), ("rmsprop", 2), ("lion-k", 2)]
)
def test_routines_are_their_formulas(name: str, order: int, n: int | None) -> None:
    exact = probe.truth(name, order, n)
    for role in ("memoryless", "correction", "step"):
        variants = program(name, order)[role]
        routine = variants.limit if n is None else variants.finite
        assert_close(
            interpreter(name, n).run(routine), exact[role].value, ROUNDED if role == "step" else TIGHT
        )


def test_losses_are_their_formulas() -> None:
    for name, order in (("heavyball", 1), ("heavyball", 2), ("adamw", 1), ("lion", 1)):
        derived, literal = probe.derivation(name, order), literal_of(load(name))
        given = values(name, None)
        with mpmath.workdps(60):
            given[Symbol("loss")] = mpf(LOSS.value(given[POINT]))
        run = Interpreter(given, lambda theta, *vs: tuple(LOSS.contraction(theta, *vs))).run
        found = derived.modified_loss
        made = program(name, order)
        assert_close([run(made["modified_loss"].limit)], number_of(found.potential, literal)[:1])
        assert_close(run(made["preconditioner"].limit), number_of(found.preconditioner, literal))
        assert ("decay" in made) == (found.decay != 0)
        if "decay" in made:
            assert_close([run(made["decay"].limit)], number_of(found.decay, literal)[:1])


@pytest.mark.parametrize("name", ["heavyball", "adamw", "lion", "nadamw", "signum"])
@pytest.mark.parametrize("n", [2, None])
def test_products_that_the_caller_gives(name: str, n: int | None) -> None:
    """Directions, their products with the Hessian, and the routines in terms of them: no call is left."""
    made, exact = lower_products(probe.derivation(name, 1)), probe.truth(name, 1, n)
    given = values(name, n)

    def chosen(role: str) -> Routine | Missing:
        return made[role].limit if n is None else made[role].finite

    position = 1
    while direction_name(position) in made:
        direction = Interpreter(given).run(chosen(direction_name(position)))
        with mpmath.workdps(60):
            given[product_symbol(position)] = tuple(LOSS.contraction(given[POINT], direction))
        position += 1
    for role in ("memoryless", "correction", "step"):
        assert_close(
            Interpreter(given).run(chosen(role)), exact[role].value, ROUNDED if role == "step" else TIGHT
        )
    routines = [each for variants in made.routines.values() for each in variants.existing]
    assert not any(
        isinstance(statement, (Contract, Evaluate)) for each in routines for statement in each.statements
    )


class Stand(SimpleNamespace):
    """Stands for a derivation; what is computed of it is kept for it alone."""

    __hash__ = object.__hash__


def test_a_product_for_every_past_step_cannot_be_given() -> None:
    """Code that cannot call back gets finitely many products; code that can multiplies inside its loop."""
    optimizer = load("ema-momentum")
    beta = Symbol("beta")
    update, settled = tanh(beta * GRAD), contraction(tanh(GRAD))
    past = Sum(beta**PAST * contraction(tanh(beta**PAST * GRAD)), (PAST, 0, STEP - 1))
    limit = SimpleNamespace(F=update, M=settled)
    made = lower_products(
        cast(
            Derivation,
            Stand(
                optimizer=optimizer,
                method=(method := method_of(optimizer)),
                order=1,
                F=update,
                M=past,
                marked=MarkedSums(past, method.numbers),
                limit=limit,
                straight=Missing(Sentence.of("no line")),
                limit_straight=update,
            ),
        )
    )
    assert set(made.routines) == {"memoryless", "direction1", "correction", "step", "straight"}
    for name, variants in made.routines.items():
        assert isinstance(variants.limit, Routine), name
        assert isinstance(variants.finite, Missing), name
        assert "every past step would need a Hessian-vector product" in str(variants.finite.reason)
    (loop,) = [each for each in vector_routine(past).statements if isinstance(each, Loop)]
    assert any(isinstance(statement, Contract) for statement in loop.body)


def test_what_is_missing_says_why_and_what_to_do() -> None:
    correction = program("heavyball", 3)["correction"]
    assert isinstance(correction.finite, Missing)
    assert "order 2" in str(correction.finite.reason)
    assert ";" not in str(correction.finite.reason)
    assert correction.finite.advice == (Advice.LIMIT,)
    assert isinstance(program("heavyball", 3)["step"].finite, Missing)
    assert isinstance(program("heavyball", 3)["memoryless"].finite, Routine)
    assert len(correction.existing) == 1


x, y, beta = (Symbol(name) for name in ("x", "y", "beta"))


def test_inputs_are_what_is_read_and_not_computed() -> None:
    routine = vector_routine(x * THETA_VECTOR + contraction(GRAD) * sqrt(y))
    assert routine.inputs == {x, y, POINT, GRAD}
    given = Internal("hv1")
    assert vector_routine(given * x, [given]).inputs == {given, x}
    loop = Sum(beta ** (STEP - PAST) * tanh(PAST * GRAD), (PAST, 0, STEP - 1))
    assert vector_routine(loop).inputs == {beta, STEP, GRAD}


THETA_VECTOR = POINT
CASES = [
    (vector_routine(x * GRAD), set()),
    (vector_routine(contraction(GRAD)), {Need.LIKE}),
    (vector_routine(Function("gradK")(GRAD)), {Need.LIKE}),
    (vector_routine(GRAD * total(GRAD**2)), {Need.TOTAL}),
    (vector_routine(GRAD * sqrt(x)), {Need.ELEMENTARY}),
    (vector_routine(GRAD * x**3 / (1 + y)), set()),
    (vector_routine(sqrt(GRAD**2 + x)), set()),
    (number_routine(tanh(x)), {Need.ELEMENTARY}),
    (number_routine(abs(x) / 2), set()),
    (
        number_routine(Sum(beta ** (STEP - PAST) * sqrt(PAST + 1), (PAST, 0, STEP - 1))),
        {Need.STEPS, Need.OLDEST},
    ),
    (number_routine(Sum(sqrt(PAST + x), (PAST, 0, STEP - 1))), {Need.STEPS}),
    (number_routine(where(STEP > 3, x, y)), {Need.CHOICE}),
    (
        vector_routine(Sum(sqrt(x) * beta ** (STEP - PAST) * tanh(PAST * GRAD), (PAST, 0, STEP - 1))),
        {Need.ZEROS, Need.OLDEST, Need.ELEMENTARY},
    ),
]


@pytest.mark.parametrize(("routine", "needs"), CASES)
def test_needs(routine: Routine, needs: set[Need]) -> None:
    assert routine.needs == needs


def test_a_decay_is_shared_by_all_terms_of_a_sum() -> None:
    """A loop may leave out old terms by its decay: only where every term falls like it."""
    first, second = (base ** (STEP - PAST) * tanh(PAST * GRAD) for base in (beta, x))
    for summand, expected in ((first, beta), (first + first * PAST, beta), (first + second, None)):
        routine = vector_routine(Sum(summand, (PAST, 0, STEP - 1)))
        assert [each.decay for each in routine.statements if isinstance(each, Loop)] == [expected]


def test_a_number_of_a_number_that_moves_moves_too() -> None:
    """Through a chain of names; what does not depend on the step is one number for all steps, its root too."""
    first, second, third = (Internal(name) for name in ("a", "b", "c"))
    given = [(first, PAST + x), (second, 2 * first), (third, x + 1), (Internal("d"), second * sqrt(y))]
    single, many = split_ranges(given, PAST)
    moving = {PAST, *(name for name, _ in many)}
    assert [name.name for name, _ in many] == ["a", "b", "d"]
    assert not any(value.free_symbols & moving for _, value in single)
    values = {PAST: 3, x: 5, y: 4}
    for name, value in (*single, *many):
        values[name] = value.xreplace(values)
    assert values[Internal("d")] == 2 * (3 + 5) * 2


def test_what_a_loop_does_not_change_is_computed_before_it() -> None:
    summand = beta**PAST * tanh(PAST * GRAD) * contraction(GRAD)
    routine = vector_routine(Sum(summand, (PAST, 0, STEP - 1)))
    kinds = [type(statement) for statement in routine.statements]
    assert kinds.index(Contract) < kinds.index(Loop)
    (loop,) = [each for each in routine.statements if isinstance(each, Loop)]
    assert not any(isinstance(statement, Contract) for statement in loop.body)
    assert loop.decay is None


def test_a_contraction_that_stands_twice_is_computed_once() -> None:
    product = contraction(GRAD)
    routine = vector_routine(product + x * tanh(product) + contraction(GRAD * product))
    assert sum(isinstance(statement, Contract) for statement in routine.statements) == 2


def test_sums_inside_sums() -> None:
    inner = Symbol("r")
    expression = Sum(Sum(x**inner, (inner, 0, PAST)) * beta**PAST, (PAST, 0, STEP - 1))
    given = {x: mpf("0.5"), beta: mpf("0.25"), STEP: mpf(6), POINT: (mpf(1),)}
    exact = sum(sum(mpf("0.5") ** r for r in range(s + 1)) * mpf("0.25") ** s for s in range(6))
    assert_close([Interpreter(given).run(number_routine(expression))], [exact])


def test_sums_over_lags() -> None:
    """They run from the oldest step on, and have the same terms."""
    lags = Sum(x**AGO * (AGO + 2), (AGO, 0, STEP))
    given = {x: mpf("0.5"), STEP: mpf(4), POINT: (mpf(1),)}
    exact = sum(mpf("0.5") ** ago * (ago + 2) for ago in range(5))
    assert_close([Interpreter(given).run(number_routine(lags))], [exact])


def test_variants_that_are_one() -> None:
    routine = number_routine(x + 1)
    assert Variants.always(routine).existing == (routine,)
    assert isinstance(routine.statements[-1], Assign)
