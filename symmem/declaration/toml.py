"""TOML text -> ``Optimizer``: numbers exact, keys accounted for, every expression through the safe parser."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from decimal import Decimal

from symmem.declaration.citation import read_citations
from symmem.declaration.fields import (
    check_keys,
    read_functions,
    read_momentum,
    read_parameters,
    read_torch,
)
from symmem.declaration.implementation import read_implementation
from symmem.declaration.names import check_optimizer_name
from symmem.declaration.optimizer import Optimizer
from symmem.declaration.records import read_schedule
from symmem.declaration.smoothing import only_smoothed, read_smooth
from symmem.errors import DeclarationError, quote

_TEXTS = ("name", "title", "family", "reference", "phi")
_TABLES = ("parameters", "functions", "schedule", "smooth", "torch", "implementation", "citation")
_KEYS = (*_TEXTS, "momentum", *_TABLES)


def read_toml(text: str, source: str | None = None) -> Optimizer:
    """The optimizer that the text declares; ``source`` is the file that errors name."""
    try:
        table = check_keys(_document(text), _KEYS)
        for key in ("name", "phi", "momentum"):
            if key not in table:
                raise DeclarationError(f"{key} is missing{_elsewhere(table, key)}")
        _check_text(table)
        _check_tables(table)
        check_optimizer_name(table["name"])
        smooth = read_smooth(table.get("smooth", {}))
        momentum = read_momentum(table["momentum"], only_smoothed(smooth))
        parameters = read_parameters(table.get("parameters", {}))
        functions = read_functions(table.get("functions", {}))
        torch = read_torch(table.get("torch"))
        schedule = read_schedule(table.get("schedule"))
        implementation = read_implementation(
            table.get("implementation"), frozenset(parameter.name for parameter in parameters)
        )
        citations = read_citations(table.get("citation", {}))
    except DeclarationError as error:
        raise error.within(source or "declaration") from None
    return Optimizer(
        name=str(table["name"]),
        phi=table["phi"],
        momentum=momentum,
        parameters=parameters,
        title=str(table["title"]) if "title" in table else None,
        reference=str(table.get("reference", "")),
        functions=functions,
        torch=torch,
        schedule=schedule,
        smooth=smooth,
        citations=citations,
        source=source,
        family=str(table.get("family", "")),
        implementation=implementation,
    )


def _document(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        quotes = (
            ", where text and expressions stand in quotes" if str(error).startswith("Invalid value") else ""
        )
        raise DeclarationError(f"not TOML: {error}; correct the file there{quotes}") from None
    except (ValueError, ArithmeticError, RecursionError):  # an endless integer, a huge exponent, a deep nest
        raise DeclarationError(
            "not TOML that can be read: a number or a nesting is too large; simplify it"
        ) from None


def _elsewhere(table: Mapping[str, object], key: str) -> str:
    """Where the key stands, if it fell into a table: in TOML all that follows a [head] belongs to it."""
    for head, body in table.items():
        for part in body if isinstance(body, list) else [body]:
            if isinstance(part, dict) and isinstance(part.get(key), str) and head != "implementation":
                return f": it stands below [{head}], and so inside it; write it above the first table"
    return "; a declaration has name, phi and [[momentum]]"


def _check_text(table: Mapping[str, object]) -> None:
    """In a file an expression is text or a number, which is read from its text too."""
    for key in _TEXTS:
        if key in table and not isinstance(table[key], str):
            raise DeclarationError(f"{key}: {quote(table[key])} is not text; put it in quotes")
    momentum = table["momentum"]
    if not isinstance(momentum, list):
        raise DeclarationError("momentum: expected a list of tables; write [[momentum]] with double brackets")
    for position, entry in enumerate(momentum, start=1):
        for key, value in entry.items() if isinstance(entry, dict) else ():
            if key in _TEXTS:
                raise DeclarationError(
                    f"momentum {position}: {key} stands below [[momentum]]; write it above the first table"
                )
            number = isinstance(value, (int, Decimal)) and not isinstance(value, bool)
            if key in ("g", "beta", "b") and not (number or isinstance(value, str)):
                raise DeclarationError(
                    f"momentum {position}: {key}: {quote(value)} is neither text nor a number; "
                    "write a number, or a formula in quotes"
                )


def _check_tables(table: Mapping[str, object]) -> None:
    for key in _TABLES:
        if key in table and not isinstance(table[key], dict):
            raise DeclarationError(f"{key}: expected a table; write [{key}]")
    parameters = table.get("parameters", {})
    for name, entry in parameters.items() if isinstance(parameters, dict) else ():
        if isinstance(entry, str):
            raise DeclarationError(
                f"parameters: {name}: {quote(entry)} is text; write the number without quotes"
            )
        if isinstance(entry, bool) or not isinstance(entry, (int, Decimal, dict)):
            raise DeclarationError(f"parameters: {name}: {quote(entry)} is not a number; write {name} = 0.9")
