"""The Python module of a built library: the functions of the emitted NumPy module, by ctypes.

What it does is in the runtime, two files that are copied beside it; here are its signatures.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from symmem import __version__
from symmem.notation.decimals import decimal
from symmem.output.rendering import render
from symmem.program.program import Program
from symmem.program.scope import Scope
from symmem.targets.c.layout import c_name
from symmem.targets.c.source import runtime_text
from symmem.targets.comments import in_docstring
from symmem.targets.python.layout import INDENT, WIDTH, call, signature

RUNTIME = {"kernels": "_kernels_by_ctypes", "operators": "_kernels_in_torch"}
"""The modules that are copied beside the wrappers of a library, and what they are called there; no optimizer is."""


@dataclass(frozen=True)
class Function:
    """A function of the module, for the template."""

    head: list[str]
    claim: str
    body: list[str]


def runtime_modules() -> dict[str, str]:
    """Name and text of the modules that are copied."""
    return {f"{name}.py": runtime_text(f"{module}.py") for module, name in RUNTIME.items()}


def kernel_module(program: Program, library: str) -> str:
    """The text of the module, formatted; ``library`` is the name of the library without lib and ending."""
    optimizer = program.optimizer
    prefix = f"symmem_{c_name(optimizer.name)}"
    banner = f"Made by symmem {__version__} from the optimizer {optimizer.name}. Do not edit: build it again."
    runtime = f'_beside("{RUNTIME["kernels"]}").Kernels'
    given = ["NAME", f'"{prefix}"', f'"{library}"', "PARAMETERS", "__file__"]
    return render(
        "kernels/module.py.jinja",
        {
            "title": in_docstring(str(optimizer.title)),
            "banner": textwrap.wrap(banner, WIDTH),
            "name": optimizer.name,
            "runtime": RUNTIME,
            "regime": program.regime,
            "parameters": _listed("PARAMETERS", [f'"{name}"' for name in program.parameters]),
            "kernels": call("_kernels = ", runtime, given, WIDTH),
            "functions": [*_by_kernels(program), *_by_formulas(program, f"_{prefix}")],
        },
    )


def _listed(name: str, entries: Sequence[str]) -> list[str]:
    """``name = [entries]``, on one line where it fits."""
    line = f"{name} = [{', '.join(entries)}]"
    return [line] if len(line) <= WIDTH else [f"{name} = [", *(f"{INDENT}{entry}," for entry in entries), "]"]


def _defaults(program: Program) -> list[str]:
    return [f"{parameter.name}={decimal(parameter.default)}" for parameter in program.optimizer.parameters]


def _by_kernels(program: Program) -> list[Function]:
    """The functions that run compiled code.  Arguments that a parameter has the name of yield."""
    scope = Scope(program.parameters)
    grad, hvp, g, hv, out = (scope.fresh(name) for name in ("grad", "hvp", "g", "hv", "out"))
    opened = call("_call = ", "_kernels.call", ["theta", "n", *program.parameters], WIDTH - len(INDENT))

    def function(name: str, vectors: list[str], *, late: bool, has_out: bool, claim: str) -> Function:
        keywords = ["n=None", *(["lr"] if late else []), *_defaults(program)]
        passed = [*vectors, *(["lr"] if late else []), *([out] if has_out else [])]
        head = signature(name, ["theta", *vectors, "*", *keywords, *([f"{out}=None"] if has_out else [])])
        return Function(head, claim, [*opened, f"return _call.{name}({', '.join(passed)})"])

    return [
        function("memoryless", [grad], late=False, has_out=True,
                 claim="F^(n)(theta): the update on a constant history."),
        function("correction", [grad, hvp], late=True, has_out=True,
                 claim="lr F_1: what memory adds to the update."),
        function("step", [grad, hvp], late=True, has_out=True,
                 claim="theta - lr * (memoryless + correction)."),
        function("straight", [grad, hvp], late=True, has_out=True,
                 claim="The update on a straight-line history: the step is theta - lr * straight."),
        function("direction", [g], late=False, has_out=False,
                 claim="The vectors whose products with the Hessian are needed, on a new first axis."),
        function("correction_from", [g, hv], late=True, has_out=True,
                 claim="The correction, from the products hv of the directions with the Hessian."),
        function("step_from", [g, hv], late=True, has_out=True,
                 claim="The step, from the products hv; out=theta changes theta in place."),
        function("straight_from", [g, hv], late=True, has_out=True,
                 claim="The update on a straight-line history, from the products hv."),
    ]  # fmt: skip


def _by_formulas(program: Program, formulas: str) -> list[Function]:
    """The modified loss and what belongs to it, where they exist: from the NumPy module that lies beside."""
    passed = [f"{name}={name}" for name in program.parameters]
    theta, loss, grad = "_array(theta)", "lambda _: float(loss(theta))", "lambda _: _array(grad(theta))"

    def function(name: str, vectors: list[str], given: list[str], *, late: bool, claim: str) -> Function:
        keywords = [*(["lr"] if late else []), *_defaults(program)]
        head = signature(name, [*vectors, *(["*"] if keywords else []), *keywords])
        values = [*given, *(["lr=lr"] if late else []), *passed]
        return Function(
            head, claim, call("return ", f'_beside("{formulas}").{name}', values, WIDTH - len(INDENT))
        )

    found = [
        function("modified_loss", ["theta", "loss", "grad"], [theta, loss, grad], late=True,
                 claim="The loss whose preconditioned gradient step this is."),
        function("preconditioner", ["theta", "grad"], [theta, grad], late=False,
                 claim="P of the preconditioned gradient step, as a NumPy array."),
        function("decay", [], [], late=True, claim="The decay beside the preconditioned gradient."),
    ]  # fmt: skip
    names = ("modified_loss", "preconditioner", "decay")
    return [each for name, each in zip(names, found, strict=True) if name in program]
