"""The files of a paper section: X.tex, X.bib and the macros beside them, and X.pdf; each whole or not at all."""

from __future__ import annotations

import re
from pathlib import Path

from symmem.documents.account import Account
from symmem.documents.paper.compilation import compiler_path, typeset_document
from symmem.documents.paper.macros import FILE, MACROS
from symmem.documents.paper.section import macros_file, paper_bibliography, paper_section
from symmem.documents.paper.section import standalone as whole_document
from symmem.errors import CompilerError, SymmemError, quote
from symmem.output.files import is_ours, refuse_foreign, write_set

LOG = b"The log of pdflatex, written by symmem:\n\n"
_RESERVED = (".bib", ".pdf", ".log")


def paper_text(account: Account, *, standalone: bool) -> str:
    """The section, or the whole document, as one text."""
    return whole_document(account) if standalone else paper_section(account)


def write_paper(account: Account, output: str, *, standalone: bool, pdf: bool) -> list[str]:
    """Writes the files and returns their paths, in the order in which a person would look at them."""
    target = Path(output)
    if target.suffix in _RESERVED or target.name == FILE:
        raise SymmemError(f"-o {quote(output)}: that name is taken by a file beside it; choose X.tex")
    if pdf:
        compiler_path()  # a missing tool is said before anything is written
    bibliography, macros = target.with_suffix(".bib"), target.with_name(FILE)
    document = paper_text(account, standalone=standalone)
    notation = _notation(macros)
    contents: dict[str, str | bytes] = {
        output: document, str(bibliography): paper_bibliography(account), str(macros): notation,
    }  # fmt: skip
    # The notation holds all that an author's own had: it may be written over.
    root, named = str(target.parent), (output, str(macros))
    if not pdf:
        write_set(contents, root, named=named, makes_folders=False)
        return list(contents)
    printed, log = (str(target.with_suffix(ending)) for ending in (".pdf", ".log"))
    log = log if is_ours(log, LOG) else str(target.with_suffix(".symmem.log"))
    refuse_foreign({printed: b"%PDF"})  # said before the compiler runs
    result = typeset_document(document, {FILE: notation})
    if result.pdf is None:
        write_set({**contents, log: LOG + result.log.encode()}, root, named=named, makes_folders=False)
        raise CompilerError(f"pdflatex rejected {output}; its log is {log}")
    write_set({**contents, printed: result.pdf}, root, named=named, makes_folders=False)
    return [*contents, printed]


def _notation(path: Path) -> str:
    """The macros; of a file that is there an author's definitions stay, and what it lacks is added."""
    fresh = macros_file()
    try:
        there = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return fresh
    except (OSError, ValueError):
        raise SymmemError(f"{quote(str(path))} cannot be read; choose another place with -o") from None
    defined = set(re.findall(r"\\(?:\w*command\*?|def)\s*{?\\([A-Za-z]+)", there))
    lacking = [macro.line for macro in MACROS if macro.name not in defined]
    return there if not lacking else "\n".join([there.rstrip("\n"), *lacking]) + "\n"
