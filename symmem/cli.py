"""The command line: parsing and exit codes only.  Every room is imported when its command runs.

Exit codes: 0 done, 1 a check failed or a compiler rejected our code, 2 bad input or a missing tool.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import click

from symmem import __version__
from symmem.errors import SymmemError

NAME = click.argument("name", metavar="NAME|FILE|-")


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="symmem")
def commands() -> None:
    """What the memory of an optimizer does to the loss, derived symbolically.

    NAME is an optimizer of the zoo (see symmem list), FILE a declaration in TOML, - standard input.
    """


@commands.command("list")
def list_zoo() -> None:
    """The optimizers of the zoo."""
    from symmem.declaration.catalogue import entries

    rows = entries()
    widths = [max(len(row.name) for row in rows), max(len(row.title) for row in rows)]
    for row in rows:
        click.echo(f"{row.name:<{widths[0]}}  {row.title:<{widths[1]}}  {row.reference}".rstrip())


@commands.command()
@NAME
def show(name: str) -> None:
    """The declaration as TOML, to copy and change."""
    from symmem.declaration.loading import source_text

    click.echo(source_text(name), nl=False)


@commands.command()
@NAME
@click.option("--order", default=1, show_default=True, metavar="P", help="The power of h to derive to.")
@click.option("--at-step", type=int, metavar="N", help="The iteration at step n = N; the first update is n = 0.")
@click.option("--limit", "limit", is_flag=True, help="The limit n -> infinity alone.")
@click.option("--set", "settings", multiple=True, metavar="PARAMETER=NUMBER", help="Put a number in; repeatable.")
@click.option("--format", "form", type=click.Choice(["text", "latex", "json"]), default="text", show_default=True)
@click.option("-o", "output", metavar="FILE", help="Write to a file instead of standard output.")
def derive(
    name: str, order: int, at_step: int | None, limit: bool, settings: tuple[str, ...], form: str, output: str | None
) -> None:
    """The memoryless iteration, its correction, the modified loss and equation.

    Without --at-step and --limit both symbolic n and the limit n -> infinity are shown.
    """
    if limit and at_step is not None:
        raise click.UsageError("--at-step and --limit exclude each other; give one of them")
    from symmem.declaration.loading import load
    from symmem.derivation.derivation import derive as derive_optimizer

    optimizer = load(name)
    if settings:
        optimizer = optimizer.with_values(_settings(settings))
    derivation = derive_optimizer(optimizer, order)
    at = "limit" if limit else "n" if at_step is None else at_step
    _write(_formatted(derivation, at, form, output), output)


def _formatted(derivation: object, at: object, form: str, output: str | None) -> str:
    if form == "json":
        import json

        from symmem.emission.record import record

        return json.dumps(record(derivation, at), indent=2, ensure_ascii=False) + "\n"  # type: ignore[arg-type]
    if form == "latex":
        from symmem.emission.fragment import latex_report

        return latex_report(derivation, at)  # type: ignore[arg-type]
    from symmem.emission.terminal import terminal_report

    return terminal_report(derivation, at, _style(output))  # type: ignore[arg-type]


def _settings(given: tuple[str, ...]) -> dict[str, str]:
    values: dict[str, str] = {}
    for setting in given:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"--set {setting}: write PARAMETER=NUMBER, for example beta1=0.9")
        if name.strip() in values:
            raise click.UsageError(f"--set {setting}: {name.strip()} is set twice; set it once")
        values[name.strip()] = value
    return values


def _style(output: str | None) -> object:
    """What standard output can show; a file gets Unicode in 80 columns."""
    import shutil

    from symmem.emission.terminal import Style

    if output is not None:
        return Style()
    width = max(40, min(shutil.get_terminal_size((80, 24)).columns, 120))
    try:
        "∇²‖β₁ⁿ⁺¹Σ√·−̃".encode(sys.stdout.encoding or "ascii")
        unicode = True
    except (UnicodeEncodeError, LookupError):
        unicode = False
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Style(width, unicode, colour)


def _write(content: str, output: str | None) -> None:
    """To standard output, or to a file that is there whole or not at all."""
    if output is None:
        click.echo(content, nl=False)
        return
    import tempfile

    folder = os.path.dirname(os.path.abspath(output))
    try:
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8", newline="\n") as stream:
            stream.write(content)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(stream.name, 0o666 & ~mask)
        os.replace(stream.name, output)
    except OSError as error:
        if "stream" in locals() and os.path.exists(stream.name):
            os.unlink(stream.name)
        raise SymmemError(f"{output}: cannot be written ({error.strerror}); choose another place with -o") from None


def main() -> NoReturn:
    """Runs a command; an error is one line on standard error."""
    try:
        code = commands.main(standalone_mode=False) or 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        code = 2
    except click.ClickException as error:
        code = _fail(error.format_message(), 2)
    except click.Abort:
        code = _fail("interrupted", 130)
    except SymmemError as error:
        code = _fail(str(error), 2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def _fail(message: str, code: int) -> int:
    click.echo(f"symmem: {' '.join(message.split())}", err=True)
    return code
