"""What kernels have in common at shifted lags: sums over pairs of steps that noise leaves (mathematics.md section 7).

    X_qr(i) = sum_{j>=0} c_q(i+j) c_r(j),   tail_l(i) = sum_{k>=i} c_l(k),        in the limit of many steps

From the recursion of a kernel, ``c(k) = C A^k B``, every sum over i or k is a geometric series of matrices, whatever
the kernel.  For two geometric ones, ``c_l = b a^k`` and ``c_r = b' a'^k``: ``X_lr(i) = b b' a^i/(1 - a a')``.
"""

from __future__ import annotations

from sympy import Expr, Matrix, eye
from sympy.matrices.dense import MutableDenseMatrix

from symmem.method.kernel import Kernel
from symmem.method.realisation import summed, tensor_product


def lagged_overlap(left: Kernel, right: Kernel) -> Expr:
    """``sum_k k c(k) c'(k)``."""
    one, other = _Recursion(left), _Recursion(right)
    powers = tensor_product(one.A, other.A)
    inner = summed(powers, tensor_product(one.B, other.B))
    return _read(tensor_product(one.C, other.C), powers * summed(powers, inner))


def earlier_overlap(left: Kernel, right: Kernel) -> Expr:
    """``sum_{i>=1} X(i) = sum_{i>=1} sum_j c(i+j) c'(j)``: a value, and the updates after it that have seen it."""
    one, other = _Recursion(left), _Recursion(right)
    both = _meeting(one, other)
    ahead = tensor_product(one.A, eye(other.A.rows))
    return _read(tensor_product(one.C, other.C), ahead * summed(ahead, both))


def weighted_overlap(tail: Kernel, left: Kernel, right: Kernel) -> Expr:
    """``sum_{i>=1} tail(i) X(i)``."""
    first, one, other = _Recursion(tail), _Recursion(left), _Recursion(right)
    powers = _ahead(first, one, other)
    force = tensor_product(summed(first.A, first.B), _meeting(one, other))
    return _read(_readers(first, one, other), powers * summed(powers, force))


def newer_overlap(tail: Kernel, left: Kernel, right: Kernel) -> Expr:
    """``sum_{i>=0} tail(i+1) X(i)``."""
    first, one, other = _Recursion(tail), _Recursion(left), _Recursion(right)
    force = tensor_product(first.A * summed(first.A, first.B), _meeting(one, other))
    return _read(_readers(first, one, other), summed(_ahead(first, one, other), force))


def branch_overlap(branch: Kernel, left: Kernel, right: Kernel) -> Expr:
    """``sum_{i>=0} c(i) X(i)``, c that of the branch."""
    first, one, other = _Recursion(branch), _Recursion(left), _Recursion(right)
    force = tensor_product(first.B, _meeting(one, other))
    return _read(_readers(first, one, other), summed(_ahead(first, one, other), force))


def lagged_branch_overlap(branch: Kernel, left: Kernel, right: Kernel) -> Expr:
    """``sum_{i>=0} i c(i) X(i)``."""
    first, one, other = _Recursion(branch), _Recursion(left), _Recursion(right)
    powers = _ahead(first, one, other)
    inner = summed(powers, tensor_product(first.B, _meeting(one, other)))
    return _read(_readers(first, one, other), powers * summed(powers, inner))


class _Recursion:
    """The limit recursion of a kernel, as matrices; C stands upright."""

    def __init__(self, kernel: Kernel) -> None:
        found = kernel.limit_realisation()
        self.A, self.B, self.C = Matrix(found.A), Matrix(found.B), Matrix(found.C)


def _meeting(one: _Recursion, other: _Recursion) -> MutableDenseMatrix:
    """``sum_j A^j B x A'^j B'``: both states, of one value j steps ago."""
    return summed(tensor_product(one.A, other.A), tensor_product(one.B, other.B))


def _ahead(first: _Recursion, one: _Recursion, other: _Recursion) -> MutableDenseMatrix:
    """A step more for the first two: the value of the third stays where it is."""
    return tensor_product(tensor_product(first.A, one.A), eye(other.A.rows))


def _readers(first: _Recursion, one: _Recursion, other: _Recursion) -> MutableDenseMatrix:
    return tensor_product(first.C, tensor_product(one.C, other.C))


def _read(readers: MutableDenseMatrix, state: MutableDenseMatrix) -> Expr:
    value: Expr = (readers.T * state)[0]
    return value
