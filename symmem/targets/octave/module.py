"""The Octave target: one function file that GNU Octave and MATLAB read; it returns a struct of functions of arrays."""

from __future__ import annotations

from pathlib import Path

from sympy import oo

from symmem.algebra.atoms import GRAD, LOSS
from symmem.declaration.records import Parameter
from symmem.derivation.derivation import Derivation
from symmem.errors import DerivationError
from symmem.notation.decimals import decimal
from symmem.output.rendering import render
from symmem.program.lowering import lower
from symmem.program.program import Program
from symmem.targets.comments import in_octave_comment
from symmem.targets.octave.dialect import Names, field
from symmem.targets.octave.writer import OctaveWriter, indented, quoted
from symmem.targets.python.module import banner, formula_lines
from symmem.targets.python.surfaces import Surface, claims, momentum, surface

_SETTINGS = {
    "memoryless": "{'n'}", "correction": "{'n', 'lr'}", "step": "{'n', 'lr'}",
    "straight": "{'n', 'lr'}", "modified_loss": "{'lr'}",
    "preconditioner": "{}", "decay": "{'lr'}", "gradient_map_loss": "{'lr'}",
    "running_loss": "{'lr'}",
}  # fmt: skip
"""What a function takes by name, beside the parameters."""


def octave_file(derivation: Derivation) -> str:
    """The text of ``symmem_<name>.m``."""
    program = lower(derivation)
    if program.of_tensors:
        raise DerivationError(
            f"{program.optimizer.name}: a function of a whole tensor (dot, norm, mean, polar and their kin), and the "
            "Octave target has entrywise functions alone; take numpy or jax, or torch, which has most of them"
        )
    names = Names(program)
    writer = OctaveWriter(names)
    optimizer = program.optimizer
    functions = {name: _function(program, name, names, writer) for name in program.routines}
    return render(
        "octave/functions.m.jinja",
        {
            "function_name": f"symmem_{optimizer.name.replace('-', '_')}",
            "title": in_octave_comment(str(optimizer.title)),
            "order": program.order,
            "banner": banner(program),
            "formulas": formula_lines(derivation),
            "callables": ", ".join(_callables(surface(program, "step", has_out=False), names)[1:]),
            "functions": functions,
            "regime": program.regime,
            **program.digits,
            "settings": _settings(program),
            "helpers": Path(__file__).with_name("helpers.m").read_text(encoding="utf-8").rstrip(),
        },
    )


def _callables(surface: Surface, names: Names) -> list[str]:
    return [names.argument(name) for name in surface.required]


def _function(program: Program, name: str, names: Names, writer: OctaveWriter) -> list[str]:
    arguments = ", ".join([*_callables(surface(program, name, has_out=False), names), "varargin"])
    body = [f"% {claims(program)[name]}", f"p = settings({_SETTINGS[name]}, varargin);"]
    read = {symbol for routine in program[name].existing for symbol in routine.inputs}
    if name == "running_loss":
        body += [f"theta = array({names.argument(momentum(program))});", f"{names.name(LOSS)} = loss;"]
        read = set()
    elif name != "decay":
        body.append("theta = array(theta);")
    if LOSS in read:
        body.append(f"{names.name(LOSS)} = loss(theta);")
    if GRAD in read:
        body.append(f"{names.name(GRAD)} = like(theta, grad(theta));")
    return [f"function out = {name}({arguments})", *indented([*body, *writer.variants(program[name])]), "end"]


def _settings(program: Program) -> list[str]:
    """The function that gives every parameter its value, and refuses those out of range."""
    parameters = program.optimizer.parameters
    body = [
        "p = struct();",
        *(f"{field(each.name)} = {decimal(each.default)};" for each in parameters),
        "p = merged(p, extra, given);",
        *(_check(each) for each in parameters),
    ]
    return ["function p = settings(extra, given)", *indented(body), "end"]


def _check(parameter: Parameter) -> str:
    value = field(parameter.name)
    return f"check({_condition(parameter)}, '{parameter.name}', {value}, '{quoted(str(parameter.range))}');"


def _condition(parameter: Parameter) -> str:
    """False for NaN and infinity."""
    value, interval = field(parameter.name), parameter.range
    found = [f"isfinite({value})"]
    if interval.lower != -oo:
        found.append(f"{value} {'>' if interval.lower_open else '>='} {decimal(interval.lower)}")
    if interval.upper != oo:
        found.append(f"{value} {'<' if interval.upper_open else '<='} {decimal(interval.upper)}")
    return " & ".join(found)
