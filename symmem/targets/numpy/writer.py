"""Entrywise functions in NumPy: calls with ``out``, below the formula that they compute."""

from __future__ import annotations

from sympy import Symbol

from symmem.program.statements import Entrywise
from symmem.targets.python.in_place import OUT, Call, Work, in_arrays, passes
from symmem.targets.python.layout import INDENT, WIDTH, call, indented, signature
from symmem.targets.python.printing import PythonPrinter
from symmem.targets.python.writer import PythonWriter

FUNCTIONS = {
    "Abs": "abs",
    "atan": "arctan",
    **{name: name for name in ("sqrt", "sign", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
}
"""NumPy's names of the functions of the language that are functions of one array."""
OF_TWO = {"Min": "minimum", "Max": "maximum"}
OTHERS = {"erf": "_erf({})"}
"""Functions of one array that write into no other."""


class NumpyWriter(PythonWriter):
    """As all Python targets, but that an entrywise function writes into arrays that it is given."""

    def function_lines(self, name: str, function: Entrywise) -> list[str]:
        """``name(vectors, scalars, out, w1, ...)``: the formula as a comment, and its passes over a block."""
        calls = in_arrays(passes(function))
        work = sorted({each.result for each in calls if isinstance(each.result, Work)}, key=str)
        given = (*function.vectors, *function.scalars, OUT, *work)
        out = self.scope.kept("out")
        formula = [f"# {line}" for line in self.formula_lines(function, WIDTH - len(INDENT) - 2, out)]
        printer = self.entries(function)
        body = [line for each in calls for line in self._pass(each, printer)]
        return [*signature(name, [self._place(symbol) for symbol in given]), *indented([*formula, *body])]

    def _pass(self, made: Call, printer: PythonPrinter) -> list[str]:
        arguments, result = [printer.source(each) for each in made.arguments], self._place(made.result)
        np = self.scope.outer("np")
        if made.function in OTHERS:
            return [f"{result}[...] = {OTHERS[made.function].format(*arguments)}"]
        name = (FUNCTIONS | OF_TWO).get(made.function, made.function)
        return call("", f"{np}.{name}", [*arguments, result], WIDTH - len(INDENT))

    def _place(self, symbol: Symbol) -> str:
        return self.scope.kept("out") if symbol == OUT else self._name(symbol)
