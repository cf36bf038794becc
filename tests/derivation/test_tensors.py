"""Functions of whole tensors and of the model: formulas against brute force, with one tensor and with two."""

from __future__ import annotations

from functools import cache

import mpmath
import pytest
from mpmath import mpf
from sympy import Rational, Sum, Symbol, symbols
from tensor_optimizers import LAYOUTS, OPTIMIZERS, VALUES

import symmem
from symmem import Optimizer
from symmem.algebra.atoms import GRAD, LOSS, over_tensors, total
from symmem.algebra.tensor_heads import DOT, NUCLEAR
from symmem.derivation.derivation import Derivation
from symmem.verification.bruteforce import correction, expansion, memoryless
from symmem.verification.error_orders import fit_order
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.losses import coupled_loss, probe_point
from symmem.verification.vectors import distance, relative_error

DIGITS = 30
LR = "1/100"
POINT = probe_point(6)


@cache
def derived(name: str, order: int = 1) -> Derivation:
    return symmem.derive(OPTIMIZERS[name], order)


def values_of(name: str) -> dict[str, str]:
    return {each: VALUES[each] for each in OPTIMIZERS[name].defaults}


def literal_of(name: str, layout: tuple[tuple[int, ...], ...]) -> Literal:
    return Literal(OPTIMIZERS[name], values_of(name), coupled_loss(6), layout=layout)


def number_of(name: str, formula: object, layout: tuple[tuple[int, ...], ...], n: int = 0) -> list[mpf]:
    layouts = {"theta": layout, "grad": layout}
    values = {**values_of(name), "n": n, "lr": LR}
    return evaluate(formula, values, {"theta": POINT}, coupled_loss(6), layouts=layouts, digits=DIGITS)


@pytest.mark.parametrize("layout", LAYOUTS, ids=("one", "two"))
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_step_n_is_that_of_brute_force(name: str, layout: tuple[tuple[int, ...], ...]) -> None:
    literal, found = literal_of(name, layout), derived(name)
    for n in (0, 2):
        assert (
            relative_error(number_of(name, found.F, layout, n), memoryless(literal, POINT, n, DIGITS)) < 1e-25
        )
    change = number_of(name, found.M, layout, 2)
    assert relative_error(change, correction(literal, POINT, 2, LR, DIGITS)) < 1e-25


@pytest.mark.parametrize("name", ["nsgd", "global-clip", "adam-mini", "muon", "muon-shipped"])
def test_second_order_at_a_step_is_that_of_brute_force(name: str) -> None:
    layout = LAYOUTS[1]
    truth = expansion(literal_of(name, layout), POINT, 2, 2, 20)
    lr = mpf(1) / 100
    change = [lr * first + lr**2 * second for first, second in zip(truth[1], truth[2], strict=True)]
    assert relative_error(number_of(name, derived(name, 2).M, layout, 2), change) < 1e-15


def slopes(name: str) -> list[float]:
    """The orders of the error after four steps, without the correction and with it."""
    layout, rates = LAYOUTS[1], (Rational(1, 10000), Rational(1, 20000))
    found, loss, literal = derived(name), coupled_loss(6), literal_of(name, LAYOUTS[1])
    ends = {lr: literal.run(POINT, lr, 4, DIGITS)[-1] for lr in rates}
    orders = []
    for formula in (found.F, found.F + found.M):
        errors = []
        for lr in rates:
            theta = list(POINT)
            for n in range(4):
                values, layouts = {**values_of(name), "n": n, "lr": lr}, {"theta": layout, "grad": layout}
                move = evaluate(formula, values, {"theta": theta}, loss, layouts=layouts, digits=DIGITS)
                with mpmath.workdps(DIGITS):
                    theta = [x - mpf(lr.p) / lr.q * f for x, f in zip(theta, move, strict=True)]
            errors.append(distance(theta, ends[lr]))
        orders.append(float(fit_order(rates, errors).slope))
    return orders


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_error_orders(name: str) -> None:
    """A fixed number of steps: one order more than over a fixed time."""
    plain, corrected = slopes(name)
    assert abs(plain - 2) < 0.02
    assert abs(corrected - 3) < 0.02


@pytest.mark.parametrize("name", ["nsgd", "clip", "lamb", "muon", "shampoo"])
def test_limit_is_that_of_many_steps(name: str) -> None:
    layout = LAYOUTS[1]
    found = derived(name)
    near, far = (number_of(name, found.M, layout, n) for n in (60, 120))
    limit = number_of(name, found.limit.M, layout)
    assert relative_error(far, limit) < relative_error(near, limit) * 1e-5 < 1e-10


