"""The range of a parameter: an interval with exact ends, read from ``"[0, 1)"``."""

from __future__ import annotations

import re

from sympy import Rational, oo

from symmem.algebra import intervals
from symmem.declaration.exact import exact_number
from symmem.errors import DeclarationError, quote
from symmem.records import record

_FORM = re.compile(r"\s*([\[(])([^,\[\]()]*),([^,\[\]()]*)([\])])\s*")
_INFINITE = {"inf": oo, "+inf": oo, "-inf": -oo}


@record(frozen=True)
class Interval(intervals.Interval):
    """An interval as a declaration writes it: its ends made exact, refused where it is empty or closed at infinity."""

    def __post_init__(self) -> None:
        for field in ("lower", "upper"):
            end = getattr(self, field)
            if end not in (oo, -oo):
                object.__setattr__(self, field, exact_number(end))
        if self.lower == oo or self.upper == -oo:
            raise DeclarationError(f"the range {self} has no numbers in it; write -inf below and inf above")
        if (self.lower == -oo and not self.lower_open) or (self.upper == oo and not self.upper_open):
            raise DeclarationError(f"the range {self} is closed at infinity; write a round bracket there")
        if self.lower > self.upper:
            raise DeclarationError(f"the range {self} has its lower end above its upper end; swap them")
        if self.lower == self.upper and (self.lower_open or self.upper_open):
            raise DeclarationError(f"the range {self} has no numbers in it; move an end")

    @classmethod
    def parse(cls, text: object) -> Interval:
        """Read ``"[0, 1)"``, ``"(0, inf)"``, ``"(-inf, inf)"``; decimals exactly."""
        if isinstance(text, Interval):
            return text
        match = _FORM.fullmatch(text) if isinstance(text, str) and len(text) <= 200 else None
        if match is None:
            raise DeclarationError(
                f'the range {quote(text)} cannot be read; write it like "[0, 1)" or "(0, inf)"'
            )
        opening, lower, upper, closing = match.groups()
        return cls(_end(lower), _end(upper), opening == "(", closing == ")")

    def contains(self, value: object) -> bool:
        """Whether the number lies inside; an open end does not belong to it."""
        number = exact_number(value)
        above = self.lower < number or (self.lower == number and not self.lower_open)
        below = number < self.upper or (self.upper == number and not self.upper_open)
        return bool(above and below)


REALS = Interval(-oo, oo, True, True)
DECAYS = Interval(Rational(-1), Rational(1), True, True)
"""The values that a decay beta may have: the sums over the past converge."""


def _end(text: str) -> Rational:
    stripped = text.strip()
    return _INFINITE[stripped] if stripped in _INFINITE else exact_number(stripped)
