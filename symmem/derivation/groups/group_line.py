"""The straight-line history of one parameter group: every group moves on a line, with its own rate.

mathematics.md sections 2 and 10.  In the memory l of a group i the groups j lie on lines, ``k`` steps ago at

    theta_j + k S_{l,j}/mu_1,     S_{l,j} = lr_j sum_s w(s) F_j^(s),     mu_p = sum_k k^p shape_l(n_i, k),

with the sums of :mod:`.parameter_groups`; the gradient was ``grad + k D2L[S_l]/mu_1``.  The numbers of such a line are
``mu_p/mu_1^p`` for the powers p of k in a polynomial g, 2 and more (for p = 1 they are 1); or, where some g is none,
``1/mu_1`` and n, for the sum over k itself.  Adam: ``m2 = gain grad^2 + b (2 grad D2L[S] + mu_2/mu_1^2 D2L[S]^2)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sympy import Add, Expr, S, Sum, Symbol

from symmem.algebra.atoms import AGO
from symmem.algebra.reals import substituted
from symmem.algebra.results import Missing
from symmem.derivation.groups.step_scalars import free_name
from symmem.derivation.past.cascade_line import CHANGE, PATH
from symmem.derivation.past.straight import at_lag, powers_of_lag, remembering, without_line
from symmem.method.kernel import Kernel
from symmem.method.method import Channel, Method
from symmem.records import record


@record(frozen=True)
class Line:
    """A memory as a line: ``change`` is D2L[S], ``path`` is S; ``ratios`` stand for mu_p/mu_1^p, p = 2, 3, ...

    ``inverse`` and ``last`` stand for 1/mu_1 and n, where a sum over k is taken.
    """

    shape: Kernel
    change: Expr
    path: Expr
    ratios: tuple[Symbol, ...]
    inverse: Symbol
    last: Symbol
    is_summed: bool

    @property
    def numbers(self) -> tuple[Symbol, ...]:
        """What stands for its numbers, in the order in which code gives them."""
        return (*self.ratios, *((self.inverse, self.last) if self.is_summed else ()))


def _degree(method: Method, shape: Kernel) -> tuple[int, bool]:
    """Of the channels of this shape: the highest power of k in a polynomial g; whether some g is no polynomial."""
    found = [powers_of_lag(channel.g) for channel in remembering(method) if channel.kernel.shape == shape]
    return max([1, *(len(each) - 1 for each in found if each)]), None in found


def line_of(method: Method, position: int, shape: Kernel, change: Expr, path: Expr) -> Line:
    """The line of the memory with this position, its numbers by names that are free."""
    degree, is_summed = _degree(method, shape)
    ratios = tuple(free_name(f"ratio{position}_{power}", method) for power in range(2, degree + 1))
    inverse, last = free_name(f"inverse{position}", method), free_name(f"last{position}", method)
    return Line(shape, change, path, ratios, inverse, last, is_summed)


def group_line(
    method: Method, point: Mapping[Expr, Expr], factors: Sequence[Expr], lines: Sequence[Line]
) -> Expr | Missing:
    """``F_straight``; ``point`` has the frozen values of all channels, ``factors`` what stands before S_l."""
    missing = without_line(method) if method.is_cascade else None
    if missing is not None:
        return missing
    moved, by_shape = dict(point), {line.shape: line for line in lines}
    for channel, factor in zip(method.channels, factors, strict=True):
        if channel in remembering(method):
            change = _moved(channel, factor, point[channel.symbol], by_shape[channel.kernel.shape])
            moved[channel.symbol] = change
    return substituted(method.phi, moved)


def _moved(channel: Channel, factor: Expr, frozen: Expr, line: Line) -> Expr:
    """``m_l`` on its line."""
    coefficients = powers_of_lag(channel.g)
    if coefficients is None:
        places = {PATH: line.inverse * line.path, CHANGE: line.inverse * line.change}
        seen = substituted(at_lag(channel.g, AGO), places)
        return factor * Sum(line.shape.weight(line.last, AGO) * seen, (AGO, 0, line.last))
    weights = (S.One, *line.ratios)[: len(coefficients) - 1]
    places = {PATH: line.path, CHANGE: line.change}
    terms = [
        weight * substituted(value, places) for weight, value in zip(weights, coefficients[1:], strict=True)
    ]
    return frozen + factor * Add(*terms)
