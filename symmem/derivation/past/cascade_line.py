"""The straight-line history of a cascade: what is read on the line is known there (mathematics.md section 10).

Where every step on a constant history is the same, the past is one line, ``theta_{n-k} = theta + k h F`` and
``grad_{n-k} = grad + k d`` with ``d = h D2L[F]``, and the variables are known at every step r <= n, in turn:

    m_l(r) = sum_{j=0..r} c_l(r, j) g_l(theta + (k+j) h F, grad + (k+j) d, m(r-j)),       k = n - r

A g that is a polynomial in the lag has sums of numbers, ``sum_j c(r, j) (k+j)^p = sum_i C(p, i) k^(p-i) mu_i(r)``; any
other g keeps its sum over the steps.  ``F_straight = Phi(m(n))``, k = 0, is Phi of a real history.  In the limit every
cascade has its line, with the limits of the moments:

    LaProp: m1(k) = grad^2 + 2 (k + mu_1) grad d + (k^2 + 2 k mu_1 + mu_2) d^2,
            F_straight = sum_k c(k) (grad + k d)/sqrt(m1(k) + eps)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import product
from math import comb

from sympy import Add, Expr, Mul, S, Symbol

from symmem.algebra.atoms import AGO, GRAD, LR, STEP, THETA, contraction, slot, split_scalar, terms_of
from symmem.algebra.heads import HEADS, labels_of, operands_of
from symmem.algebra.passes import collect, distribute
from symmem.algebra.reals import substituted
from symmem.algebra.results import Missing, Named, Sentence, Whose
from symmem.derivation.gains import frozen_update, gains, is_steady_step, limit_gains, settled_rate
from symmem.method.kernel import Kernel
from symmem.method.method import Method

PATH, CHANGE = slot(-2), slot(-3)
"""The places of h F and of d."""
LAG = Symbol("k0")
"""k: how long ago the variables are asked for; a sum inside has another lag."""
Memory = Callable[[Kernel, Expr, Symbol], Expr]
"""What a kernel makes of values that depend on the lag k and, before the limit, on the step; the index of a sum."""
Moment = Callable[[Kernel, Expr, int, Symbol], Expr]
"""``sum_j c(j) j^i value`` for a value that does not depend on the lag: the power i, the index of a sum."""


def changing_steps(method: Method) -> Missing | None:
    """Why a cascade has no line at step n; None where it has one."""
    if is_steady_step(method):
        return None
    words = (
        " reads momentum variables, and the update on a constant history changes from step to step, "
        "so that the past is no line; after many steps it is one"
    )
    advice = (Sentence.of("take the limit, or the expansion, F + M"),)
    return Missing(Sentence.of(Whose(method.name), "a ", Named("g", "l"), words), advice)


@lru_cache(maxsize=64)
def line_update(method: Method, marks: tuple[Symbol, ...] = ()) -> Expr:
    """``F_straight`` at step n, as a function of its places; asked where :func:`changing_steps` has nothing to say.

    ``marks``, symbols of the field, one for each channel, stand before what moves with the step in what is read.
    """
    tidy = method.numbers.tidy

    def moment(kernel: Kernel, value: Expr, power: int, index: Symbol) -> Expr:
        number, vector = split_scalar(value)
        return tidy(_weighed(kernel, number, power, index)) * vector

    def summed(kernel: Kernel, seen: Expr, index: Symbol) -> Expr:
        return kernel.looked(lambda r: seen.xreplace({LAG: LAG + STEP - r, STEP: r}), STEP, index)

    return _on_line(method, _memory(moment, summed, tidy), marks)


def _weighed(kernel: Kernel, number: Expr, power: int, index: Symbol) -> Expr:
    """``sum_j c(n, j) j^i number(n - j)``: a moment where the number does not depend on the step."""
    if STEP not in number.free_symbols:
        return number * kernel.power_moment(STEP, power)
    return kernel.looked(lambda r: (STEP - r) ** power * number.xreplace({STEP: r}), STEP, index)


@lru_cache(maxsize=64)
def limit_line_update(method: Method) -> Expr:
    """The same for n -> infinity."""
    tidy = method.numbers.tidy

    def moment(kernel: Kernel, value: Expr, power: int, _: Symbol) -> Expr:
        return value * tidy(kernel.limit_moment(power))

    def summed(kernel: Kernel, seen: Expr, index: Symbol) -> Expr:
        return kernel.limit_applied(lambda j: seen.xreplace({LAG: LAG + j})).xreplace({AGO: index})

    return _on_line(method, _memory(moment, summed, tidy))


def _memory(moment: Moment, summed: Memory, tidy: Callable[[Expr], Expr]) -> Memory:
    """Terms with a power of the lag through the moments of the kernel, all others through its sum."""

    def remembered(kernel: Kernel, seen: Expr, index: Symbol) -> Expr:
        powers = _by_power(seen, tidy)
        rest = Add(*(value for value, power in powers if power is None))
        known = (
            comb(power, i) * LAG ** (power - i) * moment(kernel, value, i, index)
            for value, power in powers
            if power is not None
            for i in range(power + 1)
        )
        return Add(*known, summed(kernel, rest, index) if rest != 0 else S.Zero)

    return remembered


def cascade_line(method: Method, marks: tuple[Symbol, ...] = ()) -> Expr:
    """``F_straight`` at step n."""
    return _placed(line_update(method, marks), method.rate_at(STEP) * frozen_update(method, gains(method)))


def cascade_limit_line(method: Method) -> Expr:
    """``F_straight`` for n -> infinity."""
    velocity = settled_rate(method) * frozen_update(method, limit_gains(method))
    return _placed(limit_line_update(method), velocity)


def _placed(update: Expr, velocity: Expr) -> Expr:
    """The line where it stands: h F and its product with the Hessian."""
    places = {PATH: LR * velocity, CHANGE: LR * contraction(velocity)}
    return substituted(update, places)


def _on_line(method: Method, remembered: Memory, marks: tuple[Symbol, ...] = ()) -> Expr:
    """``Phi`` of the variables at k = 0, one after the other."""
    line = {THETA: THETA + Mul(LAG, PATH), GRAD: GRAD + Mul(LAG, CHANGE)}
    point: dict[Expr, Expr] = {}
    read: dict[Expr, Expr] = {}
    for place, channel in enumerate(method.channels):
        seen = _spread(substituted(channel.g, {**line, **read}))
        value = remembered(channel.kernel, seen, Symbol(f"k{place + 1}"))
        point[channel.symbol] = value
        read[channel.symbol] = _marked(value, marks[place]) if marks else value
    return collect(substituted(method.phi, point).xreplace({LAG: S.Zero}), method.numbers)


def _marked(value: Expr, mark: Symbol) -> Expr:
    """The mark before what moves with the step: a vector and a power of the lag with all of its terms.

    ``(1 - alpha^n)/(1 - alpha)`` is one number, also where its two terms stand apart.
    """
    found: dict[tuple[Expr, Expr], list[Expr]] = {}
    for term in Add.make_args(value):
        number, vector = split_scalar(term)
        found.setdefault((vector, number.as_coeff_exponent(LAG)[1]), []).append(term)
    moves = [STEP in Add(*terms).free_symbols for terms in found.values()]
    return Add(
        *(mark ** int(moving) * Add(*terms) for moving, terms in zip(moves, found.values(), strict=True))
    )


def _spread(expression: Expr) -> Expr:
    """Functions that are linear in an operand, over its sums: ``dot(g + k d, g) = dot(g, g) + k dot(d, g)``."""
    if LAG not in expression.free_symbols or not expression.args:
        return expression
    head = HEADS.of(expression)
    if head is None or head.linear_from is None or head.binds:
        return HEADS.mapped(expression, _spread)
    choices: list[tuple[Expr, ...]] = []
    for place, operand in enumerate(operands_of(expression, head)):
        whole = _spread(operand)
        choices.append(Add.make_args(whole.expand()) if head.is_linear_in(place) else (whole,))
    return Add(
        *(HEADS.applied(head, operands, labels_of(expression, head)) for operands in product(*choices))
    )


def _by_power(seen: Expr, tidy: Callable[[Expr], Expr]) -> list[tuple[Expr, int | None]]:
    """The terms with their powers of the lag, which is left out of them; None for what is no polynomial in it.

    A vector has one number: the parts of ``(1 - alpha^n)/(1 - alpha)``, summed up apart, would cancel.
    """
    others: list[Expr] = []
    found: dict[tuple[Expr, int], list[Expr]] = {}
    for part in terms_of(distribute(seen)):
        if not part.is_polynomial(LAG) or _is_open(part):
            others.append(part)
            continue
        for term in Add.make_args(part.expand()):
            value, power = term.as_coeff_exponent(LAG)
            number, vector = split_scalar(value)
            found.setdefault((vector, int(power)), []).append(number)
    if not found:
        return [(seen, None)]
    known = [(tidy(Add(*numbers)) * vector, power) for (vector, power), numbers in found.items()]
    return [*known, *((part, None) for part in others)]


def _is_open(part: Expr) -> bool:
    """Whether the step stands inside a function of vectors, so that no number times a vector can be told apart."""
    return any(STEP in split_scalar(term)[1].free_symbols for term in Add.make_args(part.expand()))
