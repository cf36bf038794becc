"""The LaTeX target: a section of a paper, in one text or in several files."""

from __future__ import annotations

from symmem.derivation.derivation import Derivation
from symmem.documents.account import account_of
from symmem.documents.paper.files import paper_text, write_paper
from symmem.documents.paper.section import PARTS
from symmem.targets.registry import Options


def emit(derivation: Derivation, output: str | None, options: Options) -> str:
    """The section on standard output, or the files that were written."""
    account = account_of(derivation, parts=PARTS)
    if output is None:
        return paper_text(account, standalone=options.standalone)
    standalone = options.standalone or options.pdf
    written = write_paper(account, output, standalone=standalone, pdf=options.pdf)
    return "".join(f"{path}\n" for path in written)
