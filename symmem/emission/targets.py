"""The targets that are one text: each turns a derivation into the content of one file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from symmem.derivation.derivation import Derivation
from symmem.emission.jax_module import jax_module
from symmem.emission.numpy_module import numpy_module
from symmem.emission.record import record
from symmem.emission.torch_module import torch_module


def _json(derivation: Derivation) -> str:
    return json.dumps(record(derivation, "n"), indent=2) + "\n"


TEXTS: Mapping[str, Callable[[Derivation], str]] = {
    "numpy": numpy_module,
    "torch": torch_module,
    "jax": jax_module,
    "json": _json,
}
