"""Numbers as a person reads them: long fractions as decimals.  For text and LaTeX; data stay exact.

Before structure.py: `shown` is applied to an expression that a person will read, not to data.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from math import log10

from sympy import Expr, Float, Max, Mul, Pow, Rational

from symmem.algebra.atoms import STEP, is_scalar
from symmem.algebra.ranges import bounds
from symmem.notation.formula import Decimal, Formula, Fraction, Number, negated
from symmem.notation.merging import merged

MOST_DIGITS = 12
"""A number with more digits than this is shown as a decimal."""

MOST_TYPED = 6
"""The base of a power is a decimal where it has at most so many characters."""

SIGNIFICANT = 10
"""So many digits such a decimal has."""

SMALLEST_FLOAT = Rational(1, 10**300)
"""Smaller numbers, and larger ones than its inverse, are no floats: they stay as they are."""

_SHORT_BELOW = 200
"""A denominator with more bits is not tried for a short decimal."""

_BITS_PER_DIGIT = 3.3219280948873626


def shown(expression: Expr) -> Expr:
    """The expression with its long numbers rounded; where there is none, 0.999 for the fraction 999/1000.

    Numbers are in one style: 0.9 and 0.01 where all that are no integers end behind the point, else 9/10 and 1/3.
    A maximum with 0 of what is not negative anyway is not written, and two fractions of one root are one.
    """
    expression = merged(_without_needless_bounds(expression))
    rounded = _rounded(expression)
    return rounded if rounded != expression else _with_short_decimals(expression, _is_decimal(expression))


def _is_decimal(expression: Expr) -> bool:
    """Whether decimals were put into it, as by ``--set beta=0.9``, and no third or seventh stands beside them."""
    below = {int(number.q) for number in expression.atoms(Rational)}
    return any(q % 5 == 0 for q in below) and all(map(_ends, below))


def _ends(below: int) -> bool:
    """Whether a fraction with this denominator has a last digit."""
    if below.bit_length() > _SHORT_BELOW:
        return False
    for prime in (2, 5):
        while below % prime == 0:
            below //= prime
    return below == 1


def _without_needless_bounds(expression: Expr) -> Expr:
    """``max(0, min(1, n))`` is ``min(1, n)``, for steps count from 0."""
    bounded = {part: Max(*(each for each in part.args if each != 0)) for part in expression.atoms(Max)}
    return expression.xreplace(
        {
            part: inner
            for part, inner in bounded.items()
            if 0 in part.args and bounds(inner, {}).is_nonnegative
        }
    )


def digits(value: Rational) -> int:
    """How many digits numerator and denominator have, or the decimal that it is, where it is a short one."""
    if int(value.q).bit_length() < _SHORT_BELOW and _ends(int(value.q)):
        typed = f"{float(value):.{MOST_DIGITS}g}" if SMALLEST_FLOAT < abs(value) < 1 / SMALLEST_FLOAT else ""
        if typed and Rational(typed) == value:
            return len(typed.partition("e")[0].replace(".", "").lstrip("-0"))
    above, below = (round(int(part).bit_length() / _BITS_PER_DIGIT) for part in (abs(value.p), value.q))
    return above if _is_power_of_ten(value.q) else above + below


@contextmanager
def long_integers() -> Iterator[None]:
    """Inside, integers of any length are written: a shield against strangers' text, not against our results."""
    longest = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(longest)


def power_digits(expression: Expr, step: int) -> int:
    """About the most digits of a number ``c**(a n + b)`` of the expression at n = ``step``."""
    most = 0
    for power in expression.atoms(Pow):
        if power.base.is_Rational and STEP in power.exp.free_symbols:
            exponent = power.exp.xreplace({STEP: Rational(step)})
            size = log10(max(abs(int(power.base.p)), int(power.base.q)))  # none for 0, 1 and -1
            most = max(most, int(size * abs(exponent)) if exponent.is_Number else 0)
    return most


def decimal(value: Rational) -> str:
    """A number as a person types it where that is exact, 0.9 or 1e-8; else the fraction, or ten digits."""
    if abs(value) < 1 / SMALLEST_FLOAT:
        typed = re.sub(r"e([+-])0*", r"e\1", f"{float(value):.12g}").replace("e+", "e")
        if Rational(typed) == value:
            return typed
    return str(value) if digits(value) <= MOST_DIGITS else str(value.evalf(SIGNIFICANT))


