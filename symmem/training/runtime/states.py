"""States that come from PyTorch's optimizer to one without memory, and what goes back to PyTorch's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from .formulas import FirstOrder, Formulas, Group
from .running import check_torch_options

OF_A_RUN = ("params", "n", "_rates")
"""What a group has from its run, and not from its settings."""


def without_memory(
    formulas: Formulas, state_dict: Mapping[str, Any], present: Sequence[Group]
) -> dict[str, Any]:
    """The state as the optimizer without memory keeps it: groups that know their n, and no running sums.

    A group of PyTorch's has no n: it is the ``step`` of its tensors.  What it does not say stays as in ``present``.
    """
    groups: list[Group] = []
    for place, saved in enumerate(state_dict["param_groups"]):
        mine = present[place] if place < len(present) else {}
        kept = {key: value for key, value in mine.items() if key not in OF_A_RUN}
        if "n" not in saved:
            if isinstance(formulas, FirstOrder):
                check_torch_options(saved, formulas)
            kept["n"] = _steps_made(saved, state_dict["state"], limit=bool(kept.get("limit")))
        groups.append({**kept, **saved})
    return {**state_dict, "state": {}, "param_groups": groups}


def _steps_made(group: Group, state: Mapping[Any, Mapping[str, Any]], *, limit: bool) -> int:
    """The updates that all tensors of a group have made; 0 where none has a state, or where n does not matter."""
    entries = [state[key] for key in group["params"] if state.get(key)]
    if limit or not entries:
        return 0
    steps = {round(float(entry["step"])) if "step" in entry else None for entry in entries}
    if None in steps:
        raise ValueError("the state does not count its steps; use limit=True")
    if len(steps) > 1:
        found = ", ".join(str(step) for step in sorted(step for step in steps if step is not None))
        raise ValueError(
            f"the tensors of a group have made {found} steps, and a group has one n; use limit=True"
        )
    return steps.pop() or 0


def with_numbers(
    formulas: FirstOrder, groups: Sequence[Group], state: Mapping[Any, Mapping[str, Any]]
) -> dict[Any, Any]:
    """A state with the numbers that PyTorch's optimizer keeps beside its sums, such as NAdam's product of decays."""
    running, found = formulas.running, dict(state)
    if running.counted is None:
        return found
    for group in groups:
        values, known = formulas.values(group), dict[int, Sequence[Any]]()
        for key in group["params"]:
            step = float(found.get(key, {}).get("step", math.inf))
            if math.isfinite(step):
                made = round(step)
                if made not in known:  # a product of so many factors
                    known[made] = running.counted(made, *values)
                numbers = zip(running.numbers, known[made], strict=True)
                found[key] = {**found[key], **{name: torch.tensor(float(x)) for name, x in numbers}}
    return found
