"""One epoch of N batches in random order, memory empty at its start: its mean and its spread (mathematics.md sec. 13).

The batch at position j moves the end point by ``-h sum_r w_r a_r(j) xi_j``, with w_r the noise of an update (a frozen
preconditioner; a number for linear methods) and

    a_r(j) = sum_{m=j..N-1} c_r(m, m-j):        the weight that it has had in all updates; 1 - beta^(N-j) for an average

* Over the order alone, ``Var theta_N = h^2 V N/(N-1) sum_qr w_q w_r A_qr``,
  ``A_qr = sum_j a_q a_r - sum_j a_q sum_j a_r / N``.  With memory the a(j) differ, and the variance is
  of order h^2; without, all are equal, and it is of order h^4.
* For a method linear in the gradient the mean differs from that of the full batch by ``-h^2 D E Dxi[xi]``,
  ``D = sum_j a(j) sum_{s<j} gain(s) / (N-1)``.  Gradient descent: a = gain = 1 and D = N/2, the term h/4 sum_i V_i that
  Smith, Dherin, Barrett and De (2021) add to the loss, once for each of the N steps.
"""

from __future__ import annotations

from typing import Any

from sympy import Add, Expr, Integer, Sum, Symbol

from symmem.algebra.atoms import LR, PAST, STEP
from symmem.algebra.passes import collect
from symmem.algebra.results import Missing, Sentence
from symmem.algebra.scalars import Scalars
from symmem.algebra.symbols import BATCHES, VARIANCE
from symmem.derivation.frozen_noise import noise_of_update
from symmem.derivation.gains import limit_gains
from symmem.derivation.history import sum_scalar
from symmem.derivation.noisy_kernel import noisy_kernel
from symmem.method.kernel import Kernel
from symmem.method.method import Method
from symmem.method.sums import added
from symmem.records import record

_UPDATE = Symbol("r")
"""The step m of an update."""
MOST_ADDED = 24
"""For more batches than this the sums are not added up batch by batch."""
UNKNOWN = Sentence.of("give the number of batches")


@record(frozen=True)
class Epoch:
    """``variance``: of theta_N over the order of the batches, entry by entry; ``shift``: D, None for other methods."""

    variance: Expr | Missing
    shift: Expr | Missing | None


def epoch(method: Method, batches: Expr) -> Epoch:
    """The epoch of a method in normal form; ``batches`` is N, a symbol or a number."""
    if isinstance(batches, Integer) and int(batches) > MOST_ADDED:
        closed = _variance(method, BATCHES), _shift(method, BATCHES)
        return Epoch(*(_placed(each, batches) for each in closed))
    return Epoch(_variance(method, batches), _shift(method, batches))


def _placed(closed: Expr | Missing | None, batches: Integer) -> Any:
    """A closed form with its number of batches; where there is none, why."""
    if not isinstance(closed, Missing):
        return closed if closed is None else closed.xreplace({BATCHES: batches})
    few = Sentence.of(f"take {MOST_ADDED} batches or fewer")
    return Missing(closed.reason, (few,)) if UNKNOWN in closed.advice else closed


def _variance(method: Method, batches: Expr) -> Expr | Missing:
    """``h^2 V N/(N-1) sum_qr w_q w_r A_qr``."""
    if not (method.is_settled or method.is_linear):
        words = ": the noise of an update depends on the step, so that no preconditioner is frozen"
        return Missing(Sentence.of(f"{method.name}{words}"))
    noise = noise_of_update(method, limit_gains(method))
    places = [place for place, weight in enumerate(noise) if weight != 0]
    terms = []
    for q in places:
        for r in places:
            pair = _scatter(method.channels[q].kernel, method.channels[r].kernel, batches, method.numbers)
            if pair is None:
                return _open(method)
            terms.append(noise[q] * noise[r] * pair)
    return _in_batches(collect(LR**2 * VARIANCE * Add(*terms), method.numbers))


def _shift(method: Method, batches: Expr) -> Expr | Missing | None:
    """``D``."""
    kernel = noisy_kernel(method)
    if kernel is None:
        return None
    scalars = method.numbers
    if isinstance(batches, Integer):
        count = int(batches)
        before = [Add(*(kernel.gain(Integer(s)) for s in range(j))) for j in range(count)]
        total = Add(*(weight * past for weight, past in zip(_numbers(kernel, count), before, strict=True)))
        return scalars.tidy(total / (count - 1))
    weights = _weights(kernel)
    before = added(kernel.gain(_UPDATE), _UPDATE, Integer(0), PAST - 1, {})
    if weights.has(Sum) or before.has(Sum):
        return _open(method)
    found = sum_scalar(weights * before, scalars)
    return _open(method) if found.has(Sum) else _in_batches(scalars.tidy(found / (STEP - 1)))


def _open(method: Method) -> Missing:
    words = ": the sums over an epoch do not close for symbolic N"
    return Missing(Sentence.of(f"{method.name}{words}"), (UNKNOWN,))


def _scatter(left: Kernel, right: Kernel, batches: Expr, scalars: Scalars) -> Expr | None:
    """``N/(N-1) A_qr``: closed, or added up for a number of batches; None where it does not close.

    In closed form N is the step: the sums of the house run to n.
    """
    if isinstance(batches, Integer):
        one, other = _numbers(left, int(batches)), _numbers(right, int(batches))
        products = Add(*(x * y for x, y in zip(one, other, strict=True)))
        return scalars.tidy((batches * products - Add(*one) * Add(*other)) / (batches - 1))
    one, other = _weights(left), _weights(right)
    if one.has(Sum) or other.has(Sum):
        return None
    sums = [sum_scalar(each, scalars) for each in (one * other, one, other)]
    if any(each.has(Sum) for each in sums):
        return None
    products, first, second = sums
    return scalars.tidy((STEP * products - first * second) / (STEP - 1))


def _weights(kernel: Kernel) -> Expr:
    """``a(j)`` with j the past step and N the step."""
    return Add(*map(_weights_of_part, kernel.summands))


def _weights_of_part(kernel: Kernel) -> Expr:
    lag = kernel.weight(_UPDATE, _UPDATE - PAST)
    return added(lag, _UPDATE, PAST, STEP - 1, {}) if kernel.has_memory else kernel.scale(PAST)


def _numbers(kernel: Kernel, batches: int) -> list[Expr]:
    """``a(0), ..., a(N-1)``."""
    return [
        Add(*(kernel.weight(Integer(m), Integer(m - j)) for m in range(j, batches))) for j in range(batches)
    ]


def _in_batches(expression: Expr) -> Expr:
    return expression.xreplace({STEP: BATCHES})
