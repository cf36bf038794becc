"""The letters of a paper, dealt out before anything is written: in the whole paper each stands for one thing."""

from __future__ import annotations

from collections.abc import Sequence

from symmem.documents.account import Account
from symmem.documents.paper.blocks import Numbering, first_numbering
from symmem.documents.paper.displays import Writer
from symmem.documents.paper.layout import Layout, Share
from symmem.documents.paper.lemma import Short, shortened
from symmem.documents.paper.macros import SHORTHANDS
from symmem.documents.paper.settled import Settled, settled, settled_noise
from symmem.records import record


@record(frozen=True)
class Dealt:
    """The short-hands of a section: of its lemma, of what follows from it, and of what mini-batches add."""

    lemma: Short
    settled: Settled
    noise: Settled


def dealt(accounts: Sequence[Account], layout: Layout) -> list[Dealt]:
    """The short-hands of each account: a template that comes back keeps its letter, blocks are counted on."""
    taken = " ".join(latex for account in accounts for latex in account.optimizer.symbols.values())
    free = [letter for letter in SHORTHANDS if letter[1] not in taken]
    found: list[Dealt] = []
    numbering = first_numbering(taken)
    for account in accounts:
        writer = Writer.of(account.optimizer, layout.page.width)
        known = {s.template: s.letter for given in found for s in given.lemma.shorthands}
        used = set(known.values())
        unused = [letter for letter in free if letter[0] not in used]
        # Where the lemma is not written, it takes no letter.
        own = None if layout.share is Share.LIMIT else numbering
        lemma = shortened(account, writer, unused, known, own)
        after = _behind(numbering, lemma)
        rest = settled(account, writer, after)
        noise = settled_noise(account, writer, after and rest.behind)
        found.append(Dealt(lemma, rest, noise))
        numbering = after and noise.behind
    return found


def _behind(numbering: Numbering | None, lemma: Short) -> Numbering | None:
    return numbering and numbering.behind(lemma.blocks)
