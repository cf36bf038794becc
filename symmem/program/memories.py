"""The recursions by which noise is remembered, for code that runs them over an epoch (mathematics.md section 13).

``x <- A x + B g, m = C x`` at step n, of :mod:`symmem.method.realisation`; of A the entries that are not 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr

from symmem.algebra.scalars import Scalars
from symmem.method.kernel import Kernel
from symmem.program.digits.stable_sums import stabilised


@dataclass(frozen=True)
class MemoryRecursion:
    """The entries depend on n and on the parameters; ``links`` are (row, column, value)."""

    links: tuple[tuple[int, int, Expr], ...]
    fed: tuple[Expr, ...]
    read: tuple[Expr, ...]
    first: tuple[Expr, ...]

    @property
    def numbers(self) -> tuple[Expr, ...]:
        """All entries."""
        return (*(value for _, _, value in self.links), *self.fed, *self.read, *self.first)


def memory_of(kernel: Kernel, numbers: Scalars) -> MemoryRecursion:
    """The recursion of a kernel; ``1 - beta^k`` without its cancellation."""
    found = kernel.realisation()

    def stable(entries: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(stabilised(entry, numbers) for entry in entries)

    links = tuple(
        (row, column, stabilised(value, numbers))
        for row, values in enumerate(found.A)
        for column, value in enumerate(values)
        if value != 0
    )
    return MemoryRecursion(links, stable(found.B), stable(found.C), stable(found.first))
