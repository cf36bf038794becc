"""Launches -> the functions of the C interface: their signatures, their checks and their bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symmem.algebra.results import Missing
from symmem.targets.c.launches import FROM_PRODUCTS, Launch, Parts
from symmem.targets.c.numbers import INDENT, WIDTH, indented

SUFFIXES = {"double": "f64", "float": "f32"}
"""The types of the vectors, and how the functions on them end."""


@dataclass(frozen=True)
class Function:
    """A function of the interface in one type, for the template."""

    name: str
    arguments: str
    checks_rate: bool
    checked: str
    has_numbers: bool
    has_sums: bool
    body: list[str]


def interface_function(role: str, kind: str, prefix: str, parts: Parts) -> Function:
    """One of memoryless, direction, correction, step and straight, over vectors of one type."""
    limit, finite = parts.launches(role, "limit"), parts.launches(role, "finite")
    takes_products = role in FROM_PRODUCTS
    name = f"{prefix}_{role}_{SUFFIXES[kind]}"
    asked = f"{prefix}_directions(n)"
    hv, products = ("hv", asked) if takes_products else ("NULL", "0")
    out, written = "theta" if role == "step" else "out", asked if role == "direction" else "1"
    given = f"params, symmem_step(n), {'lr' if takes_products else '0'}, {'totals, ' if parts.has_sums else ''}numbers"
    checked = ["params", "theta", "grad", hv, products, out, written, "count", f"sizeof *{out}"]
    return Function(
        name=name,
        arguments=wrapped(_arguments(role, kind, prefix), WIDTH - len(f"int {name}()"), INDENT),
        checks_rate=takes_products,
        checked=wrapped(checked, WIDTH - len("    const int status = checked_call();"), INDENT * 2),
        has_numbers=bool(limit or finite),
        has_sums=parts.has_sums and bool(limit or finite),
        body=_body(limit, finite, kind, given),
    )


def _arguments(role: str, kind: str, prefix: str) -> list[str]:
    takes_products = role in FROM_PRODUCTS
    return [
        f"{kind} *theta" if role == "step" else f"const {kind} *theta",
        f"const {kind} *grad",
        *([f"const {kind} *hv"] if takes_products else []),
        *([] if role == "step" else [f"{kind} *out"]),
        "size_t count",
        "int64_t n",
        *(["double lr"] if takes_products else []),
        f"const struct {prefix}_params *params",
    ]


def wrapped(arguments: Sequence[str], room: int, indent: str) -> str:
    """Arguments between commas; a line is broken behind a comma alone."""
    lines: list[list[str]] = [[]]
    for argument in arguments:
        if len(", ".join([*lines[-1], argument])) > room:
            lines.append([])
            room = WIDTH - len(indent) - len(");")
        lines[-1].append(argument)
    return f",\n{indent}".join(", ".join(line) for line in lines)


def _body(
    limit: Sequence[Launch] | Missing, finite: Sequence[Launch] | Missing, kind: str, given: str
) -> list[str]:
    """The body of a function of the interface, behind its checks."""
    if isinstance(limit, Missing) or isinstance(finite, Missing) or not _same_loops(limit, finite):
        return [
            "if (n < 0) {",
            *indented(_one_form(limit, kind, given)),
            "} else {",
            *indented(_one_form(finite, kind, given)),
            "}",
        ]
    lines: list[str] = []
    for first, second in zip(limit, finite, strict=True):
        same = first.numbers == second.numbers
        numbers = first.numbers if same else f"(n < 0 ? {first.numbers} : {second.numbers})"
        lines += _launched(first, numbers, kind, given)
    return lines


def _same_loops(limit: Sequence[Launch], finite: Sequence[Launch]) -> bool:
    return len(limit) == len(finite) and all(map(Launch.same_loop, limit, finite))


def _one_form(launches: Sequence[Launch] | Missing, kind: str, given: str) -> list[str]:
    if isinstance(launches, Missing):
        return ["return SYMMEM_UNAVAILABLE;"]
    return [line for each in launches for line in _launched(each, each.numbers, kind, given)]


def _launched(launch: Launch, numbers: str, kind: str, given: str) -> list[str]:
    suffix = SUFFIXES[kind]
    pointers = f"(const {kind} *const[]){{{', '.join(launch.vectors) or 'NULL'}}}"
    runners = f"{launch.work}_base_{suffix}, {launch.work}_wide_{suffix}"
    lines = [f"{numbers}({given});"]
    if launch.is_sum:
        return [
            *lines,
            f"{launch.out} = total_{suffix}({runners}, {launch.work}_extended, numbers,",
            f"{INDENT}{pointers}, {len(launch.vectors)}, count);",
        ]
    exact = f"{launch.work}_base_f64, {launch.work}_wide_f64"
    return [
        *lines,
        f"launch_{suffix}({runners}, {exact},",
        f"{INDENT}numbers, {launch.count}, {pointers}, {len(launch.vectors)}, {launch.out}, count);",
    ]
