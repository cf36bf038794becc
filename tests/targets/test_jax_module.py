"""The emitted JAX modules under jit and vmap, on pytrees, and as optax transformations."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import jax_probe
import numpy as np
import optax
import probe
import pytest
from truth import FIRST, LR

from symmem.targets.registry import TARGETS

RATE = float(LR)


@cache
def emitted(name: str, order: int = 1, target: str = "jax") -> ModuleType:
    return probe.module(TARGETS[target].source(probe.derivation(name, order)))


@pytest.mark.parametrize("name", ["adamw", "rmsprop", "heavyball"])
def test_vmap_over_points_and_steps(name: str) -> None:
    """A batch of points, each at its own step, against one call for each."""
    step = emitted(name).step
    given = jax_probe.calls(name, 1, "step")
    values = probe.parameters(name)
    points = jnp.asarray(probe.THETA64) + jnp.linspace(0, 1, 4)[:, None]
    steps = jnp.array([0, 1, 5, 12])
    mapped = jax.vmap(lambda theta, n: step(theta, *given, n=n, lr=RATE, **values))(points, steps)
    numpy_step = emitted(name, 1, "numpy").step
    for point, n, found in zip(np.asarray(points), steps.tolist(), mapped, strict=True):
        expected = numpy_step(point, *probe.calls(name, 1, "step"), n=n, lr=RATE, **values)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def cut(theta: Any) -> dict[str, Any]:
    return {"weights": [theta[:1], theta[1:2].reshape(1, 1)], "bias": theta[2]}


def joined(tree: dict[str, Any]) -> Any:
    return jnp.concatenate([jnp.ravel(leaf) for leaf in (*tree["weights"], tree["bias"])])


def tree_loss(tree: dict[str, Any]) -> Any:
    return jax_probe.loss(joined(tree))


@pytest.mark.parametrize(("name", "order"), [("adamw", 1), ("lion-k", 1), ("rmsprop", 1), ("heavyball", 2)])
def test_optax_steps_are_the_steps_on_a_flat_vector(name: str, order: int) -> None:
    """Three updates of a tree by optax, compiled, against NumPy on the flat vector: both histories, limit as well.

    A decayed theta, a map that is given, sums over the past that stay, a third derivative.
    """
    assert_steps_of_a_tree(name, order)


@pytest.mark.prove
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", FIRST)
def test_optax_steps_of_every_entry(name: str, order: int) -> None:
    assert_steps_of_a_tree(name, order)


def assert_steps_of_a_tree(name: str, order: int) -> None:
    values = probe.parameters(name)
    maps = [
        lambda tree, field=field: cut(field(joined(tree)))
        for field in jax_probe.calls(name, 0, "memoryless")[1:]
    ]
    numpy_module = emitted(name, order, "numpy")
    for limit, history in ((False, "expansion"), (True, "expansion"), (False, "straight")):
        if history == "straight" and order > 1:
            continue
        transform = getattr(emitted(name, order), f"memoryless_{name.replace('-', '_')}")(
            *maps, learning_rate=RATE, limit=limit, history=history, **values
        )

        @jax.jit
        def update(params: Any, state: Any, transform: Any = transform) -> Any:
            gradients = jax.grad(tree_loss)(params)
            moves, state = transform.update(gradients, state, params, value_fn=tree_loss)
            return optax.apply_updates(params, moves), state

        params = cut(jnp.asarray(probe.THETA64))
        state = transform.init(params)
        expected = probe.THETA64
        for n in range(3):
            params, state = update(params, state)
            given = {"n": None if limit else n, "lr": RATE, **values}
            if history == "straight":
                line = numpy_module.straight(expected, *probe.calls(name, order, "step"), **given)
                expected = expected - RATE * line
            else:
                expected = numpy_module.step(expected, *probe.calls(name, order, "step"), **given)
        np.testing.assert_allclose(joined(params), expected, rtol=1e-12)


def test_bad_values_are_named_before_compilation() -> None:
    theta = jnp.ones(3)
    given = jax_probe.calls("adamw", 1, "step")
    with pytest.raises(ValueError, match="beta1"):
        emitted("adamw").step(theta, *given, lr=0.1, beta1=1.5)
    with pytest.raises(ValueError, match=r"weight_decay = inf is outside \[0, inf\)"):
        emitted("adamw").step(theta, *given, lr=0.1, weight_decay=float("inf"))
    with pytest.raises(ValueError, match="n = -2"):
        emitted("adamw").step(theta, *given, lr=0.1, n=-2)
    with pytest.raises(TypeError, match="complex"):
        emitted("adamw").step(theta.astype(complex), *given, lr=0.1)
