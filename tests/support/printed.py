"""What pdflatex says of a document, for all tests of papers."""

from __future__ import annotations

import re
import subprocess

from machine import needs

import symmem
from symmem.documents.account import Account, account_of
from symmem.documents.paper.compilation import typeset_document
from symmem.documents.paper.section import PARTS

COMPLAINTS = re.compile(
    r"^(?:!|Overfull|LaTeX Warning: .*(?:undefined|multiply|Rerun)|Missing character).*", re.MULTILINE
)


def told(optimizer: symmem.Optimizer, order: int = 1) -> Account:
    """What a paper is written from."""
    return account_of(symmem.derive(optimizer, order), parts=PARTS)


def complaints(source: str) -> list[str]:
    result = typeset_document(source, {})
    found = COMPLAINTS.findall(result.log)
    return found or ([] if result.pdf and result.pdf.startswith(b"%PDF") else ["no PDF"])


def needs_class(name: str) -> None:
    """A class of LaTeX that TeX finds."""
    needs("kpsewhich")
    found = subprocess.run(
        ["kpsewhich", f"{name}.cls"], capture_output=True, check=False, text=True, timeout=60
    )
    needs(found.stdout.strip() or f"{name}.cls")
