"""The verification room against values written by hand: who checks the checker."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement

import mpmath
import pytest
from mpmath import mpf
from sympy import Abs, Float, Function, Max, Rational, S, Sum, Symbol, oo, sign, sqrt, symbols, tanh

from symmem.declaration.optimizer import Interval, Momentum, Optimizer, Parameter, VectorFunction
from symmem.verification.bruteforce import correction, exact_direction, expansion, memoryless
from symmem.verification.error_orders import fit_order, global_error, measured_order
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.losses import Loss, coupled_loss, probe_point, quadratic_loss, ridge_loss
from symmem.verification.ridges import (
    Monomial,
    Profile,
    RidgeMap,
    SoftAbsolute,
    entrywise_map,
    exponential,
    log_cosh,
    potential_map,
    sine,
    skew_map,
)
from symmem.verification.vectors import Vector, VerificationError, distance, real, relative_error, vector

UNIT = Interval(S.Zero, S.One, False, True)
RAY = Interval(S.Zero, oo, False, True)
DIRECTIONS = [vector(["0.5", "-0.25", "0.75"]), vector(["1", "0.5", "-0.125"]), vector([-1, "0.25", "0.5"])]
LR = Rational(1, 100)


@pytest.fixture(autouse=True)
def many_digits() -> Iterator[None]:
    """The hand-written side of each comparison is computed here, at 60 digits."""
    with mpmath.workdps(60):
        yield


def parameter(name: str, default: Rational, bounds: Interval = UNIT) -> Parameter:
    return Parameter(name, default, name, bounds)


BETA = parameter("beta", Rational(9, 10))


def heavy_ball() -> Optimizer:
    return Optimizer("heavyball", "m1", (Momentum("grad", "beta", "1"),), (BETA,))


def adamw() -> Optimizer:
    gain = "(1 - {0}) / (1 - {0}**(n + 1))"
    momentum = (
        Momentum("grad", "beta1", gain.format("beta1")),
        Momentum("grad**2", "beta2", gain.format("beta2")),
        Momentum("theta", "0", "weight_decay"),
    )
    parameters = (
        parameter("beta1", Rational(9, 10)),
        parameter("beta2", Rational(99, 100)),
        parameter("eps", Rational(1, 10**6), Interval(S.Zero, oo, True, True)),
        parameter("weight_decay", Rational(1, 100), RAY),
    )
    return Optimizer("adamw", "m1 / sqrt(m2 + eps) + m3", momentum, parameters)


def lion_k() -> Optimizer:
    """No bias correction and a nonlinear K: F^(s) depends on s."""
    momentum = (
        Momentum("-grad", "beta", "(1 - beta)*9/10"),
        Momentum("-grad", "0", "1/10"),
        Momentum("theta", "0", "1/100"),
    )
    function = VectorFunction("gradK", r"\nabla K", "K")
    return Optimizer("lion-k", "-gradK(m1 + m2) + m3", momentum, (BETA,), functions=(function,))


def along(function: RidgeMap, point: Vector, *directions: Vector) -> Vector:
    """The derivative along the last direction, by mpmath's numerical differentiation."""
    *others, last = directions
    with mpmath.workdps(120):
        return tuple(
            mpmath.diff(lambda t, i=i: function(_shift(point, t, last), *others)[i], 0, h=mpf(10) ** -45)
            for i in range(len(point))
        )


def _shift(point: Vector, size: mpf, direction: Vector) -> Vector:
    return tuple(x + size * v for x, v in zip(point, direction, strict=True))


def _scaled(factor: mpf, entries: Vector) -> Vector:
    return tuple(factor * x for x in entries)


