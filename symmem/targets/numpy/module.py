"""The NumPy target: one module that imports numpy alone, works on arrays of any shape, and keeps float32."""

from __future__ import annotations

from pathlib import Path

from symmem.derivation.derivation import Derivation
from symmem.program.lowering import lower
from symmem.program.needs import Need
from symmem.program.noise import with_noise
from symmem.program.program import Program
from symmem.program.scope import Scope
from symmem.targets.numpy.writer import FUNCTIONS, OF_TWO, OTHERS, NumpyWriter
from symmem.targets.printing import Dialect
from symmem.targets.python.copied import Helpers, copied
from symmem.targets.python.module import (
    CHECKS,
    MATRICES,
    NOISE,
    SUMS,
    PythonTarget,
    python_module,
    python_scope,
)
from symmem.targets.python.writer import Spelling

OUTER = ("np", "float", "range", "ValueError")
HELPERS = Helpers(
    Path(__file__).with_name("helpers.py"),
    always=("_array", "_like"),
    needed={
        **SUMS,
        Need.TOTAL: ("_total",),
        Need.ERF: ("_erf",),
        Need.SHAPED: ("_shaped",),
        Need.NOISE: ("_rows", "_repeated"),
    },
)
BLOCKS = Helpers(
    Path(__file__).with_name("blocks.py"),
    always=("_entrywise", "_threads", "_in_threads", "_work", "_can_be_cut"),
)
NAMES = ("Array", "BLOCK", "SHARE")
"""What stands above the functions."""
TARGET = PythonTarget(
    "numpy/module.py.jinja", has_out=True, helpers=(CHECKS, BLOCKS, HELPERS, MATRICES, NOISE)
)


def spelling(scope: Scope) -> Spelling:
    """How NumPy spells functions of arrays, and of numbers."""
    np, number = scope.outer("np"), scope.outer("float")
    arrays = {name: f"{np}.{own}({{}})" for name, own in FUNCTIONS.items()}
    arrays |= {name: f"{np}.{own}({{}}, {{}})" for name, own in OF_TWO.items()}
    arrays |= {**OTHERS, "Shortfall": "_shortfalls({}, {})", "Complete": "_completes"}
    of_arrays = Dialect(arrays, f"1.0 / {np}.sqrt({{}})")
    # A Python float does not turn a float32 array into float64; a NumPy scalar would.
    numbers = {name: f"{number}({arrays[name]})" for name in (*FUNCTIONS, "erf")}
    numbers["Shortfall"] = "_shortfall({}, {})"
    numbers |= {"Min": "min({}, {})", "Max": "max({}, {})"}  # no parameter has these names
    return Spelling(of_arrays, Dialect(numbers, f"1.0 / {number}({np}.sqrt({{}}))"), of_arrays)


def numpy_module(derivation: Derivation, *, minibatch: bool = False) -> str:
    """The NumPy module of a derivation; ``minibatch``: with the functions of the noise of batches."""
    program = lower(derivation)
    return numpy_text(derivation, with_noise(program, derivation) if minibatch else program)


def numpy_text(derivation: Derivation, program: Program) -> str:
    """The same, where the program is there already."""
    scope = python_scope(program, OUTER)
    writer = NumpyWriter(spelling(scope), scope)
    return python_module(derivation, program, TARGET, writer, {"names": copied(BLOCKS.file, NAMES)})
