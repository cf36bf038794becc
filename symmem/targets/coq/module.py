"""The Coq target: one file that needs nothing but Coq's own library, and that coqc checks."""

from __future__ import annotations

import textwrap
from pathlib import Path

from sympy import Symbol

from symmem import __version__
from symmem.derivation.derivation import Derivation
from symmem.output.rendering import render
from symmem.records import record
from symmem.targets.comments import in_coq_comment
from symmem.targets.coq.conditions import range_of
from symmem.targets.coq.dialect import names_of
from symmem.targets.coq.extent import Extent
from symmem.targets.coq.sheet import Sheet, sheet
from symmem.targets.coq.tree_table import TreeTable, tree_table

_IDENTITIES = ("quadratic_term", "square_of_Hg", "cubic_term", "decay_term", "function_of_gradient")
"""The theorems of potentials.v."""
_WIDTH = 100


@record(frozen=True)
class Proved:
    """A file, how many theorems it proves, and what it leaves out."""

    text: str
    theorems: int
    missing: tuple[str, ...]
    extent: Extent


def coq_file(derivation: Derivation) -> str:
    """The text of the file."""
    return proved_file(derivation).text


def proved_file(derivation: Derivation) -> Proved:
    """The file of the first order, which the higher ones rest on, and of the numbers of the trees."""
    first = Derivation(derivation.method, 1)
    names = names_of(tuple(each.name for each in derivation.method.parameters))
    made, table = sheet(first, names), tree_table(derivation.method)
    missing = (
        *made.missing,
        *(() if table else ("the numbers of the trees: the limit is not rational, or is not there",)),
        *(("the terms of the correction beyond the first power of h",) if derivation.order > 1 else ()),
    )
    theorems = [block.proves for block in made.blocks if block.proves]
    theorems += [*(f"Potentials.{name}" for name in _IDENTITIES), *(["Trees.tree_numbers"] if table else [])]
    values = {
        **_head(derivation, made, table, missing),
        **{
            name: _static(f"{name}.v")
            for name in ("sums", "tactics", "nested", "limits", "potentials", "trees")
        },
        "parameters": _parameters(first, names),
        "scheduled": derivation.method.rate is not None,
        "variables": made.variables,
        "conditions": [each.text for each in made.conditions],
        "blocks": [block.text for block in made.blocks],
        "memories": "; ".join(table.memories) if table else "",
        "rows": table.rows if table else (),
        "everything": theorems,
    }
    return Proved(render("coq/file.v.jinja", values), len(theorems), missing, made.extent)


def _head(
    derivation: Derivation, made: Sheet, table: TreeTable | None, missing: tuple[str, ...]
) -> dict[str, object]:
    optimizer = derivation.optimizer
    stated = [*made.stated, "the identities behind a modified loss"]
    if table:
        stated.append(f"the numbers of the tree recursion at the default values, to {table.size} step nodes")
    return {
        "title": in_coq_comment(str(optimizer.title)),
        "name": optimizer.name,
        "version": __version__,
        "stated": _listed(stated),
        "missing": _listed([in_coq_comment(each) for each in missing]),
    }


def _listed(sentences: list[str]) -> list[str]:
    return [
        line
        for each in sentences
        for line in textwrap.wrap(each, _WIDTH, initial_indent="- ", subsequent_indent="  ")
    ]


def _parameters(derivation: Derivation, names: dict[Symbol, str]) -> list[str]:
    lines = []
    for place, each in enumerate(derivation.method.parameters, start=1):
        name = names[Symbol(each.name)]
        lines.append(f"Variable {name} : R.")
        interval = range_of(name, each.range)
        if interval is not None:
            lines.append(f"Hypothesis range{place} : {interval}.")
    return lines


def _static(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8").rstrip()
