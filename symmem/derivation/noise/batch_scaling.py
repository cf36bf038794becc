"""How the learning rate and the parameters change when the batch grows (mathematics.md section 7).

A batch K times as large has noise of variance V/K, and as many samples make 1/K of the steps.  The stochastic equation
in the time of samples stays as it is where ``h' F' = K h F``: its drift does, and so does its diffusion, for K^2 of the
squared step, 1/K of the variance and 1/K of the steps are 1.  Two rules do that:

    decays as they are           noise rules the update: xi -> K^(-1/2) xi, Phi -> K^(r - 1/2) Phi
    memory as long in samples    1 - beta -> K (1 - beta): an average of gradients keeps its law, an average of squares
                                 is V and falls,                            Phi -> K^r Phi

    h -> K^(1 - r) h,    p -> K^x p for the parameters that have a scale of their own

    Adam:  Phi = m1/(sqrt(m2) + eps), m2 -> m2/K:   eps -> eps/sqrt(K), Phi -> sqrt(K) Phi, h -> sqrt(K) h
    SGD:   Phi = m1:                                Phi -> Phi,                             h -> K h

For Adam these are the rules of Malladi, Lyu, Panigrahi and Arora (2022), for SGD that of Goyal et al. (2017).
"""

from __future__ import annotations

from sympy import Expr, Mul, Poly, PolynomialError, Pow, Rational, S, Symbol

from symmem.algebra.atoms import GRAD, THETA
from symmem.algebra.reals import substituted
from symmem.algebra.results import Missing, Sentence, Whose
from symmem.algebra.scale_weights import scale_weights
from symmem.algebra.symbols import VARIANCE
from symmem.derivation.gains import limit_gains, unsettled
from symmem.derivation.noise.scaling_conditions import has_mean_without_gradient, is_linear_in, theta_reason
from symmem.method.merging import merged
from symmem.method.method import Channel, Method
from symmem.records import record

HALF = Rational(1, 2)
_PHI = Symbol("Phi")


@record(frozen=True)
class ScalingRule:
    """``h -> K^rate h``, ``p -> K^x p`` for the ``parameters``, ``1 - beta -> K (1 - beta)`` for the ``decays``.

    ``needs_noise``: the noise of a batch has to be large beside the gradient.
    """

    rate: Rational
    parameters: tuple[tuple[Symbol, Rational], ...]
    decays: tuple[Symbol, ...]
    needs_noise: bool


@record(frozen=True)
class BatchScaling:
    """The rule with the decays as they are, and the one that keeps memory as long in samples; or why not."""

    plain: ScalingRule | Missing
    with_memory: ScalingRule | Missing


def batch_scaling(method: Method) -> BatchScaling | Missing:
    """What keeps drift and diffusion when the batch grows by a factor K."""
    reason = _unknown(method)
    missing = unsettled(method) if reason is None else _none(method, reason)
    if missing is not None:
        return missing
    one = merged(method)
    # Merged, a linear cascade has no more than one memory; else the noise of the present batch has to stay apart.
    return BatchScaling(_plain_rule(one), _memory_rule(one if _is_linear(one) else method))


def exponents(phi: Expr) -> frozenset[str]:
    """The parameters that stand in an exponent: how the update scales is their value."""
    return frozenset(symbol.name for power in phi.atoms(Pow) for symbol in power.exp.free_symbols)


def _unknown(method: Method) -> str | None:
    if not method.is_entrywise:
        return "a function joins entries, and how its noise changes with the batch is not known"
    if method.rate is not None:
        return "its learning rate has a schedule in steps, and a larger batch makes fewer: leave it out"
    powers = exponents(method.phi)
    if powers:
        return f"{min(powers)} is an exponent, and its value decides: put a number in"
    return theta_reason(method)


def _plain_rule(method: Method) -> ScalingRule | Missing:
    """The decays stay; where noise rules, what a gradient does is what its noise does, to first order."""
    if not _is_linear(method) and has_mean_without_gradient(method):
        return _none(method, "noise, or a constant, moves its mean where there is no gradient")
    values = [(channel.symbol, g) for channel, g in zip(method.channels, _values(method), strict=True)]
    known = {GRAD: -HALF, THETA: -HALF}
    free = [symbol for symbol in _parameters(method) if symbol not in _decays(method)]
    weights = scale_weights([*values, (_PHI, method.phi)], known, free)
    if weights is None:
        return _none(method, "the update is no power of the noise, whatever becomes of the parameters")
    moved = tuple((symbol, weights[symbol]) for symbol in free if weights.get(symbol, S.Zero) != 0)
    return ScalingRule(HALF - weights[_PHI], moved, (), not _is_linear(method))


