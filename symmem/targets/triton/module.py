"""The Triton target: one module with a fused kernel for each function, over one tensor or many in a single launch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from symmem.derivation.derivation import Derivation
from symmem.output.rendering import render
from symmem.program.needs import Need
from symmem.program.tolerance import TOLERANCE_BITS
from symmem.targets.comments import in_docstring
from symmem.targets.kernel_program import kernel_program
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
    needed={
        Need.FEW: ("_counted",),
        Need.RULE: ("_counted",),
        Need.STEPS: ("_counted", "_stacked", "_columns"),
    },
)
SCALARS = Helpers(OF_NUMBERS.file, (), OF_NUMBERS.needed)
"""Functions of numbers: those of the PyTorch module."""


@dataclass(frozen=True)
class TritonCode:
    """The text of a module, and its functions that have kernels, each as (name, "finite" or "limit")."""

    text: str
    known: frozenset[tuple[str, str]]


def triton_module(derivation: Derivation) -> str:
    """The Triton module of a derivation of order 1 that treats each entry by itself."""
    return triton_code(derivation).text


def triton_code(derivation: Derivation) -> TritonCode:
    """The same with what it has."""
    program = kernel_program(derivation, "Triton", adds_up=False)
    scope = python_scope(program, OUTER)
    writer = PythonWriter(spelling(scope), scope)
    made = FunctionWriter(program, writer)
    functions, kernels = made.functions(derivation), made.kernels.lines()
    refusals = refused_poles(program, "", writer)
    needs = made.needs | ({Need.POLE} if refusals else set())
    device = copied(_DEVICE, {"_place", "_pointer", *made.kernels.used})
    helpers = [part for each in (CHECKS, HOST, SCALARS) for part in each.chosen(needs)]
    text = render(
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
            "has_sums": not needs.isdisjoint({Need.STEPS, Need.FEW, Need.RULE}),
            **program.digits,
        },
    )
    return TritonCode(text, frozenset(each for each, found in made.known.items() if found))
