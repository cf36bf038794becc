"""Functions with a kink or a jump, which a declaration may smooth; the floor under the parser and ``smoothing``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from sympy import Expr, Function

from symmem.declaration import bounded

ARGUMENTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"sign": ("x",), "abs": ("x",), "max": ("x", "y"), "min": ("x", "y"), "clip": ("x", "lo", "hi")}
)
"""The functions that can be smoothed, and what their formulas know."""
EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "sign": "x/sqrt(x**2 + delta)",
        "abs": "sqrt(x**2 + delta)",
        "max": "(x + y + sqrt((x - y)**2 + delta))/2",
        "min": "(x + y - sqrt((x - y)**2 + delta))/2",
        "clip": "(lo + hi + sqrt((x - lo)**2 + delta) - sqrt((x - hi)**2 + delta))/2",
    }
)
"""A smooth formula for each, with a parameter delta > 0."""
ONLY_SMOOTHED = ("max", "min", "clip")
"""Those that phi and g have only with a smooth formula; to SymPy they are undefined functions there."""


class KinkError(bounded.ArithmeticRefusal):
    """A call with another number of arguments."""


def kinked(name: str, arguments: Iterable[Expr]) -> Expr:
    """``max(x, y)``, ``min(x, y)`` or ``clip(x, lo, hi)``, as phi and g hold it."""
    given = tuple(arguments)
    if len(given) != len(ARGUMENTS[name]):
        known = ARGUMENTS[name]
        raise KinkError(f"{name} takes {len(known)} arguments; write {name}({', '.join(known)})")
    return Function(name)(*given)
