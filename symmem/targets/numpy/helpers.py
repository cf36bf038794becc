"""The small functions of the emitted NumPy module: those that it needs are copied into it, word for word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symmem.program.tolerance import TOLERANCE_BITS
from symmem.targets.numpy.blocks import Array, _work


def _array(theta: Any) -> Array:
    theta = np.asarray(theta)
    if np.iscomplexobj(theta):
        raise TypeError("theta is complex; give its real and imaginary parts")
    return theta if np.issubdtype(theta.dtype, np.floating) else theta.astype(float)


def _like(theta: Array, values: Any) -> Array:
    """What a function of the caller's returned, as an array like theta."""
    values = np.asarray(values, dtype=theta.dtype)
    if values.shape != theta.shape:
        raise ValueError(f"a function returned {values.shape}, not {theta.shape}")
    return values


def _zeros(theta: Array) -> Array:
    return np.zeros_like(theta)


def _total(vector: Array) -> float:
    """The sum of the entries, added up in float64."""
    return float(np.sum(vector, dtype=np.float64))


def _of_tensor(function: Callable[..., Any], vectors: Any, numbers: Any) -> Any:
    """A function of a whole tensor: theta is one array, and so one tensor."""
    return function(np, vectors, numbers)


def _shaped(function: Callable[..., None], vectors: Any, scalars: Any) -> Array:
    """An entrywise function of matrices that are not like theta."""
    out = np.empty(np.broadcast_shapes(*(x.shape for x in vectors)), np.result_type(*vectors))
    function(*vectors, *scalars, out, *_work(function, len(vectors) + len(scalars), out))
    return out


def _sum_tensors(vector: Array) -> float:
    """The sum over the tensors of one number each, which is in all their entries."""
    return float(np.mean(vector, dtype=np.float64))


def _steps(first: int, stop: int) -> Array:
    """The numbers of these steps, whose weights are held at once: more than 2**24 are refused."""
    if stop - first > 2**24:
        raise ValueError(
            f"{stop - first} past steps are remembered, and at most {2**24} are added up; "
            "take n=None, a smaller n or smaller decays"
        )
    return np.arange(first, stop, dtype=np.float64)


def _few(steps: Array, *columns: Array) -> Array:
    """Rows of few of the steps, the weight first: 18 of a block between powers of 2."""
    table = np.stack(columns, axis=1)
    first = begin = int(steps[0]) if len(steps) else 0
    parts, stop = [table[:0]], first + len(table)
    while begin < stop:
        end = min(stop, max(127, 2 ** (begin + 1).bit_length() - 1))
        part = table[begin - first : end - first]
        parts.append(_nodes(part) if len(part) > 128 else part)
        begin = end
    return np.concatenate(parts)


def _nodes(part: Array) -> Array:
    """Steps near Chebyshev's points; the weights of all go to them by Lagrange's polynomials."""
    last = len(part) - 1
    nodes = np.round(last * (1 - np.cos(np.arange(18) * (np.pi / 17))) / 2).astype(int)
    gaps = nodes[:, None] - nodes + np.diag(np.full(18, last / 4))
    factors, table = np.prod(last / 4 / gaps, axis=1), part[nodes]
    table[:, 0] = 0.0
    for begin in range(0, len(part), 4096):
        off = np.arange(begin, min(begin + 4096, len(part)))[:, None] - nodes
        shares = factors / np.where(off == 0, 1, off)
        is_node = (off == 0).any(axis=1, keepdims=True)
        shares = np.where(is_node, off == 0, shares / shares.sum(axis=1, keepdims=True))
        table[:, 0] += part[begin : begin + 4096, 0] @ shares
    return table


def _rule(weights: Array, numbers: Array, sector: float, growth: float) -> Array:
    """Rows of a weight and a number that stand for all: Gauss rules of the weights, one for each sign."""
    y = np.log(np.clip(numbers, 1e-300, 1e300)) / sector
    parts = [np.empty((0, 2))]
    for sign, mine in ((1.0, ~(weights <= 0)), (-1.0, weights < 0)):
        points = np.stack([sign * weights[mine], y[mine]], axis=1)
        if len(points) > 2**14:  # by and by: what is in work stays small
            pieces = [points[k : k + 2**13] for k in range(0, len(points), 2**13)]
            points = np.concatenate([_gauss(each, sector * growth) for each in pieces])
        parts.append(_gauss(points, sector * growth) * (sign, 1.0))
    rows = np.concatenate(parts)
    rows[:, 1] = np.exp(sector * rows[:, 1])
    return rows


def _gauss(points: Array, growth: float) -> Array:
    """As many nodes as the digits need for functions analytic in abs(imag(y)) < pi/2, of size exp(growth y).

    The rule of N nodes is off by at most abs(f / p_N**2) along a line in the strip, p_N the orthonormal polynomials.
    """
    w, y = points[:, 0], points[:, 1]
    if len(points) <= 16 or not np.isfinite(total := w.sum()):
        return points
    middle, half = (y.max() + y.min()) / 2, (y.max() - y.min()) / 2
    if half == 0:
        return np.array([[total, middle]])
    halves = points[y < middle], points[~(y < middle)]
    if half > 5.0:  # the smallest weights of a wide range lose their digits
        return np.concatenate([_gauss(part, growth) for part in halves])
    line = np.linspace(-1.0, 1.0, 32)
    away = np.abs(middle + half * line - w @ y / total)
    needed = 54 + growth * (3 + 1.4427 * away)
    z, x = line + 0.45j * np.pi / half, (y - middle) / half
    q, before, ratio, bits = np.sqrt(w / total), np.zeros_like(w), np.inf, np.zeros(32)
    diagonal: list[float] = []
    beside = [0.0]
    while len(diagonal) < 128:
        moved = x * q - beside[-1] * before
        diagonal.append(moved @ q)
        moved -= diagonal[-1] * q
        beside.append(np.sqrt(moved @ moved))
        ratio = (z - diagonal[-1] - beside[-2] / ratio) / max(beside[-1], 1e-90)
        bits += 2 * np.log2(np.abs(ratio))
        if beside[-1] < 1e-90 or (bits >= needed).all():
            matrix = np.diag(diagonal) + np.diag(beside[1 : len(diagonal)], -1)
            values, vectors = np.linalg.eigh(matrix)  # of its lower half
            weights = total * vectors[0] ** 2
            return np.stack([weights, middle + half * values], axis=1)
        if len(diagonal) == len(points):
            return points
        q, before = moved / beside[-1], q
    return np.concatenate([_gauss(part, growth) for part in halves])


