"""An Account as text for a terminal: the declaration, then its sections, in Unicode or ASCII, wrapped to a width."""

from __future__ import annotations

from symmem.documents.account import Account
from symmem.documents.columns import Style
from symmem.documents.declared import declaration_lines
from symmem.documents.sections import sections
from symmem.documents.text_writer import TextWriter


def terminal_text(account: Account, style: Style) -> str:
    """Declaration, formulas, assumptions."""
    writer = TextWriter.of(account.optimizer, style)
    blocks = [declaration_lines(account.optimizer, writer), *map(writer.section, sections(account))]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"
