"""The Python module of a built library: the functions of the emitted NumPy module, by ctypes."""

from __future__ import annotations

import textwrap

from symmem import __version__
from symmem.derivation.derivation import Derivation
from symmem.documents.decimals import decimal
from symmem.output.rendering import render
from symmem.program.lowering import lower
from symmem.program.program import Program
from symmem.targets.c.source import c_name
from symmem.targets.python.layout import INDENT, WIDTH, call, signature


def kernel_module(derivation: Derivation, library: str) -> str:
    """The text of the module, formatted; ``library`` is the name of the library without lib and ending."""
    optimizer, program = derivation.optimizer, lower(derivation)
    name = c_name(optimizer.name)
    banner = f"Made by symmem {__version__} from the optimizer {optimizer.name}. Do not edit: build it again."
    return render(
        "kernels/module.py.jinja",
        {
            "title": str(optimizer.title).replace("\\", "/").replace('"', "'"),
            "banner": textwrap.wrap(banner, WIDTH),
            "name": optimizer.name,
            "prefix": f"symmem_{name}",
            "library": library,
            "regime": program.regime,
            "parameters": _listed(
                "PARAMETERS", [f'"{parameter.name}"' for parameter in optimizer.parameters]
            ),
            "functions": _functions(derivation, program),
        },
    )


def _listed(name: str, entries: list[str]) -> list[str]:
    """``name = [entries]``, on one line where it fits."""
    line = f"{name} = [{', '.join(entries)}]"
    return [line] if len(line) <= WIDTH else [f"{name} = [", *(f"{INDENT}{entry}," for entry in entries), "]"]


def _functions(derivation: Derivation, program: Program) -> list[dict[str, object]]:
    parameters = derivation.optimizer.parameters
    defaults = [f"{parameter.name}={decimal(parameter.default)}" for parameter in parameters]
    names = [parameter.name for parameter in parameters]

    def kernel(
        name: str, positional: list[str], keywords: list[str], claim: str, *body: str
    ) -> dict[str, object]:
        given = call("given = ", "_Given", ["theta", "n", *names], WIDTH - len(INDENT))
        arguments = [*positional, "*", "n=None", *keywords]
        return {"head": signature(name, arguments), "claim": claim, "body": [*given, *body]}

    gradient = "g = given.like(grad(theta))"
    found = [
        kernel("memoryless", ["theta", "grad"], [*defaults, "out=None"],
               "F^(n)(theta): the update on a constant history.",
               'return given.into(out, "memoryless", given.like(grad(theta)))'),
        kernel("correction", ["theta", "grad", "hvp"], ["lr", *defaults, "out=None"],
               "lr F_1: what memory adds to the update.", gradient,
               'hv = given.products(hvp, theta, g)', 'return given.into(out, "correction", g, hv, rate=lr)'),
        kernel("step", ["theta", "grad", "hvp"], ["lr", *defaults, "out=None"],
               "theta - lr * (memoryless + correction).", gradient,
               "return given.step(out, g, given.products(hvp, theta, g), lr)"),
        kernel("direction", ["theta", "g"], defaults,
               "The vectors whose products with the Hessian are needed, on a new first axis.",
               "return given.directions(given.like(g))"),
        kernel("correction_from", ["theta", "g", "hv"], ["lr", *defaults, "out=None"],
               "The correction, from the products hv of the directions with the Hessian.",
               'return given.into(out, "correction", given.like(g), given.stack(hv), rate=lr)'),
        kernel("step_from", ["theta", "g", "hv"], ["lr", *defaults, "out=None"],
               "The step, from the products hv; out=theta changes theta in place.",
               "return given.step(out, given.like(g), given.stack(hv), lr)"),
    ]  # fmt: skip
    if "modified_loss" not in program:
        return found
    passed = [f"{name}={name}" for name in names]

    def formula(
        name: str, positional: list[str], keywords: list[str], arguments: list[str], claim: str
    ) -> None:
        marker = ["*"] if keywords else []
        body = call("return ", f"_formulas().{name}", arguments, WIDTH - len(INDENT))
        found.append(
            {"head": signature(name, [*positional, *marker, *keywords]), "claim": claim, "body": body}
        )

    vectors = ["_array(theta)", "lambda _: float(loss(theta))", "lambda _: _array(grad(theta))"]
    formula("modified_loss", ["theta", "loss", "grad"], ["lr", *defaults], [*vectors, "lr=lr", *passed],
            "The loss whose preconditioned gradient step this is.")  # fmt: skip
    formula("preconditioner", ["theta", "grad"], defaults, [vectors[0], vectors[2], *passed],
            "P of the preconditioned gradient step, as a NumPy array.")  # fmt: skip
    if "decay" in program:
        formula(
            "decay",
            [],
            ["lr", *defaults],
            ["lr=lr", *passed],
            "The decay beside the preconditioned gradient.",
        )
    return found
