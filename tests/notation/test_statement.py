"""Statements, as sentences make them: each node spelled in the four alphabets."""

from __future__ import annotations

import pytest
from sympy import Rational, Symbol, oo

from symmem.algebra.atoms import GRAD, LR
from symmem.algebra.intervals import Interval as Range
from symmem.algebra.results import Bound, Named, Regime, Start, Steps
from symmem.documents.paper.macros import PAPER
from symmem.notation.decimals import number_formula
from symmem.notation.formula import (
    Absolute,
    Atom,
    BigSum,
    Decimal,
    Formula,
    Fraction,
    Gradient,
    Number,
    Power,
)
from symmem.notation.latex import latex
from symmem.notation.statement import (
    ONE,
    THETA,
    ZERO,
    Along,
    Applied,
    Assignment,
    AtStep,
    Bracketed,
    Equality,
    H,
    Indexed,
    Iterate,
    Less,
    Letter,
    Listed,
    N,
    Velocity,
    Word,
    added,
    difference,
    series,
    times,
)
from symmem.notation.text import text
from symmem.notation.writable import Writable

NAMES = {"eps": r"\varepsilon", "beta1": r"\beta_1", "F": r"\phi"}
"""A parameter called F does not change what the theory calls F."""
F, M, K = Letter("F"), Letter("M"), Atom("k")
STEP = Assignment(THETA, difference(THETA, times(H, Bracketed(added(F, M)))))
DECAYED = added(times(Letter("P"), Gradient(Letter("modified loss"))), times(Atom("eps"), THETA))
MEMORY = times(
    Letter("b"),
    BigSum(K, ZERO, N, times(Power(Letter("beta"), K), Applied(Letter("g"), (Iterate(difference(N, K)),)))),
)

