"""The straight-line history: the real optimizer on a past that is a line, to the same first order as F + M.

    theta_{n-k} = theta + k h V_l,   grad_{n-k} = grad + k d_l,   d_l = h D2L[V_l],   V_l = S_l / sum_k k c_l(n, k)
    F_straight = Phi(m_1, ..., m_L),   m_l = sum_{k=0..n} c_l(n, k) g_l(theta + k h V_l, grad + k d_l)

``F_straight = F + M + O(h^2)``, a direction: the step is ``theta - h F_straight`` (mathematics.md section 10).  Nothing
is divided by a small gradient that the optimizer itself would not divide by.

    Adam: g = grad^2 on the line is grad^2 + 2 k grad d + k^2 d^2, so that m2 = grad^2 + 2 mu_1 grad d + mu_2 d^2 with
    the moments mu_j = sum_k k^j c(n, k).  A g that is no polynomial in k keeps its sum over k.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from sympy import Abs, Add, Expr, Mul, S, sign

from symmem.algebra.atoms import AGO, GRAD, LR, STEP, THETA, contraction
from symmem.algebra.passes import collect
from symmem.algebra.reals import substituted
from symmem.algebra.results import Missing, Named, Sentence, Whose
from symmem.derivation.gains import frozen_update, gains, limit_gains, settled_rate
from symmem.derivation.past.cascade_line import CHANGE, PATH, cascade_limit_line, cascade_line, changing_steps
from symmem.derivation.past.correction import finite_correction
from symmem.derivation.past.history import past_sum
from symmem.method.kernel import Kernel
from symmem.method.method import Channel, Method
from symmem.records import record

Inverse = Callable[[Expr], Expr]
"""One over a moment; who computes with numbers has to know what to do where it is 0, at the first step."""
Past = Callable[[Method, Kernel], Expr]
"""``S`` of a method for the shape of a kernel."""
EXPANSION = Sentence.of("take the expansion, F + M")


def without_line(method: Method) -> Missing | None:
    """Why there is no line at step n; None where there is one.

    A channel's weights may add up to ``sum_k k c(n, k) = 0``; a cascade has one line or none.
    """
    if method.is_cascade:
        return None if is_expansion(method) else changing_steps(method)
    return None if method.is_even else without_sign(method)  # V = F needs no denominator


def without_sign(method: Method) -> Missing | None:
    """Why S_l cannot be divided by ``sum_k k c(n, k)`` for all parameters; None where it can."""
    for channel in remembering(method):
        if _is_linear_in_lag(channel.g):
            continue  # S_l itself, undivided
        if not channel.kernel.remembered.shape.has_one_sign(method.ranges):
            words = (
                " may have a negative decay, weigh the past by 0 on the whole, and so have no straight line"
            )
            reason = Sentence.of(Whose(method.name), channel.symbol, words)
            return Missing(reason, (Sentence.of('declare the decay with range = "[0, 1)"'), EXPANSION))
    return None


def keeps_bounds(method: Method) -> bool:
    """Whether all channels see one line, so that F_straight is Phi of a real history and has Phi's own bounds."""
    if method.is_cascade or method.is_even:
        return True
    return len({channel.kernel.shape for channel in remembering(method)}) < 2


def is_expansion(method: Method) -> bool:
    """Whether ``F_straight = F + M``: Phi is linear, and so are all g_l that are remembered, also in what they read."""
    if method.is_cascade:
        return method.is_linear and all(_is_linear_reader(channel.g, method) for channel in method.channels)
    return method.is_linear and all(_is_linear_in_lag(channel.g) for channel in remembering(method))


def _is_linear_in_lag(g: Expr) -> bool:
    coefficients = powers_of_lag(g)
    return coefficients is not None and len(coefficients) <= 2


def _is_linear_reader(g: Expr, method: Method) -> bool:
    """``g(k x) = k g(x)`` in theta, grad and all that it reads, up to a constant."""
    vectors = (THETA, GRAD, *(channel.symbol for channel in method.channels))
    coefficients = powers_of(substituted(g, {vector: AGO * vector for vector in vectors}))
    return coefficients is not None and len(coefficients) <= 2


def remembering(method: Method) -> tuple[Channel, ...]:
    """The channels with a memory of something that moves."""
    return tuple(c for c in method.channels if c.kernel.has_memory and c.g.has(THETA, GRAD))


@record(frozen=True)
class _Line:
    """``V = vector * inverse``; the moments of the kernel are divided by those of its line where V is."""

    vector: Expr
    inverse: Expr = S.One


def reciprocal(moment: Expr) -> Expr:
    """``1 / moment``."""
    return 1 / moment


def inverted(moment: Expr) -> Expr:
    """The same for code: 1 where the moment is 0, at the first step and without memory, where S is 0."""
    return 1 / (moment + 1 - Abs(sign(moment)))


