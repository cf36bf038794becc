"""The mean over mini-batches, for a paper: the displays of lemma and proof (mathematics.md section 7).

The words of the proof stand in ``templates/latex/noise.tex.jinja``; the formulas of the optimizer are made here.
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr

from symmem.derivation.noise.epoch import Epoch
from symmem.derivation.noise.linear_noise import PairCounts
from symmem.derivation.noise.long_memory import LongMemory
from symmem.derivation.noise.mean_over_batches import MeanOverBatches
from symmem.derivation.noise.noise_steps import NoisePaths, NoiseSteps, Numbered
from symmem.documents.account import Account
from symmem.documents.noise import (
    F_LONG,
    F_NOISE,
    LOSS_NOISE,
    M_LONG,
    M_NOISE,
    averages,
    drawn,
    end_of_epoch,
    stochastic_velocity,
)
from symmem.documents.paper.consequences import Values
from symmem.documents.paper.displays import Row, Writer
from symmem.documents.paper.settled import Place, Settled
from symmem.documents.parts import ModifiedEquation
from symmem.documents.spelling import noise_letter
from symmem.notation.formula import Formula, Number
from symmem.notation.statement import Applied, Indexed, Letter, Listed, Word, times


def noise(account: Account, writer: Writer, settled: Settled) -> Values:
    """The lemma; nothing where no noise was asked for."""
    found, name = account.noise, account.optimizer.name
    if found is None:
        return {"exists": False}
    rows = [
        Row(F_NOISE, (found.frozen,), f"eq:{name}-noise-frozen"),
        Row(M_NOISE, (found.memory,), f"eq:{name}-noise-memory"),
    ]
    later = account.settled_noise
    return {
        "exists": True,
        "letter": noise_letter(account.optimizer),
        "later": "" if later is None else _later(later, writer, settled),
        "epoch": ""
        if found.epoch is None
        else _epoch(found.epoch, end_of_epoch(found.sampling), name, writer),
        "drawn": writer.sentence(drawn(found.sampling)),
        "averages": [writer.sentence(each) for each in averages(found)],
        **settled.values(Place.NOISE, rows, name, writer),
        "counts": "" if found.pairs is None else _counts(found.pairs, writer),
        "is_settled": found.place == "limit",
        "replacement": found.sampling.batches is None,
        "curved": account.noise_steps is not None,
        "steps": _steps(account.noise_steps, writer) if isinstance(account.noise_steps, NoiseSteps) else "",
        "paths": _paths(account.noise_steps, writer) if isinstance(account.noise_steps, NoisePaths) else "",
        "stochastic": _stochastic(account, writer),
        "held": [_held(each, name, writer) for each in found.held],
    }


def _later(later: MeanOverBatches, writer: Writer, settled: Settled) -> Values:
    """After many steps, where the lemma is for step n."""
    loss = [] if later.loss is None else [Row(LOSS_NOISE, (later.loss,))]
    memory = settled.display([Row(M_NOISE, (later.memory,))], writer)
    return {"memory": memory, "loss": loss and writer.display(loss)}


def _epoch(found: Epoch, end: Formula, name: str, writer: Writer) -> Values | str:
    """One epoch, in closed form or for a number of batches; nothing where neither of its numbers is known."""
    rows = []
    if isinstance(found.variance, Expr):
        rows.append(Row(Applied(Word("Var"), (end,)), (found.variance,), f"eq:{name}-epoch-variance"))
    shift = isinstance(found.shift, Expr)
    if isinstance(found.shift, Expr):
        rows.append(Row(Letter("D"), (found.shift,), f"eq:{name}-epoch-mean"))
    if not rows:
        return ""
    return {"display": writer.display(rows), "varies": len(rows) > shift, "shifts": shift}


def _counts(pairs: PairCounts, writer: Writer) -> str:
    values = (("eq", pairs.equal), ("neq", pairs.different))
    return writer.display([Row(Indexed(Letter("C"), Word(which)), (value,)) for which, value in values])


def _steps(steps: NoiseSteps, writer: Writer) -> Values:
    """The slopes of what is remembered, and the sums over the past."""
    slopes = [*_rows("g'", steps.slopes), *_rows("g''", steps.curvatures)]
    sums = [
        *_rows("K", steps.pairs),
        *_rows("s", steps.lags),
        *_rows("e", steps.common),
        *_rows("x", steps.seen),
        *_rows("z", steps.repeated),
    ]
    return {"slopes": writer.display(slopes), "sums": writer.display(sums)}


def _paths(paths: NoisePaths, writer: Writer) -> str:
    """The slopes of a cascade along each way, with gain and lag."""
    return writer.display([*_rows("v", paths.slopes), *_rows("gain", paths.gains), *_rows("s", paths.lags)])


def _stochastic(account: Account, writer: Writer) -> Values | str:
    """Drift and diffusion; nothing where the modified equation is not known."""
    found, equation = account.stochastic, account.modified_equation
    if found is None or not isinstance(equation, ModifiedEquation):
        return ""
    rows = [Row(Letter("J"), (found.diffusion,), f"eq:{account.optimizer.name}-diffusion")]
    if found.drift != 0:
        rows.append(Row(F_NOISE, (found.drift,)))
    return {
        "equation": writer.sentence((stochastic_velocity(found, len(equation.coefficients)),)),
        "display": writer.display(rows),
        "drifts": found.drift != 0,
    }


def _held(found: LongMemory, name: str, writer: Writer) -> Values:
    """A memory of squares that is long: what it holds, the update with it, what its lag adds, and its change."""
    key = f"{name}-long-{found.symbol}"
    along = times(Letter("D"), Applied(Letter("q"), (F_LONG,)))
    rows = [
        Row(Letter("q"), (found.mean,)),
        Row(F_LONG, (found.update,), f"eq:{key}-update"),
        Row(M_LONG, (found.correction,), f"eq:{key}-lag"),
        Row(along, (found.change,)),
    ]
    return {"key": key, "symbol": writer.sentence((found.symbol,)), "display": writer.display(rows)}


def _rows(letter: str, values: Numbered) -> list[Row]:
    return [Row(_named(letter, places), (value,)) for places, value in values]


def _named(letter: str, places: Sequence[int]) -> Formula:
    numbers = tuple(Number(place) for place in places)
    return Indexed(Letter(letter), numbers[0] if len(numbers) == 1 else Listed(numbers))
