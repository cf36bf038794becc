"""Names of parameters in C and C++: macros of every header, keywords, types, functions; compiled, and by value."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from compiled import module
from sympy import Symbol

import symmem
from symmem import Momentum, Optimizer
from symmem.declaration.names import check_name
from symmem.declaration.records import Parameter
from symmem.errors import DeclarationError
from symmem.targets.c.build import build
from symmem.targets.c.names import fields_of, is_word

HEADERS = (
    "assert", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits", "locale", "math", "setjmp", "signal",
    "stdarg", "stdbool", "stddef", "stdint", "stdio", "stdlib", "string", "time", "uchar", "wchar", "wctype",
)  # fmt: skip
C_ONLY = ("complex", "stdalign", "stdatomic", "stdnoreturn", "threads")
COMPILERS = {"gcc": "c", "clang": "c", "g++": "c++", "clang++": "c++"}
ORDINARY = (
    "beta1", "eps", "EPS", "LAMBDA", "K", "size_t", "int8_t", "uint64_t", "ptrdiff_t", "sqrt", "fabs", "pow", "isnan",
    "memcpy", "numbers", "vectors", "result", "lanes", "root", "launch_f64", "checked", "in_range", "a1", "r1", "hv1",
    "p1", "x1", "theta_", "main", "M", "version",
)  # fmt: skip
"""Names that C has a use for, but that a field can have; and our own."""
HARD = (
    "DBL_MAX", "FLT_EPSILON", "INFINITY", "NAN", "M_PI", "errno", "linux", "unix", "complex", "stdin", "EOF", "BUFSIZ",
    "int8_t", "size_t", "fabs", "numbers", "errno_", "register", "and", "EPERM", "SIGINT", "SYMMEM_WIDE", "a1", "hv1",
)  # fmt: skip


def includes(language: str) -> str:
    names = HEADERS if language == "c++" else HEADERS + C_ONLY
    return "".join(f"#include <{name}.h>\n" for name in names)


@cache
def macros(compiler: str) -> frozenset[str]:
    """The macros that stand for something wherever they are written, whose names a user could write."""
    text = subprocess.run(
        [compiler, "-dM", "-E", "-x", COMPILERS[compiler], "-"],
        input=includes(COMPILERS[compiler]), check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    return frozenset(re.findall(r"^#define ([A-Za-z]\w*) ", text, flags=re.MULTILINE))


def struct_of(names: list[str], language: str) -> str:
    fields = "".join(f"    double {field};\n" for field in fields_of(names).values())
    return f"{includes(language)}struct params {{\n{fields}}};\nstruct params made;\n"


@pytest.mark.parametrize("compiler", COMPILERS)
def test_fields_behind_every_header(tmp_path: Path, compiler: str) -> None:
    """The struct of parameters compiles after all headers, whichever of their macros are its parameters."""
    names = sorted(macros(compiler) | set(ORDINARY))
    assert len(names) > 400
    source = tmp_path / ("names.cpp" if COMPILERS[compiler] == "c++" else "names.c")
    source.write_text(struct_of(names, COMPILERS[compiler]))
    done = subprocess.run([compiler, "-fsyntax-only", source], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]


def test_what_is_no_word_of_c_keeps_its_spelling() -> None:
    assert fields_of(ORDINARY) == {Symbol(name): name for name in ORDINARY}
    fields = fields_of(["errno", "errno_", "DBL_MAX", "beta"])
    assert list(fields.values()) == ["errno__", "errno_", "DBL_MAX_", "beta"]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_few_names_are_changed_without_need(compiler: str) -> None:
    """What is taken for a word is a macro of a header or a keyword; the table has no other."""
    ordinary = {
        "EPS",
        "MAX",
        "SCALE",
        "BETA_1",
        "TIMES",
        "Line",
        "LR",
        "STEP",
        "M_1",
        "L_2",
        "P_0",
        "SIGMA_1",
        "min_norm",
        "MINIMUM",
    }
    assert not any(map(is_word, ordinary - macros(compiler)))
    assert all(map(is_word, macros(compiler) - set(ORDINARY)))


def accepted(name: str) -> bool:
    try:
        check_name(name)
    except DeclarationError:
        return False
    return True


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_values_with_hard_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: str) -> None:
    """An optimizer with such parameters has the values of the same one with harmless names."""
    names = [name for name in HARD if accepted(name)]
    assert {"DBL_MAX", "int8_t", "size_t", "linux", "unix"} <= set(names)
    harmless = [f"q{k}" for k in range(len(names))]
    monkeypatch.setenv("CC", f"{compiler} -Wall -Wextra -Werror -pedantic")
    found = []
    for label, chosen in (("hard", names), ("mild", harmless)):
        optimizer = declared(label, chosen)
        build([symmem.derive(optimizer)], str(tmp_path / label))
        found.append(module(tmp_path / label, label))
    random = np.random.default_rng(0)
    theta, grad, hv = random.normal(size=(3, 50))
    values = random.uniform(0.1, 0.9, len(names))
    for n in (None, 0, 3):
        results = []
        for made, chosen in zip(found, (names, harmless), strict=True):
            given = dict(zip(chosen, values, strict=True))
            results.append(made.step_from(theta, grad, hv[None], n=n, lr=0.1, **given))
        assert results[0].tobytes() == results[1].tobytes()
    check_header(tmp_path / "hard", compiler)


def declared(name: str, parameters: list[str]) -> Optimizer:
    """Every parameter moves the update and, for the decay, the correction."""
    decay, eps, *others = parameters
    weights = " + ".join(f"{k}*{parameter}" for k, parameter in enumerate(others, start=1))
    return Optimizer(
        name=name,
        title=name.title(),
        phi=f"({weights})*m1/sqrt(m2 + {eps})",
        momentum=[Momentum("grad", decay, f"1 - {decay}"), Momentum("grad**2", decay, f"1 - {decay}")],
        parameters=[Parameter(parameter, default=0.5) for parameter in parameters],
    )


def check_header(folder: Path, compiler: str) -> None:
    """The header behind all others, in C and in C++; and a program that reads the defaults by their fields."""
    for language, command in (("c", compiler), ("c++", {"gcc": "g++", "clang": "clang++"}[compiler])):
        source = folder / f"use.{language.replace('+', 'p')}"
        source.write_text(
            f'{includes(language)}#include "symmem_hard.h"\n'
            "int main(void)\n{\n    struct symmem_hard_params params = SYMMEM_HARD_PARAMS_INIT;\n"
            "    return params.DBL_MAX_ == 0.5 && params.int8_t == 0.5 && params.linux_ == 0.5 ? 0 : 1;\n}\n"
        )
        run = [command, source, f"-I{folder / 'include'}", "-o", folder / "use"]
        done = subprocess.run(run, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:2000]
        assert subprocess.run([folder / "use"], check=False).returncode == 0
