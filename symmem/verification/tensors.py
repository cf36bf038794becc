"""Functions of whole parameter tensors, in mpmath: the verification room's own, beside :mod:`.evaluation`.

A vector is the entries of all tensors one after another; a layout is the tuple of their shapes.  A vector without a
layout is one tensor.  Derivatives are differences of a tiny step at a raised precision: no formula is shared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

import mpmath
from mpmath import mpf
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from symmem.verification.arithmetic import spread
from symmem.verification.vectors import Vector, VerificationError, dot

Shape: TypeAlias = tuple[int, ...]
Layout: TypeAlias = tuple[Shape, ...]
Layouts: TypeAlias = Mapping[str, Layout]
"""Of the vectors, by name."""

DERIVATIVE = re.compile(r"(\w+?)_jvp([2-9][0-9]*)?")
SUMS = ("dot", "mean", "nuclear")
"""One number for each tensor."""
MATRICES = ("matmul", "transpose", "polar", "newton_schulz", "inverse_root")
NEWTON_SCHULZ = ("3.4445", "-4.7750", "2.0315")
NEWTON_SCHULZ_STEPS = 5


def value_of(expression: AppliedUndef, parts: Sequence[Any], layouts: Layouts) -> Any:
    """The value of a function of tensors, or of its derivative, from those of its arguments; None for another's."""
    name = expression.func.__name__
    match = DERIVATIVE.fullmatch(name)
    function, order = (match.group(1), int(match.group(2) or 1)) if match else (name, 0)
    if function not in (*MATRICES, *SUMS, "sum_tensors"):
        return None  # before the shapes are asked for: that walks the whole expression
    known = [layout_of(argument, layouts) for argument in expression.args]
    base = next((layout for layout in known if layout is not None), None) or layouts.get("theta", ())
    if name == "sum_tensors":
        whole = layouts["theta"]
        if not isinstance(parts[0], tuple):
            return parts[0] * len(whole)
        return sum((block[0] for block in split(parts[0], whole)), mpf(0))
    if name in SUMS:
        return per_tensor(name, [spread(part, _size(base)) for part in parts], base)
    if function not in MATRICES:
        return None
    count = 2 if function == "matmul" else 1 + order
    # A number in the place of a matrix is a constant momentum variable: it has the shape of theta.
    labels, shapes = parts[count:], [layout or layouts.get("theta") or base for layout in known[:count]]
    vectors = [spread(part, _size(shape)) for part, shape in zip(parts, shapes, strict=False)]
    if order == 0:
        return of_matrices(function, vectors, shapes, labels)
    return derivative(lambda x: of_matrices(function, [x], shapes[:1], labels), vectors[0], vectors[1:])


def _size(layout: Layout) -> int:
    return sum(map(prod, layout))


def layout_of(expression: Expr, layouts: Layouts) -> Layout | None:
    """The shapes of a vector expression; None for what has one number for a tensor, or one for all.

    Tensors of different shapes that meet entry by entry are an error, also where their numbers of entries agree.
    """
    if isinstance(expression, Symbol):
        return layouts.get(expression.name)
    name = expression.func.__name__ if isinstance(expression, AppliedUndef) else ""
    if name in (*SUMS, "total"):
        return None
    known = [layout_of(part, layouts) for part in expression.args]
    if name in ("transpose", "matmul"):  # of a number too: it stands for a tensor with the shape of theta
        known = [layout or layouts.get("theta") for layout in known]
    found = [layout for layout in known if layout is not None]
    if name == "transpose":
        return tuple(_matrix(shape)[::-1] for shape in found[0])
    if name == "matmul" and len(found) == 2:
        return tuple(_product(_matrix(left), _matrix(right)) for left, right in zip(*found, strict=True))
    for other in found[1:]:
        if other != found[0]:
            raise VerificationError(f"tensors of the shapes {found[0]} and {other} meet entry by entry")
    return found[0] if found else None


def _product(left: tuple[int, int], right: tuple[int, int]) -> Shape:
    if left[1] != right[0]:
        raise VerificationError(f"matmul of {left[0]}x{left[1]} and {right[0]}x{right[1]}")
    return left[0], right[1]


