"""The optimizer class of the PyTorch module: what varies between optimizers, as text for its templates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sympy import Add, Expr, Mul, S, Symbol

from symmem.algebra.atoms import GRAD, LR, STEP, THETA, terms_of
from symmem.algebra.passes import distribute
from symmem.algebra.results import Missing, Sentence
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import Derivation
from symmem.derivation.parameter_groups import RATES, GroupForm, StepScalar, group_form, with_rates
from symmem.method.reading import method_of
from symmem.notation.decimals import decimal
from symmem.program.lowering import formulas, vector_routine
from symmem.program.program import Routine, Variants
from symmem.targets.python.layout import INDENT, signature
from symmem.targets.python.surfaces import contractions, suffixes
from symmem.targets.python.writer import PythonWriter

STEP_SCALARS = "_step_scalars"


def class_values(derivation: Derivation, writer: PythonWriter) -> dict[str, object]:
    """The values that the templates of the class take; the writer remembers their kernels."""
    optimizer, order = derivation.optimizer, derivation.order
    form = group_form(derivation.method)
    functions = GroupFunctions(optimizer, form, writer)
    return {
        "name": optimizer.name,
        "has_kernels": order == 1 and bool(form.memories) and not optimizer.functions,
        "arguments": _arguments(optimizer),
        "suffixes": suffixes(order)[1:],
        "decays": len(form.memories),
        "is_linear": form.is_linear,
        "past_scalars": [scalar.name.name for scalar in form.past_scalars],
        "has_ways": form.has_ways,
        "has_limit": all(scalar.limit is not None for scalar in (*form.scalars, *form.past_scalars)),
        "group_functions": functions.lines() if order == 1 else functions.rated(order),
    }


def _arguments(optimizer: Optimizer) -> list[dict[str, str]]:
    """The arguments as PyTorch spells them, in its order; then the parameters that it does not name."""
    spelled = {} if optimizer.torch is None else optimizer.torch.arguments
    named = [name for value in spelled.values() for name in ((value,) if isinstance(value, str) else value)]
    plain = {name: name for name in optimizer.defaults if name not in named}
    found = []
    for name, value in {**spelled, **plain}.items():
        if isinstance(value, str):
            kind, default = "float", decimal(optimizer.defaults[value])
        else:
            kind = f"tuple[{', '.join(['float'] * len(value))}]"
            default = f"({', '.join(decimal(optimizer.defaults[each]) for each in value)})"
        found.append({"name": name, "type": kind, "default": default})
    return found


class GroupFunctions:
    """The functions that the class calls for one group and one tensor."""

    def __init__(self, optimizer: Optimizer, form: GroupForm, writer: PythonWriter) -> None:
        self._optimizer = optimizer
        self._form = form
        self._writer = writer
        self._parameters = [parameter.name for parameter in optimizer.parameters]
        self._spelled = writer.scope.name
        self._vectors = {}
        for position, memory in enumerate(form.memories, start=1):
            self._vectors[memory.product] = Symbol(f"hv{position}")
        if form.has_ways:
            for position, memory in enumerate(form.memories, start=1):
                self._vectors[memory.way] = Symbol(f"way{position}")

    def lines(self) -> list[list[str]]:
        form = self._form
        scalars = [self._spelled(scalar.name) for scalar in form.scalars]
        past = [self._spelled(scalar.name) for scalar in form.past_scalars]
        found = [
            self._values(),
            self.scalars(STEP_SCALARS, form.scalars, ranges=False),
            self.entrywise("plain", scalars, form.memoryless),
        ]
        if not form.memories:
            return found
        vectors = [self._spelled(symbol) for symbol in self._vectors.values()]
        scales = [self._spelled(memory.scale) for memory in form.memories]
        update = form.memoryless + form.correction
        found.append(self.entrywise("corrected", [*vectors, *scales, *scalars], update))
        if len(form.memories) > 1:
            given = [
                self._spelled(Symbol(name))
                for name in ("hv1", "way1")
                if Symbol(name) in self._vectors.values()
            ]
            update = form.memoryless + self._shared_correction()
            found.append(self.entrywise("shared", [*given, *scales, *scalars], update))
        found.append(self.entrywise("past", past, form.past))
        if past:
            found.append(self.scalars("_past_scalars", form.past_scalars, ranges=True))
        return [*found, self._decays()]

    def correction(self) -> list[str]:
        """The correction alone."""
        form = self._form
        numbers = [*(memory.scale for memory in form.memories), *(scalar.name for scalar in form.scalars)]
        arguments = [self._spelled(symbol) for symbol in (*self._vectors.values(), *numbers)]
        return self.entrywise("correction", arguments, form.correction)

    def _shared_correction(self) -> Expr:
        """The correction where all memories have the same product and the same way, which stand in front."""
        first, *others = self._form.memories
        same = {memory.product: first.product for memory in others}
        same |= {memory.way: first.way for memory in others}
        rows: dict[Expr, list[Expr]] = {}
        for term in terms_of(distribute(self._form.correction.xreplace(same))):
            factors = Mul.make_args(term)
            # An opaque function has it inside.
            vector = next((each for each in (first.product, first.way) if each in factors), S.One)
            rows.setdefault(vector, []).append(term / vector)
        return Add(*(Mul(vector, Add(*parts)) for vector, parts in rows.items()))

    def rated(self, order: int) -> list[list[str]]:
        """Beyond order 1: the whole step on flat vectors, with a vector of rates."""
        derivation = Derivation(with_rates(method_of(self._optimizer)), order)
        rates = Symbol("rates")

        def step(update: Expr | Missing, correction: Expr | Missing, advice: str) -> Routine | Missing:
            for part in (update, correction):
                if isinstance(part, Missing):
                    return Missing(part.reason, (Sentence.of(advice),))
            moved = (THETA - Add(update, correction)).xreplace({LR: S.One, RATES: rates})
            return vector_routine(moved, (rates,))

        (update, correction), (settled, settled_correction) = formulas(derivation)
        variants = Variants(
            step(update, correction, "use limit=True"),
            step(settled, settled_correction, "use limit=False"),
        )
        calls = [f.name + suffix for f in self._optimizer.functions for suffix in suffixes(order)]
        head = [
            "theta",
            self._spelled(GRAD),
            *contractions(order),
            *calls,
            self._spelled(rates),
            STEP.name,
            *self._parameters,
        ]
        body = self._writer.variants(variants, "rated", out=False)
        return [self._values(), [*signature("_rated_step", head), *(INDENT + line for line in body)]]

    def _values(self) -> list[str]:
        """The parameters of a group, in the order of the declaration."""
        spelled = {} if self._optimizer.torch is None else self._optimizer.torch.arguments
        entries = {name: f'group["{name}"]' for name in self._parameters}
        for name, value in spelled.items():
            if isinstance(value, str):
                entries[value] = f'group["{name}"]'
            else:
                entries |= {each: f'group["{name}"][{place}]' for place, each in enumerate(value)}
        return [
            "def _group_values(group: dict[str, Any]) -> list[float]:",
            *returned([f"float({entry})" for entry in entries.values()]),
        ]

    def _decays(self) -> list[str]:
        sources = [self._writer.number(memory.decay) for memory in self._form.memories]
        return [*signature("_group_decays", self._parameters), *returned(sources)]

    def scalars(self, name: str, scalars: Sequence[StepScalar], *, ranges: bool) -> list[str]:
        """A function of n and the parameters: the numbers at step n, or their limits where n is None."""
        lines = signature(name, [STEP.name, *self._parameters])
        if not scalars:
            return [*lines, *returned([])]
        names = [self._spelled(scalar.name) for scalar in scalars]
        limits = [(scalar.name, scalar.limit) for scalar in scalars if scalar.limit is not None]
        if len(limits) == len(scalars):
            body = [*self._writer.numbers(limits), *_return_names(names)]
        else:
            body = ['raise ValueError("the coefficients have no limit")']
        lines += [f"{INDENT}if n is None:", *(INDENT * 2 + line for line in body)]
        finite = [(scalar.name, scalar.at_step) for scalar in scalars]
        write = self._writer.ranges if ranges else self._writer.numbers
        return [*lines, *(INDENT + line for line in (*write(finite), *_return_names(names)))]

    @property
    def calls(self) -> list[str]:
        """The opaque functions and their derivatives, as arguments."""
        return [name for f in self._optimizer.functions for name in (f.name, f"{f.name}_jvp")]

    def entrywise(
        self, role: str, arguments: Sequence[str], expression: Expr, vectors: Sequence[Symbol] = ()
    ) -> list[str]:
        """A function that adds ``factor`` times a value to ``out``.

        It takes the tensors theta and g, the opaque functions, the arguments and the parameters; ``vectors`` are
        the tensors among the arguments.
        """
        head = ["out", "factor", "theta", self._spelled(GRAD), *self.calls, *arguments, *self._parameters]
        made = vector_routine(expression.xreplace(self._vectors), [*self._vectors.values(), *vectors])
        body = self._writer.accumulated(made, role)
        return [*signature(f"_group_{role}", head), *(INDENT + line for line in body)]


def returned(entries: Sequence[str]) -> list[str]:
    line = f"{INDENT}return [{', '.join(entries)}]"
    if len(line) <= 88:
        return [line]
    return [f"{INDENT}return [", *(f"{INDENT * 2}{entry}," for entry in entries), f"{INDENT}]"]


def _return_names(names: Iterable[str]) -> list[str]:
    return [f"return [{', '.join(names)}]"]
