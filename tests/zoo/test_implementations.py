"""Every entry that names an implementation runs beside it: the same iterates, or a departure that is said."""

from __future__ import annotations

import re
from functools import cache, partial

import optax
import pytest
import pytorch_optimizer
import torch
from pytorch_optimizer.optimizer.muon import adamuon, base
from truth import EVERY, load

from symmem.declaration.optimizer import Optimizer
from symmem.verification import implementations
from symmem.verification.agreement import TOLERANCE, Agreement, agreement
from symmem.verification.problem import SQUARES, Problem, matrix_problem
from symmem.verification.values import felt_values

LOOSER = {
    "adamuon": 5e-3,  # pytorch_optimizer runs the Newton-Schulz iteration in bfloat16: widened below
    "adam-mini": 1e-7,  # pytorch_optimizer keeps its averages in float32
    "moonlight": 5e-3,  # PyTorch runs the Newton-Schulz iteration in bfloat16: widened below
    "muon-torch": 5e-3,  # the same
    "nadam-torch": 1e-9,  # PyTorch keeps the product of the decays in float32
    "nadamw-torch": 1e-9,  # the same
    "normuon": 5e-3,  # as adamuon
    "qhadam": 1e-7,  # pytorch_optimizer keeps the sums of the weights in float32
}
"""Where a library computes in lower precision than float64, what it reaches, and why."""
NAMED = [
    name for name in EVERY if load(name).implementation is not None and load(name).implementation.is_named
]
SAME = [name for name in NAMED if not load(name).implementation.departures]
APART = [name for name in NAMED if load(name).implementation.departures]


@cache
def problem(square: bool = False) -> Problem:
    return matrix_problem(SQUARES) if square else matrix_problem()


def run(name: str, *, felt: bool) -> Agreement:
    optimizer: Optimizer = load(name)
    values = felt_values(optimizer) if felt else None
    tolerance = LOOSER.get(name, TOLERANCE)
    ground = problem(optimizer.implementation.square)
    return agreement(optimizer, optimizer.implementation, ground, values, tolerance=tolerance)


@pytest.mark.parametrize("name", SAME)
def test_the_declaration_is_the_implementation(name: str) -> None:
    """50 steps in float64, at values at which every parameter is felt."""
    found = run(name, felt=True)
    assert found.holds, found


@pytest.mark.prove
@pytest.mark.parametrize("name", SAME)
def test_the_declaration_is_the_implementation_at_its_defaults(name: str) -> None:
    found = run(name, felt=False)
    assert found.holds, found


@pytest.mark.parametrize("name", APART)
def test_a_departure_is_one(name: str) -> None:
    """Where a departure is said, the two part: at the values at which it is felt."""
    found = run(name, felt=True)
    assert found.parting is not None
    assert found.parting.declared != found.parting.program


@pytest.mark.parametrize("name", EVERY)
def test_every_entry_names_a_program_or_says_why_not(name: str) -> None:
    found = load(name).implementation
    assert found is not None
    assert found.is_named != bool(found.none)


@pytest.mark.parametrize("name", EVERY)
def test_every_entry_has_a_citation(name: str) -> None:
    """Authors, title and year at least, and where it can be found."""
    works = load(name).citations
    assert works
    for work in works:
        assert work["author"]
        assert work["title"]
        assert any(work[key] for key in ("journal", "booktitle", "howpublished", "publisher", "url", "doi"))


def test_numbers_of_works_fit_their_years() -> None:
    """An arXiv number begins with year and month: a preprint has that year, a venue is at most three years later."""
    for name in EVERY:
        for work in load(name).citations:
            assert re.fullmatch(r"(10\.\d{4,9}/\S+)?", work["doi"]), name
            found = re.fullmatch(r"https://arxiv\.org/abs/((\d\d)(\d\d)\.\d{4,5})", work["url"])
            if found is None:
                assert "arxiv" not in work["url"], name
                continue
            number, year, month = found[1], 2000 + int(found[2]), int(found[3])
            assert 1 <= month <= 12, name
            assert len(number) == (10 if year >= 2015 else 9), name
            if work["howpublished"]:
                assert (work["howpublished"], work["year"]) == (f"arXiv:{number}", str(year)), name
            assert 0 <= int(work["year"]) - year <= 3, name
            assert work.key.endswith(work["year"]), name


def test_one_work_is_cited_in_one_way() -> None:
    """The key of a work means the same record in every entry."""
    known: dict[str, object] = {}
    for name in EVERY:
        for work in load(name).citations:
            assert known.setdefault(work.key, work) == work, name


@pytest.mark.parametrize("path", ["torch.optim.SGD", "optax.sgd"])
def test_a_program_gets_the_rate_of_every_step(path: str) -> None:
    """Gradient descent moves by the rate of the step times the gradient at the point where it is."""
    ground, rates = problem(), [0.01, 0.004, 0.02]
    points = implementations.run(path, {}, ground, rates)
    for rate, here, there in zip(rates, points, points[1:], strict=False):
        moves = [x - y for x, y in zip(here, there, strict=True)]
        assert moves == pytest.approx([rate * g for g in ground.gradient(here)], rel=1e-10)


@pytest.mark.parametrize("name", ["muon-torch", "moonlight", "adamuon", "normuon"])
def test_programs_that_round_to_bfloat16_agree_in_float64(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same programs, their Newton-Schulz iteration kept in float64: what was apart is rounding."""
    wide = partial(adamuon.zero_power_via_newton_schulz_5, dtype=torch.float64)
    monkeypatch.setattr(torch.Tensor, "bfloat16", torch.Tensor.double)
    monkeypatch.setattr(adamuon, "zero_power_via_newton_schulz_5", wide)
    monkeypatch.setattr(base, "zero_power_via_newton_schulz_5", wide)
    optimizer = load(name)
    ground = problem(optimizer.implementation.square)
    found = agreement(optimizer, optimizer.implementation, ground, felt_values(optimizer))
    assert found.holds, found


class EntrywiseAdaShift(pytorch_optimizer.AdaShift):
    """The second moment of every entry by itself: an option that is no number and no text."""

    def __init__(self, params: object, **options: object) -> None:
        super().__init__(params, reduce_func=None, **options)


def test_adashift_is_the_program_but_for_its_departure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytorch_optimizer, "AdaShift", EntrywiseAdaShift)
    found = run("adashift", felt=True)
    assert found.holds, found


def test_adafactor_is_the_program_but_for_its_departure(monkeypatch: pytest.MonkeyPatch) -> None:
    """optax's factored moments under a decay beta (1 - beta^n)/(1 - beta^(n + 1)): a debiased average, written out."""
    beta = float(felt_values(load("adafactor"))["beta2"])

    def constant(learning_rate: float, eps: float, **_: object) -> optax.GradientTransformation:
        scaled = optax.scale_by_factored_rms(
            epsilon=eps,
            min_dim_size_to_factor=1,
            decay_rate_fn=lambda step, _: beta * (1 - beta**step) / (1 - beta ** (step + 1)),
        )
        return optax.chain(scaled, optax.scale(-learning_rate))

    monkeypatch.setattr(optax, "adafactor", constant)
    found = run("adafactor", felt=True)
    assert found.holds, found


def test_a_changed_declaration_is_seen() -> None:
    """Adam with eps outside the root, 1% away in one decay, or with one more momentum, is not optax's Adam."""
    adam, outside = load("adam"), load("adam-torch")
    found = agreement(outside, adam.implementation, problem(), felt_values(adam))
    assert found.parting is not None
    assert (found.parting.step, found.parting.matrix, found.parting.index) == (1, 0, (0, 0))
