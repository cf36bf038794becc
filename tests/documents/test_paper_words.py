"""The words of a paper: assumptions that are used, reasons without a name, statements with their proofs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from printed import told
from sympy import Integer, Sum, nan, zoo
from truth import load

import symmem
from symmem.algebra.atoms import AGO, PAST, STEP
from symmem.algebra.results import Missing
from symmem.algebra.symbols import CHANGE
from symmem.declaration.optimizer import Momentum
from symmem.derivation.past.steps import written
from symmem.documents.columns import Style
from symmem.documents.paper.example import read_at
from symmem.documents.paper.section import paper_section
from symmem.documents.straight_line import straight_section
from symmem.documents.terminal import terminal_text
from symmem.notation.formula import Atom, Formula, Number
from symmem.notation.statement import ONE, N, added, difference
from symmem.output.rendering import templates_folder


def test_an_assumption_on_decays_stands_where_a_formula_divides_by_their_difference() -> None:
    """AggMo is written by its sums, which have no pole at equal decays; the closed form of the small one has."""
    assert any(each.pole is not None for each in told(load("aggmo")).assumptions)
    assert "is not 0" not in paper_section(told(load("aggmo")))
    two = symmem.Optimizer(
        name="two",
        phi="m1 + m2",
        momentum=[{"g": "grad", "beta": "p", "b": "1"}, {"g": "theta", "beta": "q", "b": "1"}],
        parameters={"p": {"default": 0.5, "range": "[0, 1)"}, "q": {"default": 0.25, "range": "[0, 1)"}},
    )
    # The weights of NovoGrad's sums, in its lemma and its proof, are divided by this difference; its M is not.
    assert r"$\beta_2 - \beta_1$ is not 0" in paper_section(told(load("novograd")))
    poles = [each.pole for each in told(two).assumptions if each.pole is not None]
    section = paper_section(told(two))
    assert poles
    assert ("is not 0" in section) == bool(re.search(r"frac\{.*\}\{.*[pq] - [pq].*\}", section))


@pytest.mark.parametrize("name", ["novograd", "adopt", "grokfast-adamw", "adashift", "adan"])
def test_what_a_proof_divides_by_is_assumed_not_to_be_0(name: str) -> None:
    """Every decay that is not assumed to be another than 0 may be 0: all that the steps write has a value there."""
    account = told(load(name))
    assert account.lemma is not None
    assumed = {each.pole for each in (*account.assumptions, *account.lemma.assumptions)}
    method = symmem.derive(load(name)).method
    decays = {decay for channel in method.channels for decay in channel.kernel.decays if decay.is_Symbol}
    assert decays
    for decay in decays - assumed:
        values = {**method.defaults, decay: Integer(0), STEP: Integer(5), PAST: Integer(2), AGO: Integer(3)}
        for formula in written(account.lemma.steps):
            assert not formula.subs(values).has(nan, zoo), (decay, formula)


@pytest.mark.parametrize("name", ["laprop", "adopt"])
def test_a_straight_line_is_summed_over_the_lag_of_which_its_lead_speaks(name: str) -> None:
    """By k; nothing else is changed in it."""
    derivation = symmem.derive(load(name))
    account = told(load(name))
    assert account.straight is not None
    section = straight_section(account)
    assert section is not None
    update, change = section.equations[-1].value, section.equations[0].value
    (index,) = {each.limits[0][0] for each in derivation.limit_straight.atoms(Sum)}
    assert {each.limits[0][0] for each in update.atoms(Sum)} == {AGO}
    assert (update.xreplace({AGO: index, CHANGE: change}) - derivation.limit_straight).expand() == 0


@pytest.mark.parametrize(
    ("variable", "step"),
    [
        (Momentum("grad - m1", "q", "1"), added(difference(N, Atom("k")), ONE)),
        (Momentum("grad - m1", "0", "1"), added(N, ONE)),
        (Momentum("grad - m1", delay=1, b="1"), N),
        (Momentum("grad - m1", delay=3, b="1"), difference(N, Number(2))),
    ],
    ids=["k steps ago", "now", "one step ago", "three steps ago"],
)
def test_a_variable_is_read_at_the_step_of_its_reader(variable: Momentum, step: Formula) -> None:
    """``m^(n+1)`` has seen the iterate n: at ``theta^(n-k)`` it is ``m^(n-k+1)``"""
    assert read_at(variable) == step


def test_no_reason_names_its_optimizer_again(tmp_path: Path) -> None:
    """An error says whose it is; a section of a paper is about one."""
    (tmp_path / "odd.toml").write_text(
        "name = 'odd'\nphi = 'm1'\n[[momentum]]\ng = 'grad'\nbeta = '1/2'\nb = 'n + 1'\n", encoding="utf-8"
    )
    account = told(load(str(tmp_path / "odd.toml")))
    assert isinstance(account.limit, Missing)
    assert str(account.limit).startswith("odd: ")
    assert "odd: " not in paper_section(account).replace("% odd: ", "")
    assert "odd: " not in terminal_text(account, Style())


@pytest.mark.parametrize(
    ("name", "order", "is_proved"), [("heavyball", 1, True), ("adamw", 1, True), ("heavyball", 2, False)]
)
def test_the_start_has_a_proof_or_is_a_remark(name: str, order: int, is_proved: bool) -> None:
    section = paper_section(told(load(name), order))
    kind = "corollary" if is_proved else "remark"
    _, _, behind = section.partition(rf"\begin{{{kind}}}[The start]")
    assert behind
    assert behind.partition(rf"\end{{{kind}}}")[2].lstrip().startswith(r"\begin{proof}") == is_proved


def test_no_heading_is_one_of_the_class() -> None:
    """IEEEtran puts a number before a paragraph's heading and a colon behind its dot."""
    folder = templates_folder() / "latex"
    texts = [path.read_text(encoding="utf-8") for path in folder.iterdir()]
    assert len(texts) > 10
    assert not any(r"\paragraph" in text for text in texts)


