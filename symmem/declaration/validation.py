"""What makes a declaration an optimizer: the checks that ``Optimizer`` runs on itself.

Each check raises a DeclarationError of one line that names the entry, the cause and the way out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sympy import Abs, Expr, Integer, Max, Min, Rational, S, Symbol, sign
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import GRAD, MOMENTUM_NAME, STEP, THETA, is_scalar, momentum_symbol
from symmem.algebra.where import where
from symmem.declaration import bounded, hints, stepwise, tensor_calls
from symmem.declaration.checks_of_smoothing import check_smooth
from symmem.declaration.decays import check_decay, defaults_of
from symmem.declaration.kinks import ONLY_SMOOTHED
from symmem.declaration.names import suggestion
from symmem.declaration.readers import check_symbols
from symmem.declaration.steps_without_value import check_factor
from symmem.declaration.substitution import substitute
from symmem.declaration.torch_checks import check_torch
from symmem.errors import DeclarationError, quote

if TYPE_CHECKING:
    from symmem.declaration.optimizer import Optimizer

MAX_MOMENTUM = 64
_TENSOR_NAMES = frozenset({*tensor_calls.FUNCTIONS, "total"})
"""The functions of tensors, and what the global ones are written with."""
FIELDS = ("g", "beta", "b")
"""The expressions of a momentum variable."""


def validate(optimizer: Optimizer) -> None:
    """Run every check; a variable, parameter or function without use is refused unless values were put in."""
    _check_size(optimizer)
    _check_distinct(optimizer)
    _check_expressions(optimizer, "phi", "phi", 0, optimizer.phi)
    for position, momentum in enumerate(optimizer.momentum, start=1):
        for field in FIELDS:
            expression = getattr(momentum, field)
            _check_expressions(optimizer, f"momentum {position}: {field}", field, position, expression)
    if optimizer.schedule is not None:
        _check_expressions(optimizer, "schedule: rate", "rate", 0, optimizer.schedule)
        with _place("schedule"):
            check_factor(optimizer.schedule, defaults_of(optimizer), "rate")
    for position, momentum in enumerate(optimizer.momentum, start=1):
        with _place(f"momentum {position}"):
            check_decay(optimizer, momentum.beta)
            check_factor(momentum.b, defaults_of(optimizer))
    with _place("phi"):
        _check_finite(optimizer, optimizer.phi)
    for position, momentum in enumerate(optimizer.momentum, start=1):
        with _place(f"momentum {position}: g"):
            _check_finite(optimizer, momentum.g)
    check_smooth(optimizer)
    if not optimizer.values:
        _check_use(optimizer)
    check_torch(optimizer)


def entries(optimizer: Optimizer) -> Iterator[tuple[str, Expr]]:
    """Every expression with the name of its entry: ``phi``, ``momentum 1: g``, ..."""
    yield "phi", optimizer.phi
    for position, momentum in enumerate(optimizer.momentum, start=1):
        for field in FIELDS:
            yield f"momentum {position}: {field}", getattr(momentum, field)
    if optimizer.schedule is not None:
        yield "schedule: rate", optimizer.schedule


def _check_expressions(optimizer: Optimizer, entry: str, field: str, position: int, expression: Expr) -> None:
    with _place(entry):
        check_symbols(optimizer, field, position, expression)
        _check_functions(optimizer, field, expression)


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
    names = [("parameters", parameter.name) for parameter in optimizer.parameters]
    names += [("functions", function.name) for function in optimizer.functions]
    names += [("functions", function.potential) for function in optimizer.functions if function.potential]
    for field, name in names:
        if name in seen:
            words = f"the name {quote(name)} is declared twice; rename one of the two"
            raise DeclarationError(f"{field}: {name}: {words}")
        seen.add(name)


def _check_functions(optimizer: Optimizer, field: str, expression: Expr) -> None:
    known = [function.name for function in optimizer.functions]
    for atom in sorted(expression.atoms(AppliedUndef), key=str):
        name = atom.func.__name__
        if name in ("grad", "theta") or MOMENTUM_NAME.fullmatch(name):
            elsewhere = "; a gradient at another point (SAM, extragradient) is not in the language" * (
                name == "grad"
            )
            raise DeclarationError(
                f"{name} is a vector, not a function; write {name} without an argument{elsewhere}"
            )
        if name in ONLY_SMOOTHED and name not in known:
            if not any(each.function == name for each in optimizer.smooth):
                raise DeclarationError(f"{name} {hints.CALLS[name]}")
            continue
        if name in _TENSOR_NAMES:
            _check_tensor_call(field, name, atom)
            continue
        if name not in known and name in hints.CALLS:
            raise DeclarationError(f"{name} {hints.CALLS[name]}")
        if name not in known:
            raise DeclarationError(_unknown_function(name, field, known))
        if field in ("b", "beta", "rate"):
            raise DeclarationError(
                f"the function {name} gives a vector and {field} is a scalar; use it in g or phi"
            )
        if len(atom.args) != 1 or is_scalar(atom.args[0]):
            raise DeclarationError(
                f"the function {name} takes one vector; give it theta, grad or a momentum variable"
            )


def _unknown_function(name: str, field: str, declared: list[str]) -> str:
    """A number knows the functions of numbers, and the step's own; a vector those of tensors and the declared ones."""
    if field in ("b", "beta", "rate"):
        known = [*bounded.FUNCTIONS, *(stepwise.NAMES if field != "beta" else ())]
        way = suggestion(name, known) or "; write a formula in them"
    else:
        known = [*bounded.FUNCTIONS, *tensor_calls.FUNCTIONS, *declared]
        way = suggestion(name, known) or "; or declare it in [functions]"
    return f"unknown function {quote(name)}; known are {', '.join(known)}{way}"


