"""What varies in the source file, for its template: passes, numbers, checks and functions; and the fixed code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources

from sympy import Symbol, oo

from symmem.algebra.results import Missing
from symmem.declaration.records import Parameter
from symmem.program.digits.chains import MOST_NODES
from symmem.program.tolerance import TOLERANCE_BITS
from symmem.targets.c.entries import PassWriter
from symmem.targets.c.functions import SUFFIXES, Group
from symmem.targets.c.launches import FORMS, ROLES, Parts, directions, products
from symmem.targets.c.passes import Pass
from symmem.targets.c.printing import DOUBLE, FLOAT, WIDE, Precision

RUNTIME = (
    "machine.h", "wide.h", "extended.h", "sums.h", "places.h", "rule.h", "roots.h", "parts.h",
    "type_f64.h", "totals.h", "loops.h", "type_f32.h", "totals.h", "loops.h",
    "half_bits.h", "half.h", "half_totals.h", "passes.h", "adders.h", "checks.h",
)  # fmt: skip
"""The fixed code in the order in which it is copied; the loops once for each type."""
OF_SUMS = ("parts.h", "totals.h", "half_totals.h", "adders.h")
"""What is copied where a number is a sum over all entries."""


def runtime_text(name: str) -> str:
    """A file of the fixed code."""
    return resources.files("symmem.targets.c.runtime").joinpath(name).read_text(encoding="utf-8")


def source_values(parts: Parts, interface: Sequence[Group]) -> dict[str, object]:
    """What varies in the source file."""
    program, fields = parts.program, parts.fields
    stated = [f"{parameter.name} in {parameter.range}" for parameter in program.optimizer.parameters]
    return {
        "runtime": [runtime_text(name) for name in RUNTIME if parts.has_sums or name not in OF_SUMS],
        "tolerance": TOLERANCE_BITS,
        "nodes": MOST_NODES,
        "vectors": 2 + max(1, len(directions(program))) + parts.kept,
        "written": 1 + parts.kept,
        "kept": parts.kept,
        "plain": max(1, *(len(work.numbers) for work in (*parts.passes, *parts.sums))),
        "row": max(work.row for work in (*parts.passes, *parts.sums)),
        "totals": 1 + parts.most_sums if parts.has_sums else 0,
        "passes": [
            *(_pass(name, work, is_sum=True) for work, name in parts.sums.items()),
            *(_pass(name, work) for work, name in parts.passes.items()),
        ],
        "coefficients": [{"name": name, "lines": lines} for lines, name in parts.numbers.items()],
        "conditions": [c for p in program.optimizer.parameters for c in _conditions(p, fields)],
        "ranges": _text(
            f"{program.optimizer.name}: out of range: {', '.join([*stated, 'lr and strength finite', 'count'])}"
        ),
        "unavailable": _text("; ".join(_reasons(parts))),
        "directions": {name: products(program, form) for name, form in FORMS.items()},
        "functions": [function for group in interface for function in group.functions],
    }


def _reasons(parts: Parts) -> list[str]:
    """Why a function does not exist at an n."""
    known = [role for role in ROLES if role in parts.program or role in parts.updates]
    missing = [parts.launches(role, form) for role in known for form in FORMS]
    return list(dict.fromkeys(str(each.reason) for each in missing if isinstance(each, Missing)))


def _pass(name: str, work: Pass, *, is_sum: bool = False) -> dict[str, object]:
    """A pass for the template: a run of entries in each type, and a single entry with more range."""

    def block(precision: Precision, kind: str) -> dict[str, object]:
        written = "double" if is_sum else kind
        writer, suffix = PassWriter(work, precision, kind, written), SUFFIXES[kind]
        lanes = "SYMMEM_LONG_LANES" if work.has_sum else f"SYMMEM_LANES_{SUFFIXES[written]}"
        return {
            "type": kind,
            "written": written,
            "suffix": suffix,
            "lanes": lanes,
            "lines": writer.body(),
            "uses_roots": writer.uses_roots,
        }

    return {
        "name": name,
        # Sums, over past steps or over the entries, have many terms: they are added up in double.
        "blocks": [block(DOUBLE, "double"), block(DOUBLE if is_sum or work.has_sum else FLOAT, "float")],
        "extended": [
            {"name": f"{name}_extended{k or ''}", "lines": PassWriter(each, WIDE).body()}
            for k, each in enumerate(map(work.of, (work.output.result, *work.written)))
        ],
        "vectors": len(work.vectors),
        "numbers": len(work.numbers) + work.row,
        "is_sum": is_sum,
        "written": 1 + len(work.written),
        # A copy of the numbers, where no rows of past steps lie behind them.
        "copied": 0 if work.row else len(work.numbers),
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
