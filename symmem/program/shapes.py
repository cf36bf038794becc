"""The shape of a matrix by the letters of that of theta: ``grad grad^T`` has the shape ``("rows", "rows")``.

For example ``matmul(matmul(grad, transpose(grad)), grad)`` is like theta again, by ``(r, c)(c, r) = (r, r)`` and
``(r, r)(r, c) = (r, c)``; the row means of NorMuon are ``matmul(matmul(x, transpose(ones)), ones)``, like theta too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sympy import Expr, Symbol

from symmem.algebra.atoms import GRAD, THETA, Kind, opaque_parts
from symmem.algebra.heads import HEADS, operands_of
from symmem.algebra.tensor_heads import is_of_tensors

Shape = tuple[str, str]
THETA_SHAPE: Shape = ("rows", "columns")


def shape_of_value(function: str, shapes: Sequence[Shape | None]) -> Shape:
    """The shape of a function of matrices, of these shapes; None for a number."""
    known = [THETA_SHAPE if shape is None else shape for shape in shapes]
    if function == "transpose":
        return known[0][::-1]
    return (known[0][0], known[1][1]) if function == "matmul" else known[0]


def is_like_theta(expressions: Iterable[tuple[Symbol, Expr]]) -> bool:
    """Whether every expression has the shape of theta, or is a number; each may read the symbols before it."""
    known: dict[Symbol, Shape | None] = {THETA: THETA_SHAPE, GRAD: THETA_SHAPE}
    for symbol, expression in expressions:
        known[symbol] = shape_of(expression, known)
        if known[symbol] not in (None, THETA_SHAPE):
            return False
    return True


def shape_of(expression: Expr, known: Mapping[Symbol, Shape | None]) -> Shape | None:
    """The shape of an expression, None for a number; arithmetic goes entry by entry, so that all its parts have one."""
    if isinstance(expression, Symbol):
        return known.get(expression)
    if not is_of_tensors(expression):
        parts = (shape_of(part, known) for part in expression.args)
        return next((shape for shape in parts if shape is not None), None)
    head = HEADS.of(expression)
    assert head is not None
    if head.is_uniform or head.kind is Kind.SCALAR:
        return None
    shapes = [shape_of(operand, known) for operand in operands_of(expression, head)]
    return shape_of_value(opaque_parts(expression)[0], shapes)
