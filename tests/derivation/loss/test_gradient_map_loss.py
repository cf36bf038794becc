"""The exact modified loss of gradient-map momentum (mathematics.md section 11), against numbers that know no formula.

Gradients of the potential are differences of a tiny step at a raised precision; the truth of the iteration is the
tree recursion, which shares nothing with the Hopf-Lax series, and the method itself as it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import mpmath
import pytest
from mpmath import mpf
from sympy import Add, Expr, Rational, Symbol
from truth import LOSS, THETA

import symmem
from symmem import Momentum, Optimizer
from symmem.algebra.atoms import GRAD, LR, contraction, slot, total
from symmem.algebra.directional import along, derivative
from symmem.algebra.gradients import expanded, gradient
from symmem.algebra.results import Missing
from symmem.algebra.scalar_forms import canonical, is_same
from symmem.derivation.loss.gradient_map_loss import GradientMapLoss, gradient_map_loss
from symmem.derivation.loss.verdicts import Obstruction
from symmem.method.reading import method_of
from symmem.verification.evaluation import evaluate
from symmem.verification.ridges import potential_map

DIGITS = 90
TINY = mpf(10) ** -30
FUNCTIONS = {"gradK": potential_map(3)}
BETA = {"default": Rational(3, 5), "range": "[0, 1)"}
DECAY = {"default": Rational(3, 10), "range": "[0, inf)"}
EPS = {"default": Rational(1, 20), "range": "(0, inf)"}


def _map(
    name: str, phi: str, *, g: str = "grad", b: str = "1 - beta", decayed: bool = False, eps: bool = False
) -> Optimizer:
    momentum = [Momentum(g, "beta", b)] + ([Momentum("theta", "0", "wd")] if decayed else [])
    parameters = {"beta": BETA, **({"wd": DECAY} if decayed else {}), **({"eps": EPS} if eps else {})}
    parameters |= {"inner": DECAY} if "inner" in g else {}
    functions = {"gradK": {"potential": "K"}} if "gradK" in phi else {}
    return Optimizer(name, phi + (" + m2" if decayed else ""), momentum, parameters, functions=functions)


METHODS = {
    "heavy ball": _map("hb", "m1", b="1"),
    "heavy ball, decay": _map("hbd", "m1", b="1", decayed=True),
    "soft sign": _map("soft", "m1/sqrt(m1**2 + eps)", eps=True),
    "soft sign, decay": _map("softd", "m1/sqrt(m1**2 + eps)", eps=True, decayed=True),
    "tanh of a debiased average": _map(
        "tanh", "2*tanh(3*m1)", b="(1 - beta)/(1 - beta**(n + 1))", decayed=True
    ),
    "soft sign, coupled decay": _map("softc", "m1/sqrt(m1**2 + eps)", g="grad + inner*theta", eps=True),
    "two maps, both decays": _map(
        "twoc", "m1 + m1**3", g="2*grad + 2*inner*theta", b="(1 - beta)/2", decayed=True
    ),
    "two maps": _map("two", "m1 + m1**3", decayed=True),
    "opaque": _map("opaque", "gradK(m1)/2"),
    "opaque, decay": _map("opaqued", "3*gradK(m1)", decayed=True, b="2"),
}


def value(expression: Expr, optimizer: Optimizer, lr: mpf, point: Sequence[mpf]) -> list[mpf] | mpf:
    scalars = {**{p.name: p.default for p in optimizer.parameters}, "lr": lr}
    return evaluate(expression, scalars, {"theta": point}, LOSS, FUNCTIONS, digits=DIGITS)


def slope(potential: Expr, optimizer: Optimizer, lr: mpf, point: Sequence[mpf]) -> list[mpf]:
    with mpmath.workdps(DIGITS):
        found = []
        for i in range(len(point)):
            up, down = (
                value(potential, optimizer, lr, [x + s * TINY * (i == j) for j, x in enumerate(point)])
                for s in (1, -1)
            )
            found.append((up - down) / (2 * TINY))
        return found


@cache
def found(name: str, order: int) -> GradientMapLoss:
    result = gradient_map_loss(method_of(METHODS[name]), order)
    assert isinstance(result, GradientMapLoss)
    return result


FAR = (
    *("tanh of a debiased average", "two maps", "opaque, decay", "soft sign, decay"),
    *("two maps, both decays", "soft sign, coupled decay"),
)
"""Order 3 of these under make prove: their parts, a decay and a map, are seen by the others."""


@pytest.mark.parametrize(
    ("name", "order"),
    [
        pytest.param(name, order, marks=[pytest.mark.prove] * (order == 3 and name in FAR))
        for name in METHODS
        for order in (1, 2, 3)
    ],
)
def test_the_step_along_the_potential_is_the_step_of_the_trees(name: str, order: int) -> None:
    """``grad K(grad S) + decay theta = F_0 + h F_1 + ... + O(h^(order+1))``: the difference has that slope in h."""
    optimizer, loss = METHODS[name], found(name, order)
    step = Add(*(LR**j * part for j, part in enumerate(symmem.derive(optimizer, order).coefficients)))
    differences = []
    for rate in (mpf(10) ** -5, mpf(10) ** -6):
        descent = slope(loss.potential, optimizer, rate, THETA)
        scalars = {**{p.name: p.default for p in optimizer.parameters}, "lr": rate}
        moved = evaluate(
            loss.map.map, scalars, {"theta": THETA, "grad": descent}, LOSS, FUNCTIONS, digits=DIGITS
        )
        decayed = evaluate(loss.map.decay, scalars, {"theta": THETA}, LOSS, digits=DIGITS)
        expected = value(step, optimizer, rate, THETA)
        with mpmath.workdps(DIGITS):
            gaps = [abs(m + decayed * t - e) for m, t, e in zip(moved, THETA, expected, strict=True)]
            differences.append(max(gaps))
    with mpmath.workdps(DIGITS):
        fitted = mpmath.log10(differences[0] / differences[1])
    # Where the map is linear the step along the potential has no further terms.
    assert abs(fitted - (order + 1)) < 0.01 or differences[0] < mpf(10) ** -50


def _slopes(theta: Sequence[mpf], inner: mpf) -> list[mpf]:
    """The gradient that the method sees."""
    return [g + inner * x for g, x in zip(LOSS.gradient(tuple(theta)), theta, strict=True)]


@pytest.mark.parametrize("name", METHODS)
def test_the_gradient_of_the_running_form_is_the_momentum(name: str) -> None:
    """On the slow manifold, reached by 150 steps: to 1e-10, in fact to the start that is forgotten like beta^n."""
    optimizer, loss = METHODS[name], found(name, 1)
    numbers = {p.name: p.default for p in optimizer.parameters}
    rate, steps = mpf(1) / 50, 150
    assert loss.running is not None

    def ran(start: Sequence[mpf]) -> tuple[list[mpf], list[mpf], mpf]:
        """theta_n, the mean of past gradients in its step, and the running modified loss there."""
        wd, inner = (mpf(3) / 10 if name in numbers else mpf(0) for name in ("wd", "inner"))
        beta, theta, mean = mpf(3) / 5, list(start), _slopes(start, inner)
        running = LOSS.value(tuple(start)) + inner / 2 * sum(x**2 for x in start)
        scalars = {**numbers, "lr": rate}
        gain = evaluate(loss.map.gain, scalars, {"theta": theta}, digits=50)
        for _ in range(steps):
            moved = evaluate(
                loss.map.map, scalars, {"theta": theta, "grad": mean}, LOSS, FUNCTIONS, digits=50
            )
            theta = [(1 - rate * wd) * t - rate * v for t, v in zip(theta, moved, strict=True)]
            point = {"theta": theta, "m1": [gain * m for m in mean]}
            running = evaluate(
                loss.running, {**scalars, "previous": running}, point, LOSS, FUNCTIONS, digits=50
            )
            mean = [beta * m + (1 - beta) * g for m, g in zip(mean, _slopes(theta, inner), strict=True)]
        return theta, mean, running

    with mpmath.workdps(50):
        step = mpf(10) ** -15
        start = [mpf(x) for x in THETA]
        jacobian, slopes = mpmath.matrix(3), mpmath.matrix(3, 1)
        for i in range(3):
            up, down = (ran([x + s * step * (i == j) for j, x in enumerate(start)]) for s in (1, -1))
            slopes[i] = (up[2] - down[2]) / (2 * step)
            for j in range(3):
                jacobian[i, j] = (up[0][j] - down[0][j]) / (2 * step)
        gradient_there = mpmath.lu_solve(jacobian, slopes)
        momentum = ran(start)[1]
        assert max(abs(a - b) for a, b in zip(gradient_there, momentum, strict=True)) < mpf(10) ** -12


@pytest.mark.parametrize(
    "scalar",
    [
        total(GRAD * contraction(GRAD)),
        total(GRAD * contraction(GRAD, contraction(GRAD))),
        Symbol("loss") * total(GRAD * Symbol("theta")),
        total(GRAD / (GRAD**2 + 1) * contraction(GRAD**3)),
    ],
)
def test_the_gradient_of_a_scalar(scalar: Expr) -> None:
    """Along every direction it is the directional derivative: a symbolic zero."""
    assert canonical(derivative(scalar, along(slot(0))) - total(expanded(gradient(scalar) * slot(0)))) == 0


SOFT = "{}/sqrt({}**2 + eps)"


def _two_names(g: str, b: str, decayed: bool) -> Optimizer:
    """Soft sign with the momentum by two names: m1, and m2 with its own g and b."""
    momentum = [Momentum("grad", "beta", "1 - beta"), Momentum(g, "beta", b)]
    momentum += [Momentum("theta", "0", "wd")] if decayed else []
    parameters = {"beta": BETA, "eps": EPS} | ({"wd": DECAY} if decayed else {})
    return Optimizer("two", SOFT.format("m1", "m2") + (" + m3" if decayed else ""), momentum, parameters)


@pytest.mark.parametrize("decayed", [False, True])
@pytest.mark.parametrize(
    ("g", "b", "multiple"),
    [("grad", "1 - beta", "1"), ("grad", "2*(1 - beta)", "2"), ("-3*grad", "2 - 2*beta", "(-6)")],
)
def test_one_memory_by_two_names(g: str, b: str, multiple: str, decayed: bool) -> None:
    """``m2 = c m1``: all that holds with c m1 written in the place of m2 holds, to a symbolic zero."""
    two = _two_names(g, b, decayed)
    one = _map("one", SOFT.format("m1", f"({multiple}*m1)"), decayed=decayed, eps=True)
    for order in (1, 2):
        found, expected = (gradient_map_loss(method_of(each), order) for each in (two, one))
        assert isinstance(found, GradientMapLoss)
        assert isinstance(expected, GradientMapLoss)
        assert canonical(found.potential - expected.potential) == 0
        assert canonical(found.running - expected.running) == 0
        assert is_same(found.map.map, expected.map.map)
    first, second = (symmem.derive(each).modified_loss for each in (two, one))
    assert canonical(first.potential - second.potential) == 0
    assert is_same(first.preconditioner, second.preconditioner)


SUMS = {
    "tanh of two averages": (
        ("tanh(m1 + inner*m2)", ("grad", "1 - beta"), ("grad", "2")),
        ("tanh(m1)", "(1 - beta) + 2*inner", "grad"),
    ),
    "an average of the parameters": (
        ("m1 + inner*m2", ("grad", "1 - beta"), ("theta", "1 - beta")),
        ("m1", "1 - beta", "grad + inner*theta"),
    ),
}
"""Phi of two declared variables, and the same method with one."""


@pytest.mark.parametrize("case", SUMS)
def test_the_running_form_reads_the_variables_that_were_declared(case: str) -> None:
    """Along a run by hand it is that of the same method with one momentum variable, at the momentum of that."""
    (phi, *given), (phi_of_one, b, g) = SUMS[case]
    parameters = {"beta": BETA, "inner": DECAY}
    two = Optimizer("two", phi, [Momentum(part, "beta", factor) for part, factor in given], parameters)
    one = Optimizer("one", phi_of_one, [Momentum(g, "beta", b)], parameters)
    losses = [gradient_map_loss(method_of(each), 1) for each in (two, one)]
    assert all(isinstance(each, GradientMapLoss) and each.running is not None for each in losses)
    with mpmath.workdps(50):
        rate, beta, inner = mpf(1) / 50, mpf(3) / 5, mpf(3) / 10
        scalars = {"beta": beta, "inner": inner, "lr": rate}
        theta, sums, running = [mpf(x) for x in THETA], [[mpf(0)] * 3, [mpf(0)] * 3], [mpf(0)] * 2
        for _ in range(6):
            seen = {"grad": LOSS.gradient(tuple(theta)), "theta": theta}
            sums = [
                [beta * x + y for x, y in zip(kept, seen[part], strict=True)]
                for kept, (part, _) in zip(sums, given, strict=True)
            ]
            factors = [1 - beta if factor == "1 - beta" else mpf(factor) for _, factor in given]
            first, second = ([f * x for x in kept] for f, kept in zip(factors, sums, strict=True))
            both = [x + inner * y for x, y in zip(first, second, strict=True)]
            moved = [mpmath.tanh(x) for x in both] if "tanh" in phi else both
            theta = [t - rate * v for t, v in zip(theta, moved, strict=True)]
            points = ({"theta": theta, "m1": first, "m2": second}, {"theta": theta, "m1": both})
            running = [
                evaluate(loss.running, {**scalars, "previous": last}, point, LOSS, digits=50)
                for loss, last, point in zip(losses, running, points, strict=True)
            ]
            assert abs(running[0] - running[1]) < mpf(10) ** -40


@pytest.mark.parametrize("name", ["nesterov", "lion"])
def test_memory_that_is_not_geometric_has_it_to_first_order(name: str) -> None:
    method = method_of(symmem.load(name))
    assert isinstance(gradient_map_loss(method, 1), GradientMapLoss)
    denied = gradient_map_loss(method, 2)
    assert isinstance(denied, Obstruction)
    assert (denied.order, denied.is_denial) == (2, True)


INVERTIBLE = {
    "nesterov": (symmem.load("nesterov"), lambda y: y / 10),
    "lion with a large eps": (
        symmem.load("lion").with_values({"eps": Rational(1, 5), "beta2": Rational(4, 5)}),
        lambda y: y * mpmath.sqrt(mpf(1) / 5 / (1 - y**2)),
    ),
}
"""With the inverse of the map: the mean of past gradients, from the step."""


@pytest.mark.parametrize("case", INVERTIBLE)
def test_a_denial_is_the_asymmetry_of_the_inverted_step(case: str) -> None:
    """map^-1(F_0 + h F_1 + h^2 F_2 - decay theta) is symmetric to order h, and then off by what the witness says."""
    optimizer, inverse = INVERTIBLE[case]
    derivation = symmem.derive(optimizer, 2)
    seen = derivation.gradient_map_verdict.witness
    decay = gradient_map_loss(derivation.method, 1).map.decay
    loss = probe_loss(seen.rows)

    def mean(point: Sequence[mpf], rate: mpf) -> list[mpf]:
        step = Add(*(LR**j * part for j, part in enumerate(derivation.coefficients)))
        scalars = {**{p.name: p.default for p in optimizer.parameters}, "lr": rate}
        moved = evaluate(step - decay * Symbol("theta"), scalars, {"theta": point}, loss, digits=DIGITS)
        return [inverse(entry) for entry in moved]

    with mpmath.workdps(DIGITS):
        i, j = seen.entries
        centre = [mpf(int(x.p)) / int(x.q) for x in seen.point]

        def slope_of(entry: int, axis: int, rate: mpf) -> mpf:
            up, down = ([x + s * TINY * (k == axis) for k, x in enumerate(centre)] for s in (1, -1))
            return (mean(up, rate)[entry] - mean(down, rate)[entry]) / (2 * TINY)

        gaps = [slope_of(i, j, rate) - slope_of(j, i, rate) for rate in (mpf(10) ** -9, mpf(10) ** -10)]
        found = [gap / rate**2 for gap, rate in zip(gaps, (mpf(10) ** -9, mpf(10) ** -10), strict=True)]
        assert float(found[1]) == pytest.approx(seen.gap, rel=1e-5)


def probe_loss(rows: Sequence[Sequence[Rational]]) -> object:
    """``sum_j sin(a_j . x + 1) + (a_j . x)^2/2`` with derivatives of every order, written here anew."""

    class Probe:
        def gradient(self, point: Sequence[mpf]) -> tuple[mpf, ...]:
            return self.contraction(point)

        def contraction(self, point: Sequence[mpf], *vectors: Sequence[mpf]) -> tuple[mpf, ...]:
            order, out = len(vectors) + 1, [mpf(0)] * len(point)
            for row in rows:
                a = [mpf(int(x.p)) / int(x.q) for x in row]
                x = mpmath.fdot(a, point)
                wave = [mpmath.sin, mpmath.cos, lambda t: -mpmath.sin(t), lambda t: -mpmath.cos(t)][order % 4]
                size = wave(x + 1) + (x if order == 1 else mpf(order == 2))
                for vector in vectors:
                    size *= mpmath.fdot(a, vector)
                out = [o + size * entry for o, entry in zip(out, a, strict=True)]
            return tuple(out)

    return Probe()


def test_an_open_function_with_more_than_one_age_is_not_denied() -> None:
    """Nothing can be computed of it: none was found, which is another sentence."""
    found = symmem.derive("lion-k", 2).gradient_map_verdict
    assert isinstance(found, Obstruction)
    assert not found.is_denial
    assert symmem.derive("lion-k", 2).gradient_map_loss is None


@pytest.mark.parametrize("name", ["gd", "adam", "adamw", "rmsprop"])
def test_what_is_no_gradient_map_of_one_memory_has_none(name: str) -> None:
    derivation = symmem.derive(name)
    assert isinstance(derivation.gradient_map_verdict, Missing)
    assert derivation.gradient_map_loss is None
    assert ("memory" in str(derivation.gradient_map_verdict)) == (name != "rmsprop")


def test_two_losses_that_are_one_are_said_to_be_one() -> None:
    """Three averages of averages: both losses are ``L + h/2 (b/(1-b) + c/(1-c) + d/(1-d)) |grad|^2``, written twice."""
    momentum = [Momentum("grad", "b", "1 - b"), Momentum("m1", "c", "1 - c"), Momentum("m2", "d", "1 - d")]
    cascade = symmem.derive(Optimizer("three", "m3", momentum, dict.fromkeys("bcd", BETA)))
    behind, inside = cascade.modified_loss, cascade.gradient_map_loss
    assert isinstance(inside, GradientMapLoss)
    assert is_same(behind.potential, inside.potential)
    assert not is_same(behind.potential, inside.potential + LR * Symbol("b") * total(GRAD**2))
    assert not is_same(behind.potential, inside.potential.xreplace({Symbol("b"): Symbol("c")}))
