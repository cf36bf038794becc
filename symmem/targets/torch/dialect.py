"""How PyTorch spells functions of tensors, and Python those of numbers."""

from __future__ import annotations

from symmem.program.scope import Scope
from symmem.targets.printing import Dialect
from symmem.targets.python.writer import Spelling

_FUNCTIONS = ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan", "erf")
_EXTREMES = {"Max": "min", "Min": "max"}
"""What torch.clamp calls the bound."""
OUTER = ("torch", "math", "abs", "float", "range", "ValueError")


def spelling(scope: Scope) -> Spelling:
    """The dialects of tensors, of numbers, and of a number for each of many steps, which is a tensor."""
    torch, math, number = scope.outer("torch"), scope.outer("math"), scope.outer("float")
    tensors = {"Abs": f"{torch}.abs({{}})", "sign": f"{torch}.sign({{}})"}
    tensors |= {name: f"{torch}.{name}({{}})" for name in _FUNCTIONS}
    # The second may be a number: torch.maximum takes tensors alone, torch.where rounds a number to the default type.
    # Where only n is asked, as by a delay, both are: Min(1, n).
    tensors |= {
        name: f"{torch}.clamp({torch}.as_tensor({{}}), {end}={{}})" for name, end in _EXTREMES.items()
    }
    numbers = {"Abs": f"{scope.outer('abs')}({{}})", "sign": f"({number}({{0}} > 0) - {number}({{0}} < 0))"}
    numbers |= {name: f"{math}.{name}({{}})" for name in _FUNCTIONS}
    numbers |= {"Min": "min({}, {})", "Max": "max({}, {})"}  # no parameter has these names
    tensors["Shortfall"], numbers["Shortfall"] = "_shortfalls({}, {})", "_shortfall({}, {})"
    tensors["Complete"] = "_completes"
    of_tensors = Dialect(tensors, f"{torch}.rsqrt({{}})")
    return Spelling(of_tensors, Dialect(numbers, f"1.0 / {math}.sqrt({{}})"), of_tensors)
