"""What the functions of every emitted Python module call: the functions here are copied into it, word for word."""

from __future__ import annotations


def _check_step(n: float | None) -> None:
    if n is not None and (n != int(n) or n < 0):
        raise ValueError(f"n = {n!r}: steps count from 0; n=None is the limit")


def _outside(name: str, value: object, interval: str) -> ValueError:
    return ValueError(f"{name} = {value!r} is outside {interval}")


def _pole(divisor: str) -> ValueError:
    return ValueError(f"{divisor} = 0, and a formula divides by it; change a parameter or n")
