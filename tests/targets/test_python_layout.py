"""Lines of Python by themselves: calls, heads, values, and what is copied from files."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import pytest
from sympy import Add, Expr, Symbol, symbols

from symmem.program.needs import Need
from symmem.targets.numpy.module import HELPERS
from symmem.targets.printing import Dialect, part_names
from symmem.targets.python.copied import Helpers, copied
from symmem.targets.python.layout import (
    WIDTH,
    Group,
    assignment,
    call,
    indented,
    returned,
    signature,
)
from symmem.targets.python.printing import PythonPrinter

PRINTER = PythonPrinter(Dialect({}, "1.0 / sqrt({})"))
FILE = '''"""About."""

import math

Row = dict[int, float]
SIZE = 3  # entries
LONG = (
    1,  # one
    2,
)


@decorated
def first(x):
    """A line.

    Another."""
    return x  # as it is


class Second:
    y = 1


def third():
    return math.pi
'''


def names(count: int, length: int = 10) -> list[str]:
    return [f"{'x' * (length - 2)}{position:02d}" for position in range(count)]


@pytest.mark.parametrize(
    ("entries", "brackets", "text"),
    [
        ((), "()", "()"),
        (("a",), "()", "(a,)"),
        (("a", "b"), "()", "(a, b)"),
        (("a",), "{}", "{a}"),
        (("a",), "[]", "[a]"),
    ],
)
def test_a_group_is_a_value_of_python(entries: tuple[str, ...], brackets: str, text: str) -> None:
    assert str(Group(entries, brackets)) == text


def test_a_call_that_fits_is_one_line() -> None:
    assert call("y = ", "f", ["a", Group(("b",))], 14) == ["y = f(a, (b,))"]
    assert call("y = ", "f", ["a", Group(("b",))], 13) == ["y = f(", "    a,", "    (b,),", ")"]


def test_a_long_group_is_broken_too() -> None:
    lines = call("", "f", [Group(tuple(names(9)), "[]"), "z"], 60)
    assert lines == ["f(", "    [", *(f"        {name}," for name in names(9)), "    ],", "    z,", ")"]
    assert ast.dump(ast.parse("\n".join(lines))) == ast.dump(ast.parse(f"f([{', '.join(names(9))}], z)"))


@pytest.mark.parametrize("count", range(1, 16))
def test_a_head_is_as_short_as_it_can_be(count: int) -> None:
    """One line, or filled lines: always the same function, never a line that is too long."""
    arguments = names(count)
    lines, together = signature("function", arguments), ", ".join(arguments)
    assert all(len(line) <= WIDTH for line in lines)
    parsed = ast.dump(ast.parse("\n".join([*lines, "    pass"])))
    assert parsed == ast.dump(ast.parse(f"def function({together}): pass"))
    whole = len(f"def function({together}):")
    assert (len(lines) == 1) == (whole <= WIDTH)
    room = WIDTH - len("def function(")
    assert all(len(line) + len(after.split()[0]) > room for line, after in pairwise(lines))


def test_empty_lines_are_not_indented() -> None:
    assert indented(["a", "", "  b"]) == ["    a", "", "      b"]


@pytest.mark.parametrize("width", [30, 50, 80, 400])
def test_long_values_are_cut_into_parts(width: int) -> None:
    """The lines are short, and give the value that the whole formula has."""
    x = symbols("x1:13")
    value: Expr = Add(*(each * other for each, other in pairwise(x))) * x[0]
    numbers = {str(symbol): position / 7 + 0.3 for position, symbol in enumerate(x)}
    expected = float(value.subs(numbers))
    lines = assignment("result", value, PRINTER, part_names(), width)
    assert (len(lines) == 1) == (width == 400)
    assert all(len(line) <= width for line in lines)
    assert _run(lines, numbers)["result"] == pytest.approx(expected, rel=1e-14)
    *before, last = returned(value, PRINTER, part_names(), width)
    assert last.startswith("return ")
    assert all(len(line) <= width for line in (*before, last))
    found = _run([*before, last.replace("return", "result =", 1)], numbers)
    assert found["result"] == pytest.approx(expected, rel=1e-14)


def _run(lines: list[str], numbers: dict[str, float]) -> dict[str, float]:
    space: dict[str, float] = dict(numbers)
    exec("\n".join(lines), {}, space)
    return space


def test_a_short_value_has_no_parts() -> None:
    assert assignment("y", Symbol("x") + 1, PRINTER, part_names(), 20) == ["y = x + 1"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "helpers.py"
    path.write_text(FILE)
    return path


def test_definitions_are_copied_word_for_word(file: Path) -> None:
    """In the order of the file, with decorators and comments."""
    found = copied(file, ["third", "SIZE", "first", "LONG"])
    assert found[0] == "SIZE = 3  # entries"
    assert found[1] == "LONG = (\n    1,  # one\n    2,\n)"
    assert found[2].startswith("@decorated\ndef first(x):\n")
    assert found[2].endswith("    return x  # as it is")
    assert found[3] == "def third():\n    return math.pi"
    assert copied(file, ["Second"]) == ["class Second:\n    y = 1"]
    assert copied(file, []) == []
    everything = copied(file, ["Row", "SIZE", "LONG", "first", "Second", "third"])
    assert "\n".join(everything).split() == FILE.partition("import math")[2].split()


def test_what_is_not_there_cannot_be_copied(file: Path) -> None:
    with pytest.raises(AssertionError, match="fourth"):
        copied(file, ["fourth", "first"])


def test_helpers_are_those_that_are_needed(file: Path) -> None:
    helpers = Helpers(file, ("third",), {Need.ZEROS: ("first",), Need.STEPS: ("Second", "first")})
    assert helpers.chosen([]) == copied(file, ["third"])
    assert helpers.chosen([Need.ZEROS, Need.TOTAL]) == copied(file, ["first", "third"])
    assert helpers.chosen([Need.STEPS, Need.ZEROS]) == copied(file, ["first", "Second", "third"])


def test_every_helper_of_numpy_is_there() -> None:
    everything = HELPERS.chosen(list(Need))
    assert len(everything) == len(
        {*HELPERS.always, *(name for names in HELPERS.needed.values() for name in names)}
    )
