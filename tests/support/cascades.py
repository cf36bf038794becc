"""Optimizers whose memory reads memory, or the past at a delay: declarations for tests of every room.

The betas are low, so that h/(1 - beta) is small in tests of error orders; BC(beta) is the bias correction.
"""

from __future__ import annotations

from symmem.declaration.optimizer import Optimizer

EPS = {"default": 0.05, "range": "(0, inf)"}
GRAD = {"g": "grad", "beta": 0, "b": 1}
LAST = {"g": "grad", "delay": 1}


def beta(default: float) -> dict[str, object]:
    """A decay with this default."""
    return {"default": default, "range": "[0, 1)"}


def average(g: str, decay: str, *, debiased: bool = True) -> dict[str, object]:
    """An exponential average, debiased or not."""
    correction = f"/(1 - {decay}**(n + 1))" if debiased else ""
    return {"g": g, "beta": decay, "b": f"(1 - {decay}){correction}"}


def rmsprop_momentum(*, debiased: bool = False) -> Optimizer:
    """RMSProp with momentum, eps inside the root; PyTorch's squares are not debiased."""
    momentum = (
        average("grad**2", "beta2", debiased=debiased),
        {"g": "grad/sqrt(m1 + eps)", "beta": "beta1", "b": 1},
    )
    parameters = {"beta1": beta(0.4), "beta2": beta(0.6), "eps": EPS}
    return Optimizer("rmsprop-momentum", "m2", momentum, parameters)


def laprop(*, debiased: bool = True) -> Optimizer:
    """LaProp: an average of gradients that were normalised first."""
    momentum = (
        average("grad**2", "beta2", debiased=debiased),
        average("grad/sqrt(m1 + eps)", "beta1", debiased=debiased),
    )
    return Optimizer("laprop", "m2", momentum, {"beta1": beta(0.4), "beta2": beta(0.6), "eps": EPS})


def adopt() -> Optimizer:
    """ADOPT: the gradient is divided by the second moment of the step before, then averaged."""
    momentum = (
        average("grad**2", "beta2", debiased=False),
        {"g": "m1", "delay": 1},
        average("grad/sqrt(m2 + eps)", "beta1", debiased=False),
    )
    return Optimizer("adopt", "m3", momentum, {"beta1": beta(0.4), "beta2": beta(0.6), "eps": EPS})


def adan(*, debiased: bool = True) -> Optimizer:
    """Adan: gradient, difference of gradients, and the square of what Nesterov would see."""
    momentum = (
        LAST,
        average("grad", "beta1", debiased=debiased),
        average("grad - m1", "beta2", debiased=debiased),
        average("(grad + beta2*(grad - m1))**2", "beta3", debiased=debiased),
        {"g": "theta", "beta": 0, "b": "weight_decay"},
    )
    parameters = {
        "beta1": beta(0.3),
        "beta2": beta(0.5),
        "beta3": beta(0.6),
        "eps": EPS,
        "weight_decay": 0.02,
    }
    return Optimizer("adan", "(m2 + beta2*m3)/sqrt(m4 + eps) + m5", momentum, parameters)


def mars() -> Optimizer:
    """MARS-AdamW without clipping: Adam on the gradient plus a multiple of its last change."""
    corrected = "(grad + gamma*beta1/(1 - beta1)*(grad - m1))"
    momentum = (LAST, average(corrected, "beta1"), average(f"{corrected}**2", "beta2"))
    parameters = {"beta1": beta(0.4), "beta2": beta(0.6), "gamma": 0.025, "eps": EPS}
    return Optimizer("mars", "m2/sqrt(m3 + eps)", momentum, parameters)


def adabelief(*, debiased: bool = True) -> Optimizer:
    """AdaBelief: the square of how far the gradient lies from its average; 0 on a constant history."""
    momentum = (
        average("grad", "beta1", debiased=debiased),
        average("(grad - m1)**2", "beta2", debiased=debiased),
    )
    parameters = {"beta1": beta(0.4), "beta2": beta(0.6), "eps": {"default": 0.5, "range": "(0, inf)"}}
    return Optimizer("adabelief", "m1/sqrt(m2 + eps)", momentum, parameters)


