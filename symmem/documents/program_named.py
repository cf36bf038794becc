"""Which program an optimizer is, and where its declaration departs from it, in words for every document."""

from __future__ import annotations

from symmem.declaration.optimizer import Optimizer


def program_sentences(optimizer: Optimizer) -> tuple[str, ...]:
    """That it is the program, or where it departs from it; nothing where no program is named."""
    named = optimizer.implementation
    if named is None:
        return ()
    if not named.said:
        return (f"This is {named.name}.",)
    return tuple(f"Unlike {named.name}: {departure}." for departure in named.said)
