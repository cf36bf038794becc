"""What the field of a method has to hold: the powers and the sums of its decays."""

from __future__ import annotations

from typing import TypeVar

from symmem.errors import DerivationError

T = TypeVar("T")


def exactly(found: T | None) -> T:
    """What was read in the field; a refusal where it is not there, as ``sqrt(6)`` where sqrt(2) and sqrt(3) decay."""
    if found is None:
        raise DerivationError(
            "a sum over the past is not known exactly with these decays; make every decay that is computed, "
            "from numbers or from parameters, a parameter of its own with its value as the default"
        )
    return found
