"""The JSON target: the record of a derivation, every formula for SymPy and for LaTeX."""

from __future__ import annotations

from symmem.derivation.derivation import Derivation
from symmem.documents import json_form
from symmem.documents.account import account_of
from symmem.method.sampling import Sampling


def json_text(derivation: Derivation, *, minibatch: bool = False) -> str:
    """The text that ``symmem derive --format json`` prints too; ``minibatch``: with the noise of batches."""
    sampling = Sampling() if minibatch else None
    account = account_of(derivation, sampling=sampling, parts=json_form.PARTS)
    return json_form.json_text(json_form.json_data(account))
