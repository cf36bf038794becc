"""Declared smoothing: functions with a kink or a jump that the theory replaces, and the optimizer as it runs keeps.

``[smooth]``, ``sign = "x/sqrt(x**2 + delta)"``: the formula is one in x; of max and min in x and y; of clip in x, lo
and hi; and in the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from sympy import Abs, Expr, Max, Min, Symbol, sign
from sympy.core.function import AppliedUndef

from symmem.declaration.kinks import ARGUMENTS, EXAMPLES, ONLY_SMOOTHED
from symmem.declaration.names import suggestion
from symmem.declaration.parser import called_names, parse
from symmem.declaration.substitution import plain
from symmem.errors import DeclarationError, quote
from symmem.records import record


@record(frozen=True)
class Smooth:
    """A smooth formula that stands for a function in the theory."""

    function: str
    formula: Expr

    def __post_init__(self) -> None:
        if self.function not in ARGUMENTS:
            known = ", ".join(ARGUMENTS)
            hint = suggestion(str(self.function), list(ARGUMENTS))
            raise DeclarationError(f"{quote(self.function)} is not smoothed; known are {known}{hint}")
        given = self.formula
        if isinstance(given, str):
            made = parse(given, called_names(given))
        elif isinstance(given, Expr):
            made = plain(given)
        else:
            raise DeclarationError(
                f'{quote(given)} is not a formula; write text, "x/sqrt(x**2 + delta)" for sign'
            )
        object.__setattr__(self, "formula", made)
        missing = [name for name in ARGUMENTS[self.function] if Symbol(name) not in made.free_symbols]
        if missing:
            raise DeclarationError(
                f"the formula has no {missing[0]}; it knows {', '.join(ARGUMENTS[self.function])}"
            )

    @property
    def call(self) -> str:
        """The function as it is called: ``clip(x, lo, hi)``."""
        return f"{self.function}({', '.join(ARGUMENTS[self.function])})"

    @property
    def example(self) -> str:
        """A smooth formula for this function, with a parameter delta > 0."""
        return EXAMPLES[self.function]

    def at(self, arguments: Iterable[Expr]) -> Expr:
        """The formula of these arguments."""
        names = map(Symbol, ARGUMENTS[self.function])
        return self.formula.xreplace(dict(zip(names, arguments, strict=True)))


def read_smooth(given: object) -> tuple[Smooth, ...]:
    """Smooth records, or a mapping from functions to formulas."""
    found = []
    entries = given.items() if isinstance(given, Mapping) else given
    if isinstance(entries, (str, bytes)) or not isinstance(entries, Iterable):
        raise DeclarationError('smooth: expected a table; write [smooth], then sign = "x/sqrt(x**2 + delta)"')
    for entry in entries:
        try:
            found.append(entry if isinstance(entry, Smooth) else Smooth(*entry))
        except DeclarationError as error:
            raise error.within(f"smooth: {entry[0]}") from None
    return tuple(found)


def only_smoothed(smooth: Iterable[Smooth]) -> frozenset[str]:
    """Which of max, min and clip phi and g may have."""
    return frozenset(each.function for each in smooth) & frozenset(ONLY_SMOOTHED)


def kink_of(node: Expr) -> str | None:
    """The name of the function at the top, if it is one that can be smoothed."""
    if isinstance(node, (sign, Abs)):
        return "sign" if isinstance(node, sign) else "abs"
    name = node.func.__name__ if isinstance(node, AppliedUndef) else ""
    return name if name in ONLY_SMOOTHED else None


def smoothed(expression: Expr, smooth: Iterable[Smooth]) -> Expr:
    """The expression with the smooth formulas in the place of their functions: what the theory sees."""
    table = {each.function: each for each in smooth}
    return _mapped(expression, lambda name, given: table[name].at(given) if name in table else None)


def as_it_runs(expression: Expr) -> Expr:
    """The expression with SymPy's own max and min: what the optimizer computes."""
    return _mapped(expression, lambda name, given: _EXACT[name](*given) if name in _EXACT else None)


_EXACT: Mapping[str, Callable[..., Expr]] = MappingProxyType(
    {
        "max": lambda x, y: Max(x, y, evaluate=False),
        "min": lambda x, y: Min(x, y, evaluate=False),
        "clip": lambda x, lo, hi: Min(Max(x, lo, evaluate=False), hi, evaluate=False),
    }
)


def _mapped(node: Expr, change: Callable[[str, list[Expr]], Expr | None]) -> Expr:
    if not node.args:
        return node
    arguments = [_mapped(argument, change) for argument in node.args]
    name = kink_of(node)
    made = None if name is None else change(name, arguments)
    if made is not None:
        return made
    same = all(new is old for new, old in zip(arguments, node.args, strict=True))
    return node if same else node.func(*arguments)
