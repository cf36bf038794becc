"""Logistic regression by AdamW without its memory: this program needs NumPy and one emitted file, no symmem.

    symmem emit adamw --target numpy -o memoryless_adamw.py
    python regression.py

AdamW itself is written out below.  The memoryless step needs no state between steps, only one Hessian-vector
product; without that correction the distance to AdamW is some ten times larger.
"""

from __future__ import annotations

import memoryless_adamw as emitted
import numpy as np

LR, BETA1, BETA2, EPS, WEIGHT_DECAY = 1e-3, 0.9, 0.95, 1e-3, 0.01
SETTINGS = {"beta1": BETA1, "beta2": BETA2, "eps": EPS, "weight_decay": WEIGHT_DECAY}
STEPS = 400

RANDOM = np.random.default_rng(0)
INPUTS = RANDOM.normal(size=(200, 20))
LABELS = (INPUTS @ RANDOM.normal(size=20) + RANDOM.normal(size=200) > 0).astype(float)


def sigmoid(theta: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-INPUTS @ theta))


def loss(theta: np.ndarray) -> float:
    return float(np.mean(np.logaddexp(0, INPUTS @ theta) - LABELS * (INPUTS @ theta)))


def grad(theta: np.ndarray) -> np.ndarray:
    return INPUTS.T @ (sigmoid(theta) - LABELS) / len(LABELS)


def hvp(theta: np.ndarray, v: np.ndarray) -> np.ndarray:
    p = sigmoid(theta)
    return INPUTS.T @ (p * (1 - p) * (INPUTS @ v)) / len(LABELS)


def adamw(theta: np.ndarray) -> np.ndarray:
    """The optimizer with its memory: two running averages."""
    first, second = np.zeros_like(theta), np.zeros_like(theta)
    for n in range(STEPS):
        g = grad(theta)
        first = BETA1 * first + (1 - BETA1) * g
        second = BETA2 * second + (1 - BETA2) * g * g
        m1, m2 = first / (1 - BETA1 ** (n + 1)), second / (1 - BETA2 ** (n + 1))
        theta = theta - LR * (m1 / np.sqrt(m2 + EPS) + WEIGHT_DECAY * theta)
    return theta


def main() -> None:
    start = RANDOM.normal(size=20)
    with_memory = adamw(start)
    corrected, plain = start.copy(), start.copy()
    for n in range(STEPS):
        emitted.step(corrected, grad, hvp, n=n, lr=LR, out=corrected, **SETTINGS)
        plain = plain - LR * emitted.memoryless(plain, grad, n=n, **SETTINGS)
    print(f"loss at the start                       {loss(start):.6f}")
    print(f"loss after {STEPS} steps of AdamW           {loss(with_memory):.6f}")
    print(f"loss after {STEPS} memoryless steps         {loss(corrected):.6f}")
    print(f"distance to AdamW, memoryless           {np.linalg.norm(corrected - with_memory):.2e}")
    print(f"distance to AdamW, without correction   {np.linalg.norm(plain - with_memory):.2e}")


if __name__ == "__main__":
    main()
