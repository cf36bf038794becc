"""Means over the noise of a batch, as functions of vectors (mathematics.md section 7).

The gradient of one batch is ``grad + xi`` with ``E xi = 0``, its Hessian ``D2L + Dxi``; both depend on theta.  To
second order in xi all that an average leaves is

    variance               V = E xi xi, entry by entry
    variance_along(v)      DV[v] = 2 E xi Dxi[v]
    variance_gradient(w)   DV^T[w] = sum_i w_i grad V_i = 2 E Dxi[w xi], for Dxi is symmetric; w does not move
    noisy_hessian(w)       E xi D2L[w xi]: the Hessian times the covariance of the gradient, entry by entry, on w
"""

from __future__ import annotations

from sympy import Expr, Function, Integer

from symmem.algebra.head import Head, Scope
from symmem.algebra.symbols import Kind

VARIANCE_ALONG = Function("variance_along")
VARIANCE_GRADIENT = Function("variance_gradient")
NOISY_HESSIAN = Function("noisy_hessian")


def _transposed_along(_: tuple[Expr, ...], __: int, w: Expr) -> Expr:
    return VARIANCE_GRADIENT(w)


def _transposed_gradient(_: tuple[Expr, ...], __: int, w: Expr) -> Expr:
    return VARIANCE_ALONG(w)


NOISE_HEADS = (
    Head(
        "variance_along",
        VARIANCE_ALONG,
        Kind.TENSOR,
        Scope.MODEL,
        linear_from=0,
        degree=Integer(1),
        adjoint=_transposed_along,
    ),
    Head(
        "variance_gradient",
        VARIANCE_GRADIENT,
        Kind.TENSOR,
        Scope.MODEL,
        linear_from=0,
        degree=Integer(1),
        adjoint=_transposed_gradient,
    ),
    # Symmetric: the entries H_ij Cov_ij of its matrix are.
    Head("noisy_hessian", NOISY_HESSIAN, Kind.TENSOR, Scope.MODEL, linear_from=0, degree=Integer(1)),
)