def per_tensor(name: str, arguments: Sequence[Vector], layout: Layout) -> Any:
    """``dot``, ``mean`` or ``nuclear``: a number where there is one tensor, else spread over the entries of each."""
    blocks = [split(argument, layout) for argument in arguments]
    numbers = []
    for parts in zip(*blocks, strict=True):
        if name == "dot":
            numbers.append(dot(*parts))
        elif name == "mean":
            numbers.append(sum(parts[0], mpf(0)) / len(parts[0]))
        else:
            matrix = _as_matrix(parts[0], layout[len(numbers)])
            numbers.append(mpmath.fsum(mpmath.svd_r(matrix, compute_uv=False)))
    if len(numbers) == 1:
        return numbers[0]
    return tuple(x for x, shape in zip(numbers, layout, strict=True) for _ in range(prod(shape)))


def of_matrices(
    name: str, arguments: Sequence[Vector], layouts: Sequence[Layout], labels: Sequence[mpf]
) -> Vector:
    """A function of matrices, tensor by tensor."""
    blocks = [split(argument, layout) for argument, layout in zip(arguments, layouts, strict=True)]
    entries: list[mpf] = []
    for position, parts in enumerate(zip(*blocks, strict=True)):
        shapes = [layout[position] for layout in layouts]
        if name in ("matmul", "transpose") and any(len(shape) != 2 for shape in shapes):
            raise VerificationError(f"{name} takes matrices, got the shapes {shapes}")
        made = _FUNCTIONS[name](*(_as_matrix(*pair) for pair in zip(parts, shapes, strict=True)), *labels)
        entries += list(made)
    return tuple(entries)


def derivative(function: Callable[[Vector], Vector], point: Vector, directions: Sequence[Vector]) -> Vector:
    """``D^k function(point)[directions]``: a central difference for each direction, at ``k + 2`` times the digits."""
    if not directions:
        return function(point)
    digits = mpmath.mp.dps
    with mpmath.workdps(digits * (len(directions) + 2)):
        tau = mpf(10) ** -digits

        def moved(by: mpf, rest: Sequence[Vector], at: Vector) -> Vector:
            if not rest:
                return function(at)
            up, down = (
                moved(by, rest[1:], tuple(x + sign * by * v for x, v in zip(at, rest[0], strict=True)))
                for sign in (1, -1)
            )
            return tuple((a - b) / (2 * by) for a, b in zip(up, down, strict=True))

        return moved(tau, directions, point)


def split(entries: Vector, layout: Layout) -> list[Vector]:
    """The entries of each tensor."""
    if len(entries) != _size(layout):
        raise VerificationError(f"{len(entries)} entries are not tensors of the shapes {layout}")
    found, start = [], 0
    for shape in layout:
        found.append(entries[start : start + prod(shape)])
        start += prod(shape)
    return found


def _matrix(shape: Shape) -> tuple[int, int]:
    """A tensor with one index is a column."""
    if len(shape) == 1:
        return shape[0], 1
    if len(shape) != 2:
        raise VerificationError(f"a function of matrices got a tensor of the shape {shape}")
    return shape[0], shape[1]


def _as_matrix(entries: Vector, shape: Shape) -> Any:
    rows, columns = _matrix(shape)
    return mpmath.matrix([[entries[i * columns + j] for j in range(columns)] for i in range(rows)])


def _matmul(left: Any, right: Any) -> Any:
    if left.cols != right.rows:
        raise VerificationError(f"matmul of {left.rows}x{left.cols} and {right.rows}x{right.cols}")
    return left * right


def _power(matrix: Any, exponent: mpf, eps: mpf) -> Any:
    """``(matrix + eps)^exponent`` of a symmetric matrix."""
    values, vectors = mpmath.eigsy(matrix)
    if any(value + eps <= 0 for value in values):
        raise VerificationError("a root of a matrix that is not positive definite")
    return vectors * mpmath.diag([(value + eps) ** exponent for value in values]) * vectors.T


def _polar(x: Any) -> Any:
    if x.rows > x.cols:
        return _polar(x.T).T
    return _power(x * x.T, mpf(-1) / 2, mpf(0)) * x


def _newton_schulz(x: Any) -> Any:
    """Muon's: x over its norm, then ``x <- a x + (b A + c A^2) x`` with ``A = x x^T``, five times."""
    if x.rows > x.cols:
        return _newton_schulz(x.T).T
    a, b, c = (mpf(number) for number in NEWTON_SCHULZ)
    x = x / mpmath.sqrt(mpmath.fsum(entry**2 for entry in x))
    for _ in range(NEWTON_SCHULZ_STEPS):
        square = x * x.T
        x = a * x + (b * square + c * square * square) * x
    return x


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "matmul": _matmul,
    "transpose": lambda x: x.T,
    "polar": _polar,
    "newton_schulz": _newton_schulz,
    "inverse_root": lambda x, p, eps=0: _power(x, -1 / p, eps),
}
