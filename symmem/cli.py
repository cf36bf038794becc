"""The command line: parsing and exit codes only.  Every room is imported when its command runs.

Exit codes: 0 done, 1 a check failed or a compiler rejected our code, 2 bad input or a missing tool.
"""

# ruff: noqa: PLC0415  # the rooms are imported inside the commands: symmem -h and symmem list need no SymPy

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Timer
from typing import TYPE_CHECKING, NoReturn

import click

from symmem import __version__
from symmem.errors import CompilerError, SymmemError

if TYPE_CHECKING:
    from symmem.derivation.derivation import Derivation
    from symmem.documents.report import At
    from symmem.documents.terminal import Style

NAME = click.argument("name", metavar="NAME|FILE|-")
FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "latex", "json"]),
    default="text",
    show_default=True,
    help="The form of the output.",
)
OUTPUT = click.option("-o", "output", metavar="FILE", help="Write to a file instead of standard output.")
TARGETS = ("latex", "numpy", "torch", "jax", "c", "json")
PATIENCE = 2.0
"""Seconds without a word before a progress line appears."""
EVERY_GLYPH = "∇²‖β₁ⁿ⁺¹Σₖ₌√·−½ᵀ←→∞L̃"


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, no_args_is_help=False
)
@click.version_option(__version__, prog_name="symmem", message="%(prog)s %(version)s")
def commands() -> None:
    """What the memory of an optimizer does to the loss, derived symbolically.

    NAME is an optimizer of the zoo (see symmem list), FILE a declaration in TOML, - standard input.
    """


@commands.command("list", short_help="The optimizers of the zoo.")
def list_zoo() -> None:
    """The optimizers of the zoo: name, title, reference."""
    from symmem.declaration.catalogue import entries

    rows = entries()
    widths = [max(len(row.name) for row in rows), max(len(row.title) for row in rows)]
    lines = (f"{row.name:<{widths[0]}}  {row.title:<{widths[1]}}  {row.reference}".rstrip() for row in rows)
    _say("\n".join(lines) + "\n")


@commands.command(short_help="The declaration as TOML, to copy and change.")
@NAME
def show(name: str) -> None:
    """The declaration as TOML, to copy and change."""
    from symmem.declaration.loading import source_text

    text = source_text(name)
    # TOML is UTF-8, whatever the terminal: what is shown can be saved as it is.
    _say(text if text.endswith("\n") else text + "\n", encoding="utf-8")


@commands.command(short_help="The memoryless iteration, its correction, the modified loss and equation.")
@NAME
@click.option("--order", default=1, show_default=True, metavar="P", help="The power of h to derive to.")
@click.option(
    "--at-step", type=int, metavar="N", help="The iteration at step n = N; the first update is n = 0."
)
@click.option("--limit", "limit", is_flag=True, help="The limit n -> infinity alone.")
@click.option(
    "--set", "settings", multiple=True, metavar="PARAMETER=NUMBER", help="Put a number in; repeatable."
)
@click.option("--quadratic", is_flag=True, help="Add the exact iteration on a quadratic loss.")
@FORMAT
@OUTPUT
def derive(  # noqa: PLR0917  # one argument for each option
    name: str,
    order: int,
    at_step: int | None,
    limit: bool,
    settings: tuple[str, ...],
    quadratic: bool,
    form: str,
    output: str | None,
) -> None:
    """The memoryless iteration, its correction, the modified loss and equation.

    Without --at-step and --limit both symbolic n and the limit n -> infinity are shown.
    """
    if limit and at_step is not None:
        raise click.UsageError("--at-step and --limit exclude each other; give one of them")
    from symmem.declaration.loading import load
    from symmem.derivation.derivation import derive as derive_optimizer

    values = _settings(settings)
    optimizer = load(name)
    derivation = derive_optimizer(optimizer.with_values(values) if values else optimizer, order)
    at: At = "limit" if limit else "n" if at_step is None else at_step
    with _progress(f"deriving {optimizer.name} to order {order} ..."):
        content = _formatted(derivation, at, form, quadratic, output)
    _deliver(content, output)


@commands.command(short_help="The iteration as code that stands by itself, or as a section of a paper.")
@NAME
@click.option("--target", type=click.Choice(TARGETS), required=True, help="The language of the output.")
@click.option("--order", default=1, show_default=True, metavar="P", help="The power of h to derive to.")
@click.option("--standalone", is_flag=True, help="latex: a document that compiles as it is.")
@click.option("--pdf", is_flag=True, help="latex: a standalone document, compiled; needs -o.")
@OUTPUT
def emit(name: str, target: str, order: int, standalone: bool, pdf: bool, output: str | None) -> None:  # noqa: PLR0917
    """The memoryless iteration as code that needs no symmem, or as a section of a paper.

    latex with -o X.tex writes X.tex, X.bib and symmem-macros.tex, c with -o DIR a header and a source file; both
    list what they wrote.
    """
    if (standalone or pdf) and target != "latex":
        raise click.UsageError(
            f"--standalone and --pdf belong to --target latex, not to {target}; leave them out"
        )
    if target == "c" and output is None:
        raise click.UsageError("--target c writes a header and a source file; add -o DIR")
    if pdf and output is None:
        raise click.UsageError("--pdf needs a file; add -o X.tex, and X.pdf stands beside it")
    from symmem.declaration.loading import load
    from symmem.derivation.derivation import derive as derive_optimizer
    from symmem.targets.registry import emit as emit_target

    derivation = derive_optimizer(load(name), order)
    with _progress(f"writing {derivation.optimizer.name} to order {order} ..."):
        said = emit_target(derivation, target, output, standalone=standalone, pdf=pdf)
    _say(said)


