"""What the theorems rest on: ranges of the parameters, decays that fade, and denominators and roots that are not zero.

What follows from the ranges is a Fact with its proof; what does not, as ``beta1 <> beta2``, is a Hypothesis: it stands
in the statement of every theorem that needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sympy import (
    Abs,
    Add,
    Dummy,
    Expr,
    Mul,
    Pow,
    S,
    Symbol,
    factor,
    fraction,
    oo,
    preorder_traversal,
    sign,
    together,
)

from symmem.algebra.atoms import STEP
from symmem.algebra.intervals import Interval
from symmem.algebra.ranges import Ranges, bounds
from symmem.derivation.gains import at_frozen_point, gains
from symmem.method.method import Method
from symmem.records import record
from symmem.targets.coq.dialect import CoqPrinter, told_apart
from symmem.targets.coq.generators import generators_in, is_root
from symmem.targets.coq.kernels import is_plain


@record(frozen=True)
class Condition:
    """A named statement about the parameters, for every step and every entry that it speaks of."""

    name: str
    statement: str
    proof: str
    """Empty for a hypothesis."""
    about: Expr
    """The number of which it speaks."""
    by_step: bool = False
    by_entry: bool = False

    @property
    def text(self) -> str:
        """The Fact with its proof, or the Hypothesis."""
        binder = " ".join(["(n : nat)"] * self.by_step + ["(i : entry)"] * self.by_entry)
        stated = f"{self.name} : {f'forall {binder}, ' if binder else ''}{self.statement}."
        return f"Fact {stated}\nProof. {self.proof} Qed." if self.proof else f"Hypothesis {stated}"

    is_sign: bool = False
    """Whether it says that a number is positive: that is asked at one step, a denominator also at the next."""
    is_decay: bool = False
    """Whether it says that a number lies between -1 and 1; else, that it is not zero."""

    def used(self, step: str, entry: str) -> str | None:
        """The tactic that puts it into the context, at a step and an entry; None where there is none of these."""
        placed = self.by_step and (self.by_entry or self.is_sign)
        if (self.by_entry and not entry) or (placed and not step):
            return None
        return f"pose proof ({' '.join([self.name, *[step] * placed, *[entry] * self.by_entry])})"


def range_of(name: str, interval: Interval) -> str | None:
    """``0 <= beta < 1``; None where the parameter may be any number."""
    low = (
        "" if interval.lower == -oo else f"{_number(interval.lower)} {'<' if interval.lower_open else '<='} "
    )
    high = (
        "" if interval.upper == oo else f" {'<' if interval.upper_open else '<='} {_number(interval.upper)}"
    )
    return f"{low}{name}{high}" if low or high else None


def _number(value: Expr) -> str:
    return f"{int(value.p)}" if value.is_Integer else f"({int(value.p)} / {int(value.q)})"


def conditions(
    expressions: Iterable[Expr], decays: Iterable[Expr], ranges: Ranges, printer: CoqPrinter
) -> tuple[Condition, ...]:
    """Every decay fades; no base of a negative power is zero; under every root stands a positive number."""
    expressions, decays = tuple(expressions), tuple(dict.fromkeys(decays))
    found = [_decay(place, decay, ranges, printer) for place, decay in enumerate(decays, start=1)]
    roots = [each.base for each in generators_in(expressions) if is_root(each)]
    for place, base in enumerate(roots, start=1):
        found.append(_positive(f"root{place}", base, ranges, printer))
    below = dict.fromkeys(base for each in expressions for base in _denominators(each))
    for place, base in enumerate((base for base in below if not base.is_Rational), start=1):
        found.append(_apart(f"apart{place}", base, decays, ranges, printer))
    found += _numerators(found, printer)
    formulas = (decay for decay in decays if not is_plain(decay))
    for place, decay in enumerate(formulas, start=1):
        # What is left of 1 - decay once its denominators have gone.
        found.append(_apart(f"gap{place}", factor(fraction(together(1 - decay))[0]), decays, ranges, printer))
    return tuple(found)


def poles(method: Method, slope: Expr) -> tuple[Expr, ...]:
    """``1/x`` on the frozen point for all that the slope divides by, before anything cancels there."""
    found = []
    for part in preorder_traversal(slope):
        if isinstance(part, Pow) and part.exp.is_Rational and part.exp.is_negative:
            size = S.One if part.exp.q == 1 else S.Half
            found.append(1 / at_frozen_point(Pow(part.base, size), method, gains(method)))
        elif isinstance(part, sign):
            found.append(1 / at_frozen_point(Abs(part.args[0]), method, gains(method)))
    return tuple(found)


def _denominators(expression: Expr) -> Iterator[Expr]:
    for part in preorder_traversal(expression):
        if isinstance(part, Pow) and part.exp.is_Integer and part.exp.is_negative:
            yield from Mul.make_args(part.base)
        elif isinstance(part, Pow) and not part.exp.is_Rational and told_apart(part.exp)[1] != 0:
            yield part.base
        elif isinstance(part, sign):
            yield Abs(part.args[0], evaluate=False)
            yield from (part.args[0],) if STEP in part.free_symbols else ()


def _decay(place: int, decay: Expr, ranges: Ranges, printer: CoqPrinter) -> Condition:
    proved = decay.is_Rational or (isinstance(decay, Symbol) and bounds(decay, ranges).is_within_unit)
    proof = "lra." if proved else ""
    return Condition(f"fades{place}", f"-1 < {printer.source(decay)} < 1", proof, decay, is_decay=True)


def _places(base: Expr, printer: CoqPrinter) -> dict[str, bool]:
    seen = base.free_symbols
    return {"by_step": STEP in seen, "by_entry": not printer.entries.isdisjoint(seen)}


def _positive(name: str, base: Expr, ranges: Ranges, printer: CoqPrinter) -> Condition:
    proof = "intros; positive." if _is_followed(base, ranges) else ""
    return Condition(name, f"0 < {printer.source(base)}", proof, base, **_places(base, printer), is_sign=True)


def _apart(name: str, base: Expr, decays: tuple[Expr, ...], ranges: Ranges, printer: CoqPrinter) -> Condition:
    places, statement = _places(base, printer), f"{printer.source(base)} <> 0"
    if places["by_step"] and not places["by_entry"]:
        return Condition(name, statement, _bias(base, decays), base, **places)
    interval = bounds(base, ranges)
    if _is_followed(base, ranges):
        return Condition(name, statement, "intros; apply not_eq_sym, Rlt_not_eq; positive.", base, **places)
    linear = not places["by_entry"] and all(_is_linear(term) for term in Add.make_args(base))
    return Condition(name, statement, "lra." if interval.excludes_zero and linear else "", base, **places)


def _numerators(found: Sequence[Condition], printer: CoqPrinter) -> list[Condition]:
    """What is left of a denominator ``p/q``, which is not zero, once q has gone: no proof meets it otherwise."""
    known: list[Condition] = []
    facts = " ".join(f"{used}." for each in found if (used := each.used("n", "i")))
    for each in found:
        if each.is_sign or each.is_decay or not (each.by_entry and each.by_step):
            continue
        above, below = parts_of(each.about)
        if below.is_Rational or above.is_Rational or generators_in([below]):
            continue
        proof = (
            f"intros n i. {facts} intro Z. apply ({each.name} n i). transitivity (({printer.source(above)}) / "
            f"({printer.source(below)})); [closes | rewrite Z; apply Rmult_0_l]."
        )
        name, places = f"above{len(known) + 1}", _places(above, printer)
        known.append(Condition(name, f"{printer.source(above)} <> 0", proof, above, **places))
    return known


def parts_of(number: Expr) -> tuple[Expr, Expr]:
    """Numerator and denominator, with powers of the step as they are written."""
    kept: dict[Expr, Expr] = {}
    back: dict[Expr, Expr] = {}
    for power in number.atoms(Pow):
        if not power.exp.is_number:
            symbol, is_below = Dummy(), told_apart(power.exp)[0] == 0
            kept[power], back[symbol] = (1 / symbol, 1 / power) if is_below else (symbol, power)
    above, below = fraction(together(number.xreplace(kept)))
    return above.xreplace(back), below.xreplace(back)


def _is_followed(base: Expr, ranges: Ranges) -> bool:
    """Whether it is positive by its ranges; powers of 3 below a fraction are not followed by the tactics."""
    grows = (
        part.base.is_Rational and abs(part.base) > 1 and STEP in part.free_symbols for part in base.atoms(Pow)
    )
    return bounds(base, ranges).is_positive and not any(grows)


def _is_linear(term: Expr) -> bool:
    rest = term.as_coeff_Mul()[1]
    return rest == S.One or isinstance(rest, Symbol)


def _bias(base: Expr, decays: tuple[Expr, ...]) -> str:
    """The proof that ``1 - decay^m`` is not zero, m >= 1; empty for another base."""
    power = 1 - base
    if not isinstance(power, Pow) or power.base not in decays:
        return ""
    above, below = told_apart(power.exp)
    if below != 0 or above.as_coeff_Add()[0] < 1:
        return ""
    fades = f"fades{decays.index(power.base) + 1}"
    return f"intros n. apply not_eq_sym, Rlt_not_eq, bias_positive; [exact {fades} | lia]."
