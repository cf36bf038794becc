"""The preconditioned sharpness beside its threshold: copied into the emitted JAX module, word for word.

The numbers of :mod:`symmem.training.runtime.sharpness` and ``roots``, in JAX, so that they can be compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp


def _sharpness(
    preconditioner: Any,
    hessian: Callable[[Any], Any],
    shift: Any,
    polynomials: Sequence[Sequence[Any]],
    lr: Any,
) -> dict[str, Any]:
    """The largest eigenvalue of P^(1/2) (H + shift) P^(1/2), and that from which it is unstable."""
    roots = jax.tree.map(jnp.sqrt, preconditioner)

    def product(vector: Any) -> Any:
        scaled = jax.tree.map(jnp.multiply, roots, vector)
        return jax.tree.map(lambda r, x, v: r * (x + shift * v), roots, hessian(scaled), scaled)

    powers = [jnp.stack([jnp.asarray(x, float) for x in each]) for each in polynomials]
    return {
        "preconditioned_sharpness": _largest_eigenvalue(product, roots),
        "sharpness_threshold": jax.pure_callback(_threshold, jnp.zeros([]), *powers) / lr,
    }


def _largest_eigenvalue(product: Callable[[Any], Any], like: Any) -> Any:
    """Of a symmetric product, by 20 steps of Lanczos: a lower bound that grows to it."""
    leaves, tree = jax.tree.flatten(like)
    keys = [jax.random.key(k) for k in range(len(leaves))]
    noise = [jax.random.normal(key, x.shape, x.dtype) for key, x in zip(keys, leaves, strict=True)]
    first = jax.tree.unflatten(tree, noise)

    def dot(x: Any, y: Any) -> Any:
        return sum(jnp.sum(a * b) for a, b in zip(jax.tree.leaves(x), jax.tree.leaves(y), strict=True))

    def unit(x: Any, size: Any) -> Any:
        return jax.tree.map(lambda leaf: jnp.where(size > 0, leaf / size, 0).astype(leaf.dtype), x)

    def further(kept: Any, _: Any) -> Any:
        before, vector, length, scale = kept
        moved = product(vector)
        middle = dot(moved, vector)
        moved = jax.tree.map(lambda x, v, b: x - middle * v - length * b, moved, vector, before)
        scale = jnp.maximum(scale, jnp.abs(middle))
        found = jnp.sqrt(dot(moved, moved))
        # What is left behind the last direction is rounding: no further direction is there.
        found = jnp.where(found <= 1e-6 * scale, 0, found)
        return (vector, unit(moved, found), found, scale), (middle, found, dot(vector, vector))

    start = unit(first, jnp.sqrt(dot(first, first)))
    zero = jnp.zeros_like(dot(start, start))
    nothing = jax.tree.map(jnp.zeros_like, start)
    _, (diagonal, beside, sizes) = jax.lax.scan(further, (nothing, start, zero, zero), length=20)
    # A direction that is not there stands for the first one, whose value is no larger.
    diagonal = jnp.where(sizes > 0.5, diagonal, diagonal[0])
    side = jnp.diag(beside[:-1], 1)
    return jnp.linalg.eigvalsh(jnp.diag(diagonal) + side + side.T)[-1]


def _threshold(free: Any, forced: Any) -> Any:
    """The least x >= 0 from which a root of free + x forced is outside the unit circle.

    Where one crosses it, free(mu) forced(1/mu) = forced(mu) free(1/mu). Gradient descent,
    mu - 1 + x: 2. Momentum: (2 + 2 beta)/(1 - beta).
    """
    import numpy as np

    size = max(len(free), len(forced))
    first, second = (np.pad(np.asarray(x, float), (size - len(x), 0)) for x in (free, forced))
    crossings = np.convolve(first, second[::-1]) - np.convolve(second, first[::-1])
    crossings[np.abs(crossings) <= 1e-14 * np.max(np.abs(crossings))] = 0
    places = np.array([-1.0, *(mu for mu in np.roots(crossings) if abs(abs(mu) - 1) < 1e-6)])
    below = np.polyval(second, places)
    places = places[np.abs(below) > 1e-12 * np.sum(np.abs(second))]
    found = -np.polyval(first, places) / np.polyval(second, places)
    real = found.real[(found.real > 1e-9) & (np.abs(found.imag) < 1e-5 * np.abs(found))]

    def reach(x: float) -> float:
        return max(np.abs(np.roots(first + x * second)), default=0.0)

    for x in np.sort(real):
        if reach(x * (1 + 1e-4)) > 1:
            # Where it is outside before already, it is so from 0 on.
            return np.asarray(x if reach(x * (1 - 1e-4)) <= 1 + 1e-9 else 0.0, free.dtype)
    return np.asarray(np.inf, free.dtype)
