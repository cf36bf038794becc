"""Each thing is computed once for one emitted text: the lowering, the expansion, the modified loss, each formula."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

import pytest

import symmem
from symmem.derivation.derivation import Derivation
from symmem.derivation.loss.modified_loss import modified_loss
from symmem.derivation.orders.expansion import expansion
from symmem.derivation.orders.recursion import Coefficients
from symmem.program.expansion import expansion_loses_digits, formulas
from symmem.program.lowering import lower, lowered_vector, number_routine
from symmem.program.products import lower_products
from symmem.program.straight import straight_formulas
from symmem.targets.registry import TARGETS, Options

COUNTED: dict[CodeType, str] = {
    lower.__code__: "lowering",
    lower_products.__code__: "lowering",
    Coefficients.solve.__code__: "expansion",
    modified_loss.__code__: "modified loss",
}
LOWERINGS = (lowered_vector, number_routine)
ROUTINES = {function.__wrapped__.__code__ for function in LOWERINGS}
LOWERED = ("numpy", "torch", "jax", "octave", "c", "triton")
"""The targets that are code."""
NO_LOSS = ("c", "coq")
"""Those that have no use for the modified loss."""


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Counts the calls, by whatever name the functions were imported; and the formulas that become routines."""
    calls: Counter[str] = Counter()

    def seen(frame: FrameType, event: str, _: object) -> None:
        if event != "call":
            return
        if frame.f_code in COUNTED:
            calls[COUNTED[frame.f_code]] += 1
        elif frame.f_code in ROUTINES:
            calls[f"routine of {frame.f_locals['expression']}"] += 1

    for function in (expansion, formulas, straight_formulas, expansion_loses_digits, *LOWERINGS):
        function.cache_clear()
    sys.setprofile(seen)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def made(target: str, derivation: Derivation, folder: Path) -> object:
    chosen = TARGETS[target]
    return chosen.emit(derivation, str(folder / "made") if target == "c" else None, Options())


@pytest.mark.parametrize("name", ["adamw", "heavyball", "signum"])
@pytest.mark.parametrize("target", TARGETS)
def test_once_for_one_target(target: str, name: str, tmp_path: Path) -> None:
    derivation = symmem.derive(symmem.load(name))
    with counted() as calls:
        assert made(target, derivation, tmp_path)
    routines = {text: times for text, times in calls.items() if text.startswith("routine of")}
    expected = {"expansion": 1, "modified loss": 1, "lowering": 1}
    for missing, targets in (("lowering", set(TARGETS) - set(LOWERED)), ("modified loss", NO_LOSS)):
        if target in targets:
            expected.pop(missing)
    if target == "coq" and name != "signum":
        # The trees of another size are a recursion of their own; the sums of Signum stay, and its M is not stated.
        expected["expansion"] += 1
    assert {key: calls[key] for key in calls if key not in routines} == expected
    assert bool(routines) == (target in LOWERED)
    assert not {text for text, times in routines.items() if times > 1}


def test_the_count_counts() -> None:
    derivation = symmem.derive(symmem.load("adamw"))
    functions: tuple[Callable[[Derivation], object], ...] = (lower, lower, lower_products)
    with counted() as calls:
        for function in functions:
            function(derivation)
    assert calls["lowering"] == 3
    assert calls["expansion"] == calls["modified loss"] == 1
