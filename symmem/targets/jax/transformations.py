"""The optax transformations of the emitted JAX module: copied into it, word for word."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from symmem.targets.jax.helpers import _array, _with_derivatives


class MemorylessState(NamedTuple):
    """How many updates were made; sums of the past rates, where those come from a schedule."""

    count: jax.Array
    rates: tuple[jax.Array, ...] = ()


class _Formulas(NamedTuple):
    """The functions of this module; None where there is none.

    frozen       the parameters on which F depends at step n, and in the limit
    scheduled    correction and straight from sums of the past rates, and the sums after a step
    """

    memoryless: Callable[..., Any]
    correction: Callable[..., Any]
    straight: Callable[..., Any] | None
    with_memory: Callable[..., Any]
    rate: Callable[..., Any] | None
    frozen: tuple[tuple[str, ...], tuple[str, ...]]
    scheduled: tuple[Callable[..., Any], ...] | None
    contractions: int


class _Settings(NamedTuple):
    """What both transformations are told."""

    learning_rate: Any
    history: str
    limit: bool
    before: Any
    check: bool


class _Method:
    """Formulas with the values of their parameters: F, and what memory adds to it."""

    def __init__(
        self,
        formulas: _Formulas,
        settings: _Settings,
        functions: Sequence[Callable[..., Any]],
        parameters: Mapping[str, Any],
    ) -> None:
        if settings.history not in ("straight", "expansion"):
            raise ValueError(
                f'history = {settings.history!r} is not "straight" or "expansion"',
            )
        if settings.history == "straight" and formulas.straight is None:
            raise ValueError(
                'there is no straight-line history here; take history="expansion"',
            )
        self.formulas, self.settings, self.parameters = (
            formulas,
            settings,
            dict(parameters),
        )
        self.functions = list(functions)
        self.past_rates = callable(settings.learning_rate) and not settings.limit
        if self.past_rates and formulas.scheduled is None:
            words = "the sums over past rates do not close here, and a schedule is not known"
            raise ValueError(
                f"{words}; give a number, or limit=True for a rate that changes slowly",
            )

    def first_rates(self, **changed: Any) -> tuple[jax.Array, ...]:
        """The sums of the past rates before the first step."""
        return tuple(map(jnp.zeros_like, self.next_rates(None, 0, **changed)))

    def next_rates(
        self,
        rates: Any,
        count: Any,
        **changed: Any,
    ) -> tuple[jax.Array, ...]:
        """The sums after this step; none where there is no schedule."""
        if not self.past_rates or self.formulas.scheduled is None:
            return ()
        settings = {**self.parameters, **changed}
        return self.formulas.scheduled[2](rates, self.lr(count), n=count, **settings)

    def lr(self, count: Any) -> Any:
        """The learning rate of this step."""
        rate = self.settings.learning_rate
        return rate(count) if callable(rate) else rate

    def step(self, count: Any) -> Any:
        """n of the formulas."""
        return None if self.settings.limit else count

    def factor(self, count: Any, n: Any) -> Any:
        """What is in front of the direction: the learning rate, times the declared rate at n."""
        lr, rate = self.lr(count), self.formulas.rate
        return lr if rate is None else lr * rate(n, **self.parameters)

    def memoryless(self, params: Any, gradient: Any, count: Any, **changed: Any) -> Any:
        """F."""
        opaque = self._opaque()
        given = {"n": self.step(count), **self.parameters, **changed}
        return self.formulas.memoryless(params, lambda _: gradient, *opaque, **given)

    def moved(
        self,
        params: Any,
        gradient: Any,
        field: Any,
        count: Any,
        rates: tuple[Any, ...],
        **changed: Any,
    ) -> Any:
        """F_straight, or F + M."""
        formulas = self.formulas
        opaque = self._opaque()
        products = [_with_derivatives(field)] * formulas.contractions
        given = {"n": self.step(count), **self.parameters, **changed}
        functions = formulas.correction, formulas.straight
        past: tuple[Any, ...] = ()
        if self.past_rates and formulas.scheduled is not None:
            past, functions = (rates,), (formulas.scheduled[0], formulas.scheduled[1])
        else:
            given["lr"] = self.lr(count)
        on_line = self.settings.history == "straight"
        function: Any = functions[on_line]
        found = function(*past, params, lambda _: gradient, *products, *opaque, **given)
        if on_line:
            return found
        first = self.memoryless(params, gradient, count, **changed)
        return jax.tree.map(jnp.add, first, found)

    def _opaque(self) -> list[Any]:
        """Every open function with its derivatives, as often as the formulas take it."""
        found = [_with_derivatives(function) for function in self.functions]
        return [each for each in found for _ in range(self.formulas.contractions + 1)]


def _gradient_field(
    method: _Method,
    value_fn: Callable[..., Any],
) -> Callable[..., Any]:
    """The gradient of the loss as a function of params, after what stands before the optimizer."""
    before = method.settings.before
    return lambda params: _passed(before, jax.grad(value_fn)(params), params)


def _passed(before: Any, updates: Any, params: Any) -> Any:
    """The gradients after a transformation that has no state."""
    if before is None:
        return updates
    return before.update(updates, before.init(params), params)[0]


def _check_before(before: Any, params: Any) -> None:
    if before is not None and jax.tree.leaves(before.init(params)):
        words = "before= has a state of its own, whose memory is not in these formulas"
        raise ValueError(f"{words}; it can clip, scale or add to the gradient")


def _checked(updates: Any, params: Any, value_fn: Callable[..., Any] | None) -> Any:
    """The gradients; where they are not those of the loss, an error, and no number.

    Products with the Hessian are those of the loss: what changes the gradient has to change
    them too. Compiled, the error is raised by a callback, and the update is no number in any case.
    Gradients count as the same to the third root of the precision.
    """
    if value_fn is None:
        return updates
    own = jax.grad(value_fn)(params)
    pairs = list(zip(jax.tree.leaves(updates), jax.tree.leaves(own), strict=True))
    apart = sum(jnp.sum(jnp.square(a - b)) for a, b in pairs) ** 0.5
    size = sum(jnp.sum(jnp.square(b)) for _, b in pairs) ** 0.5
    precision = max((float(jnp.finfo(b.dtype).eps) for _, b in pairs), default=0.0)
    wrong = jnp.asarray(apart > precision ** (1 / 3) * size)
    if not isinstance(wrong, jax.core.Tracer):
        _complain(wrong)
    else:
        jax.lax.cond(wrong, lambda: jax.debug.callback(_complain, wrong), lambda: None)
    return jax.tree.map(lambda x: jnp.where(wrong, jnp.nan, x).astype(x.dtype), updates)


def _complain(wrong: Any) -> None:
    if wrong:
        words = "the gradients are not those of value_fn, as the Hessian products are"
        advice = "what changes them (clipping, a mean over devices) goes into before= or value_fn"
        raise ValueError(f"{words}; {advice}; check=False leaves this out")


def _needed(params: Any, value_fn: Callable[..., Any] | None) -> Callable[..., Any]:
    if params is None or value_fn is None:
        raise ValueError("give update params and value_fn, the loss of params")

    def is_masked(node: Any) -> bool:
        return type(node).__name__ == "MaskedNode"

    if any(map(is_masked, jax.tree.leaves(params, is_leaf=is_masked))):
        words = "a part of params is masked, and value_fn is the loss of all of them"
        raise ValueError(f"{words}; mask the updates instead")
    return value_fn


def _scaled(direction: Any, factor: Any) -> Any:
    return jax.tree.map(lambda x: (-factor * x).astype(x.dtype), direction)


def _memoryless_transformation(*given: Any) -> Any:
    """theta - lr F_straight, or theta - lr (F + M)."""
    import optax

    method = _Method(*given)

    def init(params: Any) -> MemorylessState:
        _check_before(method.settings.before, params)
        return MemorylessState(jnp.zeros([], jnp.int32), method.first_rates())

    def update(
        updates: Any,
        state: MemorylessState,
        params: Any = None,
        *,
        value_fn: Any = None,
        **extra_args: Any,
    ) -> tuple[Any, MemorylessState]:
        field = _gradient_field(method, _needed(params, value_fn))
        params, count = _array(params), state.count
        raw = _checked(updates, params, value_fn if method.settings.check else None)
        gradient = _passed(method.settings.before, raw, params)
        direction = method.moved(params, gradient, field, count, state.rates)
        news = MemorylessState(count + 1, method.next_rates(state.rates, count))
        return _scaled(direction, method.factor(count, method.step(count))), news

    return optax.GradientTransformationExtraArgs(init, update)
