"""How Octave and MATLAB spell formulas: every operator entry by entry, parameters as fields of a struct.

A parameter is a field, ``p.beta1``, so that it hides no function; a keyword is spelled ``p.('end')``.  Everything else
is a local variable, whose name the Scope gives out.
"""

from __future__ import annotations

from sympy import Expr, Integer, Rational, Symbol

from symmem.algebra.atoms import GRAD, LOSS, LR, STEP
from symmem.program.digits.decay_functions import Complete
from symmem.program.program import Program
from symmem.program.scope import Scope
from symmem.targets.printing import ATOM, Dialect, SourcePrinter
from symmem.targets.python.surfaces import contractions, momentum, opaque_names, potentials

_WORDS = (
    "break case catch classdef continue do else elseif end for function global if otherwise parfor persistent return "
    "spmd switch try until while unwind_protect unwind_protect_cleanup end_try_catch end_unwind_protect endfor "
    "endfunction endif endparfor endswitch endwhile endclassdef endenumeration endevents endmethods endproperties "
    "enumeration events methods properties"
)
KEYWORDS = frozenset(_WORDS.split())
_FUNCTIONS = ("sqrt", "sign", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan", "erf")
OUTER = (*_FUNCTIONS, "abs", "min", "max", "error", "isempty", "p", "out", "varargin", "settings", "check", "array",
         "like", "filled", "total", "oldest", "complete")  # fmt: skip
"""What the functions of the file call, and the variables that each of them has."""
_SPELLED = {"Abs": "abs({})", "Min": "min({}, {})", "Max": "max({}, {})"}
_SPELLED["Shortfall"] = "((1 - ({0})) .* complete({1} - 1, [1; {0}]))"
DIALECT = Dialect(
    {**{name: f"{name}({{}})" for name in _FUNCTIONS}, **_SPELLED},
    "1 ./ sqrt({})",
    times=".*",
    over="./",
    both="({} && {})",
    either="({} || {})",
)


class OctavePrinter(SourcePrinter):
    """Source text of an expression; numbers are doubles."""

    def power(self, base: Expr, exponent: Expr) -> str:
        """``base .^ exponent``."""
        return f"{self.bound(base, ATOM)} .^ {self.bound(exponent, ATOM)}"

    def _print_Complete(self, expression: Complete) -> str:
        nodes = "; ".join(", ".join(self.source(x) for x in node) for node in expression.rows)
        return f"complete({self.source(expression.args[0])}, [{nodes}])"

    def _print_Integer(self, number: Integer) -> str:
        return str(int(number))

    def _print_Rational(self, number: Rational) -> str:
        return f"{int(number.p)} ./ {int(number.q)}"

    def _print_NumberSymbol(self, number: Expr) -> str:
        return repr(float(number))


class Names:
    """The names of a file: parameters, n and lr by field, the rest by the Scope."""

    def __init__(self, program: Program) -> None:
        arguments = ["theta", "grad", "loss", *contractions(program.order), *opaque_names(program)]
        arguments += ["previous", momentum(program), *potentials(program).values()]
        words = KEYWORDS | set(OUTER)
        self._scope = Scope(arguments, words=words, preferred={GRAD: "g", LOSS: "value"})
        self._fields = {STEP: "p.n", LR: "p.lr"} | {Symbol(name): field(name) for name in program.parameters}

    def name(self, symbol: Symbol) -> str:
        """A symbol as it stands in the file."""
        return self._fields[symbol] if symbol in self._fields else self._scope.name(symbol)

    def argument(self, name: str) -> str:
        """An argument of a function: the user's function may have the name of one of ours."""
        return self._scope.kept(name)


def field(name: str) -> str:
    """A parameter as a field; a keyword cannot follow a dot."""
    return f"p.('{name}')" if name in KEYWORDS else f"p.{name}"
