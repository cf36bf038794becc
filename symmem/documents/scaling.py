"""The rule for a larger batch as text and as data: ``symmem scaling``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sympy import Expr, Rational, Symbol, latex

from symmem.algebra.results import Missing, Sentence, present
from symmem.declaration.exact import exact_number
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import derive
from symmem.derivation.noise.batch_scaling import BatchScaling, ScalingRule, batch_scaling, exponents
from symmem.documents.columns import Style, table, wrapped
from symmem.errors import DeclarationError, quote
from symmem.notation.decimals import decimal
from symmem.records import record

Values = Mapping[Symbol, Rational]
PLAIN, WITH_MEMORY = "With the decays as they are", "With memory as long in samples"
_NOISE = (
    "The noise of a batch has to be large beside the gradient, entry by entry, and as likely of either sign: there the "
    "rule is of leading order."
)
_LARGE = "The noise of a batch has to be large beside the gradient, entry by entry: there the rule is of leading order."
_SENSE = (
    "Drift and diffusion of the stochastic equation in the time of samples stay as they are, to leading order in h: "
    "{K} times the batch, 1/{K} of the steps, 1/{K} of the variance."
)
_SHORT = "It is of leading order in {}: a memory of many steps before and after."
_FACTORS = ("K", "Q", "Z", "factor")


@record(frozen=True)
class Scaling:
    """The rules of one optimizer, for a factor, at values of its parameters."""

    optimizer: Optimizer
    rules: BatchScaling
    factor: Rational
    values: Values

    @property
    def letter(self) -> str:
        """Of the factor: the first that no parameter has, as a name or in LaTeX."""
        taken = {*self.optimizer.symbols, *map(str, self.optimizer.symbols.values())}
        return next(letter for letter in _FACTORS if letter not in taken)


@record(frozen=True)
class Change:
    """A parameter before and after; ``rule`` in words."""

    name: str
    before: Expr | None
    after: Expr
    rule: str


def scaling_of(optimizer: Optimizer, batch: str, settings: Mapping[str, str]) -> Scaling:
    """The rules at the defaults and the ``settings``; a value that stands in an exponent is put into the formula."""
    factor = _factor(batch)
    given = {Symbol(name): value for name, value in optimizer.with_values(settings).values}
    fixed = {name: value for name, value in settings.items() if name in exponents(optimizer.phi)}
    one = optimizer.with_values(fixed) if fixed else optimizer
    defaults = {Symbol(parameter.name): parameter.default for parameter in one.parameters}
    rules = present(batch_scaling(derive(one).method))
    return Scaling(one, rules, factor, {**defaults, **given})


def _factor(batch: str) -> Rational:
    try:
        factor = exact_number(batch)
    except DeclarationError:
        factor = Rational(0)
    if factor <= 0:
        raise DeclarationError(f"--batch {quote(batch)}: write a number above 0, such as 4 or 1/2")
    return factor


def changes(rule: ScalingRule, told: Scaling) -> tuple[Change, ...] | Missing:
    """lr as a factor, then every parameter that moves; refused where a memory would be shorter than a step."""
    factor, values, letter = told.factor, told.values, told.letter
    found = [Change("lr", None, factor**rule.rate, _power(rule.rate, letter))]
    for decay in rule.decays:
        before, after = values[decay], 1 - factor * (1 - values[decay])
        if after < 0 or after == 0 != before:
            return Missing(Sentence.of(_too_short(decay.name, before, letter)))
        found.append(Change(decay.name, before, after, f"1 - {decay.name} times {letter}"))
    found += [
        Change(symbol.name, values[symbol], values[symbol] * factor**power, _power(power, letter))
        for symbol, power in rule.parameters
    ]
    return tuple(found)


def _too_short(name: str, decay: Expr, letter: str) -> str:
    """Why a memory cannot last fewer steps."""
    if decay < 0:
        return f"{name} = {_number(decay)} is below 0 and remembers no number of steps"
    if decay == 0:
        return f"{name} = 0 remembers one step, and none is shorter: {letter} has to be at most 1"
    most = _number(1 / (1 - decay))
    return f"{name} = {_number(decay)} remembers {most} steps, so that {letter} has to be below {most}"


def _power(power: Rational, letter: str) -> str:
    if power == 1:
        return f"times {letter}"
    return f"times {letter}^{power}" if power.is_Integer and power > 0 else f"times {letter}^({power})"


def _number(value: Expr) -> str:
    return decimal(value) if isinstance(value, Rational) else f"{float(value):.6g}"


def scaling_text(told: Scaling, style: Style) -> str:
    """Both rules with their numbers, and what they rest on."""
    letter = told.letter
    lines = [
        f"{told.optimizer.title}: {letter} = {_number(told.factor)} times the batch, 1/{letter} of the steps"
    ]
    for title, rule in ((PLAIN, told.rules.plain), (WITH_MEMORY, told.rules.with_memory)):
        found = rule if isinstance(rule, Missing) else changes(rule, told)
        lines += ["", title]
        if isinstance(found, Missing) or isinstance(rule, Missing):
            lines += wrapped(f"No rule: {found}.", style.width, "  ", "  ")
            continue
        lines += table([_row(change, style) for change in found], "    ")
        for note in _notes(rule):
            lines += wrapped(note, style.width, "  - ", "    ")
    sense = wrapped(_SENSE.format(K=letter), style.width, "", "")
    return style.plain("\n".join([*lines, "", *sense]) + "\n")


def _notes(rule: ScalingRule) -> list[str]:
    """What the rule rests on."""
    small = ", ".join(f"1 - {decay.name}" for decay in rule.decays)
    large = _LARGE if rule.decays else _NOISE
    return [*([large] if rule.needs_noise else []), *([_SHORT.format(small)] if rule.decays else [])]


def _row(change: Change, style: Style) -> tuple[str, str, str]:
    arrow = "→" if style.unicode else "->"
    after = _number(change.after)
    shown = f"times {after}" if change.before is None else f"{_number(change.before)} {arrow} {after}"
    return change.name, shown, change.rule


def scaling_data(told: Scaling) -> dict[str, Any]:
    """The same as data; numbers are exact, with their LaTeX."""
    return {
        "schema": 1,
        "optimizer": told.optimizer.name,
        "batch": str(told.factor),
        "decays_kept": _rule_data(told.rules.plain, told),
        "memory_kept": _rule_data(told.rules.with_memory, told),
    }


def _rule_data(rule: ScalingRule | Missing, told: Scaling) -> dict[str, Any]:
    found = rule if isinstance(rule, Missing) else changes(rule, told)
    if isinstance(found, Missing) or isinstance(rule, Missing):
        return {"verdict": "none", "reason": str(found)}
    lr, *others = found
    return {
        "verdict": "found",
        "exponents": {"lr": str(rule.rate), **{symbol.name: str(power) for symbol, power in rule.parameters}},
        "decays": [decay.name for decay in rule.decays],
        "lr_factor": _exact(lr.after),
        "values": {change.name: _exact(change.after) for change in others},
        "needs_noise": rule.needs_noise,
    }


def _exact(value: Expr) -> dict[str, str]:
    return {"sympy": str(value), "latex": latex(value)}
