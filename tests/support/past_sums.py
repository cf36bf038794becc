"""M of three optimizers whose sum over the past does not close, on a loss with a diagonal Hessian: by hand.

With the gain ``A_s = 1 - beta^(s+1)`` and an update F^(s) of one entry, ``theta_{n-k} = theta + lr sum F^(s)`` moves
the momentum at step n by ``lr H T``, ``T = sum_{s<n} beta^(n-s) A_s F^(s)`` times the weight of the momentum in Phi.
"""

from __future__ import annotations

import mpmath
import numpy as np
from mpmath import mpf

STEPS = (0, 1, 10, 1000, 10**6)
NAMES = ("rmsprop", "signum", "lion")
THETA = np.array([0.5, -1.25, 2.0, 0.75])
GRAD = np.array([0.3, -2.0, 1e-3, 5e-5])
HESSIAN = np.array([3.0, -0.5, 2.0, 0.25])
VALUES = {
    "rmsprop": {"beta": 0.99, "eps": 1e-8},
    "signum": {"beta": 0.9, "eps": 1e-6},
    "lion": {"beta1": 0.9, "beta2": 0.99, "eps": 1e-6, "weight_decay": 0.01},
}
RATE = 0.01
OLDEST = 5_000
"""0.99^5000 is below 1e-21 of the newest weight: what is older has no digit."""


def correction(name: str, n: int) -> np.ndarray:
    """M at step n, rounded at the end."""
    with mpmath.workdps(30):
        entries = zip(THETA, GRAD, HESSIAN, strict=True)
        return np.array([float(RATE * mpf(h) * _moved(name, n, mpf(t), mpf(g))) for t, g, h in entries])


def _moved(name: str, n: int, theta: mpf, g: mpf) -> mpf:
    values = {key: mpf(value) for key, value in VALUES[name].items()}
    eps, beta = values["eps"], values["beta2" if name == "lion" else "beta"]
    share = values["beta1"] / beta if name == "lion" else mpf(1)
    decay = values.get("weight_decay", mpf(0))

    def gain(s: int) -> mpf:
        return 1 - beta ** (s + 1)

    def update(s: int) -> mpf:
        if name == "rmsprop":
            return g / mpmath.sqrt(gain(s) * g**2 + eps)
        m = (share * gain(s) + 1 - share) * g
        return m / mpmath.sqrt(m**2 + eps) + decay * theta

    past = mpmath.fsum(beta ** (n - s) * gain(s) * update(s) for s in range(max(0, n - OLDEST), n))
    if name == "rmsprop":
        return -(g**2) * past / mpmath.sqrt(gain(n) * g**2 + eps) ** 3
    m = (share * gain(n) + 1 - share) * g
    return share * past * eps / mpmath.sqrt(m**2 + eps) ** 3