SPELLED: dict[str, tuple[Writable, str, str, str, str]] = {
    "step": (
        STEP, "θ ← θ − h [F + M]", "theta <- theta - h [F + M]",
        r"\boldsymbol{\theta} \leftarrow \boldsymbol{\theta} - h [\boldsymbol{F} + \boldsymbol{M}]",
        r"\smmbtheta \leftarrow \smmbtheta - \smmlr [\smmbF + \smmbM]",
    ),
    "decay": (
        times(H, DECAYED), "h (P ∇L̃ + ε θ)", "h (P grad L~ + eps theta)",
        r"h (P \nabla \tilde{\mathcal{L}} + \varepsilon \boldsymbol{\theta})",
        r"\smmlr (\smmprecond \nabla \smmmodloss + \varepsilon \smmbtheta)",
    ),
    "equation": (
        Equality(Velocity(), series("G", range(3))), "θ′ = G₀ + h G₁ + h² G₂", "theta' = G_0 + h G_1 + h^2 G_2",
        r"\dot{\boldsymbol{\theta}} = \boldsymbol{G}_{0} + h \boldsymbol{G}_{1} + h^{2} \boldsymbol{G}_{2}",
        r"\dot{\smmbtheta} = \smmbG_{0} + \smmlr \smmbG_{1} + \smmlr^{2} \smmbG_{2}",
    ),
    "step n": (AtStep(F, N), "F⁽ⁿ⁾", "F^(n)", r"\boldsymbol{F}^{(n)}", r"\smmbF^{(n)}"),
    "a step": (AtStep(M, Number(12)), "M⁽¹²⁾", "M^(12)", r"\boldsymbol{M}^{(12)}", r"\smmbM^{(12)}"),
    "limit": (AtStep(F, Atom("oo")), "F", "F", r"\boldsymbol{F}^{(\infty)}", r"\smmbF^{(\infty)}"),
    "iterate": (
        Iterate(added(N, ONE)), "θₙ₊₁", "theta_{n+1}", r"\boldsymbol{\theta}_{n + 1}", r"\smmbtheta^{(n + 1)}",
    ),
    "memory": (
        MEMORY, "b Σₖ₌₀ⁿ βᵏ g(θₙ₋ₖ)", "b sum_{k=0}^{n} beta^k g(theta_{n-k})",
        r"b \sum_{k = 0}^{n} \beta^{k} g(\boldsymbol{\theta}_{n - k})",
        r"b \sum_{k = 0}^{n} \beta^{k} \smmgfun(\smmbtheta^{(n - k)})",
    ),
    "at a point": (
        series("F", range(2), THETA), "F₀(θ) + h F₁(θ)", "F_0(theta) + h F_1(theta)",
        r"\boldsymbol{F}_{0}(\boldsymbol{\theta}) + h \boldsymbol{F}_{1}(\boldsymbol{\theta})",
        r"\smmbF_{0}(\smmbtheta) + \smmlr \smmbF_{1}(\smmbtheta)",
    ),
    "along": (Along(Letter("D"), Letter("v")), "D[v]", "D[v]", "D[v]", r"D[\smmbv]"),
    "bound": (Bound(LR**2), "O(h²)", "O(h^2)", "O(h^{2})", r"O(\smmlr^{2})"),
    "regime": (
        Regime((Symbol("eps"), Symbol("beta1"))), "ε, β₁ → 0", "eps, beta1 -> 0", r"\varepsilon, \beta_1 \to 0",
        r"\varepsilon, \beta_1 \to 0",
    ),
    "range": (Range(Rational(0), oo, False, True), "[0, ∞)", "[0, inf)", r"[0, \infty)", r"[0, \infty)"),
    "open": (
        Range(-oo, Rational(1, 2), True, False), "(−∞, 0.5]", "(-inf, 0.5]", r"(-\infty, 0.5]", r"(-\infty, 0.5]",
    ),
    "g_l": (Named("g", "l"), "gₗ", "g_l", r"g_{\ell}", r"\smmgfun_{\ell}"),
    "Phi": (Named("Phi"), "Φ", "Phi", r"\Phi", r"\smmupdate"),
    "theta_0": (Named("theta", 0), "θ₀", "theta_0", r"\boldsymbol{\theta}_{0}", r"\smmbtheta^{(0)}"),
    "start": (
        Start(2), "θ₀ + h d₁ + h² d₂", "theta_0 + h d_1 + h^2 d_2",
        r"\boldsymbol{\theta}_{0} + h \boldsymbol{d}_{1} + h^{2} \boldsymbol{d}_{2}",
        r"\smmbtheta^{(0)} + \smmlr \smmbd_{1} + \smmlr^{2} \smmbd_{2}",
    ),
    "radius": (
        Less(Absolute(times(H, Letter("a"))), Decimal("0.25")), "|h a| < 0.25", "|h a| < 0.25",
        r"\lvert h a \rvert < 0.25", r"\smmabs{\smmlr a} < 0.25",
    ),
    "steps": (Steps("T"), "n ≤ T/h", "n <= T/h", r"n \leq \frac{T}{h}", r"n \leq \frac{T}{\smmlr}"),
    "late steps": (
        Steps("C", late=True), "n ≥ C log(1/h)", "n >= C log(1/h)",
        r"n \geq C \log\left( \frac{1}{h} \right)", r"n \geq C \log\left( \frac{1}{\smmlr} \right)",
    ),
    "words": (
        Listed((Letter("mu"), Word("series"))), "μ, series", "mu, series",
        r"\mu, \mathrm{series}", r"\mu, \mathrm{series}",
    ),
    "tiny": (Decimal("1", -8), "10⁻⁸", "1e-8", "10^{-8}", "10^{-8}"),
    "small": (Decimal("1.5", -7), "1.5·10⁻⁷", "1.5e-7", r"1.5 \cdot 10^{-7}", r"1.5 \cdot 10^{-7}"),
    "expression": (GRAD, "∇L", "grad L", r"\nabla \mathcal{L}", r"\nabla \smmloss"),
    "index": (Indexed(F, N), "Fₙ", "F_n", r"\boldsymbol{F}_{n}", r"\smmbF_{n}"),
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLED)
def test_a_statement_is_spelled_in_every_alphabet(name: str) -> None:
    written, *expected = SPELLED[name]
    spelled = [
        text(written, names=NAMES),
        text(written, names=NAMES, unicode=False),
        latex(written, names=NAMES),
        latex(written, names=NAMES, macros=PAPER),
    ]
    assert spelled == expected
    assert spelled[1].isascii()


def test_sums_and_products_are_flat() -> None:
    assert added(F, added(M, THETA)) == added(added(F, M), THETA)
    assert times(H, times(F, M)) == times(times(H, F), M)
    assert added(F) == times(F) == F


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Rational(9, 10), Decimal("0.9")),
        (Rational(1, 10**8), Decimal("1", -8)),
        (Rational(1, 3), Fraction(Number(1), Number(3))),
        (Rational(7), Decimal("7")),
        (0.12345678, Decimal("0.123457")),
    ],
)
def test_a_number_as_a_person_types_it(value: Rational | float, expected: object) -> None:
    assert number_formula(value) == expected


def test_a_node_without_a_spelling_is_an_error() -> None:
    class Unknown(Formula):
        """Nobody can write this."""

    for spell in (text, latex):
        with pytest.raises(TypeError, match="Unknown"):
            spell(Unknown(), names={})
