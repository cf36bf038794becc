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
    return sum(
        weights @ probe.profile_value(jnp, profile, inward @ theta)
        for profile, weights, inward in _grouped(LOSS.ridges, theta.dtype)
    )


def contraction(theta: Any, *vectors: Any) -> Any:
    """``D^(k+1) L [vectors]``."""
    return _field(LOSS.ridges, theta, *vectors)


def calls(name: str, order: int, function: str) -> list[Callable[..., Any]]:
    higher = [] if function == "memoryless" else [contraction] * order
    maps = [FUNCTIONS[each.name] for each in probe.load(name).functions]
    return [contraction, *higher, *(_served(each.ridges) for each in maps for _ in range(order + 1))]


def _served(ridges: tuple[Ridge, ...]) -> Callable[..., Any]:
    return lambda x, *directions: _field(ridges, x, *directions)


def _field(ridges: tuple[Ridge, ...], point: Any, *directions: Any) -> Any:
    """The gradient of a sum of ridges ``w f(a . x)``, then along the directions: ``w f^(k+1) prod (a . v) a``.

    All ridges of one profile are one matrix, so that there is little to trace and to compile.
    """
    total = jnp.zeros_like(point)
    for profile, weights, inward in _grouped(ridges, point.dtype):
        slope = _derivative(profile, 1 + len(directions))(inward @ point)
        for direction in directions:
            slope = slope * (inward @ direction)
        total = total + inward.T @ (weights * slope)
    return total


def _derivative(profile: object, order: int) -> Callable[[Any], Any]:
    """The derivative of a profile, entry by entry, by jax."""
    if order == 0:
        return lambda x: probe.profile_value(jnp, profile, x)
    lower = _derivative(profile, order - 1)
    return lambda x: jax.jvp(lower, (x,), (jnp.ones_like(x),))[1]


def _grouped(ridges: tuple[Ridge, ...], dtype: Any) -> list[tuple[object, Any, Any]]:
    """Each profile with the weights and the inner vectors of its ridges."""
    profiles = dict.fromkeys(ridge.profile for ridge in ridges)
    return [
        (
            profile,
            jnp.array([float(ridge.weight) for ridge in ridges if ridge.profile == profile], dtype=dtype),
            jnp.array([[float(x) for x in r.inward] for r in ridges if r.profile == profile], dtype=dtype),
        )
        for profile in profiles
    ]
