"""A derivation as JSON: every expression as SymPy text with the atoms of the algebra, and as LaTeX."""

from __future__ import annotations

from typing import Any

from sympy import Expr

from symmem import __version__
from symmem.derivation.derivation import Derivation
from symmem.documents.decimals import long_integers
from symmem.documents.report import At, iteration_at
from symmem.errors import DerivationError
from symmem.notation.latex import latex

SCHEMA = 1
ATOMS = {
    "theta": r"\boldsymbol{\theta}",
    "grad": r"\nabla \mathcal{L}",
    "loss": r"\mathcal{L}",
    "lr": "h",
    "n": "n",
    "s": "s",
}


def record(derivation: Derivation, at: At, *, quadratic: bool = False) -> dict[str, Any]:
    """The derivation as plain data, ready for ``json.dumps``; a part that does not exist is None."""
    writer = RecordWriter(derivation)
    if at == "n":  # at a high order symbolic n may be out of reach where the limit is not
        memoryless, correction = writer.one("F"), writer.one("M")
    else:
        iteration = iteration_at(derivation, at)
        memoryless, correction = writer.write(iteration.F), writer.write(iteration.M)
    whole = {
        "schema": SCHEMA,
        "symmem": __version__,
        "optimizer": derivation.optimizer.name,
        "order": derivation.order,
        "at": at,
        "symbols": {**ATOMS, **derivation.optimizer.symbols},
        "memoryless": memoryless,
        "correction": correction,
        "limit": writer.limit(),
        "F": writer.all("coefficients"),
        "G": writer.all("modified_equation"),
        "modified_loss": writer.modified_loss(),
        "shift": writer.all("shift"),
        "assumptions": [str(item) for item in derivation.assumptions],
    }
    if quadratic:
        whole["quadratic"] = writer.quadratic()
    return whole


class RecordWriter:
    """Writes the expressions of one derivation."""

    def __init__(self, derivation: Derivation) -> None:
        self._derivation = derivation

    def write(self, expression: Expr) -> dict[str, str]:
        optimizer = self._derivation.optimizer
        with long_integers():
            written = latex(
                expression, names=optimizer.symbols, functions=self._derivation.optimizer.function_symbols
            )
            return {"sympy": str(expression), "latex": written}

    def one(self, part: str) -> dict[str, str] | None:
        """An expression; None where it does not exist."""
        try:
            expression = getattr(self._derivation, part)
        except DerivationError:
            return None
        return self.write(expression)

    def all(self, part: str) -> list[dict[str, str]] | None:
        """A tuple of expressions; None where it does not exist."""
        try:
            expressions = getattr(self._derivation, part)
        except DerivationError:
            return None
        return [self.write(expression) for expression in expressions]

    def limit(self) -> dict[str, Any]:
        try:
            limit = self._derivation.limit
        except DerivationError:
            return {"memoryless": None, "correction": None}
        return {"memoryless": self.write(limit.F), "correction": self.write(limit.M)}

    def quadratic(self) -> dict[str, Any]:
        found = self._derivation.quadratic
        return {
            "equation": self.write(found.equation),
            "root": None if found.root is None else self.write(found.root),
            "series": [self.write(value) for value in found.series],
            "flow": [self.write(value) for value in found.flow],
            "discriminant": self.write(found.discriminant),
            "radius": found.radius,
            "values": {name: str(value) for name, value in found.values},
        }

    def modified_loss(self) -> dict[str, Any]:
        try:
            found, obstruction = self._derivation.modified_loss, self._derivation.obstruction
        except DerivationError as error:
            return {"obstruction": str(error), "order": 0, "terms": []}
        if obstruction is not None:
            terms = [self.write(term) for term in obstruction.terms]
            return {"obstruction": str(obstruction.reason), "order": obstruction.order, "terms": terms}
        assert found is not None
        return {
            "potential": self.write(found.potential),
            "preconditioner": self.write(found.preconditioner),
            "regime": str(found.regime),
            "decay": self.write(found.decay),
            "rate": None if found.rate is None else str(found.rate),
        }
