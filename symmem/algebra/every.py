"""All or nothing: what is made of many values where one that is not known leaves none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

Value = TypeVar("Value")


def every(values: Iterable[Value | None]) -> list[Value] | None:
    """The values in their order; None where one of them is None, and those behind it are not asked for.

    >>> every([1, 2]), every([1, None]), every([])
    ([1, 2], None, [])
    """
    found = []
    for value in values:
        if value is None:
            return None
        found.append(value)
    return found