def test_gains_cancel_where_the_degree_is_zero() -> None:
    n = Symbol("n")
    for name in ("nsgd", "muon", "muon-shipped"):
        found = derived(name)
        assert n not in found.F.free_symbols
        assert not found.M.has(Sum), "the sum over the past closes"
        assert found.shift == (0,)
    assert not derived("lars").M.has(Sum)
    assert derived("global-clip").M.has(Sum)


def test_a_gain_of_unknown_sign_stays() -> None:
    free = Optimizer(
        name="free", phi="m1/norm(m1)", momentum=[{"g": "grad", "beta": "beta", "b": "b"}],
        parameters={"beta": {"default": 0.9, "range": "[0, 1)"}, "b": 1.0},
    )  # fmt: skip
    assert Symbol("b") in symmem.derive(free).F.free_symbols


def test_declared_degree_lets_the_gains_go() -> None:
    def made(**more: object) -> Optimizer:
        return Optimizer(
            name="open", phi="f(m1)", momentum=[{"g": "grad", "beta": "beta", "b": "1"}],
            parameters={"beta": {"default": 0.9, "range": "[0, 1)"}}, functions={"f": more},
        )  # fmt: skip

    n = Symbol("n")
    assert n not in symmem.derive(made(degree=0)).F.free_symbols
    assert n in symmem.derive(made(degree=1)).F.free_symbols
    assert symmem.derive(made(degree=1)).F.func != symmem.derive(made()).F.func
    assert symmem.derive(made(degree=Rational(-1, 2))).F.as_coeff_Mul()[1].has(n)


def test_number_of_a_tensor_stays_inside_the_hessian() -> None:
    """The Hessian joins tensors: only numbers of the whole model leave it."""
    assert all(atom.args[0].has(DOT) for atom in derived("nsgd").limit.M.atoms(symmem.D2L))
    assert not any(
        atom.args[0].has(symmem.total) for atom in derived("global-clip").limit.M.atoms(symmem.D2L)
    )


def test_gradient_maps_know_their_potentials() -> None:
    beta, c, lr = symbols("beta c lr")
    lag = beta / (1 - beta)
    length = over_tensors(DOT(GRAD, GRAD) ** Rational(1, 2))
    assert derived("nsgd").gradient_map_loss.potential - (LOSS + lr * lag * length) == 0
    whole = (c**2 + total(GRAD**2)) ** Rational(1, 2)
    assert (derived("global-clip").gradient_map_loss.potential - (LOSS + lr * lag * c * whole)).expand() == 0
    nuclear = over_tensors(NUCLEAR(GRAD))
    assert (derived("muon").gradient_map_loss.potential - (LOSS + lr * lag * nuclear)).expand() == 0
    assert derived("muon-shipped").gradient_map_loss is None


@pytest.mark.parametrize("name", ["nsgd", "clip", "global-clip", "muon", "scion"])
def test_loss_inside_the_gradient_map_gives_the_correction(name: str) -> None:
    """``grad K(grad S) = F + M + O(h^2)`` in numbers: S to first order, by differences of its values."""
    layout = LAYOUTS[1]
    found = derived(name)
    loss = found.gradient_map_loss
    layouts = {"theta": layout, "grad": layout}
    values = {**values_of(name), "lr": LR}
    ridges = coupled_loss(6)

    def at(formula: object, point: list[mpf], lr: str, grad: list[mpf] | None = None) -> list[mpf]:
        vectors = {"theta": point, **({} if grad is None else {"grad": grad})}
        return evaluate(formula, {**values, "lr": lr}, vectors, ridges, layouts=layouts, digits=60)

    with mpmath.workdps(60):
        step = mpf(10) ** -20
        slopes = []
        for lr in ("1/1000000000000", "0"):
            gradient = []
            for k in range(6):
                up, down = (
                    at(loss.potential, [x + sign * step * (i == k) for i, x in enumerate(POINT)], lr)
                    for sign in (1, -1)
                )
                gradient.append((up - down) / (2 * step))
            slopes.append(at(loss.map.map, list(POINT), lr, gradient))
        moved = [(new - old) * 10**12 for new, old in zip(*slopes, strict=True)]
    change = [100 * x for x in number_of(name, found.limit.M, layout)]
    assert relative_error(moved, change) < 1e-9
