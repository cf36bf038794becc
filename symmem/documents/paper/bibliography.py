"""The bibliography of a paper section: BibTeX for authors, and the same set by hand for a standalone document."""

from __future__ import annotations

from collections.abc import Sequence

from symmem.declaration.citation import ADDRESSES, MEMORY_KEY, Citation
from symmem.declaration.optimizer import Optimizer
from symmem.documents.paper.escaping import bibtex_text, typeset

MEMORY_PAPER = Citation(
    MEMORY_KEY,
    "inproceedings",
    (
        ("author", "Cattaneo, Matias D. and Shigida, Boris"),
        ("title", "How Memory in Optimization Algorithms Implicitly Modifies the Loss"),
        ("year", "2025"),
        ("booktitle", "Advances in Neural Information Processing Systems"),
    ),
)
"""The paper whose theory symmem automates."""


def works_of(optimizer: Optimizer) -> tuple[Citation, ...]:
    """The works that the declaration cites; where it has a reference in words alone, an entry made from it."""
    if optimizer.citations or not optimizer.reference:
        return optimizer.citations
    fields = (("title", str(optimizer.title)), ("note", optimizer.reference))
    return (Citation(optimizer.name, "misc", fields),)


def bibtex(works: Sequence[Citation]) -> str:
    """The entries of a .bib file."""
    return "\n".join(_entry(work) for work in works)


def bibitems(works: Sequence[Citation]) -> list[dict[str, str]]:
    r"""The same for ``thebibliography``: the key and the text of each \bibitem."""
    return [{"key": work.key, "text": _sentence(work)} for work in works]


def _entry(work: Citation) -> str:
    lines = [f"  {name} = {{{_field(name, value)}}}" for name, value in work.fields]
    return f"@{work.type}{{{work.key},\n" + ",\n".join(lines) + "\n}\n"


def _field(name: str, value: str) -> str:
    if name in ADDRESSES:  # checked, and read as it stands: \url escapes by itself
        return value.replace("%", r"\%")
    # BibTeX styles lower the case of titles, and of the names in them; inside braces they do not.
    return "{" + bibtex_text(value) + "}" if name == "title" else bibtex_text(value)


def _sentence(work: Citation) -> str:
    people = _listed([_in_order(name) for name in work["author"].split(" and ")]) if work["author"] else ""
    place = typeset(work["journal"] or work["booktitle"] or work["howpublished"])
    volume = typeset(work["volume"]) + (f"({typeset(work['number'])})" if work["number"] else "")
    numbers = ":".join(part for part in (volume, typeset(work["pages"])) if part)
    where = " ".join(part for part in (rf"\emph{{{place}}}" if place else "", numbers) if part)
    ending = ", ".join(part for part in (where, typeset(work["year"]), typeset(work["note"])) if part)
    return ". ".join(part for part in (people, typeset(work["title"]), ending) if part) + "."


def _in_order(name: str) -> str:
    """``Ba, Jimmy`` -> ``Jimmy Ba``; a first name's full stop keeps its line together."""
    family, _, given = (part.strip() for part in name.partition(","))
    return typeset(f"{given} {family}".strip()).replace(". ", r".~")


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