def smoothed_adam() -> Optimizer:
    """An average of Adam's updates: one variable reads two others."""
    momentum = (
        average("grad**2", "beta2"),
        average("grad", "beta1"),
        average("m2/sqrt(m1 + eps)", "beta3"),
    )
    parameters = {"beta1": beta(0.4), "beta2": beta(0.6), "beta3": beta(0.5), "eps": EPS}
    return Optimizer("smoothed-adam", "m3", momentum, parameters)


SEEN_TOGETHER = {
    "by their sum": ("grad", "grad", "(m1 + m2)/sqrt((m1 + m2)**2 + eps)"),
    "by another combination": ("grad", "grad", "(m1 + 3*m2)/sqrt((m1 + 3*m2)**2 + eps)"),
    "of another vector": ("grad", "theta", "(m1 + m2)/sqrt((m1 + m2)**2 + eps)"),
    "of one that moves": ("grad", "m1/sqrt(m1**2 + eps)", "(m1 + m2)/sqrt((m1 + m2)**2 + eps)"),
    "by their difference": ("grad", "grad", "(m1 - m2)/sqrt((m1 - m2)**2 + eps)"),
}
"""What two variables take in, and how a third one sees them."""


def seen_together(case: str) -> Optimizer:
    """A third variable of values that depend on the step, so that every past step has its own slope."""
    first, second, third = SEEN_TOGETHER[case]
    momentum = (
        average(first, "beta1", debiased=False),
        average(second, "beta2", debiased=False),
        average(third, "beta3"),
    )
    parameters = {"beta1": beta(0.4), "beta2": beta(0.6), "beta3": beta(0.5), "eps": EPS}
    return Optimizer(f"seen-{case.replace(' ', '-')}", "m3", momentum, parameters)


def optimistic(*, start: str | int = "first") -> Optimizer:
    """Optimistic gradient descent: ``2 g_n - g_{n-1}``."""
    return Optimizer("optimistic", "2*m1 - m2", (GRAD, {**LAST, "start": start}))


def pid() -> Optimizer:
    """PID: the gradient, its sum over the past and an average of its changes."""
    momentum = (
        GRAD,
        {"g": "grad", "beta": "beta", "b": 1},
        LAST,
        average("grad - m3", "beta", debiased=False),
    )
    parameters = {"beta": beta(0.5), "ki": 0.3, "kd": 0.7}
    return Optimizer("pid", "m1 + ki*m2 + kd*m4", momentum, parameters)


def delayed(steps: int = 2) -> Optimizer:
    """Gradient descent with the gradient of some steps ago, as asynchronous workers see it."""
    return Optimizer("delayed", "m1", ({"g": "grad", "delay": steps},))


def pnm() -> Optimizer:
    """Positive-negative momentum: the sums over even and odd lags, that is decays beta and -beta."""
    momentum = (
        {"g": "grad", "beta": "beta", "b": "1/2 - b0/2"},
        {"g": "grad", "beta": "-beta", "b": "1/2 + b0/2"},
    )
    return Optimizer("pnm", "(1 - beta**2)*(m1 + m2)", momentum, {"beta": beta(0.5), "b0": 1})


CASCADES = (
    *(rmsprop_momentum(), rmsprop_momentum(debiased=True), laprop(), laprop(debiased=False), adopt()),
    *(adan(), mars(), adabelief(), adabelief(debiased=False)),
)
"""A g reads another variable, and not linearly alone."""
DELAYS = (optimistic(), optimistic(start=0), pid(), delayed(), pnm())
"""Linear in the gradient."""
EVERY = CASCADES + DELAYS


def label(optimizer: Optimizer) -> str:
    """A name for a test: debiased variants have different declarations."""
    return f"{optimizer.name}-{sum('n' in map(str, m.b.free_symbols) for m in optimizer.momentum)}"
