"""A sum of memories of one g: ``c(n, k) = sum_i c_i(n, k)``.  Nesterov, Lion and NAdamW have one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sympy import Add, Expr, S

from symmem.algebra.results import Missing
from symmem.algebra.scalars import Scalars
from symmem.method.kernel import Binomials, Kernel, Number, Realisation, side_by_side


@dataclass(frozen=True)
class Mixture(Kernel):
    """The sum of its ``parts``: every answer is the sum of theirs."""

    parts: tuple[Kernel, ...]

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return tuple(expression for part in self.parts for expression in part.expressions)

    @property
    def decays(self) -> tuple[Expr, ...]:
        return tuple(dict.fromkeys(decay for part in self.parts for decay in part.decays))

    @property
    def has_memory(self) -> bool:
        return any(part.has_memory for part in self.parts)

    @property
    def unsettled(self) -> Missing | None:
        return next((part.unsettled for part in self.parts if part.unsettled is not None), None)

    def scaled(self, factor: Expr) -> Mixture:
        return Mixture(tuple(part.scaled(factor) for part in self.parts))

    def tidied(self, scalars: Scalars) -> Mixture:
        return Mixture(tuple(part.tidied(scalars) for part in self.parts))

    def weight(self, n: Expr, k: Expr) -> Expr:
        return Add(*(part.weight(n, k) for part in self.parts))

    def gain(self, n: Expr) -> Expr:
        return Add(*(part.gain(n) for part in self.parts))

    def tail(self, n: Expr, s: Expr) -> Expr:
        return Add(*(part.tail(n, s) for part in self.parts))

    def power_moment(self, n: Expr, j: int) -> Expr:
        return Add(*(part.power_moment(n, j) for part in self.parts))

    def factorial_moment(self, j: int) -> Expr:
        return Add(*(part.factorial_moment(j) for part in self.parts))

    def transform(self, z: Expr) -> Expr:
        return Add(*(part.transform(z) for part in self.parts))

    @property
    def normaliser(self) -> Expr:
        """1: the gain may be zero, as that of a difference of gradients; and the parts need no common denominator."""
        return S.One

    @property
    def generators(self) -> tuple[Expr, ...]:
        inner = (generator for part in self.parts for generator in (*part.generators, part.normaliser))
        return tuple(dict.fromkeys(inner))

    def averaged(self, polynomial: Binomials, numbers: Mapping[Expr, Number]) -> Binomials:
        rows = [
            [numbers[part.normaliser] * value for value in part.averaged(polynomial, numbers)]
            for part in self.parts
        ]
        return [sum(column[1:], column[0]) for column in zip(*rows, strict=True)]

    def realisation(self) -> Realisation:
        """The states of the parts side by side."""
        return side_by_side([part.realisation() for part in self.parts])
