"""The weights of a memory over a delay, by their letter: what the paper writes, by brute force."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce

import pytest
from literal_memory import composed as composed_memory
from literal_memory import delay as delayed
from literal_memory import geometric, weights
from sympy import Integer, Rational, Symbol

import symmem
from symmem.algebra.atoms import AGO, STEP
from symmem.derivation.past.steps import steps
from symmem.documents.paper.composed import composed, put_in, values
from symmem.documents.paper.displays import Writer
from symmem.method.composition import Composition
from symmem.method.delay import Delay
from symmem.method.geometric import Geometric


def by_hand(decay: Rational, delay: int, n: int, k: int) -> Rational:
    """How much of g(theta_{n-k}) a decaying sum holds whose summand at step r is g(theta_{max(r-d, 0)})."""
    return sum((decay ** (n - r) for r in range(n + 1) if max(r - delay, 0) == n - k), Rational(0))


def later(delay: int) -> symmem.Optimizer:
    """An average of the gradient of some steps ago."""
    variables = [symmem.Momentum("grad", delay=delay, b="1"), symmem.Momentum("m1", "q", "1 - q")]
    return symmem.Optimizer("later", "m2", variables, {"q": {"default": 0.5, "range": "[0, 1)"}})


@pytest.mark.parametrize(
    ("made", "count"), [("adan", 2), (later(1), 1), (later(2), 1), (later(5), 1)], ids=str
)
def test_the_weights_are_those_of_the_memory(made: symmem.Optimizer | str, count: int) -> None:
    held = steps(symmem.derive(made).method).histories
    found = [known for each in held if (known := values(each.shape))]
    assert len(found) == count
    decay = Rational(2, 3)
    for delay, before, last in found:
        (symbol,) = last.free_symbols - {STEP}
        for n in (1, 2, 5, 9):
            for k in range(1, n + 1):
                told = last if k == n else before if k >= delay else Integer(0)
                at = {symbol: decay, STEP: Integer(n), AGO: Integer(k)}
                assert told.subs(at) == by_hand(decay, delay, n, k)


CHAINS = {
    "two averages over a delay": ("p", "q", 1),
    "a delay between": ("p", 1, "q"),
    "two delays": ("p", 1, "q", 1),
    "over three steps": ("p", "q", 3),
    "a delay of an average": (4, "q"),
}
AT = {"p": Fraction(2, 3), "q": Fraction(1, 4)}


@pytest.mark.parametrize("name", CHAINS)
def test_the_weights_of_a_chain_of_memories(name: str) -> None:
    """Against each memory run on the values of the one inside."""
    kernels = [Delay(each) if isinstance(each, int) else Geometric(Symbol(each)) for each in CHAINS[name]]
    memories = [delayed(each) if isinstance(each, int) else geometric(AT[each]) for each in CHAINS[name]]
    found = values(reduce(Composition, kernels))
    assert found is not None
    steps_ago, before, last = found
    at = {Symbol(key): Rational(value.numerator, value.denominator) for key, value in AT.items()}
    for n in (1, 2, 3, 4, 9):
        truth = weights(reduce(composed_memory, memories), n)
        for k in range(1, n + 1):
            told = last if k == n else before if k >= steps_ago else Integer(0)
            assert told.subs({**at, STEP: Integer(n), AGO: Integer(k)}) == truth[k], (n, k)


def test_no_maximum_is_left_in_the_proof_and_an_author_keeps_the_letter() -> None:
    held = steps(symmem.derive("adan").method)
    weights = composed(held, Writer.of(symmem.load("adan")))
    assert "Max" in str(held.sensitivity)
    assert "Max" not in str(put_in(held.sensitivity, weights))
    odd = symmem.Optimizer(
        name="odd",
        phi="m2",
        momentum=[symmem.Momentum("grad", delay=1, b="1"), symmem.Momentum("grad - m1", "w", "1 - w")],
        parameters={"w": {"default": 0.5, "range": "[0, 1)", "latex": "w"}},
    )
    assert Symbol("w") in odd.momentum[1].b.free_symbols
    assert composed(steps(symmem.derive(odd).method), Writer.of(odd)) == ()
