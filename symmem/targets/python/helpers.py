"""What the functions of every emitted Python module call: the functions here are copied into it, word for word.

A step ends at 2**53: beyond it a float has no neighbours, and the ages of past steps would be wrong.
"""

from __future__ import annotations


def _check_step(n: float | None) -> None:
    if n is not None and (isinstance(n, str) or not 0 <= n <= 2**53 or n != int(n)):
        raise ValueError(f"n = {n!r}: steps count from 0 to 2**53; n=None is the limit")


def _outside(name: str, value: object, interval: str) -> ValueError:
    return ValueError(f"{name} = {value!r} is outside {interval}")


def _pole(divisor: str) -> ValueError:
    return ValueError(f"{divisor} = 0, and a formula divides by it; change a parameter or n")
