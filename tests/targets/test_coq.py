"""The Coq file, checked by coqc: theorems of several kinds, their axioms, broken numbers, and names that Coq has."""

from __future__ import annotations

import re
from collections import Counter
from math import prod
from pathlib import Path

import pytest
from coq_runs import assert_accepted, broken, numbers_of, run
from machine import needs
from sympy import Expr, Integer, Max, Min, Rational, Sum, symbols

import symmem
from symmem.algebra.atoms import STEP
from symmem.cli.exits import ended
from symmem.declaration.names import check_name
from symmem.derivation.gains import gains, limit_gains
from symmem.errors import SymmemError
from symmem.targets.coq.extent import Extent
from symmem.targets.coq.fading import Fading, fading_terms, without_fading
from symmem.targets.coq.module import coq_file, proved_file
from symmem.targets.coq.waiting import later

DOCS = Path(__file__).parents[2] / "docs"


def test_coqc_accepts(tmp_path: Path) -> None:
    """Closed sums, roots and bias corrections; below heavy ball, and an update whose sums stay."""
    assert_accepted(coq_file(symmem.derive("adamw")), tmp_path)


@pytest.mark.prove
@pytest.mark.parametrize("name", symmem.zoo())
def test_coqc_accepts_the_zoo(name: str, tmp_path: Path) -> None:
    assert_accepted(coq_file(symmem.derive(name)), tmp_path)


