"""The displayed formulas of the paper, each a symbolic zero, and the errata of mathematics.md section 8.

The paper: Cattaneo and Shigida, "How Memory in Optimization Algorithms Implicitly Modifies the Loss".
"""

from __future__ import annotations

from functools import cache

import pytest
from sympy import Abs, Add, Expr, Function, Mul, Pow, Rational, S, Sum, cancel, sqrt, symbols
from truth import LR, THETA, literal_of, load, number_of

import symmem
from symmem.derivation.derivation import Derivation
from symmem.verification import bruteforce
from symmem.verification.vectors import distance

beta, beta1, beta2, eps, decay, n, s, lr, theta, grad, loss = symbols(
    "beta beta1 beta2 eps weight_decay n s lr theta grad loss"
)
D2L, gradK, gradK_jvp, total = (Function(name) for name in ("D2L", "gradK", "gradK_jvp", "total"))
B = grad**2 + eps
NORM_GRADIENT = D2L(grad / sqrt(B))
"""nabla |nabla L|_{1,eps}."""


@cache
def derived(name: str) -> Derivation:
    return symmem.derive(load(name))


def distributed(expression: Expr) -> Expr:
    """Hessian products taken apart, so that forms that group them differently can be compared."""

    def apart(vector: Expr) -> Expr:
        parts = []
        for term in Add.make_args(vector.expand()):
            scalars = [f for f in Mul.make_args(term) if not f.free_symbols & {theta, grad}]
            rest = [f for f in Mul.make_args(term) if f.free_symbols & {theta, grad}]
            parts.append(Mul(*scalars, D2L(Mul(*rest))))
        return Add(*parts)

    return expression.replace(D2L, apart)


def is_zero(difference: Expr) -> bool:
    return cancel(distributed(difference).expand()) == 0


# --- Section 2 and Appendix "Correction terms": heavy ball and Nesterov


def test_heavy_ball_correction() -> None:  # h beta / (2 (1-beta)^3) nabla |nabla L|^2
    assert is_zero(derived("heavyball").limit.M - lr * beta / (1 - beta) ** 3 * D2L(grad))


def test_heavy_ball_modified_loss() -> None:  # eq. (hb-mod-loss)
    found = derived("heavyball").modified_loss
    assert found is not None
    assert found.regime == "exact"
    assert is_zero(found.potential - loss - lr * beta / (2 * (1 - beta) ** 2) * total(grad**2))
    assert is_zero(found.preconditioner - 1 / (1 - beta))


def test_nesterov_correction() -> None:  # h beta^2 / (2 (1-beta)^3) nabla |nabla L|^2
    assert is_zero(derived("nesterov").limit.M - lr * beta**2 / (1 - beta) ** 3 * D2L(grad))


# --- Section 4 and Appendix: AdamW, NAdamW, Lion


def adam_like(kappa1: Expr, kappa2: Expr) -> Expr:
    factor = (kappa1 - kappa2) / B ** Rational(1, 2) + eps * kappa2 / B ** Rational(3, 2)
    return lr * factor * (NORM_GRADIENT + decay * D2L(theta))


@pytest.mark.parametrize(("name", "power"), [("adamw", 1), ("nadamw", 2)])
def test_adamw_and_nadamw_limit(name: str, power: int) -> None:  # Section 4, Appendix "Correction terms"
    expected = adam_like(beta1**power / (1 - beta1), beta2 / (1 - beta2))
    assert is_zero(derived(name).limit.M - expected)


def test_adamw_update() -> None:  # Section 4, first display
    assert is_zero(derived("adamw").limit.F - grad / sqrt(B) - decay * theta)


def test_adamw_modified_loss() -> None:  # Section 4, "is the modified loss"
    found = derived("adamw").modified_loss
    assert found is not None
    assert (str(found.regime), str(found.rate)) == ("eps -> 0", "O(eps)")
    gap = beta2 / (1 - beta2) - beta1 / (1 - beta1)
    printed = (1 + decay * gap * lr) * loss - lr * gap * (total(Abs(grad)) + decay * total(grad * theta))
    assert is_zero(found.potential - printed)
    assert is_zero(found.preconditioner - 1 / Abs(grad))
    assert is_zero(found.decay - decay)


def test_lion_k_limit() -> None:  # Section 4 and Appendix: Lion-K
    x = -grad
    expected = lr * beta1 / (1 - beta2) * gradK_jvp(x, D2L(decay * theta - gradK(x)))
    assert derived("lion-k").limit.M - expected == 0
    assert derived("lion-k").limit.F - (decay * theta - gradK(x)) == 0


@pytest.mark.parametrize("name", ["lion", "lion-bc"])
def test_lion_limit(name: str) -> None:  # Section 4, the smoothed Lion
    factor = lr * beta1 / (1 - beta2) * eps / B ** Rational(3, 2)
    assert is_zero(derived(name).limit.M - factor * (NORM_GRADIENT + decay * D2L(theta)))


def test_adam_with_equal_betas_is_signum() -> None:  # Section 4, last paragraph
    signum = derived("signum").limit.M
    adam = derived("adam").limit.M.subs({beta1: beta, beta2: beta})
    assert is_zero(adam - signum)


# --- Section 5: the modified equation of heavy ball


def test_heavy_ball_modified_equation() -> None:  # Section 5, the final ODE
    first, second = derived("heavyball").modified_equation
    assert is_zero(first + grad / (1 - beta))
    assert is_zero(second + (1 + beta) / (1 - beta) ** 3 * 2 * D2L(grad) / 4)


# --- Appendix "Corollaries for Special Cases": finite n


