"""No report assumes that something stays bounded which grows, nor concludes from it: floats at far steps decide."""

from __future__ import annotations

from math import cos, exp, log, sqrt

import pytest

import symmem
from symmem import Momentum, Optimizer

WORDS = {"cos": cos, "exp": exp, "log": log, "sqrt": sqrt, "min": min, "max": max, "beta": 0.5}
PARAMETERS = {
    "W": (100.0, "(0, inf)"),
    "p": (0.75, "(-inf, inf)"),
    "c": (0.25, "[0, inf)"),
    "z": (0.0, "(-inf, inf)"),
}
GROWING = ["(1 - n/W)**2", "n + 1", "sqrt(n + 1)", "max(1, n/W)", "(2 + beta)**n", "1 - n/W", "n**2/(n + 1)"]
SIGNED = ["(-1)**n*(n + 1)", "n*(1 + (-1)**n)", "(-2)**n + 2**n", "cos(0)*(-3/2)**n"]
AT_DEFAULTS = ["n**p", "exp(c*n)", "(1 + p)**n", "log(n + 2)**(2 + p)"]
BOUNDED = ["1/(n + 1)", "cos(n)", "max(0, 1 - n/W)", "min(1, n/W)", "1 + cos(n)", "n/(n + W)", "beta**n + 1"]
BOUNDED += ["(-1)**n*n/(n + 2)", "(n*z)**2 + 1", "(1 - p)**n", "(-2)**n*(1/2)**n", "exp(-c*n)"]


def declared(where: str, factor: str) -> Optimizer:
    """With the factor as the rate, or as b."""
    names = set(compile(factor, "factor", "eval").co_names) & set(PARAMETERS)
    used: dict[str, object] = {"beta": "0.5"}
    for name in sorted(names):
        used[name] = {"default": PARAMETERS[name][0], "range": PARAMETERS[name][1]}
    memory = Momentum("grad", "beta", factor if where == "b" else "1 - beta")
    return Optimizer("grown", "m1", (memory,), used, schedule=factor if where == "rate" else None)


@pytest.mark.parametrize("where", ["rate", "b"])
@pytest.mark.parametrize("factor", GROWING + SIGNED + AT_DEFAULTS + BOUNDED)
def test_what_grows_is_not_assumed_to_be_bounded(where: str, factor: str) -> None:
    values_of_parameters = {name: value for name, (value, _) in PARAMETERS.items()}
    is_growing = factor in GROWING + SIGNED + AT_DEFAULTS
    values = [
        abs(
            eval(factor, {**WORDS, **values_of_parameters, "n": float(n), "__builtins__": {}})
        )  # the text is ours, from the lists above
        for n in (1, 200, 700)
    ]
    assert (values[2] > 1.5 * values[1] > 0) == is_growing or "cos" in factor
    derived = symmem.derive(declared(where, factor))
    assumed = [each for each in derived.assumptions if "stays bounded" in str(each)]
    concluded = [each for each in derived.conclusions if "the iteration of step n" in str(each)]
    told = [each for each in derived.unknown if "grows without bound" in str(each)]
    if is_growing:
        assert told
        assert ("at the default values" in str(told[0])) or factor not in AT_DEFAULTS
        assert not assumed
        assert not concluded
    else:
        assert not told
        assert concluded
    assert not any("grown: " in str(each) for each in derived.unknown)