def test_words_about_delays_are_true_of_every_delay() -> None:
    """One variable began with its first value and the other with 0; the d of a delay was that of the start, in bold."""
    later = symmem.Optimizer(
        name="later",
        phi="m1 + m2",
        momentum=[{"g": "grad", "delay": 3}, {"g": "grad", "delay": 1, "start": 0}],
    )
    section = paper_section(told(later))
    (note,) = (line for line in section.splitlines() if line.startswith("A delay"))
    assert r"\smmbd" not in note
    assert "is 0 where the table says so" in note
    _, _, behind = section.partition("stays a finite sum")
    assert behind
    sentence = behind.partition(r"\emph{The closed form.}")[0]
    assert "decay like" not in sentence  # a delay has no decay
    assert r"\begin" not in sentence
    alone = symmem.Optimizer(name="alone", phi="m1", momentum=[{"g": "grad", "delay": 3}])
    assert "0 where" not in paper_section(told(alone))


def test_a_potential_and_the_smoothness_of_an_open_function_are_told_before_they_are_used() -> None:
    """The results had a letter K that nothing introduced; (C1) asks for continuous derivatives, and f had but some."""
    held = symmem.Optimizer(
        name="held",
        phi="f(m1)",
        momentum=[{"g": "grad", "beta": "0.5", "b": "1"}],
        functions={"f": {"potential": "K"}},
    )
    before, lemma, behind = paper_section(told(held)).partition(r"\begin{lemma}")
    assert "K(" in lemma + behind
    assert "a potential $K$" in before
    assert "$f$ is twice continuously differentiable" in before
    assert "$f$ is smooth enough" in behind


@pytest.mark.parametrize("name", ["aggmo", "lion", "adan", "adamw"])
def test_the_limit_of_a_sum_that_stays_is_proved(name: str) -> None:
    """AggMo's M is written with the sums S over all past steps, and its limit was said to be that of its powers."""
    section = paper_section(told(load(name)))
    _, _, lemma = section.partition(r"\begin{lemma}")
    statement = lemma.partition(r"\end{lemma}")[0]
    _, _, proof = section.partition(r"\begin{corollary}[The limit of many steps]")
    stays = r"\sum_{s = 0}^{n - 1}" in statement
    assert ("In a sum over past steps that stays" in proof) == stays
