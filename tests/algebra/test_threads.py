"""SymPy's answers to two threads that ask at once are those that each would get alone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count
from threading import Thread
from types import FrameType
from typing import Any

import pytest
from sympy import Basic, Rational, Symbol

import symmem.algebra  # noqa: F401  # makes threads ask in turn

NEW = count(10_007, 2)
"""SymPy keeps what it has made: an object of which nothing has been asked needs a number that nobody has used."""
MADE: dict[str, Callable[[int], Basic]] = {
    "a rational": lambda k: Rational(-k, k + 1),
    "a product": lambda k: -k * Symbol(f"asked_{k}", positive=True),
}


def asked_in_the_midst(place: int, first: Callable[[], Any], second: Callable[[], Any]) -> list[Any]:
    """What both find, where another thread asks the second at the k-th line in which SymPy draws conclusions."""
    found: list[Any] = []
    other = Thread(target=lambda: found.append(second()))
    reached = 0

    def tick(frame: FrameType, *_: Any) -> Any:
        nonlocal reached
        reached += frame.f_code.co_name == "deduce_all_facts"
        if reached == place and not other.ident:
            other.start()
            other.join(0.004)  # it may have to wait for its turn
        return tick

    before = sys.gettrace()
    sys.settrace(tick)
    try:
        found.append(first())
    finally:
        sys.settrace(before)
    if reached >= place:
        other.join()
    return found


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_two_threads_ask_whether_it_is_negative(made: Callable[[int], Basic]) -> None:
    places = 0
    for place in count(1):
        asked = made(next(NEW))
        found = asked_in_the_midst(place, lambda x=asked: x.is_negative, lambda x=asked: x.is_negative)
        assert all(found), (place, found)
        places += len(found) == 2
        if len(found) == 1:
            break
    assert places > 20
