"""What the documents say is so: every example is run, every command ends well, every file they name is there."""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest
import tl_stand_in
import torch
from command import run, spawn
from compiled import built
from machine import needs
from markdown import REPOSITORY, Document

import symmem
from symmem.training import Memoryless, WithMemory, on_triton
from symmem.training.runtime.fused import Fused

README, ARCHITECTURE, CONTRIBUTING, CHANGELOG = (
    Document(f"{name}.md") for name in ("README", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG")
)
MATHEMATICS, CODE, OPTIMIZERS = (
    Document(f"docs/{name}.md") for name in ("mathematics", "code", "optimizers")
)
DOCUMENTS = (README, ARCHITECTURE, CONTRIBUTING, CHANGELOG, MATHEMATICS, CODE, OPTIMIZERS)
SHELL = {". .venv/bin/activate", "pip install .", "pip install '.[torch]'"}
"""Commands that are no example of ours: the tests of the wheel and of a fresh machine run them."""
TOOLS = {"build": "cc", "--pdf": "pdflatex", "--certify": "coqc"}
"""Words of a command that need more than Python."""


@pytest.fixture(params=DOCUMENTS, ids=lambda document: document.path)
def document(request: pytest.FixtureRequest) -> Document:
    return request.param


@pytest.fixture
def folder(document: Document, tmp_path: Path) -> Path:
    """A folder with the files that the document shows."""
    for name, text in document.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_there_are_examples() -> None:
    assert len(README.sessions) >= 3
    assert len(README.commands) >= 15
    assert len(README.files) == 3
    assert len(CONTRIBUTING.files) == len(ARCHITECTURE.files) == 1
    assert len(ARCHITECTURE.blocks("python")) >= 5
    assert len(CONTRIBUTING.commands) >= 6
    assert len(MATHEMATICS.formulas) > 400
    assert len(CODE.blocks("python")) >= 3
    assert not any(document.blocks("py") for document in DOCUMENTS), "an example that nobody runs"


def test_sessions_show_what_is_printed(document: Document, folder: Path) -> None:
    same = doctest.OutputChecker().check_output
    for command, expected in document.sessions:
        program, *arguments = command.split()
        assert program == "symmem"
        require(arguments)
        printed = spawn(*arguments, cwd=folder).stdout.decode()
        assert same(expected, printed, doctest.ELLIPSIS), f"$ {command}\n{printed}"


def test_python_examples(document: Document, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    before, path = set(sys.modules), list(sys.path)
    code = "\n".join(document.blocks("python"))
    needs(*(tool for word, tool in TOOLS.items() if f'"{word}"' in code))
    example = doctest.DocTestParser().get_doctest(code, {}, document.path, None, 0)
    report: list[str] = []
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=report.append)
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if str(folder) in str(getattr(sys.modules[name], "__file__", None)):
            del sys.modules[name]
    assert results.failed == 0, "".join(report)
    assert all(">>> " in block for block in document.blocks("python")), "an example that nobody runs"


def test_commands_end_well(document: Document, folder: Path) -> None:
    for command in document.commands:
        program, *arguments = command.split()
        if program == "make":
            targets = re.findall(r"^([\w-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
            assert arguments[0] in targets, command
        elif command not in SHELL:
            assert program == "symmem", command
            require(arguments)
            done = run(*arguments, cwd=folder)
            assert done.returncode == 0, (command, done.stderr)


def require(arguments: list[str]) -> None:
    needs(*(tool for word, tool in TOOLS.items() if word in arguments))


def test_the_c_example(shared_folder: Path, tmp_path: Path) -> None:
    """Inside a program for the loss theta^2, linked with the built library; theta moves towards 0.

    Two steps with memory add up the gradient 2: 0.1 * 2, then 0.9 * 0.2 + 0.1 * 2.
    """
    needs("cc")
    example, with_memory = CODE.blocks("c")
    include, _, body = example.partition("\n")
    program = f"""{include}
static void hessian_times(const double *theta, const double *v, double *hv) {{ (void)theta; hv[0] = 2.0 * v[0]; }}
int main(void) {{
    double theta[] = {{1.0}}, grad[] = {{2.0}}, v[1], hv[1], memory[2] = {{0}}, lr = 1e-3, strength = -1;
    const size_t count = 1;
    const int64_t n = 3;
{body}
    if (!(theta[0] > 0.99 && theta[0] < 1.0)) return 1;
{with_memory}
    return !(memory[0] > 0.3799999 && memory[0] < 0.3800001 && theta[0] > 0.9 && theta[0] < 1.0);
}}
"""
    (tmp_path / "main.c").write_text(program, encoding="utf-8")
    kernels = built(shared_folder, ("adamw",))
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{kernels / 'include'}"]
    library = [str(kernels / "lib" / "libsymmem_adamw.a"), "-lm", "-fopenmp"]
    subprocess.run(["cc", *flags, "main.c", "-o", "main", *library], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "main"], check=True)


def test_the_triton_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the stand-in: at n = 0 AdamW moves by the sign of the gradient, and decay, with its memory and without."""
    example, training = CODE.blocks("triton")
    command, _, body = example.partition("\n")
    assert spawn(*command.split()[2:], cwd=tmp_path).returncode == 0
    model, given = torch.nn.Linear(2, 1), {"Memoryless": Memoryless, "WithMemory": WithMemory}
    with pytest.MonkeyPatch.context() as changes:
        changes.setattr(on_triton, "triton_kernels", lambda optimizer: Fused(optimizer.name, frozenset()))
        changes.setattr(on_triton, "_is_interpreted", lambda: True)
        for line in training.splitlines():
            exec(line, made := {**given, "model": model})
            assert made["optimizer"].on_triton
    monkeypatch.syspath_prepend(tmp_path)
    for name, module in tl_stand_in.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    first, second = torch.nn.Parameter(torch.tensor([1.0, -2.0])), torch.nn.Parameter(torch.tensor([[3.0]]))
    given = {"torch": torch, "parameters": [first, second], "n": 0}
    exec(body, {**given, "loss": lambda tensors: sum((each**4).sum() for each in tensors)})
    del sys.modules["adamw_triton"]
    expected = torch.tensor([1.0, -2.0, 3.0])
    for _ in range(2):
        expected = expected - 1e-3 * (torch.sign(expected) + 0.01 * expected)
    torch.testing.assert_close(torch.cat([first, second[0]]), expected)


def test_the_octave_example(tmp_path: Path) -> None:
    """The command of its first line, then its lines; at n = 0 AdamW moves by the sign of the gradient, and decay."""
    needs("octave-cli")
    (example,) = CODE.blocks("octave")
    command, _, body = example.partition("\n")
    assert spawn(*command.split()[2:], cwd=tmp_path).returncode == 0
    (tmp_path / "example.m").write_text(body + "printf('%.9f ', theta)\n", encoding="utf-8")
    done = subprocess.run(
        ["octave-cli", "--no-init-file", "example.m"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
        text=True,
    )
    first, second = map(float, done.stdout.split())
    assert abs(first - (1 - 1e-3 * 1.01)) < 1e-8
    assert abs(second - (-2 + 1e-3 * 1.02)) < 1e-8


def test_links_lead_somewhere(document: Document) -> None:
    here = (REPOSITORY / document.path).parent
    for target in document.links:
        path, _, anchor = target.partition("#")
        linked = Document(str((here / path).relative_to(REPOSITORY))) if path else document
        assert (REPOSITORY / linked.path).exists(), target
        assert not anchor or f"#{anchor}" in linked.anchors, target


def test_files_are_where_the_documents_say(document: Document) -> None:
    for path in document.paths:
        pattern = re.sub(r"<\w+>", "*", path.removesuffix("/"))
        assert list(REPOSITORY.glob(pattern)), path


def test_versions_agree() -> None:
    """The package, its citation and its changelog name one version."""
    cited = re.findall(r"^version: (.*)$", (REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    told = re.findall(r"^## (\d\S*)", CHANGELOG.text, re.MULTILINE)
    assert cited == told[:1] == [symmem.__version__]


def test_the_map_has_the_arrows_of_the_test() -> None:
    """The tables of rooms and folders in ARCHITECTURE.md are those of test_architecture.py."""
    tree = ast.parse(Path(__file__).with_name("test_architecture.py").read_text(encoding="utf-8"))
    values = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for path, table in ((r"\w+", "BELOW"), (r"\w+/\w+", "FOLDERS")):
        rows = re.findall(rf"^\| `({path})` \| .* \| (.*) \|$", ARCHITECTURE.text, re.MULTILINE)
        shown = {room: set(re.findall(r"\w+", below)) for room, below in rows}
        assert shown == {
            room: below or set()
            for room, below in ast.literal_eval(ast.unparse(values[table]).replace("set()", "None")).items()
        }


def test_formulas_survive_markdown(document: Document) -> None:
    """Between dollars GitHub still reads Markdown: ``}_`` can open emphasis, a backslash before punctuation is lost."""
    for formula in document.formulas:
        assert not re.search(r"[})\]']_|\\[,;!|{}:%]|[*<>\n]|^\s|\s$", formula), formula


@pytest.mark.parametrize("wrong", [r"\|x\|", r"\bar{g}_l", "a*b", "a<b", r"g\,v"])
def test_a_formula_that_markdown_breaks_is_seen(wrong: str) -> None:
    with pytest.raises(AssertionError):
        test_formulas_survive_markdown(Fixed(f"text ${wrong}$ text"))


class Fixed(Document):
    """A document with a given text."""

    def __init__(self, text: str) -> None:
        object.__setattr__(self, "path", "")
        self.__dict__["text"] = text
