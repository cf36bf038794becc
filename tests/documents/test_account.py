"""The Account by itself: its parts and their order, what is missing, and that every rendering reads nothing else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, replace

import pytest
from sympy import Expr, Rational, Symbol
from truth import FIRST, load

import symmem
from symmem.algebra.atoms import GRAD, LR, TOTAL, contraction, split_scalar
from symmem.algebra.reals import substituted
from symmem.algebra.results import Missing
from symmem.algebra.symbols import CHANGE
from symmem.derivation import derivation as theory
from symmem.derivation.loss.verdicts import ModifiedLoss, Obstruction
from symmem.derivation.orders.expansion import Expansion, expansion
from symmem.documents import json_form, notebook
from symmem.documents.account import Account, account_of
from symmem.documents.columns import Style
from symmem.documents.comparison import entry
from symmem.documents.comparison.text import comparison_text
from symmem.documents.paper import paper, section
from symmem.documents.paper.fragment import latex_fragment
from symmem.documents.parts import SETTLED, Limit, Part
from symmem.documents.sections import sections
from symmem.documents.straight_line import rows
from symmem.documents.terminal import terminal_text
from symmem.documents.verdict_prose import flow_prose
from symmem.errors import DerivationError
from symmem.notation.decimals import shown as readable
from symmem.notation.latex import latex

UNSETTLED = symmem.Optimizer(
    "growing", "m1", [symmem.Momentum("grad", "beta", "n + 1")], {"beta": {"default": 0.5}}
)
"""The gain grows with n: there is no limit of many steps."""

MAP = "Modified loss inside the gradient map"
LINE = "Straight-line history"
TITLES = {
    "n": [
        "Memoryless iteration",
        "Limit of many steps",
        "Modified loss",
        "Modified equation",
        "Start",
        "Assumptions",
        "Conclusions",
    ],
    "limit": [
        "Limit of many steps",
        "Modified loss",
        "Modified equation",
        "Start",
        "Assumptions",
        "Conclusions",
    ],
    3: ["Memoryless iteration at step n = 3", "Assumptions", "Conclusions"],
}


@pytest.mark.parametrize("at", TITLES)
@pytest.mark.parametrize("name", ["gd", "adamw", "lion-k"])
def test_the_sections_stand_in_the_order_of_the_account(name: str, at: int | str) -> None:
    titles = [part.title for part in sections(account_of(symmem.derive(name), at))]
    assert (LINE in titles) == (name != "gd" and at != 3)  # on a line GD is what it is
    if LINE in titles:
        assert titles.index(LINE) == titles.index("Limit of many steps") + 1
        titles.remove(LINE)
    assert (MAP in titles) == (name == "lion-k" and at != 3)
    if MAP in titles:
        assert titles.index(MAP) == titles.index("Modified loss") + 1
        titles.remove(MAP)
    assert titles == TITLES[at]


def test_the_quadratic_loss_stands_before_the_assumptions() -> None:
    titles = [part.title for part in sections(account_of(symmem.derive("heavyball"), quadratic=True))]
    told = TITLES["n"]
    assert titles == [*told[:3], MAP, *told[3:-2], "Quadratic loss", "Assumptions", "Conclusions"]


@pytest.mark.parametrize("name", FIRST)
def test_the_account_holds_the_derivation(name: str) -> None:
    derivation = symmem.derive(name)
    account = account_of(derivation)
    assert (account.iteration.F, account.iteration.M) == (derivation.F, derivation.M)
    assert (account.limit.F, account.limit.M) == (derivation.limit.F, derivation.limit.M)
    assert account.limit.coefficients == derivation.coefficients
    assert account.modified_loss == (derivation.modified_loss or derivation.obstruction)
    assert account.modified_equation.coefficients == derivation.modified_equation
    assert account.start.shifts == derivation.shift
    assert account.assumptions == derivation.assumptions
    assert account.conclusions == derivation.conclusions
    assert account.unknown == derivation.unknown
    exact = derivation.modified_loss is not None and derivation.modified_loss.regime.is_exact
    assert account.modified_equation.flow == (derivation.flow_loss if exact else None)


def test_what_was_not_asked_for_is_not_there() -> None:
    account = account_of(symmem.derive("adamw"), parts={Part.LIMIT})
    there = {field.name for field in fields(Account) if getattr(account, field.name)}
    assert there == {"optimizer", "order", "at", "limit"}
    with pytest.raises(FrozenInstanceError):
        account.limit = None


def test_a_limit_that_does_not_exist_is_missing_everywhere() -> None:
    account = account_of(symmem.derive(UNSETTLED))
    for part in (account.limit, account.modified_loss, account.modified_equation, account.start):
        assert isinstance(part, Missing)
    assert isinstance(account.iteration.M, Expr)
    told = {part.title: part for part in sections(account)}
    for title in TITLES["n"][1:-2]:
        assert told[title].lead[0] == "There is none: "
        assert told[title].equations == ()
    data = json_form.json_data(account)
    assert data["limit"] == {"memoryless": None, "correction": None}
    assert [data[key] for key in ("F", "G", "shift")] == [None, None, None]
    assert "limit" in data["modified_loss"]["obstruction"]
    written = section.paper_section(account_of(symmem.derive(UNSETTLED), parts=section.PARTS))
    assert "No limit of many steps" in written
    assert comparison_text(symmem.compare([UNSETTLED]).entries, Style()).count("no modified loss: ") == 1


@pytest.mark.parametrize(
    ("optimizer", "order", "at", "quadratic"),
    [
        (UNSETTLED, 1, "limit", False),
        (load("adamw"), 1, -1, False),
        (load("lion"), 3, 2, False),
        (load("adam"), 1, "n", True),
        (load("heavyball").with_values(beta="0.123456789"), 1, 10**7, False),
    ],
)
def test_what_is_asked_for_by_name_and_does_not_exist_is_an_error(
    optimizer: symmem.Optimizer, order: int, at: int | str, quadratic: bool
) -> None:
    with pytest.raises(DerivationError, match=optimizer.name):
        account_of(symmem.derive(optimizer, order), at, quadratic=quadratic)


def test_beyond_second_order_the_update_is_told_without_its_correction() -> None:
    account = account_of(symmem.derive("heavyball", 3))
    assert isinstance(account.iteration.F, Expr)
    assert isinstance(account.iteration.M, Missing)
    assert json_form.json_data(account)["memoryless"]["sympy"] == str(account.iteration.F)


def changed(account: Account) -> tuple[Account, Expr, Expr]:
    """The account with another M and another potential, as nobody derived them."""
    beta = Symbol("beta")
    M, potential = (
        Rational(7, 3) * LR * beta**5 * contraction(GRAD),
        Rational(11, 13) * beta**4 * Symbol("loss"),
    )
    limit = Limit((account.limit.F, M / LR), M)
    loss = replace(account.modified_loss, potential=potential)
    return replace(account, limit=limit, modified_loss=loss), M, potential


RENDERINGS: dict[str, Callable[[Account], str]] = {
    "terminal": lambda account: terminal_text(account, Style(width=200)),
    "fragment": latex_fragment,
    "json": lambda account: json.dumps(json_form.json_data(account)),
    "notebook": notebook.account_html,
    "paper": section.paper_section,
    "comparison": lambda account: comparison_text([entry.Compared(account)], Style(width=200)),
}


@pytest.mark.parametrize("rendering", RENDERINGS)
def test_a_rendering_reads_the_account_alone(rendering: str) -> None:
    """What it says changes with the record, although the derivation behind it says something else."""
    account = account_of(symmem.derive("heavyball"), parts=set(Part) - {Part.QUADRATIC})
    told, M, potential = changed(account)
    before, after = RENDERINGS[rendering](account), RENDERINGS[rendering](told)
    assert before != after
    spelled = {
        "terminal": ("7 h β⁵", "11 β⁴/13 · L"),
        "comparison": ("7 h β⁵", "11 β⁴/13 · L"),
        "json": (json.dumps(str(M)), json.dumps(str(potential))),
    }.get(rendering, (r"\beta^{5}", r"\beta^{4}"))
    for piece in spelled:
        assert piece in after, (piece, after)
        assert piece not in before


@pytest.mark.parametrize(
    ("name", "values"), [("adamw", {"beta1": 0, "beta2": 0}), ("gd", {}), ("rmsprop", {"beta": 0})]
)
def test_a_flow_in_a_limit_alone_is_said_to_be_one_there(name: str, values: dict[str, int]) -> None:
    """Without memory the modified loss of AdamW is exact; its modified equation is a flow as eps -> 0 alone."""
    account = account_of(symmem.derive(load(name).with_values(**values)))
    flow = account.modified_equation.flow
    assert isinstance(flow, ModifiedLoss)
    assert flow.regime.is_exact == (name == "gd")
    assert (flow.regime in flow_prose(flow)) == (name != "gd")


FORMATS: dict[str, Callable[[symmem.Derivation], object]] = {
    "terminal": str,
    "fragment": symmem.Derivation.to_latex,
    "json": lambda d: json_form.json_data(account_of(d, parts=json_form.PARTS)),
    "notebook": lambda d: d._repr_html_(),
    "paper": lambda d: paper.standalone(account_of(d, parts=section.PARTS)),
    "comparison": lambda d: str(symmem.compare([d])),
}


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", ["heavyball", "adamw", "lion-k"])
@pytest.mark.parametrize("form", FORMATS)
def test_each_thing_is_computed_once(
    form: str, name: str, order: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One report: the expansion is made once, every coefficient is assembled once, the modified loss is sought once."""
    counted: Counter[str] = Counter()

    def counting(place: object, function: str) -> None:
        original = getattr(place, function)

        def counted_call(*arguments: object) -> object:
            counted[function] += 1
            return original(*arguments)

        monkeypatch.setattr(place, function, counted_call)

    expansion.cache_clear()
    counting(Expansion, "assembled")
    for function in ("modified_loss", "modified_flow_loss", "shift", "assumptions"):
        counting(theory, function)
    derivation = symmem.derive(name, order)
    FORMATS[form](derivation)
    settled = form in ("terminal", "fragment", "json", "paper")
    coefficients = order + 1
    assert counted["assembled"] == coefficients * (2 if settled else 1)
    assert counted["modified_loss"] == 1
    assert counted["modified_flow_loss"] <= 1
    assert counted["assumptions"] == (1 if settled or form == "notebook" else 0)
    assert counted["shift"] == counted["assumptions"]  # its poles are among them
    assert expansion.cache_info().misses == 1