class TestLosses:
    @pytest.mark.parametrize(
        "profile", [Monomial(2), Monomial(3), Monomial(4), sine, exponential, log_cosh, SoftAbsolute("1e-2")]
    )
    @pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 6])
    def test_a_profile_differentiates_itself(self, profile: Profile, order: int) -> None:
        x = mpf(3) / 8
        with mpmath.workdps(120):
            slope = mpmath.diff(lambda t: profile(t, order - 1), x, h=mpf(10) ** -45)
        assert abs(profile(x, order) - slope) < mpf(10) ** -35

    def test_profiles_at_a_point(self) -> None:
        x = mpf(3) / 8
        values = [
            Monomial(3)(x, 0),
            sine(x, 0),
            exponential(x, 0),
            log_cosh(x, 0),
            SoftAbsolute("1/100")(x, 1),
        ]
        truth = [
            x**3 / 6,
            mpmath.sin(x),
            mpmath.exp(x),
            mpmath.log(mpmath.cosh(x)),
            x / mpmath.sqrt(x**2 + mpf(1) / 100),
        ]
        assert distance(values, truth) < mpf(10) ** -55

    def test_one_ridge_by_hand(self) -> None:
        """``(x + 2y)^4 / 24`` at (1, 1)."""
        loss = ridge_loss([(1, Monomial(4), (1, 2))])
        point, east = vector([1, 1]), vector([1, 0])
        assert loss.value(point) == mpf(81) / 24
        assert loss.gradient(point) == (mpf(9) / 2, mpf(9))
        assert loss.contraction(point, east) == (mpf(9) / 2, mpf(9))
        assert loss.contraction(point, east, (mpf(0), mpf(1))) == (mpf(6), mpf(12))
        assert loss.contraction(point, *[east] * 4) == (mpf(0), mpf(0))

    def test_gradient_is_the_derivative_of_the_value(self) -> None:
        loss, point = coupled_loss(), probe_point()
        units = [vector([1, 0, 0]), vector([0, 1, 0]), vector([0, 0, 1])]
        with mpmath.workdps(120):
            slopes = [
                mpmath.diff(lambda t, u=u: loss.value(_shift(point, t, u)), 0, h=mpf(10) ** -45)
                for u in units
            ]
        assert distance(loss.gradient(point), slopes) < mpf(10) ** -40

    @pytest.mark.parametrize("count", [1, 2, 3])
    @pytest.mark.parametrize(
        "function",
        [RidgeMap(coupled_loss().ridges), potential_map(), skew_map(), entrywise_map(SoftAbsolute("1/10"))],
    )
    def test_contraction_is_the_derivative_of_the_one_below(self, function: RidgeMap, count: int) -> None:
        directions, point = DIRECTIONS[:count], probe_point()
        assert (
            relative_error(function(point, *directions), along(function, point, *directions)) < mpf(10) ** -35
        )

    @pytest.mark.parametrize("dimension", [1, 2, 3])
    def test_the_probe_is_far_from_special(self, dimension: int) -> None:
        loss, point = coupled_loss(dimension), probe_point(dimension)
        sizes = [abs(x) for x in loss.gradient(point)]
        assert min(sizes) > 0.05
        assert all(abs(x / y - 1) > 0.05 for x, y in combinations(sizes, 2))
        units = [vector([int(i == j) for j in range(dimension)]) for i in range(dimension)]
        for order in (1, 2, 3):
            tensors = [loss.contraction(point, *c) for c in combinations_with_replacement(units, order)]
            assert min(abs(x) for tensor in tensors for x in tensor) > 0.01

    def test_maps_by_hand(self) -> None:
        x, (u, v, _) = probe_point(), DIRECTIONS
        assert entrywise_map(Monomial(2))(x) == x
        assert entrywise_map(Monomial(2))(x, v) == v
        soft = entrywise_map(SoftAbsolute("1/10"))(x)
        assert distance(soft, [t / mpmath.sqrt(t * t + mpf(1) / 10) for t in x]) < mpf(10) ** -55
        symmetric, skew = potential_map(), skew_map()
        assert abs(_dot(symmetric(x, u), v) - _dot(symmetric(x, v), u)) < mpf(10) ** -50
        assert abs(_dot(skew(x, u), v) - _dot(skew(x, v), u)) > 0.01
        rows = [ridge.inward for ridge in symmetric.ridges[::2]]
        assert rows == [ridge.inward for ridge in symmetric.ridges[1::2]]
        bent = [mpmath.tanh(_dot(row, x)) + mpmath.cos(_dot(row, x)) for row in rows]
        truth = [sum(row[i] * b for row, b in zip(rows, bent, strict=True)) for i in range(3)]
        assert distance(symmetric(x), truth) < mpf(10) ** -50


def _dot(left: Vector, right: Vector) -> mpf:
    return sum(x * y for x, y in zip(left, right, strict=True))


