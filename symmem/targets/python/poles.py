"""Numbers that the formulas of a step divide by and that may be zero in the ranges of the parameters: refused in words.

What is divided by inside a sum over past steps is not among them.
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Dummy, Expr, Mul, Pow, Symbol, default_sort_key

from symmem.algebra.atoms import STEP
from symmem.algebra.signs import Sign, sign_of
from symmem.declaration.interval import Interval
from symmem.program.digits.decay_functions import Complete, Shortfall
from symmem.program.program import Program, Routine
from symmem.program.statements import Assign

EXPANSION = ("memoryless", "correction", "step")
"""They share their check; the straight line may divide by what they do not."""
_POSITIVE, _STEPS = Interval.parse("(0, inf)"), Interval.parse("[0, inf)")


def poles(program: Program) -> tuple[list[Expr], list[Expr]]:
    """What is divided by at step n, and in the limit, unless its sign is known."""
    chosen = [program[name] for name in EXPANSION]
    finite = [each.finite for each in chosen if isinstance(each.finite, Routine)]
    limit = [each.limit for each in chosen if isinstance(each.limit, Routine)]
    return _unclear(program, finite), _unclear(program, limit)


def _unclear(program: Program, routines: list[Routine]) -> list[Expr]:
    ranges = {Symbol(parameter.name): parameter.range for parameter in program.optimizer.parameters}
    known = {*ranges, STEP}
    found = dict.fromkeys(each for routine in routines for each in _divisors(routine))
    return [each for each in found if each.free_symbols <= known and not _has_sign(each, ranges)]


def _divisors(routine: Routine) -> Iterator[Expr]:
    """The factors below the line, in terms of the parameters and n."""
    values: dict[Symbol, Expr] = {}
    for statement in routine.statements:
        for name, value in statement.assignments if isinstance(statement, Assign) else ():
            values[name] = value.xreplace(values)
            for power in sorted(values[name].atoms(Pow), key=default_sort_key):
                if power.exp.could_extract_minus_sign():
                    yield from (factor.as_base_exp()[0] for factor in Mul.make_args(power.base))


def _has_sign(divisor: Expr, ranges: dict[Symbol, Interval]) -> bool:
    """Sums of products of decays are positive, and so is ``1 - x^(n+1)``."""
    sums = {each: Dummy() for each in divisor.atoms(Complete, Shortfall)}
    wider = {**ranges, STEP: _STEPS, **dict.fromkeys(sums.values(), _POSITIVE)}
    return sign_of(divisor.xreplace(sums), wider) in (Sign.POSITIVE, Sign.NEGATIVE)
