"""What mini-batches add, as sections: the mean over their draw, one epoch of them, the stochastic equation."""

from __future__ import annotations

from sympy import Expr, Integer
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import total
from symmem.algebra.noise_heads import NOISY_HESSIAN, VARIANCE_ALONG, VARIANCE_GRADIENT
from symmem.algebra.results import Missing
from symmem.algebra.symbols import BATCHES, VARIANCE
from symmem.derivation.noise.epoch import Epoch
from symmem.derivation.noise.long_memory import LongMemory
from symmem.derivation.noise.mean_over_batches import MeanOverBatches
from symmem.derivation.noise.stochastic import StochasticEquation
from symmem.documents.account import Account
from symmem.documents.parts import ModifiedEquation
from symmem.documents.prose import Prose, bracketed_step, missing_prose
from symmem.documents.section import Section, equations
from symmem.method.sampling import Sampling
from symmem.notation.formula import (
    Atom,
    Call,
    Derivative,
    Formula,
    Number,
    Power,
    Root,
    negated,
)
from symmem.notation.statement import (
    Applied,
    Equality,
    Indexed,
    Iterate,
    Letter,
    Velocity,
    Word,
    added,
    series,
    times,
)

XI, W, SMALL_V = Atom("batch_noise"), Atom("w"), Atom("v")
F, M = Letter("F"), Letter("M")
F_NOISE, M_NOISE = Indexed(F, XI), Indexed(M, XI)
F_LONG, M_LONG = Indexed(F, Word("long")), Indexed(M, Word("long"))
LOSS_NOISE = Indexed(Letter("modified loss"), XI)


def noise_sections(account: Account) -> tuple[Section, ...]:
    """Nothing where no sampling was asked for."""
    noise = account.noise
    if noise is None:
        return ()
    later = account.settled_noise
    more = [] if later is None else [_settled_section(later)]
    more += [_long_section(each) for each in noise.held]
    more += [] if noise.epoch is None else [_epoch_section(noise.epoch, end_of_epoch(noise.sampling))]
    if account.stochastic is not None and isinstance(account.modified_equation, ModifiedEquation):
        more.append(_stochastic_section(account.stochastic, len(account.modified_equation.coefficients)))
    return (_mean_section(noise), *more)


def _mean_section(noise: MeanOverBatches) -> Section:
    lead: Prose = (
        "The mean over the draw of the batches, given the iterate, to second order in the noise ", XI,
        " of a batch's gradient: ", bracketed_step(F, F_NOISE, M, M_NOISE), ".",
    )  # fmt: skip
    left_out: Prose = (
        "Noise beyond its second order is left out: it has to be small on the scale on which ",
        Letter("Phi"),
        " bends; where the parameters do not set one, that is the gradient.",
    )
    notes = (
        *_in_loss(noise),
        drawn(noise.sampling),
        *_many_steps(noise),
        *averages(noise),
        *((left_out,) if noise.frozen != 0 else ()),
    )
    return Section("Mini-batches", lead, equations(*_rows(noise)), notes)


def _settled_section(noise: MeanOverBatches) -> Section:
    notes = (*_in_loss(noise), *_many_steps(noise))
    return Section("Mini-batches after many steps", (), equations(*_rows(noise)), notes)


def _rows(noise: MeanOverBatches) -> list[tuple[Formula, Expr]]:
    rows: list[tuple[Formula, Expr]] = []
    if noise.pairs is not None:
        rows += [(_counts("eq"), noise.pairs.equal), (_counts("neq"), noise.pairs.different)]
    rows += [(F_NOISE, noise.frozen), (M_NOISE, noise.memory)]
    return rows if noise.loss is None else [*rows, (LOSS_NOISE, noise.loss)]


def _in_loss(noise: MeanOverBatches) -> tuple[Prose, ...]:
    return () if noise.loss is None else ((LOSS_NOISE, " is what noise adds to the modified loss."),)


def _many_steps(noise: MeanOverBatches) -> tuple[Prose, ...]:
    if noise.place != "limit" or noise.sampling.batches is None:
        return ()
    if noise.sampling.batches != BATCHES:
        return (("The epoch has to be long beside the memory: these are many steps of one.",),)
    return ((BATCHES, " has to be large beside the memory: these are many steps of one epoch."),)


def _long_section(found: LongMemory) -> Section:
    """Where the effect of a long memory of squares turns: at any size of the noise (mathematics.md section 7)."""
    lead: Prose = (
        found.symbol, " holds ", found.mean, " in the mean. Where this memory is long beside all others the update is ",
        F_LONG, ", and the lag of the memory adds ", M_LONG, " to leading order, however large the noise is.",
    )  # fmt: skip
    turns: Prose = (
        "This effect turns, entry by entry, at the batch size at which ", found.symbol,
        " stands still along the step, where the last factor is 0.",
    )  # fmt: skip
    return Section(
        "A long memory of squares",
        lead,
        equations((F_LONG, found.update), (M_LONG, found.correction)),
        (turns,),
    )


