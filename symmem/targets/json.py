"""The JSON target: the record of a derivation, every formula for SymPy and for LaTeX."""

from __future__ import annotations

from symmem.derivation.derivation import Derivation
from symmem.documents import json_form
from symmem.documents.account import account_of


def json_text(derivation: Derivation) -> str:
    """The text that ``symmem derive --format json`` prints too."""
    return json_form.json_text(json_form.json_data(account_of(derivation, parts=json_form.PARTS)))
