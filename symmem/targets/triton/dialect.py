"""How Triton spells entrywise formulas; numbers are those of the PyTorch target, Python's own in double."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sympy import Expr, Symbol

from symmem.targets.printing import Dialect
from symmem.targets.python.printing import PythonPrinter

_OWN = ("sqrt", "exp", "log", "sin", "cos", "erf")
_WRITTEN = ("tan", "sinh", "cosh", "tanh", "atan", "sign")
"""Functions that Triton's language does not have: the file of device functions does."""
_CALLS = {"sinh": ("tanh", "cosh"), "atan": ("angle",)}
ENTRIES = Dialect(
    {
        "Abs": "tl.abs({})",
        **{name: f"tl.{name}({{}})" for name in _OWN},
        **{name: f"_{name}({{}})" for name in _WRITTEN},
        "Min": "tl.minimum({}, {}, tl.PropagateNan.ALL)",
        "Max": "tl.maximum({}, {}, tl.PropagateNan.ALL)",
    },
    "1.0 / tl.sqrt({})",
)
"""One text for float32 and float64: a number without a type takes that of the block beside it."""


class TritonPrinter(PythonPrinter):
    """Source text of an entrywise expression; ``used`` are the device functions that it calls."""

    def __init__(self, numbers: Iterable[Symbol], names: Callable[[Symbol], str], used: set[str]) -> None:
        super().__init__(ENTRIES, frozenset(numbers), names)
        self._used = used

    def power(self, base: Expr, exponent: Expr) -> str:
        """Triton has no power: a whole one is a product, any other has a logarithm."""
        if exponent.is_Integer:
            self._used.add("_whole_power")
            return f"_whole_power({self.source(base)}, {int(exponent)})"
        self._used.add("_power")
        return f"_power({self.source(base)}, {self.source(exponent)})"

    def _print_Function(self, expression: Expr) -> str:
        name = expression.func.__name__
        if name in _WRITTEN:
            self._used.update(f"_{each}" for each in (name, *_CALLS.get(name, ())))
        return str(super()._print_Function(expression))
