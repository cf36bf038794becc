"""Which symbols an expression of a declaration may read, and what is said of the others; see :mod:`.validation`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Expr, Product

from symmem.algebra.atoms import MOMENTUM_NAME, momentum_symbol
from symmem.declaration import hints
from symmem.declaration.bounded import FUNCTIONS
from symmem.declaration.names import reserved, suggestion
from symmem.errors import DeclarationError, quote

if TYPE_CHECKING:
    from symmem.declaration.optimizer import Optimizer

_REASONS = {
    "phi": {
        "grad": 'grad is not known in phi; make it a momentum variable: g = "grad", beta = "0", b = "1"',
        "theta": 'theta is not known in phi; make it a momentum variable: g = "theta", beta = "0", b = "1"',
        "n": 'n is not known in phi; explicit dependence on n goes in a b, for example of g = "1"',
    },
    "g": {
        "n": "n is not known in g; dependence on n goes in b",
    },
    "beta": {
        "n": (
            "beta is a constant and cannot use n; dependence on n goes in b, and an average over all steps, with "
            "weights like 1/(n + 1) (Schedule-Free, Adafactor without a cap), is a memory that does not fade"
        ),
        "theta": "beta is a constant and cannot use theta; dependence on theta goes in g",
        "grad": "beta is a constant and cannot use grad; dependence on grad goes in g",
        "m": "beta is a constant and cannot use a momentum variable; combine variables in phi",
    },
    "b": {
        "theta": "theta is not known in b; put it in g",
        "grad": "grad is not known in b; put it in g",
        "m": "a momentum variable is not known in b; combine variables in phi",
    },
}
_REASONS["rate"] = {
    "theta": "the rate is a number that depends on n; theta is not known in it",
    "grad": "the rate is a number that depends on n; grad is not known in it",
    "m": "the rate is a number that depends on n; a momentum variable is not known in it",
}
_LR_IN_STATE = (
    "lr is the learning rate, written h, and stands in no expression: a state that depends on it (Lookahead, Adadelta) "
    "is no sum over past gradients; remove it"
)
_LR_IN_RATE = "lr is multiplied by the rate and does not stand in it; remove it"
_LR = (
    "lr is the learning rate, written h: it multiplies phi and stands in no expression, and an update that divides by "
    "it (Lookahead, Adadelta) has no expansion in it; remove it"
)


def check_symbols(optimizer: Optimizer, field: str, position: int, expression: Expr) -> None:
    """Refuse a symbol that this field of momentum variable ``position`` cannot read."""
    own = _known_vectors(optimizer, field, position)
    known = own + [parameter.name for parameter in optimizer.parameters]
    for index in sorted(each.limits[0][0].name for each in expression.atoms(Product)):
        if index in known:
            raise DeclarationError(f"prod: the index {index} is a parameter; rename the index")
    for name in sorted(symbol.name for symbol in expression.free_symbols):
        if name not in known:
            raise DeclarationError(_unknown_symbol(optimizer, field, position, name, known))


def _known_vectors(optimizer: Optimizer, field: str, position: int) -> list[str]:
    """In phi all momentum variables; in g theta, grad and the variables above, at the same step."""
    if field == "phi":
        return [momentum_symbol(k).name for k in range(1, len(optimizer.momentum) + 1)]
    if field == "g":
        return ["theta", "grad", *(momentum_symbol(k).name for k in range(1, position))]
    return ["n"] if field in ("b", "rate") else []


def _unknown_symbol(optimizer: Optimizer, field: str, position: int, name: str, known: list[str]) -> str:
    if name == "lr":
        return _LR_IN_RATE if field == "rate" else _LR if field == "phi" else _LR_IN_STATE
    is_variable = MOMENTUM_NAME.fullmatch(name)
    if is_variable and field in ("phi", "g"):
        return _unread_variable(optimizer, position, name)
    reason = _REASONS[field].get("m" if is_variable else name)
    if reason:
        return f"{reason} (found {name})" if is_variable else reason
    if any(name == function.name for function in optimizer.functions):
        return f"the function {name} needs an argument; write {name}(...)"
    if name in hints.MEANT and (reason := _REASONS[field].get(hints.MEANT[name][0])):
        return f"unknown symbol {quote(name)}: {hints.MEANT[name][1]}, and {reason}"
    if name in hints.SYMBOLS:
        return f"unknown symbol {quote(name)}: {hints.SYMBOLS[name]}"
    if name in FUNCTIONS:
        return f"{name} is a function; write {name}(x)"
    listed = ", ".join(known) or "nothing but numbers"
    hint = suggestion(name, known) or _declaring(name)
    return f"unknown symbol {quote(name)}; known here: {listed}{hint}"


def _declaring(name: str) -> str:
    """The way to a parameter, where it may have this name."""
    reason = reserved(name)
    return (
        "; or declare it in [parameters]"
        if reason is None
        else f"; no parameter can be called so: it is {reason}"
    )


def _unread_variable(optimizer: Optimizer, position: int, name: str) -> str:
    """A momentum variable that is not declared, that stands below, or that is the variable itself."""
    places = {momentum_symbol(k).name: k for k in range(1, len(optimizer.momentum) + 1)}
    if name not in places:
        declared = len(optimizer.momentum)
        last = "m1 alone" if declared == 1 else f"m1 to m{declared}"
        return f"{name} is not declared: there is {last}; add a [[momentum]], or remove {name}"
    if places[name] == position:
        return (
            f"{name} stands in its own g: its past enters through beta alone, and a state that feeds on itself (Yogi, "
            f"AdaMax, a running max) is no sum over the past; write what it sees of grad and of the variables above"
        )
    return (
        f"{name} stands below: a g reads the variables above it, at the same step; move {name} above, and for an "
        f"earlier value of it put a delay between"
    )
