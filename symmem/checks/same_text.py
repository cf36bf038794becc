"""A Comparison of two optimizers as text: the claim in one sentence, then what it rests on."""

from __future__ import annotations

from sympy import Expr, Symbol

from symmem.checks.difference import Part
from symmem.checks.same import Comparison, Verdict
from symmem.checks.verify import needs_squares
from symmem.checks.verify_text import SQUARE
from symmem.documents.columns import Style, wrapped
from symmem.documents.prose import missing_prose
from symmem.documents.spelling import Spelling
from symmem.documents.text_writer import TextWriter
from symmem.notation.decimals import decimal

_PROVED = "The updates are the same function of the past for every loss: a symbolic zero, confirmed by runs."


def same_text(found: Comparison, style: Style) -> str:
    """The verdict and its reason."""
    writer = TextWriter(Spelling.of(found.first), style)
    lines = wrapped(_claim(found), style.width, "", "  ")
    if found.verdict in (Verdict.DIFFERENT, Verdict.SETTLED, Verdict.UNDECIDED):
        lines += _difference(found, writer)
    else:
        lines += wrapped(_PROVED, style.width, "  ", "  ")
    if needs_squares(found.first, found.second):
        lines += wrapped(f"Runs were made {SQUARE}.", style.width, "  ", "  ")
    return "\n".join(lines) + "\n"


def _claim(found: Comparison) -> str:
    first, second = found.first.name, found.second.name
    if found.verdict is Verdict.IDENTICAL:
        return f"{first} and {second} are identical."
    if found.verdict is Verdict.DIFFERENT:
        return f"{first} and {second} are different, with parameters of the same name equal."
    if found.verdict is Verdict.SETTLED:
        return f"{first} and {second} are the same after many steps, and differ in the first ones."
    if found.verdict is Verdict.UNDECIDED:
        return f"{first} and {second}: no difference was seen, and no proof found that they are identical."
    changes = [_equation(name, value) for name, value in found.values]
    if found.scale != 1:
        factor = _plain(found.scale)
        changes.insert(0, f"lr times ({factor})" if found.scale.is_Add else f"lr times {factor}")
    return f"{first} is {second} with {', '.join(changes)}."


def _equation(name: Symbol, value: Expr) -> str:
    return f"{name.name} = {_plain(value)}"


def _plain(value: Expr) -> str:
    """In the names of the declaration: this is what one types."""
    return str(value)


def _difference(found: Comparison, writer: TextWriter) -> list[str]:
    told = found.difference
    assert told is not None
    width = writer.style.width
    lines = []
    if told.witness is not None:
        words = f"Witness: two runs from one point are {told.witness.gap:.1e} apart after step {told.witness.step}"
        values = ", ".join(f"{name} = {decimal(value)}" for name, value in told.witness.values.items())
        words += f", at {values}." if values else "."
        lines += wrapped(words, width, "  ", "  ")
    elif told.is_proof:
        lines += wrapped("Short runs do not part; the limits of many steps do.", width, "  ", "  ")
    if told.missing is not None:
        reason = "".join(map(str, missing_prose(told.missing)))
        return [*lines, *wrapped(writer.style.plain(f"No limit to compare: {reason}"), width, "  ", "  ")]
    lines += wrapped(f"After many steps, {found.first.name} minus {found.second.name}:", width, "  ", "  ")
    for name, part in (("F", told.F), ("M", told.M)):
        assert part is not None
        lines += writer.formula(part.formula, f"    {name}: ")
        lines += [f"       {_size(part)}"]
    return lines


def _size(part: Part) -> str:
    if part.formula == 0:
        return "no difference"
    if part.size is None:
        return "no number at the defaults"
    return f"{part.size:.1e} of the first one's, at the defaults and h = 0.001"
