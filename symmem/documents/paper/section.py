r"""An Account as a section of a paper: example, table, lemma, proof, limit, modified loss and equation, start.

Every formula is the engine's and is written by :mod:`.displays`; the words stand in ``templates/latex``.
"""

from __future__ import annotations

from symmem import __version__
from symmem.documents.account import Account
from symmem.documents.paper import consequences
from symmem.documents.paper.bibliography import MEMORY_PAPER, bibitems, bibtex, works_of
from symmem.documents.paper.displays import Writer
from symmem.documents.paper.escaping import typeset
from symmem.documents.paper.example import example, functions, parameters, table
from symmem.documents.paper.gradient_map import gradient_map
from symmem.documents.paper.lemma import lemma
from symmem.documents.paper.macros import FILE, MACROS
from symmem.documents.paper.proof import proof
from symmem.documents.parts import SETTLED, Limit, Part
from symmem.documents.program_named import program_sentences
from symmem.documents.prose import stated
from symmem.documents.scheduled import settled_front
from symmem.documents.update import notes, reads_others
from symmem.notation.latex import TEXT_WIDTH
from symmem.output.rendering import render

PARTS = SETTLED | {Part.ASSUMPTIONS, Part.LEMMA}
"""What a paper tells."""


def paper_section(account: Account, width: float = TEXT_WIDTH) -> str:
    r"""The section, to be \input in a text so wide, in ems.

    Its macros are ``macros_file()``, its works ``paper_bibliography``.
    """
    return render("latex/section.tex.jinja", _section(account, width))


def standalone(account: Account) -> str:
    """A document with the section, its macros and its bibliography in it."""
    works = (*works_of(account.optimizer), MEMORY_PAPER)
    values = {
        "title": typeset(str(account.optimizer.title)),
        "macros": macros_file(),
        "file": FILE,
        "version": __version__,
        "section": paper_section(account),
        "works": bibitems(works),
    }
    return render("latex/standalone.tex.jinja", values)


def macros_file() -> str:
    """The text of symmem-macros.tex."""
    values = {"version": __version__, "file": FILE, "macros": [macro.line for macro in MACROS]}
    return render("latex/macros.tex.jinja", values)


def paper_bibliography(account: Account) -> str:
    """BibTeX of the optimizer's works and of the paper on memory."""
    made = f"% The works that {account.optimizer.name} comes from, written by symmem {__version__}.\n\n"
    return made + bibtex((*works_of(account.optimizer), MEMORY_PAPER))


def _section(account: Account, width: float) -> dict[str, object]:
    optimizer, name = account.optimizer, account.optimizer.name
    writer = Writer.of(optimizer, width)
    assert account.lemma is not None, "a paper is written from an account with its PARTS"
    finite = max(1, len(account.lemma.coefficients))
    return {
        "version": __version__,
        "name": name,
        "title": typeset(str(optimizer.title)),
        "works": ",".join(work.key for work in works_of(optimizer)),
        "paper": MEMORY_PAPER.key,
        "file": FILE,
        "local_error": account.order + 2 if account.order > 1 else "",
        "finite_order": finite,
        "example": example(optimizer, writer),
        "parameters": parameters(optimizer, writer),
        "functions": functions(optimizer),
        "program": [typeset(sentence) for sentence in program_sentences(optimizer)],
        "table": table(optimizer, writer),
        "notes": [writer.sentence(note) for note in notes(optimizer)],
        "is_cascade": reads_others(optimizer),
        "has_delays": any(variable.delay for variable in optimizer.momentum),
        "update": writer.inline(optimizer.phi),
        "assumptions": [writer.sentence(stated(each)) for each in account.assumptions],
        "unknown": [writer.sentence(stated(each)) for each in account.unknown],
        "proved": bool(account.conclusions) or isinstance(account.limit, Limit),
        "warned": any(each.warning for each in account.unknown),
        **lemma(account.lemma, optimizer, writer),
        "proof": proof(account.lemma, writer, scheduled=optimizer.schedule is not None),
        "scheduled": optimizer.schedule is not None,
        **_consequences(account, writer),
    }


def _consequences(account: Account, writer: Writer) -> dict[str, object]:
    name, loss = account.optimizer.name, account.modified_loss
    front = settled_front(account.schedule, account.optimizer)
    return {
        "limit": consequences.limit(account.limit, name, writer, front),
        "slow": consequences.slow(account.schedule, name, writer),
        "straight": consequences.straight(account, writer),
        "modified_loss": consequences.modified_loss(loss, name, writer, front),
        "gradient_map": gradient_map(account.gradient_map_loss, name, writer, front),
        "modified_equation": consequences.modified_equation(account.modified_equation, name, writer),
        "start": consequences.start(account.start, name, writer),
    }
