"""The JSON target: the record of a derivation, every formula for SymPy and for LaTeX."""

from __future__ import annotations

import json

from symmem.derivation.derivation import Derivation
from symmem.documents.json_record import record


def json_text(derivation: Derivation) -> str:
    return json.dumps(record(derivation, "n"), indent=2) + "\n"
