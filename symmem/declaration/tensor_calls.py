"""Functions of a whole parameter tensor and of the model, as a declaration calls them; beside ``bounded``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from sympy import Expr, Function, Integer

from symmem.algebra import tensor_heads
from symmem.algebra.atoms import is_scalar
from symmem.declaration import bounded

FUNCTIONS: Mapping[str, Callable[..., Expr]] = MappingProxyType(
    {
        each.name: each.function
        for each in tensor_heads.TENSOR_HEADS
        if each.name not in tensor_heads.OF_RESULTS
    }
    | {name: Function(name) for name in tensor_heads.MATRIX_FUNCTIONS}
)
"""By name; norm and its kin build a formula in the others, as sqrt builds a power."""
MAX_ROOT = 16
_FORMS: Mapping[str, tuple[tuple[str, ...], ...]] = MappingProxyType(
    {
        "inverse_root": (("x", "p"), ("x", "p", "eps")),
        **dict.fromkeys(("dot", "global_dot", "matmul"), (("x", "y"),)),
    }
)
"""What a function takes, in its one or two forms, where that is not one vector x."""
_ONE = (("x",),)


class TensorCallError(bounded.ArithmeticRefusal):
    """A call with other arguments than the function takes."""


def usage(name: str) -> str:
    """How the function is called."""
    return " or ".join(f"{name}({', '.join(form)})" for form in _FORMS.get(name, _ONE))


def call(name: str, arguments: Sequence[Expr]) -> Expr:
    """The function ``name`` of these arguments; the order of a root is a whole number, and its eps a scalar."""
    counts = [len(form) for form in _FORMS.get(name, _ONE)]
    if len(arguments) not in counts:
        raise TensorCallError(
            f"{name} takes {counts[0]} argument{'s' * (counts[0] > 1)}; write {usage(name)}"
        )
    if is_scalar(arguments[0]) and all(map(is_scalar, arguments)):
        raise TensorCallError(f"{name} takes vectors; give it theta, grad or a momentum variable")
    if name == "inverse_root":
        root, *shift = arguments[1:]
        if not (isinstance(root, Integer) and 1 <= root <= MAX_ROOT):
            raise TensorCallError(f"inverse_root: p is a whole number from 1 to {MAX_ROOT}; write one")
        if not all(map(is_scalar, shift)):
            raise TensorCallError("inverse_root: eps is a scalar; write a parameter")
    return bounded.checked(FUNCTIONS[name](*arguments))
