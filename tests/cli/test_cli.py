"""The command line as a user has it: values, numbers put in, the shape of the text, every kind of error.

Values are compared as expressions: the JSON is read back with SymPy and held against the Derivation.
"""

from __future__ import annotations

import itertools
import os
import pty
import re
import stat
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from command import ENVIRONMENT, REPOSITORY, back, data, output, run, spawn
from machine import needs
from sympy import Expr, Float, Integer, Rational, S, Sum, Symbol, nsimplify, simplify, sympify
from sympy.core.function import AppliedUndef

import symmem
from symmem.declaration.catalogue import FIRST, names
from symmem.derivation.derivation import Derivation
from symmem.documents.account import At, account_of
from symmem.documents.columns import Style
from symmem.documents.paper.escaping import escape
from symmem.documents.paper.fragment import latex_fragment
from symmem.documents.terminal import terminal_text
from symmem.notation.decimals import long_integers, shown
from symmem.output import files

ATOMS = ("theta", "grad", "loss", "lr", "n", "s")


@cache
def derivation(name: str) -> Derivation:
    return symmem.derive(symmem.load(name))


# values


@pytest.mark.parametrize("name", FIRST)
def test_json_holds_the_derivation(name: str) -> None:
    d, record = derivation(name), data(name)
    assert (record["schema"], record["symmem"], record["optimizer"]) == (1, symmem.__version__, name)
    assert (record["order"], record["at"]) == (1, "n")
    assert set(record["symbols"]) == {*ATOMS, *d.optimizer.symbols}
    assert {n: record["symbols"][n] for n in d.optimizer.symbols} == d.optimizer.symbols
    pairs = [
        (record["memoryless"], d.F),
        (record["correction"], d.M),
        (record["limit"]["memoryless"], d.limit.F),
        (record["limit"]["correction"], d.limit.M),
        *zip(record["F"], d.coefficients, strict=True),
        *zip(record["G"], d.modified_equation, strict=True),
        *zip(record["shift"], d.shift, strict=True),
    ]
    loss = record["modified_loss"]
    if d.modified_loss is None:
        assert d.obstruction is not None
        assert loss["obstruction"] == str(d.obstruction.reason)
        pairs += zip(loss["terms"], d.obstruction.terms, strict=True)
    else:
        assert loss["regime"] == str(d.modified_loss.regime)
        pairs += [
            (loss["potential"], d.modified_loss.potential),
            (loss["preconditioner"], d.modified_loss.preconditioner),
        ]
    for entry, expression in pairs:
        assert set(entry) == {"sympy", "latex"}
        assert simplify(back(record, entry) - expression) == 0
    assert record["assumptions"] == [str(item) for item in d.assumptions]


def test_a_wrong_value_is_seen() -> None:
    record = data("heavyball")
    record["correction"]["sympy"] = record["correction"]["sympy"].replace("2*n + 1", "2*n - 1")
    assert simplify(back(record, record["correction"]) - derivation("heavyball").M) != 0


@pytest.mark.parametrize("name", FIRST)
def test_the_limit_alone(name: str) -> None:
    d, record = derivation(name), data(name, "--limit")
    assert record["at"] == "limit"
    assert simplify(back(record, record["memoryless"]) - d.limit.F) == 0
    assert simplify(back(record, record["correction"]) - d.limit.M) == 0


@pytest.mark.parametrize("name", FIRST)
@pytest.mark.parametrize("step", [0, 3])
def test_a_step_is_the_substitution(name: str, step: int) -> None:
    d, record = derivation(name), data(name, "--at-step", str(step))
    assert record["at"] == step
    for key, symbolic in (("memoryless", d.F), ("correction", d.M)):
        expected = symbolic.xreplace({Symbol("n"): Integer(step)}).replace(
            Sum, lambda body, limits: Sum(body, limits).doit()
        )
        # No step has been taken before the first: a product with an empty sum is zero.
        nothing = expected.replace(
            lambda part: isinstance(part, AppliedUndef) and 0 in part.args, lambda _: S.Zero
        )
        expected = nothing.replace(
            lambda part: isinstance(part, AppliedUndef) and 0 in part.args, lambda _: S.Zero
        )
        assert simplify(back(record, record[key]) - expected) == 0


def test_the_first_step_has_no_memory() -> None:
    record = data("adamw", "--at-step", "0")
    assert back(record, record["correction"]).subs({"beta1": Rational(1, 3), "beta2": Rational(1, 7)}) == 0


