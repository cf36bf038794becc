"""The C target: a header and a source file, from the passes of a C program."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sympy import Symbol, oo

from symmem import __version__
from symmem.algebra.atoms import GRAD, THETA
from symmem.algebra.results import Missing
from symmem.declaration.records import Parameter
from symmem.derivation.derivation import Derivation
from symmem.output.files import make_folder, write_whole
from symmem.output.rendering import render
from symmem.program.tolerance import TOLERANCE_BITS
from symmem.targets.c.code import INDENT, WIDTH, Internal, NumberWriter, PassWriter
from symmem.targets.c.printing import DOUBLE, EXTENDED, FLOAT, Precision
from symmem.targets.c.program import CProgram, Pass, Passes, c_program

TYPES = (("double", "f64"), ("float", "f32"))
DRIVERS = (
    {
        "type": "double", "suffix": "f64", "line": 8, "smallest": "0", "largest": "INFINITY",
        "base": {"register": "__m128d", "kind": "pd"}, "wide": {"register": "__m256d"},
    },
    {
        # Room for products of coefficients and powers of entries within the range of a float.
        "type": "float", "suffix": "f32", "line": 16, "smallest": "1e-30", "largest": "1e30",
        "base": {"register": "__m128", "kind": "ps"}, "wide": {"register": "__m256"},
    },
)  # fmt: skip
"""The loops over vectors of each type: entries in a line of the cache, coefficients, registers of x86."""
FORMS = ("limit", "finite")
ROLES = ("memoryless", "direction", "correction", "step")


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
    """Header and source of a derivation of order 1."""
    program = c_program(derivation)
    prefix = f"symmem_{c_name(program.optimizer.name)}"
    values = {
        "about": _about(program),
        "name": program.optimizer.name,
        "prefix": prefix,
        "upper": prefix.upper(),
        "header": f"{prefix}.h",
        "version": __version__,
        "types": TYPES,
        "members": [{"name": p.name, "range": f"in {p.range}"} for p in program.optimizer.parameters],
        "defaults": ", ".join(repr(float(p.default)) for p in program.optimizer.parameters) or "0",
    }
    source = render("c/source.c.jinja", {**values, **_Source(program, prefix).values()})
    return CFiles(f"{prefix}.h", render("c/header.h.jinja", values), f"{prefix}.c", source)


def write_c(derivation: Derivation, folder: str) -> list[str]:
    """Writes header and source into the folder; the paths of both."""
    files = c_files(derivation)
    make_folder(folder)
    texts = {files.header_name: files.header, files.source_name: files.source}
    for name, text in texts.items():
        write_whole(str(Path(folder) / name), text)
    return [str(Path(folder) / name) for name in texts]


def _about(program: CProgram) -> list[str]:
    optimizer = program.optimizer
    reference = f" ({optimizer.reference})" if optimizer.reference else ""
    text = (
        f"{optimizer.title} without memory, to order 1 in the learning rate. Made by symmem {__version__} from the "
        f"optimizer {optimizer.name}{reference}. Do not edit: emit it again."
    )
    # What stands in a comment must not end it, and not continue a line.
    return textwrap.wrap(text.replace("*/", "* /").replace("\\", "/"), 96)


@dataclass(frozen=True)
class _Call:
    """A pass over vectors, as it is called: by names of C."""

    work: str
    count: int
    inputs: str
    given: int
    out: str


class _Source:
    """The parts of the source file that depend on the optimizer."""

    def __init__(self, program: CProgram, prefix: str) -> None:
        self._program = program
        self._prefix = prefix
        self._taken = frozenset(parameter.name for parameter in program.optimizer.parameters)
        self._internal = Internal.beside(self._taken)
        self._passes: dict[tuple[object, ...], dict[str, object]] = {}
        self._numbers: dict[tuple[str, ...], str] = {}

    def values(self) -> dict[str, object]:
        forms = [self._program.limit, self._program.finite]
        works = [
            w
            for f in forms
            if isinstance(f, Passes)
            for w in (f.memoryless, *f.directions, f.correction, f.step)
        ]
        functions = [self._function(role) for role in ROLES]
        reasons = [str(form.reason) for form in forms if isinstance(form, Missing)]
        return {
            "internal": self._internal,
            "drivers": DRIVERS,
            "tolerance": f"{TOLERANCE_BITS}.0",
            "vectors": 2 + max(1, len(self._program.products)),
            "numbers": max(1, *(len(work.numbers) for work in works)),
            "passes": list(self._passes.values()),
            "coefficients": [{"name": name, "lines": lines} for lines, name in self._numbers.items()],
            "conditions": [c for p in self._program.optimizer.parameters for c in _conditions(p)],
            "ranges": self._ranges(),
            "unavailable": _text("; ".join(reasons) or "every n is available"),
            "directions": {form: self._directions(form) for form in FORMS},
            "functions": functions,
        }

    def _form(self, form: str) -> Passes | Missing:
        return self._program.limit if form == "limit" else self._program.finite

    def _directions(self, form: str) -> int:
        passes = self._form(form)
        return len(passes.directions) if isinstance(passes, Passes) else 0

    def _function(self, role: str) -> dict[str, object]:
        late = role in ("correction", "step")
        written = f"{self._prefix}_directions(n)" if role == "direction" else "1"
        products = f"{self._prefix}_directions(n)" if late else "0"
        return {
            "name": role,
            "rate": "lr" if late else "0",
            "checks_rate": late,
            "out": "theta" if role == "step" else "out",
            "written": written,
            "hv": "hv" if late else "NULL",
            "products": products,
            "signature": {suffix: self._signature(role, kind) for kind, suffix in TYPES},
            "forms": {form: self._calls(role, form) for form in FORMS},
        }

    def _signature(self, role: str, kind: str) -> str:
        late = role in ("correction", "step")
        arguments = [
            f"{kind} *theta" if role == "step" else f"const {kind} *theta",
            f"const {kind} *grad",
            *([f"const {kind} *hv"] if late else []),
            *([] if role == "step" else [f"{kind} *out"]),
            "size_t count",
            "int64_t n",
            *(["double lr"] if late else []),
            f"const struct {self._prefix}_params *params",
        ]
        return wrapped(arguments, len(f"int {self._prefix}_{role}_f64("))

    def _calls(self, role: str, form: str) -> list[dict[str, object]] | None:
        """The passes of one function in one form: the coefficients, and the call."""
        passes = self._form(form)
        if isinstance(passes, Missing):
            return None
        works: Sequence[Pass] = passes.directions if role == "direction" else [getattr(passes, role)]
        name = "theta" if role == "step" else "out"
        return [
            {"numbers": self._coefficients(role, form, work),
             "call": self._call(role, work, name if k == 0 else f"{name} + {k} * count")}
            for k, work in enumerate(works)
        ]  # fmt: skip

    def _call(self, role: str, work: Pass, out: str) -> _Call:
        places = {THETA: "theta", GRAD: "grad"} | {
            product: f"hv + {k} * count" if k else "hv" for k, product in enumerate(self._program.products)
        }
        inputs = ", ".join(places[vector] for vector in work.vectors) or "NULL"
        return _Call(self._named(role, work), len(work.numbers), inputs, len(work.vectors), out)

    def _coefficients(self, role: str, form: str, work: Pass) -> str:
        """The function that computes the numbers of a pass; equal ones are written once."""
        given = [
            f"const double {parameter.name} = params->{parameter.name};"
            for parameter in self._program.optimizer.parameters
            if Symbol(parameter.name) in work.given
        ]
        found = [f"{self._internal.numbers}[{k}] = {number};" for k, number in enumerate(work.numbers)]
        lines = (*given, *NumberWriter(self._taken).statements(work.before), *found)
        return self._numbers.setdefault(lines, _unused(f"{role}_{form}_numbers", self._numbers.values()))

    def _named(self, role: str, work: Pass) -> str:
        """The name of a pass; equal passes are written once."""
        key = (work.inside, work.result, work.vectors, work.numbers)
        if key not in self._passes:
            name = _unused(role, [str(written["name"]) for written in self._passes.values()])
            self._passes[key] = self._pass(name, work)
        return str(self._passes[key]["name"])

    def _pass(self, name: str, work: Pass) -> dict[str, object]:
        def written(precision: Precision, kind: str | None = None) -> list[str]:
            return PassWriter(precision, self._internal, self._taken, kind).body(work)

        def block(precision: Precision, kind: str, suffix: str) -> dict[str, object]:
            lines = written(precision, kind)
            return {
                "type": kind,
                "suffix": suffix,
                "lines": lines,
                "lanes": "SYMMEM_LONG_LANES" if work.has_sum else f"SYMMEM_LANES_{suffix}",
                "has_roots": any(line.lstrip().startswith(f"{self._internal.root}(") for line in lines),
            }

        return {
            "name": name,
            "blocks": [
                block(DOUBLE, "double", "f64"),
                # Sums over past steps have many terms: they are added up in double.
                block(DOUBLE if work.has_sum else FLOAT, "float", "f32"),
            ],
            "extended": written(EXTENDED),
            "vectors": len(work.vectors),
            "numbers": len(work.numbers),
        }

    def _ranges(self) -> str:
        stated = [f"{p.name} in {p.range}" for p in self._program.optimizer.parameters]
        return f"out of range: {', '.join([*stated, 'lr finite', 'count'])}"


def wrapped(arguments: Sequence[str], start: int) -> str:
    """Arguments between commas, broken at commas alone."""
    lines, room = [""], WIDTH - start
    for position, argument in enumerate(arguments):
        piece = argument + (", " if position < len(arguments) - 1 else "")
        if len(lines[-1]) + len(piece.rstrip()) > room:
            lines.append("")
            room = WIDTH - len(INDENT)
        lines[-1] += piece
    return f"\n{INDENT}".join(line.rstrip() for line in lines)


def _unused(stem: str, taken: Iterable[str]) -> str:
    names = set(taken)
    return next(n for n in (stem, *(f"{stem}{k}" for k in range(2, len(names) + 3))) if n not in names)


def _text(words: str) -> str:
    """Words as they can stand in a string of C."""
    return words.replace("\\", "/").replace('"', "'")


def _conditions(parameter: Parameter) -> list[str]:
    """Conditions that fail for NaN; a parameter is finite."""
    value, interval = f"params->{parameter.name}", parameter.range
    found = [f"isfinite({value})"]
    if interval.lower != -oo:
        found.append(f"{value} {'>' if interval.lower_open else '>='} {float(interval.lower)!r}")
    if interval.upper != oo:
        found.append(f"{value} {'<' if interval.upper_open else '<='} {float(interval.upper)!r}")
    return found
