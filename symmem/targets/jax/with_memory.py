"""The optimizer with its memory as an optax transformation, and probe: copied into the emitted JAX module."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from symmem.targets.jax.helpers import _array, _is_known
from symmem.targets.jax.transformations import (
    _check_before,
    _checked,
    _Formulas,
    _gradient_field,
    _Method,
    _needed,
    _passed,
    _scaled,
)


class WithMemoryState(NamedTuple):
    """How many updates were made, what the optimizer keeps of the past, sums of past rates."""

    count: jax.Array
    memory: Any
    rates: tuple[Any, Any] = ((), ())


class _WithMemory:
    """The optimizer as it runs, and strength times what its memory does."""

    def __init__(
        self,
        strength: Any,
        target: Mapping[str, Any] | None,
        every: int,
        method: _Method,
    ) -> None:
        self.method, self.changed, self.every = method, _target(method, target), every
        self.strength = (1.0 if self.changed else 0.0) if strength is None else strength
        if isinstance(self.strength, str):
            raise TypeError(f"strength = {strength!r} is not a number")
        if not isinstance(every, int) or every < 1:
            raise ValueError(f"every = {every!r}: it counts steps, from 1 on")
        self.corrects = not (_is_known(self.strength) and self.strength == 0)

    def run(self, params: Any, gradient: Any, memory: Any, count: Any) -> Any:
        """Phi(m), and what is kept after the step."""
        method = self.method
        given = (params, lambda _: gradient, memory, *method.functions)
        return method.formulas.with_memory(*given, n=count, **method.parameters)

    def added(
        self,
        updates: Any,
        params: Any,
        value_fn: Any,
        state: WithMemoryState,
    ) -> Any:
        """strength M, or strength (M of the target - M), for all steps until the next."""
        method, count = self.method, state.count
        field = _gradient_field(method, value_fn)
        raw = _checked(updates, params, value_fn if method.settings.check else None)
        gradient = _passed(method.settings.before, raw, params)
        own = method.moved(params, gradient, field, count, state.rates[0])
        if self.changed:  # F is the same in both
            rates = state.rates[1]
            other = method.moved(params, gradient, field, count, rates, **self.changed)
            factor = -self.strength * self.every
        else:
            other, factor = (
                method.memoryless(params, gradient, count),
                self.strength * self.every,
            )
        return jax.tree.map(lambda a, b: (factor * (a - b)).astype(a.dtype), own, other)

    def next_rates(self, rates: tuple[Any, Any], count: Any) -> tuple[Any, Any]:
        """The sums of past rates after this step, with the decays of the optimizer and of the target."""
        method, changed = self.method, self.changed
        other = method.next_rates(rates[1], count, **changed) if changed else ()
        return method.next_rates(rates[0], count), other

    def direction(
        self,
        updates: Any,
        params: Any,
        value_fn: Any,
        state: WithMemoryState,
    ) -> Any:
        """Phi(m) + strength M, and what is kept."""
        gradient = _passed(self.method.settings.before, updates, params)
        found, memory = self.run(params, gradient, state.memory, state.count)
        if self.corrects:
            more = jax.lax.cond(
                (state.count + 1) % self.every == 0,
                lambda: self.added(updates, params, value_fn, state),
                lambda: jax.tree.map(jnp.zeros_like, found),
            )
            found = jax.tree.map(jnp.add, found, more)
        return found, memory


def _with_memory_transformation(
    strength: Any, target: Mapping[str, Any] | None, every: int, *given: Any
) -> Any:
    """theta - lr (Phi(m) + strength M); with a target, strength (M of the target - M)."""
    import optax

    optimizer = _WithMemory(strength, target, every, _Method(*given))
    method, changed = optimizer.method, optimizer.changed

    def init(params: Any) -> WithMemoryState:
        _check_before(method.settings.before, params)
        first = _array(params)
        kept = jax.eval_shape(lambda x: optimizer.run(x, x, None, 0)[1], first)
        memory = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), kept)
        rates = method.first_rates(), method.first_rates(**changed) if changed else ()
        return WithMemoryState(jnp.zeros([], jnp.int32), memory, rates)

    def update(
        updates: Any,
        state: WithMemoryState,
        params: Any = None,
        *,
        value_fn: Any = None,
        **extra_args: Any,
    ) -> tuple[Any, WithMemoryState]:
        if params is None or optimizer.corrects:
            _needed(params, value_fn)
        found = optimizer.direction(updates, _array(params), value_fn, state)
        direction, memory = found
        rates = optimizer.next_rates(state.rates, state.count)
        news = WithMemoryState(state.count + 1, memory, rates)
        return _scaled(direction, method.factor(state.count, state.count)), news

    return optax.GradientTransformationExtraArgs(init, update)


def _target(method: _Method, target: Mapping[str, Any] | None) -> dict[str, Any]:
    """The parameters of the memory that is wanted; F must not depend on them."""
    if target is not None and not isinstance(target, Mapping):
        raise TypeError(f'target = {target!r} gives no names; write {{"beta2": 0.95}}')
    found = dict(target or {})
    unknown = ", ".join(name for name in found if name not in method.parameters)
    if unknown:
        known = ", ".join(method.parameters) or "none"
        raise ValueError(f"target: {unknown}: not a parameter; known are {known}")
    frozen = method.formulas.frozen[method.settings.limit]
    changed = ", ".join(name for name in found if name in frozen)
    if changed:
        raise ValueError(f"target: F depends on {changed}, and not memory alone")
    return found


def _probed(
    formulas: _Formulas,
    theta: Any,
    gradient: Any,
    memory: Any,
    derivatives: Sequence[Any],
    functions: Sequence[Any],
    opaque: Sequence[Any],
    lr: Any,
    settings: dict[str, Any],
    decays: Sequence[Any],
) -> dict[str, Any]:
    """The sizes of the update, of M and of F_straight - F, and whether the expansion holds here."""
    theta, n = _array(theta), settings["n"]
    given = (theta, lambda _: gradient)
    rest = {name: value for name, value in settings.items() if name != "n"}
    h = lr if formulas.rate is None else lr * formulas.rate(n, **rest)
    parts = {"update": formulas.with_memory(*given, memory, *functions, **settings)[0]}
    parts["correction"] = formulas.correction(*given, *derivatives, lr=lr, **settings)
    if formulas.straight is not None:
        first = formulas.memoryless(*given, *opaque, **settings)
        line = formulas.straight(*given, *derivatives, lr=lr, **settings)
        parts["straight"] = jax.tree.map(jnp.subtract, line, first)
    size = {name: h * _norm(vector) for name, vector in parts.items()}
    found = {f"{name}_norm": value for name, value in size.items()}
    for name in ("correction", "straight"):
        if name in size:
            found[f"{name}_ratio"] = _ratio(size[name], size["update"])
    pairs = list(
        zip(
            *(jax.tree.leaves(parts[name]) for name in ("update", "correction")),
            strict=True,
        )
    )
    both = h * h * sum(jnp.sum(u * c) for u, c in pairs)
    found["correction_cosine"] = _ratio(both, size["update"] * size["correction"])
    outside = sum(jnp.sum(jnp.abs(c) > jnp.abs(u)) for u, c in pairs)
    found["share_outside"] = outside / max(sum(u.size for u, _ in pairs), 1)
    longest = jnp.max(jnp.asarray([0.0, *decays]))
    return {**found, "memory_time": h / (1 - longest)}


def _followed(
    found: dict[str, Any],
    loss: Any,
    previous: Mapping[str, Any] | None,
    state: Any,
    share: Any,
    n: Any,
    after: Callable[[Any, Any], Any],
) -> dict[str, Any]:
    """The numbers with the loss, and with the modified loss after that of the step before."""
    found = {**found, "loss": jnp.asarray(loss), "steps": jnp.asarray(n)}
    if previous is None or "modified_loss" not in previous or state is None:
        return {**found, "modified_loss": found["loss"]}
    m = jax.tree.map(lambda x: (share * x).astype(x.dtype), state)
    value = after(previous["modified_loss"], m)
    follows = found["steps"] == jnp.asarray(previous["steps"]) + 1
    return {**found, "modified_loss": jnp.where(follows, value, found["loss"])}


def probe_line(found: Mapping[str, Any]) -> str:
    """What probe found in one line, with what sharpness found where the two are joined."""
    known = {name: float(value) for name, value in found.items()}
    straight = ""
    if "straight_ratio" in known:
        straight = f", {known['straight_ratio']:.3g} on the straight line"
    outside = known["correction_ratio"] > 1 or known["share_outside"] > 0.5
    line = f"loss {known['loss']:.4g}: " if "loss" in known else ""
    line += (
        f"memory is {known['correction_ratio']:.3g} of the update by the expansion{straight}; it is "
        f"larger than the update in {known['share_outside']:.1%} of the entries; lr/(1 - beta) = "
        f"{known['memory_time']:.3g}; {'outside the range of the expansion' if outside else 'in range'}"
    )
    if "sharpness_threshold" in known:
        value, bound = known["preconditioned_sharpness"], known["sharpness_threshold"]
        line += f"; preconditioned sharpness {value:.4g}, unstable from {bound:.4g}"
    if "modified_loss" in known:
        line += f"; modified loss {known['modified_loss']:.6g}"
    return line


def _norm(vector: Any) -> Any:
    return jnp.sqrt(sum(jnp.sum(jnp.square(leaf)) for leaf in jax.tree.leaves(vector)))


def _ratio(part: Any, whole: Any) -> Any:
    """0 where both are."""
    return jnp.where(whole == 0, 0.0, part / jnp.where(whole == 0, 1.0, whole))
