"""Functions of a whole parameter tensor: the third part of the table of heads (mathematics.md section 9).

    dot(x, y), mean(x)          one number for each parameter tensor: a vector that is constant on each tensor
    norm(x), rms(x)             sqrt(dot(x, x)), sqrt(mean(x**2))
    nuclear(x)                  the sum of the singular values, one number for each tensor; its gradient is polar(x)
    matmul(x, y), transpose(x)  products of matrices
    polar(x)                    U V^T of x = U S V^T; of degree 0
    newton_schulz(x)            Muon's stand-in for it: five odd quintic steps from x/norm(x); of degree 0
    inverse_root(x, p, eps)     (x + eps 1)^(-1/p) of a symmetric matrix; without eps of degree -1/p
    global_dot, global_norm     the same over the whole model, a scalar: total(x*y), sqrt(total(x**2))
    sum_tensors(u)              the sum over the tensors of one number each; sum_tensors(w dot(x, y)) = total(w x y)

The derivatives of the last three matrix functions are heads of their own, ``polar_jvp(x, v)``, ``polar_jvp2(x, u, v)``,
..., as those of open functions; the labels p and eps come last: ``inverse_root_jvp(x, v, p, eps)``.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Function, Integer, Mul, Rational, S, sqrt

from symmem.algebra.families import TOTAL
from symmem.algebra.head import Head, Operands, Roughness, Scope
from symmem.algebra.intervals import NONNEGATIVE
from symmem.algebra.symbols import Kind, derivative_name, name_and_directions

DOT, MEAN, NUCLEAR = Function("dot"), Function("mean"), Function("nuclear")
MATMUL, TRANSPOSE, POLAR = Function("matmul"), Function("transpose"), Function("polar")
SUM_TENSORS = Function("sum_tensors")
MATRIX_FUNCTIONS = ("polar", "newton_schulz", "inverse_root")
"""Those whose derivatives are heads of their own."""
OF_RESULTS = ("nuclear", "sum_tensors")
"""Those that stand in results and not in declarations."""


def norm(x: Expr) -> Expr:
    """The Euclidean norm of every tensor."""
    return sqrt(DOT(x, x))


def rms(x: Expr) -> Expr:
    """The root of the mean square of every tensor."""
    return sqrt(_mean(x**2))


def _mean(x: Expr) -> Expr:
    return S.One if x == 1 else MEAN(x)


def _sum_tensors(uniform: Expr) -> Expr:
    """``sum over tensors of w dot(x, y)`` is a total."""
    factors = Mul.make_args(uniform)
    for factor in factors:
        if factor.func == DOT:
            rest = Mul(*(other for other in factors if other is not factor))
            return TOTAL(rest * factor.args[0] * factor.args[1])
    return SUM_TENSORS(uniform)


def _dot_adjoint(operands: Operands, position: int, weight: Expr) -> Expr:
    return DOT(weight, S.One) * operands[1 - position]


def _matmul_adjoint(operands: Operands, position: int, weight: Expr) -> Expr:
    left, right = operands
    return MATMUL(weight, TRANSPOSE(right)) if position == 0 else MATMUL(TRANSPOSE(left), weight)


TENSOR_HEADS = (
    Head(
        "dot",
        DOT,
        Kind.TENSOR,
        Scope.TENSOR,
        linear_from=0,
        degree=Integer(2),
        is_uniform=True,
        adjoint=_dot_adjoint,
    ),
    Head(
        "mean",
        _mean,
        Kind.TENSOR,
        Scope.TENSOR,
        linear_from=0,
        is_additive=True,
        degree=Integer(1),
        is_uniform=True,
        adjoint=lambda _, __, weight: _mean(weight),
    ),
    Head(
        "nuclear",
        NUCLEAR,
        Kind.TENSOR,
        Scope.TENSOR,
        derivative=lambda operands, rate: DOT(POLAR(*operands), rate),
        degree=Integer(1),
        is_uniform=True,
        gradient=lambda operands: POLAR(*operands),
        image=NONNEGATIVE,
    ),
    Head(
        "matmul",
        MATMUL,
        Kind.TENSOR,
        Scope.TENSOR,
        linear_from=0,
        is_symmetric=False,
        degree=Integer(2),
        adjoint=_matmul_adjoint,
    ),
    Head(
        "transpose",
        TRANSPOSE,
        Kind.TENSOR,
        Scope.TENSOR,
        linear_from=0,
        is_additive=True,
        degree=Integer(1),
        adjoint=lambda _, __, weight: TRANSPOSE(weight),
    ),
    Head("norm", norm, Kind.TENSOR, Scope.TENSOR, degree=Integer(1), is_uniform=True, image=NONNEGATIVE),
    Head("rms", rms, Kind.TENSOR, Scope.TENSOR, degree=Integer(1), is_uniform=True, image=NONNEGATIVE),
    Head("global_dot", lambda x, y: TOTAL(x * y), Kind.SCALAR, Scope.MODEL, degree=Integer(2)),
    Head(
        "global_norm",
        lambda x: sqrt(TOTAL(x**2)),
        Kind.SCALAR,
        Scope.MODEL,
        degree=Integer(1),
        image=NONNEGATIVE,
    ),
    Head("sum_tensors", _sum_tensors, Kind.SCALAR, Scope.MODEL, linear_from=0, is_additive=True),
)
"""``norm, rms, global_dot, global_norm`` build a formula in the others: no expression has them at its top."""


def is_of_tensors(expression: Expr) -> bool:
    """Whether the function at the top is one of this module."""
    name = expression.func.__name__
    return name in {head.name for head in TENSOR_HEADS} or matrix_head(expression) is not None


def matrix_head(expression: Expr) -> Head | None:
    """The record of a matrix function or of a derivative of one; None for all else."""
    name, directions = name_and_directions(expression.func.__name__)
    if name not in MATRIX_FUNCTIONS:
        return None
    return derivative_head(name, directions, expression.args[1 + directions :])


@cache
def derivative_head(name: str, directions: int, labels: Operands) -> Head:
    """A matrix function at a point, along so many directions, with its labels.

    The degree counts all operands: ``f_jvp(c x, c v) = c^degree f_jvp(x, v)`` where ``f(c x) = c^degree f(x)``.
    """
    full = derivative_name(name, directions)
    degree: Rational | None = S.Zero
    if name == "inverse_root":
        degree = -1 / labels[0] if len(labels) == 1 else None
    return Head(
        full,
        Function(full),
        Kind.TENSOR,
        Scope.TENSOR,
        linear_from=1,
        raised=lambda: derivative_head(name, directions + 1, labels),
        degree=degree,
        operands=1 + directions,
        roughness=_roughness(name, labels),
        potential=_nuclear_norm if (name, directions) == ("polar", 0) else None,
    )


def _roughness(name: str, labels: Operands) -> Roughness | None:
    """Muon's polynomial divides by the norm, an inverse root without eps and the polar factor need full rank."""
    if name == "newton_schulz":
        return Roughness.SINGULAR
    return None if len(labels) > 1 else Roughness.RANK


def _nuclear_norm(x: Expr) -> Expr:
    return _sum_tensors(NUCLEAR(x))


def size_of_tensor() -> Expr:
    """How many entries each tensor has."""
    return DOT(S.One, S.One)
