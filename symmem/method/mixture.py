"""A sum of memories of one g: ``c(n, k) = sum_i c_i(n, k)``.  Nesterov, Lion and NAdamW have one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sympy import Add, Expr, S, Symbol

from symmem.algebra.every import every
from symmem.algebra.ranges import Ranges
from symmem.algebra.results import Missing
from symmem.algebra.scalars import Scalars
from symmem.method.kernel import Binomials, Kernel, Number
from symmem.method.realisation import Realisation, side_by_side
from symmem.records import record


@record(frozen=True)
class Mixture(Kernel):
    """The sum of its ``parts``: every answer is the sum of theirs."""

    parts: tuple[Kernel, ...]

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """Those of all parts."""
        return tuple(expression for part in self.parts for expression in part.expressions)

    @property
    def decays(self) -> tuple[Expr, ...]:
        """Those of all parts, each once."""
        return tuple(dict.fromkeys(decay for part in self.parts for decay in part.decays))

    @property
    def summands(self) -> tuple[Kernel, ...]:
        """Those of its parts."""
        return tuple(summand for part in self.parts for summand in part.summands)

    @property
    def has_memory(self) -> bool:
        """Whether one part looks back."""
        return any(part.has_memory for part in self.parts)

    @property
    def remembered(self) -> Kernel:
        """The sum of those parts that reach into the past."""
        kept = tuple(part for part in self.parts if part.has_memory)
        return kept[0] if len(kept) == 1 else Mixture(kept)

    @property
    def unsettled(self) -> Missing | None:
        """The reason of the first part that has no limit."""
        return next((part.unsettled for part in self.parts if part.unsettled is not None), None)

    @property
    def depth(self) -> int:
        """That of the deepest part."""
        return max(part.depth for part in self.parts)

    def scaled(self, factor: Expr) -> Mixture:
        """Every part times the factor."""
        return Mixture(tuple(part.scaled(factor) for part in self.parts))

    def tidied(self, scalars: Scalars) -> Mixture:
        """Every part, tidied."""
        return Mixture(tuple(part.tidied(scalars) for part in self.parts))

    def weight(self, n: Expr, k: Expr) -> Expr:
        """``sum_i c_i(n, k)``."""
        return Add(*(part.weight(n, k) for part in self.parts))

    def gain(self, n: Expr) -> Expr:
        """``sum_i gain_i(n)``."""
        return Add(*(part.gain(n) for part in self.parts))

    def looked(self, value: Callable[[Expr], Expr], n: Expr, index: Symbol) -> Expr:
        """The sum of what the parts make of the values."""
        return Add(*(part.looked(value, n, index) for part in self.parts))

    def tail(self, n: Expr, s: Expr) -> Expr:
        """``sum_i tail_i(n, s)``."""
        return Add(*(part.tail(n, s) for part in self.parts))

    def spans(self, n: Expr, s: Expr) -> tuple[tuple[Expr, Expr, Expr], ...]:
        """Those of the parts; what has the same first and last step is added up."""
        found: dict[tuple[Expr, Expr], Expr] = {}
        for part in self.parts:
            for tail, *ends in part.spans(n, s):
                found[ends[0], ends[1]] = found.get((ends[0], ends[1]), S.Zero) + tail
        return tuple((tail, first, last) for (first, last), tail in found.items())

    def power_moment(self, n: Expr, j: int) -> Expr:
        """``sum_i`` of the moments of the parts."""
        return Add(*(part.power_moment(n, j) for part in self.parts))

    def applied(self, n: Expr, value: Callable[[Expr], Expr]) -> Expr:
        """``sum_i`` of what the parts make of it."""
        return Add(*(part.applied(n, value) for part in self.parts))

    def limit_applied(self, value: Callable[[Expr], Expr]) -> Expr:
        """``sum_i`` of the same in the limit."""
        return Add(*(part.limit_applied(value) for part in self.parts))

    def has_one_sign(self, ranges: Ranges) -> bool:
        """Of several parts this is not asked: their factors may differ in sign."""
        return len(self.parts) == 1 and self.parts[0].has_one_sign(ranges)

    def factorial_moment(self, j: int) -> Expr:
        """``f_j = sum_i f_j(c_i)``: they add."""
        return Add(*(part.factorial_moment(j) for part in self.parts))

    def limit_weight(self, k: int) -> Expr:
        """``sum_i c_i(k)``."""
        return Add(*(part.limit_weight(k) for part in self.parts))

    def limit_tail(self, j: Expr) -> Expr | None:
        """Tails add up."""
        tails = every(part.limit_tail(j) for part in self.parts)
        return None if tails is None else Add(*tails)

    def limit_spans(self, j: Expr) -> tuple[tuple[Expr, Expr, Expr], ...] | None:
        """Those of the parts, side by side."""
        found: list[tuple[Expr, Expr, Expr]] = []
        for part in self.parts:
            spans = part.limit_spans(j)
            if spans is None:
                return None
            found += spans
        return tuple(found)

    def transform(self, z: Expr) -> Expr:
        """``sum_i W_i(z)``."""
        return Add(*(part.transform(z) for part in self.parts))

    @property
    def normaliser(self) -> Expr:
        """1: the gain may be zero, as that of a difference of gradients; and the parts need no common denominator."""
        return S.One

    @property
    def generators(self) -> tuple[Expr, ...]:
        """Those of the parts, and their normalisers, by which the means of the parts are weighted."""
        inner = (generator for part in self.parts for generator in (*part.generators, part.normaliser))
        return tuple(dict.fromkeys(inner))

    def averaged(self, polynomial: Binomials, numbers: Mapping[Expr, Number]) -> Binomials:
        """``sum_i normaliser_i E_i[p]``."""
        rows = [
            [numbers[part.normaliser] * value for value in part.averaged(polynomial, numbers)]
            for part in self.parts
        ]
        return [sum(column[1:], column[0]) for column in zip(*rows, strict=True)]

    def realisation(self) -> Realisation:
        """The states of the parts side by side."""
        return side_by_side([part.realisation() for part in self.parts])

    def limit_realisation(self) -> Realisation:
        """The limit states of the parts side by side."""
        return side_by_side([part.limit_realisation() for part in self.parts])
