"""Every optimizer that people train with is in the zoo, is declared in docs/optimizers.md, or is refused by name."""

from __future__ import annotations

import re

import numpy as np
import pytest
from markdown import Document

from symmem.declaration.catalogue import names
from symmem.declaration.left_out import LEFT_OUT, left_out
from symmem.declaration.loading import load
from symmem.declaration.toml import read_toml
from symmem.verification.literal import Literal
from symmem.verification.problem import matrix_problem

PAGE = Document("docs/optimizers.md")
_ZOO = """
    gd heavyball ema-momentum ema-momentum-debiased sgd-dampening nesterov sgd-l2 sgdw qhm aggmo gpa triple-momentum
    accsgd pnm pid optimistic-gd adams-bashforth delayed-gd error-feedback grokfast clipped-momentum nsgd-momentum lars
    signsgd signum lion lion-k tiger cautious-adamw cautious-lion rmsprop rmsprop-torch rmsprop-centred rmsprop-momentum
    scalar-rmsprop adam adam-torch adam-keras adam-optax adamw adam-l2 nadam-torch nadamw radam adamd adabound adamod
    padam qhadam adabelief laprop adopt adan mars-adamw mars-lion ademamix simplified-ademamix grams exadam stable-adamw
    adam-mini adafactor adam-atan2 diffgrad adashift adapnm avagrad acprop lamb novograd muon muon-torch muon-optax
    moonlight scion adamuon normuon shampoo-ema bcos adams adamc
"""
DECLARED = {
    "cautious-weight-decay": "cautious-decay.toml",
    "mars-shampoo": "mars-shampoo.toml",
}
_REFUSED = """
    extragradient lookahead swa ema local-sgd fedavg diloco sam usam asam gsam ano adagrad adadelta amsgrad adamax yogi
    came adanorm m-svag adai spam stable-spam adahessian sophia sophia-h sophia-g focus 8-bit adago dion shampoo
    distributed-shampoo soap splus psgd kron galore fira apollo alice conda racs schedule-free prodigy d-adaptation dog
    mechanic momo cocob madgrad ftrl sm3 adamp nero fromage hyperball adamh muonh spectral-sphere tam adatam gravity
    sgd-sai vsgd emonavi srmm amos kate ef-sgd
"""
IN_THE_ZOO, REFUSED = _ZOO.split(), _REFUSED.split()
"""With the two above, the names of a survey of optimizers in use from 2024 to 2026, in 112 rows."""
QUOTED = set(re.findall(r"`([a-z0-9-]+)`", PAGE.text))


@pytest.mark.parametrize("name", IN_THE_ZOO)
def test_it_is_in_the_zoo(name: str) -> None:
    assert name in names()
    assert name in QUOTED


@pytest.mark.parametrize("name", [*REFUSED, *DECLARED])
def test_it_is_refused_by_name(name: str) -> None:
    """With a reason that is one line; that of a declaration in the page names the page."""
    reason = left_out(name)
    assert reason is not None
    assert "\n" not in reason
    assert (name in QUOTED) == (name in REFUSED)
    assert (PAGE.path in reason) == (name in DECLARED)


def test_the_page_names_nothing_else() -> None:
    other = {"lr", "theta", "m3", "u", "x", "grad"}
    assert QUOTED - other <= {*names(), *LEFT_OUT}


def hand_written(name: str, start: np.ndarray, gradient: object, lr: float, steps: int) -> np.ndarray:
    """The two declarations as a program would run them."""
    theta, m, last = start.copy(), 0 * start, None
    for _ in range(steps):
        g = gradient(theta)
        if name == "cautious-weight-decay":
            m = 0.9 * m + 0.1 * g
            theta = theta - lr * (m + 0.1 * theta * (m * theta > 0))
        else:
            c = g + 0.025 * 0.95 / 0.05 * (g - (g if last is None else last))
            m, last = 0.95 * m + 0.05 * c, g
            parts = [m[:6].reshape(2, 3), m[6:].reshape(3, 2)]
            moved = [u @ vt for u, _, vt in (np.linalg.svd(part, full_matrices=False) for part in parts)]
            theta = theta - lr * np.concatenate([part.ravel() for part in moved])
    return theta


@pytest.mark.parametrize("name", DECLARED)
def test_what_the_page_declares_is_that_optimizer(name: str) -> None:
    """Ten steps beside a loop written by hand."""
    ground = matrix_problem(((2, 3), (3, 2)))
    optimizer = read_toml(PAGE.files[DECLARED[name]], DECLARED[name])
    ours = Literal(optimizer, {}, ground.loss, {}, ground.shapes).run(ground.start, 0.01, 10, 20)[-1]
    start = np.array([float(x) for x in ground.start])
    theirs = hand_written(name, start, lambda x: np.array(ground.gradient(list(x))), 0.01, 10)
    assert [float(x) for x in ours] == pytest.approx(theirs, abs=1e-12)
    assert np.abs(theirs - start).max() > 1e-2


def test_avagrad_is_the_paper_s() -> None:
    """Its Algorithm 2 as a loop: the program departs from it, so that nothing else runs beside the declaration."""
    ground, rate = matrix_problem(((2, 3), (3, 2))), 0.01
    ours = Literal(load("avagrad"), {}, ground.loss, {}, ground.shapes).run(ground.start, rate, 10, 20)[-1]
    theta = np.array([float(x) for x in ground.start])
    m = v = 0 * theta
    for _ in range(10):
        g = np.array(ground.gradient(list(theta)))
        m, eta = 0.9 * m + 0.1 * g, 1 / (np.sqrt(v) + 0.1)
        theta = theta - rate * eta / np.linalg.norm(eta / np.sqrt(len(theta))) * m
        v = 0.999 * v + 0.001 * g**2
    assert [float(x) for x in ours] == pytest.approx(theta, abs=1e-13)