def test_measures_of_error_by_hand() -> None:
    assert distance([1, "1/2"], [3, 1]) == 2
    assert relative_error([1, "1/2"], [4, -8]) == mpf(17) / 16
    assert relative_error([2, 1], [0, 0]) == 2
    with pytest.raises(VerificationError, match="not a number"):
        relative_error([mpf("nan"), 1], [1, 1])


class TestLiteral:
    def test_heavy_ball_on_a_parabola_in_fractions(self) -> None:
        literal = Literal(heavy_ball(), {"beta": "1/2"}, quadratic_loss([[1]]))
        iterates = literal.run([1], "1/4", 3)
        assert iterates == [(mpf(1),), (mpf(3) / 4,), (mpf(7) / 16,), (mpf(11) / 64,)]

    def test_adamw_as_it_is_usually_programmed(self) -> None:
        loss, theta, lr = coupled_loss(), probe_point(), mpf(1) / 64
        b1, b2, eps, decay = real("0.9"), real("0.99"), real("1e-6"), real("0.01")
        first, second = [mpf(0)] * 3, [mpf(0)] * 3
        truth = [theta]
        for t in range(1, 8):
            g = loss.gradient(theta)
            first = [b1 * m + (1 - b1) * x for m, x in zip(first, g, strict=True)]
            second = [b2 * v + (1 - b2) * x**2 for v, x in zip(second, g, strict=True)]
            theta = tuple(
                x - lr * (m / (1 - b1**t) / mpmath.sqrt(v / (1 - b2**t) + eps) + decay * x)
                for x, m, v in zip(theta, first, second, strict=True)
            )
            truth.append(theta)
        iterates = Literal(adamw(), {}, loss).run(truth[0], lr, 7)
        assert len(iterates) == 8
        assert max(distance(a, b) for a, b in zip(iterates, truth, strict=True)) < mpf(10) ** -45

    def test_term_by_term_and_carried_along_agree(self) -> None:
        literal = Literal(lion_k(), {"beta": "1/2"}, coupled_loss(), {"gradK": skew_map()})
        trace = literal.trace(probe_point(), "1/8", 6)
        newest_first = [theta for theta, _ in trace][::-1]
        assert relative_error(literal.direction(newest_first), trace[-1][1]) < mpf(10) ** -45

    def test_an_opaque_function_acts_on_whole_vectors(self) -> None:
        loss, theta, outer = coupled_loss(), probe_point(), potential_map()
        move = Literal(lion_k(), {}, loss, {"gradK": outer}).direction([theta])
        g = loss.gradient(theta)
        pushed = outer(tuple(-x * (real("0.09") + real("0.1")) for x in g))
        truth = [-k + x / 100 for k, x in zip(pushed, theta, strict=True)]
        assert relative_error(move, truth) < mpf(10) ** -45

    def test_no_memory_and_constant_variables(self) -> None:
        """beta = 0 is 0^0 = 1 for the newest iterate and 0 for all others; g = 1 is a vector of ones."""
        momentum = (Momentum("grad", "0", "1"), Momentum("1", "0", "1/(n + 1)"))
        literal = Literal(Optimizer("gd-and-clock", "m1 + m2", momentum), {}, coupled_loss())
        far, near = vector([1, 1, 1]), probe_point()
        truth = [x + mpf(1) / 2 for x in coupled_loss().gradient(near)]
        assert distance(literal.direction([near, far]), truth) < mpf(10) ** -45
        clock = Optimizer("clock", "m1", (Momentum("1", "0", "1/(n + 1)"),))
        assert Literal(clock, {}, coupled_loss()).direction([near] * 4) == (mpf(1) / 4,) * 3

    def test_a_trace_pairs_each_iterate_with_its_direction(self) -> None:
        """``2 x^2``: the direction differs from the iterate from the first pair on."""
        literal = Literal(heavy_ball(), {"beta": "1/2"}, quadratic_loss([[2]]))
        pairs = [((mpf(1),), (mpf(4),)), ((mpf(3) / 4,), (mpf(5),)), ((mpf(7) / 16,), (mpf(17) / 4,))]
        assert literal.trace([1], "1/16", 2) == pairs

    def test_frozen_directions(self) -> None:
        literal = Literal(heavy_ball(), {}, coupled_loss())
        g, beta = coupled_loss().gradient(probe_point()), real("9/10")
        for s, found in enumerate(literal.frozen(probe_point(), 5)):
            assert relative_error(found, _scaled((1 - beta ** (s + 1)) / (1 - beta), g)) < mpf(10) ** -45

    def test_wrong_names_are_told(self) -> None:
        with pytest.raises(VerificationError, match="no parameter beta1"):
            Literal(heavy_ball(), {"beta1": "1/2"}, coupled_loss())
        with pytest.raises(VerificationError, match="callable for gradK"):
            Literal(lion_k(), {}, coupled_loss())


