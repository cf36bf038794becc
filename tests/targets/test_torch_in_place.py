"""Formulas of the runtime in tensors of their own: its values, and no tensor of the caller is written."""

from __future__ import annotations

from typing import Any

import mpmath
import pytest
import torch
from sympy import Abs, Expr, Max, Min, Pow, Rational, Symbol, lambdify, sqrt, symbols
from truth import SHOWN

from symmem.program.scope import Scope
from symmem.program.statements import Entrywise
from symmem.targets.printing import own_name
from symmem.targets.python.printing import PythonPrinter
from symmem.targets.torch.dialect import OUTER, spelling
from symmem.targets.torch.in_place import tensor_lines
from symmem.training.loading import declared, formulas_of
from symmem.training.runtime.formulas import FirstOrder

X, Y, Z, C, D, R = symbols("x y z c d r")
CASES: list[Expr] = [
    X,
    C,
    -X,
    C - X,
    C * X + D,
    X + Y - Z,
    C * X * Y + D * Z,
    C * X / Y - Z / (Y * X),
    1 / X,
    C / (X * Y),
    D / X**2 + X**3,
    X ** Rational(7, 3),
    X**6 - Y**-5,
    C * (X + D * Y) ** 2 + (X + D * Y),
    C * (D * X + C * Y),
    Abs(X - Y) * Max(X, Y, C) + Min(D, X) * Min(X, Z),
    sqrt(X) + C * Z,
    R * X + D * Z,
    X * Y * Z * R**2 * C + R,
    X * Y * Z - C * X * Y * Z + D,
]


@pytest.mark.parametrize("formula", CASES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_formula(formula: Expr, dtype: torch.dtype) -> None:
    given = [torch.rand(5, dtype=dtype) + 0.25 for _ in range(3)]
    before = [each.clone() for each in given]
    found = _function(formula)(*given, 0.75, -1.5)
    assert all(torch.equal(*pair) for pair in zip(given, before, strict=True))
    exact = lambdify((X, Y, Z, C, D), formula.xreplace({R: Pow(X + Y, -Rational(1, 2))}), "mpmath")
    rows = zip(*(x.tolist() for x in given), strict=True)
    truth = torch.tensor([float(exact(*map(mpmath.mpf, (*row, 0.75, -1.5)))) for row in rows], dtype=dtype)
    unit = 64 * torch.finfo(dtype).eps
    value = torch.as_tensor(found, dtype=dtype).broadcast_to(5)
    torch.testing.assert_close(value, truth, rtol=unit, atol=unit)


def test_few_calls_and_tensors() -> None:
    text = _text(C * Z + D * X * R)
    assert len(text) == 4
    assert "addcmul_" in text[-1]
    assert sum(" = torch." in line for line in text) == 2


@pytest.mark.parametrize("name", [name for name in SHOWN if name != "lion-k"])  # whose map sees whole tensors
def test_nothing_given_is_written(name: str) -> None:
    formulas = formulas_of(declared(name))
    assert isinstance(formulas, FirstOrder)
    for function in _functions(formulas):
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        given: list[Any] = [
            torch.rand(7, dtype=torch.float64) + 0.5 if _is_vector(each) else 0.5 for each in names
        ]
        before = [x.clone() if isinstance(x, torch.Tensor) else x for x in given]
        function(*given)
        for x, y in zip(given, before, strict=True):
            torch.testing.assert_close(x, y, rtol=0, atol=0)


def _is_vector(name: str) -> bool:
    sums = [f"x{k}" for k in range(1, 9)]
    return name in ("theta", "g", *sums, *(f"{x}_" for x in sums)) or name.startswith(("hv", "path"))


def _functions(formulas: FirstOrder) -> list[Any]:
    found: list[Any] = [formulas.plain, formulas.running.update]
    if not formulas.running.chain:
        found += formulas.running.taken_in
    if formulas.memory is not None and not formulas.memory.is_one_line:
        memory = formulas.memory
        found += [memory.past, memory.corrected, memory.shared, memory.correction]
        found += [memory.on_line] if memory.on_line is not None else []
    return found


def _text(formula: Expr) -> list[str]:
    root = ((R, Pow(X + Y, -Rational(1, 2))),) if formula.has(R) else ()
    vectors: tuple[Symbol, ...] = (X, Y, Z)
    dialect = spelling(Scope((), outer=OUTER)).vectors
    printer = PythonPrinter(dialect, frozenset((C, D)), own_name)
    return tensor_lines(Entrywise(vectors, (C, D), root, formula), printer, "torch", 88)


def _function(formula: Expr) -> Any:
    body = "\n".join(f"    {line}" for line in _text(formula))
    space: dict[str, Any] = {"torch": torch}
    exec(compile(f"def formula(x, y, z, c, d):\n{body}\n", "formula.py", "exec"), space)
    return space["formula"]