@commands.command(short_help="Compiled kernels: a library, its packages and its Python modules.")
@click.argument("names", nargs=-1, required=True, metavar="NAME|FILE ...")
@click.option("-o", "output", required=True, metavar="DIR", help="The directory to lay them out in.")
def build(names: tuple[str, ...], output: str) -> None:
    """Compiled kernels of one or several optimizers, in one library.

    The compiler is CC, then cc. In DIR: include/, lib/ with pkg-config and CMake packages, python/.
    """
    from symmem.declaration.loading import load
    from symmem.derivation.derivation import derive as derive_optimizer
    from symmem.targets.c.build import build as build_library

    optimizers = [load(name) for name in names]
    with _progress(f"building {', '.join(optimizer.name for optimizer in optimizers)} ..."):
        build_library([derive_optimizer(optimizer) for optimizer in optimizers], output)


@commands.command(short_help="Optimizers side by side.")
@click.argument("names", nargs=-1, required=True, metavar="NAME|FILE ...")
@FORMAT
@OUTPUT
def compare(names: tuple[str, ...], form: str, output: str | None) -> None:
    """Optimizers side by side: correction, sign of the implicit regularisation, modified loss.

    All in the limit of many steps, to first order in h.
    """
    from symmem.declaration.loading import load
    from symmem.derivation.derivation import derive as derive_optimizer
    from symmem.documents.comparison import as_latex, as_record, as_text, compared

    entries = compared([derive_optimizer(load(name)) for name in names])
    with _progress(f"comparing {len(names)} optimizers ..."):
        if form == "json":
            import json

            content = json.dumps(as_record(entries), indent=2) + "\n"
        else:
            content = as_latex(entries) if form == "latex" else as_text(entries, _style(output))
    _deliver(content, output)


def _deliver(content: str, output: str | None) -> None:
    if output is None:
        _say(content)
        return
    from symmem.output.files import write_whole

    write_whole(output, content)


@contextmanager
def _progress(words: str) -> Iterator[None]:
    """Says what is going on, on a terminal, once it takes more than two seconds; the line goes when it is done."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    said = Event()

    def say() -> None:
        click.echo(words, err=True, nl=False)
        said.set()

    timer = Timer(PATIENCE, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if said.is_set():
            click.echo("\r" + " " * len(words) + "\r", err=True, nl=False)


def _formatted(derivation: Derivation, at: At, form: str, quadratic: bool, output: str | None) -> str:
    if form == "json":
        import json

        from symmem.documents.json_record import record

        return json.dumps(record(derivation, at, quadratic=quadratic), indent=2) + "\n"
    if form == "latex":
        from symmem.documents.paper.fragment import latex_report

        return latex_report(derivation, at, quadratic=quadratic)
    from symmem.documents.terminal import terminal_report

    return terminal_report(derivation, at, _style(output), quadratic=quadratic)


def _settings(given: tuple[str, ...]) -> dict[str, str]:
    values: dict[str, str] = {}
    for setting in given:
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not (name and equals and value):
            raise click.UsageError(f"--set {setting}: write PARAMETER=NUMBER, for example beta1=0.9")
        if name in values:
            raise click.UsageError(f"--set {setting}: {name} is set twice; set it once")
        values[name] = value
    return values


def _style(output: str | None) -> Style:
    """What standard output can show; a file gets Unicode in 80 columns."""
    from symmem.documents.terminal import Style

    if output is not None or sys.stdout is None:
        return Style()
    width = max(40, min(shutil.get_terminal_size((80, 24)).columns, 120))
    try:
        EVERY_GLYPH.encode(sys.stdout.encoding or "ascii")
        unicode = True
    except (UnicodeEncodeError, LookupError):
        unicode = False
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Style(width, unicode, colour)


def _say(content: str, encoding: str | None = None) -> None:
    """To standard output; what its encoding lacks is written by its number, never as a question mark."""
    if sys.stdout is None:
        return
    encoded = content.encode(encoding or sys.stdout.encoding or "ascii", "backslashreplace")
    try:
        click.echo(encoded, nl=False)
    except BrokenPipeError:  # the reader has seen enough: symmem derive adamw | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> NoReturn:
    """Runs a command; an error is one line on standard error."""
    gc.disable()  # a short process: collecting the garbage of imports costs more than it frees
    try:
        code = commands.main(standalone_mode=False) or 0
    except click.ClickException as error:
        code = _fail(error.format_message(), 2)
    except click.Abort:
        code = _fail("interrupted", 130)
    except SymmemError as error:
        code = _fail(str(error), 1 if isinstance(error, CompilerError) else 2)
    except OSError as error:
        code = _fail(f"standard output cannot be written ({error.strerror}); write to a file with -o", 2)
    sys.exit(code)


def _fail(message: str, code: int) -> int:
    line = " ".join(message.split()).rstrip(".")
    click.echo(f"symmem: {line}", err=True)
    return code
