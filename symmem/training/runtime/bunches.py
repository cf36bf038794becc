"""Small tensors joined to one for a step: a formula that acts by entries then costs a few long operations.

A bunch is the places of some tensors of a part, all of which have a gradient.  A tensor is a bunch by itself where it
is large, or where a formula or a function of the caller has to see its shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch._utils import _unflatten_dense_tensors

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
        bunch, entries = growing.get(kind, ([], BLOCK + 1))
        if entries + size > BLOCK:
            bunch, entries = [], 0
            found.append(bunch)
        bunch.append(place)
        growing[kind] = bunch, entries + size
    return found


def gradient_of(part: Part, bunch: Sequence[int]) -> Tensor:
    """The gradients of a bunch as one."""
    return joined([g for place in bunch if (g := part.gradients[place]) is not None])


def whole_of(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors as one: the memory in which they lie one after the other, else a copy."""
    base = _base_of(tensors)
    return base if base is not None and _is_cut_into(base, tensors) else joined(tensors)


def is_part_of(whole: Tensor, tensors: Sequence[Tensor]) -> bool:
    """Whether the tensors are this one, or lie in its memory."""
    return len(tensors) == 1 or _base_of(tensors) is whole


def _base_of(tensors: Sequence[Tensor]) -> Tensor | None:
    """The vector in which the first of several tensors lies; one without entries lies nowhere."""
    return next((x._base for x in tensors if x.numel()), None) if len(tensors) > 1 else None


def _is_cut_into(base: Tensor, tensors: Sequence[Tensor]) -> bool:
    """Whether the tensors are all entries of a vector, in their order; someone may have moved or replaced one."""
    place = base.data_ptr()
    for x in tensors:
        if not x.numel():
            continue
        if x.data_ptr() != place or x._base is not base or x.dtype != base.dtype or not x.is_contiguous():
            return False
        place += x.nbytes
    return base.ndim == 1 and base.is_contiguous() and place == base.data_ptr() + base.nbytes


def separated(whole: Tensor, like: Sequence[Tensor]) -> list[Tensor]:
    """What was joined, in the shapes of these tensors again, in the same memory."""
    if len(like) == 1:
        return [whole]
    return list(_unflatten_dense_tensors(whole, like))


def write(kept: Sequence[Tensor], computed: Tensor) -> None:
    """What was computed elsewhere, or in a wider type, goes back to where it is kept."""
    if len(kept) > 1:
        torch._foreach_copy_(list(kept), separated(computed, kept))
    elif kept[0] is not computed:
        kept[0].copy_(computed)
