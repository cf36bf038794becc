"""Mappings, as TOML and Python give them, -> the records of a declaration, with every key accounted for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from decimal import Decimal
from numbers import Rational
from types import MappingProxyType
from typing import TypeVar, cast

from sympy import Expr

from symmem.declaration.interval import REALS, Interval
from symmem.declaration.names import check_name, suggestion
from symmem.declaration.records import (
    DELAY_OR_BETA,
    FIRST,
    PARTS,
    Momentum,
    Parameter,
    TorchSpelling,
    VectorFunction,
    formula,
)
from symmem.errors import DeclarationError, quote

Record = TypeVar("Record")


def read_momentum(given: object, smoothed: Collection[str] = ()) -> tuple[Momentum, ...]:
    """An iterable of Momentum records, or of mappings with g, beta and b, or with g, delay and perhaps b and start."""
    if isinstance(given, (str, bytes, Mapping, Momentum)) or not isinstance(given, Iterable):
        raise DeclarationError(
            "momentum: expected a list of momentum variables; write [[momentum]] before each"
        )
    read = []
    for position, entry in enumerate(given, start=1):
        try:
            read.append(entry if isinstance(entry, Momentum) else _momentum(entry, smoothed))
        except DeclarationError as error:
            raise error.within(f"momentum {position}") from None
    return tuple(read)


def read_parameters(given: object) -> tuple[Parameter, ...]:
    """Parameter records, or a mapping name -> Parameter, number, or mapping with default, latex, range."""
    if isinstance(given, Mapping):
        return tuple(_named("parameters", name, _parameter, entry) for name, entry in given.items())
    return _records("parameters", Parameter, given)


def read_functions(given: object) -> tuple[VectorFunction, ...]:
    """VectorFunction records, or a mapping name -> VectorFunction or mapping with latex, potential, degree."""
    if isinstance(given, Mapping):
        return tuple(_named("functions", name, _function, entry) for name, entry in given.items())
    return _records("functions", VectorFunction, given)


_OF_TORCH = ("arguments", "state", "options", "numbers")


def read_torch(given: object) -> TorchSpelling | None:
    """A TorchSpelling, or a mapping with arguments, state, options and numbers."""
    if given is None or isinstance(given, TorchSpelling):
        return given
    try:
        table = check_keys(given, _OF_TORCH)
        arguments, state, options, numbers = (_inner(table, key) for key in _OF_TORCH)
    except DeclarationError as error:
        raise error.within("torch") from None
    return TorchSpelling(
        {key: _parameter_names(key, value) for key, value in arguments.items()},
        {key: _state_name(key, value) for key, value in state.items()},
        {key: _option(key, value) for key, value in options.items()},
        cast(Mapping[str, Expr], numbers),  # the record reads them
    )


def _inner(table: Mapping[str, object], key: str) -> dict[str, object]:
    try:
        return check_keys(table.get(key, {}), None)
    except DeclarationError as error:
        raise error.within(key) from None


def check_keys(
    given: object, known: tuple[str, ...] | None, meant: Mapping[str, str] = MappingProxyType({})
) -> dict[str, object]:
    """The table as a dict with no key but the known ones; ``meant`` are what others call them."""
    if not isinstance(given, Mapping):
        raise DeclarationError(f"expected a table, got {quote(given)}; write {{ key = value }}")
    for key in given:
        if not isinstance(key, str) or (known is not None and key not in known):
            listed = ", ".join(known or ())
            called = meant.get(str(key).casefold())
            advice = suggestion(str(key), known or ()) if called is None else f"; here it is called {called}"
            raise DeclarationError(f"unknown key {quote(key)}; known are {listed}{advice}")
    return dict(given)


_MEANT = MappingProxyType(
    {
        **dict.fromkeys(("decay", "rho", "alpha", "momentum", "discount"), "beta"),
        **dict.fromkeys(("factor", "weight", "scale", "gain", "coefficient"), "b"),
        **dict.fromkeys(("input", "grad", "gradient", "source", "value"), "g"),
    }
)
"""What others call the parts of a momentum variable."""


def _momentum(entry: object, smoothed: Collection[str]) -> Momentum:
    table = check_keys(entry, ("g", "beta", "b", "delay", "start"), _MEANT)
    if "delay" in table and "beta" in table:
        raise DeclarationError(DELAY_OR_BETA)
    if "delay" in table and table["delay"] == 0:
        raise DeclarationError('delay: 0 steps are no delay; write beta = "0" in its place')
    if "g" not in table:
        raise DeclarationError(f"g is missing; {PARTS}")
    # The record refuses a delay or a start of another kind.
    delay, start = cast(int, table.get("delay", 0)), cast(str, table.get("start", FIRST))
    try:
        g = formula(table["g"], smoothed=smoothed)
    except DeclarationError as error:
        raise error.within("g") from None
    return Momentum(g, table.get("beta"), table.get("b"), delay, start)


def _parameter(name: str, entry: object) -> Parameter:
    if isinstance(entry, Parameter):
        if entry.name != name:
            raise DeclarationError(f"the record has the name {quote(entry.name)}; use one name")
        return entry
    if not isinstance(entry, Mapping):
        return Parameter(name, entry)
    table = check_keys(entry, ("default", "latex", "range"))
    if "default" not in table:
        raise DeclarationError("the default is missing; write { default = 0.9 }")
    if isinstance(table["default"], str):
        raise DeclarationError(
            f"the default {quote(table['default'])} is text; write the number without quotes"
        )
    interval = Interval.parse(table["range"]) if "range" in table else REALS
    return Parameter(name, table["default"], _latex(table), interval)


def _function(name: str, entry: object) -> VectorFunction:
    if isinstance(entry, VectorFunction):
        if entry.name != name:
            raise DeclarationError(f"the record has the name {quote(entry.name)}; use one name")
        return entry
    table = check_keys(entry, ("latex", "potential", "degree"))
    potential = table.get("potential")
    if potential is not None and not isinstance(potential, str):
        raise DeclarationError(f"potential: {quote(potential)} is not a name; write it as text")
    degree = table.get("degree")
    if degree is not None and (
        isinstance(degree, (str, bool)) or not isinstance(degree, (int, Decimal, Rational))
    ):
        raise DeclarationError(f"degree: {quote(str(degree))} is not a number; write degree = 0")
    return VectorFunction(name, _latex(table), potential, degree)


def _latex(table: Mapping[str, object]) -> str:
    """Empty if not given: the record then makes it from the name."""
    latex = table.get("latex", "")
    if not isinstance(latex, str) or (not latex and "latex" in table):
        raise DeclarationError(f"latex: {quote(latex)} is not a LaTeX symbol; write text such as '\\beta_1'")
    return latex


def _parameter_names(key: str, value: object) -> tuple[str, ...] | str:
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and value and all(isinstance(name, str) for name in value):
        return tuple(value)
    raise DeclarationError(
        f"torch: arguments: {key}: {quote(value)} is not a parameter's name or a list of names; write one"
    )


def _state_name(key: str, value: object) -> str:
    if isinstance(value, str):
        return value
    raise DeclarationError(f"torch: state: {key}: {quote(value)} is not text; put it in quotes")


def _option(key: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise DeclarationError(f"torch: options: {key}: {quote(value)} is neither true nor false; write one")


def _named(room: str, name: object, read: Callable[[str, object], Record], entry: object) -> Record:
    try:
        return read(check_name(name), entry)
    except DeclarationError as error:
        raise error.within(f"{room}: {name}") from None


def _records(room: str, kind: type[Record], given: object) -> tuple[Record, ...]:
    entries = (
        tuple(given) if isinstance(given, Iterable) and not isinstance(given, (str, bytes)) else (given,)
    )
    for entry in entries:
        if not isinstance(entry, kind):
            raise DeclarationError(
                f"{room}: {quote(entry)} is not a {kind.__name__}; use records or a mapping of names"
            )
    return entries
