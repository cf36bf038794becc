"""The files of a paper: X.tex, X.bib, X.pdf and the macros, or a folder with a file for each part; all or none."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from symmem import __version__
from symmem.documents.paper.compilation import compiler_path, typeset_document
from symmem.documents.paper.macros import FILE, MACROS
from symmem.documents.paper.paper import Paper, macros_file
from symmem.errors import CompilerError, SymmemError, quote_path
from symmem.output.files import check_folder, is_ours, refuse_foreign, write_set
from symmem.output.rendering import render

LOG = b"The log of pdflatex, written by symmem:\n\n"
NAME = "paper"
"""The document of a folder, and its bibliography."""
_RESERVED = (".bib", ".log")


def paper_text(paper: Paper, *, standalone: bool) -> str:
    """The sections, or the whole document, as one text."""
    return paper.document() if standalone else paper.body


def is_folder(output: str, paper: Paper) -> bool:
    """Whether a name is that of a folder: it ends like one, or is one, or has no ending, for several methods."""
    several = len(paper.accounts) > 1 and not Path(output).suffix
    return several or output.endswith(("/", os.sep)) or Path(output).is_dir()


def write_paper(
    paper: Paper, output: str, *, standalone: bool, pdf: bool, beside: Mapping[str, str] | None = None
) -> list[str]:
    """Writes the files and returns their paths, in the order in which a person would look at them.

    ``beside`` are further files of ours by their names, such as proofs.
    """
    if not output:
        check_folder(output)
    if pdf:
        compiler_path()  # a missing tool is said before anything is written
    is_set = is_folder(output, paper)
    if is_set:
        target = Path(output) / f"{NAME}.tex"
        texts = {str(target): _inputs(paper), **_placed(target, paper)}
    else:
        # -o X.pdf names what a person wants to look at; its source stands beside it.
        target = Path(output).with_suffix(".tex") if pdf and output.endswith(".pdf") else Path(output)
        if target.suffix in (*_RESERVED, ".pdf") or target.name == FILE:
            raise SymmemError(
                f"-o {quote_path(output)}: that name is taken by a file beside it; choose X.tex"
            )
        texts = {str(target): paper_text(paper, standalone=standalone)}
    macros = str(target.with_name(FILE))
    contents: dict[str, str | bytes] = {
        **texts,
        str(target.with_suffix(".bib")): paper.bibliography,
        macros: _notation(Path(macros)),
        **{str(target.with_name(name)): text for name, text in (beside or {}).items()},
    }
    named = (output, macros) if _is_notation(macros) else (output,)
    if pdf:
        return _compiled(paper, target, contents, named, is_set)
    write_set(contents, str(target.parent), named=named, makes_folders=is_set)
    return list(contents)


def _placed(target: Path, paper: Paper) -> dict[str, str]:
    return {str(target.with_name(f"{name}.tex")): text for name, text in paper.parts.items()}


def _inputs(paper: Paper) -> str:
    """The document of a folder: the preamble, and an input for each part."""
    values = {
        "page": paper.layout.page,
        "file": FILE,
        "version": __version__,
        "parts": list(paper.parts),
        "bibliography": NAME,
        "has_table": bool(paper.compared) and not paper.layout.page.two_columns,
    }
    return render("latex/paper.tex.jinja", values)


def _compiled(
    paper: Paper, target: Path, contents: dict[str, str | bytes], named: tuple[str, ...], is_set: bool
) -> list[str]:
    """The files, and the PDF of the same text; where the compiler rejects it, its log in the place of the PDF."""
    printed, log = (str(target.with_suffix(ending)) for ending in (".pdf", ".log"))
    log = log if is_ours(log, LOG) else str(target.with_suffix(".symmem.log"))
    if printed not in named:
        refuse_foreign({printed: b"%PDF"})  # said before the compiler runs
    notation = contents[str(target.with_name(FILE))]
    assert isinstance(notation, str)
    result = typeset_document(paper.document(), {FILE: notation})
    root = str(target.parent)
    if result.pdf is None:
        write_set({**contents, log: LOG + result.log.encode()}, root, named=named, makes_folders=is_set)
        raise CompilerError(f"pdflatex rejected {target}; its log is {log}")
    write_set({**contents, printed: result.pdf}, root, named=named, makes_folders=is_set)
    return [*contents, printed]


def _is_notation(path: str) -> bool:
    """A file of macros as an author may have it, who defines one of ours: the new one holds all that it had."""
    there = Path(path)
    return there.is_file() and bool(_defined(there.read_text(encoding="utf-8")) & {m.command for m in MACROS})


def _defined(text: str) -> set[str]:
    return set(re.findall(r"\\(?:\w*command\*?|def)\s*{?\\([A-Za-z]+)", text))


def _notation(path: Path) -> str:
    """The macros; of a file that is there an author's definitions stay, and what it lacks is added."""
    fresh = macros_file()
    try:
        if path.exists() and not path.is_file():
            raise IsADirectoryError  # or a device, which may have no end
        there = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return fresh
    except (OSError, ValueError):
        raise SymmemError(f"{quote_path(str(path))} cannot be read; choose another place") from None
    defined = _defined(there)
    lacking = [macro.line for macro in MACROS if macro.command not in defined]
    return there if not lacking else "\n".join([there.rstrip("\n"), *lacking]) + "\n"
