"""Until the derivation's verdicts are data themselves: their sentences and regimes read into data, in one place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sympy import Expr, Symbol

from symmem.algebra.results import Bound, Regime, Sentence
from symmem.derivation import assumptions, integrability, modified_loss
from symmem.notation.formula import Atom, Formula, Number
from symmem.notation.statement import BigO, Indexed, Interval, Iterate, Letter, added, power_of_h, series


@dataclass(frozen=True)
class ModifiedLoss:
    potential: Expr
    preconditioner: Expr
    regime: Regime
    decay: Expr
    rate: Bound | None


@dataclass(frozen=True)
class Obstruction:
    reason: Sentence
    terms: tuple[Expr, ...]
    order: int


@dataclass(frozen=True)
class Assumption:
    sentence: Sentence
    warning: bool
    words: str

    def __str__(self) -> str:
        return self.words


_KNOWN = re.compile(
    r"\bO\(h(?:\^(?P<power>\d+))?\)|\btheta_0(?P<shifts>(?: \+ h(?:\^\d+)? d_\d+)*)|\bd_(?P<shift>\d+)|\b(?P<g>g_l)\b"
    r"|\b(?P<phi>Phi)\b|(?P<left>[\[(])(?P<lower>-?[\w.]+), (?P<upper>[\w.]+)(?P<right>[\])])"
)


def sentence_of(words: str | Sentence, names: Iterable[str] = ()) -> Sentence:
    if isinstance(words, Sentence):
        return words
    named = "".join(
        rf"|\b(?P<n{k}>{re.escape(name)})\b(?P<t{k}> -> 0)?" for k, name in enumerate(names) if len(name) > 1
    )
    parts: list[Any] = []
    position = 0
    for match in re.finditer(_KNOWN.pattern + named, words):
        parts += [
            words[position : match.start()],
            _formula({k: v for k, v in match.groupdict().items() if v is not None}),
        ]
        position = match.end()
    parts.append(words[position:])
    return Sentence(tuple(part for part in parts if part != ""))


def _formula(groups: dict[str, str]) -> Formula | Regime:
    for key, value in groups.items():
        if key.startswith("n"):
            return Regime((Symbol(value),)) if f"t{key[1:]}" in groups else Atom(value)
    if "left" in groups:
        ends = [
            Atom("oo") if groups[end] == "inf" else Number(int(groups[end])) for end in ("lower", "upper")
        ]
        return Interval(ends[0], ends[1], groups["left"] == "(", groups["right"] == ")")
    if "phi" in groups:
        return Letter("Phi")
    if "g" in groups:
        return Indexed(Letter("g"), Letter("l"))
    if "shift" in groups:
        return Indexed(Letter("d"), Number(int(groups["shift"])))
    if "shifts" in groups:
        count = groups["shifts"].count("d_")
        return added(Iterate(Number(0)), series("d", range(1, count + 1))) if count else Iterate(Number(0))
    return BigO(power_of_h(int(groups.get("power", 1))))


def loss_of(
    found: modified_loss.ModifiedLoss | integrability.Obstruction, names: Iterable[str]
) -> ModifiedLoss | Obstruction:
    if isinstance(found, integrability.Obstruction):
        return Obstruction(sentence_of(found.reason, names), found.terms, found.order)
    small = () if found.regime == "exact" else (Symbol(found.regime.removesuffix(" -> 0")),)
    rate = None if found.rate is None else Bound(Symbol(found.rate[2:-1]))
    return ModifiedLoss(found.potential, found.preconditioner, Regime(small), found.decay, rate)


def assumption_of(assumption: assumptions.Assumption, names: Iterable[str]) -> Assumption:
    sentence = sentence_of(assumption.sentence, () if assumption.warning else names)
    return Assumption(sentence, assumption.warning, str(assumption))
