"""An Account as JSON: every expression as SymPy text with the atoms of the algebra, and as LaTeX."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sympy import Expr

from symmem import __version__
from symmem.algebra.results import Missing
from symmem.derivation.loss.gradient_map_loss import GradientMapLoss
from symmem.derivation.loss.verdicts import ModifiedLoss, Obstruction
from symmem.derivation.loss.witness import Witness
from symmem.derivation.noise.mean_over_batches import MeanOverBatches
from symmem.derivation.noise.stochastic import StochasticEquation
from symmem.derivation.quadratic import Quadratic
from symmem.documents.account import Account
from symmem.documents.latex_spelling import LatexSpelling
from symmem.documents.parts import (
    SETTLED,
    Limit,
    ModifiedEquation,
    Part,
    Schedule,
    StartShift,
    StraightLine,
)
from symmem.notation.decimals import long_integers

SCHEMA = 1
PARTS = SETTLED | {Part.ITERATION, Part.ASSUMPTIONS}
"""What the record tells at every step."""
ATOMS = {
    "theta": r"\boldsymbol{\theta}",
    "grad": r"\nabla \mathcal{L}",
    "loss": r"\mathcal{L}",
    "lr": "h",
    "n": "n",
    "s": "s",
}


def json_text(data: dict[str, Any]) -> str:
    """The data as the text of a file."""
    return json.dumps(data, indent=2) + "\n"


def json_data(account: Account) -> dict[str, Any]:
    """The account as plain data, ready for ``json.dumps``; a part that does not exist is None."""
    spelling = LatexSpelling.of(account.optimizer)
    iteration, limit, start = account.iteration, account.limit, account.start
    flow = account.modified_equation
    settled = (limit.F, limit.M) if isinstance(limit, Limit) else (None, None)
    data = {
        "schema": SCHEMA,
        "symmem": __version__,
        "optimizer": account.optimizer.name,
        "order": account.order,
        "at": account.at,
        "symbols": {**ATOMS, **account.optimizer.symbols},
        "memoryless": _one(None if iteration is None else iteration.F, spelling),
        "correction": _one(None if iteration is None else iteration.M, spelling),
        "limit": dict(zip(("memoryless", "correction"), (_one(x, spelling) for x in settled), strict=True)),
        "F": _all(limit.coefficients, spelling) if isinstance(limit, Limit) else None,
        "G": _all(flow.coefficients, spelling) if isinstance(flow, ModifiedEquation) else None,
        "straight": _straight(account.straight, spelling),
        "modified_loss": loss_data(account.modified_loss, spelling),
        "gradient_map_loss": map_loss_data(account.gradient_map_loss, spelling),
        "shift": _all(start.shifts, spelling) if isinstance(start, StartShift) else None,
        "assumptions": [str(each) for each in account.assumptions],
        "conclusions": [str(each) for each in account.conclusions],
        "unknown": [str(each) for each in account.unknown],
    }
    if account.schedule is not None:
        data["schedule"] = _schedule(account.schedule, spelling)
    if account.noise is not None:
        later = account.settled_noise
        data["noise"] = {
            **_noise(account.noise, account.stochastic, spelling),
            "limit": None if later is None else _mean(later, spelling),
        }
    if account.quadratic is not None:
        data["quadratic"] = _quadratic(account.quadratic, spelling)
    return data


def expression_data(expression: Expr, spelling: LatexSpelling) -> dict[str, str]:
    """An expression as SymPy prints it, and as LaTeX."""
    with long_integers():
        return {"sympy": str(expression), "latex": spelling.latex(expression)}


def loss_data(loss: ModifiedLoss | Obstruction | Missing | None, spelling: LatexSpelling) -> dict[str, Any]:
    """The modified loss, or what prevents it."""
    if isinstance(loss, ModifiedLoss):
        return {
            "verdict": "found",
            "potential": expression_data(loss.potential, spelling),
            "preconditioner": expression_data(loss.preconditioner, spelling),
            "regime": str(loss.regime),
            "decay": expression_data(loss.decay, spelling),
            "rate": None if loss.rate is None else str(loss.rate),
        }
    terms = loss.terms if isinstance(loss, Obstruction) else ()
    reason = loss.reason if isinstance(loss, Obstruction) else loss
    order = loss.order if isinstance(loss, Obstruction) else 0
    # Where there is no limit of many steps there is no loss of it either.
    denied = isinstance(loss, Missing) or (isinstance(loss, Obstruction) and loss.is_denial)
    return {
        "verdict": "none" if denied else "not found",
        "obstruction": str(reason),
        "order": order,
        "terms": _all(terms, spelling),
        "witness": _witness(loss.witness if isinstance(loss, Obstruction) else None),
    }


def map_loss_data(
    found: GradientMapLoss | Obstruction | Missing | None, spelling: LatexSpelling
) -> dict[str, Any] | None:
    """The loss inside the gradient map; None where there is none, or none was found."""
    if not isinstance(found, GradientMapLoss):
        return None
    return {
        "potential": expression_data(found.potential, spelling),
        "regime": str(found.regime),
        "running": _one(found.running, spelling),
        "map": expression_data(found.map.map, spelling),
        "map_potential": expression_data(found.map.primitive, spelling),
        "decay": expression_data(found.map.decay, spelling),
    }


def _witness(found: Witness | None) -> dict[str, Any] | None:
    """The loss is ``sum_j sin(a_j . x + 1) + (a_j . x)^2/2`` with the rows a_j; entries count from 0."""
    if found is None:
        return None
    return {
        "field": str(found.what),
        "rows": [[str(entry) for entry in row] for row in found.rows],
        "point": [str(entry) for entry in found.point],
        "values": {name: str(value) for name, value in found.values},
        "entries": list(found.entries),
        "jacobian": list(found.jacobian),
        "difference": found.gap,
        "theta_taken_off": found.decay,
    }


def _straight(line: StraightLine | None, spelling: LatexSpelling) -> dict[str, Any] | None:
    if line is None:
        return None
    update, limit = _one(line.update, spelling), _one(line.limit, spelling)
    return {"update": update, "limit": limit, "keeps_bounds": line.keeps_bounds}


def _one(expression: Expr | Missing | None, spelling: LatexSpelling) -> dict[str, str] | None:
    return expression_data(expression, spelling) if isinstance(expression, Expr) else None


def _all(expressions: Iterable[Expr], spelling: LatexSpelling) -> list[dict[str, str]]:
    return [expression_data(expression, spelling) for expression in expressions]


def _schedule(found: Schedule, spelling: LatexSpelling) -> dict[str, Any]:
    """The rate, its limit, and the limit of many steps in which the rate is a symbol."""
    slow = None if isinstance(found.slow, Missing) else found.slow
    return {
        "rate": expression_data(found.rate, spelling),
        "settled": _one(found.settled, spelling),
        "slow": slow
        and {
            "memoryless": expression_data(slow.F, spelling),
            "correction": _one(slow.M, spelling),
            "leading": expression_data(slow.leading, spelling),
        },
    }


def _noise(
    found: MeanOverBatches, stochastic: StochasticEquation | None, spelling: LatexSpelling
) -> dict[str, Any]:
    """What the noise of mini-batches adds: to the frozen update, through memory, over one epoch, as diffusion."""
    epoch, batches = found.epoch, found.sampling.batches
    return {
        "at": found.place,
        "replacement": batches is None,
        "batches": None if batches is None else str(batches),
        **_mean(found, spelling),
        "long_memories": [
            {
                "variable": str(each.symbol),
                "mean": expression_data(each.mean, spelling),
                "memoryless": expression_data(each.update, spelling),
                "correction": expression_data(each.correction, spelling),
                "turns_where_zero": expression_data(each.change, spelling),
            }
            for each in found.held
        ],
        "diffusion": stochastic and expression_data(stochastic.diffusion, spelling),
        "epoch": epoch and {"variance": _one(epoch.variance, spelling), "shift": _one(epoch.shift, spelling)},
    }


def _mean(found: MeanOverBatches, spelling: LatexSpelling) -> dict[str, Any]:
    pairs = found.pairs
    return {
        "memoryless": expression_data(found.frozen, spelling),
        "correction": expression_data(found.memory, spelling),
        "modified_loss": _one(found.loss, spelling),
        "pairs": pairs
        and {"equal": _one(pairs.equal, spelling), "different": _one(pairs.different, spelling)},
    }


def _quadratic(summed: Quadratic, spelling: LatexSpelling) -> dict[str, Any]:
    return {
        "equation": expression_data(summed.equation, spelling),
        "root": _one(summed.root, spelling),
        "series": _all(summed.series, spelling),
        "flow": _all(summed.flow, spelling),
        "discriminant": expression_data(summed.discriminant, spelling),
        "radius": summed.radius,
        "values": {name: str(value) for name, value in summed.values},
    }
