"""An Account as JSON: every expression as SymPy text with the atoms of the algebra, and as LaTeX."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sympy import Expr

from symmem import __version__
from symmem.algebra.results import Missing
from symmem.derivation.quadratic import Quadratic
from symmem.derivation.verdicts import ModifiedLoss, Obstruction
from symmem.documents.account import Account
from symmem.documents.parts import SETTLED, Limit, ModifiedEquation, Part, StartShift
from symmem.documents.spelling import Spelling
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
    spelling = Spelling.of(account.optimizer)
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
        "modified_loss": loss_data(account.modified_loss, spelling),
        "shift": _all(start.shifts, spelling) if isinstance(start, StartShift) else None,
        "assumptions": [str(each) for each in account.assumptions],
        "conclusions": [str(each) for each in account.conclusions],
        "unknown": [str(each) for each in account.unknown],
    }
    if account.quadratic is not None:
        data["quadratic"] = _quadratic(account.quadratic, spelling)
    return data


def expression_data(expression: Expr, spelling: Spelling) -> dict[str, str]:
    """An expression as SymPy prints it, and as LaTeX."""
    with long_integers():
        return {"sympy": str(expression), "latex": spelling.latex(expression)}


def loss_data(loss: ModifiedLoss | Obstruction | Missing | None, spelling: Spelling) -> dict[str, Any]:
    """The modified loss, or what prevents it."""
    if isinstance(loss, ModifiedLoss):
        return {
            "potential": expression_data(loss.potential, spelling),
            "preconditioner": expression_data(loss.preconditioner, spelling),
            "regime": str(loss.regime),
            "decay": expression_data(loss.decay, spelling),
            "rate": None if loss.rate is None else str(loss.rate),
        }
    terms = loss.terms if isinstance(loss, Obstruction) else ()
    reason = loss.reason if isinstance(loss, Obstruction) else loss
    order = loss.order if isinstance(loss, Obstruction) else 0
    return {"obstruction": str(reason), "order": order, "terms": _all(terms, spelling)}


def _one(expression: Expr | Missing | None, spelling: Spelling) -> dict[str, str] | None:
    return expression_data(expression, spelling) if isinstance(expression, Expr) else None


def _all(expressions: Iterable[Expr], spelling: Spelling) -> list[dict[str, str]]:
    return [expression_data(expression, spelling) for expression in expressions]


def _quadratic(summed: Quadratic, spelling: Spelling) -> dict[str, Any]:
    return {
        "equation": expression_data(summed.equation, spelling),
        "root": _one(summed.root, spelling),
        "series": _all(summed.series, spelling),
        "flow": _all(summed.flow, spelling),
        "discriminant": expression_data(summed.discriminant, spelling),
        "radius": summed.radius,
        "values": {name: str(value) for name, value in summed.values},
    }
