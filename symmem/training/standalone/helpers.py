"""What the emitted functions of tensors call."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

__all__ = [
    "_Product",
    "_added",
    "_array",
    "_complete",
    "_completes",
    "_few",
    "_gauss",
    "_like",
    "_nodes",
    "_of_tensor",
    "_oldest",
    "_rule",
    "_shortfall",
    "_shortfalls",
    "_steps",
    "_sum_tensors",
    "_written",
    "_zeros",
]


def _array(theta: Any) -> Tensor:
    if not isinstance(theta, Tensor):
        theta = torch.as_tensor(theta)
    if theta.is_complex() or theta.layout is not torch.strided:
        raise TypeError("theta is complex or sparse; give a dense, real tensor")
    return theta if theta.is_floating_point() else theta.to(torch.get_default_dtype())


def _like(theta: Tensor, values: Any) -> Tensor:
    """What a function of the caller's returned, as a tensor like theta."""
    found = torch.as_tensor(values, dtype=theta.dtype, device=theta.device)
    if found.shape != theta.shape:
        raise ValueError(f"a function returned {found.shape}, not {theta.shape}")
    return found


def _written(value: Tensor, theta: Tensor, out: Tensor | None) -> Tensor:
    """The value, in ``out`` where that is given."""
    if out is not None and (out.shape != theta.shape or out.dtype != theta.dtype):
        raise ValueError(f"out is not like theta: {theta.dtype}, {tuple(theta.shape)}")
    with torch.no_grad():
        return value if out is None else out.copy_(value)


def _zeros(theta: Tensor) -> Tensor:
    return torch.zeros_like(theta)


def _steps(first: int, stop: int) -> Tensor:
    """The numbers of these steps, whose weights are held at once: more than 2**24 are refused."""
    if stop - first > 2**24:
        raise ValueError(
            f"{stop - first} past steps are remembered, and at most {2**24} are added up; "
            "take n=None, a smaller n or smaller decays"
        )
    return torch.arange(first, stop, dtype=torch.float64)


def _few(steps: Tensor, *columns: Tensor) -> Tensor:
    """Rows of few of the steps, the weight first: 18 of a block between powers of 2."""
    table = torch.stack(columns, dim=1)
    first = begin = int(steps[0]) if len(steps) else 0
    parts, stop = [table[:0]], first + len(table)
    while begin < stop:
        end = min(stop, max(127, 2 ** (begin + 1).bit_length() - 1))
        part = table[begin - first : end - first]
        parts.append(_nodes(part) if len(part) > 128 else part)
        begin = end
    return torch.cat(parts)


def _nodes(part: Tensor) -> Tensor:
    """Steps near Chebyshev's points; the weights of all, shared out by Lagrange's polynomials."""
    last, places = len(part) - 1, _steps(0, len(part))
    nodes = torch.round(last * (1 - torch.cos(_steps(0, 18) * (math.pi / 17))) / 2)
    gaps = (nodes[:, None] - nodes).fill_diagonal_(last / 4)
    off = places[:, None] - nodes
    shares = (last / 4 / gaps).prod(dim=1) / torch.where(off == 0, 1.0, off)
    shares = shares / shares.sum(dim=1, keepdim=True)
    shares[nodes.long()] = torch.eye(18, dtype=torch.float64)
    weights = part[:, 0] @ shares
    return torch.cat([weights[:, None], part[nodes.long(), 1:]], dim=1)


def _rule(weights: Tensor, numbers: Tensor, sector: float, growth: float) -> Tensor:
    """Rows of a weight and a number that stand for all: Gauss rules of the weights, one for each sign."""
    y = torch.log(numbers.clamp(1e-300, 1e300)) / sector
    parts = [torch.empty((0, 2), dtype=torch.float64)]
    for sign, mine in ((1.0, ~(weights <= 0)), (-1.0, weights < 0)):
        points = torch.stack([sign * weights[mine], y[mine]], dim=1)
        if len(points) > 2**14:  # by and by: what is in work stays small
            pieces = [points[k : k + 2**13] for k in range(0, len(points), 2**13)]
            points = torch.cat([_gauss(each, sector * growth) for each in pieces])
        points = _gauss(points, sector * growth)
        numbers = torch.exp(sector * points[:, 1])
        parts.append(torch.stack([sign * points[:, 0], numbers], dim=1))
    return torch.cat(parts)


