"""Small tensors joined to one for a step: a formula that acts by entries then costs a few long operations.

A bunch is the places of some tensors of a part, all of which have a gradient.  A tensor is a bunch by itself where it
is large, or where a formula or a function of the caller has to see its shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .groups import Part
from .vectors import BLOCK, joined

SMALL = 2**16
"""A tensor of more entries stays by itself: there the operations cost more than the calls, and copies cost too."""


def bunches(part: Part) -> list[list[int]]:
    """The places that have a gradient: small tensors of one kind together, at most BLOCK entries in a bunch."""
    joins = part.formulas.is_entrywise and not part.formulas.opaque
    found: list[list[int]] = []
    growing: dict[Any, tuple[list[int], int]] = {}
    for place, (theta, g) in enumerate(zip(part.parameters, part.gradients, strict=True)):
        if g is None:
            continue
        size = theta.numel()
        if not joins or size > SMALL:
            found.append([place])
            continue
        kind = theta.device, theta.dtype, g.dtype
        bunch, entries = growing.get(kind, ([], BLOCK))
        if entries + size > BLOCK:
            bunch, entries = [], 0
            found.append(bunch)
        bunch.append(place)
        growing[kind] = bunch, entries + size
    return found


def gradient_of(part: Part, bunch: Sequence[int]) -> Tensor:
    """The gradients of a bunch as one."""
    return joined([g for place in bunch if (g := part.gradients[place]) is not None])


def separated(whole: Tensor, like: Sequence[Tensor]) -> list[Tensor]:
    """What was joined, in the shapes of these tensors again, in the same memory."""
    if len(like) == 1:
        return [whole]
    pieces = whole.split([x.numel() for x in like])
    return [piece.view(x.shape) for piece, x in zip(pieces, like, strict=True)]


def write(kept: Sequence[Tensor], computed: Tensor) -> None:
    """What was computed elsewhere, or in a wider type, goes back to where it is kept."""
    if len(kept) > 1:
        torch._foreach_copy_(list(kept), separated(computed, kept))
    elif kept[0] is not computed:
        kept[0].copy_(computed)