@pytest.mark.parametrize("step", [0, 3, 1000])
def test_numbers_put_in_are_the_substitution(step: int) -> None:
    """Exactly, and for a thousand steps too; the point is arbitrary."""
    record = data(
        "adam", "--set", "beta1=0.9", "--set", "beta2=0.99", "--set", "eps=1/4", "--at-step", str(step)
    )
    assert not set(record["symbols"]) & {"beta1", "beta2", "eps"}
    values = {"beta1": Rational(9, 10), "beta2": Rational(99, 100), "eps": Rational(1, 4), "n": Integer(step)}
    point = {Symbol("grad"): Rational(1, 3), Symbol("lr"): Rational(1, 5)}
    table = {Symbol(name): value for name, value in values.items()}
    direction = sympify("D2L(v)").func
    for key, symbolic in (("memoryless", derivation("adam").F), ("correction", derivation("adam").M)):
        found, expected = (
            e.xreplace(point).replace(direction, lambda v: 2 * v)
            for e in (back(record, record[key]), symbolic.xreplace(table))
        )
        assert nsimplify(found - expected) == 0
        assert not found.free_symbols


def test_a_file_and_standard_input_are_the_same(tmp_path: Path) -> None:
    text = output("show", "nesterov")
    (tmp_path / "copy.toml").write_text(text, encoding="utf-8")
    from_file = run("derive", "copy.toml", cwd=tmp_path)
    from_stdin = run("derive", "-", given=text.encode())
    assert from_file.stdout == from_stdin.stdout == run("derive", "nesterov").stdout != b""


def test_show_is_the_file_itself() -> None:
    for name in FIRST:
        (path,) = (REPOSITORY / "symmem" / "declaration" / "zoo").glob(f"*/{name}.toml")
        assert output("show", name) == path.read_text(encoding="utf-8")


def test_list_names_the_zoo_in_order() -> None:
    assert tuple(line.split()[0] for line in output("list").splitlines()) == names()
    sign = [line.split()[0] for line in output("list", "--family", "sign").splitlines()]
    assert tuple(sign) == names("sign")
    assert b"known are momentum, rmsprop" in run("list", "--family", "adams").stderr
    assert run("list", "--family", "adams").returncode == 2


# the text


def columns(line: str) -> int:
    return len(line.replace("\N{COMBINING TILDE}", ""))


@pytest.mark.parametrize("name", FIRST)
@pytest.mark.parametrize("at", ["n", 3])
def test_no_line_is_longer_than_the_terminal(name: str, at: At) -> None:
    for width, unicode in itertools.product((40, 80, 120), (True, False)):
        text = terminal_text(account_of(derivation(name), at), Style(width, unicode))
        assert max(map(columns, text.splitlines())) <= width
        assert unicode or text.isascii()
        assert not re.search(r"[?\x1b]|[ \t]$", text, re.MULTILINE)
        assert text.endswith("\n")
        assert not text.endswith("\n\n")


@pytest.mark.parametrize(("width", "used"), [("40", 40), ("80", 80), ("120", 120), ("20", 40), ("500", 120)])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_the_terminal_is_asked(width: str, used: int, encoding: str) -> None:
    expected = terminal_text(account_of(derivation("adamw")), Style(used, unicode=encoding == "utf-8"))
    assert output("derive", "adamw", COLUMNS=width, PYTHONIOENCODING=encoding) == expected


def test_ascii_says_the_same_in_ascii() -> None:
    text = output("derive", "heavyball", PYTHONIOENCODING="ascii")
    assert "L~ = L + h beta/(2 (1 - beta)^2) * ||grad L||^2" in text
    assert "theta <- theta - h P grad L~" in text


def test_a_title_beyond_ascii_comes_through(tmp_path: Path) -> None:
    text = output("show", "gd").replace('"GD"', '"Gérard’s ∇"').replace("Cauchy", "Чебышёв")
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    path = str(tmp_path / "own.toml")
    assert output("derive", path).startswith("Gérard’s ∇ (Чебышёв 1847)\n")
    for form in ("text", "latex", "json"):
        plain = output("derive", path, "--format", form, PYTHONIOENCODING="ascii")
        assert plain.isascii()
        assert "?" not in plain
    assert output("derive", path, PYTHONIOENCODING="ascii").startswith("Gerard's \\u2207 (")
    assert run("show", path, PYTHONIOENCODING="ascii").stdout.decode("utf-8") == text


