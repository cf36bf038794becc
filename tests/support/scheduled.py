"""Optimizers with schedules, for the tests of every room: warm-up, cosine, products over steps, rectification."""

from __future__ import annotations

from fractions import Fraction

from symmem.declaration.optimizer import Momentum, Optimizer

BETA = {"beta": {"default": "0.5", "range": "[0, 1)"}}
BETAS = {
    "beta1": {"default": "0.7", "range": "[0, 1)"},
    "beta2": {"default": "0.85", "range": "[0, 1)"},
    "eps": {"default": "0.02", "range": "(0, inf)"},
}
LENGTH = {"length": {"default": "7", "range": "(0, inf)"}}
MU = "beta1*(1 - 0.96**({}*psi)/2)"
RHO = "2/(1 - beta2) - 1 - 2*(n + 1)*beta2**(n + 1)/(1 - beta2**(n + 1))"
RHO_END = "(2/(1 - beta2) - 1)"


def debiased(beta: str) -> str:
    return f"(1 - {beta})/(1 - {beta}**(n + 1))"


def _read(table: dict[str, dict[str, str]]) -> dict[str, dict[str, object]]:
    return {name: {**entry, "default": Fraction(entry["default"])} for name, entry in table.items()}


def ball(schedule: str) -> Optimizer:
    """Heavy ball, its gain dependent on the step, under a schedule with the parameter ``length``."""
    variables = [Momentum("grad", "beta", "1")]
    used = {**BETA, **(LENGTH if "length" in schedule else {})}
    return Optimizer("ball", "m1", variables, _read(used), schedule=schedule)


def adamw(schedule: str) -> Optimizer:
    """AdamW with eps inside the root, under a schedule."""
    variables = [
        Momentum("grad", "beta1", debiased("beta1")),
        Momentum("grad**2", "beta2", debiased("beta2")),
        Momentum("theta", "0", "weight_decay"),
    ]
    decay = {"weight_decay": {"default": "0.3", "range": "[0, inf)"}}
    used = {**BETAS, **decay, **(LENGTH if "length" in schedule else {})}
    return Optimizer("adamw-scheduled", "m1/sqrt(m2 + eps) + m3", variables, _read(used), schedule=schedule)


def nadam() -> Optimizer:
    """PyTorch's NAdam, eps inside the root: products of mu over the steps in both factors."""
    product = f"prod({MU.format('i')}, i, 1, n + {{}})"
    variables = [
        Momentum("grad", "beta1", f"(1 - beta1)*{MU.format('(n + 2)')}/(1 - {product.format(2)})"),
        Momentum("grad", "0", f"(1 - {MU.format('(n + 1)')})/(1 - {product.format(1)})"),
        Momentum("grad**2", "beta2", debiased("beta2")),
    ]
    used = {**BETAS, "psi": {"default": "0.004", "range": "(0, inf)"}}
    return Optimizer("nadam-like", "(m1 + m2)/sqrt(m3 + eps)", variables, _read(used))


def radam() -> Optimizer:
    """RAdam, eps inside the root: plain momentum before the rectifier is defined, Adam times it afterwards."""
    above = f"({RHO} - 4)*({RHO} - 2)*{RHO_END}"
    below = f"({RHO_END} - 4)*({RHO_END} - 2)*({RHO})"
    variables = [
        Momentum("grad", "beta1", debiased("beta1")),
        Momentum("grad**2", "beta2", debiased("beta2")),
        Momentum("1", "0", f"where({RHO} > 5, sqrt({above}/({below})), 0)"),
        Momentum("1", "0", f"where({RHO} > 5, 0, 1)"),
    ]
    used = {**BETAS, "beta2": {"default": "0.85", "range": "(0.7, 1)"}}
    return Optimizer("radam-like", "m1*(m3/sqrt(m2 + eps) + m4)", variables, _read(used))


OPTIMIZERS = {
    "linear warm-up": ball("min(1, (n + 1)/length)"),
    "linear decay": ball("1 - n/30"),
    "powers": ball("0.9**n"),
    "cosine": adamw("where(n < length, (1 + cos(pi*n/length))/2, 0.1)"),
    "step decay": adamw("where(n < 4, 1, where(n < 8, 0.5, 0.1))"),
    "inverse root": adamw("min(1/sqrt(n + 1), (n + 1)*length**(-1.5))"),
    "nadam": nadam(),
    "radam": radam(),
}
