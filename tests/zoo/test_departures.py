"""What an entry says of the program that it is: in text and in LaTeX."""

from __future__ import annotations

import pytest
from sympy import sqrt, symbols
from truth import load

import symmem
from symmem.algebra.atoms import STEP
from symmem.declaration.implementation import SQUARE, Implementation
from symmem.declaration.optimizer import Optimizer
from symmem.documents.account import account_of
from symmem.documents.paper.escaping import typeset
from symmem.documents.paper.section import PARTS, paper_section
from symmem.documents.program_named import Code, program_sentences, told
from symmem.errors import DeclarationError

OWN = {"g": "grad", "beta": "0", "b": "1"}


@pytest.mark.parametrize("name", ["adamw-torch", "lion", "triple-momentum", "muon-torch", "delayed-gd"])
def test_what_is_said_of_the_program(name: str) -> None:
    derivation = symmem.derive(load(name))
    text = " ".join(str(derivation).split())
    paper = paper_section(account_of(derivation, parts=PARTS))
    sentences = program_sentences(load(name))
    assert len(sentences) == 1
    named = load(name).implementation.is_named
    for part in (part for sentence in sentences for part in sentence if isinstance(part, str)):
        assert part.strip() in text
        # A paper breaks a dotted name behind its dots, and is silent where there is no program.
        assert (typeset(part) in paper.replace(r"\allowbreak{}", "")) or not named
        assert (
            not named
            or not isinstance(part, Code)
            or rf"\texttt{{{typeset(part)}}}" in paper.replace(r"\allowbreak{}", "")
        )


def test_the_mathematics_of_a_departure_is_mathematics() -> None:
    x, eps, beta = symbols("x eps beta")
    assert told("smoothed, `x/sqrt(x**2 + eps)`") == ("smoothed, ", x / sqrt(x**2 + eps))
    assert told("fades like `beta**n`: slowly") == ("fades like ", beta**STEP, ": slowly")
    for words in ("a lone ` stays", "`import os`", "`", "no mathematics"):
        assert told(words) == (words,)
    for name in symmem.zoo():
        named = load(name).implementation
        said = " ".join(
            part for part in map(str, named.said if named else ()) for part in part.split("`")[::2]
        )
        assert not any(sign in said for sign in ("^", "**", "sqrt(", "_")), name
        assert "eps" not in said.split(), name


def spoken(name: str) -> tuple[str, ...]:
    return tuple("".join(map(str, sentence)) for sentence in program_sentences(load(name)))


def test_how_the_program_is_called_is_said() -> None:
    """A parameter that is handed on needs no words; a number, an expression, an option and a schedule do."""
    assert spoken("adamw-torch") == ("This is torch.optim.AdamW.",)
    assert spoken("error-feedback") == ("This is pytorch_optimizer.QHM with momentum = 1 - share, nu = 1.",)
    assert spoken("sgd-warmup") == ("This is torch.optim.SGD under this schedule.",)
    assert spoken("triple-momentum") == (
        "This is pytorch_optimizer.QHM with lr times 1/(1 - beta), nu = 1 - gamma*(1 - beta)/beta.",
    )
    assert spoken("lion-k") == (f"No program is named: {load('lion-k').implementation.none}.",)
    assert spoken("nesterov") == ("This is torch.optim.SGD with nesterov = True.",)


def test_a_shape_is_a_departure_that_is_said() -> None:
    assert spoken("muon-torch") == (f"Unlike torch.optim.Muon: {SQUARE.replace('`', '')}.",)


def test_arguments_follow_the_values() -> None:
    assert load("triple-momentum").with_values(beta="0.5").implementation.lr_factor == 2
    put = load("adamw-torch").with_values(beta1="0.5").implementation
    assert str(dict(put.arguments)["betas"]) == "(1/2, beta2)"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"name": "SGD"}, "'SGD' is not a class of a library"),
        ({"name": "a.b; import os"}, "is not a class of a library"),
        ({"name": "own.py:Class"}, "is not a class of a library"),
        ({"name": "torch.optim.SGD", "arguments": {"momentum": "beta"}}, "'beta' is not a parameter"),
        (
            {"name": "torch.optim.SGD", "arguments": {"momentum": "exec(1)"}},
            "implementation: arguments: momentum",
        ),
        ({"name": "torch.optim.SGD", "none": "there is one"}, "name the program"),
        ({}, "name the program"),
        ({"none": 1}, "none: 1 is not text"),
        ({"name": "torch.optim.SGD", "lr_factor": "1/beta"}, "lr_factor: 'beta' is not a parameter"),
        ({"name": "torch.optim.SGD", "option": {}}, "unknown key 'option'"),
        ({"name": "torch.optim.SGD", "departures": "none"}, "is not a list of sentences"),
        ({"name": "torch.optim.SGD", "departures": ["two\nlines"]}, "departures"),
        ({"name": "torch.optim.SGD", "idle_steps": -1}, "idle_steps"),
        ({"name": "torch.optim.SGD", "options": {"nesterov": 0.5}}, "options: nesterov"),
    ],
)
def test_a_wrong_table_is_refused(table: dict[str, object], words: str) -> None:
    with pytest.raises(DeclarationError) as error:
        Optimizer("own", "m1", [OWN], implementation=table)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_record_is_taken_as_it_is() -> None:
    own = Optimizer("own", "m1", [OWN], implementation=Implementation("torch.optim.SGD"))
    assert own.implementation == Implementation("torch.optim.SGD")
