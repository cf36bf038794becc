"""The mean over the draw of the batches, at a step, for symbolic n or after many steps; and one epoch of them.

    E theta_{n+1} = theta_n - h ( F + F_xi + M + M_xi ),      given theta_n, to second order in the noise xi of a batch

``F_xi`` is of order h^0 (:mod:`.frozen_noise`), ``M_xi = h B`` goes through memory (:mod:`.minibatch`); both are 0
where the noise is.  For methods linear in the gradient ``F_xi = 0``; else symbolic n keeps explicit sums over the past
(:mod:`.moving_past`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Literal

from sympy import Add, Expr, Integer, S

from symmem.algebra.atoms import LR, Kind, kind, total
from symmem.algebra.head import Roughness
from symmem.algebra.results import Advice, Missing, Sentence, Whose
from symmem.algebra.scalars import Scalars
from symmem.algebra.symbols import BATCHES, VARIANCE
from symmem.derivation.conditions.smoothness import rough_parts
from symmem.derivation.gains import unsettled
from symmem.derivation.noise.cascade_noise import SettledCascade
from symmem.derivation.noise.cascade_step_noise import CascadeAtStep
from symmem.derivation.noise.epoch import Epoch, epoch
from symmem.derivation.noise.frozen_noise import frozen_noise
from symmem.derivation.noise.linear_noise import PairCounts, pairs_at_n, pairs_in_limit
from symmem.derivation.noise.long_memory import LongMemory, long_memories
from symmem.derivation.noise.minibatch import memory_noise, variance_gradient
from symmem.derivation.noise.moving_past import MovingPast, closes
from symmem.derivation.noise.noisy_kernel import noisy_kernel
from symmem.derivation.noise.noisy_past import NoisyPast, SettledPast, StepPast
from symmem.method.kernel import Kernel
from symmem.method.merging import merged
from symmem.method.method import Method
from symmem.method.numbers import scalars_of
from symmem.method.sampling import Sampling
from symmem.records import record

Place = int | Literal["n", "limit"]
MOST_STEPS = 40
"""Beyond this step the sums over pairs of steps are not written out."""
MOST_STEPS_OF_CASCADE = 6
"""There every step has slopes of its own, and the formulas grow with the third power of the step."""


@record(frozen=True)
class MeanOverBatches:
    """What noise adds to the mean of an update: ``frozen`` is F_xi, ``memory`` M_xi, h included."""

    sampling: Sampling
    place: Place
    """Of which step: a number, "n" for symbolic n, or "limit"."""
    frozen: Expr
    memory: Expr
    pairs: PairCounts | None
    epoch: Epoch | None
    held: tuple[LongMemory, ...] = ()
    """Memories of squares, where they are long: at any size of the noise."""
    loss: Expr | None = None
    """After many steps ``M_xi = P grad loss``, with P of the modified loss, for methods linear in the gradient."""


@lru_cache(maxsize=64)
def mean_over_batches(method: Method, sampling: Sampling, at: Place) -> MeanOverBatches | Missing:
    """What the draw of the batches adds, at a step, for symbolic n or in the limit; and to one epoch."""
    found = noise_in_mean(method, sampling, at)
    if isinstance(found, Missing) or sampling.batches is None:
        return found
    return replace(found, epoch=epoch(with_batches(merged(method), sampling), sampling.batches))


def noise_in_mean(method: Method, sampling: Sampling, at: Place) -> MeanOverBatches | Missing:
    """The same without the epoch."""
    one = merged(method)
    missing = _unknown(one, sampling, at)
    if missing is not None:
        return missing
    one = with_batches(one, sampling)
    kernel = noisy_kernel(one)
    if kernel is not None and not isinstance(at, int):
        return _linear(one, sampling, kernel, at)
    held = long_memories(method) if at == "limit" else ()
    if one.is_cascade and at != "n":
        cascade = SettledCascade(one, sampling) if at == "limit" else CascadeAtStep(one, sampling, at)
        return MeanOverBatches(sampling, at, cascade.frozen, LR * cascade.memory(), None, None, held)
    past = _past(one, sampling, at)
    frozen = frozen_noise(one, past.gains, past.pair)
    return MeanOverBatches(sampling, at, frozen, LR * memory_noise(past), None, None, held)


def _past(method: Method, sampling: Sampling, at: Place) -> NoisyPast:
    if isinstance(at, int):
        return StepPast(method, sampling, at)
    return MovingPast(method, sampling) if at == "n" else SettledPast(method, sampling)


def _linear(method: Method, sampling: Sampling, kernel: Kernel, at: Place) -> MeanOverBatches | Missing:
    """For symbolic n, or in the limit; there P, the gain of the modified loss, is not 0 where there is one."""
    numbers, rho = method.numbers, sampling.between
    settled = at == "limit"
    pairs = pairs_in_limit(kernel, rho, numbers) if settled else pairs_at_n(kernel, rho, numbers)
    if pairs is None:
        words = "the sums over pairs of batches do not close for symbolic n with such a memory"
        return Missing(Sentence.of(Whose(method.name), words), (Advice.STEP, Advice.LIMIT))
    gain = kernel.limit_gain if settled else S.Zero
    loss = None if gain == 0 else LR / 2 * _divided(pairs.weight, gain, numbers) * total(VARIANCE)
    memory = LR * pairs.weight / 2 * variance_gradient(S.One)
    return MeanOverBatches(sampling, at, S.Zero, memory, pairs, None, loss=loss)


def _divided(weight: Expr, divisor: Expr, numbers: Scalars) -> Expr:
    """In lowest terms, unless that makes one long fraction of many short ones, as for a sum of memories."""
    both = isinstance(weight, Add) and isinstance(divisor, Add)
    return weight / divisor if both else numbers.tidy(weight / divisor)


def with_batches(method: Method, sampling: Sampling) -> Method:
    """The method whose field holds what is known of the draw too: N."""
    kernels = [channel.kernel for channel in method.channels]
    others = (method.phi, BATCHES, sampling.between)
    numbers = scalars_of(method.parameters, kernels, others, method.functions)
    return replace(method, numbers=numbers)


def _unknown(method: Method, sampling: Sampling, at: Place) -> Missing | None:
    """Why nothing is known; None where it is."""
    reason = _reason(method)
    advice: tuple[Advice, ...] = ()
    if reason is None and at == "limit":
        return unsettled(method)
    if reason is None and isinstance(at, int):
        most = MOST_STEPS_OF_CASCADE if method.is_cascade else MOST_STEPS
        if at > most:
            reason, advice = _too_late(method, most), (Advice.LIMIT,)
        elif isinstance(sampling.batches, Integer) and at >= int(sampling.batches):
            reason = f"step {at} needs {at + 1} batches, and an epoch has {sampling.batches}"
    elif reason is None and method.is_cascade:
        reason = "a g reads momentum variables, and the noise of such a cascade has no form for symbolic n"
        advice = (Advice.STEP, Advice.LIMIT)
    elif reason is None and noisy_kernel(method) is None and not closes(method):
        words = "for symbolic n the noise of a curved update is known for two decays, without delays"
        reason, advice = words, (Advice.STEP, Advice.LIMIT)
    return None if reason is None else Missing(Sentence.of(Whose(method.name), reason), advice)


def _too_late(method: Method, most: int) -> str:
    """Why a step beyond the last that is written out is not."""
    if method.is_cascade:
        return (
            f"every step of a cascade has slopes of its own, and its noise is written out up to step {most}"
        )
    return f"pairs of steps are added up to step {most}"


def _reason(method: Method) -> str | None:
    parts = (method.phi, *(channel.g for channel in method.channels))
    if not method.is_entrywise or any(kind(part) is Kind.TENSOR for part in parts):
        return "Phi or a g joins entries: noise is known where they act entry by entry"
    if method.rate is not None:
        return "noise is known for a constant learning rate"
    rough = [part for each in parts for part in rough_parts(each, 1)]
    jumps = [part for part in rough if part.roughness in (Roughness.JUMP, Roughness.KINK)]
    if jumps:
        return (
            f"noise is expanded to second order, and {jumps[0].part} is not smooth: smooth it with [smooth]; "
            'the mean of a sign over Gaussian noise is sign = "erf(x/(sigma*sqrt(2)))"'
        )
    return None