def _check_tensor_call(field: str, name: str, atom: AppliedUndef) -> None:
    if field in ("b", "beta"):
        raise DeclarationError(f"{name} is a function of vectors and {field} is a scalar; use it in g or phi")
    if all(is_scalar(argument) for argument in atom.args):
        raise DeclarationError(f"{name} takes vectors; give it theta, grad or a momentum variable")


def _probes(optimizer: Optimizer) -> Iterator[dict[Symbol, Rational]]:
    """Two points in general position for theta, grad and the momentum variables."""
    vectors = [THETA, GRAD, *(momentum_symbol(k) for k in range(1, len(optimizer.momentum) + 1))]
    for seed in (3, 19):
        yield {vector: Rational(seed + 7 * k, 11 + 3 * k) for k, vector in enumerate(vectors)}


def _check_finite(optimizer: Optimizer, expression: Expr) -> None:
    """Refuse a denominator that vanishes everywhere: that is zero at every probe, as one may be unlucky."""
    for probe in _probes(optimizer):
        try:
            substitute(expression, {**defaults_of(optimizer), **probe})
            return
        except bounded.DivisionByZeroError as error:
            found = error
        except DeclarationError:
            return
    raise found.within("at the default values")


def _check_use(optimizer: Optimizer) -> None:
    used = set[Symbol]().union(*(expression.free_symbols for _, expression in entries(optimizer)))
    used |= set[Symbol]().union(*(each.formula.free_symbols for each in optimizer.smooth))
    calls = {
        atom.func.__name__ for _, expression in entries(optimizer) for atom in expression.atoms(AppliedUndef)
    }
    for position, momentum in enumerate(optimizer.momentum, start=1):
        readers = (optimizer.phi, *(below.g for below in optimizer.momentum[position:]))
        if not any(momentum_symbol(position) in reader.free_symbols for reader in readers):
            raise DeclarationError(
                f"momentum {position}: phi never uses m{position}, nor does a g below it; use it or remove it"
            )
        for field, expression in (("g", momentum.g), ("b", momentum.b)):
            if _vanishes(expression):
                raise DeclarationError(
                    f"momentum {position}: {field}: is zero, so m{position} does nothing; remove it"
                )
    if optimizer.schedule is not None and optimizer.schedule == 0:
        raise DeclarationError("schedule: rate: is zero, so that nothing is trained; change it")
    for parameter in optimizer.parameters:
        if Symbol(parameter.name) not in used:
            raise DeclarationError(
                f"parameters: {parameter.name}: no expression uses it; use it or remove it"
            )
    for function in optimizer.functions:
        if function.name not in calls:
            raise DeclarationError(f"functions: {function.name}: no expression uses it; use it or remove it")


def _vanishes(expression: Expr) -> bool:
    """Is it identically zero?  Structure first, then exact zeros at points in general position.

    A function of several pieces is taken as it is: it may be 0 at all these points and not elsewhere (a cosine's end).
    """
    if expression == 0 or expression.has(Abs, sign, Min, Max, AppliedUndef, where):
        return bool(expression == 0)
    symbols = sorted(expression.free_symbols, key=str)
    try:
        return bool(symbols) and all(
            substitute(expression, _general_point(symbols, seed)) == S.Zero for seed in (3, 4, 7, 11)
        )
    except DeclarationError:
        return False


def _general_point(symbols: list[Symbol], seed: int) -> dict[Symbol, Rational]:
    # No ratio of two of them is a whole number, nor that of n to one: cos(pi*n/length) + 1 is not 0.
    point = {symbol: Rational(seed**2 + 7 * k + 1, 31 + 6 * k) for k, symbol in enumerate(symbols)}
    return {**point, STEP: Integer(seed)}