def places(text: str, count: int) -> list[re.Match[str]]:
    """So many of the numbers, from the first to the last."""
    found = numbers_of(text)
    return [found[position * (len(found) - 1) // (count - 1)] for position in range(count)]


def test_a_wrong_number_is_rejected(tmp_path: Path) -> None:
    """In the gain, in the middle, and in the last row of the table of trees."""
    text = coq_file(symmem.derive("heavyball"))
    for position, number in enumerate(places(text, 3)):
        assert run(broken(text, number), tmp_path, f"broken{position}").returncode != 0, number


@pytest.mark.prove
@pytest.mark.parametrize(
    "name",
    [
        "heavyball",
        "adamw",
        "nesterov",
        "qhm",
        "signum",
        "aggmo",
        "adams-bashforth",
        "sgd-warmup",
        "pid",
        "muon",
        "adan",
        "ademamix",
        "accsgd",
        "pnm",
        "lars",
        "optimistic-adam",
        "delayed-gd",
    ],
)
def test_twenty_wrong_numbers_are_rejected(name: str, tmp_path: Path) -> None:
    text = coq_file(symmem.derive(name))
    for position, number in enumerate(places(text, 20)):
        assert run(broken(text, number), tmp_path, f"broken{position}").returncode != 0, number


@pytest.mark.parametrize("decay", ["0.9", "0.5"])
def test_decays_that_are_numbers_with_a_bias_correction(decay: str, tmp_path: Path) -> None:
    """What divides is 10 (1 - (9/10)^(n+1)), or 2^(n+1) - 1: not zero, as the fact about the decay says."""
    debiased = f"(1 - {decay})/(1 - {decay}**(n + 1))"
    optimizer = symmem.Optimizer(
        name="numbers",
        phi="m1/sqrt(m2 + eps)",
        momentum=[symmem.Momentum("grad", decay, debiased), symmem.Momentum("grad**2", decay, debiased)],
        parameters={"eps": {"default": 0.5, "range": "(0, inf)"}},
    )
    assert_accepted(coq_file(symmem.derive(optimizer)), tmp_path)


def test_what_remembers_nothing_has_no_number_that_may_be_wrong() -> None:
    """AdamW's decay: its sum over the past is 0, not 0 times something."""
    stated = re.search(r"history3 n i = (.*)\.", coq_file(symmem.derive("adamw")))
    assert stated is not None
    assert stated[1] == "0"


def test_delays_under_a_schedule(tmp_path: Path) -> None:
    """A delay sees the last steps, under any schedule; one step more is rejected."""
    optimizer = symmem.Optimizer(
        name="late",
        phi="2*m1 - m2",
        momentum=[symmem.Momentum("grad", "0", "1"), symmem.Momentum("grad", delay=2, b="c")],
        parameters={"c": {"default": 0.5, "range": "[0, 1]"}},
        schedule="1/(n + 1)",
    )
    text = coq_file(symmem.derive(optimizer))
    seen = "moved (fun s => rate s * F s i) n (Nat.min 2 n)"
    assert text.count(seen) == 1
    assert_accepted(text, tmp_path)
    assert run(text.replace(seen, seen.replace("2 n", "3 n")), tmp_path, "broken").returncode != 0


def test_a_memory_of_a_memory_in_a_function_of_tensors(tmp_path: Path) -> None:
    """The gain and the sum of the nested memory and M from them; a wrong number in its gain is rejected."""
    optimizer = symmem.Optimizer(
        name="nested",
        phi="polar(m2)",
        momentum=[
            symmem.Momentum("grad", delay=1, b="1"),
            symmem.Momentum("2*grad - m1", "beta", "1 - beta"),
        ],
        parameters={"beta": {"default": 0.5, "range": "[0, 1)"}},
    )
    made = proved_file(symmem.derive(optimizer))
    assert made.extent is Extent.ASSEMBLED
    assert_accepted(made.text, tmp_path)
    number = next(
        each for each in numbers_of(made.text) if made.text[: each.start()].rstrip("( ").endswith("=")
    )
    assert run(broken(made.text, number), tmp_path, "broken").returncode != 0


@pytest.mark.parametrize(
    ("factor", "phi"),
    [("1", "abs(m1)*sign(m2)"), ("1 - beta", "abs(m1)*sign(m2) + abs(m2)*m1/(1 + abs(m1))")],
)
def test_sizes_and_signs_of_momentum_variables(factor: str, phi: str, tmp_path: Path) -> None:
    """On the frozen point the size of m is its gain times that of g; a wrong number in F is rejected."""
    optimizer = symmem.Optimizer(
        name="sizes",
        phi=phi,
        momentum=[symmem.Momentum("grad", "beta", factor), symmem.Momentum("2*grad", "gamma", "1 - gamma")],
        parameters={name: {"default": 0.5, "range": "[0, 1)"} for name in ("beta", "gamma")},
    )
    text = coq_file(symmem.derive(optimizer))
    assert_accepted(text, tmp_path)
    claimed = re.search(r"^Theorem F_closed : .*?=", text, re.M | re.S)
    assert claimed is not None
    number = next(each for each in numbers_of(text) if each.start() > claimed.end())
    assert run(broken(text, number), tmp_path, "broken").returncode != 0


@pytest.mark.prove
def test_the_zoo_is_stated_as_the_documents_say() -> None:
    """M and its limit are theorems of every entry whose sums close, and of no other; docs/code.md has the numbers."""
    found = Counter()
    for name in symmem.zoo():
        derivation = symmem.derive(name)
        made = proved_file(derivation)
        extent = made.extent
        closes = isinstance(derivation.M, Expr) and not derivation.M.has(Sum)
        assert closes == (extent in (Extent.CORRECTION, Extent.ASSEMBLED)), name
        assert made.text.count("Theorem M_limit") == (closes and STEP in derivation.M.free_symbols), name
        found[extent] += 1
    said = (DOCS / "code.md").read_text(encoding="utf-8")
    for extent, count in found.items():
        assert re.search(rf"\| {re.escape(extent.value)} \| {count} \|", said), (extent, count)


HARD = (
    "Definition", "forall", "R", "S", "I", "L", "IH", "H", "i", "k", "INR", "Rabs", "total", "past", "gain1", "weight1",
    "kernel1", "vector1", "map1", "after", "gap1", "range1", "fades1", "closes", "radical1", "rho", "known",
    "total_plus", "D2L_ext", "F_terms", "Type", "everything",
)  # fmt: skip


def test_names_that_coq_has(tmp_path: Path) -> None:
    """Each stands in a number of the method, whose sums stay; the title would end a comment and open a string."""
    chosen = [name for name in HARD if is_free(name)]
    assert len(chosen) > 20
    optimizer = symmem.Optimizer(
        name="odd",
        title='Odd *) "(* Qed',
        phi="m1/sqrt(m1**2 + 1) + m2",
        momentum=[
            symmem.Momentum("grad", chosen[0], f"1 - {chosen[0]}"),
            symmem.Momentum("theta", "0", " + ".join(chosen[1:])),
        ],
        parameters={name: {"default": 0.5, "range": "[0, 1)"} for name in chosen},
    )
    assert_accepted(coq_file(symmem.derive(optimizer)), tmp_path)


def is_free(name: str) -> bool:
    try:
        check_name(name)
    except SymmemError:
        return False
    return True


def test_what_is_left_out_is_said() -> None:
    said = {name: proved_file(symmem.derive(name)) for name in ("heavyball", "lion", "laprop", "muon")}
    assert not said["heavyball"].missing
    assert proved_file(symmem.derive("heavyball", order=2)).missing
    assert any("do not close" in each for each in said["lion"].missing)
    assert any("reads momentum variables" in each for each in said["laprop"].missing)
    assert any("joins entries" in each for each in said["muon"].missing)
    assert [said[name].extent for name in said] == [
        Extent.CORRECTION, Extent.UPDATE, Extent.GAINS, Extent.ASSEMBLED,
    ]  # fmt: skip
    for made in said.values():
        assert all(each.partition(":")[0] in made.text for each in made.missing)


def added_up(terms: tuple[Fading, ...], at: dict[Expr, Expr]) -> Expr:
    n = at[STEP]
    return sum(
        term.factor.subs(at)
        * prod(decay.subs(at) ** (n * e) for decay, e in term.powers)
        / prod((1 - decay.subs(at) ** (n + count)) ** e for (decay, count), e in term.below)
        for term in terms
    )


@pytest.mark.parametrize("name", ["heavyball", "adam", "nesterov", "aggmo", "accsgd", "pnm", "muon-torch"])
def test_what_fades_is_the_difference_to_the_limit(name: str) -> None:
    """By numbers: the terms of the bound add up to ``gain - limit``"""
    method = symmem.derive(name).method
    decays = frozenset(decay for channel in method.channels for decay in channel.kernel.decays)
    for gain, limit in zip(gains(method), limit_gains(method), strict=True):
        terms = fading_terms(gain, decays)
        assert terms is not None
        for n in (0, 3, 17):
            at = method.defaults | {STEP: Integer(n)}
            assert added_up(terms, at) == gain.subs(at) - limit.subs(at)


def test_what_fades_beside_signs_later_denominators_and_quotients() -> None:
    """By numbers; what does not fade is the limit, and where it moves there is none."""
    x, y = symbols("x y")
    decays = frozenset((x, x / y))
    number = (2 + (-1) ** STEP * x ** (2 * STEP)) / (1 - x ** (STEP + 2)) ** 2 + STEP * x ** (STEP - 1)
    for formula, limit in ((number, 2), (3 + x ** (STEP + 1) * y**-STEP, 3), (x**STEP, 0)):
        terms = fading_terms(formula, decays)
        assert terms is not None
        assert without_fading(formula, decays) == limit
        for n in (1, 2, 5):
            at = {x: Rational(1, 3), y: Rational(4, 3), STEP: Integer(n)}
            assert added_up(terms, at) == formula.subs(at) - limit
    assert without_fading(STEP + x**STEP, decays) is None
    for rough in ((-1) ** STEP + x**STEP, y**STEP, y**-STEP + x**STEP, 1 / (1 - x**STEP)):
        assert fading_terms(rough, decays) is None


def test_from_which_step_a_delay_sees_its_past() -> None:
    """By numbers, from there on; one step before it, one of the cases was another."""
    for formula, expected in (
        (Min(4, STEP), 4),
        (Max(0, STEP - 1) * STEP + Min(3, STEP), 3),
        (2**STEP, 0),
        (Max(0, STEP - 2) + Max(1, STEP), 2),
    ):
        start, value = later(formula)
        assert start == expected
        assert not value.has(Min, Max)
        for n in (0, 1, 7):
            assert value.subs(STEP, n) == formula.subs(STEP, n + start)
    assert later(Min(2 * STEP, 5))[0] == 0  # not of this form: left as it is


@pytest.mark.parametrize("name", ["delayed-gd", "optimistic-gd"])
def test_a_delay_is_at_its_limit_from_a_step_on(name: str, tmp_path: Path) -> None:
    """M is its limit exactly, from the step on that the delay has seen; one step earlier is rejected."""
    text = coq_file(symmem.derive(name))
    (begins,) = re.findall(
        r"^Theorem M_limit : forall \(n : nat\) \(i : entry\), M \(n \+ (\d)\)", text, re.M
    )
    assert_accepted(text, tmp_path)
    early = text.replace(f"M (n + {begins})", f"M (n + {int(begins) - 1})")
    assert run(early, tmp_path, "broken").returncode != 0


def test_certify_says_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And leaves nothing where it was called: coqc keeps its caches in the folder in which it runs."""
    needs("coqc")
    monkeypatch.chdir(tmp_path)
    assert ended(["derive", "heavyball", "--certify", "--timeout", "600"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("heavyball: coqc accepts 15 theorems")
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_certify_without_coqc(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert ended(["derive", "gd", "--certify"]) == 2
    assert "apt-get install coq" in capsys.readouterr().err
