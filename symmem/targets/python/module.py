"""What the emitted Python modules share: signatures, docstrings, checks, and the bodies of their functions."""

from __future__ import annotations

import keyword
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sympy import oo

from symmem import __version__
from symmem.algebra.atoms import GRAD, LOSS
from symmem.declaration.optimizer import Optimizer
from symmem.declaration.records import Parameter
from symmem.derivation.derivation import Derivation
from symmem.documents.decimals import decimal
from symmem.documents.report import sections
from symmem.documents.terminal import Style, section_lines
from symmem.errors import DerivationError
from symmem.output.rendering import render
from symmem.program.program import Need, Program, Routine
from symmem.program.scope import Scope
from symmem.program.statements import TOLERANCE_BITS
from symmem.targets.python.code import INDENT, VALUES, PythonWriter, call, signature
from symmem.targets.python.printing import WIDTH

OF_STEP = ("memoryless", "correction", "step")
"""The functions of a step n, which write into a given array where the target has them."""
LONGEST_FORMULA = 40
"""A formula of more lines than this is not repeated in a docstring."""


@dataclass(frozen=True)
class PythonTarget:
    """A target: its template, and whether results can be written into a given array."""

    template: str
    has_out: bool


def python_module(
    derivation: Derivation,
    program: Program,
    target: PythonTarget,
    writer: PythonWriter,
    more: Mapping[str, object] = MappingProxyType({}),
) -> str:
    """The text of the module, formatted; ``more`` is what the template of this target needs beyond the others."""
    optimizer, scope = program.optimizer, writer.scope
    heads = _Signatures(program, target)
    bodies = {
        name: writer.variants(variants, name, out=target.has_out and name in OF_STEP)
        for name, variants in program.routines.items()
    }
    functions = {
        name: {"signature": heads.of(name), "body": [*_opening(name, program, scope), *body]}
        for name, body in bodies.items()
    }
    needs = program.needs()
    return render(
        target.template,
        {
            **more,
            "title": _plain(str(optimizer.title)),
            "banner": _banner(program),
            "class_name": class_name(str(optimizer.title)),
            "order": program.order,
            "formulas": _formulas(derivation),
            "regime": program.regime,
            "rate": program.rate,
            "aliases": scope.aliases,
            "functions": functions,
            "kernels": [lines for _, lines in writer.kernels()],
            **check_values(optimizer),
            "snake_name": optimizer.name.replace("-", "_"),
            "parameters": [parameter.name for parameter in optimizer.parameters],
            "defaults": [f"{p.name}={decimal(p.default)}" for p in optimizer.parameters],
            "contractions": contractions(program.order),
            "opaque": [function.name for function in optimizer.functions],
            "has_finite": isinstance(program["correction"].finite, Routine),
            "has_sums": Need.OLDEST in needs,
            "has_totals": Need.TOTAL in needs,
            "has_zeros": Need.ZEROS in needs,
            "has_steps": Need.STEPS in needs,
            "has_numbers": Need.ELEMENTARY in needs,
            "tolerance": TOLERANCE_BITS,
        },
    )


def _banner(program: Program) -> list[str]:
    optimizer = program.optimizer
    reference = f" ({_plain(optimizer.reference)})" if optimizer.reference else ""
    words = f"Made by symmem {__version__} from the optimizer {optimizer.name}{reference}. Do not edit: emit it again."
    return textwrap.wrap(words, WIDTH)


def _opening(name: str, program: Program, scope: Scope) -> list[str]:
    """The lines before the formula: checks, and the values at theta that it needs."""
    step = "n" if name in OF_STEP else "None"
    parameters = [parameter.name for parameter in program.optimizer.parameters]
    lines = call("", "_check", [step, *parameters], WIDTH - len(INDENT))
    if name == "decay":
        return lines
    lines.append("theta = _array(theta)")
    read = {symbol for routine in program[name].existing for symbol in routine.inputs}
    if LOSS in read:
        lines.append(f"{scope.name(LOSS)} = loss(theta)")
    return [*lines, f"{scope.name(GRAD)} = _like(theta, grad(theta))"] if GRAD in read else lines


def contractions(order: int) -> list[str]:
    """What a module of this order is given of the loss beyond its gradient: hvp, d3, d4, ..."""
    return ["hvp", *(f"d{k}" for k in range(3, order + 2))]


