"""The optimizer with its memory in JAX: against brute force, optax and the PyTorch runtime; clipping, rates, probe."""

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
import torch
from sympy.core.function import AppliedUndef
from truth import EVERY, FUNCTIONS, LR, THETA, literal_of, load

from symmem.targets.registry import TARGETS
from symmem.training import Memoryless, WithMemory
from symmem.training import probe as torch_probe
from symmem.verification.literal import fits

RATE = float(LR)
MATRIX = np.array([[1.0, 0.3, -0.2], [0.3, 2.0, 0.5], [-0.2, 0.5, 0.7]])
START = np.array([0.9, -0.4, 0.5])
SETTINGS = {"beta1": 0.7, "beta2": 0.85, "eps": 0.02, "weight_decay": 0.3}
BETAS = {"betas": (0.7, 0.85), "eps": 0.02, "weight_decay": 0.3}


@cache
def emitted(name: str, target: str = "jax") -> ModuleType:
    return probe.module(TARGETS[target].source(probe.derivation(name, 1)))


def made(kind: str, name: str, *functions: Any, **given: Any) -> Any:
    return getattr(emitted(name), f"{kind}_{name.replace('-', '_')}")(*functions, **given)


def loss(theta: Any) -> Any:
    """One loss for both libraries: a quadratic form of sines."""
    library = torch if isinstance(theta, torch.Tensor) else jnp
    wave = library.sin(theta)
    matrix = torch.tensor(MATRIX) if library is torch else jnp.asarray(MATRIX, theta.dtype)
    return 0.5 * wave @ matrix @ wave + 0.1 * theta.sum()


def run(
    transformation: Any, steps: int, *, start: Any = START, dtype: Any = jnp.float64, **extra: Any
) -> Any:
    """The points of a compiled run."""

    @jax.jit
    def update(params: Any, state: Any) -> Any:
        moves, state = transformation.update(jax.grad(loss)(params), state, params, **extra)
        return optax.apply_updates(params, moves), state

    params = jnp.asarray(start, dtype)
    state = transformation.init(params)
    for _ in range(steps):
        params, state = update(params, state)
    return np.asarray(params), state


def torch_run(optimizer: Any, steps: int, rates: Any = None) -> np.ndarray:
    (theta,) = optimizer.param_groups[0]["params"]
    for n in range(steps):
        if rates is not None:
            optimizer.param_groups[0]["lr"] = float(rates[n])
        optimizer.step(lambda: loss(theta))
    return theta.detach().numpy()


def point() -> torch.Tensor:
    return torch.tensor(START, requires_grad=True)


def takes_matrices_alone(name: str) -> bool:
    """A polar factor is that of a matrix: the module refuses a vector."""
    declared = load(name)
    parts = (declared.phi, *(variable.g for variable in declared.momentum))
    return any(
        call.func.__name__ in ("polar", "newton_schulz")
        for part in parts
        for call in part.atoms(AppliedUndef)
    )


OF_VECTORS = [name for name in EVERY if fits(load(name), ((3,),)) and not takes_matrices_alone(name)]


