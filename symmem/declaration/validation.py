"""What makes a declaration an optimizer: the checks that ``Optimizer`` runs on itself.

Each check raises a DeclarationError of one line that names the entry, the cause and the way out.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sympy import Abs, Expr, Integer, Rational, S, Symbol, sign
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import GRAD, MOMENTUM_NAME, STEP, THETA, is_scalar, momentum_symbol
from symmem.declaration import bounded, hints
from symmem.declaration.interval import DECAYS
from symmem.declaration.names import suggestion
from symmem.declaration.powers import has_exact_powers
from symmem.declaration.steps_without_value import check_factor
from symmem.errors import DeclarationError, quote

if TYPE_CHECKING:
    from symmem.declaration.optimizer import Optimizer

MAX_MOMENTUM = 64
_TENSOR_NAMES = frozenset({*bounded.TENSOR_FUNCTIONS, "total"})
"""The functions of tensors, and what the global ones are written with."""

_REASONS = {
    "phi": {
        "grad": 'grad is not known in phi; make it a momentum variable: g = "grad", beta = "0", b = "1"',
        "theta": 'theta is not known in phi; make it a momentum variable: g = "theta", beta = "0", b = "1"',
        "n": 'n is not known in phi; explicit dependence on n goes in a b, for example of g = "1"',
    },
    "g": {
        "n": "n is not known in g; dependence on n goes in b",
        "m": "a momentum variable is not known in g; g depends on theta and grad, combine variables in phi",
    },
    "beta": {
        "n": "beta is a constant and cannot use n; dependence on n goes in b",
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
_LR = "lr is the learning rate, written h: it multiplies phi and stands in no expression; remove it"


def validate(optimizer: Optimizer) -> None:
    """Run every check; a variable, parameter or function without use is refused unless values were put in."""
    _check_size(optimizer)
    _check_distinct(optimizer)
    for entry, expression in entries(optimizer):
        with _place(entry):
            _check_symbols(optimizer, entry.split()[-1], expression)
            _check_functions(optimizer, entry.split()[-1], expression)
    for position, momentum in enumerate(optimizer.momentum, start=1):
        with _place(f"momentum {position}"):
            _check_decay(optimizer, momentum.beta)
            check_factor(momentum.b, _defaults(optimizer))
    for entry, expression in entries(optimizer):
        if entry.split()[-1] in ("phi", "g"):
            with _place(entry):
                _check_finite(optimizer, expression)
    if not optimizer.values:
        _check_use(optimizer)
    _check_torch(optimizer)


def entries(optimizer: Optimizer) -> Iterator[tuple[str, Expr]]:
    """Every expression with the name of its entry: ``phi``, ``momentum 1: g``, ..."""
    yield "phi", optimizer.phi
    for position, momentum in enumerate(optimizer.momentum, start=1):
        for field in ("g", "beta", "b"):
            yield f"momentum {position}: {field}", getattr(momentum, field)


@contextmanager
def _place(entry: str) -> Iterator[None]:
    try:
        yield
    except DeclarationError as error:
        raise error.within(entry) from None


def _check_size(optimizer: Optimizer) -> None:
    if not optimizer.momentum:
        raise DeclarationError(
            "momentum: there is no momentum variable; add one, for gradient descent grad; 0; 1"
        )
    for field in ("momentum", "parameters", "functions"):
        if len(getattr(optimizer, field)) > MAX_MOMENTUM:
            raise DeclarationError(f"{field}: more than {MAX_MOMENTUM} entries; declare fewer")


def _check_distinct(optimizer: Optimizer) -> None:
    seen: set[str] = set()
    names = [f"parameters: {parameter.name}" for parameter in optimizer.parameters]
    names += [f"functions: {function.name}" for function in optimizer.functions]
    names += [f"functions: {function.potential}" for function in optimizer.functions if function.potential]
    for entry in names:
        name = entry.split()[-1]
        if name in seen:
            raise DeclarationError(
                f"{entry}: the name {quote(name)} is declared twice; rename one of the two"
            )
        seen.add(name)


def _check_symbols(optimizer: Optimizer, field: str, expression: Expr) -> None:
    vectors = [momentum_symbol(position).name for position in range(1, len(optimizer.momentum) + 1)]
    own = {"phi": vectors, "g": ["theta", "grad"], "beta": [], "b": ["n"]}[field]
    known = own + [parameter.name for parameter in optimizer.parameters]
    for name in sorted(symbol.name for symbol in expression.free_symbols):
        if name not in known:
            raise DeclarationError(_unknown_symbol(optimizer, field, name, known))


def _unknown_symbol(optimizer: Optimizer, field: str, name: str, known: list[str]) -> str:
    if name == "lr":
        return _LR
    is_variable = MOMENTUM_NAME.fullmatch(name)
    if is_variable and field == "phi":
        declared = len(optimizer.momentum)
        return f"{name} is not declared: momentum variables there are {declared}; declare it or remove it"
    reason = _REASONS[field].get("m" if is_variable else name)
    if reason:
        return f"{reason} (found {name})" if is_variable else reason
    if any(name == function.name for function in optimizer.functions):
        return f"the function {name} needs an argument; write {name}(...)"
    if name in hints.SYMBOLS:
        return f"unknown symbol {quote(name)}: {hints.SYMBOLS[name]}"
    listed = ", ".join(known) or "nothing but numbers"
    hint = suggestion(name, known) or "; or declare it in [parameters]"
    return f"unknown symbol {quote(name)}; known here: {listed}{hint}"


def _check_functions(optimizer: Optimizer, field: str, expression: Expr) -> None:
    known = [function.name for function in optimizer.functions]
    for atom in sorted(expression.atoms(AppliedUndef), key=str):
        name = atom.func.__name__
        if name in ("grad", "theta") or MOMENTUM_NAME.fullmatch(name):
            raise DeclarationError(f"{name} is a vector, not a function; write {name} without an argument")
        if name in _TENSOR_NAMES:
            _check_tensor_call(field, name, atom)
            continue
        if name not in known and name in hints.CALLS:
            raise DeclarationError(f"{name} {hints.CALLS[name]}")
        if name not in known:
            known = [*bounded.FUNCTIONS, *bounded.TENSOR_FUNCTIONS, *known]
            listed = ", ".join(known)
            hint = suggestion(name, known) or "; or declare it in [functions]"
            raise DeclarationError(f"unknown function {quote(name)}; known are {listed}{hint}")
        if field in ("b", "beta"):
            raise DeclarationError(
                f"the function {name} gives a vector and {field} is a scalar; use it in g or phi"
            )
        if len(atom.args) != 1 or is_scalar(atom.args[0]):
            raise DeclarationError(
                f"the function {name} takes one vector; give it theta, grad or a momentum variable"
            )


def _check_tensor_call(field: str, name: str, atom: AppliedUndef) -> None:
    if field in ("b", "beta"):
        raise DeclarationError(f"{name} is a function of vectors and {field} is a scalar; use it in g or phi")
    if all(is_scalar(argument) for argument in atom.args):
        raise DeclarationError(f"{name} takes vectors; give it theta, grad or a momentum variable")


def _defaults(optimizer: Optimizer) -> dict[Symbol, Rational]:
    return {Symbol(parameter.name): parameter.default for parameter in optimizer.parameters}


def _check_decay(optimizer: Optimizer, beta: Expr) -> None:
    way_out = "0 <= beta < 1 makes the sum over the past converge; change it"
    for parameter in optimizer.parameters:
        if beta == Symbol(parameter.name) and not parameter.range.within(DECAYS):
            raise DeclarationError(
                f"beta: {parameter.name} has the range {parameter.range}; it must lie in [0, 1)"
            )
    try:
        value = bounded.substitute(beta, _defaults(optimizer))
    except DeclarationError as error:
        raise error.within("beta: at the default values") from None
    number = value if isinstance(value, Rational) else Rational(str(value.evalf(30)))
    if not 0 <= number < 1:
        written = "" if beta == value else " at the default values"
        raise DeclarationError(f"beta: {value} is outside [0, 1){written}; {way_out}")
    if not has_exact_powers(beta):
        raise DeclarationError(
            f"beta: the powers of {beta} are not known exactly; make it a parameter with this default"
        )


def _probes(optimizer: Optimizer) -> Iterator[dict[Symbol, Rational]]:
    """Two points in general position for theta, grad and the momentum variables."""
    vectors = [THETA, GRAD, *(momentum_symbol(k) for k in range(1, len(optimizer.momentum) + 1))]
    for seed in (3, 19):
        yield {vector: Rational(seed + 7 * k, 11 + 3 * k) for k, vector in enumerate(vectors)}


def _check_finite(optimizer: Optimizer, expression: Expr) -> None:
    """Refuse a denominator that vanishes everywhere: that is zero at every probe, as one may be unlucky."""
    for probe in _probes(optimizer):
        try:
            bounded.substitute(expression, {**_defaults(optimizer), **probe})
            return
        except bounded.DivisionByZeroError as error:
            found = error
        except DeclarationError:
            return
    raise found.within("at the default values")


def _check_use(optimizer: Optimizer) -> None:
    used = set[Symbol]().union(*(expression.free_symbols for _, expression in entries(optimizer)))
    calls = {
        atom.func.__name__ for _, expression in entries(optimizer) for atom in expression.atoms(AppliedUndef)
    }
    for position, momentum in enumerate(optimizer.momentum, start=1):
        if momentum_symbol(position) not in optimizer.phi.free_symbols:
            raise DeclarationError(
                f"momentum {position}: phi never uses m{position}; use it in phi or remove it"
            )
        for field, expression in (("g", momentum.g), ("b", momentum.b)):
            if _vanishes(expression):
                raise DeclarationError(
                    f"momentum {position}: {field}: is zero, so m{position} does nothing; remove it"
                )
    for parameter in optimizer.parameters:
        if Symbol(parameter.name) not in used:
            raise DeclarationError(
                f"parameters: {parameter.name}: no expression uses it; use it or remove it"
            )
    for function in optimizer.functions:
        if function.name not in calls:
            raise DeclarationError(f"functions: {function.name}: no expression uses it; use it or remove it")


def _vanishes(expression: Expr) -> bool:
    """Is it identically zero?  Structure first, then exact zeros at points in general position."""
    if expression == 0 or expression.has(Abs, sign, AppliedUndef):
        return bool(expression == 0)
    symbols = sorted(expression.free_symbols, key=str)
    try:
        return bool(symbols) and all(
            bounded.substitute(expression, _general_point(symbols, seed)) == S.Zero for seed in (3, 4, 7, 11)
        )
    except DeclarationError:
        return False


def _general_point(symbols: list[Symbol], seed: int) -> dict[Symbol, Rational]:
    point = {symbol: Rational(seed + 2 * k, 29 + 5 * k) for k, symbol in enumerate(symbols)}
    return {**point, STEP: Integer(seed)}


def _check_torch(optimizer: Optimizer) -> None:
    if optimizer.torch is None:
        return
    parameters = [parameter.name for parameter in optimizer.parameters]
    spelled = [name for value in optimizer.torch.arguments.values() for name in _listed(value)]
    for key, value in optimizer.torch.arguments.items():
        _check_identifier("arguments", key)
        for name in _listed(value):
            if spelled.count(name) > 1:
                raise DeclarationError(f"torch: arguments: {key}: {quote(name)} stands twice; name it once")
            if name not in parameters:
                hint = f"{', '.join(parameters)}{suggestion(name, parameters)}"
                raise DeclarationError(
                    f"torch: arguments: {key}: {quote(name)} is not a parameter; known are {hint}"
                )
        if key == "lr" or (key in parameters and key not in spelled):
            taken = "the learning rate" if key == "lr" else f"the parameter {key}"
            raise DeclarationError(f"torch: arguments: {key} is {taken}; use another name")
    variables = [momentum_symbol(position).name for position in range(1, len(optimizer.momentum) + 1)]
    for key, value in optimizer.torch.state.items():
        if key not in variables:
            raise DeclarationError(
                f"torch: state: {quote(key)} is not a momentum variable; known are {', '.join(variables)}"
            )
        _check_identifier(f"state: {key}", value)
    names = list(optimizer.torch.state.values())
    if len({*names, "step"}) <= len(names):
        raise DeclarationError('torch: state: two entries have the same name, or one is "step"; rename one')
    for key in optimizer.torch.options:
        _check_identifier("options", key)


def _listed(names: tuple[str, ...] | str) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names


def _check_identifier(entry: str, word: object) -> None:
    if not isinstance(word, str) or not word.isascii() or not word.isidentifier() or len(word) > MAX_MOMENTUM:
        raise DeclarationError(
            f"torch: {entry}: {quote(word)} is not a Python name; write it as in torch.optim"
        )
    if keyword.iskeyword(word):
        raise DeclarationError(f"torch: {entry}: {quote(word)} is a keyword of Python; choose another name")
