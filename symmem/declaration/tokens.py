"""The tokens of an expression: what its text may consist of, and the exact value of a decimal; below the parser."""

from __future__ import annotations

import keyword
import re
from decimal import Decimal
from fractions import Fraction

from sympy import Rational

from symmem.declaration import bounded, hints
from symmem.errors import DeclarationError, quote

MAX_PARENTHESES = 50
MAX_DIGITS = 40
MAX_DECIMAL_EXPONENT = 400

NUMBER = re.compile(r"(?P<mantissa>[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE](?P<exponent>[+-]?[0-9]+))?")
_TOKEN = re.compile(
    rf"(?P<number>{NUMBER.pattern})|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<other>[-+*/()., \t])"
)
_TOKEN_OF_THE_STEP = re.compile(rf"{_TOKEN.pattern}|(?P<comparison>[<>]=?)")


def decimal_number(text: str) -> Rational:
    """The exact value of an unsigned decimal literal: ``1e-3`` is 1/1000, never a binary fraction."""
    match = NUMBER.fullmatch(text)
    if match is None:
        raise DeclarationError(f"{quote(text)} is not a decimal number; write it like 3, 0.9 or 1e-8")
    if len(match["mantissa"].replace(".", "")) > MAX_DIGITS:
        raise DeclarationError(f"a number with more than {MAX_DIGITS} digits; round it")
    exponent = match["exponent"] or "0"
    if len(exponent.lstrip("+-0")) > 3 or abs(int(exponent)) > MAX_DECIMAL_EXPONENT:
        raise DeclarationError(f"a decimal exponent beyond {MAX_DECIMAL_EXPONENT}; use a smaller one")
    fraction = Fraction(Decimal(text))
    return Rational(fraction.numerator, fraction.denominator)


def at_column(column: int, message: str) -> DeclarationError:
    """An error at a column, counted from 1."""
    return DeclarationError(f"column {column}: {message}")


def check_tokens(text: str, *, of_the_step: bool) -> None:
    """Refuses what is no token of the language; comparisons stand where nothing is differentiated."""
    token = _TOKEN_OF_THE_STEP if of_the_step else _TOKEN
    position, opened, before = 0, list[int](), None
    while position < len(text):
        match = token.match(text, position)
        if match is None:
            raise at_column(position + 1, _unknown(text, position, of_the_step=of_the_step))
        if match["number"]:
            _check_number(text, match)
        if not match[0].isspace():
            _check_beside(before, match)
            before = match
        if match["other"] == "(":
            opened.append(position)
        elif match["other"] == ")" and not opened:
            raise at_column(position + 1, "a ')' without its '('; remove it, or open it")
        elif match["other"] == ")":
            opened.pop()
        if len(opened) > MAX_PARENTHESES:
            raise at_column(
                position + 1, f"more than {MAX_PARENTHESES} nested parentheses; simplify the expression"
            )
        position = match.end()
    if opened:
        raise at_column(opened[-1] + 1, "a '(' without its ')'; close it")
    if before is not None and before[0] in "+-*/":
        raise at_column(
            before.start() + 1, f"not an expression: it ends with '{before[0]}'; write what follows"
        )


def _unknown(text: str, position: int, *, of_the_step: bool) -> str:
    if of_the_step and text.startswith("==", position):
        return "'==' is not known; write <= and >=, for one step n >= 3 and n <= 3"
    unknown = f"{quote(text[position])} is not known; use ASCII and + - * / ** ( )"
    return hints.CHARACTERS.get(text[position], unknown)


def _check_beside(before: re.Match[str] | None, token: re.Match[str]) -> None:
    """Two values without an operator between; words of Python are told of elsewhere."""
    if before is None or not (token["name"] or token["number"]):
        return
    is_value = before["name"] or before["number"] or before["other"] == ")"
    if not is_value or keyword.iskeyword(token[0]) or keyword.iskeyword(before[0]):
        return
    if before["name"] in {*bounded.FUNCTIONS, *hints.CALLS}:
        raise at_column(token.start() + 1, f"{before[0]} is a function; write {before[0]}({token[0]})")
    raise at_column(token.start() + 1, "not an expression: two values side by side; write a product with *")


def _check_number(text: str, match: re.Match[str]) -> None:
    """Also keeps every literal that Python knows and this language does not (1j, 0x1f, 1_000) from it."""
    try:
        decimal_number(match["number"])
    except DeclarationError as error:
        raise at_column(match.start() + 1, str(error)) from None
    following = text[match.end() : match.end() + 1]
    if following.isalnum() or following in ("_", "."):
        after = text[match.start() : match.end() + 1]
        hint = " (no complex numbers)" if following in "jJ" else ""
        raise at_column(
            match.start() + 1,
            f"{quote(after)} is not a number{hint}; write its decimal digits alone, or write a product with *",
        )