def test_the_settled_parts_are_those_of_the_limit() -> None:
    account = account_of(symmem.derive("adamw"), "limit")
    parts = {
        Part.SCHEDULE,
        Part.LIMIT,
        Part.STRAIGHT,
        Part.LOSS,
        Part.GRADIENT_MAP,
        Part.EQUATION,
        Part.START,
    }
    assert parts == SETTLED
    assert account.iteration is None
    assert isinstance(account.modified_loss, ModifiedLoss)
    assert isinstance(account_of(symmem.derive("lion-k")).modified_loss, Obstruction)


@pytest.mark.parametrize("name", FIRST)
def test_the_fragment_spells_what_the_account_holds(name: str) -> None:
    account = account_of(symmem.derive(name))
    optimizer, shown = account.optimizer, notebook.account_latex(account)
    for value in account.limit.coefficients:
        assert latex(readable(value), names=optimizer.symbols, functions=optimizer.function_symbols) in shown


def test_the_letter_of_the_straight_line_is_that_of_a_vector() -> None:
    """``global_dot(m2, m3)`` on the line has the sum of the entries of ``grad*d``, no multiple of that of grad."""
    averages = [symmem.Momentum("grad", "1/2", "1/2"), symmem.Momentum("grad**2", "1/3", "2/3")]
    ones = symmem.Momentum("1", "0", "1")
    mine = symmem.Optimizer("mine", "m1/sqrt(global_dot(m2, m3) + 1)", [*averages, ones], {})
    update = theory.derive(mine).limit_straight
    (_, change), (_, written) = rows(update, mine)
    assert substituted(written, {CHANGE: change}) == update
    sums = written.atoms(TOTAL)
    assert any(CHANGE in each.free_symbols for each in sums)
    assert not any(CHANGE in split_scalar(each.args[0])[0].free_symbols for each in sums)
