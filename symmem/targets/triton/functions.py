"""Program -> the public functions of the module: checks, the numbers of each form, and the launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sympy import Symbol

from symmem.algebra.ranges import Ranges
from symmem.algebra.results import Missing
from symmem.derivation.derivation import Derivation
from symmem.program.needs import Need
from symmem.program.products import correction_from_products, direction_name, straight_from_products
from symmem.program.program import Program, Routine, Variants
from symmem.program.running import Running, running_step
from symmem.program.statements import Internal
from symmem.program.updates import STRENGTH, UPDATES
from symmem.targets.python.layout import INDENT, WIDTH, call, indented, signature
from symmem.targets.python.surfaces import defaults
from symmem.targets.python.writer import PythonWriter
from symmem.targets.refusals import refusal
from symmem.targets.triton.passes import pass_of
from symmem.targets.triton.writer import CALL, KernelWriter, launch, needs_of

Lines = list[str]
FORMS = ("limit", "finite")
CLAIMS = {
    "memoryless": "F^(n)(theta): the update on a constant history.",
    "direction": "The vectors whose products hv with the Hessian the other functions are given.",
    "correction": "lr F_1: what memory adds to the update.",
    "step": "theta - lr * (memoryless + correction), in place.",
    "straight": "The update on a straight-line history: the step is theta - lr * straight.",
    "initial_memory": "What the optimizer keeps before its first step.",
    "update": "A step of the optimizer with its memory: theta and memory change in place.",
    "corrected_update": "The same step with strength * correction in it: -1 takes memory's effect away.",
    "straight_update": "The same step with strength * (straight - memoryless) in it.",
}


@dataclass
class FunctionWriter:
    """Writes the functions; ``needs`` are the small functions of numbers that they call.

    ``known`` says for each function and form whether there are kernels for it, or a refusal.
    """

    program: Program
    writer: PythonWriter
    kernels: KernelWriter = field(default_factory=KernelWriter)
    needs: set[Need] = field(default_factory=set)
    known: dict[tuple[str, str], bool] = field(default_factory=dict)

    def functions(self, derivation: Derivation) -> list[Lines]:
        """All of them."""
        program, products = self.program, self._name("hv")
        known = [name for name in ("correction", "step", "straight") if name in program]
        early = [self._at_step("memoryless", [program["memoryless"]], []), self._directions()]
        return [
            *early,
            *(self._at_step(name, [program[name]], [products]) for name in known),
            *self._memory(derivation),
        ]

    @property
    def _ranges(self) -> Ranges:
        return {Symbol(each.name): each.range for each in self.program.optimizer.parameters}

    def _name(self, argument: str) -> str:
        """An argument beside the user's names, which yields to them."""
        return self.writer.scope.name(Internal(argument))

    def _asked(self) -> Mapping[str, int]:
        """How many products each form is given."""
        wanted = self._of_directions()
        return {form: sum(isinstance(getattr(each, form), Routine) for each in wanted) for form in FORMS}

    def _of_directions(self) -> list[Variants]:
        names = (direction_name(position) for position in range(1, len(self.program.routines) + 1))
        return [self.program[name] for name in names if name in self.program]

    def _directions(self) -> Lines:
        return self._at_step("direction", self._of_directions(), [])

    def _at_step(self, role: str, wanted: Sequence[Variants], products: Sequence[str]) -> Lines:
        """A function of n: its limit, and its form at a finite step."""
        limit, finite = (self._form(role, [getattr(each, form) for each in wanted], form) for form in FORMS)
        body = finite if limit == finite else ["if n is None:", *indented(limit), *finite]
        rate = ["lr"] if products else []
        asked = self._asked()
        count = f"{asked['finite']}"
        if asked["limit"] != asked["finite"]:
            count = f"{asked['limit']} if n is None else {count}"
        given = ["theta", "grad", *([*products, count] if products else [])]
        opened = [*self._checked(), *self.writer.call(f"{CALL} = ", "_Call", given)]
        keywords = ["n=None", *rate, *defaults(self.program)]
        return self._function(role, ["theta", "grad", *products, "*", *keywords], [*opened, *body])

    def _form(self, role: str, routines: Sequence[Routine | Missing], form: str) -> Lines:
        first = getattr(self.program["memoryless"], form)
        missing = first if role == "direction" else routines[0]
        self.known[role, form] = not isinstance(missing, Missing)
        if isinstance(missing, Missing):
            return self._refused(missing)
        lines: Lines = []
        existing = [each for each in routines if isinstance(each, Routine)]
        found = [f"_found{position}" for position, _ in enumerate(existing, start=1)]
        place = "theta" if role == "step" else "out"
        for target, routine in zip(found, existing, strict=True):
            several = role == "direction"
            lines += self._launched(
                (role, form), routine, [(place, routine.result)], f"{target} = " if several else "return "
            )
        return [*lines, f"return [{', '.join(found)}]"] if role == "direction" else lines

    def _launched(
        self,
        function: tuple[str, str],
        routine: Routine,
        written: Sequence[tuple[str, Symbol]],
        target: str = "return ",
    ) -> Lines:
        work = pass_of(routine, self._ranges, written)
        self.known[function] = self.known.get(function, True) and not isinstance(work, Missing)
        if isinstance(work, Missing):
            return self._refused(work)
        self.needs.update(needs_of(work))
        return launch(work, self.kernels.named(work.kernel, function[0]), self.writer, target)

    def _refused(self, missing: Missing) -> Lines:
        words = refusal(missing, "n=None").replace("\\", "/").replace('"', "'")
        return self.writer.call("raise ", self.writer.scope.outer("ValueError"), [f'"{words}"'])

    def _memory(self, derivation: Derivation) -> list[Lines]:
        """The optimizer with its memory, and the same with each of its corrections."""
        plain, memory = running_step(derivation.optimizer), self._name("memory")
        kept = len(plain.before)
        first = self._function("initial_memory", ["theta"], [f"return _zeros(theta, {kept})"])
        found = [
            first,
            self._update("update", plain, [memory], ["theta", "grad", "()", "0", memory, f"{kept}"]),
        ]
        hv, asked = self._name("hv"), f"{self._asked()['finite']}"
        parts = {"correction": correction_from_products, "straight": straight_from_products}
        for role, (routine, part) in zip(UPDATES[1:], parts.items(), strict=True):
            added = part(derivation)
            known = routine in self.program and isinstance(self.program[routine].finite, Routine)
            if known and not isinstance(added, Missing):
                running = running_step(derivation.optimizer, STRENGTH * added[0], added[1])
                given = ["theta", "grad", hv, asked, memory, f"{kept}"]
                found.append(self._update(role, running, [memory, hv], given))
        return found

    def _update(self, role: str, running: Running, given: Sequence[str], arguments: Sequence[str]) -> Lines:
        places = [(each.name, after) for each, after in zip(running.before, running.after, strict=True)]
        opened = [*self._checked(), *self.writer.call(f"{CALL} = ", "_Call", arguments)]
        written = [*places, ("theta", running.routine.result)]
        body = self._launched((role, "finite"), running.routine, written)
        strength = [] if role == "update" else [f"{self._name('strength')}=-1.0"]
        keywords = ["n", "lr", *strength, *defaults(self.program)]
        return self._function(
            role, ["theta", "grad", *given, "*", *keywords], ["_check_given(n)", *opened, *body]
        )

    def _checked(self) -> Lines:
        return call("", "_check", ["n", *self.program.parameters], WIDTH - len(INDENT))

    def _function(self, name: str, arguments: Sequence[str], body: Sequence[str]) -> Lines:
        return [*signature(name, arguments), f'{INDENT}"""{CLAIMS[name]}"""', *indented(body)]
