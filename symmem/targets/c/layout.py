"""The C target: a header and a source file.  What varies is rendered; the runtime is copied between it, verbatim."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from sympy import Symbol, oo

from symmem import __version__
from symmem.algebra.results import Missing
from symmem.declaration.optimizer import Optimizer
from symmem.declaration.records import Parameter
from symmem.derivation.derivation import Derivation
from symmem.errors import DerivationError, SymmemError
from symmem.output.files import make_folder, write_whole
from symmem.output.rendering import render
from symmem.program.products import lower_products
from symmem.program.program import Program
from symmem.program.tolerance import TOLERANCE_BITS
from symmem.targets.c.entries import PassWriter
from symmem.targets.c.functions import SUFFIXES, interface_function
from symmem.targets.c.launches import FORMS, ROLES, Parts, directions, products
from symmem.targets.c.names import fields_of
from symmem.targets.c.passes import Pass
from symmem.targets.c.printing import DOUBLE, EXTENDED, FLOAT, Precision

OTHER_TARGETS = "latex, numpy, torch, jax and json"
RUNTIME = (
    "machine.h", "extended.h", "roots.h", "type_f64.h", "loops.h", "type_f32.h", "loops.h", "passes.h", "checks.h",
)  # fmt: skip
"""The fixed code in the order in which it is copied; the loops once for each type."""


@dataclass(frozen=True)
class CFiles:
    """A header and a source file, with the names that they should have."""

    header_name: str
    header: str
    source_name: str
    source: str


def c_name(name: str) -> str:
    """The optimizer's name in C: hyphens become underscores."""
    return name.replace("-", "_")


def c_files(derivation: Derivation) -> CFiles:
    """Header and source of a derivation of order 1 whose formulas are entrywise."""
    program = _program(derivation)
    optimizer = program.optimizer
    prefix = f"symmem_{c_name(optimizer.name)}"
    fields = fields_of(program.parameters)
    values: dict[str, object] = {
        "about": _about(optimizer),
        "name": optimizer.name,
        "prefix": prefix,
        "upper": prefix.upper(),
        "version": __version__,
        "types": list(SUFFIXES.items()),
        "members": [_member(parameter, fields) for parameter in optimizer.parameters],
        "defaults": ", ".join(repr(float(p.default)) for p in optimizer.parameters) or "0",
    }
    header = render("c/header.h.jinja", values)
    source = render("c/source.c.jinja", values | _source(program, prefix, fields))
    return CFiles(f"{prefix}.h", header, f"{prefix}.c", source)


def write_c(derivation: Derivation, folder: str) -> list[str]:
    """Writes header and source into the folder; the paths of both."""
    files = c_files(derivation)
    make_folder(folder)
    texts = {files.header_name: files.header, files.source_name: files.source}
    for name, text in texts.items():
        write_whole(str(Path(folder) / name), text)
    return [str(Path(folder) / name) for name in texts]


def runtime_text(name: str) -> str:
    """A file of the fixed code."""
    return resources.files("symmem.targets.c.runtime").joinpath(name).read_text(encoding="utf-8")


def _program(derivation: Derivation) -> Program:
    optimizer = derivation.optimizer
    if derivation.order != 1:
        raise DerivationError(
            f"{optimizer.name}: the C target has order 1, not {derivation.order}; leave --order out"
        )
    if optimizer.functions:
        names = ", ".join(function.name for function in optimizer.functions)
        raise SymmemError(
            f"{optimizer.name}: the function {names} is left open, so that there is no C code for it; "
            f"this optimizer has the targets {OTHER_TARGETS}"
        )
    program = lower_products(derivation)
    if "memoryless" not in program:
        raise DerivationError(str(derivation.limit.F))
    return program


def _about(optimizer: Optimizer) -> list[str]:
    reference = f" ({optimizer.reference})" if optimizer.reference else ""
    text = (
        f"{optimizer.title} without memory, to order 1 in the learning rate. Made by symmem {__version__} from the "
        f"optimizer {optimizer.name}{reference}. Do not edit: emit it again."
    )
    # What stands in a comment must not end it, and not continue a line.
    return textwrap.wrap(text.replace("*/", "* /").replace("\\", "/"), 96)


def _member(parameter: Parameter, fields: Mapping[Symbol, str]) -> dict[str, str]:
    name = fields[Symbol(parameter.name)]
    renamed = f"; the parameter {parameter.name}, a word of C" if name != parameter.name else ""
    return {"name": name, "remark": f"in {parameter.range}{renamed}"}


def _source(program: Program, prefix: str, fields: Mapping[Symbol, str]) -> dict[str, object]:
    """What varies in the source file."""
    parts = Parts(program, fields)
    functions = [interface_function(role, kind, prefix, parts) for kind in SUFFIXES for role in ROLES]
    missing = [form(program["memoryless"]) for form in FORMS.values()]
    reasons = [str(each.reason) for each in missing if isinstance(each, Missing)]
    stated = [f"{parameter.name} in {parameter.range}" for parameter in program.optimizer.parameters]
    return {
        "runtime": [runtime_text(name) for name in RUNTIME],
        "tolerance": TOLERANCE_BITS,
        "vectors": 2 + max(1, len(directions(program))),
        "numbers": max(1, *(len(work.numbers) for work in parts.passes)),
        "passes": [_pass(name, work) for work, name in parts.passes.items()],
        "coefficients": [{"name": name, "lines": lines} for lines, name in parts.numbers.items()],
        "conditions": [c for p in program.optimizer.parameters for c in _conditions(p, fields)],
        "ranges": _text(f"out of range: {', '.join([*stated, 'lr finite', 'count'])}"),
        "unavailable": _text("; ".join(reasons) or "every n is available"),
        "directions": {name: products(program, form) for name, form in FORMS.items()},
        "functions": functions,
    }


def _pass(name: str, work: Pass) -> dict[str, object]:
    """A pass for the template: a run of entries in each type, and a single entry with more range."""

    def block(precision: Precision, kind: str) -> dict[str, object]:
        writer, suffix = PassWriter(work, precision, kind), SUFFIXES[kind]
        lanes = "SYMMEM_LONG_LANES" if work.has_sum else f"SYMMEM_LANES_{suffix}"
        return {
            "type": kind,
            "suffix": suffix,
            "lanes": lanes,
            "lines": writer.body(),
            "uses_roots": writer.uses_roots,
        }

    return {
        "name": name,
        # Sums over past steps have many terms: they are added up in double.
        "blocks": [block(DOUBLE, "double"), block(DOUBLE if work.has_sum else FLOAT, "float")],
        "extended": PassWriter(work, EXTENDED).body(),
        "vectors": len(work.vectors),
        "numbers": len(work.numbers),
    }


def _text(words: str) -> str:
    """Words as they can stand in a string of C."""
    return words.replace("\\", "/").replace('"', "'")


def _conditions(parameter: Parameter, fields: Mapping[Symbol, str]) -> list[str]:
    """Conditions that fail for NaN; a parameter is finite."""
    value, interval = f"params->{fields[Symbol(parameter.name)]}", parameter.range
    found = [f"isfinite({value})"]
    if interval.lower != -oo:
        found.append(f"{value} {'>' if interval.lower_open else '>='} {float(interval.lower)!r}")
    if interval.upper != oo:
        found.append(f"{value} {'<' if interval.upper_open else '<='} {float(interval.upper)!r}")
    return found
