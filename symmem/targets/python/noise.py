"""Averages over batches: what the emitted functions of their noise call, for every array library, copied word for word.

``_rows`` and ``_repeated`` are those of the module that it is copied into; here they are NumPy's.
"""

from __future__ import annotations

from typing import Any

from symmem.targets.numpy.helpers import _repeated, _rows


def _between(batches: float | None, n: float | None) -> float:
    """The covariance of the noise of two steps over that of one with itself."""
    if batches is None:
        return 0.0
    if not batches >= max(2, (n or 0) + 1):
        raise ValueError(f"batches = {batches!r} are too few; None draws each anew")
    return -1.0 / (batches - 1)


class _Noise:
    """Averages over the batches, from their gradients and Hessians; each batch is a row."""

    def __init__(self, theta: Any, grads: Any, hvps: Any = None) -> None:
        self.theta, self.hvps = theta, hvps
        rows = _rows(theta, grads(theta))
        if tuple(rows.shape[1:]) != tuple(theta.shape) or rows.ndim != theta.ndim + 1:
            raise ValueError(f"grads returned {tuple(rows.shape)}, not rows of {tuple(theta.shape)}")
        self.mean = rows.mean(0)
        self.noise = rows - self.mean
        self.variance = (self.noise**2).mean(0)

    def products(self, rows: Any) -> Any:
        """The Hessian of each batch times its row."""
        found = _rows(self.theta, self.hvps(self.theta, rows))
        if found.shape != self.noise.shape:
            raise ValueError(f"hvps returned {tuple(found.shape)}, not {tuple(self.noise.shape)}")
        return found

    def hvp(self, _theta: Any, v: Any) -> Any:
        """The Hessian of the mean loss times v."""
        return self.products(_repeated(v, self.noise)).mean(0)

    def variance_along(self, v: Any) -> Any:
        """The change of the variance along v; the noise adds up to 0."""
        return 2 * (self.noise * self.products(_repeated(v, self.noise))).mean(0)

    def variance_gradient(self, w: Any) -> Any:
        """The gradient of the sum of w times the variance, w held fixed."""
        return 2 * self.products(w * self.noise).mean(0)

    def noisy_hessian(self, w: Any) -> Any:
        """The mean of the noise times the Hessian of w times the noise."""
        return sum(row * self.hvp(self.theta, w * row) for row in self.noise) / len(self.noise)


def _scatters(batches: float, memories: Any) -> list[Any]:
    """N/(N - 1) sum_j (a_q(j) - mean)(a_r(j) - mean) for q <= r, from the last batch to the first.

    a(j) is what the batch of step j has in all updates of the epoch. memories(n) has of each
    memory, at step n, the entries (row, column, value) of A, then B, C and the first state.
    """
    if batches != int(batches) or batches < 2:
        raise ValueError(f"batches = {batches!r}: an epoch has 2 or more")
    count, had = int(batches), []
    states = [[0.0] * len(fed) for _, fed, _, _ in memories(0)]
    for n in range(count - 1, -1, -1):
        weights = []
        for place, (links, fed, read, first) in enumerate(memories(n)):
            state = [x + y for x, y in zip(states[place], read, strict=True)]
            moved = [0.0] * len(state)
            for row, column, value in links:
                moved[column] = moved[column] + state[row] * value
            seen = sum(x * y for x, y in zip(state, fed, strict=True))
            weights.append(seen if n else seen + sum(x * y for x, y in zip(moved, first, strict=True)))
            states[place] = moved
        had.append(weights)
    means = [sum(each) / count for each in zip(*had, strict=True)]
    off = [[x - mean for x, mean in zip(each, means, strict=True)] for each in had]
    pairs = [(q, r) for q in range(len(means)) for r in range(q, len(means))]
    return [sum(each[q] * each[r] for each in off) * count / (count - 1) for q, r in pairs]
