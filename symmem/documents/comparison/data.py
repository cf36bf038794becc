"""A comparison as plain data for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symmem import __version__
from symmem.documents.comparison.entry import Compared
from symmem.documents.json_form import SCHEMA, expression_data, loss_data, map_loss_data
from symmem.documents.latex_spelling import LatexSpelling


def comparison_data(entries: Sequence[Compared]) -> dict[str, Any]:
    """``sign_holds`` is "everywhere" or "at the defaults"."""
    return {"schema": SCHEMA, "symmem": __version__, "optimizers": [_entry(entry) for entry in entries]}


def _entry(entry: Compared) -> dict[str, Any]:
    spelling = LatexSpelling.of(entry.account.optimizer)
    holds = None if entry.sign is None else "at the defaults" if entry.depends else "everywhere"
    return {
        "name": entry.account.optimizer.name,
        "title": entry.account.optimizer.title,
        "correction": None if entry.correction is None else expression_data(entry.correction, spelling),
        "sign": None if entry.sign is None else "-0+"[entry.sign + 1],
        "sign_holds": holds,
        "modified_loss": loss_data(entry.account.modified_loss, spelling),
        "gradient_map_loss": map_loss_data(entry.account.gradient_map_loss, spelling),
    }
