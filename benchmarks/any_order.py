"""Any order: the tree recursion against its promised seconds, and against the Lie-series route."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product

from measure import HERE, Row, Target, seconds, side_by_side
from sympy import Add, Expr, S

import symmem
from symmem.algebra.atoms import contraction, is_contraction, split_scalar
from symmem.algebra.trees import trees
from symmem.declaration.optimizer import Momentum, Optimizer
from symmem.derivation.orders.differentials import Differentials
from symmem.derivation.orders.recursion import Coefficients
from symmem.method.merging import merged
from symmem.method.reading import method_of

sys.path.insert(0, str(HERE.parent / "tests" / "support"))
GD, HEAVY_BALL = symmem.load("gd"), symmem.load("heavyball")


def coefficients(optimizer: Optimizer, largest: int) -> None:
    """The coefficients of F and G of all trees up to a size, trees included."""
    method = merged(method_of(optimizer))
    by_size = trees(Differentials(method).shape, largest)
    ring = Coefficients(tuple(channel.kernel for channel in method.channels))
    for increment in ring.solve(by_size).values():
        ring.flow(increment)


def _promised(name: str, action: Callable[[], object], bound: float) -> Row:
    """Seconds in a warm process against the seconds that were promised."""
    action()
    best = min(seconds(action) for _ in range(5))
    return Row(name, best, bound, Target(1), "measure = promised seconds")


def gd_nine() -> Row:
    return _promised("gd, |tau| <= 9, F and G", lambda: coefficients(GD, 9), 0.1)


def heavy_ball_nine() -> Row:
    return _promised("heavyball, |tau| <= 9, F and G", lambda: coefficients(HEAVY_BALL, 9), 0.25)


def heavy_ball_ten() -> Row:
    return _promised("heavyball, |tau| <= 10, F and G", lambda: coefficients(HEAVY_BALL, 10), 0.8)


def adamw_second() -> Row:
    return _promised("adamw, symbolic, order 2", lambda: _adamw(2), 0.5)


def adamw_third() -> Row:
    return _promised("adamw, symbolic, order 3", lambda: _adamw(3), 3.0)


def heavy_ball_eighth() -> Row:
    return _assembled("heavyball, order 8, assembled", "heavyball", 8, 2.0)


def adamw_fourth() -> Row:
    return _assembled("adamw, order 4, assembled", "adamw", 4, 2.0)


def aggmo_second() -> Row:
    return _assembled("AggMo, three decays, order 2, symbolic n", "aggmo", 2, 10.0)


def _assembled(name: str, optimizer: str, order: int, bound: float) -> Row:
    """CPU seconds, each in a new process: closed forms are kept up to renaming, so new names are not enough."""
    call = [sys.executable, __file__, optimizer, str(order)]
    runs = [subprocess.run(call, capture_output=True, check=True, text=True) for _ in range(3)]
    best = min(float(run.stdout) for run in runs)
    return Row(name, best, bound, Target(1), "measure = promised CPU seconds, in a new process")


def _measured(name: str, order: int) -> float:
    """CPU seconds of the limit's coefficients, or of AggMo's correction at symbolic n; gd has loaded the modules."""
    _ = symmem.derive(GD, 2).coefficients
    derivation = symmem.derive(_aggmo() if name == "aggmo" else symmem.load(name), order)
    start = time.process_time()
    _ = derivation.M if name == "aggmo" else derivation.coefficients
    return time.process_time() - start


def _aggmo() -> Optimizer:
    decays = ("beta1", "beta2", "beta3")
    momentum = [Momentum("grad", decay, "1") for decay in decays]
    return Optimizer(
        "aggmo", "(m1 + m2 + m3)/3", momentum, {name: {"default": 0.9, "range": "[0, 1)"} for name in decays}
    )


_COUNT = iter(range(10**6))


def _adamw(order: int) -> None:
    """F and G of AdamW as expressions; new parameter names each time, so that nothing is remembered."""
    number = next(_COUNT)
    one, two, eps, decay = (f"{name}{number}x" for name in ("p", "q", "eps", "wd"))
    gain = "(1 - {0}) / (1 - {0}**(n + 1))"
    optimizer = Optimizer(
        "adamw-bench",
        f"m1 / sqrt(m2 + {eps}) + m3",
        [
            Momentum("grad", one, gain.format(one)),
            Momentum("grad**2", two, gain.format(two)),
            Momentum("theta", "0", decay),
        ],
        {
            one: {"default": 0.9},
            two: {"default": 0.999},
            eps: {"default": 1e-8, "range": "(0, inf)"},
            decay: {"default": 0.01},
        },
    )
    derivation = symmem.derive(optimizer, order)
    _ = derivation.coefficients, derivation.modified_equation


def lie_series_route() -> Row:
    """Heavy ball with symbolic beta at order 4 by the Lie series of mathematics.md section 4.

    Both sides end with one exact coefficient, not simplified further, for each elementary differential.
    """
    from lie_series import lie_series  # noqa: PLC0415  # lives with the tests

    def by_lie_series() -> None:
        memoryless, flow = lie_series(HEAVY_BALL, 4)
        for part in (*memoryless, *flow):
            _coefficients(part)

    found = side_by_side(
        lambda: seconds(lambda: coefficients(HEAVY_BALL, 5)), lambda: seconds(by_lie_series), 3
    )
    return Row("heavyball, order 4: Lie series / trees", *found, Target(100, at_least=True))


def _coefficients(expression: Expr) -> dict[Expr, Expr]:
    """``{elementary differential: coefficient}`` of a vector expression, by SymPy's own means."""
    found: dict[Expr, Expr] = {}
    for term in Add.make_args(_multilinear(expression).expand()):
        scalar, vector = split_scalar(term)
        found[vector] = found.get(vector, S.Zero) + scalar
    return found


def _multilinear(expression: Expr) -> Expr:
    """Contractions distributed over the sums in their slots."""
    if not expression.args:
        return expression
    parts = [_multilinear(part).expand() for part in expression.args]
    if is_contraction(expression):
        return Add(*(contraction(*choice) for choice in product(*map(Add.make_args, parts))))
    return expression.func(*parts)


if __name__ == "__main__":
    print(_measured(sys.argv[1], int(sys.argv[2])))
