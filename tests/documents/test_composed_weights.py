"""The weights of a memory over a delay by one step, by their letter: what the paper writes, by brute force."""

from __future__ import annotations

from sympy import Integer, Rational, Symbol

import symmem
from symmem.algebra.atoms import AGO, STEP
from symmem.derivation.steps import steps
from symmem.documents.paper.composed import composed, put_in, values
from symmem.documents.paper.displays import Writer


def by_hand(decay: Rational, n: int, k: int) -> Rational:
    """How much of g(theta_{n-k}) a decaying sum holds whose summand at step r is g(theta_{max(r-1, 0)})."""
    return sum((decay ** (n - r) for r in range(n + 1) if max(r - 1, 0) == n - k), Rational(0))


def test_the_weights_are_those_of_the_memory() -> None:
    found = [pair for each in steps(symmem.derive("adan").method).histories if (pair := values(each.shape))]
    assert len(found) == 2
    decay = Rational(2, 3)
    for before, last in found:
        (symbol,) = last.free_symbols - {STEP}
        for n in (1, 2, 5):
            for k in range(1, n + 1):
                told = last if k == n else before
                at = {symbol: decay, STEP: Integer(n), AGO: Integer(k)}
                assert told.subs(at) == by_hand(decay, n, k)


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