class TestBruteForce:
    @pytest.mark.parametrize("n", [0, 1, 2, 5, 17, 60])
    def test_heavy_ball(self, n: int) -> None:
        """The paper's ``h beta (1 - (2n+1) beta^n (1-beta) - beta^(2n+1)) / (1-beta)^3  H g``."""
        loss, theta, beta = coupled_loss(), probe_point(), real("9/10")
        literal = Literal(heavy_ball(), {}, loss)
        g = loss.gradient(theta)
        assert (
            relative_error(memoryless(literal, theta, n), _scaled((1 - beta ** (n + 1)) / (1 - beta), g))
            < mpf(10) ** -45
        )
        factor = (
            real(LR) * beta * (1 - (2 * n + 1) * beta**n * (1 - beta) - beta ** (2 * n + 1)) / (1 - beta) ** 3
        )
        truth = _scaled(factor, loss.contraction(theta, g))
        assert relative_error(correction(literal, theta, n, LR), truth) < mpf(10) ** -45
        assert n == 0 or max(abs(x) for x in truth) > 0.001

    @pytest.mark.parametrize("n", [1, 4, 60])
    def test_adamw(self, n: int) -> None:
        """By the chain rule: F does not depend on s, so ``S_l = (sum_k k beta_l^k) F``."""
        loss, theta = coupled_loss(), probe_point()
        b1, b2, eps, decay = real("0.9"), real("0.99"), real("1e-6"), real("0.01")
        g = loss.gradient(theta)
        f = tuple(x / mpmath.sqrt(x**2 + eps) + decay * t for x, t in zip(g, theta, strict=True))
        pull = loss.contraction(theta, f)
        late = [sum(k * b**k for k in range(1, n + 1)) * (1 - b) / (1 - b ** (n + 1)) for b in (b1, b2)]
        truth = [
            real(LR)
            * (
                late[0] * p / mpmath.sqrt(x**2 + eps)
                - x / 2 / (x**2 + eps) ** real("3/2") * 2 * x * late[1] * p
            )
            for x, p in zip(g, pull, strict=True)
        ]
        assert relative_error(correction(Literal(adamw(), {}, loss), theta, n, LR), truth) < mpf(10) ** -45

    def test_first_order_of_the_exact_direction_is_the_correction(self) -> None:
        """Two routes that share only the definition, with F^(s) dependent on s and an asymmetric K."""
        literal = Literal(lion_k(), {"beta": "3/4"}, coupled_loss(), {"gradK": skew_map()})
        zeroth, first = expansion(literal, probe_point(), 7, 1)
        assert relative_error(zeroth, memoryless(literal, probe_point(), 7)) < mpf(10) ** -45
        assert relative_error(first, correction(literal, probe_point(), 7, 1)) < mpf(10) ** -45

    def test_orders_two_and_three_of_heavy_ball(self) -> None:
        """mathematics.md section 4, in the limit: 45 steps leave 10^-40."""
        loss, theta, b = coupled_loss(), probe_point(), mpf(1) / 10
        found = expansion(Literal(heavy_ball(), {"beta": "1/10"}, loss), theta, 45, 3)
        g = loss.gradient(theta)
        hg, bent = loss.contraction(theta, g), loss.contraction(theta, g, g)
        hhg, hbent = loss.contraction(theta, hg), loss.contraction(theta, bent)
        second = [b * (1 + b) / (1 - b) ** 5 * (x + y / 2) for x, y in zip(hhg, bent, strict=True)]
        rows = zip(
            loss.contraction(theta, hhg),
            loss.contraction(theta, g, hg),
            hbent,
            loss.contraction(theta, g, g, g),
            strict=True,
        )
        third = [
            (b * (1 + 3 * b + b**2) * (x + y) + b * (1 + 4 * b + b**2) * (z / 2 + w / 6)) / (1 - b) ** 7
            for x, y, z, w in rows
        ]
        assert relative_error(found[2], second) < mpf(10) ** -35
        assert relative_error(found[3], third) < mpf(10) ** -35

    def test_exact_direction_on_a_parabola(self) -> None:
        """Heavy ball on x^2/2, two steps: ``theta_2 = ((1 - h)(1 - h + beta) - beta) theta_0``, by hand."""
        h, b = mpf(1) / 8, mpf(1) / 2
        gains = [mpf(1), 1 - h]
        gains.append((1 + b - h) * gains[1] - b * gains[0])
        gains.append((1 + b - h) * gains[2] - b * gains[1])
        literal = Literal(heavy_ball(), {"beta": "1/2"}, quadratic_loss([[1]]))
        (found,) = exact_direction(literal, [3], 2, h)
        assert abs(found - 3 * (gains[2] - gains[3]) / gains[2] / h) < mpf(10) ** -45

    def test_a_start_that_cannot_be_found_is_told(self) -> None:
        literal = Literal(heavy_ball(), {}, coupled_loss())
        with pytest.raises(VerificationError, match="with lr = "):
            exact_direction(literal, probe_point(), 30, "1/2", digits=20)


