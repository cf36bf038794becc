"""The probe set written in JAX, so that it can be traced: values by jax.numpy, derivatives by jax itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import probe
from truth import FUNCTIONS, LOSS

from symmem.verification.ridges import Ridge

jax.config.update("jax_enable_x64", True)


def loss(theta: Any) -> Any:
    return sum(_ridge(ridge, theta) for ridge in LOSS.ridges)


def contraction(theta: Any, *vectors: Any) -> Any:
    """``D^(k+1) L [vectors]`` by differentiating the gradient along one vector after the other."""
    return _along(jax.grad(loss), *vectors)(theta)


def calls(name: str, order: int, function: str) -> list[Callable[..., Any]]:
    higher = [] if function == "memoryless" else [contraction] * order
    maps = [FUNCTIONS[each.name] for each in probe.load(name).functions]
    return [contraction, *higher, *(_served(each.ridges) for each in maps for _ in range(order + 1))]


def _served(ridges: tuple[Ridge, ...]) -> Callable[..., Any]:
    potential = jax.grad(lambda x: sum(_ridge(ridge, x) for ridge in ridges))
    return lambda x, *directions: _along(potential, *directions)(x)


def _along(field: Callable[[Any], Any], *vectors: Any) -> Callable[[Any], Any]:
    if not vectors:
        return field
    *rest, last = vectors
    return lambda x: jax.jvp(_along(field, *rest), (x,), (last,))[1]


def _ridge(ridge: Ridge, point: Any) -> Any:
    x = jnp.dot(jnp.array([float(entry) for entry in ridge.inward], dtype=point.dtype), point)
    return float(ridge.weight) * probe.profile_value(jnp, ridge.profile, x)
