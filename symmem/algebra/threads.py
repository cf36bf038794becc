"""Threads ask SymPy one at a time.

SymPy keeps with each object what it has found out about it, and writes a fact down before all that follows from it.  A
second thread that asks between the two finds the fact, does not look at it again, and answers "not known", which is
taken for a no: from a -72 that is ``extended_negative`` and not yet ``negative`` SymPy makes ``8**(-72) == 8**72``, and
keeps that for the life of the process.  So one thread asks at a time; each gets the answer that it gets alone.

It is the one state that the package sets at import, and the one place where it changes another package.  A lock of our
own around derivations would be nearer at hand and would not do: objects are shared by the whole process, and a caller's
thread that prints what another thread derived asks SymPy too.
"""

from __future__ import annotations

from functools import wraps
from importlib import import_module
from threading import RLock
from typing import Any

from sympy import Basic

# By its name: in ``sympy.core`` the module is hidden by its own function.
_ASSUMPTIONS: Any = import_module("sympy.core.assumptions")


def ask_in_turn() -> None:
    """From now on SymPy's questions are asked in turn, in the whole process; a second call does nothing."""
    # A later SymPy may ask elsewhere, for the name is its own: it is then left alone, and tests/algebra fails.
    ask = getattr(_ASSUMPTIONS, "_ask", None)
    if ask is None or hasattr(ask, "__wrapped__"):
        return
    turn = RLock()  # a question asks others

    @wraps(ask)
    def asked(fact: str, obj: Basic) -> bool | None:
        with turn:
            return ask(fact, obj)

    _ASSUMPTIONS._ask = asked
