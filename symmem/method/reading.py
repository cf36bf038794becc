"""From a declaration to its Method: every momentum variable gets its kernel, every factor its limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

from sympy import Expr

from symmem.algebra.atoms import STEP, momentum_symbol
from symmem.algebra.limits import scalar_limit
from symmem.algebra.results import Missing, Sentence
from symmem.declaration.optimizer import Optimizer
from symmem.declaration.records import Momentum
from symmem.declaration.smoothing import as_it_runs, smoothed
from symmem.method.delay import Delay
from symmem.method.geometric import Geometric
from symmem.method.instant import Instant
from symmem.method.method import Channel, Method


@lru_cache(maxsize=256)
def method_of(optimizer: Optimizer) -> Method:
    """The method that a declaration describes, as the theory sees it: with the smooth functions that it declares."""
    return _method(optimizer, partial(smoothed, smooth=optimizer.smooth))


@lru_cache(maxsize=256)
def running_method(optimizer: Optimizer) -> Method:
    """The method as it runs: with the functions themselves."""
    return _method(optimizer, as_it_runs) if optimizer.smooth else method_of(optimizer)


def _method(optimizer: Optimizer, seen: Callable[[Expr], Expr]) -> Method:
    channels = tuple(
        Channel(momentum_symbol(position), seen(variable.g), _kernel(variable))
        for position, variable in enumerate(optimizer.momentum, start=1)
    )
    made = partial(
        Method.of,
        optimizer.name,
        seen(optimizer.phi),
        parameters=optimizer.parameters,
        functions=optimizer.functions,
        declared=optimizer,
        schedule=optimizer.schedule,
    )
    method = made(channels)
    settled = tuple(_settled(channel, method) for channel in channels)
    limits = [value for channel in settled for value in channel.kernel.expressions]
    is_known = all(value.has(STEP) or method.numbers.field.read(value) is not None for value in limits)
    # A limit may bring a constant of its own: cosh(atan(n)) tends to cosh(pi/2).
    return replace(method, channels=settled) if is_known else made(settled)


def _kernel(variable: Momentum) -> Instant | Geometric | Delay:
    if variable.delay:
        return Delay(variable.delay, variable.starts_empty, factor=variable.b)
    if variable.beta == 0:
        return Instant(factor=variable.b)
    return Geometric(variable.beta, factor=variable.b)


def _settled(channel: Channel, method: Method) -> Channel:
    """The channel with the limit of its factor for n -> infinity."""
    kernel = channel.kernel
    assert isinstance(kernel, (Instant, Geometric, Delay))
    settled = scalar_limit(kernel.factor, method.numbers)
    if isinstance(settled, Missing):
        words = (" has no known limit for n -> infinity (", *settled.reason.parts, ")")
        settled = Missing(Sentence.of("b = ", kernel.factor, *words))
    return replace(channel, kernel=replace(kernel, settled=settled))
