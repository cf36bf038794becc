"""Launches -> the functions of the C interface: their signatures, their checks and their bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symmem.algebra.results import Missing
from symmem.program.updates import UPDATES
from symmem.targets.c.doxygen import comment
from symmem.targets.c.launches import FROM_PRODUCTS, IN_PLACE, ROLES, Launch, Parts
from symmem.targets.c.numbers import INDENT, WIDTH, indented

SUFFIXES = {"double": "f64", "float": "f32"}
"""The types that are computed in, and how the functions on vectors of them end."""


@dataclass(frozen=True)
class Storage:
    """How vectors are stored: the end of the functions' names, the type of an entry, and that of the memory's.

    ``computed`` is the type that they are computed in.
    """

    suffix: str
    entry: str
    computed: str
    remark: str = ""

    @property
    def is_half(self) -> bool:
        """Whether entries are widened before they are computed with."""
        return self.entry != self.computed


STORAGES = (
    Storage("f64", "double", "double"),
    Storage("f32", "float", "float"),
    Storage("bf16", "uint16_t", "float", "bfloat16 by its bits, computed in float"),
    Storage("f16", "uint16_t", "float", "IEEE half precision by its bits, computed in float"),
)


@dataclass(frozen=True)
class Function:
    """A function of the interface for one storage, for the template."""

    name: str
    comment: list[str]
    arguments: str
    finite: list[str]
    stacks: list[str]
    has_numbers: bool
    has_sums: bool
    body: list[str]


@dataclass(frozen=True)
class Group:
    """The functions for one storage, with a remark on it."""

    suffix: str
    remark: str
    functions: tuple[Function, ...]


def interface(parts: Parts, prefix: str) -> tuple[Group, ...]:
    """All functions on a step."""
    return tuple(
        Group(
            each.suffix, each.remark, tuple(interface_function(role, each, prefix, parts) for role in ROLES)
        )
        for each in STORAGES
    )


def interface_function(role: str, storage: Storage, prefix: str, parts: Parts) -> Function:
    """One of the functions on a step, over vectors that are stored so."""
    limit, finite = parts.launches(role, "limit"), parts.launches(role, "finite")
    name = f"{prefix}_{role}_{storage.suffix}"
    rate = "lr" if role in FROM_PRODUCTS or role in UPDATES else "0"
    strength = "strength" if role in UPDATES[1:] else "0"
    totals = "totals, " if parts.has_sums else ""
    given = f"params, symmem_step(n), {rate}, {strength}, {totals}numbers"
    arguments, first = _arguments(role, storage, prefix), STORAGES[0]
    spelled = [f"{kind}{each}" for each, kind in arguments.items()]
    return Function(
        name=name,
        comment=comment(role, prefix, arguments)
        if storage is first
        else [f"@copydoc {prefix}_{role}_{first.suffix}"],
        arguments=wrapped(spelled, WIDTH - len(f"int {name}()"), INDENT),
        finite=[each for each in (rate, strength) if each != "0"],
        stacks=_stacks(role, f"{prefix}_directions(n)", parts.kept),
        has_numbers=bool(limit or finite),
        has_sums=parts.has_sums and bool(limit or finite),
        body=_body(limit, finite, storage, given),
    )


def _stacks(role: str, asked: str, kept: int) -> list[str]:
    """The vectors of a call: where they start, how many there are, the size of an entry, whether they are written."""
    in_place = role in IN_PLACE
    found = [f"{{theta, 1, sizeof *theta, {str(in_place).lower()}}}", "{grad, 1, sizeof *grad, false}"]
    if role in FROM_PRODUCTS:
        found.append(f"{{hv, {asked}, sizeof *hv, false}}")
    if role in UPDATES:
        found.append(f"{{memory, {kept}, sizeof *memory, true}}")
    if not in_place:
        found.append(f"{{out, {asked if role == 'direction' else 1}, sizeof *out, true}}")
    return found


def _arguments(role: str, storage: Storage, prefix: str) -> dict[str, str]:
    """The names of the arguments, in their order, and their types."""
    kind, has_memory = storage.entry, role in UPDATES
    return {
        "theta": f"{kind} *" if role in IN_PLACE else f"const {kind} *",
        "grad": f"const {kind} *",
        **({"hv": f"const {kind} *"} if role in FROM_PRODUCTS else {}),
        **({"memory": f"{storage.computed} *"} if has_memory else {}),
        **({} if role in IN_PLACE else {"out": f"{kind} *"}),
        "count": "size_t ",
        "n": "int64_t ",
        **({"lr": "double "} if role in FROM_PRODUCTS or has_memory else {}),
        **({"strength": "double "} if role in UPDATES[1:] else {}),
        "params": f"const struct {prefix}_params *",
    }


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
    limit: Sequence[Launch] | Missing, finite: Sequence[Launch] | Missing, storage: Storage, given: str
) -> list[str]:
    """The body of a function of the interface, behind its checks."""
    if isinstance(limit, Missing) or isinstance(finite, Missing) or not _same_loops(limit, finite):
        return [
            "if (n < 0) {",
            *indented(_one_form(limit, storage, given)),
            "} else {",
            *indented(_one_form(finite, storage, given)),
            "}",
        ]
    lines: list[str] = []
    for first, second in zip(limit, finite, strict=True):
        same = first.numbers == second.numbers
        numbers = first.numbers if same else f"(n < 0 ? {first.numbers} : {second.numbers})"
        lines += _launched(first, numbers, storage, given)
    return lines


def _same_loops(limit: Sequence[Launch], finite: Sequence[Launch]) -> bool:
    return len(limit) == len(finite) and all(map(Launch.same_loop, limit, finite))


def _one_form(launches: Sequence[Launch] | Missing, storage: Storage, given: str) -> list[str]:
    if isinstance(launches, Missing):
        return ["return SYMMEM_UNAVAILABLE;"]
    return [line for each in launches for line in _launched(each, each.numbers, storage, given)]


def _launched(launch: Launch, numbers: str, storage: Storage, given: str) -> list[str]:
    suffix = SUFFIXES[storage.computed]
    runners = f"{launch.work}_base_{suffix}, {launch.work}_wide_{suffix}"
    inputs = _vectors(launch, storage, is_output=False)
    lines, own = [f"{numbers}({given});"], storage.suffix
    if launch.is_sum:
        (total,) = launch.outs
        return [
            *lines,
            f"{total} = total_{own}({runners}, {launch.work}_extended, numbers,",
            f"{INDENT}{inputs}, {len(launch.vectors)}, count);",
        ]
    outs = _vectors(launch, storage, is_output=True)
    return [
        *lines,
        f"launch_{own}({runners},",
        f"{INDENT}{launch.work}_base_f64, {launch.work}_wide_f64, numbers, {launch.count},",
        f"{INDENT}{inputs}, {len(launch.vectors)},",
        f"{INDENT}{outs}, {len(launch.outs)}, count);",
    ]


def _vectors(launch: Launch, storage: Storage, *, is_output: bool) -> str:
    """An array of the vectors; half precision says of each how it is stored, as memory is kept in float."""
    names = (launch.outs if is_output else launch.vectors) or ("NULL",)
    if storage.is_half:
        kind = f"const struct symmem_{'output' if is_output else 'input'}[]"
        formats = {True: "SYMMEM_FLOAT", False: f"SYMMEM_{storage.suffix.upper()}"}
        found = [f"{{{name}, {formats[name in launch.memory]}}}" for name in names]
    else:
        kind = f"{storage.entry} *const[]" if is_output else f"const {storage.entry} *const[]"
        found = list(names)
    start = f"({kind}){{"
    return f"{start}{wrapped(found, WIDTH - 3 * len(INDENT) - len(start), INDENT * 4)}}}"