def test_labels_and_equals_signs_stand_in_columns() -> None:
    """The tilde of L~ takes no column."""
    for name in FIRST:
        lines = terminal_text(account_of(derivation(name)), Style()).splitlines()
        for above, below in itertools.pairwise(lines):
            if re.match(r"    (L̃|F|F⁽ⁿ⁾|G₀) +=", above) and re.match(r"    \S+ +=", below):
                tilde = above.count("\N{COMBINING TILDE}")
                assert above.index("=") - tilde == below.index("=")


def test_a_continuation_stands_under_its_formula() -> None:
    lines = terminal_text(account_of(derivation("adamw")), Style(40)).splitlines()
    first = lines.index("    L̃ = L")
    assert lines[first + 1].startswith("        + h (")


def test_numbers_of_any_length_are_written_exactly() -> None:
    """Longer than the integers that Python writes by itself."""
    record = data("heavyball", "--set", "beta=0.9", "--at-step", "9000")
    assert sys.get_int_max_str_digits() == 4300
    with long_integers():
        expected = 10 * (10**9001 - 9**9001)
        assert record["memoryless"]["sympy"] == f"{expected // 10}*grad/{10**9000}"


def test_long_numbers_are_rounded_for_reading_only() -> None:
    arguments = ("derive", "adamw", "--set", "beta1=0.9", "--set", "beta2=0.999", "--at-step", "1000")
    exact = data(*arguments[1:])["correction"]["sympy"]
    with long_integers():
        assert max(map(len, re.findall(r"\d+", exact))) > 1000
        beta1, beta2, n = Rational(9, 10), Rational(999, 1000), 1000
        first, second = (b / (1 - b) - (n + 1) * b ** (n + 1) / (1 - b ** (n + 1)) for b in (beta1, beta2))
        assert {str(second.p), str(second.q)} <= set(re.findall(r"\d+", exact))
    for form in ("text", "latex"):
        shown_numbers = re.findall(r"\d{3}\.\d+", output(*arguments, "--format", form))
        assert len(shown_numbers) == 2
        for number in shown_numbers:
            assert len(number.replace(".", "")) == 10
    written = output(*arguments)
    assert f"{Float(second, 10)} ε/" in written
    assert f"− {Float(second - first, 10)}/√" in written


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (Rational(1, 3), "1/3"),
        (Rational(10**12 + 1, 10**12 - 1), "1.000000000"),
        (Rational(2, 3) ** 300, "1.488066306e-53"),
        (Rational(999, 1000), "0.999"),
        (Rational(1, 10**8), "1/100000000"),
        (Rational(-999, 10**8), "-9.99e-6"),
        (Rational(2, 7) * Symbol("lr"), "2*lr/7"),
    ],
)
def test_how_a_number_is_shown(given: Expr, expected: str) -> None:
    assert str(shown(given)) == expected


@pytest.mark.parametrize("name", FIRST)
def test_latex_is_balanced(name: str) -> None:
    for at in ("n", 3, "limit"):
        text = latex_fragment(account_of(derivation(name), at))
        assert text.count("{") == text.count("}")
        assert text.count("$") % 2 == 0
        assert text.count(r"\begin") == text.count(r"\end")
        for row in re.split(r"\\\\\n|\\end|\n", text):
            assert len(re.findall(r"\\left[^a-z]", row)) == len(re.findall(r"\\right[^a-z]", row))
        words = re.sub(r"\$.*?\$|\\begin\{align.*?\\end\{align|\\_", "", text, flags=re.DOTALL)
        assert not re.search(r"[_^&~#]|(?<!\A)%", words)


def test_plain_words_are_harmless_in_latex(tmp_path: Path) -> None:
    assert escape("a_b & 50% #1 {x} $y") == r"a\_b \& 50\% \#1 \{x\} \$y"
    assert escape("~ ^ < \\") == r"\textasciitilde{} \textasciicircum{} \ensuremath{<} \textbackslash{}"
    text = output("show", "gd").replace('"m1"', '"sqrt(m1)"')
    (tmp_path / "rooted.toml").write_text(text, encoding="utf-8")
    assert r"warning: $\Phi$ contains" in output("derive", str(tmp_path / "rooted.toml"), "--format", "latex")


