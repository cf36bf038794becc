"""Program -> launches: which passes a function of the C interface runs, over which vectors.

Sums over all entries come first, each into its place of ``totals``; then the pass that writes.

memoryless   F                     direction    the vectors whose products with the Hessian are asked for
correction   M, from products hv   step         theta - lr (F + M), in place
straight     the update on the straight-line history, from products hv
update, corrected_update, straight_update      the optimizer with its memory (:mod:`symmem.program.updates`)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from sympy import Symbol

from symmem.algebra.atoms import GRAD, THETA
from symmem.algebra.ranges import Ranges
from symmem.algebra.results import Missing, Sentence
from symmem.program.needs import Need
from symmem.program.one_tensor import SIZE
from symmem.program.products import direction_name, product_symbol
from symmem.program.program import Program, Routine, Variants
from symmem.program.running import Running
from symmem.program.statements import Total, reads
from symmem.program.updates import UPDATES
from symmem.targets.c.numbers import coefficients
from symmem.targets.c.passes import Pass
from symmem.targets.c.plans import Plan, plan_of

ROLES = ("memoryless", "direction", "correction", "step", "straight", *UPDATES)
FROM_PRODUCTS = ("correction", "step", "straight", *UPDATES[1:])
"""Those that are given products with the Hessian."""
IN_PLACE = ("step", *UPDATES)
"""Those that change theta."""
_NO_LIMIT = Missing(Sentence.of("a step with memory has a number: give n, counted from 0"))
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

    ``outs`` are the vectors that it writes, or with ``is_sum`` the number that it adds up.
    """

    numbers: str
    work: str
    count: int
    vectors: tuple[str, ...]
    outs: tuple[str, ...]
    memory: frozenset[str] = frozenset()
    """The vectors that are kept in the type that is computed in."""
    is_sum: bool = False

    def same_loop(self, other: Launch) -> bool:
        """Whether the two differ in their numbers alone."""
        return replace(self, numbers="") == replace(other, numbers="")


@dataclass
class Parts:
    """The passes and the functions of numbers that the launches use, each written once."""

    program: Program
    updates: Mapping[str, Running | Missing]
    fields: Mapping[Symbol, str]
    passes: dict[Pass, str] = field(default_factory=dict)
    sums: dict[Pass, str] = field(default_factory=dict)
    numbers: dict[tuple[str, ...], str] = field(default_factory=dict)

    @cached_property
    def has_sums(self) -> bool:
        """Whether some number is a sum over all entries, or how many there are: the norm of a constant."""
        routines = [each for variants in self.program.routines.values() for each in variants.existing]
        return Need.TOTAL in self.program.needs() or any(SIZE in each.inputs for each in routines)

    @cached_property
    def ranges(self) -> Ranges:
        """Those of the parameters."""
        return {Symbol(each.name): each.range for each in self.program.optimizer.parameters}

    @cached_property
    def most_sums(self) -> int:
        """How many sums a routine has at most."""
        routines = (each for variants in self.program.routines.values() for each in variants.existing)
        return max(sum(isinstance(each, Total) for each in routine.statements) for routine in routines)

    @cached_property
    def kept(self) -> int:
        """How many vectors of memory the optimizer has; 0 also where it has no single pass."""
        plain = self.updates["update"]
        return 0 if isinstance(plain, Missing) else len(plain.before)

    def launches(self, role: str, form: str) -> tuple[Launch, ...] | Missing:
        """What a function of the interface launches in one form."""
        if role in UPDATES:
            return self._update(role, form)
        chosen, program = FORMS[form], self.program
        first = chosen(program["memoryless"])
        if isinstance(first, Missing):
            return first
        wanted = directions(program) if role == "direction" else (program[role],)
        if role != "direction" and isinstance(missing := chosen(program[role]), Missing):
            return missing
        routines = [routine for routine in map(chosen, wanted) if isinstance(routine, Routine)]
        out = "theta" if role in IN_PLACE else "out"
        return tuple(
            launch
            for position, routine in enumerate(routines)
            for launch in self._planned(role, form, plan_of(routine, self.ranges), (_behind(out, position),))
        )

    def _update(self, role: str, form: str) -> tuple[Launch, ...] | Missing:
        running = self.updates[role]
        if isinstance(running, Missing):
            return running
        if form == "limit":
            return _NO_LIMIT
        memory = {each: _behind("memory", k) for k, each in enumerate(running.before)}
        plan = plan_of(running.routine, self.ranges, running.after)
        return tuple(self._planned(role, form, plan, ("theta", *memory.values()), memory))

    def _planned(
        self,
        role: str,
        form: str,
        plan: Plan,
        outs: tuple[str, ...],
        memory: Mapping[Symbol, str] | None = None,
    ) -> list[Launch]:
        given = range(len(directions(self.program)))
        places = {THETA: "theta", GRAD: "grad", **(memory or {})}
        places |= {product_symbol(position + 1): _behind("hv", position) for position in given}
        counts = any(SIZE in reads(statement) for statement in plan.last.before)
        totals = {SIZE: "totals[0]"} if plan.sums or counts else {}
        found: list[Launch] = []
        for position, (symbol, work) in enumerate(plan.sums, start=1):
            place = f"totals[{position}]"
            launch = self._launch(f"{role}_{form}_numbers", "sum", work, places, totals)
            found.append(replace(launch, outs=(place,), is_sum=True))
            totals = totals | {symbol: place}
        launch = self._launch(f"{role}_{form}_numbers", role, plan.last, places, totals)
        kept = frozenset((memory or {}).values())
        return [*found, replace(launch, outs=outs, memory=kept)]

    def _launch(
        self,
        numbers: str,
        name: str,
        work: Pass,
        places: Mapping[Symbol, str],
        totals: Mapping[Symbol, str],
    ) -> Launch:
        """``numbers`` and ``name`` are what the functions are called, but for a number behind them."""
        lines = coefficients(work, self.fields, totals)
        # What is computed before the loop does not tell two loops apart, nor do the names of its numbers.
        loop = Pass((), work.inside, work.vectors, work.numbers, written=work.written)
        known = self.sums if name == "sum" else self.passes
        loop_name = known.setdefault(loop, _unused(name, known.values()))
        filled = self.numbers.setdefault(lines, _unused(numbers, self.numbers.values()))
        return Launch(filled, loop_name, len(work.numbers), tuple(places[each] for each in work.vectors), ())


def _behind(start: str, position: int) -> str:
    """One of several vectors that lie one after another."""
    return f"{start} + {position} * count" if position else start


def _unused(stem: str, taken: Collection[str]) -> str:
    names = (stem if k == 1 else f"{stem}{k}" for k in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)