def _gauss(points: Tensor, growth: float) -> Tensor:
    """As many nodes as the digits need for functions analytic in abs(imag(y)) < pi/2, of size exp(growth y).

    The rule of N nodes is off by at most abs(f / p_N**2) along a line in the strip, p_N the orthonormal polynomials.
    """
    w, y = points.unbind(dim=1)
    total = w.sum()
    if len(points) <= 16 or not torch.isfinite(total):
        return points
    middle, half = (y.max() + y.min()) / 2, (y.max() - y.min()) / 2
    if half == 0:
        return torch.stack([total, middle])[None]
    halves = points[y < middle], points[~(y < middle)]
    if half > 5.0:  # the smallest weights of a wide range lose their digits
        return torch.cat([_gauss(part, growth) for part in halves])
    line = torch.linspace(-1.0, 1.0, 32, dtype=torch.float64)
    away = (middle + half * line - w @ y / total).abs()
    needed = 54 + growth * (3 + 1.4427 * away)
    z, x = torch.complex(line, (0.45 * math.pi / half).expand(32)), (y - middle) / half
    q, before, bits = (w / total).sqrt(), torch.zeros_like(w), torch.zeros_like(line)
    ratio, matrix, beside = z, torch.zeros(128, 128, dtype=torch.float64), 0.0
    for k in range(128):
        moved = x * q - beside * before
        matrix[k, k] = moved @ q
        moved = moved - matrix[k, k] * q
        ratio, beside = z - matrix[k, k] - beside / ratio, float(moved.norm())
        ratio = ratio / max(beside, 1e-90)
        bits += 2 * ratio.abs().log2()
        if beside < 1e-90 or bool((bits >= needed).all()):
            values, vectors = torch.linalg.eigh(matrix[: k + 1, : k + 1])
            return torch.stack([total * vectors[0] ** 2, middle + half * values], dim=1)
        if k + 1 in (len(points), 128):
            break
        matrix[k, k + 1] = matrix[k + 1, k] = beside
        q, before = moved / beside, q
    if len(points) <= 128:
        return points
    return torch.cat([_gauss(part, growth) for part in halves])


def _added(terms: Tensor) -> float:
    return float(terms.sum())


def _of_tensor(function: Any, vectors: Any, numbers: Any) -> Any:
    """A function of a whole parameter tensor."""
    return function(torch, vectors, numbers)


def _sum_tensors(vector: Any) -> float:
    """The sum over the tensors of one number each: theta is one tensor."""
    return float(torch.as_tensor(vector).mean())


def _oldest(first: int, stop: int, decay: float) -> int:
    """The first step with abs(decay)**(stop - step) >= 2**-60; with 0**0 = 1 the last one at least."""
    if decay == 0.0:
        return max(first, stop - 1)
    return max(first, stop - math.ceil(-60.0 / math.log2(abs(decay))))


def _complete(m: float, *nodes: Any) -> float:
    """The sum of all products of m nodes, by a triangular matrix: nothing cancels."""
    if len(nodes) == 2 and nodes[0] == 1 and type(x := nodes[1]) is float and 0 < x < 1:
        return math.expm1((m + 1) * math.log(x)) / (x - 1)
    span, power = range(len(nodes)), 0
    t = {(i, j): float(i == j) for j in span for i in span[: j + 1]}
    for b in map(int, f"{int(m) + len(nodes) - 1:b}"):
        s = {(i, j): sum(t[i, k] * t[k, j] for k in span[i : j + 1]) for i, j in t}
        t = {(i, j): s[i, j] * nodes[j] ** b + b * s.get((i, j - 1), 0) for i, j in s}
        power = 2 * power + b
        t |= {(i, i): node**power for i, node in enumerate(nodes)}
    return t[0, span[-1]]


def _completes(m: Any, *nodes: Any) -> Tensor:
    """The same for many m, bit by bit; a geometric sum at once."""
    last = torch.as_tensor(m, dtype=torch.float64) + (len(nodes) - 1)
    one, x = (*nodes, 0.0)[:2]
    if len(nodes) == 2 and one == 1 and isinstance(x, float) and 0 < x < 1:
        return -torch.expm1(torch.clamp(last, min=0) * math.log(x)) / (1 - x)
    span, power = range(len(nodes)), torch.zeros_like(last)
    t = {(i, j): power + (i == j) for j in span for i in span[: j + 1]}
    for place in reversed(range(int(last.max()).bit_length() if len(last) else 0)):
        b = torch.floor(last / 2**place) % 2
        s = {(i, j): sum(t[i, k] * t[k, j] for k in span[i : j + 1]) for i, j in t}
        t = {(i, j): s[i, j] * nodes[j] ** b + b * s.get((i, j - 1), 0) for i, j in s}
        power = 2 * power + b
        t |= {(i, i): node**power for i, node in enumerate(nodes)}
    return t[0, span[-1]] * (last >= span[-1])


class _Product:
    """A product of decays: its power is taken factor by factor, and keeps its digits."""

    def __init__(self, *factors: float) -> None:
        self.factors = factors

    def __pow__(self, k: int) -> float:
        return math.prod(x**k for x in self.factors)


def _shortfall(x: float, k: float) -> float:
    """1 - x**k, without cancellation."""
    return -math.expm1(k * math.log(x)) if x > 0 else 1 - x**k


def _shortfalls(x: float, k: Any) -> Tensor:
    """The same for many k."""
    k = torch.as_tensor(k, dtype=torch.float64)
    return -torch.expm1(k * math.log(x)) if x > 0 else 1 - x**k
