"""Sums over past steps that a few of the steps stand for: which loops are such.  Targets choose the steps.

A term ``w(s) f(s)`` has a weight w and a vector f, a function of numbers such as ``1 - beta^(s+1)`` for every entry.
Where f is analytic for ``Re s > 0``, the polynomial through k of its values in a block ``2^j <= s + 1 < 2^(j+1)`` is
off by ``(3 + sqrt(8))^(-k)`` of it, whatever the entry: the half-plane ends three half-widths from the block's centre.
Then ``sum_s w(s) f(s) = sum_k W_k f(s_k)``, W_k the weighted sum of Lagrange's l_k (mathematics.md section 14).

Analytic is what is made of numbers in a sector: ``1 - beta^(s+1)`` has a positive real part, ``|arg| < pi/2``; its
square is in the plane without the negative axis, so is ``(1 - beta^(s+1))^2 grad^2 + eps``, and its root is analytic.

Where one number c moves beside the weight, f is a function of c, and analytic in a sector of its own, ``|arg c| <
sector pi/2``: a strip of ``log c``.  The weights are a measure on the values of ``log c``, and its Gauss rule has as
few places as the digits need: its orthonormal polynomials along the strip say how many (mathematics.md section 14).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from sympy import Add, Expr, Mul, Pow, Rational, S, Symbol

from symmem.algebra.every import every
from symmem.algebra.ranges import Ranges, bounds
from symmem.algebra.results import Missing
from symmem.program.digits.decay_functions import Shortfall, Whole
from symmem.program.program import Program, Routine, Variants
from symmem.program.statements import Apply, Assign, Loop, Reach

Sector = Fraction | None
"""``|arg| <= sector pi/2``, below 2: beside the negative axis; None where nothing is known."""
_PLANE = 2
_SECTORS = (Fraction(2), Fraction(3, 2), Fraction(1), Fraction(1, 2))
_STEEPEST = 2
"""A rule rounds its smallest weights to the digits of their sum: a steep f may hang on these."""


def at_few_steps(program: Program) -> Program:
    """The program with its long sums of vectors marked: their ``few`` are the columns."""
    ranges = {Symbol(each.name): each.range for each in program.optimizer.parameters}

    def marked(routine: Routine | Missing) -> Routine | Missing:
        if isinstance(routine, Missing) or not any(isinstance(each, Loop) for each in routine.statements):
            return routine
        statements = (
            _marked(each, ranges) if isinstance(each, Loop) else each for each in routine.statements
        )
        return Routine(tuple(statements), routine.result)

    routines = {
        name: Variants(marked(each.finite), marked(each.limit)) for name, each in program.routines.items()
    }
    return replace(program, routines=routines)


def _marked(loop: Loop, ranges: Ranges) -> Loop:
    few = columns(loop, ranges)
    return loop if few is None else replace(loop, few=few, reach=reach(loop, few, ranges))


def columns(loop: Loop, ranges: Ranges) -> tuple[Symbol, ...] | None:
    """The numbers of a term that move with the step, the weight first; None where every step has to be taken."""
    if loop.is_scalar or loop.decay is None or loop.has_own_shape or len(loop.body) != 2:
        return None
    numbers, term = loop.body
    if not isinstance(numbers, Assign) or not isinstance(term, Apply) or term.result != loop.term:
        return None
    moving = {loop.index}
    for name, value in numbers.assignments:
        if value.free_symbols & moving:
            moving.add(name)
    function = term.function
    weights = [each for each in Mul.make_args(function.output) if each in moving]
    others = [each for each in function.scalars if each in moving and each not in weights[:1]]
    if not weights:
        return None
    sectors: dict[Symbol, Sector] = {}
    for name, value in numbers.assignments:
        if name in moving:
            sectors[name] = _sector(value, sectors, loop.index, ranges)
    rest = function.output / weights[0]
    parts = [*(value for _, value in function.locals), rest]
    if any(sectors[each] is None for each in others) or any(
        weights[0] in part.free_symbols for part in parts
    ):
        return None
    inside = {each: sectors[each] for each in others}
    values = (*function.locals, (loop.term, rest))
    return (weights[0], *others) if _are_analytic(values, inside, loop.index, ranges) else None


def reach(loop: Loop, few: Sequence[Symbol], ranges: Ranges) -> Reach | None:
    """Where a term without its weight is analytic in the one other number that moves, and how it grows there.

    None where several numbers move, or where it grows too fast.  RMSprop's ``grad/sqrt(c grad^2 + eps)``: the plane
    without the negative axis, sector 2, and at most like ``c^(-1/2)``.
    """
    term = loop.body[-1]
    if len(few) != 2 or not isinstance(term, Apply):
        return None
    weight, column = few
    values = (*term.function.locals, (loop.term, term.function.output / weight))
    growth = _growth(values, column)
    if growth > _STEEPEST:
        return None
    for sector in _SECTORS:
        if _are_analytic(values, {column: sector}, loop.index, ranges):
            return Reach(Rational(sector), growth)
    return None


def _growth(values: Sequence[tuple[Symbol, Expr]], column: Symbol) -> Rational:
    """The power of c that bounds the last value, up or down, made of sums, products and powers."""
    known: dict[Symbol, Rational] = {column: S.One}

    def of(value: Expr) -> Rational:
        if isinstance(value, Symbol) or not value.free_symbols & set(known):
            return known.get(value, S.Zero)
        parts = [of(part) for part in value.args]
        if isinstance(value, Pow):
            return parts[0] * abs(value.exp)
        return max(parts) if isinstance(value, Add) else Add(*parts)

    for name, value in values:
        known[name] = of(value)
    return known[values[-1][0]]


def _are_analytic(
    values: Sequence[tuple[Symbol, Expr]], start: Mapping[Symbol, Sector], index: Symbol, ranges: Ranges
) -> bool:
    """Whether all of these values, one after another, are analytic in the numbers in their sectors."""
    inside = dict(start)
    for name, value in values:
        if not _is_analytic(value, inside, index, ranges):
            return False
        if value.free_symbols & set(inside):
            inside[name] = _sector(value, inside, index, ranges)
    return True


def _sector(value: Expr, known: Mapping[Symbol, Sector], index: Symbol, ranges: Ranges) -> Sector:
    """The sector in which the value stays for ``Re index > 0``."""
    moving = {index, *known}
    if not value.free_symbols & moving:
        plain = value.replace(Whole, lambda inner: inner)
        return Fraction(0) if bounds(plain, ranges).is_nonnegative else None
    if isinstance(value, Symbol):
        return known.get(value)
    if isinstance(value, Shortfall):
        decay, power = value.args
        later = power - index
        is_later = later.is_Integer and later >= 0
        unit = bounds(decay, ranges)
        return Fraction(1) if is_later and unit.is_nonnegative and unit.is_within_unit else None
    found = [_sector(part, known, index, ranges) for part in value.args]
    if isinstance(value, Pow):
        exponent = value.exp
        if not isinstance(exponent, Rational) or found[0] is None:
            return None
        return _at_most(found[0] * abs(Fraction(int(exponent.p), int(exponent.q))))
    sectors = every(found)
    if sectors is None:
        return None
    if isinstance(value, Mul):
        return _at_most(sum(sectors, Fraction(0)))
    return _of_sum(sectors) if isinstance(value, Add) else None


def _of_sum(sectors: Sequence[Fraction]) -> Sector:
    """A half-plane's sector is convex; the plane without its negative axis stays so under positive numbers."""
    largest = max(sectors)
    return largest if largest <= 1 or sum(each > 0 for each in sectors) == 1 else None


def _at_most(sector: Fraction) -> Sector:
    return sector if sector <= _PLANE else None


def _is_analytic(value: Expr, known: Mapping[Symbol, Sector], index: Symbol, ranges: Ranges) -> bool:
    if isinstance(value, Symbol) or not value.free_symbols & set(known):
        return True
    if isinstance(value, (Add, Mul)):
        return all(_is_analytic(part, known, index, ranges) for part in value.args)
    if not isinstance(value, Pow) or not value.exp.is_Rational:
        return False
    if value.exp.is_Integer and value.exp > 0:
        return _is_analytic(value.base, known, index, ranges)
    # A root, or what is divided by, must not meet zero or the negative axis.
    inside = _sector(value.base, known, index, ranges)
    return inside is not None and _is_analytic(value.base, known, index, ranges)
