"""A Verification as text for a terminal: what was compared, how close it is, and the verdict in one line."""

from __future__ import annotations

from collections.abc import Mapping

from sympy import Rational

from symmem.checks.claims import Claim
from symmem.checks.orders import STRAIGHT, Errors
from symmem.checks.verify import Beside, Verification, needs_squares
from symmem.documents.columns import Style, table, wrapped
from symmem.documents.prose import missing_prose
from symmem.notation.decimals import decimal

LINE = ", and on the straight-line history"
SQUARE = "for square matrices alone: others get an update of another shape"


def verification_text(found: Verification, style: Style) -> str:
    """The report."""
    blocks = [_heading(found, style), _formulas(found.claims), _orders(found.orders, style)]
    blocks += [
        _absent(found, style),
        wrapped(f"Not measured, {found.unmeasured}.", style.width, "", "  ") if found.unmeasured else [],
        *(_beside(each, style) for each in found.beside),
        _verdict(found, style),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _heading(found: Verification, style: Style) -> list[str]:
    title = style.plain(f"{found.optimizer.title}: proof by numbers")
    values = _values(found.values)
    memory = "" if found.unmeasured else ", with short memory"
    at = f"Brute force and orders of error at {values}{memory}." if values else ""
    return [title, *wrapped(at, style.width, "  ", "  ")]


def _values(values: Mapping[str, Rational]) -> str:
    return ", ".join(f"{name} = {decimal(value)}" for name, value in values.items())


def _formulas(claims: tuple[Claim, ...]) -> list[str]:
    """One line for each step, F and M side by side."""
    steps = list(dict.fromkeys(claim.step for claim in claims))
    quantities = list(dict.fromkeys(claim.quantity for claim in claims))
    if not claims:
        return []
    cells = {(claim.step, claim.quantity): claim for claim in claims}
    rows = [["step", *quantities]]
    for step in steps:
        found = [cells.get((step, quantity)) for quantity in quantities]
        rows.append(["limit" if step is None else str(step), *map(_claim, found)])
    return ["Formulas against brute force: the largest relative error at random points", *table(rows, "    ")]


def _claim(claim: Claim | None) -> str:
    if claim is None:
        return "-"
    return f"{claim.error:.1e}" + ("" if claim.holds else "  WRONG")


def _orders(orders: tuple[Errors, ...], style: Style) -> list[str]:
    if not orders:
        return []
    rates = orders[0].rates
    rows = [["h", *(f"{rate:.2g}" for rate in rates), "order", "expected"]]
    for each in orders:
        name = f"{each.counted}, {each.direction}"
        slope = "exact" if each.slope is None else f"{each.slope:.2f}"
        verdict = str(each.expected) + ("" if each.holds else "  WRONG")
        rows.append([name, *(f"{error:.1e}" for error in each.errors), slope, verdict])
    time = max(len(each.path) for each in orders) - 1
    last = f"; a fixed time is {time} steps of the smallest h" if time else ""
    lead = (
        "The optimizer against the memoryless iteration without the correction (F) and with it (F + M)"
        f"{LINE if any(each.direction == STRAIGHT for each in orders) else ''}"
        f"{last}"
    )
    return [*wrapped(lead, style.width, "", "  "), *table(rows, "    ")]


def _absent(found: Verification, style: Style) -> list[str]:
    lines: list[str] = []
    for name, missing in found.missing:
        reason = "".join(map(str, missing_prose(missing)))
        lines += wrapped(style.plain(f"Not claimed, {name}: {reason}"), style.width, "", "  ")
    return lines


def _beside(each: Beside, style: Style) -> list[str]:
    found = each.found
    values = _values(each.values)
    lead = f"Beside {each.implementation.name}, {found.steps} steps" + (f", at {values}" if values else "")
    lines = wrapped(lead, style.width, "", "  ")
    if found.parting is None:
        return [*lines, f"  the same: the iterates differ by at most {found.gap:.1e}"]
    at = found.parting
    index = ", ".join(map(str, at.index))
    words = (
        f"they part at step {at.step}, in matrix {at.matrix} at [{index}]: the declaration has {at.declared!r}, "
        f"the program {at.program!r}; bound {found.tolerance:g}"
    )
    return [*lines, *wrapped(words, style.width, "  ", "  ")]


def _verdict(found: Verification, style: Style) -> list[str]:
    verdicts = [claim.holds for claim in found.claims] + [each.holds for each in found.orders]
    verdicts += [each.found.holds for each in found.beside]
    wrong, count = verdicts.count(False), len(verdicts)
    words = f"All {count} claims hold." if not wrong else f"{wrong} of {count} claims fail."
    if needs_squares(found.optimizer):
        words = f"{SQUARE[0].upper()}{SQUARE[1:]}.  There: {words[0].lower()}{words[1:]}"
    return wrapped(words, style.width, "", "  ")
