"""The rules for a larger batch as LaTeX, with their proof: ``symmem scaling NAME --batch K --format latex``.

The exponents are those of :mod:`symmem.derivation.noise.batch_scaling`, the words stand in ``scaling.tex.jinja``.
"""

from __future__ import annotations

from sympy import Expr, Rational, Symbol, latex

from symmem import __version__
from symmem.algebra.atoms import THETA
from symmem.algebra.results import Missing
from symmem.derivation.noise.batch_scaling import HALF, ScalingRule
from symmem.documents.latex_spelling import LatexSpelling
from symmem.documents.paper.escaping import escape
from symmem.documents.scaling import PLAIN, WITH_MEMORY, Scaling, changes
from symmem.documents.spelling import noise_letter
from symmem.notation.decimals import number_formula
from symmem.output.rendering import render

Values = dict[str, object]


def scaling_latex(told: Scaling) -> str:
    """A fragment for amsmath and amsthm."""
    pairs = ((PLAIN, told.rules.plain), (WITH_MEMORY, told.rules.with_memory))
    rules = [_rule(title, rule, told) for title, rule in pairs]
    return render(
        "latex/scaling.tex.jinja",
        {
            "title": escape(str(told.optimizer.title)),
            "factor": latex(told.factor),
            "K": _letter(told),
            "noise": noise_letter(told.optimizer),
            "version": __version__,
            "rules": rules,
            "decays": any(THETA in momentum.g.free_symbols for momentum in told.optimizer.momentum),
            "proves": any(not rule["reason"] for rule in rules),
        },
    )


def _rule(title: str, rule: ScalingRule | Missing, told: Scaling) -> Values:
    if isinstance(rule, Missing):
        return {"title": title, "reason": escape(str(rule))}
    found = changes(rule, told)
    if isinstance(found, Missing):
        return {"title": title, "reason": escape(str(found))}
    return {
        "title": title,
        "reason": "",
        "rows": _rows(rule, told),
        "needs_noise": rule.needs_noise,
        "with_memory": bool(rule.decays),
        "decays": [LatexSpelling.of(told.optimizer).latex(decay) for decay in rule.decays],
        "rate": _power(rule.rate, told),
        "power": _power(1 - rule.rate, told),
        "scale": _power(HALF - rule.rate, told),
    }


def _rows(rule: ScalingRule, told: Scaling) -> list[Values]:
    """h, the decays, the parameters, with their numbers."""
    spelling, factor = LatexSpelling.of(told.optimizer), told.factor
    rows: list[Values] = [{"symbol": "h", "to": f"{_power(rule.rate, told)} h", "numbers": ""}]

    def numbers(symbol: Symbol, after: Expr) -> str:
        written = (
            number_formula(x if isinstance(x, Rational) else float(x)) for x in (told.values[symbol], after)
        )
        return r" \to ".join(spelling.latex(each) for each in written)

    for decay in rule.decays:
        name = spelling.latex(decay)
        after = 1 - factor * (1 - told.values[decay])
        rows.append(
            {"symbol": name, "to": f"1 - {_letter(told)} (1 - {name})", "numbers": numbers(decay, after)}
        )
    for symbol, power in rule.parameters:
        name = spelling.latex(symbol)
        after = told.values[symbol] * factor**power
        rows.append(
            {"symbol": name, "to": f"{_power(power, told)} {name}", "numbers": numbers(symbol, after)}
        )
    return rows


def _letter(told: Scaling) -> str:
    return told.letter if len(told.letter) == 1 else rf"\mathrm{{{told.letter}}}"


def _power(power: Rational, told: Scaling) -> str:
    """K to this power; nothing for 1."""
    if power in (0, 1):
        return _letter(told) if power == 1 else ""
    return f"{_letter(told)}^{{{power}}}"
