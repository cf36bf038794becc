"""The heavy-ball double sum for finite n: the engine's closed form against ``sympy.summation``.

sum_{k=1..n} beta^k sum_{s=n-k..n-1} (1 - beta^(s+1))/(1 - beta)
    = sum_{s=0..n-1} beta^(n-s) (1 - beta^(s+1))/(1 - beta) (1 - beta^(s+1))/(1 - beta)
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from statistics import median

from measure import HERE, Row, Target, seconds
from sympy import Expr, Piecewise, Sum, Symbol, summation

from symmem.algebra.exponential import exponential_field
from symmem.algebra.factored import write
from symmem.algebra.sums import definite_sum

SUMMATION_PATIENCE = 60.0
n, s, k, beta = (Symbol(name) for name in ("n", "s", "k", "beta"))
GAIN = (1 - beta ** (s + 1)) / (1 - beta)
SINGLE = beta ** (n - s) * GAIN**2
SUMMATIONS: dict[str, Callable[[], Expr]] = {
    "double": lambda: summation(beta**k * GAIN, (s, n - k, n - 1), (k, 1, n)),
    "single": lambda: summation(SINGLE, (s, 0, n - 1)),
}


def engine() -> Expr:
    """Field, reading, sum and writing: all that the closed form takes; the field is a new one every time."""
    field = exponential_field([SINGLE])
    element = field.read(SINGLE)
    closed = None if element is None else definite_sum(field, element, s, n)
    if closed is None:
        raise ArithmeticError("the heavy-ball double sum does not close")
    return write(field, closed)


def heavy_ball() -> Row:
    return _against("double", Target(400, at_least=True))


def heavy_ball_single() -> Row:
    """For honesty: SymPy after a person has turned the double sum into a single one."""
    return _against("single", Target(1, at_least=True))


def _against(form: str, target: Target) -> Row:
    fast = median(seconds(engine) for _ in range(200))
    slow, outcome = summation_seconds(form)
    return Row(f"heavy-ball sum: sympy.summation ({form}) / engine", fast, slow, target, outcome)


def summation_seconds(form: str) -> tuple[float, str]:
    """``sympy.summation`` in its own process, imports not counted, with what came of it."""
    command = [sys.executable, str(HERE / "double_sum.py"), form]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SUMMATION_PATIENCE)
    except subprocess.TimeoutExpired:
        return SUMMATION_PATIENCE, f"summation stopped after {SUMMATION_PATIENCE:g} s"
    time, outcome = done.stdout.strip().split(" ", 1)
    return float(time), f"summation {outcome}"


def _main(form: str) -> None:
    """The other process: prints the seconds, and what SymPy found."""
    found: list[Expr | Exception] = []

    def attempt() -> None:
        try:
            found.append(SUMMATIONS[form]())
        except Exception as error:  # a failure is a result of this measurement
            found.append(error)

    time = seconds(attempt)
    result = found[0]
    if isinstance(result, Exception):
        outcome = f"fails ({type(result).__name__})"
    elif result.has(Sum):
        outcome = "fails: leaves a Sum"
    else:
        outcome = "gives a Piecewise" if result.has(Piecewise) else "gives a closed form"
    print(f"{time} {outcome}")


if __name__ == "__main__":
    _main(sys.argv[1])
