"""Names of parameters in C and C++: macros of every header, keywords, types, functions; compiled, and by value."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import probe
import pytest
from compiled import module
from hard_names import RATE, assert_right, derivation_of, is_accepted
from sympy import Symbol

from symmem.derivation.derivation import Derivation
from symmem.program.lowering import lower
from symmem.targets.c.build import build
from symmem.targets.c.names import fields_of, is_word
from symmem.targets.c.wrapper import kernel_module

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


def chosen_names() -> tuple[str, ...]:
    """The hard ones, then those of the module that calls the library, as many as a declaration may have."""
    wrapper = kernel_module(lower(probe.derivation("adamw", 1)), "kernels")
    words = sorted(set(re.findall(r"[A-Za-z]\w*", wrapper, re.ASCII)).difference(HARD))
    return tuple(filter(is_accepted, (*HARD, *words)))[:64]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_values_with_hard_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: str) -> None:
    """The whole way: built without a warning, called from Python, and the header used behind all others."""
    derivation = derivation_of(chosen_names(), label="hard")
    values = probe.parameters_of(derivation.optimizer)
    assert {"DBL_MAX", "int8_t", "size_t", "linux", "unix", "errno", "hv1"} <= set(values)
    monkeypatch.setenv("CC", f"{compiler} -Wall -Wextra -Werror -pedantic")
    build([derivation], str(tmp_path))
    made = module(tmp_path, "hard")
    for n in (None, 0, 3):
        step = made.step(probe.THETA64, probe.contraction, probe.contraction, n=n, lr=RATE, **values)
        assert_right(step, derivation, n)
    check_header(tmp_path, compiler, derivation)


def check_header(folder: Path, compiler: str, derivation: Derivation) -> None:
    """The header behind all others, in C and in C++; and a program that reads the defaults by their fields."""
    fields = {"DBL_MAX": "DBL_MAX_", "int8_t": "int8_t", "linux": "linux_", "errno": "errno__", "hv1": "hv1"}
    defaults = derivation.optimizer.defaults
    conditions = [f"params.{field} == {float(defaults[name])!r}" for name, field in fields.items()]
    for language, command in (("c", compiler), ("c++", {"gcc": "g++", "clang": "clang++"}[compiler])):
        source = folder / f"use.{language.replace('+', 'p')}"
        source.write_text(
            f'{includes(language)}#include "symmem_hard.h"\n'
            "int main(void)\n{\n    struct symmem_hard_params params = SYMMEM_HARD_PARAMS_INIT;\n"
            f"    return {' && '.join(conditions)} ? 0 : 1;\n}}\n"
        )
        run = [command, source, f"-I{folder / 'include'}", "-o", folder / "use"]
        done = subprocess.run(run, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:2000]
        assert subprocess.run([folder / "use"], check=False).returncode == 0