def terminal(*arguments: str, **environment: str) -> str:
    """The output on a pseudo-terminal."""
    main, other = pty.openpty()
    settings = {**ENVIRONMENT, "TERM": "xterm", **environment}
    process = subprocess.Popen(
        [sys.executable, "-m", "symmem", *arguments], stdout=other, stderr=other, stdin=other, env=settings
    )
    os.close(other)
    parts = []
    try:
        while part := os.read(main, 65536):
            parts.append(part)
    except OSError:  # the other side has closed
        pass
    os.close(main)
    assert process.wait(timeout=60) == 0
    return b"".join(parts).decode().replace("\r\n", "\n")


def test_colour_on_a_terminal_alone() -> None:
    plain = output("derive", "gd")
    environment = {"NO_COLOR": ""}
    shown_there = terminal("derive", "gd", **environment)
    assert "\x1b[1mModified loss\x1b[0m" in shown_there
    assert re.sub(r"\x1b\[\d*m", "", shown_there) == plain
    assert terminal("derive", "gd", NO_COLOR="1") == plain
    assert terminal("derive", "gd", TERM="dumb", **environment) == plain


# what is imported


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (["-h"], ["sympy", "flint", "numpy", "jinja2", "rich"]),
        (["list"], ["sympy", "flint", "numpy", "jinja2", "rich"]),
        (["derive", "-h"], ["sympy", "flint", "numpy", "jinja2", "rich"]),
        (["derive", "adamw"], ["numpy", "jinja2", "rich", "torch", "jax", "matplotlib"]),
    ],
)
def test_what_is_not_needed_is_not_imported(arguments: list[str], absent: list[str]) -> None:
    program = (
        "import sys\nfrom symmem.cli.group import commands\n"
        f"commands.main({arguments!r}, standalone_mode=False)\n"
        f"print('loaded:', [name for name in {absent!r} if name in sys.modules], 'click' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=ENVIRONMENT)
    assert done.stdout.decode().splitlines()[-1] == "loaded: [] True"


# errors

ERRORS = [
    ([], "command"),
    (["fly"], "fly"),
    (["--fly"], "--fly"),
    (["derive"], "NAME"),
    (["show"], "NAME"),
    (["list", "adam"], "adam"),
    (["derive", "adam", "sgd"], "sgd"),
    (["derive", "adma"], "adma"),
    (["show", "adma"], "adma"),
    (["derive", ""], "''"),
    (["derive", "missing.toml"], "missing.toml"),
    (["derive", "missing/adam"], "missing/adam"),
    (["derive", "."], "directory"),
    (["derive", "a\nb"], r"a\nb"),
    (["derive", "adam", "--order", "0"], "0"),
    (["derive", "adam", "--order", "-1"], "-1"),
    (["derive", "adam", "--order", "one"], "one"),
    (["derive", "adam", "--at-step", "-1"], "-1"),
    (["derive", "adam", "--at-step", "1.5"], "1.5"),
    (["derive", "adam", "--at-step"], "--at-step"),
    (["derive", "adam", "--at-step", "3", "--limit"], "--limit"),
    (["derive", "adam", "--format", "html"], "html"),
    (["derive", "adam", "--set", "beta1"], "beta1"),
    (["derive", "adam", "--set", "=0.9"], "=0.9"),
    (["derive", "adam", "--set", "beta1=0.9,beta2=0.99"], "write --set once for each"),
    (["derive", "adam", "--set", "beta1==0.9"], "is not a decimal number"),
    (["derive", "adam", "--set", "beta1="], "beta1="),
    (["derive", "adam", "--set", "beta3=0.9"], "beta3"),
    (["derive", "adam", "--set", "lr=0.1"], "lr"),
    (["derive", "adam", "--set", "beta1=half"], "half"),
    (["derive", "adam", "--set", "beta1=nan"], "nan"),
    (["derive", "adam", "--set", "beta1=1/0"], "1/0"),
    (["derive", "adam", "--set", "beta1=1"], "beta1"),
    (["derive", "adam", "--set", "eps=0"], "eps"),
    (["derive", "adam", "--set", "beta1=__import__('os')"], "__import__"),
    (["derive", "adam", "--set", "beta1=0.9", "--set", "beta1=0.8"], "twice"),
    (["derive", "adam", "-o", "missing/out.txt"], "missing/out.txt"),
    (["derive", "adam", "-o", "."], "'.'"),
    (["derive", "adam", "-o", ""], "''"),
    (["derive", "adam", "-o", "new/"], "new/"),
    (["derive", "heavyball", "--set", "beta=0.9", "--at-step", "1000000000"], "1000000000"),
    (["derive", "heavyball", "--set", "beta=0.9", "--at-step", "99999", "--format", "json"], "digits"),
]


@pytest.mark.parametrize(
    ("arguments", "word"), ERRORS, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_an_error_is_one_line(arguments: list[str], word: str, tmp_path: Path) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == b""
    message = done.stderr.decode()
    assert message.startswith("symmem: ")
    assert message.count("\n") == 1
    assert message.endswith("\n")
    assert word in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "name"),
        (b"name = ", "TOML"),
        (b"\xff\xfe", "UTF-8"),
        (b"x" * 1_000_001, "larger"),
        (b'name = "x"\nphi = "m2"\n[[momentum]]\ng = "grad"\nbeta = "0"\nb = "1"\n', "m2"),
        (b'name = "x"\nphi = "m1"\n[[momentum]]\ng = "__import__(1)"\nbeta = "0"\nb = "1"\n', "__import__"),
        (b'name = "x"\nphi = "m1"\n[[momentum]]\ng = "grad"\nbeta = "0"\nb = "n"\n', "limit"),
    ],
)
def test_a_bad_file_is_named(content: bytes, word: str, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_bytes(content)
    for arguments, given, name in ((["bad.toml"], b"", "bad.toml"), (["-"], content, "standard input")):
        done = run("derive", *arguments, "--limit", given=given, cwd=tmp_path)
        message = done.stderr.decode()
        assert (done.returncode, done.stdout, message.count("\n")) == (2, b"", 1)
        assert message.startswith("symmem: ")
        assert word in message
        assert name in message or word == "limit"  # the derivation knows the optimizer by its name


def test_an_error_in_a_process_of_its_own(tmp_path: Path) -> None:
    done = spawn("derive", "adma", "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert done.stderr.startswith(b"symmem: 'adma' is neither")


def test_help_and_version_are_no_errors() -> None:
    for arguments in (["-h"], ["--help"], ["list", "-h"], ["show", "-h"], ["derive", "-h"]):
        assert output(*arguments).startswith("Usage: ")
    assert output("--version") == f"symmem {symmem.__version__}\n"


@pytest.mark.parametrize("arguments", [("derive", "gd"), ("list",), ("-h",), ("--version",)])
def test_a_full_disk_is_an_error(arguments: tuple[str, ...]) -> None:
    """One line and 2; not the 120 of an interpreter whose own flush at exit fails as well."""
    needs("/dev/full")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "symmem", *arguments],
            stdout=full, stderr=subprocess.PIPE, check=False, env=ENVIRONMENT,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.decode().startswith("symmem: standard output cannot be written")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("arguments", [("derive", "gd"), ("derive", "nowhere")])
def test_an_error_that_nobody_can_hear_keeps_its_code(arguments: tuple[str, ...]) -> None:
    needs("/dev/full")
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "symmem", *arguments]
        assert subprocess.run(command, stdout=full, stderr=full, check=False, env=ENVIRONMENT).returncode == 2


def test_a_reader_that_leaves_early_is_no_error() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "symmem", "derive", "adamw"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert (process.stderr.read(), process.wait(timeout=60)) == (b"", 0)
    process.stderr.close()


# files


@pytest.mark.parametrize("form", ["text", "latex", "json"])
def test_a_file_holds_what_is_printed(form: str, tmp_path: Path) -> None:
    done = run(
        "derive", "adamw", "--format", form, "-o", "out", cwd=tmp_path, PYTHONIOENCODING="ascii", COLUMNS="50"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (tmp_path / "out").read_text(encoding="utf-8") == output("derive", "adamw", "--format", form)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    assert run("derive", "adam", "--set", "beta1=2", "-o", str(target)).returncode == 2
    assert target.read_text() == "old"


def test_links_devices_and_permissions_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "real.txt", tmp_path / "link.txt"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    files.write_whole(str(link), "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    files.write_whole(str(pipe), "through")
    assert reader.communicate(timeout=30)[0] == b"through"
    assert stat.S_ISFIFO(pipe.stat().st_mode)
