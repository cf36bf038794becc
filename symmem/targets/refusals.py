"""Why a function of emitted code does not exist at a step, told to whoever calls it."""

from __future__ import annotations

from symmem.algebra.results import Advice, Missing


def refusal(missing: Missing, limit: str) -> str:
    """The reason, and what to call instead; ``limit`` is how this language asks for n -> infinity, ``n=None``."""
    words = {Advice.LIMIT: f"take the limit, {limit}", Advice.STEP: "give a step n"}
    ways = [words.get(way, way.value) if isinstance(way, Advice) else str(way) for way in missing.advice]
    return "; ".join([str(missing.reason), *ways])
