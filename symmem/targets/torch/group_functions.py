"""The update of one parameter group as functions: F, F + M, F of a past step, and the decays of the memories.

Derivation -> :class:`.functions.FunctionWriter` -> lines.  The records of the runtime are filled with their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sympy import Add, Expr, Mul, S, Symbol

from symmem.algebra.atoms import terms_of
from symmem.algebra.passes import distribute
from symmem.algebra.results import Missing
from symmem.derivation.groups.parameter_groups import GroupForm
from symmem.program.statements import Internal
from symmem.targets.torch.functions import FunctionWriter, Lines

SCALARS, PLAIN, DECAYS, PAST, PAST_SCALARS = "_scalars", "_plain", "_decays", "_past", "_past_scalars"
CORRECTED, SHARED, CORRECTION, LINE = "_corrected", "_shared", "_correction_of_group", "_on_line"


def lines_of(form: GroupForm) -> list[str]:
    """For each memory the highest power of the lag in it, and whether a sum over the lags is taken, as source."""
    lines = [memory.line for memory in form.memories]
    return [f"({1 + len(line.ratios)}, {line.is_summed})" for line in lines]


@dataclass(frozen=True)
class GroupFunctions:
    """The functions of a group form; tensors that stand for products and displacements have names of their own."""

    form: GroupForm
    writer: FunctionWriter

    def basic(self) -> list[Lines]:
        """F, and its numbers."""
        return [
            self.writer.at_step(SCALARS, self.form.scalars, ranges=False),
            self.writer.tensor(PLAIN, self.form.memoryless, (), self._scalars),
        ]

    def memory(self) -> list[Lines]:
        """What memory needs: F + M, F of a past step with its numbers, the decays."""
        form = self.form
        if not form.memories:
            return []
        found = [
            self.writer.numbers(DECAYS, [memory.decay for memory in form.memories]),
            self._tensor(CORRECTED, form.memoryless + form.correction, self._vectors, self._numbers),
            self.writer.tensor(PAST, form.past, (), [scalar.name for scalar in form.past_scalars]),
        ]
        if form.past_scalars:
            found.append(self.writer.at_step(PAST_SCALARS, form.past_scalars, ranges=True))
        return found

    def alone(self) -> list[Lines]:
        """For the emitted class: F + M of products that hold their scales, F of a past step, the decays."""
        form = self.form
        scaled = {memory.scale: S.One for memory in form.memories}
        update = form.memoryless + form.correction.xreplace(scaled)
        line = [] if isinstance(form.straight, Missing) else [form.straight.xreplace(scaled)]
        numbers = [*self._lines, *self._scalars]
        past = [scalar.name for scalar in form.past_scalars]
        found = [
            self.writer.at_step(SCALARS, form.scalars, ranges=False),
            self.writer.numbers(DECAYS, [memory.decay for memory in form.memories]),
            self._tensor(CORRECTED, update, self._vectors, numbers),
            *(self._tensor(LINE, each, self._vectors, numbers) for each in line),
            self.writer.tensor(PAST, form.past, (), past),
        ]
        if form.past_scalars:
            found.append(self.writer.at_step(PAST_SCALARS, form.past_scalars, ranges=True))
        return found

    def shared(self) -> list[Lines]:
        """F + M where all memories have the same product and displacement, which stand in front."""
        if len(self.form.memories) < 2:
            return []
        update = self.form.memoryless + self._shared_correction()
        first = self.form.memories[0]
        vectors = [v for slot, v in self._names.items() if slot in (first.product, first.displacement)]
        return [self._tensor(SHARED, update, vectors, self._numbers)]

    def correction(self) -> list[Lines]:
        """M alone, and the update on the straight-line history."""
        form = self.form
        if not form.memories:
            return []
        found = [self._tensor(CORRECTION, form.correction, self._vectors, self._numbers)]
        if not isinstance(form.straight, Missing):
            numbers = [*(memory.scale for memory in form.memories), *self._lines, *self._scalars]
            found.append(self._tensor(LINE, form.straight, self._vectors, numbers))
        return found

    def _tensor(self, name: str, value: Expr, vectors: Sequence[Symbol], numbers: Sequence[Symbol]) -> Lines:
        return self.writer.tensor(name, value.xreplace(self._names), vectors, numbers)

    @property
    def _names(self) -> dict[Expr, Symbol]:
        """What stands for the products, then for the displacements where a formula has them."""
        memories = self.form.memories
        found = {memory.product: Internal(f"hv{k}") for k, memory in enumerate(memories, start=1)}
        if self.form.has_displacements:
            found |= {memory.displacement: Internal(f"path{k}") for k, memory in enumerate(memories, start=1)}
        return found

    @property
    def _vectors(self) -> list[Symbol]:
        return list(self._names.values())

    @property
    def _lines(self) -> list[Symbol]:
        return [name for memory in self.form.memories for name in memory.line.numbers]

    @property
    def _scalars(self) -> list[Symbol]:
        return [scalar.name for scalar in self.form.scalars]

    @property
    def _numbers(self) -> list[Symbol]:
        return [*(memory.scale for memory in self.form.memories), *self._scalars]

    def _shared_correction(self) -> Expr:
        first, *others = self.form.memories
        same = {memory.product: first.product for memory in others}
        same |= {memory.displacement: first.displacement for memory in others}
        rows: dict[Expr, list[Expr]] = {}
        for term in terms_of(distribute(self.form.correction.xreplace(same))):
            factors = Mul.make_args(term)
            # An opaque function has it inside.
            vector = next((each for each in (first.product, first.displacement) if each in factors), S.One)
            rows.setdefault(vector, []).append(term / vector)
        return Add(*(Mul(vector, Add(*parts)) for vector, parts in rows.items()))
