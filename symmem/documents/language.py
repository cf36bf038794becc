"""The atoms of every formula by the names that a person types: ``from symmem import D2L, grad, theta``."""

from __future__ import annotations

from sympy import Function

from symmem.algebra.atoms import GRAD, LR, STEP, THETA, TOTAL

theta, grad, lr, n = THETA, GRAD, LR, STEP
total = TOTAL
D2L = Function("D2L")
"""The Hessian of the loss applied to a vector."""
