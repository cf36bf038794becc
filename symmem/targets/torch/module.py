"""The PyTorch target: functions of tensors, differentiable where their arguments are, and optimizer classes."""

from __future__ import annotations

from symmem.derivation.derivation import Derivation
from symmem.program.lowering import lower
from symmem.program.scope import Scope
from symmem.targets.printing import Dialect
from symmem.targets.python.module import PythonTarget, python_module, python_scope
from symmem.targets.python.writer import PythonWriter, Spelling
from symmem.targets.torch.group_functions import class_values
from symmem.targets.torch.memory_functions import memory_values

_FUNCTIONS = ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan")
OUTER = ("torch", "math", "abs", "float", "range", "ValueError")
TARGET = PythonTarget("torch/module.py.jinja", has_out=True)


def spelling(scope: Scope) -> Spelling:
    """How PyTorch spells functions of tensors, and Python those of numbers."""
    torch, math, number = scope.outer("torch"), scope.outer("math"), scope.outer("float")
    tensors = {"Abs": f"{torch}.abs({{}})", "sign": f"{torch}.sign({{}})"}
    tensors |= {name: f"{torch}.{name}({{}})" for name in _FUNCTIONS}
    numbers = {"Abs": f"{scope.outer('abs')}({{}})", "sign": f"{number}(({{0}} > 0) - ({{0}} < 0))"}
    numbers |= {name: f"{math}.{name}({{}})" for name in _FUNCTIONS}
    of_tensors = Dialect(tensors, f"{torch}.rsqrt({{}})")
    return Spelling(of_tensors, Dialect(numbers, f"1.0 / {math}.sqrt({{}})"), of_tensors)


def torch_module(derivation: Derivation) -> str:
    """The PyTorch module of a derivation."""
    program = lower(derivation)
    scope = python_scope(program, OUTER)
    writer = PythonWriter(spelling(scope), scope)
    values = {**class_values(derivation, writer), **memory_values(derivation, writer)}
    return python_module(derivation, program, TARGET, writer, values)
