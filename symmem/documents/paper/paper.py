"""A paper about several methods: the theorem once, one section for each, one comparison, every work cited once.

``Paper`` is what is written to files (:mod:`.files`): each text by its name, in the order in which it is read.
"""

from __future__ import annotations

from collections.abc import Mapping

from symmem import __version__
from symmem.declaration.citation import Citation
from symmem.documents.account import Account
from symmem.documents.comparison.entry import Compared
from symmem.documents.comparison.latex import comparison_latex
from symmem.documents.paper.bibliography import MEMORY_PAPER, bibitems, bibtex, works_of
from symmem.documents.paper.dealt import dealt
from symmem.documents.paper.escaping import typeset
from symmem.documents.paper.general import general_text
from symmem.documents.paper.layout import Layout
from symmem.documents.paper.macros import FILE, MACROS
from symmem.documents.paper.section import paper_section
from symmem.errors import SymmemError
from symmem.output.rendering import render
from symmem.records import record

GENERAL, COMPARISON = "general", "comparison"
"""The names of the parts that belong to no method."""


@record(frozen=True)
class Paper:
    """The methods of a paper, their comparison (none: no table), and how it is laid out."""

    accounts: tuple[Account, ...]
    compared: tuple[Compared, ...] = ()
    layout: Layout = Layout()

    @property
    def parts(self) -> Mapping[str, str]:
        """The texts by their names, in their order."""
        names = [account.optimizer.name for account in self.accounts]
        double = next(
            (name for name in names if names.count(name) > 1 or name in (GENERAL, COMPARISON)), None
        )
        if double is not None:
            raise SymmemError(
                f"the name {double} is taken in this paper; give one of the optimizers another name"
            )
        letters = dealt(self.accounts, self.layout)
        sections = {
            name: paper_section(account, self.layout, given)
            for name, account, given in zip(names, self.accounts, letters, strict=True)
        }
        page = self.layout.page
        table = (
            comparison_latex(self.compared, page.whole_width, floating=page.two_columns)
            if self.compared
            else ""
        )
        last = {COMPARISON: table} if table and self.layout.share.states else {}
        general = general_text(self.accounts, self.layout, has_table=bool(last) and not page.two_columns)
        return {GENERAL: general, **sections, **last}

    @property
    def body(self) -> str:
        """All texts behind each other."""
        return "\n".join(self.parts.values())

    @property
    def works(self) -> tuple[Citation, ...]:
        """Every work once; two works under one key are an error."""
        found: dict[str, Citation] = {}
        for work in (*(work for a in self.accounts for work in works_of(a.optimizer)), MEMORY_PAPER):
            if found.setdefault(work.key, work) != work:
                raise SymmemError(
                    f"two different works have the key {work.key}; rename one [citation.{work.key}]"
                )
        return tuple(found.values())

    @property
    def bibliography(self) -> str:
        """BibTeX of the works."""
        names = ", ".join(account.optimizer.name for account in self.accounts)
        return f"% The works that {names} come from, written by symmem {__version__}.\n\n" + bibtex(
            self.works
        )

    def document(self, body: str | None = None) -> str:
        """A document that compiles as it is; its bibliography stands in it."""
        page = self.layout.page
        values = {
            "page": page,
            "macros": macros_file(),
            "file": FILE,
            "version": __version__,
            "title": typeset(" and ".join(str(account.optimizer.title) for account in self.accounts)),
            "body": self.body if body is None else body,
            "works": bibitems(self.works),
            "has_table": bool(self.compared) and not page.two_columns,
        }
        return render("latex/standalone.tex.jinja", values)


def standalone(account: Account, layout: Layout | None = None) -> str:
    """A document about one method, with its macros and its bibliography in it."""
    return Paper((account,), layout=layout or Layout()).document()


def macros_file() -> str:
    """The text of symmem-macros.tex."""
    values = {"version": __version__, "file": FILE, "macros": [macro.line for macro in MACROS]}
    return render("latex/macros.tex.jinja", values)
