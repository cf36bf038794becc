"""The measures of the house, taken from the source text: lengths, docstrings, types, cycles, size of the templates."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from statistics import median

import symmem
from symmem.targets.registry import TARGETS

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "symmem"
TEMPLATES = REPOSITORY / "templates"

MEDIAN_MODULE = 100
LONGEST_MODULE = 300
LONGEST_FUNCTION = 50
TEMPLATE_LINES = 2200
TARGET_LINES = 400
TORCH_LINES = 450

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = Function | ast.ClassDef


def trees() -> dict[str, ast.Module]:
    """The modules of the package by their dotted names."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(REPOSITORY).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


TREES = trees()


def lines_of(folder: Path, pattern: str = "*") -> int:
    return sum(
        len(path.read_text(encoding="utf-8").splitlines())
        for path in folder.rglob(pattern)
        if path.is_file() and "__pycache__" not in path.parts
    )


def functions() -> Iterator[tuple[str, Function]]:
    for module, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield f"{module}.{node.name}", node


def imported(module: str, tree: ast.Module) -> set[str]:
    """The modules of the package that are imported together with this one."""
    found = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in TREES else node.module)
    return {name for name in found if name in TREES and name != module}


def own_imports_inside_functions() -> list[str]:
    found = []
    for name, function in functions():
        for node in ast.walk(function):
            targets = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            found += [f"{name}: {target}" for target in targets if target.split(".")[0] == "symmem"]
    return [each for each in found if not each.startswith("symmem.cli.")]