def _added(terms: Array) -> float:
    return float(np.sum(terms))


def _complete(m: float, *nodes: Any) -> float:
    """The sum of all products of m nodes: a power of a triangular matrix, by doubling.

    Nothing is subtracted; the diagonal is taken anew, so that its error does not double.
    """
    size, done = len(nodes), 0
    rows = [[1.0] * size] + [[0.0] * size for _ in nodes[1:]]  # row d: d places off
    for bit in f"{int(m) + size - 1:b}":
        for d in range(size - 1, 0, -1):
            for i in range(size - d):
                value = rows[d][i] * (rows[0][i] + rows[0][i + d])
                for e in range(1, d):
                    value += rows[e][i] * rows[d - e][i + e]
                rows[d][i] = value
        if bit == "1":
            rows[0] = [x * x for x in rows[0]]
            for d in range(size - 1, 0, -1):
                for i in range(size - d):
                    rows[d][i] = rows[d][i] * nodes[i + d] ** 1 + rows[d - 1][i]
        done = 2 * done + int(bit)
        rows[0] = [node**done for node in nodes]
    return rows[-1][0]


def _completes(m: Array, *nodes: Any) -> Array:
    """The same for many m, bit by bit; a geometric sum at once."""
    one, x = (*nodes, 0.0)[:2]
    if len(nodes) == 2 and one == 1 and isinstance(x, float) and 0 < x < 1:
        return -np.expm1(np.maximum(m + 1, 0) * np.log(x)) / (1 - x)
    last, done = np.asarray(m, dtype=float) + (len(nodes) - 1), np.zeros(np.shape(m))
    rows = [[done + 1] * len(nodes)] + [[done] * len(nodes) for _ in nodes[1:]]
    for place in range(int(last.max(initial=0)).bit_length() - 1, -1, -1):
        bit = np.floor(last / 2**place) % 2
        for d in range(len(nodes) - 1, 0, -1):
            for i in range(len(nodes) - d):
                products = [rows[e][i] * rows[d - e][i + e] for e in range(d + 1)]
                rows[d][i] = np.sum(products, axis=0)
        rows[0] = [x * x for x in rows[0]]
        for d in range(len(nodes) - 1, 0, -1):
            for i in range(len(nodes) - d):
                rows[d][i] = rows[d][i] * nodes[i + d] ** bit + bit * rows[d - 1][i]
        done = 2 * done + bit
        rows[0] = [node**done for node in nodes]
    return np.where(last < len(nodes) - 1, 0.0, rows[-1][0])


class _Product:
    """A product of decays: its power is taken factor by factor, and keeps its digits."""

    def __init__(self, *factors: float) -> None:
        self.factors = factors

    def __pow__(self, k: Any) -> Any:
        value = 1.0
        for x in self.factors:
            value = value * x**k
        return value


def _shortfall(x: float, k: float) -> float:
    """1 - x**k, without cancellation."""
    return float(-np.expm1(k * np.log(x))) if x > 0 else 1 - x**k


def _shortfalls(x: float, k: Any) -> Array:
    """The same for many k."""
    return -np.expm1(k * np.log(x)) if x > 0 else 1 - x ** np.asarray(k)


def _erf(x: Any) -> Array:
    """The error function: a series of positive terms up to 3, a continued fraction beyond."""
    size = np.minimum(np.abs(np.asarray(x, dtype=np.float64)), 6.5)
    square = size * size
    series = np.ones_like(size)
    for k in range(75, 0, -1):
        series = 1 + np.minimum(square, 9.0) * series / (k + 0.5)
    far = np.maximum(size, 3.0)
    tail = far
    for k in range(40, 0, -1):
        tail = far + 0.5 * k / tail
    scale = np.exp(-square) / np.sqrt(np.pi)
    value = np.where(size < 3.0, 2 * size * scale * series, 1 - scale / tail)
    return np.asarray(np.copysign(value, x), dtype=np.result_type(x))


def _oldest(first: int, stop: int, decay: float) -> int:
    """The first step with abs(decay)**(stop - step) >= 2**-TOLERANCE_BITS; with 0**0 = 1 the last one at least."""
    if decay == 0.0:
        return max(first, stop - 1)
    terms = -TOLERANCE_BITS * np.log(2.0) / np.log(abs(decay))
    return max(first, stop - int(np.ceil(terms)))


def _rows(theta: Array, values: Any) -> Array:
    """What a function of the caller's returned for many batches."""
    return np.asarray(values, dtype=theta.dtype)


def _repeated(v: Array, rows: Array) -> Array:
    """The same v for every row."""
    return np.broadcast_to(v, rows.shape)
