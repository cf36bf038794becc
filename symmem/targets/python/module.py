"""What the emitted Python modules share: documentation, public functions, entrywise functions, helpers."""

from __future__ import annotations

import keyword
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from symmem import __version__
from symmem.derivation.derivation import Derivation
from symmem.documents.account import account_of
from symmem.documents.columns import Style
from symmem.documents.parts import Part
from symmem.documents.sections import sections
from symmem.documents.text_writer import TextWriter
from symmem.output.rendering import render
from symmem.program.needs import Need
from symmem.program.noise import ARGUMENTS as NOISE_ARGUMENTS
from symmem.program.noise import CORRECTION, ORDER
from symmem.program.program import Program, Routine
from symmem.program.scope import Scope
from symmem.program.tolerance import TOLERANCE_BITS
from symmem.targets.comments import in_docstring
from symmem.targets.python.copied import Helpers
from symmem.targets.python.layout import INDENT, WIDTH
from symmem.targets.python.poles import poles
from symmem.targets.python.scatters import scatter_lines
from symmem.targets.python.surfaces import (
    OF_VECTORS,
    check,
    contractions,
    defaults,
    momentum,
    opaque_names,
    opening,
    potentials,
    surface,
)
from symmem.targets.python.writer import VALUES, PythonWriter

LONGEST_FORMULA = 40
"""A formula of more lines than this is not repeated in a docstring."""
CHECKS = Helpers(Path(__file__).with_name("helpers.py"), ("_check_step", "_outside"), {Need.POLE: ("_pole",)})

_ROOTS = ("_as_matrices", "_jet", "_jet_root", "_parts", "_product")
MATRICES = Helpers(
    Path(__file__).with_name("matrices.py"),
    always=(),
    needed={
        Need.DOT: ("_dot",),
        Need.MEAN: ("_mean",),
        Need.NUCLEAR: ("_nuclear",),
        Need.MATMUL: ("_matmul", "_as_matrices"),
        Need.TRANSPOSE: ("_transpose", "_as_matrices"),
        Need.POLAR: ("_polar", *_ROOTS),
        Need.NEWTON_SCHULZ: ("_newton_schulz", *_ROOTS),
        Need.INVERSE_ROOT: ("_inverse_root", *_ROOTS),
    },
)
"""Functions of a whole tensor; the helper ``_of_tensor`` of a target calls them."""
SUMS = {
    Need.ZEROS: ("_zeros",),
    Need.STEPS: ("_steps", "_added"),
    Need.FEW: ("_steps", "_few", "_nodes"),
    Need.RULE: ("_steps", "_rule", "_gauss"),
    Need.OLDEST: ("_oldest",),
    Need.COMPLETE: ("_complete",),
    Need.COMPLETES: ("_completes",),
    Need.PRODUCT: ("_Product",),
    Need.SHORTFALL: ("_shortfall",),
    Need.SHORTFALLS: ("_shortfalls",),
    Need.SUM_TENSORS: ("_sum_tensors",),
    **dict.fromkeys(MATRICES.needed, ("_of_tensor",)),
}
"""What sums and functions of a tensor call, in the small functions of a language whose loops over steps are arrays."""
NOISE = Helpers(
    Path(__file__).with_name("noise.py"),
    always=(),
    needed={Need.NOISE: ("_between", "_Noise"), Need.SCATTER: ("_scatters",)},
)
"""What the functions of the noise of mini-batches call."""


@dataclass(frozen=True)
class PythonTarget:
    """A target: its template, whether results can be written into a given array, and its small functions.

    ``guard`` stands before the check of a parameter, with ``{}`` for its name.
    """

    template: str
    has_out: bool
    helpers: tuple[Helpers, ...] = (CHECKS,)
    guard: str = ""
    told: tuple[Part, ...] = (Part.ITERATION, Part.LIMIT, Part.LOSS, Part.GRADIENT_MAP)
    """What the docstring of the module tells."""


