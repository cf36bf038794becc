"""Calls, signatures and values in lines of Python, as a formatter leaves them at 88 columns and at 110.

Who writes code makes records and lists of arguments; here they get their line breaks, once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sympy import Expr, Symbol

from symmem.program.digits.decay_functions import Complete
from symmem.program.statements import Assignment, Reach
from symmem.targets.printing import fitted
from symmem.targets.python.printing import PythonPrinter

WIDTH = 88
INDENT = "    "


@dataclass(frozen=True)
class Group:
    """Entries between brackets, which are an argument of a call; a tuple of one has a comma."""

    entries: tuple[str, ...]
    brackets: str = "()"

    def __str__(self) -> str:
        single = self.brackets == "()" and len(self.entries) == 1
        return f"{self.brackets[0]}{', '.join(self.entries)}{',' if single else ''}{self.brackets[1]}"


Argument = str | Group


def call(target: str, name: str, arguments: Sequence[Argument], width: int) -> list[str]:
    """``target name(arguments)``: on one line, else one argument a line with a comma after the last."""
    line = f"{target}{name}({', '.join(map(str, arguments))})"
    if len(line) <= width:
        return [line]
    inner = [line for argument in arguments for line in _argument(argument, width - len(INDENT))]
    return [f"{target}{name}(", *indented(inner), ")"]


def _argument(argument: Argument, width: int) -> list[str]:
    if isinstance(argument, str) or len(str(argument)) < width:
        return [f"{argument},"]
    entries = [f"{INDENT}{entry}," for entry in argument.entries]
    return [argument.brackets[0], *entries, f"{argument.brackets[1]},"]


def signature(name: str, arguments: Sequence[str], returns: str = "", depth: int = 0) -> list[str]:
    """The head of a function: on one line, else as many arguments on a line as it holds.

    A formatter would give a line to each argument, and is told not to.  It stands ``depth`` levels deep.  A star after
    which nothing comes is left out.
    """
    arguments = arguments[:-1] if arguments and arguments[-1] == "*" else arguments
    room, end = WIDTH - depth * len(INDENT), f") -> {returns}:" if returns else "):"
    line = f"def {name}({', '.join(arguments)}{end}"
    if len(line) <= room:
        return [line]
    *before, last = arguments
    lines, space = [f"def {name}("], " " * len(f"def {name}(")
    for argument in (*(f"{each}, " for each in before), f"{last}{end}  # fmt: skip"):
        if len(f"{lines[-1]}{argument}".rstrip()) > room and lines[-1].strip() != "":
            lines.append(space)
        lines[-1] += argument
    return [line.rstrip() for line in lines]


def indented(lines: Iterable[str]) -> list[str]:
    """The lines one level further in."""
    return [INDENT + line if line else line for line in lines]


def assignment(
    name: str, value: Expr, printer: PythonPrinter, fresh: Callable[[], Symbol], width: int
) -> list[str]:
    """``name = value`` in lines of at most ``width``: too long a value is cut into named parts first."""
    before, short = fitted(value, printer, fresh, width - len(f"{name} = "), width)
    return [*_named(before, printer, width), *_line(f"{name} = ", short, printer, width)]


def returned(value: Expr, printer: PythonPrinter, fresh: Callable[[], Symbol], width: int) -> list[str]:
    """``return value``, in the same way."""
    before, short = fitted(value, printer, fresh, width - len("return "), width)
    return [*_named(before, printer, width), *_line("return ", short, printer, width)]


def reached(reach: Reach) -> str:
    """How far the terms of a sum are analytic, as arguments."""
    return f"{float(reach.sector)}, {float(reach.growth)}"


def _named(assignments: Iterable[Assignment], printer: PythonPrinter, width: int) -> list[str]:
    pairs = ((f"{printer.source(name)} = ", value) for name, value in assignments)
    return [line for target, value in pairs for line in _line(target, value, printer, width)]


def _line(target: str, value: Expr, printer: PythonPrinter, width: int) -> list[str]:
    if isinstance(value, Complete):
        return call(target, printer.complete, printer.arguments(value), width)
    return [target + printer.source(value)]
