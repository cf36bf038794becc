"""The Sameness of two optimizers as text: the claim in one sentence, then what it rests on."""

from __future__ import annotations

from sympy import Expr, Symbol

from symmem.algebra.intervals import POSITIVE, Interval
from symmem.algebra.results import Missing
from symmem.checks.difference import RATE, STEPS, Part, Size, different_defaults
from symmem.checks.same import Sameness, Verdict
from symmem.checks.verify import needs_squares
from symmem.checks.verify_text import SQUARE
from symmem.documents.columns import Style, wrapped
from symmem.documents.prose import missing_prose
from symmem.documents.spelling import Spelling
from symmem.documents.text_writer import TextWriter
from symmem.notation.decimals import decimal

_PROVED = "The updates are the same function of the past for every loss: a symbolic zero, confirmed by runs."
ZERO = 1e-20
"""Thirty digits are computed: a smaller number is rounding."""


def same_text(found: Sameness, style: Style) -> str:
    """The verdict and its reason."""
    writer = TextWriter(_spelling(found), style)
    lines = wrapped(_claim(found), style.width, "", "  ")
    if found.verdict in (Verdict.DIFFERENT, Verdict.SETTLED, Verdict.UNDECIDED):
        lines += _difference(found, writer)
    else:
        lines += wrapped(_PROVED, style.width, "  ", "  ")
    if needs_squares(found.first, found.second):
        lines += wrapped(f"Runs were made {SQUARE}.", style.width, "  ", "  ")
    return "\n".join(lines) + "\n"


def _spelling(found: Sameness) -> Spelling:
    """The symbols of both; of a name that both have, the first one's."""
    ours, theirs = Spelling.of(found.first), Spelling.of(found.second)
    return Spelling({**theirs.names, **ours.names}, {**theirs.functions, **ours.functions})


def _claim(found: Sameness) -> str:
    first, second = found.first.name, found.second.name
    if found.verdict is Verdict.IDENTICAL:
        return f"{first} and {second} are identical."
    if found.verdict is Verdict.DIFFERENT:
        told = found.difference
        agree = told is not None and told.has_one_limit
        beside = "; F and M after many steps agree" if agree else ""
        return f"{first} and {second} are different, with parameters of the same name equal{beside}."
    if found.verdict is Verdict.SETTLED:
        return f"{first} and {second} are the same after many steps, and differ in the first ones."
    if found.verdict is Verdict.UNDECIDED:
        return f"{first} and {second}: no difference was seen, and no proof found that they are identical."
    changes = [_equation(name, value) for name, value in found.values]
    if found.scale != 1:
        factor = _plain(found.scale)
        changes.insert(0, f"lr times ({factor})" if found.scale.is_Add else f"lr times {factor}")
    ranges = [_within(*each) for each in found.where]
    listed = " and ".join([part for part in (", ".join(ranges[:-1]), *ranges[-1:]) if part])
    where = f", where {listed}" if ranges else ""
    return f"{first} is {second} with {', '.join(changes)}{where}."


def _within(value: Expr, interval: Interval) -> str:
    if interval == POSITIVE:
        return f"{_plain(value)} > 0"
    return f"{_plain(value)} lies in {interval}"


def _equation(name: Symbol, value: Expr) -> str:
    return f"{name.name} = {_plain(value)}"


def _plain(value: Expr) -> str:
    """In the names of the declaration: this is what one types."""
    return str(value)


def _difference(found: Sameness, writer: TextWriter) -> list[str]:
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
        lines += writer.prose(("No limit to compare: ", *missing_prose(told.missing), "."), "  ", "  ")
    elif told.F is not None and told.M is not None:
        lines += _parts("After many steps", (told.F, told.M), found, writer)
    if told.at_step is not None:
        lines += _parts("At step n", told.at_step, found, writer)
    return lines


def _parts(when: str, parts: tuple[Part, Part], found: Sameness, writer: TextWriter) -> list[str]:
    """The formulas with their sizes; then, where the defaults differ, the sizes with each at its own."""
    first, second, width = found.first, found.second, writer.style.width
    rated = first.schedule is not None or second.schedule is not None
    words = ", each with its rate of the step in front:" if rated else ":"
    lines = wrapped(f"{when}, {first.name} minus {second.name}{words}", width, "  ", "  ")
    for name, part in zip("FM", parts, strict=True):
        if isinstance(part.formula, Missing):
            lines += writer.prose(missing_prose(part.formula), f"    {name}: ", "       ")
            continue
        lines += writer.formula(part.formula, f"    {name}: ")
        lines += wrapped(_sizes(part), width, "       ", "       ")
    apart = different_defaults(first, second)
    own = [
        f"{name} {_size(part.own)}{_below(part.own)}"
        for name, part in zip("FM", parts, strict=True)
        if part.own is not None
    ]
    if apart and own:
        values = ", ".join(
            f"{name} = {decimal(ours)} and {decimal(theirs)}" for name, (ours, theirs) in apart.items()
        )
        at = f" at n = {STEPS[-1]}" if len(parts[0].sizes) > 1 else ""
        words = f"The defaults differ, {values}; with each at its own{at}: {', '.join(own)}."
        lines += wrapped(words, width, "  ", "  ")
    return lines


def _sizes(part: Part) -> str:
    """The size in the limit, or at each of the steps."""
    if part.formula == 0:
        return "no difference"
    if len(part.sizes) == 1:
        text = f"{_size(part.sizes[0])}{_below(part.sizes[0])}"
    else:
        counted = [size for size in part.sizes if size.number != 0]
        mixed = len({size.of_second for size in counted}) > 1
        marks = [" of the second one's" if mixed and size.of_second else "" for size in part.sizes]
        told = zip(map(_size, part.sizes), STEPS, marks, strict=True)
        each = [f"{size} at n = {step}{mark}" for size, step, mark in told]
        below = ", else of the first one's" if mixed else _below((counted or part.sizes)[-1])
        text = f"{', '.join(each)}{below}"
    return f"{text}; at the defaults and h = {decimal(RATE)}"


def _below(size: Size) -> str:
    if size.of_second:
        return " of the second one's, where the first one's is 0"
    return "" if size.number is None else " of the first one's"


def _size(size: Size) -> str:
    if size.number is None:
        return f"no number ({size.why})"
    return "0" if size.number < ZERO else f"{size.number:.1e}"
