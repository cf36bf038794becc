"""Where Phi and the g_l are smooth at the frozen point, also where an entry of the gradient is zero; else a warning.

The theorem asks for two derivatives (mathematics.md section 2; section 8 on PyTorch's eps).

A part such as ``sqrt(m2 + eps)`` is smooth where its argument keeps away from 0 for all parameters in their ranges.
Where only the default values say so, that is stated as an assumption; where nothing does, it is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from sympy import Abs, Expr, Integer, Pow, S, Symbol, cos, default_sort_key, sign, sqrt
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import TOTAL, Kind, is_scalar, kind, moves_with_theta
from symmem.algebra.head import Roughness
from symmem.algebra.heads import HEADS
from symmem.algebra.intervals import BETWEEN_POLES
from symmem.algebra.ranges import Ranges, bounds
from symmem.algebra.results import Assumption, Named, Part, Sentence, Unknown
from symmem.algebra.signs import at_values, is_nonzero
from symmem.algebra.symbols import GRAD
from symmem.derivation.conditions.real_values import falls_below_zero, root_argument
from symmem.derivation.gains import at_frozen_point, gains
from symmem.method.method import Method
from symmem.records import record

_NOWHERE_ZERO = " is not 0 at any gradient"
_ONLY_AT_DEFAULTS = Sentence.of("so at the defaults, but the ranges of the parameters do not prove it")


@record(frozen=True)
class RoughPart:
    """``part`` fails to be smooth where ``inner`` is 0, as a function of ``inner`` to the power ``exponent``."""

    part: Expr
    roughness: Roughness
    inner: Expr
    exponent: Expr = S.One


def times(order: int) -> str:
    """How often what the expansion to this order is made of has to be differentiable."""
    return "twice" if order == 1 else f"{order + 1} times"


@record(frozen=True)
class Smoothness:
    """What keeps Phi and the g_l smooth, and where they are not, or the expansion asks for a small h."""

    assumptions: tuple[Assumption, ...]
    warnings: tuple[Unknown, ...]


@lru_cache(maxsize=256)
def smoothness(method: Method, order: int) -> Smoothness:
    """Part by part; where nothing fails, that all is smooth is one sentence."""
    named: list[tuple[tuple[Part, ...], Expr]] = [((Named("Phi"),), method.phi)]
    named += [((Named("g", k),), channel.g) for k, channel in enumerate(method.channels, start=1)]
    assumed: list[Assumption] = []
    warnings: list[Unknown] = []
    for name, expression in named:
        for rough in rough_parts(expression, order):
            if _is_safe(rough, method, method.ranges):
                continue
            if rough.roughness is not Roughness.POLES and _is_safe(rough, method, at_values(method.defaults)):
                assumed.append(Assumption(Sentence.of(rough.inner, _NOWHERE_ZERO), _ONLY_AT_DEFAULTS))
            else:
                words, advice = _problem(rough, method, order)
                told = Sentence.of(*name, " contains ", rough.part, ", which ", *words)
                warnings.append(Unknown(told, warning=True, advice=Sentence.of(*advice) if advice else None))
        warnings += _open_at_zero(name, expression, method, order)
    if not warnings:
        words = (
            Named("Phi"),
            " and the ",
            Named("g", "l"),
            f" are {times(order)} differentiable at the frozen point",
        )
        assumed.append(Assumption(Sentence.of(*words), is_checked=not assumed))
    return Smoothness(tuple(assumed), tuple(warnings))


def _open_at_zero(name: tuple[Part, ...], expression: Expr, method: Method, order: int) -> Iterator[Unknown]:
    """``f(c x) = c^p f(x)``: the derivatives of f are homogeneous of lower degree, and need no value at 0."""
    degrees = {each.name: each.degree for each in method.functions}
    for part in sorted(expression.atoms(AppliedUndef), key=default_sort_key):
        degree = degrees.get(part.func.__name__)
        if degree is not None and degree <= order + 1:
            words = (
                ", which is homogeneous of degree ",
                degree,
                f" and may not be {times(order)} differentiable",
            )
            yield Unknown(
                Sentence.of(*name, " contains ", part, *words, " where ", part.args[0], " is 0"), warning=True
            )


def rough_parts(expression: Expr, order: int) -> Iterator[RoughPart]:
    """The parts that are not smooth somewhere, from the outside in; of ``|x|^4`` and the like none is."""
    pending = [expression]
    while pending:
        part = pending.pop()
        rough = None if is_scalar(part) and not moves_with_theta(part) else _rough(part)
        if rough is not None and _is_smooth_power(rough, order):
            rough = None
        if rough is not None:
            yield rough
        smooth_power = isinstance(part, Pow) and isinstance(part.base, Abs) and rough is None
        pending.extend(part.base.args if smooth_power else part.args)


def _rough(part: Expr) -> RoughPart | None:
    """What the table says of a function, and of a power its exponent: ``|x|^p`` is rough as |x| is."""
    if not isinstance(part, Pow):
        head = HEADS.of(part)
        if head is None or head.roughness is None:
            return None
        return RoughPart(part, head.roughness, part.args[0])
    base, exponent = part.base, part.exp
    head = HEADS.of(base)
    if head is not None and head.roughness in (Roughness.KINK, Roughness.JUMP) and exponent.is_Rational:
        singular = exponent < 0 and head.roughness is Roughness.KINK
        return RoughPart(part, Roughness.SINGULAR if singular else head.roughness, base.args[0], exponent)
    if isinstance(exponent, Integer) and exponent >= 0:
        return None
    singular = exponent.is_Rational and exponent < 0
    return RoughPart(part, Roughness.SINGULAR if singular else Roughness.ROOT, base, exponent)


def _is_smooth_power(rough: RoughPart, order: int) -> bool:
    """``|x|^p`` and ``(x^q)^(p/q)`` have as many derivatives as p allows; an even p has all."""
    exponent, kinked = rough.exponent, rough.roughness is Roughness.KINK
    if not (kinked or rough.roughness is Roughness.ROOT) or not exponent.is_Rational:
        return False
    root, power = rough.inner.as_base_exp()
    if not (isinstance(root, Symbol) and power.is_Integer):
        root, power = rough.inner, Integer(1)
    if not kinked and power % 2 == 1:  # x^3 has no root where x is below 0
        return False
    degree = power * exponent
    return bool(degree.is_Integer and degree % 2 == 0) or bool(degree > order + 1)


def _is_safe(rough: RoughPart, method: Method, ranges: Ranges) -> bool:
    """Whether the argument is known to keep away from where the part is rough, at every frozen point."""
    frozen = at_frozen_point(rough.inner, method, gains(method))
    if rough.roughness is Roughness.POLES:
        return bounds(frozen, ranges).within(BETWEEN_POLES)
    return is_nonzero(frozen, ranges)


def _joins_entries(inner: Expr) -> bool:
    """Whether its root fails for a whole tensor at once, and not entry by entry."""
    return kind(inner) is Kind.TENSOR or inner.has(TOTAL)


def _vanishes_with_gradient(inner: Expr, method: Method) -> bool:
    """Whether it is a power of the gradient on a constant history, times a number: 0 where an entry of grad is."""
    frozen = at_frozen_point(inner, method, gains(method))
    factor, vector = frozen.as_independent(GRAD, Abs, as_Add=False)
    return is_scalar(factor) and vector.as_base_exp()[0] in (GRAD, Abs(GRAD))


def _problem(rough: RoughPart, method: Method, order: int) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """What fails, and what to use instead."""
    x, eps, inner = Symbol("x"), Symbol("eps"), rough.inner
    if root_argument(rough.part, method.defaults) == inner and falls_below_zero(inner, method, gains(method)):
        return _real_on_one_side(rough)
    away: tuple[Part, ...] = ("keep it away from 0, e.g. with an ", eps)
    if rough.roughness is Roughness.JUMP:
        return ("jumps where its argument is 0",), ("use a smooth sign, ", x / sqrt(x**2 + eps))
    if rough.roughness is Roughness.SINGULAR:
        return ("is singular where ", inner, " is 0"), away
    if rough.roughness is Roughness.POLES:
        return ("is singular where ", cos(inner), " is 0"), (
            "keep its argument between two poles, e.g. with a tanh",
        )
    if rough.roughness is Roughness.RANK:
        return ("is smooth where ", inner, " has full rank"), ()
    if _joins_entries(inner) and rough.roughness is Roughness.ROOT:
        return ("is not differentiable where ", inner, " is 0"), away
    if rough.roughness in (Roughness.KINK, Roughness.ROOT) and _has_a_slope(rough, method):
        return (f"is not {times(order)} differentiable where an entry of ", inner, " is 0"), away
    if rough.roughness is Roughness.KINK:
        return ("has a kink where its argument is 0",), ("use ", sqrt(x**2 + eps))
    inside: tuple[Part, ...] = ("put the ", eps, " inside the root, ", Pow(inner + eps, rough.exponent))
    if not _vanishes_with_gradient(inner, method):
        told = (
            "is not differentiable where an entry of ",
            inner,
            " is 0: there the correction may not help",
        )
        return told, inside if isinstance(inner, Symbol) else away
    return (
        "is not differentiable where an entry of the gradient is 0: when an entry changes sign the correction "
        "may no longer help",
    ), inside


def _has_a_slope(rough: RoughPart, method: Method) -> bool:
    """``|x|^p`` and ``(x^2)^(p/2)`` with p above 1, at the default values at least: differentiable once."""
    root, power = rough.inner.as_base_exp()
    if rough.roughness is Roughness.ROOT and not isinstance(root, Abs) and not power.is_even:
        return False
    degree = (power * rough.exponent).xreplace(dict(method.defaults))
    return bool(degree.is_Rational and degree > 1)


def _real_on_one_side(rough: RoughPart) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """A root of what is seen to be negative: ``sqrt(m1)`` is no number where m1 is below 0."""
    x, inner = Symbol("x"), rough.inner
    fails = "is singular" if rough.roughness is Roughness.SINGULAR else "is not differentiable"
    told = ("has no real value where an entry of ", inner, f" is below 0, and {fails} where it is 0")
    if isinstance(rough.part, Pow):
        return told, ("a power of either sign is ", sign(x) * Pow(Abs(x), rough.exponent))
    return told, ("keep ", inner, " above 0")
