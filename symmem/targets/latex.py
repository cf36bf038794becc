"""The LaTeX target: a paper about one method or several, in one text or in several files."""

from __future__ import annotations

from collections.abc import Sequence

from symmem.derivation.derivation import Derivation
from symmem.derivation.slow_rate import at_slow_rate
from symmem.documents.account import account_of
from symmem.documents.comparison.entry import PARTS as COMPARED
from symmem.documents.comparison.entry import Compared
from symmem.documents.paper.files import paper_text, write_paper
from symmem.documents.paper.layout import Layout, Share, page_of
from symmem.documents.paper.paper import Paper
from symmem.documents.paper.section import PARTS
from symmem.method.sampling import Sampling
from symmem.targets.coq.module import coq_file
from symmem.targets.registry import Options


def emit(derivations: Sequence[Derivation], output: str | None, options: Options) -> str:
    """The text on standard output, or the files that were written."""
    proofs = {d.optimizer.name: f"{d.optimizer.name}.v" for d in derivations} if options.coq else {}
    layout = Layout(page_of(options.width), Share(options.part), proofs)
    sampling = Sampling() if options.minibatch else None
    accounts = tuple(account_of(derivation, sampling=sampling, parts=PARTS) for derivation in derivations)
    paper = Paper(accounts, _compared(derivations), layout)
    if output is None:
        return paper_text(paper, standalone=options.standalone)
    standalone = options.standalone or options.pdf
    beside = {proofs[d.optimizer.name]: coq_file(d) for d in derivations} if proofs else {}
    written = write_paper(paper, output, standalone=standalone, pdf=options.pdf, beside=beside)
    return "".join(f"{path}\n" for path in written)


def _compared(derivations: Sequence[Derivation]) -> tuple[Compared, ...]:
    """Several methods are compared, to first order in h."""
    if len(derivations) < 2:
        return ()
    first = [at_slow_rate(Derivation(derivation.method, 1)) for derivation in derivations]
    return tuple(Compared(account_of(each, parts=COMPARED)) for each in first)
