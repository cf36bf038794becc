"""What the emitted JAX module has beyond the others: the optimizer with its memory, probe, optax transformations.

Program and Running -> lines.  Code that does not vary is in ``transformations.py`` and ``with_memory.py``.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sympy import Expr, Symbol

from symmem.algebra.atoms import GRAD, STEP
from symmem.derivation.derivation import Derivation
from symmem.derivation.running import frozen_parameters
from symmem.notation.decimals import decimal
from symmem.program.digits.stable_sums import stabilised
from symmem.program.lowering import limit_rate, number_routine
from symmem.program.needs import Need
from symmem.program.past_rates import NOW, PastRates, past_rates
from symmem.program.program import Program, Routine, Variants
from symmem.program.running import Running, running_routine
from symmem.program.scope import Scope
from symmem.program.statements import Assign
from symmem.targets.jax.inside import ARGUMENTS, CLAIM, LOCALS, Inside
from symmem.targets.jax.sharpness import Edge, sharpness_function
from symmem.targets.jax.writer import JaxWriter
from symmem.targets.python.layout import INDENT, WIDTH, Argument, Group, call, indented, signature
from symmem.targets.python.surfaces import contractions, defaults, opaque_names

Lines = list[str]
_OWN = ("learning_rate", "strength", "target", "every", "history", "limit", "before", "check")
_GIVEN = (
    "Its update takes params and value_fn, the loss as a function of params, whose gradients it",
    "is given; others are an error. before= is an optax transformation without a state, such as",
    "optax.clip_by_global_norm(1.0), that the gradients go through first: products with the",
    "Hessian go through its derivative, which they would not in a chain. learning_rate is a",
    "number or a schedule, whose past rates are kept. limit=True takes the coefficients of",
    "n -> infinity, and the rate of the present step for the past ones.",
)
_MEMORYLESS = (
    '"""The iteration as an optax transformation, on a straight-line history or with the expansion.',
    "",
    *_GIVEN,
    '"""',
)
_WITH_MEMORY = (
    '"""The optimizer itself as an optax transformation, and strength times what its memory does.',
    "",
    "strength = 0 is the optimizer, -1 takes the effect of its memory away to first order. target",
    "gives parameters other values: strength, then 1, times the difference that they make to",
    "memory is added. every=k corrects in every k-th step alone, k times as much.",
    *_GIVEN,
    '"""',
)
_PROBE = (
    '"""What memory does now, as numbers: see with_memory for memory, and n, the updates made.',
    "",
    "With U = lr Phi(m), C = lr M and S = lr (F_straight - F): update_norm |U|, correction_norm",
    "|C|, straight_norm |S|, their ratios to |U|, correction_cosine, share_outside, the share of",
    "the entries in which |C| > |U| and the expansion says nothing, and memory_time,",
    "lr / (1 - beta) with the largest decay. probe_line says it in one line.",
)
_RUN = (
    '"""The update of the optimizer with its memory, Phi(m), and what it keeps of the past.',
    "",
    "memory is what the last step returned; None before the first, which is n = 0.",
    '"""',
)


