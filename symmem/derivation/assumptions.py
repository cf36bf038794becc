"""What a derivation rests on: one sentence each, with its mathematics as data; what follows is in conclusions.py."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from sympy import Add, Expr, Integer, Poly, Pow, S, StrictLessThan, Symbol, default_sort_key, exp, oo

from symmem.algebra.atoms import AGO, PAST, STEP, THETA, is_constant
from symmem.algebra.intervals import DECAYS, REALS, Interval
from symmem.algebra.late_form import late_form
from symmem.algebra.ranges import bounds
from symmem.algebra.results import Assumption, Missing, Part, Sentence
from symmem.algebra.signs import is_nonzero
from symmem.algebra.where import where
from symmem.derivation.conditions.growth import growth
from symmem.derivation.conditions.real_values import real_where
from symmem.derivation.conditions.small_steps import small_steps
from symmem.derivation.conditions.smoothness import smoothness, times
from symmem.derivation.gains import gains, unsettled
from symmem.method.method import Method

__all__ = ["Assumption", "assumptions"]


def assumptions(method: Method, order: int, formulas: tuple[Expr, ...]) -> tuple[Assumption, ...]:
    """What the results to the given order in h rest on; ``formulas`` are searched for poles at equal decays."""
    loss = f"the loss is {order + 2} times continuously differentiable, with bounded derivatives"
    found = [
        *_smoothed(method),
        *_decays(method),
        *_fading_factors(method),
        *distinct_decays(method, formulas),
        *_real_numbers(method),
        Assumption(Sentence.of(loss)),
        *_bounded_iterates(method),
        *smoothness(method, order).assumptions,
        *small_steps(method, order),
        *_open_functions(method, order),
        *_bounded_gains(method),
    ]
    return tuple(dict.fromkeys(found))


def _smoothed(method: Method) -> Iterator[Assumption]:
    """Declared smoothing: the theory is that of the smooth functions, the optimizer as it runs has the others."""
    for each in () if method.declared is None else method.declared.smooth:
        words = (
            f"in the theory {each.call} is ",
            each.formula,
            "; the optimizer as it runs keeps it as it is",
        )
        yield Assumption(Sentence.of(*words), is_departure=True)


def _decays(method: Method) -> Iterator[Assumption]:
    """The sums over the past converge where every decay lies in its range."""
    for decay, interval in _ranges_of_decays(method).items():
        yield Assumption(Sentence.of(decay, " lies in ", interval))


def _fading_factors(method: Method) -> Iterator[Assumption]:
    """A factor that settles, as ``1 + gamma^(n^2)``, does so by the ranges of what stands in its powers of the step."""
    known = {symbol for decay in _ranges_of_decays(method) for symbol in decay.free_symbols}
    factors = [each for channel in method.channels for each in channel.kernel.expressions]
    if method.rate is not None and not isinstance(method.rate.settled, Missing):
        factors.append(method.rate.factor)
    for parameter in method.parameters if unsettled(method) is None else ():
        symbol = Symbol(parameter.name)
        if (
            symbol not in known
            and parameter.range != REALS
            and any(_fades_by(symbol, each) for each in factors)
        ):
            yield Assumption(Sentence.of(symbol, " lies in ", parameter.range))


def _fades_by(symbol: Symbol, formula: Expr) -> bool:
    """Whether the symbol stands in a power, or an exponential, with the step in its exponent."""
    moving = (part for part in formula.atoms(Pow, exp) if STEP in part.as_base_exp()[1].free_symbols)
    return any(symbol in part.free_symbols for part in moving)


def _ranges_of_decays(method: Method) -> dict[Expr, Interval]:
    decays = dict.fromkeys(decay for channel in method.channels for decay in channel.kernel.decays)
    return {decay: method.ranges.get(decay, DECAYS) for decay in decays if decay.free_symbols}


def distinct_decays(method: Method, formulas: tuple[Expr, ...]) -> Iterator[Assumption]:
    """A closed form may have ``1/(beta1 - beta2)``: its value where that is zero is a limit.

    So it may have ``1/beta``, where a cascade reads a delay, or ``beta^(n-1)``, and a loss ``1/(2 - 2 p)``, where p = 1
    has a logarithm; so may the weight of step s in a memory of a memory, ``beta^(1-s)``.  ``1/(1 - beta1 beta2)`` is no
    such pole: the ranges of the decays keep it away from zero.
    """
    ranges = {**method.ranges, **_ranges_of_decays(method)}
    poles: dict[Expr, dict[Expr, Expr]] = {}
    for formula in formulas:
        for base, late in _poles(formula, {}):
            if not _misses_steps(base, method):
                known = poles.setdefault(base, late)
                poles[base] = {step: later for step, later in known.items() if late.get(step) == later}
    for pole, late in poles.items():
        again = PAST in pole.free_symbols and pole.xreplace({PAST: STEP}) in poles  # s is a step as n is
        if (
            (isinstance(pole, Add) or pole in ranges)
            and not again
            and not is_nonzero(pole.xreplace(late), ranges)
        ):
            yield Assumption(
                Sentence.of(pole, " is not 0"),
                Sentence.of("where it is, derive again with those values set"),
                pole=pole,
            )


def _poles(formula: Expr, late: dict[Expr, Expr]) -> Iterator[tuple[Expr, dict[Expr, Expr]]]:
    """What a formula divides by, and the steps at which it does: ``n + 1`` for n in the branch of all steps from 1 on.

    ``where(n < 1, 1, 1/(1 - beta^n))`` has no pole, although ``1 - beta^n`` is 0 at n = 0.
    """
    if isinstance(formula, Pow) and is_constant(formula.base) and _is_below_zero(formula.exp):
        yield formula.base, late
    if isinstance(formula, where) and isinstance(formula.args[0], StrictLessThan):
        condition, value, otherwise = formula.args
        step, first = condition.args
        yield from _poles(value, late)
        is_late = step in (STEP, PAST) and first.is_Integer and first > 0
        yield from _poles(otherwise, {**late, step: step + first} if is_late else late)
        return
    for part in sorted(formula.args, key=default_sort_key):
        yield from _poles(part, late)


def _real_numbers(method: Method) -> Iterator[Assumption]:
    """Roots and logarithms of parameters are real: ``sqrt(c) m1`` for c from 0 on."""
    parts = [method.phi, *(channel.g for channel in method.channels)]
    parts += [each for channel in method.channels for each in channel.kernel.expressions]
    parts += [] if method.rate is None else [method.rate.factor]
    for part in parts:
        for inner, words in real_where(part, method):
            yield Assumption(Sentence.of(inner, words))


def _misses_steps(pole: Expr, method: Method) -> bool:
    """Whether it is a polynomial in a step alone that is 0 at none, such as ``5 - 2 n``: by its rational roots."""
    symbols = pole.free_symbols
    if len(symbols) != 1 or symbols <= method.defaults.keys() or not pole.is_polynomial(*symbols):
        return False
    found = Poly(pole, *symbols)
    rational = all(coefficient.is_Rational for coefficient in found.coeffs())
    return rational and not any(root.is_Integer and root >= 0 for root in found.ground_roots())


def _is_below_zero(exponent: Expr) -> bool:
    """Whether an exponent is below 0: as a number, or at a step n, s < n, or 1 <= k <= n steps ago."""
    if not exponent.free_symbols <= {STEP, PAST, AGO}:
        return False
    first = S.Zero if exponent.free_symbols <= {STEP} else S.One
    return any(_comes_below_zero(each, first) for each in _at_ends(exponent))


def _at_ends(exponent: Expr) -> Iterator[Expr]:
    """At the first and the last values of s and k: in between a linear exponent is in between."""
    for past, ago in product((S.Zero, STEP - 1), (S.One, STEP)):
        yield exponent.xreplace({PAST: past, AGO: ago})


def _comes_below_zero(exponent: Expr, first: Expr) -> bool:
    """Whether an exponent is below 0 at a step from ``first`` on: a delay leaves a linear one from some step on."""
    late = late_form(exponent, STEP)
    settled, begin = (exponent, 0) if late is None else late
    steps = range(int(first), max(int(first), begin) + 1)
    values = [exponent.xreplace({STEP: Integer(step)}) for step in steps]
    return settled.expand().coeff(STEP).is_negative or any(bool(value.is_negative) for value in values)


def _bounded_iterates(method: Method) -> Iterator[Assumption]:
    """The theorem asks for bounded updates: one that reads the parameters themselves is bounded where they are."""
    # A channel without weight, as of a decay that was set to 0, brings nothing.
    seen = (
        channel.g for channel in method.channels if channel.kernel.tidied(method.numbers).scale(STEP) != 0
    )
    if any(THETA in part.free_symbols for part in (method.phi, *seen)):
        yield Assumption(Sentence.of("the iterates stay in a bounded set"))


def _open_functions(method: Method, order: int) -> Iterator[Assumption]:
    """What is asked of a function that is left open, and the degree that its declaration says it has.

    A homogeneous function need not be smooth at 0: where that matters it is told beside the other places of Phi.
    """
    smooth = f"{times(order)} continuously differentiable"
    for each in method.functions:
        words: tuple[Part, ...] = (" is ", smooth)
        if each.degree is not None:
            away = "" if each.degree > order + 1 else " where its argument is not 0"
            words = (" is positively homogeneous of degree ", each.degree, f", and {smooth}{away}")
        yield Assumption(Sentence.of(Symbol(each.name), *words))


def _bounded_gains(method: Method) -> Iterator[Assumption]:
    """The theorem asks for updates that stay bounded (mathematics.md section 2); a gain with a limit does.

    Of one that is known to grow it is not assumed: see :mod:`.conditions.growth`.
    """
    yield from _bounded_rate(method)
    if unsettled(method) is None:
        return
    for gain in gains(method):
        interval = bounds(gain, method.ranges)
        unbounded = STEP in gain.free_symbols and oo in (interval.upper, -interval.lower)
        if unbounded and growth(gain, method) is None:
            yield Assumption(Sentence.of("the gain ", gain, " stays bounded as ", STEP, " grows"))


def _bounded_rate(method: Method) -> Iterator[Assumption]:
    """The same for the rate of a schedule."""
    if method.rate is None or isinstance(method.rate.settled, Expr):
        return
    interval = bounds(method.rate.factor, method.ranges)
    if oo in (interval.upper, -interval.lower) and growth(method.rate.factor, method) is None:
        yield Assumption(Sentence.of("the rate ", method.rate.factor, " stays bounded as ", STEP, " grows"))
