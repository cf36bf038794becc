"""The Account: the results of one derivation, in the order in which a person reads them.

Made once from a Derivation; terminal, notebook, paper, JSON and comparison render this record and ask nothing else.  A
part holds expressions and sentences; a result that does not exist is a ``Missing`` that says why; a part that was not
asked for is None.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal, TypeVar

from symmem.algebra.atoms import LR, STEP
from symmem.algebra.results import Advice, Assumption, Conclusion, Missing, Sentence, Unknown
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.assumptions import distinct_decays
from symmem.derivation.conditions.every_history import every_history
from symmem.derivation.derivation import Derivation, MemorylessIteration
from symmem.derivation.loss.gradient_map_loss import GradientMapLoss
from symmem.derivation.loss.regularisation_sign import Regularisation, regularisation
from symmem.derivation.loss.verdicts import ModifiedLoss, Obstruction
from symmem.derivation.noise.mean_over_batches import MeanOverBatches, mean_over_batches, noise_in_mean
from symmem.derivation.noise.noise_steps import NoisePaths, NoiseSteps, noise_paths, noise_steps
from symmem.derivation.noise.stochastic import StochasticEquation, stochastic_equation
from symmem.derivation.orders.second_order import second_coefficient
from symmem.derivation.past.correction import finite_correction
from symmem.derivation.past.steps import steps, written
from symmem.derivation.past.straight import bound_sentence, is_expansion, keeps_bounds
from symmem.derivation.quadratic import Quadratic
from symmem.derivation.scheduled import stopped
from symmem.documents.parts import (
    SETTLED,
    Iteration,
    Lemma,
    Limit,
    ModifiedEquation,
    Part,
    Schedule,
    StartShift,
    StraightLine,
)
from symmem.documents.prose import missing_prose
from symmem.errors import DerivationError
from symmem.method.merging import merged
from symmem.method.sampling import Sampling
from symmem.notation.decimals import power_digits
from symmem.records import record

At = int | Literal["n", "limit"]
"""The step at which the iteration is told: a number, symbolic n (with the limit), or the limit alone."""

MOST_POWER_DIGITS = 50_000
"""Exact numbers of more digits than this are not computed."""
FINITE_ORDER = 2
"""Symbolic n is known to this power of h; the limit to every power."""

Result = TypeVar("Result")


@record(frozen=True)
class Account:
    """What is told about one optimizer to one order in h, in this order."""

    optimizer: Optimizer
    order: int
    at: At
    iteration: Iteration | None = None
    schedule: Schedule | None = None
    limit: Limit | Missing | None = None
    straight: StraightLine | None = None
    modified_loss: ModifiedLoss | Obstruction | Missing | None = None
    gradient_map_loss: GradientMapLoss | Obstruction | Missing | None = None
    sign: Regularisation | None = None
    modified_equation: ModifiedEquation | Missing | None = None
    start: StartShift | Missing | None = None
    quadratic: Quadratic | None = None
    noise: MeanOverBatches | None = None
    settled_noise: MeanOverBatches | None = None
    """After many steps, where ``noise`` is for symbolic n."""
    stochastic: StochasticEquation | None = None
    noise_steps: NoiseSteps | NoisePaths | None = None
    assumptions: tuple[Assumption, ...] = ()
    conclusions: tuple[Conclusion, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    lemma: Lemma | None = None


def account_of(
    derivation: Derivation,
    at: At = "n",
    *,
    quadratic: bool = False,
    sampling: Sampling | None = None,
    parts: Collection[Part] | None = None,
) -> Account:
    """The account of a derivation; ``parts`` are those that a reader at this step is told, or as given.

    What is asked for by name and does not exist is an error: a step, the limit alone, the quadratic loss, the noise of
    mini-batches that are drawn by ``sampling``.
    """
    asked = set(_told_at(at) if parts is None else parts) | ({Part.QUADRATIC} if quadratic else set())

    def when(part: Part, read: Callable[[], Result]) -> Result | None:
        return read() if part in asked else None

    loss = when(Part.LOSS, lambda: _loss(derivation))
    noise = None if sampling is None else _noise(derivation, sampling, at)
    return Account(
        derivation.optimizer,
        derivation.order,
        at,
        iteration=when(Part.ITERATION, lambda: _iteration(derivation, at)),
        schedule=when(Part.SCHEDULE, lambda: _schedule(derivation)),
        limit=when(Part.LIMIT, lambda: _limit(derivation, at)),
        straight=when(Part.STRAIGHT, lambda: _straight(derivation, at)),
        modified_loss=loss,
        gradient_map_loss=when(Part.GRADIENT_MAP, lambda: derivation.gradient_map_verdict),
        sign=when(Part.SIGN, lambda: _sign(derivation)),
        modified_equation=when(Part.EQUATION, lambda: _equation(derivation)),
        start=when(Part.START, lambda: _start(derivation)),
        quadratic=when(Part.QUADRATIC, lambda: _demanded(derivation.quadratic)),
        noise=noise,
        settled_noise=None if noise is None else _settled_noise(derivation, noise),
        stochastic=None if sampling is None else _stochastic(derivation, sampling, at, asked),
        noise_steps=when(Part.LEMMA, lambda: _noise_steps(derivation, sampling)),
        assumptions=when(Part.ASSUMPTIONS, lambda: derivation.assumptions) or (),
        conclusions=when(Part.ASSUMPTIONS, lambda: derivation.conclusions) or (),
        unknown=when(Part.ASSUMPTIONS, lambda: derivation.unknown) or (),
        lemma=when(Part.LEMMA, lambda: _lemma(derivation)),
    )


def _told_at(at: At) -> frozenset[Part]:
    if isinstance(at, int):
        return frozenset((Part.ITERATION, Part.ASSUMPTIONS))
    return SETTLED | {Part.ASSUMPTIONS} | ({Part.ITERATION} if at == "n" else set())


def _noise(derivation: Derivation, sampling: Sampling, at: At) -> MeanOverBatches:
    """For symbolic n where the method is linear in the gradient and the sums close; else in the limit, or at a step."""
    place = at if at != "n" or derivation.method.is_linear else "limit"
    found = mean_over_batches(derivation.method, sampling, place)
    if isinstance(found, Missing) and at == "n":
        found = mean_over_batches(derivation.method, sampling, "limit")
    return _demanded(found)


def _settled_noise(derivation: Derivation, noise: MeanOverBatches) -> MeanOverBatches | None:
    if noise.place != "n":
        return None
    found = noise_in_mean(derivation.method, noise.sampling, "limit")
    return None if isinstance(found, Missing) else found


def _noise_steps(derivation: Derivation, sampling: Sampling | None) -> NoiseSteps | NoisePaths | None:
    if sampling is None:
        return None
    return noise_paths(derivation.method, sampling) or noise_steps(derivation.method, sampling)


def _stochastic(
    derivation: Derivation, sampling: Sampling, at: At, parts: Collection[Part]
) -> StochasticEquation | None:
    """After many steps of batches that are drawn anew; a paper has a lemma of its own for them."""
    if isinstance(at, int) or (sampling.batches is not None and Part.LEMMA not in parts):
        return None
    found = stochastic_equation(derivation.method)
    return None if isinstance(found, Missing) else found


def _demanded(result: Result | Missing) -> Result:
    if isinstance(result, Missing):
        raise DerivationError("".join(map(str, missing_prose(result, names_it=True))))
    return result


def _iteration(derivation: Derivation, at: At) -> Iteration:
    if at == "n":
        return Iteration(derivation.F, derivation.M)
    found = _demanded(derivation.limit if at == "limit" else _at_step(derivation, at))
    return Iteration(found.F, found.M)


def _at_step(derivation: Derivation, step: int) -> MemorylessIteration | Missing:
    """The iteration at a step whose exact numbers can be computed."""
    optimizer = derivation.optimizer
    powers = [part for variable in optimizer.momentum for part in (variable.beta**STEP, variable.b)]
    if derivation.order <= FINITE_ORDER and not isinstance(derivation.M, Missing):
        powers = [derivation.F, derivation.M]  # what the step is put into, and nothing else
    most = (derivation.order + 1) * max(power_digits(part, step) for part in powers)
    if most > MOST_POWER_DIGITS:
        reason = (
            f"{optimizer.name}: step {step}: with numbers for the betas the result has exact numbers of about "
            f"{most} digits"
        )
        ways = (Sentence.of("take a smaller step"), Sentence.of("leave the betas symbolic"), Advice.LIMIT)
        return Missing(Sentence.of(reason), ways)
    return derivation.at(step)


def _schedule(derivation: Derivation) -> Schedule | None:
    rate, slow = derivation.method.rate, derivation.slow_limit
    return None if rate is None or slow is None else Schedule(rate.factor, rate.settled, slow)


def _limit(derivation: Derivation, at: At) -> Limit | Missing:
    missing = stopped(derivation.method)
    if missing is not None:
        return missing
    coefficients, limit = derivation.coefficients, derivation.limit
    if isinstance(limit, Missing) and at != "limit":
        return limit
    return Limit(_demanded(coefficients), _demanded(limit).M)


def _straight(derivation: Derivation, at: At) -> StraightLine:
    method = derivation.method
    by_step = derivation.straight_at(at) if isinstance(at, int) else derivation.straight
    missing = stopped(method)
    limit = derivation.limit_straight if missing is None else missing
    return StraightLine(
        limit if at == "limit" else by_step,
        limit,
        is_expansion(method),
        keeps_bounds(method),
        bound_sentence(method),
    )


def _loss(derivation: Derivation) -> ModifiedLoss | Obstruction | Missing:
    found = derivation.modified_loss if derivation.obstruction is None else derivation.obstruction
    assert found is not None
    return found


def _sign(derivation: Derivation) -> Regularisation | None:
    loss = derivation.modified_loss
    return regularisation(derivation.method, loss) if isinstance(loss, ModifiedLoss) else None


def _equation(derivation: Derivation) -> ModifiedEquation | Missing:
    coefficients, loss = derivation.modified_equation, derivation.modified_loss
    if isinstance(coefficients, Missing):
        return coefficients
    missing = stopped(derivation.method)
    if missing is not None:
        return missing
    exact = isinstance(loss, ModifiedLoss) and loss.regime.is_exact
    flow = derivation.flow_loss if exact else None
    return ModifiedEquation(coefficients, None if isinstance(flow, Missing) else flow)


def _start(derivation: Derivation) -> StartShift | Missing:
    shifts = derivation.shift
    return shifts if isinstance(shifts, Missing) else StartShift(shifts)


def _lemma(derivation: Derivation) -> Lemma:
    method = derivation.method
    update, first = _demanded(derivation.F), finite_correction(method)
    # A cascade is known to first order at step n, whatever the order of its limit.
    first_alone = derivation.order == 1 or merged(method).is_cascade
    _demanded(update if first_alone or derivation.order > FINITE_ORDER else derivation.M)
    coefficients = () if first_alone else (first / LR, second_coefficient(method))
    histories = every_history(method, derivation.order)
    held = steps(method)
    divides = tuple(distinct_decays(method, tuple(written(held))))
    return Lemma(update, first, coefficients, held, histories, divides)
