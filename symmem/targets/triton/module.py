"""The Triton target: one module with a fused kernel for each function, over one tensor or many in a single launch."""

from __future__ import annotations

from pathlib import Path

from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import TOTAL
from symmem.algebra.tensor_heads import is_of_tensors
from symmem.derivation.derivation import Derivation
from symmem.errors import DerivationError
from symmem.output.rendering import render
from symmem.program.products import lower_products
from symmem.program.program import Need, Program
from symmem.program.tolerance import TOLERANCE_BITS
from symmem.targets.comments import in_docstring
from symmem.targets.python.copied import Helpers, copied
from symmem.targets.python.module import CHECKS, banner, formula_lines, python_scope, refused_poles
from symmem.targets.python.surfaces import check
from symmem.targets.python.writer import PythonWriter
from symmem.targets.torch.dialect import OUTER, spelling
from symmem.targets.torch.pieces import HELPERS as OF_NUMBERS
from symmem.targets.triton.functions import FunctionWriter

_HOST, _DEVICE = (Path(__file__).with_name(name) for name in ("helpers.py", "device.py"))
NAMES = ("KINDS", "CONFIGURATIONS", "SCRATCH", "_CHOSEN")
HOST = Helpers(
    _HOST,
    always=(
        *("_Call", "_zeros", "_listed", "_numbered", "_check_like", "_check_apart", "_check_given"),
        *("_launch", "_fastest", "_owners", "_table"),
    ),
    needed={Need.STEPS: ("_steps", "_rows", "_columns", "_few", "_nodes")},
)
SCALARS = Helpers(OF_NUMBERS.file, (), {**OF_NUMBERS.needed, Need.STEPS: ("_added",)})
"""Functions of numbers: those of the PyTorch module."""


def triton_module(derivation: Derivation) -> str:
    """The Triton module of a derivation of order 1 that treats each entry by itself."""
    program = _program(derivation)
    scope = python_scope(program, OUTER)
    writer = PythonWriter(spelling(scope), scope)
    made = FunctionWriter(program, writer)
    functions, kernels = made.functions(derivation), made.kernels.lines()
    refusals = refused_poles(program, "", writer)
    needs = made.needs | ({Need.POLE} if refusals else set())
    device = copied(_DEVICE, {"_place", "_pointer", *made.kernels.used})
    helpers = [part for each in (CHECKS, HOST, SCALARS) for part in each.chosen(needs)]
    return render(
        "triton/module.py.jinja",
        {
            "title": in_docstring(str(program.optimizer.title)),
            "order": program.order,
            "banner": banner(program),
            "formulas": formula_lines(derivation),
            "names": copied(_HOST, NAMES),
            "aliases": [f"{new} = {old}" for new, old in scope.aliases],
            "functions": [*functions, *kernels, [*check(program, ""), *refusals]],
            "helpers": [*device, *helpers],
            "tolerance": TOLERANCE_BITS,
            "has_sums": Need.STEPS in needs,
            **program.digits,
        },
    )


def _program(derivation: Derivation) -> Program:
    name, method = derivation.optimizer.name, derivation.method
    if derivation.order != 1:
        raise DerivationError(
            f"{name}: the Triton target has order 1, not {derivation.order}; leave --order out"
        )
    if derivation.optimizer.functions:
        names = ", ".join(function.name for function in derivation.optimizer.functions)
        raise DerivationError(f"{name}: a kernel cannot call the function {names}; take numpy, torch or jax")
    declared = [method.phi, *(channel.g for channel in method.channels)]
    if any(each.has(TOTAL) or any(map(is_of_tensors, each.atoms(AppliedUndef))) for each in declared):
        raise DerivationError(
            f"{name}: a function of a whole tensor or of the model (dot, norm, mean, polar and their kin), and the "
            "Triton target has entrywise functions alone; take torch, numpy or jax"
        )
    program = lower_products(derivation)
    if "memoryless" not in program:
        raise DerivationError(str(derivation.limit.F))
    return program
