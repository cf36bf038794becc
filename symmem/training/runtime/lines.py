"""The straight-line history: the numbers of a line through the past (mathematics.md section 10).

k steps ago a memory with decay beta saw theta + k S/mu_1, with ``mu_p = sum_{k=1..n} k^p beta^k``.  A formula needs
mu_p/mu_1^p for the powers p of k in it, from 2 on; or 1/mu_1 and n, where it takes the sum over k itself.

Example: beta = 1/2, n = 2: mu_1 = 1/2 + 2/4 = 1, mu_2 = 1/2 + 4/4 = 3/2, and the number for p = 2 is 3/2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .formulas import FirstOrder, Formulas, Group, Memory
from .power_sums import power_sums

TOLERANCE_BITS = 60
"""Steps that weigh less than 2^-60 of the newest are left out."""
HISTORIES = ("straight", "expansion")


def usual_history(formulas: Formulas, values: Group) -> str:
    """The straight line where there is one for every memory with these values, else the expansion."""
    memory = formulas.memory if isinstance(formulas, FirstOrder) else None
    if not isinstance(formulas, FirstOrder) or (memory and not _has_lines(memory, formulas.values(values))):
        return "expansion"
    return "straight"


def _has_lines(memory: Memory, values: Sequence[float]) -> bool:
    """With a negative decay the past may weigh nothing, and a line through it has no slope."""
    alone = memory.is_one_line or all(decay >= 0 for decay in memory.decays(*values))
    return memory.on_line is not None and alone


def check_history(group: Group, formulas: FirstOrder) -> None:
    """ValueError where a group asks for a history that is not known, or that its optimizer does not have."""
    memory = formulas.memory
    if group["history"] not in HISTORIES:
        raise ValueError(f"history = {group['history']!r} is neither of {', '.join(HISTORIES)}")
    if group["history"] == "expansion" or memory is None:
        return
    if memory.is_one_line:
        return
    if not _has_lines(memory, formulas.values(group)):
        words = "has no straight-line history: a memory with a negative decay may weigh the past by 0"
        raise ValueError(f'{formulas.title} {words}; use history="expansion"')


def line_numbers(decay: float, n: float, degree: int, *, summed: bool) -> tuple[float, ...]:
    """The numbers of a line, in the order in which formulas take them; zeros where nothing is remembered."""
    count = remembered_steps(decay, n)
    _, first, *higher = power_sums(decay, count, max(degree, 1))
    ratios = [x / first**p if first else 0.0 for p, x in enumerate(higher, start=2)]
    return (*ratios, *((1 / first if first else 0.0, count) if summed else ()))


def remembered_steps(decay: float, n: float) -> int:
    """How many past steps count."""
    if decay <= 0:
        return 0
    return math.floor(min(n, -TOLERANCE_BITS * math.log(2) / math.log(decay)))