@dataclass(frozen=True)
class OptaxFunctions:
    """The functions, and what of the helpers they need."""

    derivation: Derivation
    program: Program
    writer: JaxWriter
    running: Running
    rated: PastRates | None
    names: Mapping[str, str]
    """Arguments and values beside the user's names."""
    edge: Edge | None
    inside: Inside | None

    @classmethod
    def of(cls, derivation: Derivation, program: Program, writer: JaxWriter) -> OptaxFunctions:
        """All that is lowered for them."""
        running = running_routine(program.optimizer)
        names = {name: writer.scope.fresh(name) for name in ("memory", "past", *LOCALS)}
        edge, inside = Edge.of(derivation), Inside.of(derivation, program)
        return cls(derivation, program, writer, running, past_rates(derivation), names, edge, inside)

    @property
    def needs(self) -> frozenset[Need]:
        """Of the routines that the program itself does not have."""
        routines = [self.running.routine, *self._rate.existing]
        if self.rated is not None:
            routines += [each for each in (self.rated.correction, self.rated.straight) if each is not None]
            routines += [number_routine(each) for each in self.rated.after]
        found = frozenset(need for each in routines for need in each.needs)
        return found.union(*(each.needs for each in (self.edge, self.inside) if each is not None))

    def lines(self) -> list[Lines]:
        """Every function, one after the other; the functions of the program have the first choice of names."""
        for name in self.program.routines:
            self.writer.variants(self.program[name], name, out=False)
        rate = [self._rate_function()] if self.program.optimizer.schedule is not None else []
        further = [*rate, *self._rated_functions(), *self._constructors()]
        return [self._with_memory(), self._probe(), *self._sharpness(), *further]

    def record(self) -> Lines:
        """``_FORMULAS = _Formulas(...)``."""
        finite, limit = (Group(tuple(f'"{name}"' for name in each)) for each in self._frozen)
        has_line = "straight" in self.program
        line = "_rated_straight" if self.rated is not None and self.rated.straight is not None else "None"
        scheduled = "None" if self.rated is None else f"(_rated_correction, {line}, _next_rates)"
        arguments: list[Argument] = ["memoryless", "correction", "straight" if has_line else "None"]
        arguments += ["with_memory", "_rate" if self.program.optimizer.schedule is not None else "None"]
        arguments += [f"({finite}, {limit})", scheduled, f"{len(contractions(self.program.order))}"]
        return call("_FORMULAS = ", "_Formulas", arguments, WIDTH)

    @property
    def _frozen(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return frozen_parameters(self.derivation)

    @property
    def _functions(self) -> list[str]:
        return [function.name for function in self.program.optimizer.functions]

    def _with_memory(self) -> Lines:
        """The optimizer as it runs."""
        writer, running, memory = self.writer, self.running, self.names["memory"]
        head = signature(
            "with_memory", ["theta", "grad", memory, *self._functions, "*", "n", *defaults(self.program)]
        )
        opened = self._remembering(running)
        roles = {running.routine.result: "running", **dict.fromkeys(running.after, "moment")}
        after = Group(tuple(map(writer.scope.name, running.after)))
        body = [
            *opened,
            *writer.with_roles(running.routine.statements, roles),
            f"return {writer.scope.name(running.routine.result)}, {after}",
        ]
        return [*head, *indented([*_RUN, *body])]

    def _probe(self) -> Lines:
        """Numbers for a logger."""
        program, opaque = self.program, opaque_names(self.program)
        higher, memory = contractions(program.order), self.names["memory"]
        more = [f"{name}=None" for name in ARGUMENTS] if self.inside else []
        head = signature(
            "probe", ["theta", "grad", *higher, memory, *opaque, "*", "n", "lr", *defaults(program), *more]
        )
        settings = Group(('"n": n', *(f'"{name}": {name}' for name in program.parameters)), "{}")
        derivatives: list[Argument] = [Group((*higher, *opaque))]
        functions = Group(tuple(self._functions)), Group(tuple(opaque))
        decays = Group(tuple(self.writer.number(each) for each in self._decays))
        room = WIDTH - len(INDENT)
        arguments: list[Argument] = [
            *("_FORMULAS", "theta", "grad(theta)", memory),
            *(*derivatives, *functions, "lr", settings, decays),
        ]
        if self.inside is None:
            body = call("return ", "_probed", arguments, room)
            return [*head, *indented([*_PROBE, '"""', *body])]
        body = call(f"{self.names['found']} = ", "_probed", arguments, room)
        body += self.inside.lines(program, self.writer, dict(self.names))
        return [*head, *indented([*_PROBE, *CLAIM, '"""', *body])]

    @property
    def _decays(self) -> list[Expr]:
        kernels = [channel.kernel for channel in self.derivation.method.channels]
        return list(dict.fromkeys(decay for kernel in kernels for decay in kernel.decays))

    @property
    def _rate(self) -> Variants:
        """The declared rate, at step n and settled; 1 where there is none."""
        method = self.derivation.method
        finite = number_routine(stabilised(method.rate_at(STEP), method.numbers))
        return Variants(finite, number_routine(limit_rate(self.derivation)))

    def _rate_function(self) -> Lines:
        head = signature("_rate", ["n", "*", *self.program.parameters])
        return [*head, *indented(self.writer.variants(self._rate, "rate", out=False))]

    def _rated_functions(self) -> list[Lines]:
        """M and F_straight of the past rates, and the sums of these after a step."""
        rated = self.rated
        if rated is None:
            return []
        found = [self._rated("_rated_correction", rated.correction, rated.sums)]
        if rated.straight is not None:
            found.append(self._rated("_rated_straight", rated.straight, rated.sums))
        names = [self.writer.scope.name(each) for each in rated.sums]
        now, past, outer = self.writer.scope.name(NOW), self.names["past"], self.writer.scope.outer
        head = signature("_next_rates", [past, now, "*", "n", *self.program.parameters])
        body = unpacked(names, f"(0.0,) * {len(names)} if {past} is None else {past}")
        values = [f"{outer('jnp')}.asarray({name}, {outer('float')})" for name in names]
        for symbol, after in zip(rated.sums, rated.after, strict=True):
            made = number_routine(after)
            is_formula = all(isinstance(each, Assign) for each in made.statements)
            body += [] if is_formula else self.writer.block(made.statements)
            body += self.writer.numbers([(symbol, after if is_formula else made.result)])
        body += [f"return {Group(tuple(values))}"]
        return [*found, [*head, *indented(body)]]

    def _rated(self, name: str, routine: Routine, sums: Sequence[Symbol]) -> Lines:
        higher, opaque, past = contractions(1), opaque_names(self.program), self.names["past"]
        head = signature(name, [past, "theta", "grad", *higher, *opaque, "*", "n", *self.program.parameters])
        opened = self._opened(routine)
        opened += unpacked([self.writer.scope.name(each) for each in sums], past)
        return [*head, *indented([*opened, *self.writer.routine(routine, "rated")])]

    def _sharpness(self) -> list[Lines]:
        """The function, where the stability on a frozen quadratic is known."""
        if self.edge is None:
            return []
        opened = self._remembering(self.edge.running)
        return [sharpness_function(self.edge, self.program, self.writer, self.names["memory"], opened)]

    def _remembering(self, running: Running) -> Lines:
        """The lines that open a function of the running optimizer: its arguments, and what was kept of the past."""
        kept = f"_kept(theta, {self.names['memory']}, {len(running.before)}, n)"
        names = list(map(self.writer.scope.name, running.before))
        return [*self._opened(running.routine), *(unpacked(names, kept) or [kept])]

    def _opened(self, routine: Routine) -> Lines:
        """The check, and the values at theta that the routine reads."""
        lines = call("", "_check", ["n", *self.program.parameters], WIDTH - len(INDENT))
        lines.append("theta = _array(theta)")
        if GRAD in routine.inputs:
            lines.append(f"{self.writer.scope.name(GRAD)} = _like(theta, grad(theta))")
        return lines

    def _constructors(self) -> list[Lines]:
        """The two that make optax transformations; there the parameters yield to optax's own words."""
        program, functions = self.program, self._functions
        scope = Scope([*program.parameters, *functions], words=(*_OWN, *keyword.kwlist))
        given = [*map(scope.kept, functions), "learning_rate=1e-3"]
        settings = [f"{scope.kept(p.name)}={decimal(p.default)}" for p in program.optimizer.parameters]
        history = "straight" if "straight" in program else "expansion"
        limit = not isinstance(program["correction"].finite, Routine)
        settings += [f'history="{history}"', f"limit={limit}", "before=None", "check=True"]
        values = Group(tuple(f'"{each}": {scope.kept(each)}' for each in program.parameters), "{}")
        told = Group(("learning_rate", "history", "limit", "before", "check"))
        record: list[Argument] = [
            "_FORMULAS",
            f"_Settings{told}",
            Group(tuple(map(scope.kept, functions))),
            values,
        ]
        own = ["strength=None", "target=None", "every=1"]
        snake = program.optimizer.name.replace("-", "_")
        made = []
        for stem, claim, more, first in (
            ("memoryless", _MEMORYLESS, [], []),
            ("with_memory", _WITH_MEMORY, own, ["strength", "target", "every"]),
        ):
            head = signature(f"{stem}_{snake}", [*given, "*", *more, *settings])
            body = call("return ", f"_{stem}_transformation", [*first, *record], WIDTH - len(INDENT))
            made.append([*head, *indented([*claim, *body])])
        return made


def unpacked(names: Sequence[str], value: str) -> Lines:
    """``a, b = value``; no line where there are no names."""
    if not names:
        return []
    return [f"{', '.join(names)} = {value}" if len(names) > 1 else f"({names[0]},) = {value}"]
