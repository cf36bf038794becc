"""The Python module of a built library: the functions of the emitted NumPy module, by ctypes.

What it does is in the runtime, two files that are copied beside it; here are its signatures.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from symmem import __version__
from symmem.declaration.digest import digest
from symmem.notation.decimals import decimal
from symmem.output.rendering import render
from symmem.program.program import Program
from symmem.program.scope import Scope
from symmem.targets.c.layout import c_name
from symmem.targets.c.source import runtime_text
from symmem.targets.comments import in_docstring
from symmem.targets.python.layout import INDENT, WIDTH, Argument, Group, call
from symmem.targets.python.surfaces import OF_STEP, Surface, defaults, surface

RUNTIME = {
    "kernels": "_kernels_by_ctypes",
    "calls": "_kernels_checked",
    "quick": "_kernels_at_once",
    "operators": "_kernels_in_torch",
}
"""The modules that are copied beside the wrappers of a library, and what they are called there; no optimizer is."""


@dataclass(frozen=True)
class WrapperFunction:
    """A function of the module, for the template."""

    head: list[str]
    claim: str
    body: list[str]


def runtime_modules() -> dict[str, str]:
    """Name and text of the modules that are copied, under a line by which a later symmem knows its own files."""
    made = f"# Made by symmem {__version__}. Do not edit: build it again.\n"
    return {f"{name}.py": made + runtime_text(f"{module}.py") for module, name in RUNTIME.items()}


def kernel_module(program: Program, library: str) -> str:
    """The text of the module, formatted; ``library`` is the name of the library without lib and ending."""
    optimizer = program.optimizer
    prefix = f"symmem_{c_name(optimizer.name)}"
    banner = f"Made by symmem {__version__} from the optimizer {optimizer.name}. Do not edit: build it again."
    runtime = f'_beside("{RUNTIME["kernels"]}").Kernels'
    names = ["NAME", f'"{prefix}"', f'"{library}"', "PARAMETERS", "__file__"]
    given = [*names, "declaration=DECLARATION", "checked=_calls.CheckedCall"]
    return render(
        "kernels/module.py.jinja",
        {
            "title": in_docstring(str(optimizer.title)),
            "banner": textwrap.wrap(banner, WIDTH),
            "name": optimizer.name,
            "declaration": digest(optimizer),
            "runtime": RUNTIME,
            "regime": program.regime,
            "parameters": _listed("PARAMETERS", [f'"{name}"' for name in program.parameters]),
            "kernels": call("_kernels = ", runtime, given, WIDTH),
            "functions": _functions(program, f"_{prefix}"),
        },
    )


def _listed(name: str, entries: Sequence[str]) -> list[str]:
    """``name = [entries]``, on one line where it fits."""
    line = f"{name} = [{', '.join(entries)}]"
    return [line] if len(line) <= WIDTH else [f"{name} = [", *(f"{INDENT}{entry}," for entry in entries), "]"]


def _functions(program: Program, formulas: str) -> list[WrapperFunction]:
    """Those of the NumPy module, with its signatures, and the kernels by themselves."""
    found = [surface(program, name, has_out=True) for name in program.routines]
    public = [
        _by_kernels(each, program) if each.name in OF_STEP else _by_formulas(each, program, formulas)
        for each in found
    ]
    kernels = (*_from_products(program), *_with_memory(program))
    return [*public, *(_by_kernels(each, program) for each in kernels)]


def _from_products(program: Program) -> list[Surface]:
    """Functions that take the gradient and its products; arguments that a parameter has the name of yield."""
    scope = Scope(program.parameters)
    g, hv = scope.fresh("g"), scope.fresh("hv")
    early, late = ["n=None", *defaults(program)], ["n=None", "lr", *defaults(program), "out=None"]
    claims = {
        "correction": "The correction, from the products hv of the directions with the Hessian.",
        "step": "The step, from the products hv; out=theta changes theta in place.",
        "straight": "The update on a straight-line history, from the products hv.",
    }
    claim = "The vectors whose products with the Hessian are needed, on a new first axis."
    first = Surface("direction", (("theta", ""), (g, "")), tuple(early), claim)
    given = (("theta", ""), (g, ""), (hv, ""))
    others = [Surface(f"{name}_from", given, tuple(late), claims[name]) for name in claims if name in program]
    return [first, *others]


def _with_memory(program: Program) -> list[Surface]:
    """The optimizer with its memory, with the signatures of the Triton module."""
    g, memory, hv, strength = _names_of_memory(program)
    given, numbers = (("theta", ""), (g, ""), (memory, "")), defaults(program)
    late = ("n", "lr", f"{strength}=-1.0", *numbers)
    return [
        Surface("initial_memory", (("theta", ""),), (), "What the optimizer keeps before its first step: zeros."),
        Surface(
            "update", given, ("n", "lr", *numbers),
            "A step of the optimizer with its memory: theta and memory change in place.",
        ),
        Surface(
            "corrected_update", (*given, (hv, "")), late,
            "The same step with strength * correction in it: -1 takes memory's effect away.",
        ),
        Surface(
            "straight_update", (*given, (hv, "")), late,
            "The same step with strength * (straight - memoryless) in it.",
        ),
    ]  # fmt: skip


def _names_of_memory(program: Program) -> list[str]:
    """The arguments beside theta, which yield to the names of parameters."""
    scope = Scope(program.parameters)
    return [scope.fresh(name) for name in ("grad", "memory", "hv", "strength")]


def _default_values(program: Program) -> list[str]:
    return [decimal(each.default) for each in program.optimizer.parameters]


def _by_kernels(function: Surface, program: Program) -> WrapperFunction:
    """A function that runs compiled code."""
    strength = _names_of_memory(program)[-1]
    places = {"lr": "lr", "out=None": "out", f"{strength}=-1.0": strength}
    passed = [*function.required[1:], *(places[each] for each in function.keywords if each in places)]
    if (quick := _AT_ONCE.get(function.name)) is not None:
        start, *role = quick
        vectors = Group(tuple(function.required))
        given = Group(("n", str(Group(tuple(program.parameters)))))
        rates = ["out=out" if name == "out" else name for name in passed[len(function.required) - 1 :]]
        arguments: list[Argument] = ["_kernels", *role, vectors, given, *rates]
        return WrapperFunction(
            function.head, function.claim, call("return ", start, arguments, WIDTH - len(INDENT))
        )
    values = program.parameters if function.keywords else _default_values(program)
    n = "n" if function.keywords else "None"
    opened = call("_call = ", "_kernels.call", ["theta", n, *values], WIDTH - len(INDENT))
    line = f"return _call.{function.name}({', '.join(passed)})"
    return WrapperFunction(function.head, function.claim, [*opened, line])


_OF_PRODUCTS, _OF_MEMORY = (
    ("correction", "step", "straight"),
    ("update", "corrected_update", "straight_update"),
)
_AT_ONCE = {
    "memoryless": ("_quick.memoryless",),
    "direction": ("_quick.direction",),
    **{role: ("_quick.with_functions", f'"{role}"') for role in _OF_PRODUCTS},
    **{f"{role}_from": ("_quick.from_products", f'"{role}"') for role in _OF_PRODUCTS},
    **{role: ("_quick.with_memory", f'"{role}"') for role in _OF_MEMORY},
}
"""Functions that first try whether all is as the library takes it."""


def _by_formulas(function: Surface, program: Program, formulas: str) -> WrapperFunction:
    """A number, or P: from the NumPy module that lies beside, which sees arrays."""
    running = function.name == "running_loss"
    number = "_number(loss)" if running else "lambda _: _number(loss(theta))"
    seen = {
        "theta": "_array(theta)",
        "grad": "lambda _: _array(grad(theta))",
        "previous": "_number(previous)",
        "loss": number,
    }
    given = [seen.get(name, f"_array({name})") for name in function.required]
    rate = ["lr=lr"] if "lr" in function.keywords else []
    values = [*given, *rate, *(f"{name}={name}" for name in program.parameters)]
    line = call("return ", f'_beside("{formulas}").{function.name}', values, WIDTH - len(INDENT))
    return WrapperFunction(function.head, function.claim, line)
