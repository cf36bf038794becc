"""The architecture, from the source text: who imports whom, what is never called, how long a module is."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "symmem"
MODULES = sorted(PACKAGE.rglob("*.py"))

BELOW = {
    "algebra": set(),
    "notation": {"algebra"},
    "declaration": {"algebra"},
    "method": {"algebra", "declaration"},
    "derivation": {"algebra", "method"},
    "output": set(),
    "documents": {"algebra", "notation", "declaration", "method", "derivation", "output"},
    "program": {"algebra", "declaration", "method", "derivation"},
    "targets": {
        "algebra",
        "notation",
        "declaration",
        "method",
        "derivation",
        "documents",
        "program",
        "output",
    },
    "verification": {"declaration", "notation"},
    "training": {"declaration", "derivation", "targets"},
    "checks": {
        "algebra",
        "notation",
        "declaration",
        "method",
        "derivation",
        "documents",
        "output",
        "verification",
    },
}
"""The arrows of ARCHITECTURE.md.  ``output`` renders templates and writes files; verification shares no code
with algebra, method and derivation."""

FOLDERS = {
    "derivation/past": {"gains"},
    "derivation/orders": {"gains", "past"},
    "derivation/conditions": {"gains", "past"},
    "derivation/loss": {"gains", "orders", "conditions"},
    "derivation/noise": {"gains", "past", "conditions"},
    "derivation/groups": {"gains", "past", "conditions", "loss"},
    "program/digits": set(),
}
"""The folders of two rooms, and what each may import of its room; the modules beside them put all together."""

DOORS = {"__init__": set(), "__main__": {"cli"}, "cli": {"cli"}}
"""The doors of the package: they may import every room, but only when it is needed; with what each needs at once."""

COMMON = (["errors"], ["work"], ["records"])
"""What every room may import: the errors, the budget of work, and how records are made."""

REGISTRY = ["targets", "registry"]
"""The names of the targets, for the help: it imports nothing before a target is asked for."""

RUNTIMES = {"training.runtime.": {"torch"}, "targets.c.runtime.": {"numpy", "torch"}}
"""Code that is copied beside what is emitted or built, to machines without symmem, and what it may import; beside that,
by relative imports, itself."""

COPIED = ("targets.jax.transformations", "targets.jax.with_memory", "targets.jax.edge")
"""Code whose functions are copied into emitted modules, as those of every ``helpers``."""

HEAVY = {"torch", "jax", "matplotlib"}
FORBIDDEN_CALLS = {"eval", "exec", "sympify", "parse_expr", "simplify"}
WRITING_CALLS = {"write_text", "write_bytes", "savefig", "mkstemp", "rename", "copyfile", "copytree", "touch"}
SCRATCH_WRITERS = {
    "targets.coq.checking",
    "targets.c.toolchain",
    "targets.c.build",
    "documents.paper.compilation",
}
"""Who writes into a scratch folder of its own; a folder of the user is written in the room ``output`` alone, where a
kill at any moment leaves the old set of files or the new one.  (A picture is saved to memory.)"""
LONGEST_MODULE = 300


def imports(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Every imported name with its module, and whether the import runs when the module is imported."""

    def visit(node: ast.AST, at_import: bool) -> Iterator[tuple[str, bool]]:
        if isinstance(node, ast.Import):
            yield from ((alias.name, at_import) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield from ((f"{base}.{alias.name}", at_import) for alias in node.names)
        inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) or for_types(node)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, at_import and not inside)

    yield from visit(tree, True)


def for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).split(".")[-1] == "TYPE_CHECKING"


def wrong_arrows(module: str, source: str) -> list[str]:
    """The imports of a module, named as in `output.rendering`, that the design does not have."""
    room = module.split(".", maxsplit=1)[0]
    found = []
    for target, at_import in imports(ast.parse(source)):
        parts = target.split(".")
        runtime = next((start for start in RUNTIMES if module.startswith(start)), None)
        if runtime is not None:
            beside = target.startswith(".") and not target.startswith("..")
            if not beside and parts[0] not in RUNTIMES[runtime] | sys.stdlib_module_names:
                found.append(f"{module}: imports {target}")
        elif target.startswith("."):
            found.append(f"{module}: relative import {target}")
        elif parts[0] != "symmem" or target == "symmem.__version__" or parts[1:2] in COMMON:
            continue
        elif room in DOORS:
            if at_import and parts[1] not in DOORS[room] and parts[1:3] != REGISTRY:
                found.append(f"{module}: imports {target} before it is needed")
        elif len(parts) < 2 or parts[1] not in BELOW[room] | {room}:
            found.append(f"{module}: imports {target}")
        elif parts[1] == room:
            inner = module.split(".")[1]
            allowed = FOLDERS.get(f"{room}/{inner}")
            if allowed is not None and parts[2] not in allowed | {inner}:
                found.append(f"{module}: imports {target}")
    return found


