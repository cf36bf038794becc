"""The PyTorch target: functions of tensors, differentiable where their arguments are, and optimizer classes."""

from __future__ import annotations

from symmem.derivation.derivation import Derivation
from symmem.program.lowering import lower
from symmem.targets.python.code import NAMES, PythonWriter, Spelling
from symmem.targets.python.module import PythonTarget, python_module, taken_names
from symmem.targets.python.printing import Dialect
from symmem.targets.torch.group_functions import class_values
from symmem.targets.torch.memory_functions import memory_values

_TENSORS = {
    "Abs": "torch.abs({})",
    **{name: f"torch.{name}({{}})" for name in ("sqrt", "sign", "exp", "log", "sin", "cos", "tan")},
    **{name: f"torch.{name}({{}})" for name in ("sinh", "cosh", "tanh", "atan")},
}
_NUMBERS = {
    "Abs": "abs({})",
    "sign": "float(({0} > 0) - ({0} < 0))",
    **{name: f"math.{name}({{}})" for name in ("sqrt", "exp", "log", "sin", "cos", "tan")},
    **{name: f"math.{name}({{}})" for name in ("sinh", "cosh", "tanh", "atan")},
}

SPELLING = Spelling(
    vectors=Dialect(_TENSORS, "torch.rsqrt({})", NAMES),
    scalars=Dialect(_NUMBERS, "1.0 / math.sqrt({})", NAMES),
    ranges=Dialect(_TENSORS, "torch.rsqrt({})", NAMES),
)
TARGET = PythonTarget("torch/module.py.jinja", has_out=True)


def torch_module(derivation: Derivation) -> str:
    """The PyTorch module of a derivation."""
    program = lower(derivation)
    writer = PythonWriter(SPELLING, taken_names(program))
    values = {**class_values(derivation, writer), **memory_values(derivation, writer)}
    return python_module(derivation, program, TARGET, writer, values)
