"""Numbers that kernels have in common after many steps, each asked for once: trees share their kernels."""

from __future__ import annotations

from collections.abc import Callable

from sympy import Expr

from symmem.algebra.scalars import Scalars
from symmem.method.kernel import Kernel
from symmem.work import checkpoint

Question = Callable[..., Expr]
"""Asked of kernels: :func:`gain`, or one of :mod:`symmem.method.overlaps`."""


class Answers:
    """The answers in lowest terms."""

    def __init__(self, scalars: Scalars) -> None:
        self._tidy = scalars.tidy
        self._known: dict[tuple[Question, tuple[Kernel, ...]], Expr] = {}

    def __call__(self, question: Question, *kernels: Kernel) -> Expr:
        """The answer of these kernels, in this order."""
        if (question, kernels) not in self._known:
            checkpoint("the sums over noisy steps")
            self._known[question, kernels] = self._tidy(question(*kernels))
        return self._known[question, kernels]


def gain(kernel: Kernel) -> Expr:
    """``sum_k c(k)``."""
    return kernel.limit_gain


def lag(kernel: Kernel) -> Expr:
    """``sum_k k c(k)``."""
    return kernel.factorial_moment(1)


def overlap(one: Kernel, other: Kernel) -> Expr:
    """``sum_k c(k) c'(k)``."""
    return one.overlap(other)
