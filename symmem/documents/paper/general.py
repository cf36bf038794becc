"""The part of a paper that all its methods share: the notation, and the theorem with its proof."""

from __future__ import annotations

from collections.abc import Sequence

from symmem import __version__
from symmem.documents.account import Account
from symmem.documents.paper.bibliography import MEMORY_PAPER
from symmem.documents.paper.layout import Layout
from symmem.documents.paper.macros import FILE
from symmem.documents.update import reads_others
from symmem.output.rendering import render


def general_text(accounts: Sequence[Account], layout: Layout, *, has_table: bool = False) -> str:
    """The section with the theorem to the order of these accounts at step n, and the kinds of memory that they have.

    Its first lines name the packages of the whole paper, whose table of comparison may run over pages.
    """
    optimizers = [account.optimizer for account in accounts]
    scheduled = [optimizer.schedule is not None for optimizer in optimizers]
    values = {
        "version": __version__,
        "file": FILE,
        "paper": MEMORY_PAPER.key,
        "has_table": has_table,
        "states": layout.share.states,
        "proves": layout.share.proves,
        "only_first": max(finite_order(account) for account in accounts) == 1,
        "has_schedules": any(scheduled),
        "all_scheduled": all(scheduled),
        "has_cascades": any(map(reads_others, optimizers)),
        "has_delays": any(variable.delay for optimizer in optimizers for variable in optimizer.momentum),
    }
    return render("latex/general.tex.jinja", values)


def finite_order(account: Account) -> int:
    """The power of h to which the iteration is told at step n."""
    return 1 if account.lemma is None else max(1, len(account.lemma.coefficients))
