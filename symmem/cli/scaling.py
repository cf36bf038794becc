"""``symmem scaling``: the learning rate and the parameters for a larger batch."""

# ruff: noqa: PLC0415  # a room is imported when its command runs: symmem -h needs no SymPy

from __future__ import annotations

import click

from symmem.cli.derive import settings_of
from symmem.cli.inputs import check_names
from symmem.cli.limits import limited
from symmem.cli.options import FORMAT, NAME, OUTPUT, TIMEOUT
from symmem.cli.progress import progress
from symmem.cli.streams import deliver, style


@click.command(short_help="The learning rate and the parameters for a larger batch.")
@NAME
@click.option("--batch", required=True, metavar="K", help="The factor by which the batch grows: 4, or 1/2.")
@click.option(
    "--set", "settings", multiple=True, metavar="PARAMETER=NUMBER", help="The value now; repeatable."
)
@FORMAT
@TIMEOUT
@OUTPUT
def scaling(  # noqa: PLR0917  # one argument for each option
    name: str, batch: str, settings: tuple[str, ...], form: str, timeout: float, output: str | None
) -> None:
    """What keeps a training as it is, in the time of samples, when the batch grows by a factor K.

    Two rules: with the decays as they are, and with memory as long in samples as before. Linear for SGD; for Adam the
    square root, with betas and eps to match.
    """
    check_names((name,), output)
    import json

    from symmem.declaration.loading import load
    from symmem.documents.scaling import scaling_data, scaling_of, scaling_text

    values = settings_of(settings)
    with limited(timeout), progress(f"scaling {name} ..."):
        told = scaling_of(load(name), batch, values)
        if form == "json":
            content = json.dumps(scaling_data(told), indent=1) + "\n"
        elif form == "latex":
            from symmem.documents.scaling_latex import scaling_latex

            content = scaling_latex(told)
        else:
            content = scaling_text(told, style(output))
    deliver(content, output)