def number_formula(value: Rational | float) -> Formula:
    """An exact number as a person types it, 0.9 or 1e-8, else as a fraction or ten digits; a float by six."""
    if value < 0:
        return negated(number_formula(-value))
    if isinstance(value, float):
        return _split(f"{value:.6g}")
    typed = decimal(value)
    if value.q != 1 and typed == str(value):
        return Fraction(Number(int(value.p)), Number(int(value.q)))
    return _split(typed)


def decimal_formula(value: Float) -> Formula:
    """The digits that SymPy shows of a positive number."""
    mantissa, mark, exponent = str(value).partition("e")
    return _split(mantissa.removesuffix(".") + mark + exponent)


def is_typed(value: Rational) -> bool:
    """Whether a person would type it as a decimal, exactly."""
    return "/" not in decimal(value) and Rational(decimal(value)) == value


def _split(typed: str) -> Formula:
    mantissa, _, exponent = typed.partition("e")
    return Decimal(mantissa, int(exponent or 0))


def _rounded(expression: Expr) -> Expr:
    if isinstance(expression, Rational):
        return expression.evalf(SIGNIFICANT) if digits(expression) > MOST_DIGITS else expression
    if isinstance(expression, Pow):
        return Pow(_rounded(expression.base), expression.exp)
    if not expression.args:
        return expression
    arguments = [
        _rounded(argument) if isinstance(argument, Expr) else argument for argument in expression.args
    ]
    return expression if list(expression.args) == arguments else expression.func(*arguments)


def _with_short_decimals(expression: Expr, all_of_them: bool) -> Expr:
    """999/1000 as 0.999, but for a numeric power, and beside a vector: notation knows |grad|^2 + 3/1000.

    With ``all_of_them`` 9/10 as 0.9 too; halves and quarters stay.
    """
    if isinstance(expression, Rational):
        return _one_decimal(expression) if all_of_them else _short_decimal(expression)
    if isinstance(expression, Pow):
        free = bool(expression.exp.free_symbols)
        base = expression.base
        inside = base if isinstance(base, Rational) else _with_short_decimals(base, all_of_them)
        if free and isinstance(base, Rational):
            inside = _terminating(base)
        return Pow(inside, expression.exp)
    if not expression.args:
        return expression
    kept = () if isinstance(expression, Mul) or is_scalar(expression) else (Rational,)
    arguments = [
        _with_short_decimals(argument, all_of_them)
        if isinstance(argument, Expr) and not isinstance(argument, kept)
        else argument
        for argument in expression.args
    ]
    return expression if list(expression.args) == arguments else expression.func(*arguments)


def _terminating(base: Rational) -> Expr:
    """``0.96^n`` in the place of ``(24/25)^n``: the base of a power as a person types it, where that is short."""
    typed = decimal(base)
    whole, _, behind = typed.partition(".")
    is_short = whole == "0" and behind.isdigit() and len(typed) <= MOST_TYPED
    return Float(typed, len(behind.lstrip("0"))) if is_short else base


def _one_decimal(value: Rational) -> Expr:
    """Below a thousandth a power of ten stays one."""
    typed = decimal(value)
    if value.q % 5 or "/" in typed or (abs(value.p) == 1 and value.q >= 1000 and _is_power_of_ten(value.q)):
        return value
    mantissa, _, _ = typed.partition("e")
    return Float(typed, len(mantissa.replace(".", "").lstrip("-0")))


def _short_decimal(value: Rational) -> Expr:
    if value.q < 1000 or abs(value.p) == 1 or not _is_power_of_ten(value.q):
        return value
    if not SMALLEST_FLOAT < abs(value) < 1 / SMALLEST_FLOAT:
        return value
    return Float(decimal(value), len(str(abs(value.p))))


def _is_power_of_ten(value: int) -> bool:
    size = round((int(value).bit_length() - 1) / _BITS_PER_DIGIT)
    return any(int(value) == 10**exponent for exponent in (size, size + 1))
