"""Decays that are computed from parameters, each under a name of its own: for those who compute in floating point.

The powers of ``(1 - a)/(1 + b)`` are kept in the field as those of ``1 - a`` and ``1 + b``, and in a sum over the past
the second ones grow without bound.  With one name for the decay, and one for each factor without n that its parameters
stand in, the sums are those of a method whose decays are parameters (mathematics.md section 14).
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, Mul, Rational, S, Symbol

from symmem.algebra.atoms import STEP
from symmem.algebra.ranges import bounds
from symmem.declaration.interval import DECAYS, REALS, Interval
from symmem.declaration.records import Parameter
from symmem.method.geometric import Geometric
from symmem.method.kernel import Kernel
from symmem.method.method import Channel, Method
from symmem.method.scaled import Scaled
from symmem.records import record

_BELOW_ONE = Interval(S.Zero, S.One, False, True)


@record(frozen=True)
class PlainDecays:
    """The method with names for its computed decays, and what the names stand for; ``1 - name`` has a value too."""

    method: Method
    values: tuple[tuple[Expr, Expr], ...]

    def written(self, expression: Expr) -> Expr:
        """A formula of the method in the parameters that were declared."""
        return expression.xreplace(dict(self.values))


def is_computed(decay: Expr) -> bool:
    """Whether a decay is neither a number nor a product of powers of parameters."""
    return not all(_is_given(factor) for factor in Mul.make_args(decay))


def is_rounded(decay: Expr) -> bool:
    """Whether a decay is no number of the machine: what is computed, and a decimal where its rounding is felt.

    The power n of what is off by one rounding u is off by n u, and n is 1/(1 - decay) before it fades.
    """
    if not isinstance(decay, Rational):
        return is_computed(decay)
    return bool(1 - abs(decay) < Rational(1, 500) and Rational(float(decay)) != decay)


def _is_given(factor: Expr) -> bool:
    base, exponent = factor.as_base_exp()
    return isinstance(factor, Rational) or (isinstance(base, Symbol) and exponent.is_Integer and exponent > 0)


def plain_decays(method: Method) -> PlainDecays | None:
    """The method with names; None where every decay is given, or a factor moves with a decay in another spelling."""
    decays = dict.fromkeys(decay for channel in method.channels for decay in channel.kernel.decays)
    computed = [decay for decay in decays if is_computed(decay)]
    if not computed or any(not isinstance(channel.kernel, Scaled) for channel in method.channels):
        return None
    names = _Names(method)
    for decay in computed:
        names.decay(decay)
    channels = tuple(replace(channel, kernel=names.kernel(channel.kernel)) for channel in method.channels)
    if any(names.moves(channel.kernel) for channel in channels):
        return None
    return PlainDecays(names.method(channels), tuple(names.values.items()))


class _Names:
    """The names given out for one method."""

    def __init__(self, method: Method) -> None:
        self._method = method
        self._given: dict[Expr, Symbol] = {}
        self._parameters: list[Parameter] = []
        self._moving: frozenset[Symbol] = frozenset()
        self.values: dict[Expr, Expr] = {}

    def decay(self, decay: Expr) -> None:
        """A name for a decay; ``1 - decay``, over one denominator, does not subtract where it need not."""
        is_positive = bounds(decay, self._method.ranges).is_nonnegative
        symbol = self._named(decay, "decay", _BELOW_ONE if is_positive else DECAYS)
        self._moving |= decay.free_symbols
        self.values[1 - symbol] = (1 - decay).together().factor()

    def kernel(self, kernel: Kernel) -> Kernel:
        """With the name of its decay; a constant factor in which the parameters of a decay stand has a name too."""
        assert isinstance(kernel, Scaled)
        factor = kernel.factor.xreplace(self._given)
        fixed, moving = factor.as_independent(STEP, as_Add=False)
        settled = kernel.settled
        if fixed.free_symbols & self._moving:
            weight = self._given.get(fixed) or self._named(fixed, "weight", REALS)
            factor = weight * moving
            settled = settled / fixed * weight if isinstance(settled, Expr) else settled
        named = replace(kernel, factor=factor, settled=settled)
        if isinstance(named, Geometric) and named.decay in self._given:
            return replace(named, decay=self._given[named.decay])
        return named

    def moves(self, kernel: Kernel) -> bool:
        """Whether a parameter of a computed decay still stands beside a power of the step."""
        return any(
            STEP in each.free_symbols and bool(each.free_symbols & self._moving)
            for each in kernel.expressions
        )

    def method(self, channels: tuple[Channel, ...]) -> Method:
        """The method in these names, with a field of its own."""
        one = self._method
        return Method.of(
            one.name,
            one.phi,
            channels,
            parameters=(*one.parameters, *self._parameters),
            functions=one.functions,
            declared=one.declared,
            schedule=None if one.rate is None else one.rate.factor,
        )

    def _named(self, value: Expr, word: str, interval: Interval) -> Symbol:
        taken = {parameter.name for parameter in (*self._method.parameters, *self._parameters)}
        name = f"{word}_of_{len(self._parameters)}"
        while name in taken:
            name += "_"
        default = value.xreplace(self._method.defaults)
        self._parameters.append(
            Parameter(name, default if isinstance(default, Rational) else S.Half, "", interval)
        )
        self._given[value] = Symbol(name)
        self.values[Symbol(name)] = value
        return Symbol(name)
