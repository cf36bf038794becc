"""Program -> launches: which passes a function of the C interface runs, over which vectors.

Sums over all entries come first, each into its place of ``totals``; then the pass that writes.

memoryless   F                     direction    the vectors whose products with the Hessian are asked for
correction   M, from products hv   step         theta - lr (F + M), in place
straight     the update on the straight-line history, from products hv
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from sympy import Symbol

from symmem.algebra.atoms import GRAD, THETA
from symmem.algebra.ranges import Ranges
from symmem.algebra.results import Missing
from symmem.program.one_tensor import SIZE
from symmem.program.products import direction_name, product_symbol
from symmem.program.program import Need, Program, Routine, Variants
from symmem.program.statements import Total
from symmem.targets.c.numbers import coefficients
from symmem.targets.c.passes import Pass
from symmem.targets.c.plans import Plan, plan_of

ROLES = ("memoryless", "direction", "correction", "step", "straight")
FROM_PRODUCTS = ("correction", "step", "straight")
"""Those that are given products with the Hessian, and lr."""
Form = Callable[[Variants], Routine | Missing]


def at_limit(variants: Variants) -> Routine | Missing:
    """The form n -> infinity."""
    return variants.limit


def at_finite_step(variants: Variants) -> Routine | Missing:
    """The form of a given n."""
    return variants.finite


FORMS: Mapping[str, Form] = {"limit": at_limit, "finite": at_finite_step}


def directions(program: Program) -> tuple[Variants, ...]:
    """The routines of the directions, in order."""
    names = (direction_name(position) for position in range(1, len(program.routines) + 1))
    return tuple(program[name] for name in names if name in program)


def products(program: Program, form: Form) -> int:
    """How many products with the Hessian a form asks for."""
    return sum(isinstance(form(each), Routine) for each in directions(program))


@dataclass(frozen=True)
class Launch:
    """A pass over vectors, as it is called: the function of its numbers, and pointers by their names in C.

    ``out`` is the vector that it writes, or with ``is_sum`` the number that it adds up.
    """

    numbers: str
    work: str
    count: int
    vectors: tuple[str, ...]
    out: str
    is_sum: bool = False

    def same_loop(self, other: Launch) -> bool:
        """Whether the two differ in their numbers alone."""
        return replace(self, numbers="") == replace(other, numbers="")


@dataclass
class Parts:
    """The passes and the functions of numbers that the launches use, each written once."""

    program: Program
    fields: Mapping[Symbol, str]
    passes: dict[Pass, str] = field(default_factory=dict)
    sums: dict[Pass, str] = field(default_factory=dict)
    numbers: dict[tuple[str, ...], str] = field(default_factory=dict)

    @cached_property
    def has_sums(self) -> bool:
        """Whether some number is a sum over all entries."""
        return Need.TOTAL in self.program.needs()

    @cached_property
    def ranges(self) -> Ranges:
        """Those of the parameters."""
        return {Symbol(each.name): each.range for each in self.program.optimizer.parameters}

    @cached_property
    def most_sums(self) -> int:
        """How many sums a routine has at most."""
        routines = (each for variants in self.program.routines.values() for each in variants.existing)
        return max(sum(isinstance(each, Total) for each in routine.statements) for routine in routines)

    def launches(self, role: str, form: str) -> tuple[Launch, ...] | Missing:
        """What a function of the interface launches in one form."""
        chosen, program = FORMS[form], self.program
        first = chosen(program["memoryless"])
        if isinstance(first, Missing):
            return first
        wanted = directions(program) if role == "direction" else (program[role],)
        if role != "direction" and isinstance(missing := chosen(program[role]), Missing):
            return missing
        routines = [routine for routine in map(chosen, wanted) if isinstance(routine, Routine)]
        out = "theta" if role == "step" else "out"
        return tuple(
            launch
            for position, routine in enumerate(routines)
            for launch in self._planned(role, form, plan_of(routine, self.ranges), _behind(out, position))
        )

    def _planned(self, role: str, form: str, plan: Plan, out: str) -> list[Launch]:
        totals = {SIZE: "totals[0]"} if plan.sums else {}
        found: list[Launch] = []
        for position, (symbol, work) in enumerate(plan.sums, start=1):
            place = f"totals[{position}]"
            found.append(replace(self._launch(role, form, work, self.sums, totals), out=place, is_sum=True))
            totals = totals | {symbol: place}
        return [*found, replace(self._launch(role, form, plan.last, self.passes, totals), out=out)]

    def _launch(
        self, role: str, form: str, work: Pass, known: dict[Pass, str], totals: Mapping[Symbol, str]
    ) -> Launch:
        lines = coefficients(work, self.fields, totals)
        # What is computed before the loop does not tell two loops apart, nor do the names of its numbers.
        loop = Pass((), work.inside, work.vectors, work.numbers)
        name = known.setdefault(loop, _unused("sum" if known is self.sums else role, known.values()))
        numbers = self.numbers.setdefault(lines, _unused(f"{role}_{form}_numbers", self.numbers.values()))
        places = {THETA: "theta", GRAD: "grad"}
        given = range(len(directions(self.program)))
        places |= {product_symbol(position + 1): _behind("hv", position) for position in given}
        return Launch(numbers, name, len(work.numbers), tuple(places[each] for each in work.vectors), "")


def _behind(start: str, position: int) -> str:
    """One of several vectors that lie one after another."""
    return f"{start} + {position} * count" if position else start


def _unused(stem: str, taken: Collection[str]) -> str:
    names = (stem if k == 1 else f"{stem}{k}" for k in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)