def steps_of_the_literal_optimizer(name: str) -> None:
    """with_memory, step by step, against the definition in 50 digits."""
    literal, values, module = literal_of(load(name)), probe.parameters(name), emitted(name)
    maps = [jax_probe._served(FUNCTIONS[each.name].ridges) for each in load(name).functions]
    run_one = jax.jit(
        lambda theta, memory, n: module.with_memory(
            theta, jax_probe.contraction, memory, *maps, n=n, **values
        )
    )
    nothing = jax.eval_shape(lambda theta: run_one(theta, None, 0)[1], jnp.asarray(probe.THETA64))
    memory = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), nothing)
    for n, (theta, direction) in enumerate(literal.trace(THETA, LR, 4)):
        here = jnp.asarray([float(x) for x in theta])
        found, memory = run_one(here, memory, n)
        np.testing.assert_allclose(found, [float(x) for x in direction], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", ["adamw", "adabelief", "delayed-gd", "nadam-torch"])
def test_the_optimizer_as_it_runs(name: str) -> None:
    steps_of_the_literal_optimizer(name)


@pytest.mark.prove
@pytest.mark.parametrize("name", OF_VECTORS)
def test_every_optimizer_as_it_runs(name: str) -> None:
    steps_of_the_literal_optimizer(name)


@pytest.mark.parametrize(("dtype", "tolerance"), [(jnp.float64, 1e-12), (jnp.float32, 1e-5)])
def test_strength_0_is_the_optimizer_of_optax(dtype: Any, tolerance: float) -> None:
    b1, b2, eps, decay = SETTINGS.values()
    pairs = [
        ("adamw-torch", SETTINGS, optax.adamw(RATE, b1, b2, eps, weight_decay=decay)),
        ("adam-torch", {"eps": 1e-8}, optax.adam(RATE)),
        ("heavyball", {"beta": 0.8}, optax.sgd(RATE, momentum=0.8)),
    ]
    for name, values, theirs in pairs if dtype == jnp.float64 else pairs[:1]:
        mine, _ = run(made("with_memory", name, learning_rate=RATE, **values), 40, dtype=dtype)
        expected, _ = run(theirs, 40, dtype=dtype)
        assert mine.dtype == expected.dtype
        np.testing.assert_allclose(mine, expected, rtol=tolerance)


@pytest.mark.parametrize(
    "amount",
    [{"strength": -1.0}, {"strength": 0.5, "history": "expansion"}, {"target": {"beta2": 0.6}, "every": 3}],
    ids=str,
)
def test_strength_target_and_every_are_those_of_pytorch(amount: dict[str, Any]) -> None:
    mine, _ = run(
        made("with_memory", "adamw-torch", learning_rate=RATE, **SETTINGS, **amount), 12, value_fn=loss
    )
    expected = torch_run(WithMemory("adamw-torch", [point()], lr=RATE, **BETAS, **amount), 12)
    np.testing.assert_allclose(mine, expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["adamw-torch", "heavyball", "lion-bc"])
def test_past_rates_of_a_schedule_are_those_of_pytorch(name: str) -> None:
    """Both transformations under a warm-up and decay, against PyTorch with these rates."""
    rates = RATE * np.array([0.2, 0.6, 1.0, 0.7, 0.5, 0.3, 0.1])

    def schedule(count: Any) -> Any:
        return jnp.asarray(rates)[count]

    values, torch_values = (SETTINGS, BETAS) if name != "heavyball" else ({"beta": 0.8}, {"momentum": 0.8})
    amount = {"strength": -1.0}
    if name == "adamw-torch":
        amount = {"target": {"beta2": 0.6}}
    mine, _ = run(made("memoryless", name, learning_rate=schedule, **values), 7, value_fn=loss)
    expected = torch_run(Memoryless(name, [point()], lr=1.0, **torch_values), 7, rates)
    np.testing.assert_allclose(mine, expected, rtol=1e-12)
    mine, _ = run(made("with_memory", name, learning_rate=schedule, **values, **amount), 7, value_fn=loss)
    expected = torch_run(WithMemory(name, [point()], lr=1.0, **torch_values, **amount), 7, rates)
    np.testing.assert_allclose(mine, expected, rtol=1e-12)


def test_a_schedule_whose_past_does_not_close_is_refused() -> None:
    with pytest.raises(ValueError, match="limit=True"):
        made("memoryless", "lion", learning_rate=lambda count: 0.1)
    made("memoryless", "lion", learning_rate=lambda count: 0.1, limit=True)


def clipped(theta: Any, most: float) -> Any:
    gradient = jax.grad(loss)(theta)
    return gradient * jnp.minimum(1.0, most / jnp.linalg.norm(gradient))


def test_what_stands_before_the_optimizer_is_differentiated() -> None:
    """A clipped gradient: the product is that of its Jacobian, which is not the Hessian of the loss; against NumPy."""
    most, before = 0.2, optax.clip_by_global_norm(0.2)
    clipping = made("memoryless", "adamw-torch", learning_rate=RATE, before=before, **SETTINGS)
    found, _ = run(clipping, 3, value_fn=loss)
    straight = emitted("adamw-torch", "numpy").straight
    gradient, jacobian = jax.jit(lambda x: clipped(x, most)), jax.jit(jax.jacrev(lambda x: clipped(x, most)))
    theta = START
    for n in range(3):
        line = straight(theta, gradient, lambda x, v: jacobian(x) @ v, n=n, lr=RATE, **SETTINGS)
        theta = theta - RATE * line
    np.testing.assert_allclose(found, theta, rtol=1e-12)


@pytest.mark.parametrize("kind", ["memoryless", "with_memory"])
def test_a_gradient_that_is_not_the_losss_is_an_error(kind: str) -> None:
    """Clipping in a chain does not reach the product: refused by name, also when compiled and mapped."""
    amount = {"strength": -1.0} if kind == "with_memory" else {}
    inner = made(kind, "adamw-torch", learning_rate=RATE, **SETTINGS, **amount)
    chain = optax.chain(optax.clip_by_global_norm(0.2), inner)
    params = jnp.asarray(START)
    given = (jax.grad(loss)(params), chain.init(params), params)
    if kind == "memoryless":
        with pytest.raises(ValueError, match="not those of value_fn"):
            chain.update(*given, value_fn=loss)
    with pytest.raises(Exception, match="not those of value_fn"):
        jax.block_until_ready(run(chain, 1, value_fn=loss)[0])
    loose = optax.chain(optax.clip_by_global_norm(100.0), inner)  # which changes nothing
    np.testing.assert_array_equal(run(loose, 2, value_fn=loss)[0], run(inner, 2, value_fn=loss)[0])


def test_refusals() -> None:
    with pytest.raises(ValueError, match="state of its own"):
        made("memoryless", "adamw", before=optax.trace(0.9)).init(jnp.ones(3))
    with pytest.raises(ValueError, match="history"):
        made("memoryless", "adamw", history="curved")
    with pytest.raises(ValueError, match="eps"):
        made("with_memory", "adamw", target={"eps": 0.1})
    with pytest.raises(ValueError, match="every"):
        made("with_memory", "adamw", strength=-1.0, every=0)
    with pytest.raises(TypeError, match=r"target = 0\.95 gives no names"):
        made("with_memory", "adamw", target=0.95)
    with pytest.raises(TypeError, match="strength = '-1' is not a number"):
        made("with_memory", "adamw", strength="-1")
    transformation = made("memoryless", "adamw")
    with pytest.raises(ValueError, match="value_fn"):
        transformation.update(jnp.ones(3), transformation.init(jnp.ones(3)), jnp.ones(3))
    masked = optax.masked(transformation, {"a": True, "b": False})
    params = {"a": jnp.ones(3), "b": jnp.ones(2)}
    with pytest.raises(ValueError, match="a part of params is masked"):
        masked.update(params, masked.init(params), params, value_fn=lambda p: jnp.sum(p["a"]))


def test_the_probe_is_that_of_pytorch() -> None:
    """After some steps of AdamW, compiled, n traced."""
    _, state = run(made("with_memory", "adamw-torch", learning_rate=RATE, **SETTINGS), 6)
    theta = torch.nn.Parameter(torch.tensor(START))
    model = torch.nn.Module()
    model.theta = theta
    optimizer = torch.optim.AdamW([theta], lr=RATE, **BETAS)
    for _ in range(6):
        optimizer.zero_grad()
        loss(theta).backward()
        optimizer.step()
    expected = torch_probe(model, optimizer, lambda: loss(theta), iterations=0)

    def hvp(x: Any, v: Any) -> Any:
        return jax.jvp(jax.grad(loss), (x,), (v,))[1]

    compiled = jax.jit(
        lambda x, memory, n: emitted("adamw-torch").probe(
            x, jax.grad(loss), hvp, memory, n=n, lr=RATE, **SETTINGS
        )
    )
    found = compiled(jnp.asarray(theta.detach().numpy()), state.memory, state.count)
    assert {*found} == {name for name in expected if not name.startswith(("regulariser", "loss", "steps"))}
    for name, value in found.items():
        assert float(value) == pytest.approx(expected[name], rel=1e-10), name


def test_trees_vmap_and_scan() -> None:
    """Four starts at once, each a tree of two leaves, in one scan, against one run for each."""
    transformation = made(
        "with_memory", "adamw-torch", learning_rate=RATE, strength=-1.0, every=2, **SETTINGS
    )

    def tree_loss(tree: Any) -> Any:
        return loss(jnp.concatenate([tree["a"], tree["b"].ravel()]))

    def trained(start: Any) -> Any:
        def one(carried: Any, _: Any) -> Any:
            params, state = carried
            moves, state = transformation.update(
                jax.grad(tree_loss)(params), state, params, value_fn=tree_loss
            )
            return (optax.apply_updates(params, moves), state), None

        params = {"a": start[:1], "b": start[1:].reshape(2, 1)}
        (params, _), _ = jax.lax.scan(one, (params, transformation.init(params)), length=5)
        return jnp.concatenate([params["a"], params["b"].ravel()])

    starts = START + np.linspace(0, 0.3, 4)[:, None]
    found = jax.jit(jax.vmap(trained))(jnp.asarray(starts))
    for start, mine in zip(starts, found, strict=True):
        np.testing.assert_allclose(mine, run(transformation, 5, start=start, value_fn=loss)[0], rtol=1e-12)
