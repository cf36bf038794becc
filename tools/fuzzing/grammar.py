"""Expressions of the language, made at random: entrywise ones, functions of tensors, numbers of the step."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from fuzzing.words import EXPONENTS, FUNCTIONS, NUMBERS

Leaves = Sequence[str]
DEEPER = 0.75
"""How likely an expression goes one level down, where it may."""


def leaf(chance: random.Random, leaves: Leaves) -> str:
    """A symbol, or now and then a number."""
    return chance.choice(leaves) if chance.random() < 0.8 else chance.choice(NUMBERS)


def entrywise(chance: random.Random, leaves: Leaves, depth: int) -> str:
    """Arithmetic, powers and functions of one number."""
    if depth <= 0 or chance.random() > DEEPER:
        return leaf(chance, leaves)
    return _composed(chance, lambda: entrywise(chance, leaves, depth - 1))


def _composed(chance: random.Random, inner: Callable[[], str]) -> str:
    form = chance.randrange(8)
    if form < 4:
        return f"{inner()} {chance.choice('+-*/')} {inner()}"
    if form == 4:
        return f"({inner()})**{chance.choice(EXPONENTS[:-2])}"
    if form == 5:
        return f"({inner()})"
    return f"{chance.choice(FUNCTIONS)}({inner()})"


def of_tensors(chance: random.Random, leaves: Leaves, depth: int) -> str:
    """Also functions of a whole tensor and of the model; some calls have a scalar, or one argument too many."""
    if depth <= 0 or chance.random() > DEEPER:
        return leaf(chance, leaves)

    def inner() -> str:
        return of_tensors(chance, leaves, depth - 1)

    form = chance.randrange(12)
    if form < 4:
        return _composed(chance, inner)
    if form < 6:
        return f"{inner()}/{chance.choice(('norm', 'rms', 'global_norm'))}({inner()})"
    if form == 6:
        return f"{chance.choice(('dot', 'global_dot'))}({inner()}, {inner()})*{inner()}"
    if form == 7:
        return f"{chance.choice(('polar', 'newton_schulz', 'transpose'))}({inner()})"
    if form == 8:
        x = inner()
        root = (
            f"inverse_root(matmul({x}, transpose({x})), {chance.choice('124')}{chance.choice(('', ', eps'))})"
        )
        return f"matmul({root}, {inner()})"
    if form == 9:
        return f"matmul({inner()}, transpose({inner()}))"
    if form == 10:
        return f"{chance.choice(('mean', 'rms', 'norm'))}({inner()})*{inner()}"
    return f"{inner()}/(1 + {chance.choice(('norm', 'global_norm'))}({inner()}))"


def kinked(chance: random.Random, leaves: Leaves, depth: int) -> str:
    """With max, min and clip, which a declaration has to smooth."""
    if depth <= 0 or chance.random() > DEEPER:
        return leaf(chance, leaves)

    def inner() -> str:
        return kinked(chance, leaves, depth - 1)

    form = chance.randrange(6)
    if form < 2:
        return _composed(chance, inner)
    if form == 2:
        return f"{chance.choice(('max', 'min'))}({inner()}, {inner()})"
    if form == 3:
        return f"clip({inner()}, -1, {chance.choice(('1', 'eps', inner()))})"
    return f"{chance.choice(('sign', 'abs'))}({inner()})"


def of_the_step(chance: random.Random, leaves: Leaves, depth: int) -> str:
    """What b and the rate may hold: branches, conditions, products over steps, pi."""
    if depth <= 0 or chance.random() > DEEPER:
        return chance.choice(("pi", leaf(chance, leaves), leaf(chance, leaves)))

    def inner() -> str:
        return of_the_step(chance, leaves, depth - 1)

    form = chance.randrange(8)
    if form < 3:
        return _composed(chance, inner)
    if form == 3:
        return f"{chance.choice(('min', 'max'))}({inner()}, {inner()})"
    if form == 4:
        return f"where({_condition(chance, inner)}, {inner()}, {inner()})"
    if form == 5:
        ends = chance.choice(
            ("1, n + 1", "0, n", "1, n", "1, 3", "n, 2*n", "2, n + 5", "1, 64", "1, 1000000")
        )
        factor = entrywise(chance, ["i", "i", *leaves], 2)
        return f"prod({factor}, i, {ends})"
    if form == 6:
        return f"{chance.choice(leaves)}**({inner()})"
    return f"(1 - {chance.choice(leaves)})/(1 - {chance.choice(leaves)}**(n + 1))"


def _condition(chance: random.Random, inner: Callable[[], str]) -> str:
    left, right = chance.choice(("n", inner())), chance.choice(("5", "100", inner()))
    simple = f"{left} {chance.choice(('<', '<=', '>', '>='))} {right}"
    return f"{simple} {chance.choice(('and', 'or'))} n > 1" if chance.random() < 0.2 else simple
