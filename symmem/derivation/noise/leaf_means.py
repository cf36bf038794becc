"""What a past step of a cascade has to do with the present: its gradient moves by the Hessian, its iterate by itself.

moved(grad, v) = D2L[v]          mixed(grad, w) = E xi D2L[w xi] = Q(w)
moved(theta, v) = v              mixed(theta, w) = E xi w xi = w V          (mathematics.md section 7, cascades)
"""

from __future__ import annotations

from sympy import Expr, Symbol

from symmem.algebra.atoms import GRAD, THETA, contraction
from symmem.algebra.symbols import VARIANCE
from symmem.derivation.noise.minibatch import noisy_hessian
from symmem.method.method import Method


def leaves(method: Method) -> tuple[Symbol, ...]:
    """What its g read of a step: the gradient, and the iterate where one does."""
    moves = any(THETA in channel.g.free_symbols for channel in method.channels)
    return (GRAD, THETA) if moves else (GRAD,)


def moved(leaf: Symbol, way: Expr) -> Expr:
    """How the leaf changes when the iterate of its step lies along the way."""
    return contraction(way) if leaf == GRAD else way


def mixed(leaf: Symbol, weights: Expr) -> Expr:
    """The mean of noise times the change of the leaf along ``weights`` times the same noise."""
    return noisy_hessian(weights) if leaf == GRAD else weights * VARIANCE
