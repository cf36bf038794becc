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

from itertools import product
from typing import Any

from sympy import Add, Basic, Expr, Integer, Max, Min, S, Sum

from symmem.algebra.atoms import GRAD, LR, PAST, STEP
from symmem.algebra.passes import collect
from symmem.algebra.results import Missing, Sentence, Whose
from symmem.algebra.scalars import Scalars
from symmem.algebra.symbols import BATCHES, VARIANCE
from symmem.derivation.gains import at_frozen_point, gains
from symmem.derivation.noise.noise_trees import Trees
from symmem.derivation.noise.noisy_kernel import noisy_kernel
from symmem.derivation.noise.steady_noise import common_weight, moved_weight, whole_weight
from symmem.derivation.past.history import EARLIER, sum_scalar
from symmem.method.eventual import Eventual
from symmem.method.kernel import Kernel
from symmem.method.method import Method
from symmem.method.steady import steady_weights
from symmem.records import record

MOST_ADDED = 24
"""For more batches than this the sums are not added up batch by batch."""
FEWEST = 2
"""An epoch has so many batches or more."""
Paths = tuple[tuple[Expr, Kernel], ...]
UNKNOWN = Sentence.of("give the number of batches")


@record(frozen=True)
class Epoch:
    """``variance``: of theta_N over the order of the batches, entry by entry; ``shift``: D, None for other methods."""

    variance: Expr | Missing
    shift: Expr | Missing | None


def epoch(method: Method, batches: Expr) -> Epoch:
    """The epoch of a method in normal form; ``batches`` is N, a symbol or a number.

    >>> from symmem import load
    >>> from symmem.method.reading import method_of
    >>> epoch(method_of(load("gd")), BATCHES)
    Epoch(variance=0, shift=batches/2)
    >>> epoch(method_of(load("heavyball")), Integer(2))  # a(0) = 1 + beta, a(1) = 1
    Epoch(variance=beta**2*lr**2*variance, shift=1)
    """
    if not isinstance(batches, Integer):
        return Epoch(_variance(method, batches), _shift(method, batches))
    given = BATCHES if int(batches) > MOST_ADDED else batches
    return Epoch(*(_placed(each, batches) for each in (_variance(method, given), _shift(method, given))))


def _placed(closed: Expr | Missing | None, batches: Integer) -> Any:
    """A closed form with its number of batches; where there is none, why."""
    if not isinstance(closed, Missing):
        return closed if closed is None else closed.xreplace({BATCHES: batches})
    few = Sentence.of(f"take {MOST_ADDED} batches or fewer")
    return Missing(closed.reason, (few,)) if UNKNOWN in closed.advice else closed


def order_paths(method: Method) -> Paths | Missing:
    """The ways by which noise reaches the update, each with the slope ``w_r`` and the kernel; why there are none."""
    if not (method.is_settled or method.is_linear):
        words = "the noise of an update depends on the step, so that no preconditioner is frozen"
        return Missing(Sentence.of(Whose(method.name), words))
    values = gains(method)  # constants here, or of no slope: a factor without a limit has its epochs too
    return tuple(
        (at_frozen_point(path.slope, method, values), path.kernels[0]) for path in Trees(method).paths(GRAD)
    )


def _variance(method: Method, batches: Expr) -> Expr | Missing:
    """``h^2 V N/(N-1) sum_qr w_q w_r A_qr``."""
    paths = order_paths(method)
    if isinstance(paths, Missing):
        return paths
    terms = []
    for (weight, kernel), (other, beside) in product(paths, repeat=2):
        pair = _scatter(kernel, beside, batches, method.numbers)
        if pair is None:
            return _open(method)
        terms.append(weight * other * pair)
    return _in_batches(collect(LR**2 * VARIANCE * Add(*terms), method.numbers))


