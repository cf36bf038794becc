"""``emit --target latex --minibatch``: the lemma of the noise, and the numbers of its proof."""

from __future__ import annotations

from itertools import product

import pytest
from mpmath import mpf, workdps
from sympy import Integer, Rational, Symbol

import symmem
from symmem.algebra.noise_heads import VARIANCE_ALONG
from symmem.derivation.noise.mean_over_batches import mean_over_batches
from symmem.derivation.noise.noise_steps import noise_steps
from symmem.documents.account import account_of
from symmem.documents.json_form import PARTS as JSON_PARTS
from symmem.documents.json_form import json_data
from symmem.documents.paper.section import PARTS, paper_section
from symmem.documents.spelling import noise_letter
from symmem.method.reading import method_of
from symmem.method.sampling import Sampling

BETAS = {1: Rational(2, 5), 2: Rational(7, 10)}
VALUES = {Symbol("beta1"): BETAS[1], Symbol("beta2"): BETAS[2], Symbol("batches"): Integer(9)}


@pytest.mark.parametrize("replacement", [True, False])
def test_the_sums_of_the_proof_are_those_of_the_weights(replacement: bool) -> None:
    """Adam's: every sum is added up from ``c_l(k) = (1 - beta_l) beta_l^k``, pair by pair of steps."""
    steps = noise_steps(method_of(symmem.load("adam")), Sampling(None) if replacement else Sampling())
    assert steps is not None
    rho, reach = mpf(0) if replacement else -1 / mpf(8), 120
    with workdps(30):
        c = {
            q: [(1 - mpf(b.p) / b.q) * (mpf(b.p) / b.q) ** k for k in range(2 * reach)]
            for q, b in BETAS.items()
        }

        def mixed(equal: mpf, every: mpf) -> mpf:
            return equal + rho * (every - equal)

        def overlap(q: int, r: int, i: int) -> mpf:
            return mixed(sum(c[q][i + j] * c[r][j] for j in range(reach)), mpf(1))

        def again(q: int, r: int, i: int) -> mpf:
            """A value of q i steps ago or before, and one of r in the update of i steps ago."""
            return mixed(sum(c[q][i + j] * c[r][j] for j in range(reach)), sum(c[q][i:]))

        lags = range(1, reach)
        expected = {
            "pairs": lambda q, r: mixed(sum(a * b for a, b in zip(c[q], c[r], strict=True)), mpf(1)),
            "lags": lambda q: sum(k * c[q][k] for k in lags),
            "common": lambda q, r: sum(k * mixed(c[q][k] * c[r][k], c[q][k]) for k in lags),
            "seen": lambda q, r, s: sum(sum(c[q][i:]) * overlap(r, s, i) for i in lags),
            "repeated": lambda q, r: sum(again(q, r, i) for i in lags),
        }
        for part, truth in expected.items():
            for places, value in getattr(steps, part):
                found = value.xreplace(VALUES)
                assert abs(mpf(found.p) / found.q - truth(*places)) < mpf(10) ** -12, (part, places)
    assert len(steps.seen) == len(list(product(range(2), repeat=3)))


def test_the_lemma_has_the_formulas_of_the_derivation() -> None:
    derivation = symmem.derive("heavyball")
    plain = paper_section(account_of(derivation, parts=PARTS))
    noisy = paper_section(account_of(derivation, sampling=Sampling(), parts=PARTS))
    assert "mini-batches" not in plain
    found = mean_over_batches(derivation.method, Sampling(), "n")
    text = account_of(derivation, sampling=Sampling(), parts=PARTS)
    assert text.noise == found
    assert text.noise_steps is None
    assert all(f"eq:heavyball-noise-{part}" in noisy for part in ("frozen", "memory"))


def test_many_steps_and_an_epoch_stand_beside_step_n() -> None:
    """Text, JSON and paper have all three; what is not there for a curved Phi is left out."""
    derivation = symmem.derive("optimistic-gd")
    account = account_of(derivation, sampling=Sampling(), parts=PARTS)
    limit = mean_over_batches(derivation.method, Sampling(), "limit")
    later = account.settled_noise
    assert (later.memory, later.loss, account.noise.epoch) == (limit.memory, limit.loss, limit.epoch)
    data = json_data(account_of(derivation, sampling=Sampling(), parts=JSON_PARTS))["noise"]
    assert (data["at"], data["limit"]["correction"]["sympy"]) == ("n", str(limit.memory))
    assert data["epoch"]["variance"]["sympy"] == str(limit.epoch.variance)
    text = paper_section(account)
    assert all(f"eq:optimistic-gd-epoch-{part}" in text for part in ("variance", "mean"))
    curved = account_of(symmem.derive("rmsprop"), sampling=Sampling(), parts=PARTS)
    assert (curved.noise.place, curved.settled_noise) == ("limit", None)
    assert "eq:rmsprop-epoch" not in paper_section(curved)


def test_a_long_memory_of_squares_is_a_lemma_and_without_noise_it_is_the_full_batch() -> None:
    """M_long at V = 0 is all that beta2 adds to M: M less M at beta2 = 0."""
    derivation = symmem.derive("adam")
    account = account_of(derivation, sampling=Sampling(), parts=PARTS)
    section = paper_section(account)
    assert all(f"eq:adam-long-m2-{part}" in section for part in ("update", "lag"))
    (held,) = account.noise.held
    still = held.correction.subs(Symbol("variance"), 0).replace(VARIANCE_ALONG, lambda _: Integer(0))
    whole = derivation.limit.M
    assert (still - whole + whole.subs(Symbol("beta2"), 0)).expand().simplify() == 0
    assert held.update.subs(Symbol("variance"), 0) == derivation.limit.F


def test_the_letter_of_the_noise_is_that_of_no_parameter() -> None:
    for name in ("accsgd", "adam"):
        optimizer = symmem.load(name)
        assert noise_letter(optimizer) not in optimizer.symbols.values()
