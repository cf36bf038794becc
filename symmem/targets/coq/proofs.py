"""Words that the proofs share: the facts of a step and an entry, roots on the frozen point, squares of roots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sympy import Expr, Pow, S

from symmem.derivation.gains import at_frozen_point, gains
from symmem.records import record
from symmem.targets.coq.claims import ChannelMemory, Claims
from symmem.targets.coq.conditions import Condition, parts_of
from symmem.targets.coq.dialect import CoqPrinter, Unspelled
from symmem.targets.coq.formal import is_formal
from symmem.targets.coq.generators import generators_in, is_root, is_size
from symmem.targets.coq.kernels import is_plain
from symmem.targets.printing import ATOM, PRODUCT

MOST_SQUARES = 6
"""So many roots and sizes a proof can know by their squares."""


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

    def place(self, memory: ChannelMemory) -> int:
        """The number of a memory in the file, from 1."""
        return self.claims.memories.index(memory) + 1

    def facts(self, step: str = "n", entry: str = "") -> str:
        """Puts the conditions into the context."""
        used = [each.used(step, entry) for each in self.conditions]
        return " ".join(f"{each}." for each in used if each)

    def fades(self, decay: Expr) -> str:
        """The name of the fact that a decay lies between -1 and 1."""
        return next(each.name for each in self.conditions if each.statement == f"-1 < {self.real(decay)} < 1")

    def closes(self, *expressions: Expr) -> str:
        """The last step of a proof of numbers; powers of a decay that is a formula are taken apart first."""
        if generators_in(expressions):
            return self.assembled(expressions)
        return "closes." if self._are_plain else f"parted; {_or_by_signs('closes')}."

    @property
    def _are_plain(self) -> bool:
        return all(is_plain(decay) for each in self.claims.memories for decay in each.channel.kernel.decays)

    def frozen(self, forms: Iterable[Expr]) -> list[str]:
        """Every root, size and function on the frozen point, in the form in which the engine writes it."""
        lines: list[str] = []
        known = ""
        for place, (each, value) in reversed(list(enumerate(self._frozen(forms).items(), start=1))):
            lines.append(f"assert (frozen{place} : {self.real(each)} = {self.real(value)}).")
            lines.append(f"{{{known} {self._unfolded()} {self._frozen_proof(each, value)} }}")
            known = f" rewrite ?frozen{place}.{known}"
        return lines

    def _frozen_proof(self, each: Expr, value: Expr) -> str:
        """Arguments that are equal, or numbers of one sign with equal squares."""
        inside = each.base if is_root(each) else each.args[0]
        self._assert_follows(each, value)
        seen = [value, *map(self._put_in, generators_in([inside])), *self._gains]
        close = self._tactic(seen)
        ways = ["reflexivity", f"f_equal; {close}"]
        if is_size(each):
            ways += [
                f"rewrite <- Rabs_Ropp; f_equal; {close}",
                f"frozen_size; [nonneg | {close}]",
                "frozen_factors",
            ]
        elif is_root(each):
            ways += [f"frozen_root; [nonneg | {close}]"]
        return "first [ " + "\n    | ".join(ways) + " ]."

    def _assert_follows(self, each: Expr, value: Expr) -> None:
        """Both ways of the proof: equal arguments, or equal squares."""
        inside = each.base if is_root(each) else each.args[0]
        known = self.meanings(generators_in([inside]))
        ways = []
        if value.func == each.func and (not is_root(value) or value.exp == S.Half):
            now = value.base if is_root(value) else value.args[0]
            ways += [(inside, now), (inside, -now)] if is_size(each) else [(inside, now)]
        if is_root(each) or is_size(each):
            ways.append((inside ** (2 if is_size(each) else 1), value**2))
        if not any(is_formal(left, right, known) for left, right in ways):
            raise Unspelled(f"no algebra of squares gives {each.func.__name__} on the frozen point")

    def meanings(self, forms: Iterable[Expr]) -> dict[Expr, Expr]:
        """What a proof puts in on the frozen point: gains, and roots, sizes and functions as the engine writes them."""
        point = {held.channel.symbol: held.gain * held.channel.g for held in self.claims.memories}
        return point | {each: value for each, value in self._frozen(forms).items() if value != each}

    def assert_formal(self, left: Expr, right: Expr, meanings: Mapping[Expr, Expr] | None = None) -> None:
        """Raises where the last step of a proof could not show it."""
        if not is_formal(left, right, meanings):
            raise Unspelled("its last step is no algebra of powers, roots by their squares, and sizes")

    def _put_in(self, expression: Expr) -> Expr:
        method = self.claims.method
        return at_frozen_point(expression, method, gains(method))

    def put_in(self, forms: Iterable[Expr], printed: Iterable[Expr]) -> list[str]:
        """The gains and the roots put in, and the last step of a proof."""
        forms = tuple(forms)
        values = self._frozen(forms)
        rewrites = [f"rewrite ?frozen{place}." for place in range(1, len(values) + 1)]
        return [*rewrites, self._unfolded(), self.assembled([*values.values(), *printed, *self._gains])]

    @property
    def _gains(self) -> tuple[Expr, ...]:
        return tuple(each.gain for each in self.claims.memories)

    def _frozen(self, forms: Iterable[Expr]) -> dict[Expr, Expr]:
        """Of what the momentum variables stand in, outer ones first; the others are the same on the frozen point."""
        symbols = {channel.symbol for channel in self.claims.method.channels}
        found = (each for each in generators_in(forms) if is_root(each) or each.free_symbols & symbols)
        return {each: self._put_in(each) for each in found}

    def _unfolded(self) -> str:
        memories = self.claims.memories
        names = ", ".join(each.channel.symbol.name for each in memories)
        closed = ", ".join(f"?gain{self.place(each)}_closed" for each in memories)
        return f"unfold {names}. rewrite {closed}."

    def assembled(self, expressions: Iterable[Expr], step: str = "n") -> str:
        """The last step of a proof, as a sentence of Coq."""
        return f"{self._tactic(expressions, step)}."

    def _tactic(self, expressions: Iterable[Expr], step: str = "n") -> str:
        """Roots, sizes and functions become generators, the first two with known squares."""
        found = generators_in(expressions)
        steps = ["forgotten"] if found else []
        squares: list[str] = []
        for place, each in enumerate(found, start=1):
            if is_root(each):
                steps += self._root_steps(each.base, place, step)
            elif is_size(each):
                steps += self._size_steps(each.args[0], place)
            steps.append(f"set (radical{place} := {self.real(each)}) in *; clearbody radical{place}")
            if is_root(each) or is_size(each):
                squares.append(f"square{place}")
            if is_root(each):
                steps += self._whole(each.base, place)
        if len(squares) > MOST_SQUARES:
            raise Unspelled("its proof would have to follow so many roots and sizes")
        known = "".join(f"powers_in {square}; " for square in squares)
        last = f"field [{' '.join(squares)}]; unlike_zero" if squares else "closes"
        opened = f"{known}powers; apart_in; "
        ends = f"{opened}{last}" if self._are_plain else f"parted; {opened}{_or_by_signs(last)}"
        return ";\n    ".join([*steps, ends])

    def _root_steps(self, base: Expr, place: int, step: str) -> list[str]:
        where = self._root(base, step)
        return [
            f"pose proof (root_squared _ ({where})) as square{place}",
            f"pose proof (root_apart _ ({where})) as unlike{place}",
        ]

    def _size_steps(self, inner: Expr, place: int) -> list[str]:
        text = self.real(inner)
        constant = inner.free_symbols.isdisjoint(self._printer.entries)
        return [
            *([f"try rewrite (Rabs_pos_eq ({text})) by nonneg"] if constant else []),
            f"pose proof (size_squared ({text})) as square{place}",
            f"try pose proof (Rabs_no_R0 ({text}) ltac:(powers; unlike_zero)) as unlike{place}",
        ]

    def _whole(self, base: Expr, place: int) -> list[str]:
        """The square of a root without denominators: ``sqrt(p/q) = r/q`` with ``r^2 = p q``."""
        above, below = parts_of(base)
        if below == 1:
            return []
        return [f"whole radical{place} square{place} unlike{place} ({self.real(above)}) ({self.real(below)})"]

    def _root(self, base: Expr, step: str) -> str:
        found = next((each for each in self.conditions if each.statement == f"0 < {self.real(base)}"), None)
        if found is None or (found.by_step and not step):
            raise Unspelled.of(Pow(base, S.Half))
        return " ".join([found.name, *[step] * found.by_step, *["i"] * found.by_entry])


def _or_by_signs(last: str) -> str:
    """A negative decay leaves ``(-1)^n``, whose square the engine knows to be 1."""
    return f"first [{last} | each_sign; {last}]"


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
