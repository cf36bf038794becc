"""Means over the noise of a batch, as functions of vectors (mathematics.md section 7).

The gradient of one batch is ``grad + xi`` with ``E xi = 0``, its Hessian ``D2L + Dxi``; both depend on theta.  To
second order in xi all that an average leaves is

    variance               V = E xi xi, entry by entry
    variance_along(v)      DV[v] = 2 E xi Dxi[v]
    variance_gradient(w)   DV^T[w] = sum_i w_i grad V_i = 2 E Dxi[w xi], for Dxi is symmetric; w does not move
    noisy_hessian(w)       E xi D2L[w xi]: the Hessian times the covariance of the gradient, entry by entry, on w
"""

from __future__ import annotations

from sympy import Function, Integer

from symmem.algebra.head import Head, Scope
from symmem.algebra.symbols import Kind

VARIANCE_ALONG = Function("variance_along")
VARIANCE_GRADIENT = Function("variance_gradient")
NOISY_HESSIAN = Function("noisy_hessian")


def _linear(function: Function, adjoint: Function | None = None) -> Head:
    """A linear map of a vector; without an adjoint it is symmetric."""
    transposed = None if adjoint is None else lambda _, __, w: adjoint(w)
    name = function.__name__
    return Head(
        name, function, Kind.TENSOR, Scope.MODEL, linear_from=0, degree=Integer(1), adjoint=transposed
    )


NOISE_HEADS = (
    _linear(VARIANCE_ALONG, VARIANCE_GRADIENT),
    _linear(VARIANCE_GRADIENT, VARIANCE_ALONG),
    # Symmetric: the entries H_ij Cov_ij of its matrix are.
    _linear(NOISY_HESSIAN),
)