@lru_cache(maxsize=64)
def straight_update(method: Method, inverse: Inverse = reciprocal, past: Past = past_sum) -> Expr:
    """``F_straight`` at step n; ``past`` writes the sums S_l, which who computes with numbers gives names."""
    if method.is_cascade and is_expansion(method):
        return collect(frozen_update(method, gains(method)) + finite_correction(method), method.numbers)
    if method.is_cascade:
        return cascade_line(method)
    update, tidy = frozen_update(method, gains(method)), method.numbers.tidy

    def line(kernel: Kernel) -> _Line:
        if method.is_even:
            return _Line(method.rate_at(STEP) * update)
        shape = kernel.remembered.shape
        return _Line(past(method, shape), inverse(tidy(shape.power_moment(STEP, 1))))

    def moment(kernel: Kernel, power: int) -> Expr:
        return tidy(kernel.power_moment(STEP, power))

    return _on_lines(method, _Memories(line, moment, lambda kernel, value: kernel.applied(STEP, value)))


@lru_cache(maxsize=64)
def straight_limit(method: Method) -> Expr:
    """``F_straight`` for n -> infinity, where every line has the velocity F.

    The gradient of heavy ball k steps ago was ``grad + k h D2L(F)``, ``F = grad/(1 - beta)``:

    >>> from symmem import load
    >>> from symmem.method.reading import method_of
    >>> straight_limit(method_of(load("heavyball")))
    beta*lr*D2L(grad)/(1 - beta)**3 + grad/(1 - beta)
    """
    if method.is_cascade:
        return cascade_limit_line(method)
    line = _Line(settled_rate(method) * frozen_update(method, limit_gains(method)))

    def moment(kernel: Kernel, power: int) -> Expr:
        return method.numbers.tidy(kernel.limit_moment(power))

    return _on_lines(
        method, _Memories(lambda _: line, moment, lambda kernel, value: kernel.limit_applied(value))
    )


@record(frozen=True)
class _Memories:
    """What the kernels are asked at step n, or in the limit: their lines, their moments, and whole sums over k."""

    line: Callable[[Kernel], _Line]
    moment: Callable[[Kernel, int], Expr]
    summed: Callable[[Kernel, Callable[[Expr], Expr]], Expr]


def _on_lines(method: Method, memories: _Memories) -> Expr:
    """``Phi`` of the channels on their lines."""
    remembered = remembering(method)
    point: dict[Expr, Expr] = {}
    for channel in method.channels:
        if channel in remembered:
            point[channel.symbol] = _on_line(channel, memories)
        else:
            point[channel.symbol] = memories.moment(channel.kernel, 0) * channel.g
    return collect(substituted(method.phi, point), method.numbers)


def _on_line(channel: Channel, memories: _Memories) -> Expr:
    """``m_l``: by the moments where g_l is a polynomial in k, else by the sum over k itself."""
    kernel, line = channel.kernel, memories.line(channel.kernel)
    coefficients = powers_of_lag(channel.g)
    if coefficients is None:
        velocity = line.inverse * line.vector
        places = {PATH: LR * velocity, CHANGE: LR * contraction(velocity)}
        return memories.summed(kernel, lambda k: substituted(at_lag(channel.g, k), places))
    places = {PATH: LR * line.vector, CHANGE: LR * contraction(line.vector)}
    terms = []
    for power, value in enumerate(coefficients):
        if line.inverse != 1 and power == 1:
            weight = kernel.remembered.scale(STEP)  # the moment over that of the shape
        else:
            weight = memories.moment(kernel, power) * line.inverse**power
        terms.append(weight * substituted(value, places))
    return Add(*terms)


def powers_of_lag(g: Expr) -> tuple[Expr, ...] | None:
    """The coefficients of ``g(theta + k path, grad + k change)`` as a polynomial in k; None where it is none.

    The places of path and change are ``PATH`` and ``CHANGE``.
    """
    return powers_of(at_lag(g, AGO))


def powers_of(value: Expr) -> tuple[Expr, ...] | None:
    """The coefficients of a polynomial in k; None where it is none."""
    if not value.is_polynomial(AGO):
        return None
    terms: dict[int, list[Expr]] = {0: []}
    for term in Add.make_args(value.expand()):
        coefficient, power = term.as_coeff_exponent(AGO)
        terms.setdefault(int(power), []).append(coefficient)
    return tuple(Add(*terms.get(power, [])) for power in range(max(terms) + 1))


def at_lag(g: Expr, k: Expr) -> Expr:
    """``g(theta + k path, grad + k change)``."""
    return substituted(g, {THETA: THETA + Mul(k, PATH), GRAD: GRAD + Mul(k, CHANGE)})


def bound_sentence(method: Method) -> Sentence:
    """What is known of the size of F_straight."""
    phi = Named("Phi")
    if keeps_bounds(method):
        words = " of a real history: every bound of "
        return Sentence.of("It is ", phi, words, phi, " on the histories of gradients holds for it")
    words = "At finite n the momentum variables lie on different lines, so that a bound of "
    return Sentence.of(words, phi, " on the histories of gradients can be exceeded")
