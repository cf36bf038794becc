"""Rows of a sweep as a table for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from symmem.checks.sweeps import Row
from symmem.documents.columns import Style, table, wrapped
from symmem.documents.fitted import fitted_table

SIGNS = ("rewards", "neither", "penalises")


def sign_text(rows: Sequence[Row], style: Style) -> str:
    """The sign table: what memory does to large gradients, with its condition on h beside every number."""
    heads = ["optimizer", "memory", "c R", "inside the map", "for"]
    cells = [heads]
    for row in rows:
        bound = row.get("bound")
        condition = "" if bound is None else f"h << {bound:.3g}"
        cells.append([_name(row), *_side(row, "", style), _inside(row, style), condition])
    lines = fitted_table([[style.plain(cell) for cell in row] for row in cells], style.width)
    told = [
        "penalises, rewards: the modified loss is L + h c R, with R a norm of the gradient, c > 0 or c < 0, at the "
        "parameters of the row, and where there is one only as a small number such as eps goes to 0, in that limit; "
        "neither: memory leaves the loss as it is. "
        "A row without one of these words says why: F + M is the update without memory, and P a factor with which "
        "it is the step h P grad of the modified loss.",
        "inside the map: c R of the loss inside the gradient map of the update (mathematics.md section 11), with c > 0 "
        "where large gradients are penalised and c < 0 where they are rewarded.",
        "Every number is that of the first order in h and means something for h/(1 - beta) << 1 alone, with beta of "
        "the longest memory: the last column, which asks for less where a part of the update, as a second moment, "
        "vanishes on a constant past: there with gradients and a Hessian of size 1.",
    ]
    if any(_mark(row) for row in rows):
        told.append(
            "*: under a schedule the learning rate of step n is h rate(n), with rate(n) > 0: c is told per unit of it, "
            "and holds where the rate changes little while memory fades."
        )
    for sentence in told:
        lines += ["", *wrapped(sentence, style.width, "", "")]
    return "\n".join(lines) + "\n"


def _side(row: Row, prefix: str, style: Style) -> list[str]:
    sign, factor, norm = (row.get(f"{prefix}{part}") for part in ("sign", "factor", "norm"))
    if sign is None or norm is None:
        return ["", "" if prefix else str(row.get("why", row.get("error", "")))]
    return [
        SIGNS[sign + 1] + _mark(row),
        f"{factor:.4g} {norm['text' if style.unicode else 'ascii']}" if sign else "",
    ]


def _inside(row: Row, style: Style) -> str:
    """c R inside the gradient map; its sign is that of c."""
    word, number = _side(row, "map_", style)
    return number or word


def _mark(row: Row) -> str:
    """A star where h is ``h rate(n)``."""
    return "*" if row.get("per_rate") and row.get("sign") is not None else ""


def _name(row: Row) -> str:
    values = ", ".join(f"{name}={value}" for name, value in row["values"].items())
    return row["name"] + (f" ({values})" if values else "")


def verify_text(rows: Sequence[Row], style: Style) -> str:
    """One line for each optimizer; those that fail say so."""
    cells = [["optimizer", "claims", "worst error", "orders", ""]]
    for row in rows:
        slopes = ["exact" if slope is None else f"{slope:.2f}" for slope in row.get("orders", {}).values()]
        worst = "" if row.get("worst") is None else f"{row['worst']:.0e}"
        verdict = "" if row["holds"] else "WRONG"
        cells.append([_name(row), str(row.get("claims", "")), worst, " ".join(slopes), verdict])
    lines = [style.plain(line) for line in table(cells, "")]
    for row in rows:
        if "error" in row:
            lines += wrapped(style.plain(f"{_name(row)}: {row['error']}"), style.width, "", "  ")
    wrong = sum(not row["holds"] for row in rows)
    verdict = f"{wrong} of {len(rows)} fail." if wrong else f"All {len(rows)} hold."
    return "\n".join([*lines, "", verdict]) + "\n"