THETA, GRAD, B, N, PAST, R = symbols("theta grad beta n s r")
D2L, D3L, TOTAL = Function("D2L"), Function("D3L"), Function("total")
K, K1, K2 = Function("gradK"), Function("gradK_jvp"), Function("gradK_jvp2")


class TestEvaluation:
    loss: Loss = coupled_loss()
    point: Vector = probe_point()

    def put(self, expression: object, **values: object) -> list[mpf]:
        found = evaluate(expression, values, {"theta": self.point}, self.loss, {"gradK": skew_map()})
        return found if isinstance(found, list) else [found]

    def test_entrywise(self) -> None:
        g = self.loss.gradient(self.point)
        truth = [
            (mpf(1) / 3) * t**2 / mpmath.sqrt(abs(x) + mpf(1) / 7)
            - mpmath.tanh(x) * mpmath.sign(x)
            + mpmath.pi
            for t, x in zip(self.point, g, strict=True)
        ]
        found = self.put(THETA**2 / sqrt(Abs(GRAD) + Rational(1, 7)) / 3 - tanh(GRAD) * sign(GRAD) + S.Pi)
        assert distance(found, truth) < mpf(10) ** -49
        assert distance(self.put(Max(GRAD, 0)), [max(x, 0) for x in g]) < mpf(10) ** -49
        assert self.put(Float("0.5")) == [mpf(1) / 2]
        assert distance(self.put(Symbol("loss")), [self.loss.value(self.point)]) < mpf(10) ** -49

    def test_tensors(self) -> None:
        loss, x = self.loss, self.point
        g = loss.gradient(x)
        hg = loss.contraction(x, g)
        entries = zip(hg, loss.contraction(x, hg, x), loss.contraction(x, (mpf(1),) * 3), strict=True)
        truth = [2 * a * b - c for a, b, c in entries]
        assert (
            relative_error(self.put(2 * D2L(GRAD) * D3L(D2L(GRAD), THETA) - D2L(S.One)), truth)
            < mpf(10) ** -49
        )
        squares = sum(t * t for t in g)
        assert relative_error(self.put(TOTAL(GRAD**2) * THETA), _scaled(squares, x)) < mpf(10) ** -49
        assert abs(self.put(TOTAL(THETA + 1))[0] - sum(x) - 3) < mpf(10) ** -49

    def test_opaque_functions(self) -> None:
        function, x, g = skew_map(), self.point, self.loss.gradient(self.point)
        parts = zip(function(x), function(x, g), function(x, g, x), strict=True)
        found = self.put(K(THETA) + 2 * K1(THETA, GRAD) + 3 * K2(THETA, GRAD, THETA))
        assert relative_error(found, [a + 2 * b + 3 * c for a, b, c in parts]) < mpf(10) ** -49

    def test_finite_sums(self) -> None:
        beta = real("0.9")
        weights = [beta ** (6 - s) * (1 - beta ** (s + 1)) / (1 - beta) for s in range(6)]
        expression = Sum(
            B ** (N - PAST) * (1 - B ** (PAST + 1)) / (1 - B) * D2L(GRAD / (PAST + 1)), (PAST, 0, N - 1)
        )
        hg = self.loss.contraction(self.point, self.loss.gradient(self.point))
        truth = _scaled(sum(w / (s + 1) for s, w in enumerate(weights)), hg)
        assert relative_error(self.put(expression, beta=Rational(9, 10), n=6), truth) < mpf(10) ** -49
        assert self.put(expression, beta=Rational(9, 10), n=0) == [mpf(0)]

    def test_nested_sums_and_their_indices(self) -> None:
        triangle = sum(s * (10 + s) * r for s in range(6) for r in range(s + 1))
        assert self.put(Sum(PAST * (N + PAST) * R, (R, 0, PAST), (PAST, 0, N - 5)), n=10) == [mpf(triangle)]
        assert self.put(Sum(PAST * (N + PAST) * Sum(R, (R, 0, PAST)), (PAST, 0, N - 5)), n=10) == [
            mpf(triangle)
        ]
        shadow = Sum(PAST * Sum(PAST**2, (PAST, 0, 3)), (PAST, 0, 4))
        assert self.put(shadow + Sum(PAST, (PAST, 0, 2)) * PAST, s=7) == [mpf(10 * 14 + 3 * 7)]

    def test_endless_sums(self) -> None:
        beta = real("0.9")
        found = self.put(Sum(PAST * B**PAST * THETA, (PAST, 0, oo)), beta="0.9")
        assert relative_error(found, _scaled(beta / (1 - beta) ** 2, self.point)) < mpf(10) ** -49
        assert self.put(Sum(B**PAST, (PAST, 1, oo)), beta=0) == [mpf(0)]

    def test_nothing_to_the_nothing_is_one(self) -> None:
        assert self.put(B**N, beta=0, n=0) == [mpf(1)]
        assert self.put(B**N, beta=0, n=3) == [mpf(0)]

    def test_shared_subexpressions_are_visited_once(self) -> None:
        """Without memory this is 2^60 visits."""
        expression = PAST * GRAD
        for _ in range(60):
            expression = K1(K(expression), D2L(expression))
        assert len(self.put(expression, s=1)) == 3

    def test_sums_remember_by_their_indices(self) -> None:
        """20 calls for each of s = 1, 2, 3, however often r repeats them."""
        calls: list[int] = []

        def counted(*arguments: Vector) -> Vector:
            calls.append(len(arguments))
            return skew_map()(*arguments)

        expression = PAST * GRAD
        for _ in range(10):
            expression = K1(K(expression), D2L(expression))
        inputs = {"theta": self.point}
        found = evaluate(
            Sum(R * expression, (PAST, 1, 3), (R, 1, 4)), {}, inputs, self.loss, {"gradK": counted}
        )
        assert len(calls) == 2 * 10 * 3
        truth = [
            10 * sum(column) for column in zip(*(self.put(expression, s=s) for s in (1, 2, 3)), strict=True)
        ]
        assert relative_error(found, truth) < mpf(10) ** -45

    @pytest.mark.parametrize(
        ("expression", "message"),
        [
            (B * THETA, "no value for the symbol beta"),
            (sqrt(THETA), "leaves the real numbers"),
            (1 / (THETA - THETA * N), "division by zero"),
            (Function("D4L")(GRAD), "3 vectors"),
            (Function("other")(GRAD), "no function for other"),
            (Function("gradK_jvp")(GRAD), "no function for gradK_jvp"),
            (Sum(PAST, (PAST, 0, N / 2)), "not an integer"),
        ],
    )
    def test_what_cannot_be_evaluated_is_told(self, expression: object, message: str) -> None:
        with pytest.raises(VerificationError, match=message):
            self.put(expression, n=1)


