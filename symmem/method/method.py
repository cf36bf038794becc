"""The normal form of a method with memory, between declaration and derivation (mathematics.md section 9).

theta_{n+1} = theta_n - h rate(n) Phi(m_1, ..., m_L),        m_l = sum_{k=0..n} c_l(n, k) g_l(theta_{n-k})

In a cascade g_l reads momentum variables above it too, as they were at step n-k.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property

from sympy import Add, Expr, Symbol

from symmem.algebra.atoms import STEP, TOTAL, Kind, is_constant, kind
from symmem.algebra.directional import slope_in
from symmem.algebra.passes import collect
from symmem.algebra.scalars import Scalars
from symmem.declaration.interval import Interval
from symmem.declaration.optimizer import Optimizer
from symmem.declaration.records import Parameter, VectorFunction
from symmem.method.frozen import frozen_values
from symmem.method.kernel import Kernel
from symmem.method.numbers import scalars_of
from symmem.method.rate import Rate, rate_at, rate_expressions
from symmem.records import record

Declared = Optimizer
"""What a method was read from; only those who name and print it look there."""


@record(frozen=True)
class Channel:
    """One vector that Phi sees, by its ``symbol``: the memory ``kernel`` of ``g``.

    In a cascade ``g`` contains the symbols of channels that stand before it.
    """

    symbol: Symbol
    g: Expr
    kernel: Kernel


@record(frozen=True)
class Method:
    """A method with memory, as exact data: Phi of its channels, and the field of its numbers.

    The flags are derived once:  ``is_linear``: Phi is linear in its channels;  ``is_settled``: no gain depends on the
    step, so that the update on a constant history is the same at every step;  ``is_entrywise``: no opaque function.
    """

    name: str
    phi: Expr
    channels: tuple[Channel, ...]
    numbers: Scalars = field(compare=False, repr=False)
    parameters: tuple[Parameter, ...] = ()
    functions: tuple[VectorFunction, ...] = ()
    declared: Declared | None = field(default=None, compare=False, repr=False)
    rate: Rate | None = None

    @classmethod
    def of(
        cls,
        name: str,
        phi: Expr,
        channels: tuple[Channel, ...],
        *,
        parameters: tuple[Parameter, ...] = (),
        functions: tuple[VectorFunction, ...] = (),
        declared: Declared | None = None,
        schedule: Expr | None = None,
    ) -> Method:
        """The method with the field that its kernels and its schedule ask for."""
        kernels = [channel.kernel for channel in channels]
        others = (phi, *(channel.g for channel in channels), *rate_expressions(schedule))
        numbers = scalars_of(parameters, kernels, others, functions)
        rate = None if schedule is None else Rate.of(schedule, numbers)
        return cls(name, phi, channels, numbers, parameters, functions, declared, rate)

    def rate_at(self, n: Expr) -> Expr:
        """``rate(n)``: the learning rate at step n is ``h rate(n)``; 1 where there is no schedule."""
        return rate_at(self.rate, n)

    @property
    def is_even(self) -> bool:
        """Whether neither a gain nor the rate depends on n: the past of a constant history lies on one line."""
        return self.is_settled and (self.rate is None or self.rate.is_constant)

    @property
    def optimizer(self) -> Declared:
        """The declaration that it was read from."""
        assert self.declared is not None, f"{self.name} was not read from a declaration"
        return self.declared

    @cached_property
    def ranges(self) -> dict[Symbol, Interval]:
        """The interval in which each parameter lies."""
        return {Symbol(parameter.name): parameter.range for parameter in self.parameters}

    @cached_property
    def defaults(self) -> dict[Symbol, Expr]:
        """The exact default of each parameter."""
        return {Symbol(parameter.name): parameter.default for parameter in self.parameters}

    @cached_property
    def is_cascade(self) -> bool:
        """Whether a g reads another channel."""
        return any(self.read_by(channel) for channel in self.channels)

    def read_by(self, channel: Channel) -> tuple[int, ...]:
        """The places of the channels, from 0, that the g of this one reads."""
        seen = channel.g.free_symbols
        return tuple(place for place, other in enumerate(self.channels) if other.symbol in seen)

    @cached_property
    def is_linear(self) -> bool:
        """Is ``Phi = sum_l a_l m_l`` with constants a_l?"""
        symbols = [channel.symbol for channel in self.channels]
        slopes = [slope_in(self.phi, symbol) for symbol in symbols]
        # The slope of a sign is zero away from its jump: what the slopes add up to has to be Phi itself.
        rest = self.phi - Add(*(slope * symbol for slope, symbol in zip(slopes, symbols, strict=True)))
        return all(is_constant(slope) for slope in slopes) and rest.expand() == 0

    @cached_property
    def is_settled(self) -> bool:
        """Whether no gain depends on n; then ``F^(s) = F`` for every s (bias correction).

        In a cascade: whether no frozen value does; ``(grad - m1)**2`` is 0 whatever the gain.
        """
        gains = [self.numbers.tidy(channel.kernel.gain(STEP)) for channel in self.channels]
        if self.is_cascade:
            values = frozen_values(self.channels, gains, self.numbers).values()
            return all(STEP not in collect(value, self.numbers).free_symbols for value in values)
        return all(STEP not in gain.free_symbols for gain in gains)

    @cached_property
    def is_entrywise(self) -> bool:
        """Whether Phi and every g act entry by entry: no open function, no tensor of the loss."""
        parts = (self.phi, *(channel.g for channel in self.channels))
        return all(kind(part) is not Kind.TENSOR and not part.has(TOTAL) for part in parts)
