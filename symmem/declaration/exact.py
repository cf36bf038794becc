"""Exact numbers of a declaration: defaults, bounds and values are rationals, never binary fractions."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from sympy import Rational

from symmem.declaration import bounded
from symmem.declaration.tokens import MAX_DECIMAL_EXPONENT, MAX_DIGITS, decimal_number
from symmem.errors import DeclarationError, quote

Number = int | float | Fraction | Decimal | Rational
"""What a default or a value may be given as; the text of a decimal number or of a ratio is read too."""


def exact_number(value: object) -> Rational:
    """The rational number that was written: 0.9 is 9/10, also where it came as a Python float."""
    if isinstance(value, Rational):
        return _bounded(value)
    if isinstance(value, str):
        return _from_text(value.strip())
    if isinstance(value, float):
        return exact_number(Decimal(repr(value)))
    if isinstance(value, Decimal):
        return _from_decimal(value)
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return _bounded(Rational(value.numerator, value.denominator))
    raise DeclarationError(f"{quote(value)} is not a number; write one such as 0.9")


def _from_text(text: str) -> Rational:
    """``0.9``, ``-1e-8`` or a ratio ``1/3``."""
    numerator, ratio, denominator = text.partition("/")
    if not ratio:
        return _signed(text)
    divisor = decimal_number(denominator.strip())
    if divisor == 0:
        raise DeclarationError(f"{quote(text)} divides by zero; write a finite number")
    return _bounded(_signed(numerator.strip()) / divisor)


def _signed(text: str) -> Rational:
    negative = text.startswith("-")
    magnitude = decimal_number(text[1:] if negative or text.startswith("+") else text)
    return -magnitude if negative else magnitude


def _from_decimal(value: Decimal) -> Rational:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise DeclarationError(f"{quote(str(value))} is not a finite number; write one such as 0.9")
    if len(digits) > MAX_DIGITS or abs(exponent) > MAX_DECIMAL_EXPONENT:
        raise DeclarationError(f"{quote(str(value))} has too many digits or too large an exponent; round it")
    fraction = Fraction(value)
    return Rational(fraction.numerator, fraction.denominator)


def _bounded(number: Rational) -> Rational:
    if bounded.bits(number) > bounded.MAX_ARGUMENT_BITS:
        raise DeclarationError(f"a number of more than {bounded.MAX_ARGUMENT_BITS} bits; round it")
    return number
