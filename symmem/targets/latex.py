"""The LaTeX target: a paper about one method or several, in one text or in several files."""

from __future__ import annotations

from collections.abc import Sequence

from symmem.derivation.derivation import Derivation
from symmem.derivation.slow_rate import at_slow_rate
from symmem.documents.account import account_of
from symmem.documents.comparison.entry import PARTS as COMPARED
from symmem.documents.comparison.entry import Compared
from symmem.documents.paper.files import paper_text, write_paper
from symmem.documents.paper.layout import Checked, Layout, Share, page_of
from symmem.documents.paper.paper import Paper
from symmem.documents.paper.section import PARTS
from symmem.method.sampling import Sampling
from symmem.targets.coq.extent import Extent
from symmem.targets.coq.module import proved_file
from symmem.targets.registry import Options


def emit(derivations: Sequence[Derivation], output: str | None, options: Options) -> str:
    """The text on standard output, or the files that were written."""
    sampling = Sampling() if options.minibatch else None
    accounts = tuple(account_of(derivation, sampling=sampling, parts=PARTS) for derivation in derivations)
    proved = {d.optimizer.name: proved_file(d) for d in derivations} if options.coq else {}
    series = {each.optimizer.name for each in accounts if each.lemma is not None and each.lemma.coefficients}
    proofs = {
        name: Checked(f"{name}.v", _subject(each.extent, is_series=name in series))
        for name, each in proved.items()
    }
    layout = Layout(page_of(options.width), Share(options.part), proofs)
    paper = Paper(accounts, _compared(derivations), layout)
    if output is None:
        return paper_text(paper, standalone=options.standalone)
    standalone = options.standalone or options.pdf
    beside = {proofs[name].file: each.text for name, each in proved.items()}
    written = write_paper(paper, output, standalone=standalone, pdf=options.pdf, beside=beside)
    return "".join(f"{path}\n" for path in written)


def _subject(extent: Extent, *, is_series: bool) -> str:
    """What the file proves, as the lemma writes it; of a series it proves the first coefficient."""
    update, change = r"$\smmbF^{(n)}$", r"$\smmbF_{1}^{(n)}$" if is_series else r"$\smmbM^{(n)}$"
    return {
        Extent.CORRECTION: f"The gains, the sums over the past, {update} and {change} above",
        Extent.ASSEMBLED: f"The sums over the past, and {change} as it is put together from them,",
        Extent.SUMS: "The sums over the past",
        Extent.UPDATE: f"The gains, {update}, and that double sums over the past are single ones,",
        Extent.GAINS: "Gains of the memories",
        Extent.NOTHING: "The identities behind a modified loss, which do not depend on the method,",
    }[extent]


def _compared(derivations: Sequence[Derivation]) -> tuple[Compared, ...]:
    """Several methods are compared, to first order in h."""
    if len(derivations) < 2:
        return ()
    first = [at_slow_rate(Derivation(derivation.method, 1)) for derivation in derivations]
    return tuple(Compared(account_of(each, parts=COMPARED)) for each in first)
