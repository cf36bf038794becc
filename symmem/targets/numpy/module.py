"""The NumPy target: one module that imports numpy alone, works on arrays of any shape, and keeps float32."""

from __future__ import annotations

from symmem.derivation.derivation import Derivation
from symmem.program.lowering import lower
from symmem.targets.python.code import NAMES, PythonWriter, Spelling
from symmem.targets.python.module import PythonTarget, python_module, taken_names
from symmem.targets.python.printing import Dialect

_FUNCTIONS = {
    "sqrt": "np.sqrt({})", "Abs": "np.abs({})", "sign": "np.sign({})", "exp": "np.exp({})", "log": "np.log({})",
    "sin": "np.sin({})", "cos": "np.cos({})", "tan": "np.tan({})", "sinh": "np.sinh({})", "cosh": "np.cosh({})",
    "tanh": "np.tanh({})", "atan": "np.arctan({})",
}  # fmt: skip
_NUMBERS = {name: f"float({spelled})" for name, spelled in _FUNCTIONS.items()}

SPELLING = Spelling(
    vectors=Dialect(_FUNCTIONS, "1.0 / np.sqrt({})", NAMES),
    # A Python float does not turn a float32 array into float64; a NumPy scalar would.
    scalars=Dialect(_NUMBERS, "1.0 / float(np.sqrt({}))", NAMES),
    ranges=Dialect(_FUNCTIONS, "1.0 / np.sqrt({})", NAMES),
)
TARGET = PythonTarget("numpy/module.py.jinja", has_out=True)


def numpy_module(derivation: Derivation) -> str:
    """The NumPy module of a derivation."""
    program = lower(derivation)
    return python_module(derivation, program, TARGET, PythonWriter(SPELLING, taken_names(program)))
