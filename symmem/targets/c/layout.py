"""The C target: a header and a source file.  What varies is rendered; the runtime is copied between it, verbatim."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sympy import Symbol

from symmem import __version__
from symmem.declaration.digest import digest
from symmem.declaration.optimizer import Optimizer
from symmem.declaration.records import Parameter
from symmem.derivation.derivation import Derivation
from symmem.documents.parts import Part
from symmem.output.files import check_folder, write_set
from symmem.output.rendering import render
from symmem.program.needs import Need
from symmem.program.updates import updates
from symmem.targets.c.functions import interface
from symmem.targets.c.launches import Parts
from symmem.targets.c.names import fields_of
from symmem.targets.c.source import source_values
from symmem.targets.comments import in_c_comment
from symmem.targets.kernel_program import kernel_program
from symmem.targets.python.module import formula_lines

_TOLD = (Part.ITERATION, Part.LIMIT, Part.STRAIGHT)
"""What the comment above the loops says."""


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
    """Header and source of a derivation of order 1 without matrix functions and numbers of the whole model."""
    program = kernel_program(derivation, "C", adds_up=True)
    optimizer = program.optimizer
    prefix = f"symmem_{c_name(optimizer.name)}"
    fields = fields_of(program.parameters)
    values: dict[str, object] = {
        "about": _about(optimizer),
        "name": optimizer.name,
        "declaration": digest(optimizer),
        "prefix": prefix,
        "upper": prefix.upper(),
        "version": __version__,
        "version_number": _version_number(__version__),
        **program.digits,
        "members": [_member(parameter, fields) for parameter in optimizer.parameters],
        "joins": Need.TOTAL in program.needs(),
        "defaults": ", ".join(repr(float(p.default)) for p in optimizer.parameters) or "0",
    }
    parts = Parts(program, updates(derivation), fields)
    groups = interface(parts, prefix)
    header = render("c/header.h.jinja", values | {"declared": groups})
    values["formulas"] = [in_c_comment(line) for line in formula_lines(derivation, _TOLD)]
    source = render("c/source.c.jinja", values | source_values(parts, groups))
    return CFiles(f"{prefix}.h", header, f"{prefix}.c", source)


def write_c(derivation: Derivation, folder: str) -> list[str]:
    """Writes header and source into the folder; the paths of both."""
    check_folder(folder)
    files = c_files(derivation)
    named = {files.header_name: files.header, files.source_name: files.source}
    texts: dict[str, str | bytes] = {str(Path(folder) / name): text for name, text in named.items()}
    write_set(texts, folder)
    return list(texts)


def _version_number(version: str) -> int:
    major, minor, patch = (int(part) for part in version.split(".")[:3])
    return 10000 * major + 100 * minor + patch


def _about(optimizer: Optimizer) -> list[str]:
    reference = f" ({optimizer.reference})" if optimizer.reference else ""
    text = (
        f"{optimizer.title} without memory, to order 1 in the learning rate. Made by symmem {__version__} from the "
        f"optimizer {optimizer.name}{reference}. Do not edit: emit it again."
    )
    return textwrap.wrap(in_c_comment(text), 96)


def _member(parameter: Parameter, fields: Mapping[Symbol, str]) -> dict[str, str]:
    name = fields[Symbol(parameter.name)]
    renamed = f"; the parameter {parameter.name}, a word of C" if name != parameter.name else ""
    return {"name": name, "remark": f"in {parameter.range}{renamed}"}
