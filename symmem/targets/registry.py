"""The targets: most are one text, the content of one file; latex and c can be several files."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from symmem.derivation.derivation import Derivation
from symmem.documents.account import account_of
from symmem.documents.json_form import PARTS as JSON_PARTS
from symmem.documents.json_form import json_data, json_text
from symmem.documents.paper.files import paper_text, write_paper
from symmem.documents.paper.section import PARTS as PAPER_PARTS
from symmem.output.files import write_whole
from symmem.targets.c.layout import write_c
from symmem.targets.jax.module import jax_module
from symmem.targets.numpy.module import numpy_module
from symmem.targets.torch.module import torch_module


def _json(derivation: Derivation) -> str:
    return json_text(json_data(account_of(derivation, parts=JSON_PARTS)))


TEXTS: Mapping[str, Callable[[Derivation], str]] = {
    "numpy": numpy_module,
    "torch": torch_module,
    "jax": jax_module,
    "json": _json,
}


def emit(
    derivation: Derivation,
    target: str,
    output: str | None = None,
    *,
    standalone: bool = False,
    pdf: bool = False,
) -> str:
    """Writes what goes to files; returns what goes to standard output: the text, or the names of several files."""
    if target == "latex" and output is None:
        return paper_text(account_of(derivation, parts=PAPER_PARTS), standalone=standalone)
    if output is None:
        return TEXTS[target](derivation)
    if target == "latex":
        account = account_of(derivation, parts=PAPER_PARTS)
        written = write_paper(account, output, standalone=standalone or pdf, pdf=pdf)
    elif target == "c":
        written = write_c(derivation, output)
    else:
        write_whole(output, TEXTS[target](derivation))
        return ""
    return "".join(f"{path}\n" for path in written)
