"""The rule for a larger batch as text and as data: ``symmem scaling``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sympy import Expr, Rational, Symbol, latex

from symmem.algebra.results import Missing, Sentence, present
from symmem.declaration.exact import exact_number
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.batch_scaling import BatchScaling, ScalingRule, batch_scaling, exponents
from symmem.derivation.derivation import derive
from symmem.documents.columns import Style, table, wrapped
from symmem.errors import DeclarationError, quote
from symmem.notation.decimals import decimal
from symmem.records import record

Values = Mapping[Symbol, Rational]
PLAIN, WITH_MEMORY = "With the decays as they are", "With memory as long in samples"
_NOISE = "The noise of a batch has to be large beside the gradient, entry by entry: there the rule is of leading order."
_SENSE = (
    "Drift and diffusion of the stochastic equation in the time of samples stay as they are, to leading order in h: "
    "K times the batch, 1/K of the steps, 1/K of the variance."
)
_SHORT = "It is of leading order in 1 - beta: a memory of many steps before and after."


@record(frozen=True)
class Scaling:
    """The rules of one optimizer, for a factor, at values of its parameters."""

    optimizer: Optimizer
    rules: BatchScaling
    factor: Rational
    values: Values


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


def changes(rule: ScalingRule, factor: Rational, values: Values) -> tuple[Change, ...] | Missing:
    """lr as a factor, then every parameter that moves; refused where a memory would be shorter than a step."""
    found = [Change("lr", None, factor**rule.rate, _power(rule.rate))]
    for decay in rule.decays:
        before, after = values[decay], 1 - factor * (1 - values[decay])
        if after <= 0:
            most = _number(1 / (1 - before))
            words = (
                f"{decay.name} = {_number(before)} remembers {most} steps, so that K has to be below {most}"
            )
            return Missing(Sentence.of(words))
        found.append(Change(decay.name, before, after, f"1 - {decay.name} times K"))
    found += [
        Change(symbol.name, values[symbol], values[symbol] * factor**power, _power(power))
        for symbol, power in rule.parameters
    ]
    return tuple(found)


def _power(power: Rational) -> str:
    if power == 1:
        return "times K"
    return f"times K^{power}" if power.is_Integer and power > 0 else f"times K^({power})"


def _number(value: Expr) -> str:
    return decimal(value) if isinstance(value, Rational) else f"{float(value):.6g}"


def scaling_text(told: Scaling, style: Style) -> str:
    """Both rules with their numbers, and what they rest on."""
    lines = [f"{told.optimizer.title}: K = {_number(told.factor)} times the batch, 1/K of the steps"]
    for title, rule in ((PLAIN, told.rules.plain), (WITH_MEMORY, told.rules.with_memory)):
        found = rule if isinstance(rule, Missing) else changes(rule, told.factor, told.values)
        lines += ["", title]
        if isinstance(found, Missing) or isinstance(rule, Missing):
            lines += wrapped(f"No rule: {found}.", style.width, "  ", "  ")
            continue
        lines += table([_row(change, style) for change in found], "    ")
        for note in (*([_NOISE] if rule.needs_noise else []), *([_SHORT] if rule.decays else [])):
            lines += wrapped(note, style.width, "  - ", "    ")
    return style.plain("\n".join([*lines, "", *wrapped(_SENSE, style.width, "", "")]) + "\n")


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
    found = rule if isinstance(rule, Missing) else changes(rule, told.factor, told.values)
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
