"""Formulas that the pieces need and an emitted module has: here those of the heavy-ball method, written by hand.

m = sum_k beta^k grad, F^(n) = (1 - beta^(n+1))/(1 - beta) grad.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

_HAS_PATHS = False
"""Whether a formula needs displacements beside their products with the Hessian."""


_LINES = ((1, False),)
"""For each memory the highest power of the lag in it, and whether a sum over the lags is taken."""


def _check(n: int | None, beta: float) -> None:
    if not 0 <= beta < 1:
        raise ValueError(f"beta = {beta!r} is outside [0, 1)")


def _values(group: dict[str, Any]) -> list[float]:
    return [float(group["beta"])]


def _scalars(n: int | None, beta: float) -> list[float]:
    return [(1 if n is None else 1 - beta ** (n + 1)) / (1 - beta)]


def _decays(beta: float) -> list[float]:
    return [beta]


def _plain(theta: Tensor, g: Tensor, *numbers: Any) -> Tensor:
    gain1, _beta = numbers
    return gain1 * g


def _corrected(theta: Tensor, g: Tensor, hv1: Tensor, *numbers: Any) -> Tensor:
    gain1, _beta = numbers
    return gain1 * g + hv1


def _past(theta: Tensor, g: Tensor, *numbers: Any) -> Tensor:
    share1, _beta = numbers
    return share1 * g


def _past_scalars(n: Any, beta: float) -> list[Any]:
    return [(1 if n is None else 1 - beta ** (n + 1)) / (1 - beta)]


_UPDATES = {"straight": _corrected, "expansion": _corrected}
"""Linear: the expansion is the update on the straight line."""
_ORDER, _JOINS = 2, False
_HAS_FINITE, _HAS_LIMIT = True, True


def _rated_step(theta: Tensor, g: Tensor, *given: Any) -> Tensor:
    """Beyond order 1, the whole step; the example is gradient descent."""
    *_contractions, rates, _n, _beta = given
    return theta - rates * g
