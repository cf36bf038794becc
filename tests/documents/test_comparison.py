"""Optimizers side by side: the sign against the modified loss itself, the three formats against each other."""

from __future__ import annotations

import json

import pytest
from command import back, run
from sympy import Rational, Symbol
from truth import FIRST, LOSS, THETA, load

import symmem
from symmem.derivation.loss.regularisation_sign import regularisation
from symmem.method.reading import method_of
from symmem.verification.evaluation import evaluate

SIGNS = {
    "gd": "0", "heavyball": "+", "ema-momentum": "+", "ema-momentum-debiased": "+", "nesterov": "+", "rmsprop": "-",
    "rmsprop-torch": "-", "adam": "-*", "adam-torch": "-*", "adamw": "-*", "adamw-torch": "-*", "nadamw": "-*",
    "signum": "0", "lion": "0", "lion-bc": "0", "lion-k": "",
}  # fmt: skip
"""Heavy ball regularises, AdamW with beta2 > beta1 anti-regularises, Lion does not: Sections 2 and 4 of the paper."""


def entries(*names: str) -> dict[str, dict]:
    record = json.loads(run("compare", *names, "--format", "json").stdout)
    assert record["schema"] == 1
    return {entry["name"]: entry for entry in record["optimizers"]}


def test_the_signs_are_those_of_the_paper() -> None:
    found = entries(*FIRST)
    shown = {
        name: (entry["sign"] or "") + ("*" if entry["sign_holds"] == "at the defaults" else "")
        for name, entry in found.items()
    }
    assert shown == SIGNS


@pytest.mark.parametrize("name", [name for name, sign in SIGNS.items() if sign not in ("", "0")])
def test_the_sign_is_felt_by_the_modified_loss(name: str) -> None:
    """Where the loss is flat and the gradient is all that counts: the change of the loss has the sign."""
    optimizer = load(name)
    found = symmem.derive(optimizer).modified_loss
    change = found.potential.xreplace({Symbol("loss"): Rational(0), Symbol("weight_decay"): Rational(0)})
    values = {**optimizer.defaults, "lr": Rational(1, 100), "weight_decay": 0}
    number = evaluate(change, values, {"theta": THETA}, LOSS)
    assert (number > 0) == SIGNS[name].startswith("+")


def test_the_sign_depends_on_the_parameters_where_it_says_so() -> None:
    """With the betas of Adam exchanged the sign is the other one; heavy ball's is the same for every beta."""
    text = run("show", "adamw").stdout.decode()
    swapped = text.replace("default = 0.9,", "default = 0.9995,")
    done = run("compare", "-", "--format", "json", given=swapped.encode())
    (entry,) = json.loads(done.stdout)["optimizers"]
    assert (entry["sign"], entry["sign_holds"]) == ("+", "at the defaults")
    optimizer = load("heavyball")
    assert regularisation(method_of(optimizer), symmem.derive(optimizer).modified_loss).everywhere


@pytest.mark.parametrize("name", FIRST)
def test_the_record_holds_the_derivation(name: str) -> None:
    derivation, entry = symmem.derive(load(name)), entries(name)[name]
    record = {"symbols": [*derivation.optimizer.symbols, "theta", "grad", "loss", "lr", "n", "s"]}
    assert back(record, entry["correction"]) == derivation.limit.M
    if derivation.modified_loss is None:
        assert entry["modified_loss"]["obstruction"] == str(derivation.obstruction.reason)
    else:
        assert (
            back(record, entry["modified_loss"]["potential"]) - derivation.modified_loss.potential
        ).expand() == 0


@pytest.mark.parametrize(
    ("width", "encoding"), [("80", "utf-8"), ("80", "ascii"), ("60", "utf-8"), ("120", "ascii")]
)
def test_no_line_is_too_wide(width: str, encoding: str) -> None:
    text = run("compare", *FIRST, COLUMNS=width, PYTHONIOENCODING=encoding).stdout.decode(encoding)
    assert max(map(len, text.replace("\u0303", "").splitlines())) <= int(width)
    for name in FIRST:
        assert load(name).title in text


def test_a_bad_name_is_one_line() -> None:
    done = run("compare", "adamw", "nobody")
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert run("compare").returncode == 2
