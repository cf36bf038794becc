"""M from the straight line: ``F_straight = F + M + O(lr^2)``, so that M is its derivative along the line."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .formulas import Function


def slope_of(on_line: Function, products: int) -> Function:
    """M as a function of what ``on_line`` takes: theta, the gradient, then so many vectors of the line."""

    def correction(theta: Tensor, g: Tensor, *given: Any) -> Tensor:
        line, rest = given[:products], given[products:]
        still = tuple(torch.zeros_like(x) for x in line)
        found: Tensor = torch.func.jvp(lambda *x: on_line(theta, g, *x, *rest), still, line)[1]
        return found

    return correction


def with_slope(plain: Function, on_line: Function, products: int) -> Function:
    """F + M; ``plain`` takes what stands behind the vectors of the line and their scale."""
    correction = slope_of(on_line, products)

    def corrected(theta: Tensor, g: Tensor, *given: Any) -> Tensor:
        functions = [x for x in given[products:] if callable(x)]
        numbers = [x for x in given[products:] if not callable(x)][1:]
        return plain(theta, g, *functions, *numbers) + correction(theta, g, *given)

    return corrected
