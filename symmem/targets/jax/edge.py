"""The preconditioned sharpness beside its threshold: copied into the emitted JAX module, word for word.

The numbers of :mod:`symmem.training.runtime.sharpness` and ``roots``, in JAX, so that they can be compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from symmem.targets.jax.with_memory import _norm


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
        moved = hessian(scaled)
        shifted = jax.tree.map(lambda x, v: x + shift * v, moved, scaled)
        return jax.tree.map(jnp.multiply, roots, shifted)

    numbers = [jnp.stack([jnp.asarray(x, float) for x in each]) for each in polynomials]
    bound = jax.pure_callback(_threshold, jnp.zeros([]), *numbers)
    return {
        "preconditioned_sharpness": _largest_eigenvalue(product, roots),
        "sharpness_threshold": bound / lr,
    }


def _largest_eigenvalue(product: Callable[[Any], Any], like: Any) -> Any:
    """Of a symmetric product, by 20 steps of Lanczos: a lower bound that grows to it."""
    leaves, tree = jax.tree.flatten(like)
    noise = [_noise(place, leaf) for place, leaf in enumerate(leaves)]
    first = jax.tree.unflatten(tree, noise)

    def further(kept: Any, _: Any) -> Any:
        before, vector, length, scale = kept
        moved = product(vector)
        middle = _dot(moved, vector)
        moved = _less(_less(moved, middle, vector), length, before)
        scale = jnp.maximum(scale, jnp.abs(middle))
        size = _norm(moved)
        # What is left behind the last direction is rounding: no further direction is there.
        size = jnp.where(size <= 1e-6 * scale, 0, size)
        found = middle, size, _dot(vector, vector)
        return (vector, _divided(moved, size), size, scale), found

    start = _divided(first, _norm(first))
    zero = jnp.zeros_like(_dot(start, start))
    nothing = jax.tree.map(jnp.zeros_like, start)
    kept = nothing, start, zero, zero
    _, (diagonal, beside, sizes) = jax.lax.scan(further, kept, length=20)
    # A direction that is not there stands for the first one, whose value is no larger.
    diagonal = jnp.where(sizes > 0.5, diagonal, diagonal[0])
    side = jnp.diag(beside[:-1], 1)
    return jnp.linalg.eigvalsh(jnp.diag(diagonal) + side + side.T)[-1]


def _noise(place: int, like: Any) -> Any:
    return jax.random.normal(jax.random.key(place), like.shape, like.dtype)


def _dot(x: Any, y: Any) -> Any:
    return sum(jax.tree.leaves(jax.tree.map(lambda a, b: jnp.sum(a * b), x, y)))


def _less(x: Any, factor: Any, y: Any) -> Any:
    return jax.tree.map(lambda a, b: a - factor * b, x, y)


def _divided(x: Any, size: Any) -> Any:
    """Zeros where the size is 0."""
    factor = jnp.where(size > 0, 1 / jnp.where(size > 0, size, 1), 0)
    return jax.tree.map(lambda leaf: (factor * leaf).astype(leaf.dtype), x)


def _threshold(free: Any, forced: Any) -> Any:
    """The least x >= 0 from which a root of free + x forced is outside the unit circle.

    Where one crosses it, free(mu) forced(1/mu) = forced(mu) free(1/mu). Gradient descent,
    mu - 1 + x: 2. Momentum: (2 + 2 beta)/(1 - beta).
    """
    import numpy as np

    size = max(len(free), len(forced))
    first, second = (np.zeros(size), np.zeros(size))
    first[size - len(free) :], second[size - len(forced) :] = free, forced
    crossings = np.convolve(first, second[::-1]) - np.convolve(second, first[::-1])
    crossings[np.abs(crossings) <= 1e-14 * np.max(np.abs(crossings))] = 0
    on_circle = [mu for mu in np.roots(crossings) if abs(abs(mu) - 1) < 1e-6]
    places = np.array([-1.0, *on_circle])
    below = np.polyval(second, places)
    places = places[np.abs(below) > 1e-12 * np.sum(np.abs(second))]
    found = -np.polyval(first, places) / np.polyval(second, places)
    is_real = np.abs(found.imag) < 1e-5 * np.abs(found)

    def reach(x: float) -> float:
        return max(np.abs(np.roots(first + x * second)), default=0.0)

    bound = np.inf
    for x in np.sort(found.real[is_real & (found.real > 1e-9)]):
        if reach(x * (1 + 1e-4)) > 1:
            # Where it is outside before already, it is so from 0 on.
            bound = x if reach(x * (1 - 1e-4)) <= 1 + 1e-9 else 0.0
            break
    return np.asarray(bound, free.dtype)