class TestOrders:
    sizes = tuple(Rational(1, 20 * 2**k) for k in range(4))

    def test_a_power_law_is_recovered(self) -> None:
        order = fit_order([1, 2, 4, 8], [3, 12, 48, 192])
        assert abs(order.slope - 2) < 1e-12
        assert order.residual < 1e-12
        bumpy = fit_order([1, 2, 4], [1, 8, 16])
        assert abs(bumpy.slope - 2) < 1e-12
        assert abs(bumpy.residual - float(mpmath.log(2)) * (2 / 9) ** 0.5) < 1e-12

    @pytest.mark.parametrize("order", [1, 2])
    def test_methods_of_known_order(self, order: int) -> None:
        """``y' = -y``: explicit Euler has order 1, the midpoint rule order 2."""

        def truth(lr: mpf, steps: int) -> list[Vector]:
            return [(mpmath.exp(-lr * n), 2 * mpmath.exp(-lr * n)) for n in range(steps + 1)]

        def step(y: Vector, _n: int, lr: mpf) -> Vector:
            return tuple(x * (1 - lr + (lr**2 / 2 if order == 2 else 0)) for x in y)

        found = measured_order(lambda lr: global_error(truth, step, vector([1, 2]), lr, 1), self.sizes)
        assert abs(found.slope - order) < 0.05
        assert found.residual < 0.02

    def test_error_by_hand(self) -> None:
        """Three steps of 1/3 reach the horizon 1, and the largest gap is the last; floats will do."""

        def truth(_lr: mpf, steps: int) -> list[Vector]:
            assert steps == 3
            return [(mpf(n), mpf(0)) for n in range(steps + 1)]

        assert (
            global_error(truth, lambda y, n, _lr: [y[0] + 1.5, 0.25 * n], [0.0, 0.0], Rational(1, 3), 1)
            == mpf(3) / 2
        )

    def test_the_horizon_is_reached_whatever_the_rounding(self) -> None:
        def truth(_lr: mpf, steps: int) -> list[Vector]:
            return [(mpf(steps),)] * (steps + 1)

        for count in range(1, 200):
            assert global_error(truth, lambda y, _n, _lr: y, [0], Rational(1, count), 1) == count

    def test_skipping_a_shifted_start(self) -> None:
        def truth(_lr: mpf, steps: int) -> list[Vector]:
            return [(mpf(0),)] * (steps + 1)

        error = [
            global_error(truth, lambda y, _n, _lr: [y[0] / 2], [1.0], Rational(1, 8), 1, skip=skip)
            for skip in (0, 3)
        ]
        assert error == [mpf(1), mpf(1) / 8]

    def test_heavy_ball_needs_its_correction(self) -> None:
        """True optimizer against memoryless iteration: order 1 without M^(n), order 2 with it."""
        loss, beta, theta0 = coupled_loss(), real("1/2"), probe_point()
        literal = Literal(heavy_ball(), {"beta": "1/2"}, loss)

        def step(y: Vector, n: int, lr: mpf, corrected: bool) -> Vector:
            g = loss.gradient(y)
            gain = (1 - beta ** (n + 1)) / (1 - beta)
            weight = (
                beta
                * (1 - (2 * n + 1) * beta**n * (1 - beta) - beta ** (2 * n + 1))
                / (1 - beta) ** 3
                * corrected
            )
            pull = loss.contraction(y, g)
            return tuple(x - lr * (gain * a + lr * weight * b) for x, a, b in zip(y, g, pull, strict=True))

        def slope(corrected: bool) -> float:
            def error(lr: Rational) -> mpf:
                return global_error(
                    lambda h, steps: literal.run(theta0, h, steps, 30),
                    lambda y, n, h: step(y, n, h, corrected),
                    theta0, lr, Rational(1, 2),
                )  # fmt: skip

            return measured_order(error, [Rational(1, 40 * 2**k) for k in range(4)]).slope

        assert abs(slope(False) - 1) < 0.1
        assert abs(slope(True) - 2) < 0.15

    def test_what_has_no_order_is_told(self) -> None:
        with pytest.raises(VerificationError, match="agree exactly"):
            fit_order([1, 2], [0, 1])
        with pytest.raises(VerificationError, match="two different"):
            fit_order([1, 1], [1, 2])

        def stays(_lr: mpf, steps: int) -> list[Vector]:
            return [(mpf(0),)] * (steps + 1)

        with pytest.raises(VerificationError, match="not a number"):
            global_error(stays, lambda *_: [float("nan")], [0.0], Rational(1, 4), 1)
