"""Kernels added up: the memory of a sum of variables with one g."""

from __future__ import annotations

from sympy import S

from symmem.algebra.atoms import STEP
from symmem.algebra.scalars import Scalars
from symmem.method.instant import Instant
from symmem.method.kernel import Kernel
from symmem.method.mixture import Mixture


def kernel_sum(kernels: list[Kernel], scalars: Scalars) -> Kernel:
    """The kernels added up: those of one shape into one, those that cancel left out."""
    parts: list[Kernel] = []
    for kernel in kernels:
        for position, part in enumerate(parts):
            both = part.joined(kernel)
            if both is not None:
                parts[position] = both
                break
        else:
            parts.append(kernel)
    kept = [part for part in (part.tidied(scalars) for part in parts) if part.scale(STEP) != 0]
    if not kept:
        return Instant(factor=S.Zero)
    return kept[0] if len(kept) == 1 else Mixture(tuple(kept))