def _shift(method: Method, batches: Expr) -> Expr | Missing | None:
    """``D``."""
    kernel = noisy_kernel(method)
    if kernel is None:
        return None
    scalars = method.numbers
    if isinstance(batches, Integer) and _is_added(kernel, scalars):
        count = int(batches)
        before = [Add(*(kernel.gain(Integer(s)) for s in range(j))) for j in range(count)]
        total = Add(*(weight * past for weight, past in zip(_numbers(kernel, count), before, strict=True)))
        return scalars.tidy(total / (count - 1))
    steady = steady_weights(kernel, scalars)
    if steady is None:
        had, closed = _had(kernel), sum_scalar(kernel.gain(PAST), scalars)
        if had is None:
            return _open(method)
        kept = Sum(kernel.gain(EARLIER), (EARLIER, 0, PAST - 1))
        before = kept if closed.has(Sum) else closed.xreplace({STEP: PAST})
        return _in_batches(Sum(had * before, (PAST, 0, STEP - 1)) / (STEP - 1))
    return _in_batches(moved_weight(steady).written(FEWEST, STEP - 1))


def _open(method: Method) -> Missing:
    words = "the sums over an epoch do not close for symbolic N"
    return Missing(Sentence.of(Whose(method.name), words), (UNKNOWN,))


def _scatter(left: Kernel, right: Kernel, batches: Expr, scalars: Scalars) -> Expr | None:
    """``N/(N-1) A_qr``: added up for a number of batches, else closed, N being the step; None where it does not close.

    It closes where memory does not change with the step; a bias correction leaves explicit sums.
    """
    if isinstance(batches, Integer) and _is_added(left, scalars) and _is_added(right, scalars):
        one, other = _numbers(left, int(batches)), _numbers(right, int(batches))
        products = Add(*(x * y for x, y in zip(one, other, strict=True)))
        return scalars.tidy((batches * products - Add(*one) * Add(*other)) / (batches - 1))
    steady, beside = steady_weights(left, scalars), steady_weights(right, scalars)
    if steady is None or beside is None:
        return _open_scatter(left, right, scalars)
    pairs = common_weight(steady, beside) * Eventual(scalars, STEP)
    both = whole_weight(steady) * whole_weight(beside)
    return (pairs + both.times(S.NegativeOne)).written(FEWEST, STEP - 1)


def _is_added(kernel: Kernel, scalars: Scalars) -> bool:
    """Whether the weights of a number of batches are added up: those of a bias correction are kept as short sums.

    Of N batches with a symbol for the decay their denominators have the degree N^2/2.
    """
    symbols = frozenset[Basic]().union(*(each.free_symbols for each in kernel.expressions)) - {STEP}
    return not symbols or steady_weights(kernel, scalars) is not None or _had(kernel) is None


def _open_scatter(left: Kernel, right: Kernel, scalars: Scalars) -> Expr | None:
    """``N/(N-1) A_qr`` with the sums that stay; ``sum_j a(j)`` is that of the gains."""
    one, other = _had(left), _had(right)
    if one is None or other is None:
        return None
    pairs = Sum(one * other, (PAST, 0, STEP - 1))
    both = scalars.tidy(sum_scalar(left.gain(PAST), scalars) * sum_scalar(right.gain(PAST), scalars))
    return (STEP * pairs - both) / (STEP - 1)


def _had(kernel: Kernel) -> Expr | None:
    """``a(s) = sum_{r=s..N-1} c(r, r-s)`` as it stands; None where a weight has cases, as that of a delay."""
    parts = []
    for part in kernel.summands:
        if not part.has_memory:
            parts.append(part.scale(PAST))
            continue
        weight = part.weight(EARLIER, EARLIER - PAST)
        if weight.has(Sum, Min, Max):
            return None
        parts.append(Sum(weight, (EARLIER, PAST, STEP - 1)))
    return Add(*parts)


def _numbers(kernel: Kernel, batches: int) -> list[Expr]:
    """``a(0), ..., a(N-1)``."""
    return [
        Add(*(kernel.weight(Integer(m), Integer(m - j)) for m in range(j, batches))) for j in range(batches)
    ]


def _in_batches(expression: Expr) -> Expr:
    return expression.xreplace({STEP: BATCHES})
