"""Which program an optimizer is: ``[implementation]`` in a declaration, and where the declaration departs from it.

    [implementation]
    name = "torch.optim.AdamW"
    arguments = { betas = ["beta1", "beta2"], eps = "eps", weight_decay = "weight_decay" }
    departures = ["eps stands inside the root"]

Without departures the two are the same optimizer, step for step; ``symmem verify --against`` checks it.  ``none``, in
the place of the name, says why no program is named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from sympy import Rational, S, Symbol
from sympy.core.function import AppliedUndef

from symmem.declaration.names import check_line
from symmem.declaration.records import formula
from symmem.declaration.substitution import substitute
from symmem.errors import DeclarationError, quote
from symmem.records import record

Argument: TypeAlias = Any
"""An expression in the parameters, or a tuple of several, such as ``betas``: SymPy ships no types."""
Option = bool | int | str
_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", re.ASCII)
_KEYS = ("name", "arguments", "options", "lr_factor", "departures", "idle_steps", "square", "none", "group")
SQUARE = "for a matrix that is not square the program has a further factor, which is left to `lr`"
MOST_IDLE = 100


@record(frozen=True)
class Implementation:
    """A class or a function of a library, by its dotted ``name``, and how it is called.

    ``arguments``: keyword -> expression(s) in the declared parameters and, for a program that takes a step size beside
    its learning rate (AdaBound), in ``lr``; ``options``: keyword -> a value as it stands.
    ``departures`` say in words where the declaration differs; ``idle_steps`` is how many first steps the
    implementation makes without moving, so that its step ``n + idle_steps`` is the declaration's step n.  ``square``:
    the two are the same for square matrices alone, and differ by a constant factor for others.  The program's learning
    rate is ``lr * lr_factor``.  ``group``: what every parameter group has to say beside its tensors, for a program that
    asks for it.  ``none`` says why there is no program; then there is no name.
    """

    name: str = ""
    arguments: tuple[tuple[str, Argument], ...] = ()
    options: tuple[tuple[str, Option], ...] = ()
    departures: tuple[str, ...] = ()
    idle_steps: int = 0
    square: bool = False
    lr_factor: Argument = S.One
    none: str = ""
    group: tuple[tuple[str, Option], ...] = ()

    @property
    def is_named(self) -> bool:
        """Whether there is a program; else ``none`` says why not."""
        return bool(self.name)

    @property
    def said(self) -> tuple[str, ...]:
        """The departures as a document tells them."""
        return (*self.departures, SQUARE) if self.square else self.departures

    def __post_init__(self) -> None:
        for departure in self.departures:
            check_line("departures", departure)
        check_line("none", self.none)
        if bool(self.name) == bool(self.none):
            raise DeclarationError('name the program, name = "torch.optim.AdamW", or say why none = "..."')
        if not 0 <= self.idle_steps <= MOST_IDLE:
            raise DeclarationError(
                f"idle_steps: {self.idle_steps} is not in 0..{MOST_IDLE}; give a small number"
            )

    def with_values(self, values: Mapping[Symbol, Rational]) -> Implementation:
        """The same with numbers in the place of these parameters."""

        def put(argument: Argument) -> Argument:
            if isinstance(argument, tuple):
                return tuple(substitute(part, values) for part in argument)
            return substitute(argument, values)

        arguments = tuple((key, put(argument)) for key, argument in self.arguments)
        return replace(self, arguments=arguments, lr_factor=put(self.lr_factor))


def read_implementation(given: object, parameters: frozenset[str]) -> Implementation | None:
    """An Implementation, or a mapping with name, arguments, options, departures and idle_steps."""
    if given is None or isinstance(given, Implementation):
        return given
    try:
        if not isinstance(given, Mapping):
            raise DeclarationError(f"expected a table, got {quote(given)}; write [implementation]")
        for key in given:
            if key not in _KEYS:
                raise DeclarationError(f"unknown key {quote(key)}; known are {', '.join(_KEYS)}")
        found = Implementation(
            _text(given, "name"),
            tuple((str(key), _argument(key, value)) for key, value in _table(given, "arguments")),
            _options(given, "options"),
            tuple(_lines(given.get("departures", ()))),
            _count(given.get("idle_steps", 0)),
            _option("square", given.get("square", False)) is True,
            _factor(given.get("lr_factor", 1)),
            _text(given, "none"),
            _options(given, "group"),
        )
        if found.is_named and not _PATH.fullmatch(found.name):
            raise DeclarationError(
                f"name: {quote(found.name)} is not a class of a library; write it as torch.optim.AdamW"
            )
        _check_names(found, parameters)
    except DeclarationError as error:
        raise error.within("implementation") from None
    return found


def _table(given: Mapping[str, object], key: str) -> list[tuple[object, object]]:
    table = given.get(key, {})
    if not isinstance(table, Mapping):
        raise DeclarationError(f"{key}: expected a table, got {quote(table)}; write {{ key = value }}")
    return list(table.items())


def _argument(key: object, value: object) -> Argument:
    try:
        if isinstance(value, (list, tuple)):
            return tuple(formula(part) for part in value)
        return formula(value)
    except DeclarationError as error:
        raise error.within(f"arguments: {key}") from None


def _factor(value: object) -> Argument:
    try:
        return formula(value)
    except DeclarationError as error:
        raise error.within("lr_factor") from None


def _text(given: Mapping[str, object], key: str) -> str:
    value = given.get(key, "")
    if isinstance(value, str):
        return value
    raise DeclarationError(f'{key}: {quote(value)} is not text; write {key} = "..."')


def _options(given: Mapping[str, object], key: str) -> tuple[tuple[str, Option], ...]:
    return tuple((str(name), _option(name, value)) for name, value in _table(given, key))


def _option(key: object, value: object) -> Option:
    if isinstance(value, (bool, int, str)):
        return value
    raise DeclarationError(f"options: {key}: {quote(value)} is not true, false, a whole number or text")


def _lines(given: object) -> list[str]:
    if isinstance(given, (list, tuple)) and all(isinstance(line, str) for line in given):
        return list(given)
    raise DeclarationError(f'departures: {quote(given)} is not a list of sentences; write ["..."]')


def _count(given: object) -> int:
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    raise DeclarationError(f"idle_steps: {quote(given)} is not a whole number; write idle_steps = 1")


def _check_names(found: Implementation, parameters: frozenset[str]) -> None:
    named = [
        *((f"arguments: {key}", argument) for key, argument in found.arguments),
        ("lr_factor", found.lr_factor),
    ]
    for key, argument in named:
        parts = argument if isinstance(argument, tuple) else (argument,)
        calls = sorted({call.func.__name__ for part in parts for call in part.atoms(AppliedUndef)})
        if calls:
            raise DeclarationError(f"{key}: the function {quote(calls[0])} is not known here")
        known = parameters if key == "lr_factor" else parameters | {"lr"}
        for name in sorted({str(symbol) for part in parts for symbol in part.free_symbols}):
            if name not in known:
                listed = ", ".join(sorted(parameters)) or "none"
                raise DeclarationError(f"{key}: {quote(name)} is not a parameter; known are {listed}")