def test_heavy_ball_finite_n() -> None:
    factor = beta * (1 - (2 * n + 1) * beta**n * (1 - beta) - beta ** (2 * n + 1)) / (1 - beta) ** 3
    assert is_zero(derived("heavyball").M - lr * factor * D2L(grad))
    assert is_zero(derived("heavyball").F - (1 - beta ** (n + 1)) / (1 - beta) * grad)


def kappa(x: Expr) -> Expr:
    return x / (1 - x) - (n + 1) * x ** (n + 1) / (1 - x ** (n + 1))


def test_adamw_finite_n() -> None:
    factor = kappa(beta1) - kappa(beta2) + eps * kappa(beta2) / B
    assert is_zero(derived("adamw").M - lr * factor * (NORM_GRADIENT + decay * D2L(theta)) / sqrt(B))


def test_lion_k_finite_n_keeps_the_printed_sum() -> None:
    """The lemma's double sum, number by number: it has no closed form."""
    literal = literal_of(load("lion-k"))
    rho1, rho2 = literal.numbers["beta1"], literal.numbers["beta2"]
    point = -(1 - rho1 * rho2**5) * grad
    past = [
        rho2 ** (k - 1) * (decay * theta - gradK(-(1 - rho1 * rho2**j) * grad))
        for k in range(1, 6)
        for j in range(5 - k, 5)
    ]
    printed = lr * rho1 * (1 - rho2) * gradK_jvp(point, D2L(Add(*past)))
    assert distance(number_of(derived("lion-k").M, literal, n=5), number_of(printed, literal)) < 1e-20
    assert derived("lion-k").M.atoms(Sum)


# --- mathematics.md section 8: where the printed paper needs care; the corrected line holds, the printed one does not


def test_erratum_frozen_point_uses_its_own_step() -> None:
    """gbar_l^(s+1) uses b_l^(s+1); with the printed b_l^(n+1) the correction is another one."""
    optimizer = symmem.Optimizer(
        "debiased",
        "m1",
        [symmem.Momentum("grad", "beta", "1 - beta/(n + 2)")],
        {"beta": {"default": Rational(1, 2)}},
    )
    literal = literal_of(optimizer)
    truth = bruteforce.correction(literal, THETA, 6, LR)
    weight = beta ** (n - s) * (1 - beta ** (s + 1)) / (1 - beta)

    def correction(step: Expr) -> Expr:
        b_now = 1 - beta / (n + 2)
        gain = (1 - beta / (step + 2)) * (1 - beta ** (s + 1)) / (1 - beta)
        return lr * b_now * Sum(weight * gain, (s, 0, n - 1)) * D2L(grad)

    assert distance(number_of(correction(s), literal, n=6), truth) < 1e-20
    assert distance(number_of(symmem.derive(optimizer).M, literal, n=6), truth) < 1e-20
    assert distance(number_of(correction(n), literal, n=6), truth) > 1e-5


def test_erratum_sign_of_the_discretisation_term() -> None:
    """G_1 = -(F_1 + DF[F]/2): the printed + h^2/2 would give another equation for gradient descent."""
    right = -D2L(grad) / 2
    assert is_zero(derived("gd").modified_equation[1] - right)
    assert not is_zero(derived("gd").modified_equation[1] + right)


def test_lion_k_with_quadratic_k_is_ema_momentum_and_not_heavy_ball() -> None:
    """Lion-K with K = |x|^2/2 and rho1 = rho2: EMA momentum; heavy ball only after rescaling h."""
    quadratic = symmem.Optimizer(
        "lion-quadratic",
        "-(m1 + m2)",
        [
            symmem.Momentum("-grad", "beta2", "(1 - beta2)*beta1/beta2"),
            symmem.Momentum("-grad", "0", "1 - beta1/beta2"),
        ],
        {"beta1": {"default": Rational(1, 2)}, "beta2": {"default": Rational(9, 10), "range": "(0, 1)"}},
    )
    found = symmem.derive(quadratic)
    equal = {beta1: beta, beta2: beta}
    assert is_zero(found.M.subs(equal) - derived("ema-momentum").M)
    assert is_zero(found.limit.M.subs(equal) - lr * beta / (1 - beta) * D2L(grad))
    assert not is_zero(found.limit.M.subs(equal) - derived("heavyball").limit.M)


def test_smoothed_lion_has_no_common_loss_at_positive_eps() -> None:
    """F_0 and M need different preconditioners for eps > 0; in the limit the correction vanishes."""
    found = derived("lion").modified_loss
    assert found is not None
    assert found.regime == "eps -> 0"
    assert found.potential == loss


# --- Presentation: AdamW's limit is the product that the paper displays


def test_adamw_limit_has_the_factors_of_the_paper() -> None:
    product = derived("adamw").limit.M
    assert isinstance(product, Mul)
    rate, scale, hessian = sorted(product.args, key=lambda factor: len(factor.args))
    if scale.func == D2L:
        scale, hessian = hessian, scale
    assert rate == lr
    assert hessian == D2L(grad / sqrt(B) + decay * theta)
    assert isinstance(scale, Add)
    powers = {next(p.exp for p in term.atoms(Pow) if p.base == B): term for term in scale.args}
    assert set(powers) == {-S.Half, Rational(-3, 2)}
    assert is_zero(powers[-S.Half] * sqrt(B) - (beta1 / (1 - beta1) - beta2 / (1 - beta2)))
    assert is_zero(powers[Rational(-3, 2)] * B ** Rational(3, 2) - eps * beta2 / (1 - beta2))
    kappas = next(factor for factor in powers[-S.Half].args if isinstance(factor, Add))
    assert set(kappas.args) == {beta1 / (1 - beta1), -beta2 / (1 - beta2)}
