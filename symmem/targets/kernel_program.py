"""Derivation -> the Program of a target whose code cannot call back, or its refusal: one source for C and Triton."""

from __future__ import annotations

from sympy import Expr
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import TOTAL
from symmem.algebra.tensor_heads import is_of_tensors
from symmem.derivation.derivation import Derivation
from symmem.errors import DerivationError
from symmem.program.one_tensor import of_matrices
from symmem.program.products import lower_products
from symmem.program.program import Program
from symmem.targets.registry import TARGETS


def kernel_program(derivation: Derivation, target: str, *, adds_up: bool) -> Program:
    """The program of order 1; ``adds_up``: the target has sums over all entries of a tensor, so dot, norm and mean."""
    name, method = derivation.optimizer.name, derivation.method
    if derivation.order != 1:
        raise DerivationError(
            f"{name}: the {target} target has order 1, not {derivation.order}; leave --order out"
        )
    if derivation.optimizer.functions:
        names = ", ".join(function.name for function in derivation.optimizer.functions)
        raise DerivationError(f"{name}: a kernel cannot call the function {names}; {_others()}")
    declared = [method.phi, *(channel.g for channel in method.channels)]
    if (reason := _of_more_than_entries(declared, target, adds_up=adds_up)) is not None:
        raise DerivationError(f"{name}: {reason}")
    program = lower_products(derivation)
    if "memoryless" not in program:
        raise DerivationError(str(derivation.limit.F))
    return program


def _others() -> str:
    *others, last = (each.name for each in TARGETS.values() if each.calls_back)
    return f"this optimizer has the targets {', '.join(others)} and {last}"


def _of_more_than_entries(declared: list[Expr], target: str, *, adds_up: bool) -> str | None:
    """Why a kernel, which gets the entries of one tensor and not its shape, cannot compute these; None: it can."""
    of_model = any(each.has(TOTAL) for each in declared)
    if not adds_up and (of_model or any(any(map(is_of_tensors, e.atoms(AppliedUndef))) for e in declared)):
        return (
            "a function of a whole tensor or of the model (dot, norm, mean, polar and their kin), and the "
            f"{target} target has entrywise functions alone; take torch, which has most of them, numpy or jax"
        )
    if of_model:
        return (
            "a number of the whole model (global_dot, global_norm), and a kernel sees one tensor at a time; "
            "of one tensor, dot and norm are there; for the model take torch, numpy or jax"
        )
    if matrices := of_matrices(declared):
        return (
            f"{', '.join(matrices)} needs the shape of the matrix and linear algebra, and a kernel gets "
            "entries alone; take numpy or jax, or torch, which has most of them"
        )
    return None