def public(tree: ast.AST, prefix: str) -> Iterator[tuple[str, Documented]]:
    """Public functions, classes and methods; what stands inside a function is nobody else's."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Documented) and not node.name.startswith("_"):
            yield f"{prefix}.{node.name}", node
            if isinstance(node, ast.ClassDef):
                yield from public(node, f"{prefix}.{node.name}")


def is_overload(node: Documented) -> bool:
    return any(ast.unparse(decorator).endswith("overload") for decorator in node.decorator_list)


def is_documented(node: Documented) -> bool:
    """A docstring, or that of another class taken over: ``__doc__ = Base.__doc__``."""
    taken = any(
        isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "__doc__" for each in node.body
    )
    return taken or ast.get_docstring(node) is not None


def too_long() -> dict[str, int]:
    return {
        name: length
        for name, node in functions()
        if (length := (node.end_lineno or 0) - node.lineno + 1) > LONGEST_FUNCTION
    }


def undocumented() -> list[str]:
    return [
        name
        for module, tree in TREES.items()
        for name, node in public(tree, module)
        if not is_overload(node) and not is_documented(node)
    ]


def cycle() -> list[str] | None:
    try:
        TopologicalSorter({name: imported(name, tree) for name, tree in TREES.items()}).prepare()
    except CycleError as error:
        return list(error.args[1])
    return None


def module_lengths() -> dict[str, int]:
    return {
        str(path.relative_to(PACKAGE)): len(path.read_text(encoding="utf-8").splitlines())
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def torch_lines() -> int:
    return len(TARGETS["torch"].source(symmem.derive(symmem.load("adamw"))).splitlines())


def test_the_table_of_slow_tests_names_tests() -> None:
    """A renamed test would come back to ``make quick`` unseen."""
    tests, gone = REPOSITORY / "tests", []
    for line in (tests / "slow.txt").read_text(encoding="utf-8").splitlines():
        place, *_, function = line.split()[0].split("::")
        if not (tests / place).is_file() or f"def {function}(" not in (tests / place).read_text(
            encoding="utf-8"
        ):
            gone.append(line)
    assert gone == []


def test_half_of_the_modules_are_short() -> None:
    assert (
        median(length for name, length in module_lengths().items() if "__init__" not in name) <= MEDIAN_MODULE
    )


def test_no_module_is_long() -> None:
    assert {name: length for name, length in module_lengths().items() if length > LONGEST_MODULE} == {}


def test_no_function_is_long() -> None:
    assert too_long() == {}


def test_no_import_goes_in_a_circle() -> None:
    assert cycle() is None


def test_imports_stand_at_the_top() -> None:
    assert own_imports_inside_functions() == []


def test_what_is_public_says_what_it_is() -> None:
    assert undocumented() == []


def test_every_function_says_what_it_returns() -> None:
    assert [name for name, node in functions() if node.returns is None] == []


def test_templates_hold_what_varies() -> None:
    assert lines_of(TEMPLATES) < TEMPLATE_LINES


def test_a_target_costs_little() -> None:
    """The folder with its helpers; and what is written in Python with the template."""
    folder = PACKAGE / "targets" / "octave"
    assert 0 < lines_of(folder) <= TARGET_LINES
    assert lines_of(folder, "*.py") + lines_of(TEMPLATES / "octave") <= TARGET_LINES


def test_the_emitted_module_of_adamw_is_one_that_an_engineer_would_commit() -> None:
    assert torch_lines() <= TORCH_LINES


READS_TEXT = {
    "partition",
    "rpartition",
    "startswith",
    "endswith",
    "removeprefix",
    "removesuffix",
    "splitlines",
}
RESULTS_AS_DATA = ("algebra", "method", "derivation", "program", "documents", "targets")
"""The rooms in which facts are records and no text that this program wrote is read."""
READ_FROM_OUTSIDE = {
    "symmem.algebra.results": "names of attributes that Python asks for",
    "symmem.algebra.symbols": "names that a user may write",
    "symmem.documents.paper.bibliography": "authors, as a declaration lists them",
    "symmem.documents.paper.compilation": "where kpsewhich finds TeX",
    "symmem.documents.paper.files": "macros that the user's file defines",
    "symmem.documents.paper.layout": "a width, as a user writes it",
    "symmem.targets.c.names": "names that a user may write",
    "symmem.targets.c.wheel": "the versions of glibc that a compiled library asks for",
    "symmem.targets.coq.dialect": "names that a user may write",
    "symmem.targets.numpy.blocks": "the environment variable OMP_NUM_THREADS",
    "symmem.targets.python.copied": "a file of Python, copied word for word",
    "symmem.targets.python.module": "a title, as it is declared",
}


def readers_of_text() -> set[str]:
    """The modules of these rooms that import ``re``, or call what takes a text apart."""
    found = set()
    for module, tree in TREES.items():
        room = module.split(".")[1:2]
        copied = module.endswith(".helpers") or ".runtime." in module
        if room and room[0] in RESULTS_AS_DATA and not copied:
            for node in ast.walk(tree):
                imports = isinstance(node, ast.Import) and any(alias.name == "re" for alias in node.names)
                calls = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
                if imports or (calls and node.func.attr in READS_TEXT):
                    found.add(module)
    return found


def test_no_text_that_this_program_wrote_is_read_by_it() -> None:
    assert readers_of_text() == set(READ_FROM_OUTSIDE)


def test_a_reason_is_no_exception() -> None:
    """No result is learned from the error of another: it is a Missing with its reason."""
    caught = []
    for module, tree in TREES.items():
        if module.startswith(("symmem.algebra", "symmem.method", "symmem.derivation", "symmem.program")):
            handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.type]
            caught += [f"{module}: {ast.unparse(each.type)}" for each in handlers if each.type]
    assert [each for each in caught if each.endswith("SymmemError") or "DerivationError" in each] == []


def test_no_template_compares() -> None:
    """A template asks whether there is something; what is compared, orders above all, is compared in Python."""
    asked = re.compile(r"<%[^%]*?(?:[=!<>]=|[<>]|\bis\b|order\b)[^%]*%>")
    templates = [path for path in TEMPLATES.rglob("*") if path.is_file()]
    assert [path.name for path in templates if asked.search(path.read_text(encoding="utf-8"))] == []
    for line in (
        "if order > 1",
        'elif x.verdict == "found"',
        "set y = x if z is mapping else x",
        "if finite_order",
    ):
        assert asked.search(f"<% {line} %>")