def suffixes(order: int) -> list[str]:
    """How an opaque function and its derivatives up to this order are called: gradK, gradK_jvp, gradK_jvp2, ..."""
    return ["", "_jvp", *(f"_jvp{k}" for k in range(2, order + 1))]


def class_name(title: str) -> str:
    """The title without all but letters and digits."""
    return re.sub(r"[^A-Za-z0-9]", "", title)


@dataclass(frozen=True)
class _Signatures:
    """The signatures of DESIGN.md."""

    program: Program
    target: PythonTarget

    def of(self, function: str) -> list[str]:
        out = ["out=None"] if self.target.has_out else []
        step = ["n=None"]
        higher = contractions(self.program.order)
        parameters = [f"{p.name}={decimal(p.default)}" for p in self.program.optimizer.parameters]
        calls = self._opaque()
        if function == "memoryless":
            # The derivatives are taken for symmetry with the other functions; the update itself needs none.
            given = ["theta", "grad", *(f"{name}=None" if "_jvp" in name else name for name in calls)]
            return self._head(function, given, [*step, *parameters, *out])
        if function in ("correction", "step"):
            return self._head(function, ["theta", "grad", *higher, *calls], [*step, "lr", *parameters, *out])
        if function == "modified_loss":
            more = higher if self.program.order > 1 else []
            return self._head(function, ["theta", "loss", "grad", *more, *calls], ["lr", *parameters])
        if function == "preconditioner":
            return self._head(function, ["theta", "grad", *calls], [*parameters])
        return self._head(function, [], ["lr", *parameters])

    def _opaque(self) -> list[str]:
        """``gradK, gradK_jvp, gradK_jvp2, ...`` for every opaque function, in order."""
        names = [function.name for function in self.program.optimizer.functions]
        return [name + suffix for name in names for suffix in suffixes(self.program.order)]

    def _head(self, name: str, positional: list[str], keywords: list[str]) -> list[str]:
        marker = ["*"] if keywords else []
        return signature(name, [*positional, *marker, *keywords])


def _condition(parameter: Parameter) -> str:
    interval = parameter.range
    lower = (
        "" if interval.lower == -oo else f"{decimal(interval.lower)} {'<' if interval.lower_open else '<='} "
    )
    upper = (
        "" if interval.upper == oo else f" {'<' if interval.upper_open else '<='} {decimal(interval.upper)}"
    )
    return f"{lower}{parameter.name}{upper}" if lower or upper else ""


def check_values(optimizer: Optimizer) -> dict[str, object]:
    """What the template of the function ``_check`` takes."""
    return {
        "check_signature": signature("_check", ["n", *(p.name for p in optimizer.parameters)]),
        "checks": [_check(parameter) for parameter in optimizer.parameters if _condition(parameter)],
    }


def _check(parameter: Parameter) -> dict[str, str]:
    return {"name": parameter.name, "condition": _condition(parameter), "range": str(parameter.range)}


def _formulas(derivation: Derivation) -> list[str]:
    """The sections of the report on the iteration and its limit, as the lines of a docstring."""
    style = Style(width=84)
    lines: list[str] = []
    try:
        found = sections(derivation, "n")
    except DerivationError as error:
        return textwrap.wrap(_plain(str(error)), WIDTH)
    for section in found:
        if section.title in ("Memoryless iteration", "Limit of many steps", "Modified loss"):
            body = section_lines(derivation, section, style)
            if len(body) > LONGEST_FORMULA:
                words = f"{section.title}: see symmem derive {derivation.optimizer.name} --order {derivation.order}"
                body = [words]
            lines += ["", *body]
    return [_plain(line.rstrip()) for line in lines[1:]]


def _plain(text: str) -> str:
    """A line that can stand in a docstring."""
    return text.replace("\\", "/").replace('"', "'")


def python_scope(program: Program, outer: Iterable[str]) -> Scope:
    """The names of a module: the parameters, the opaque functions and the arguments beside them are kept."""
    arguments = ["theta", "grad", "loss", *contractions(program.order), "n", "lr", "out"]
    functions = [f.name + suffix for f in program.optimizer.functions for suffix in suffixes(program.order)]
    kept = [*program.parameters, *functions, *arguments]
    return Scope(kept, words=keyword.kwlist, outer=outer, preferred=VALUES)