def _counts(which: str) -> Formula:
    return Indexed(Letter("C"), Word(which))


def drawn(sampling: Sampling) -> Prose:
    """How the batches come."""
    if sampling.batches is None:
        return ("Every step draws its batch anew, with replacement.",)
    if sampling.batches == BATCHES:
        return (
            "An epoch has ",
            BATCHES,
            " batches in random order, without replacement, and memory starts empty.",
        )
    return (
        f"An epoch has {sampling.batches} batches in random order, without replacement, and memory starts empty.",
    )


def averages(noise: MeanOverBatches) -> tuple[Prose, ...]:
    """What the averages in the formulas mean, those that are there."""
    atoms = noise.frozen.atoms(AppliedUndef) | noise.memory.atoms(AppliedUndef)
    seen = {atom.func for atom in atoms}
    weighted = times(W, Atom("variance"))
    meanings: list[Prose] = [(Equality(Atom("variance"), _mean(Power(XI, Number(2)))), ", entry by entry.")]
    if VARIANCE_ALONG in seen:
        along = Call("variance_along", (SMALL_V,))
        meanings.append((along, " is the change of ", VARIANCE, " along ", SMALL_V, "."))
    if VARIANCE_GRADIENT in seen:
        gradient = Call("variance_gradient", (W,))
        words = " is the gradient of the sum of the entries of "
        meanings.append((gradient, words, weighted, ", ", W, " held fixed."))
    if NOISY_HESSIAN in seen:
        inner = Derivative("loss", 2, None, (times(W, XI),))
        meanings.append((Equality(Call("noisy_hessian", (W,)), _mean(XI, inner)), "."))
    return tuple(meanings)


def _mean(*factors: Formula) -> Formula:
    return Applied(Letter("E"), (times(*factors),))


def end_of_epoch(sampling: Sampling) -> Formula:
    """``theta_N``."""
    number = sampling.batches
    return Iterate(Number(int(number)) if isinstance(number, Integer) else Atom("batches"))


def _epoch_section(found: Epoch, end: Formula) -> Section:
    rows: list[tuple[Formula, Expr]] = []
    notes: list[Prose] = []
    if isinstance(found.variance, Missing):
        notes.append(("The variance over the order of the batches: ", *missing_prose(found.variance), "."))
    else:
        rows.append((Applied(Word("Var"), (end,)), found.variance))
        words = "No memory tells the batches apart: the variance over their order is of the order of "
        if found.variance == 0:
            notes.append((words, Power(Atom("lr"), Number(4)), "."))
    if isinstance(found.shift, Missing):
        notes.append(("The mean of an epoch: ", *missing_prose(found.shift), "."))
    elif found.shift is not None:
        rows.append((Letter("D"), found.shift))
        notes.append(
            ("The mean of ", end, " is that of the full batch minus ", Power(Atom("lr"), Number(2)), " ", Letter("D"),
             "/2 times the gradient of ", total(VARIANCE), ".")
        )  # fmt: skip
    lead: Prose = (
        "Over one epoch, from the same start and with all else frozen: ",
        end,
        " varies with the order of the batches.",
    )
    return Section("One epoch", lead, equations(*rows), tuple(notes))


def stochastic_velocity(found: StochasticEquation, count: int) -> Formula:
    """``theta' = G_0 + h G_1 - F_xi + sqrt(h) J w``, with so many coefficients of the modified equation."""
    noise = times(Root(Atom("lr")), Letter("J"), W)
    drift = () if found.drift == 0 else (negated(F_NOISE),)
    return Equality(Velocity(), added(series("G", range(count)), *drift, noise))


def _stochastic_section(found: StochasticEquation, count: int) -> Section:
    lead: Prose = (
        "After many steps the iterates follow, in law, ", stochastic_velocity(found, count), ", where ", W,
        " is white noise with the covariance of ", XI, ", in the sense of Ito.",
    )  # fmt: skip
    rows: list[tuple[Formula, Expr]] = [(Letter("J"), found.diffusion)]
    if found.drift == 0:
        return Section("Stochastic equation", lead, equations(*rows), ())
    left_out: Prose = (F_NOISE, " is that of many steps; terms of the order of ", times(Atom("lr"), Atom("variance")),
                       " are left out.")  # fmt: skip
    return Section("Stochastic equation", lead, equations(*rows), (left_out,))