def _memory_rule(method: Method) -> ScalingRule | Missing:
    """Memory keeps its length in samples: to leading order in 1 - beta."""
    reason = _no_memory_rule(method)
    if reason is not None:
        return _none(method, reason)
    decays = _decays(method)
    ones = [channel.symbol for channel in method.channels if _degree(channel) == 1]
    values = list(zip((channel.symbol for channel in method.channels), _mean_values(method), strict=True))
    # A formula of 1 - beta, which is multiplied by K.
    shifted = {decay: 1 - decay for decay in decays}
    if is_linear_in(method.phi, ones):
        formulas = [(_PHI, substituted(method.phi, dict(values)))]
    else:
        formulas = [*values, (_PHI, method.phi)]
    formulas = [(name, formula.xreplace(shifted).factor()) for name, formula in formulas]
    known = {GRAD: S.Zero, THETA: S.Zero, VARIANCE: S.NegativeOne, **dict.fromkeys(decays, S.One)}
    free = [symbol for symbol in _parameters(method) if symbol not in decays]
    weights = scale_weights(formulas, known, free)
    if weights is None:
        return _none(method, "the update is no power of the batch, whatever becomes of the parameters")
    moved = tuple((symbol, weights[symbol]) for symbol in free if weights.get(symbol, S.Zero) != 0)
    has_squares = any(formula.has(VARIANCE) for _, formula in formulas)
    return ScalingRule(1 - weights[_PHI], moved, decays, has_squares)


def _no_memory_rule(method: Method) -> str | None:
    if method.is_cascade:
        return "the law of a memory that reads another is not known"
    decays = [decay for channel in method.channels for decay in channel.kernel.decays]
    if not decays:
        return "no memory is to be kept"
    if any(not decay.is_Symbol for decay in decays):
        return "a decay is no parameter by itself"
    if any(channel.kernel.has_memory and not channel.kernel.decays for channel in method.channels):
        return "a delay is a number of steps"
    if any(_degree(channel) not in (0, 1, 2) for channel in method.channels):
        return "a g is neither linear in the gradient nor a square"
    instant = [
        channel.symbol
        for channel in method.channels
        if not channel.kernel.has_memory and GRAD in channel.g.free_symbols
    ]
    if not is_linear_in(method.phi, instant):
        return "Phi is not linear in the gradient of the present batch, whose noise no memory averages"
    return None


def _values(method: Method) -> list[Expr]:
    """The channels on a constant history; a cascade's in terms of those before."""
    return [gain * channel.g for gain, channel in zip(limit_gains(method), method.channels, strict=True)]


def _mean_values(method: Method) -> list[Expr]:
    """The same where noise rules: the mean of a square is the variance."""
    means = (VARIANCE if _degree(channel) == 2 else channel.g for channel in method.channels)
    return [Mul(gain, mean) for gain, mean in zip(limit_gains(method), means, strict=True)]


def _degree(channel: Channel) -> int | None:
    """The degree of a g that is a homogeneous polynomial in gradient and theta."""
    try:
        degrees = {sum(powers) for powers in Poly(channel.g, GRAD, THETA).monoms()}
    except PolynomialError:
        return None
    return degrees.pop() if len(degrees) == 1 else None


def _is_linear(method: Method) -> bool:
    return method.is_linear and all(_degree(channel) == 1 for channel in method.channels)


def _decays(method: Method) -> tuple[Symbol, ...]:
    found = [decay for channel in method.channels for decay in channel.kernel.decays]
    return tuple(symbol for symbol in _parameters(method) if any(decay.has(symbol) for decay in found))


def _parameters(method: Method) -> tuple[Symbol, ...]:
    return tuple(Symbol(parameter.name) for parameter in method.parameters)


def _none(method: Method, reason: str) -> Missing:
    return Missing(Sentence.of(Whose(method.name), reason))