def wrong_outsiders(module: str, source: str) -> list[str]:
    """jinja2 outside output.rendering; torch, jax and matplotlib outside training and what is copied."""
    found = []
    for target, _ in imports(ast.parse(source)):
        outsider = target.split(".")[0]
        free = module.startswith(("training.", "checks.picture", *RUNTIMES)) or module.endswith(
            (".helpers", *COPIED)
        )
        if (outsider == "jinja2" and module != "output.rendering") or (outsider in HEAVY and not free):
            found.append(f"{module}: imports {outsider}")
    return found


def forbidden_uses(source: str) -> list[str]:
    """Names, attributes and imports of the functions that no text of a user may come near."""
    found = []
    for node in ast.walk(ast.parse(source)):
        names = {
            ast.Name: lambda n: [n.id],
            ast.Attribute: lambda n: [n.attr],
            ast.alias: lambda n: [n.name.split(".")[-1]],
        }.get(type(node), lambda _: [])(node)
        found += [name for name in names if name in FORBIDDEN_CALLS]
    return found


def written_files(source: str) -> list[str]:
    """The calls that write a file; ``savefig`` into memory is none."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Attribute, ast.Name)):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        words = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
        opened = name == "open" and any(
            isinstance(w, str) and set(w) & set("wax+") and len(w) < 4 for w in words
        )
        moved = ast.unparse(node.func) in ("os.replace", "shutil.move", "shutil.copy")
        in_memory = name == "savefig" and ast.unparse(node.args[0]) == "content"
        if opened or moved or (name in WRITING_CALLS and not in_memory):
            found.append(ast.unparse(node.func))
    return found


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


@pytest.fixture(params=MODULES, ids=name_of)
def module(request: pytest.FixtureRequest) -> tuple[str, str]:
    return name_of(request.param), request.param.read_text(encoding="utf-8")


def test_the_walk_finds_every_room() -> None:
    assert {path.relative_to(PACKAGE).parts[0] for path in MODULES if path.parent != PACKAGE} == {
        *BELOW,
        "cli",
    }
    inside = (path for room in ("derivation", "program") for path in (PACKAGE / room).glob("*/*.py"))
    assert {path.parent.relative_to(PACKAGE).as_posix() for path in inside} == {*FOLDERS}
    assert len(MODULES) > 40


def test_no_arrow_that_the_design_does_not_have(module: tuple[str, str]) -> None:
    assert wrong_arrows(*module) == []


def test_heavy_packages_stay_where_they_are_needed(module: tuple[str, str]) -> None:
    assert wrong_outsiders(*module) == []


def test_no_text_is_ever_run(module: tuple[str, str]) -> None:
    assert forbidden_uses(module[1]) == []


def test_one_room_writes_the_files_of_the_user(module: tuple[str, str]) -> None:
    name, source = module
    if not name.startswith("output.") and name not in SCRATCH_WRITERS:
        assert written_files(source) == []


@pytest.mark.parametrize(
    "source",
    ["path.write_text(x)", "open(p, 'w')", "path.open('ab')", "os.replace(a, b)", "figure.savefig('x.png')"],
)
def test_a_file_that_is_written_is_seen(source: str) -> None:
    assert len(written_files(source)) == 1


def test_every_module_says_what_it_is(module: tuple[str, str]) -> None:
    assert ast.get_docstring(ast.parse(module[1]))


@pytest.mark.parametrize("room", ["algebra", "declaration", "derivation", "method", "notation", "program"])
def test_a_room_of_many_modules_has_a_map(room: str) -> None:
    """Its own docstring names each of them once."""
    told = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8"))) or ""
    modules = sorted(path.name for path in (PACKAGE / room).glob("[!_]*.py"))
    assert sorted(re.findall(r"\b(\w+\.py)\b", told)) == modules


def test_modules_are_short(module: tuple[str, str]) -> None:
    assert len(module[1].splitlines()) <= LONGEST_MODULE


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("algebra.atoms", "from symmem.declaration.parser import parse"),
        ("algebra.atoms", "from symmem.notation.text import text"),
        ("notation.text", "from symmem.declaration.optimizer import Optimizer"),
        ("declaration.parser", "import symmem.derivation.derivation"),
        ("declaration.parser", "def f():\n    from symmem.derivation.derivation import derive"),
        ("derivation.gains", "from symmem.targets import registry"),
        ("derivation.gains", "from symmem.verification.literal import Literal"),
        ("derivation.past.history", "from symmem.derivation.orders.expansion import expand"),
        ("derivation.loss.verdicts", "from symmem.derivation.derivation import Derivation"),
        ("program.digits.stable_sums", "from symmem.program.statements import Loop"),
        ("verification.literal", "from symmem.algebra.atoms import GRAD"),
        ("verification.literal", "from symmem.derivation.derivation import derive"),
        ("documents.sections", "from symmem.verification.literal import Literal"),
        ("documents.sections", "from symmem.cli import main"),
        ("documents.sections", "from symmem import derive"),
        ("documents.sections", "import symmem"),
        ("documents.sections", "from .prose import Prose"),
        ("training.by_name", "from .runtime.probe import probe"),
        ("training.runtime.step", "from symmem.errors import SymmemError"),
        ("training.runtime.step", "from symmem.training.runtime.groups import Part"),
        ("training.runtime.step", "from ..by_name import Memoryless"),
        ("training.runtime.step", "import sympy"),
        ("targets.c.runtime.kernels", "import sympy"),
        ("targets.c.runtime.kernels", "from symmem.errors import SymmemError"),
        ("cli.derive", "from symmem.derivation.derivation import derive"),
        ("__init__", "from symmem.declaration.loading import load"),
        ("__init__", "from symmem.cli import main"),
    ],
)
def test_a_wrong_arrow_is_seen(name: str, source: str) -> None:
    assert len(wrong_arrows(name, source)) == 1


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("documents.sections", "from symmem import __version__\nfrom symmem.errors import SymmemError"),
        ("documents.sections", "from symmem.derivation.derivation import Derivation"),
        ("derivation.orders.at_step", "from symmem.derivation.gains import gains_at"),
        ("derivation.start", "from symmem.derivation.past.history import past_sums"),
        ("training.runtime.step", "import math\nfrom torch import Tensor\n\nfrom .groups import Part"),
        ("cli.derive", "from symmem.cli.options import NAME"),
        ("cli.derive", "def f():\n    from symmem.derivation.derivation import derive"),
        ("cli.derive", "if TYPE_CHECKING:\n    from symmem.derivation.derivation import Derivation"),
    ],
)
def test_a_right_arrow_is_let_through(name: str, source: str) -> None:
    assert wrong_arrows(name, source) == []


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("documents.sections", "import jinja2"),
        ("cli.derive", "def f():\n    from jinja2 import Environment"),
        ("verification.literal", "import torch.nn"),
        ("derivation.gains", "import jax"),
        ("notation.text", "from matplotlib import pyplot"),
    ],
)
def test_a_heavy_import_is_seen(name: str, source: str) -> None:
    assert len(wrong_outsiders(name, source)) == 1


@pytest.mark.parametrize("name", sorted(FORBIDDEN_CALLS))
def test_a_forbidden_call_is_seen(name: str) -> None:
    assert forbidden_uses(f"{name}(text)") == [name]
    assert forbidden_uses(f"sympy.{name}(text)") == [name]
    assert forbidden_uses(f"from sympy import {name} as innocent") == [name]
    assert forbidden_uses(f"run = {name}") == [name]


def questions_about_the_declaration(source: str) -> list[str]:
    """What a derivation must not ask: it reads a Method and its kernels, never a declared momentum variable."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in {"beta", "b"}:
            found.append(f"line {node.lineno}: .{node.attr}")
        elif isinstance(node, (ast.Name, ast.arg)):
            name = node.id if isinstance(node, ast.Name) else node.arg
            if name in {"beta", "Optimizer", "Momentum"}:
                found.append(f"line {node.lineno}: {name}")
        elif isinstance(node, ast.ImportFrom) and any(
            x.name in {"Optimizer", "Momentum"} for x in node.names
        ):
            found.append(f"line {node.lineno}: import from {node.module}")
    return found


@pytest.mark.parametrize("path", sorted((PACKAGE / "derivation").rglob("*.py")), ids=lambda path: path.stem)
def test_a_derivation_asks_kernels_and_not_the_declaration(path: Path) -> None:
    assert questions_about_the_declaration(path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        "from symmem.declaration.optimizer import Optimizer",
        "def f(variable): return variable.beta == 0",
        "def f(variable): return variable.b",
        "beta = 1",
        "def f(beta): return 1",
        "def f(x: Optimizer): return x",
    ],
)
def test_a_question_about_the_declaration_is_seen(source: str) -> None:
    assert questions_about_the_declaration(source)
