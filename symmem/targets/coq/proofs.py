"""Words that the proofs share: the facts of a step and an entry, roots on the frozen point, squares of roots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sympy import Abs, Expr, Pow, S

from symmem.derivation.gains import at_frozen_point, gains
from symmem.records import record
from symmem.targets.coq.claims import Claims, Memory
from symmem.targets.coq.conditions import Condition, roots_in, sizes_in
from symmem.targets.coq.dialect import CoqPrinter, Unspelled
from symmem.targets.coq.kernels import is_plain
from symmem.targets.printing import ATOM, PRODUCT

MOST_SQUARES = 3
"""So many roots and sizes a proof can know by their squares: tactics.v has a tactic for each count."""


class Proofs:
    """The claims of a file with their printer and their conditions; writes parts of proofs."""

    def __init__(self, claims: Claims, printer: CoqPrinter, conditions: Sequence[Condition]) -> None:
        self.claims = claims
        self._printer = printer
        self.conditions = conditions

    def real(self, expression: Expr) -> str:
        """A number of the engine, or one entry of a vector."""
        return self._printer.source(expression)

    def atom(self, expression: Expr) -> str:
        """The same, as an argument or under a power."""
        return self._printer.bound(expression, ATOM)

    def factor(self, expression: Expr) -> str:
        """The same, in a product."""
        return self._printer.bound(expression, PRODUCT)

    def place(self, memory: Memory) -> int:
        """The number of a memory in the file, from 1."""
        return self.claims.memories.index(memory) + 1

    def facts(self, step: str = "n", entry: str = "") -> str:
        """Puts the conditions into the context."""
        used = [each.used(step, entry) for each in self.conditions]
        return " ".join(f"{each}." for each in used if each)

    def fades(self, decay: Expr) -> str:
        """The name of the fact that a decay lies between -1 and 1."""
        return next(each.name for each in self.conditions if each.statement == f"-1 < {self.real(decay)} < 1")

    @property
    def closes(self) -> str:
        """The last step of a proof of numbers; powers of a decay that is a formula are taken apart first."""
        return f"{self._parted}closes."

    @property
    def _parted(self) -> str:
        decays = (decay for each in self.claims.memories for decay in each.channel.kernel.decays)
        return "" if all(map(is_plain, decays)) else "parted; "

    def frozen(self, forms: Iterable[Expr]) -> list[str]:
        """Every root and every size on the frozen point, in the form in which the engine writes it."""
        forms, lines = tuple(forms), []
        for place, (base, value) in enumerate(self._frozen_roots(forms).items(), start=1):
            lines.append(f"assert (frozen{place} : sqrt ({self.real(base)}) = {self.real(value)}).")
            lines.append(f"{{ {self._unfolded()} frozen_root. }}")
        for place, (inner, value) in enumerate(self._frozen_sizes(forms).items(), start=1):
            lines.append(f"assert (size_{place} : Rabs ({self.real(inner)}) = {self.real(value)}).")
            lines.append(f"{{ {self._unfolded()} frozen_size. }}")
        return lines

    def put_in(self, forms: Iterable[Expr], printed: Iterable[Expr]) -> list[str]:
        """The gains and the roots put in, and the last step of a proof."""
        forms = tuple(forms)
        roots, sizes = self._frozen_roots(forms), self._frozen_sizes(forms)
        rewrites = [f"rewrite ?frozen{place}." for place in range(1, len(roots) + 1)]
        rewrites += [f"rewrite ?size_{place}." for place in range(1, len(sizes) + 1)]
        return [*rewrites, self._unfolded(), *self.squares([*roots.values(), *sizes.values(), *printed])]

    def _frozen_roots(self, forms: Iterable[Expr]) -> dict[Expr, Expr]:
        method = self.claims.method
        return {base: at_frozen_point(Pow(base, S.Half), method, gains(method)) for base in roots_in(forms)}

    def _frozen_sizes(self, forms: Iterable[Expr]) -> dict[Expr, Expr]:
        """Of what the momentum variables stand in; the size of a gradient is the same on the frozen point."""
        method = self.claims.method
        symbols = {channel.symbol for channel in method.channels}
        inner = (each for each in sizes_in(forms) if each.free_symbols & symbols)
        return {each: at_frozen_point(Abs(each), method, gains(method)) for each in inner}

    def _unfolded(self) -> str:
        memories = self.claims.memories
        names = ", ".join(each.channel.symbol.name for each in memories)
        closed = ", ".join(f"?gain{self.place(each)}_closed" for each in memories)
        return f"unfold {names}. rewrite {closed}."

    def squares(self, expressions: Iterable[Expr], step: str = "n") -> list[str]:
        """The last step of a proof: roots and sizes become generators with known squares."""
        expressions = tuple(expressions)
        lines: list[str] = []
        names: list[str] = []
        for base in roots_in(expressions):
            names.append(f"square{len(names) + 1}")
            where = self._root(base, step)
            lines.append(
                f"pose proof (root_squared _ ({where})) as {names[-1]}. pose proof (root_apart _ ({where}))."
            )
            lines.append(
                f"set (radical{len(names)} := sqrt ({self.real(base)})) in *; clearbody radical{len(names)}."
            )
        for inner in sizes_in(expressions):
            if inner.free_symbols.isdisjoint(self._printer.entries):
                lines.append(f"try rewrite (Rabs_pos_eq ({self.real(inner)})) by nonneg.")
            names.append(f"square{len(names) + 1}")
            lines.append(f"pose proof (size_squared ({self.real(inner)})) as {names[-1]}.")
            lines.append(
                f"set (radical{len(names)} := Rabs ({self.real(inner)})) in *; clearbody radical{len(names)}."
            )
        if len(names) > MOST_SQUARES:
            raise Unspelled("a proof with so many roots")
        return [*lines, f"{self._parted}{' '.join([f'assembled{len(names)}', *names])}."]

    def _root(self, base: Expr, step: str) -> str:
        found = next(each for each in self.conditions if each.statement == f"0 < {self.real(base)}")
        return " ".join([found.name, *[step] * found.by_step, *["i"] * found.by_entry])


@record(frozen=True)
class Block:
    """A part of a file; ``proves`` is the name of the theorem, empty for a definition or a lemma on the way."""

    text: str
    proves: str = ""


def defined(text: str) -> Block:
    """A definition."""
    return Block(f"Definition {text}.")


def theorem(name: str, statement: str, proof: Iterable[str]) -> Block:
    """A statement with its proof, a line for each step."""
    return Block(_proved("Theorem", name, statement, proof), name)


def lemma(name: str, statement: str, proof: Iterable[str]) -> Block:
    """The same for a step on the way."""
    return Block(_proved("Lemma", name, statement, proof))


def _proved(kind: str, name: str, statement: str, proof: Iterable[str]) -> str:
    steps = "".join(f"  {line}\n" for line in proof)
    return f"{kind} {name} : {statement}.\nProof.\n{steps}Qed."