def python_module(
    derivation: Derivation,
    program: Program,
    target: PythonTarget,
    writer: PythonWriter,
    more: Mapping[str, object] = MappingProxyType({}),
    *,
    needs: frozenset[Need] = frozenset(),
) -> str:
    """The text of the module, formatted; ``more`` is what the template of this target needs beyond the others.

    ``needs`` are those of functions that come with ``more``.
    """
    optimizer, needs = program.optimizer, program.needs() | needs
    needs |= {Need.NOISE} if CORRECTION in program else set()
    refusals = refused_poles(program, target.guard, writer)
    needs |= {Need.POLE} if refusals else set()
    functions = [_function(program, target, writer, name) for name in program.routines]
    return render(
        target.template,
        {
            **more,
            "title": in_docstring(str(optimizer.title)),
            "banner": banner(program),
            "class_name": class_name(str(optimizer.title)),
            "order": program.order,
            "formulas": formula_lines(derivation, target.told),
            "regime": program.regime,
            "rate": program.rate,
            "aliases": [f"{new} = {old}" for new, old in writer.scope.aliases],
            "functions": functions,
            "entrywise": writer.functions(),
            "check": [*check(program, target.guard), *refusals],
            "helpers": [part for helpers in target.helpers for part in helpers.chosen(needs)],
            "has_noise": Need.NOISE in needs,
            "has_epoch": Need.SCATTER in needs,
            "has_finite": isinstance(program["correction"].finite, Routine),
            "has_sums": Need.OLDEST in needs,
            "has_few": not needs.isdisjoint({Need.FEW, Need.RULE}),
            **program.digits,
            "has_numbers": Need.ELEMENTARY in needs,
            "tolerance": TOLERANCE_BITS,
            "snake_name": optimizer.name.replace("-", "_"),
            "parameters": list(program.parameters),
            "defaults": defaults(program),
            "contractions": contractions(program.order),
            "opaque": [function.name for function in optimizer.functions],
        },
    )


def _function(program: Program, target: PythonTarget, writer: PythonWriter, name: str) -> list[str]:
    """A public function."""
    has_out = target.has_out and name in OF_VECTORS
    body = writer.variants(program[name], name, out=has_out)
    opened = opening(program, name, writer.scope)
    opened += scatter_lines(program.memories, writer) if name == ORDER else []
    return surface(program, name, has_out=target.has_out).lines([*opened, *body])


def refused_poles(program: Program, guard: str, writer: PythonWriter) -> list[str]:
    """Lines of the check that refuse a zero below the line of a formula, which Python would not divide by."""
    finite, limit = poles(program)
    lines = []
    for divisor in dict.fromkeys((*finite, *limit)):
        form = (
            ""
            if divisor in finite and divisor in limit
            else f"n is {'not ' if divisor in finite else ''}None and "
        )
        known = "".join(
            guard.format(writer.scope.name(each)) for each in sorted(divisor.free_symbols, key=str)
        )
        words = writer.number(divisor)
        head, refusal = f"{INDENT}if {form}{known}{words} == 0:", f'{INDENT * 2}raise _pole("{words}")'
        lines += [head, refusal] if max(len(head), len(refusal)) <= WIDTH else []
    return lines


def python_scope(program: Program, outer: Iterable[str]) -> Scope:
    """The names of a module: the parameters, the opaque functions and the arguments beside them are kept."""
    arguments = ["theta", "grad", "loss", *contractions(program.order), "n", "lr", "out"]
    arguments += NOISE_ARGUMENTS
    arguments += ["previous", momentum(program), *potentials(program).values()]
    kept = [*program.parameters, *opaque_names(program), *arguments]
    return Scope(kept, words=keyword.kwlist, outer=outer, preferred=VALUES)


def class_name(title: str) -> str:
    """The title without all but letters and digits."""
    return re.sub(r"[^A-Za-z0-9]", "", title)


def banner(program: Program) -> list[str]:
    """Who made this file, from what."""
    optimizer = program.optimizer
    reference = f" ({in_docstring(optimizer.reference)})" if optimizer.reference else ""
    words = f"Made by symmem {__version__} from the optimizer {optimizer.name}{reference}. Do not edit: emit it again."
    return textwrap.wrap(words, WIDTH)


def formula_lines(derivation: Derivation, told: tuple[Part, ...] = PythonTarget.told) -> list[str]:
    """The iteration, its limit and the modified loss, as the lines of a docstring."""
    name, order = derivation.optimizer.name, derivation.order
    account = account_of(derivation, parts=told)
    writer = TextWriter.of(derivation.optimizer, Style(width=84))
    lines: list[str] = []
    for section in sections(account):
        body = writer.section(section)
        if len(body) > LONGEST_FORMULA:
            body = [f"{section.title}: see symmem derive {name} --order {order}"]
        lines += ["", *body]
    return [in_docstring(line.rstrip()) for line in lines[1:]]
