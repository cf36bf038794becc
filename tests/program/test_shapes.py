"""The shape of a product of matrices, against NumPy's, by the letters of theta's."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import Symbol

from symmem import Momentum, Optimizer
from symmem.algebra.atoms import GRAD, THETA
from symmem.method.reading import method_of
from symmem.program.shapes import THETA_SHAPE, is_like_theta, shape_of

SIZES = {"rows": 3, "columns": 5}
THETA_VALUE = np.ones((3, 5))
FUNCTIONS = {
    "matmul": np.matmul,
    "transpose": np.transpose,
    "dot": lambda x, y: (x * y).sum(),
    "mean": np.mean,
    "sqrt": np.sqrt,
}
EXPRESSIONS = {
    "grad": True,
    "matmul(grad, transpose(grad))": False,
    "matmul(transpose(theta), grad)": False,
    "transpose(grad)": False,
    "transpose(transpose(grad))": True,
    "matmul(matmul(grad, transpose(theta)), grad)": True,
    "matmul(grad, matmul(transpose(grad), grad))/(2 + dot(grad, grad))": True,
    "transpose(2*grad**2)/mean(grad)": False,
    "sqrt(grad**2 + dot(theta, grad))": True,
    "dot(transpose(grad), transpose(theta))*grad": True,
}


@pytest.mark.parametrize(("text", "like"), EXPRESSIONS.items())
def test_it_is_that_of_numpy(text: str, like: bool) -> None:
    optimizer = Optimizer("one", "m1", [Momentum(text, "0", "1")])
    g = method_of(optimizer).channels[0].g
    found = shape_of(g, {THETA: THETA_SHAPE, GRAD: THETA_SHAPE})
    value = eval(text, dict(FUNCTIONS), {"grad": THETA_VALUE, "theta": THETA_VALUE})
    assert found is not None
    assert tuple(SIZES[letter] for letter in found) == value.shape
    m = Symbol("m")
    assert is_like_theta([(m, g), (Symbol("phi"), m)]) == like
