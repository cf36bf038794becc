"""``symmem derive``: one optimizer, told in text, LaTeX or JSON."""

# ruff: noqa: PLC0415  # a room is imported when its command runs: symmem -h needs no SymPy

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from symmem.cli.inputs import check_names
from symmem.cli.limits import limited
from symmem.cli.options import FORMAT, NAME, ORDER, OUTPUT, TIMEOUT
from symmem.cli.progress import progress
from symmem.cli.streams import deliver, style
from symmem.errors import SymmemError
from symmem.work import ASK_LESS

if TYPE_CHECKING:
    from symmem.derivation.derivation import Derivation
    from symmem.documents.account import At
    from symmem.method.sampling import Sampling


@click.command(short_help="The memoryless iteration, its correction, the modified loss and equation.")
@NAME
@ORDER
@click.option(
    "--at-step", type=int, metavar="N", help="The iteration at step n = N; the first update is n = 0."
)
@click.option("--limit", "limit", is_flag=True, help="The limit n -> infinity alone.")
@click.option(
    "--set", "settings", multiple=True, metavar="PARAMETER=NUMBER", help="Put a number in; repeatable."
)
@click.option("--quadratic", is_flag=True, help="Add the exact iteration on a quadratic loss.")
@click.option(
    "--minibatch", is_flag=True, help="Add what the noise of mini-batches does: its mean, and one epoch."
)
@click.option(
    "--batches",
    type=click.IntRange(min=2),
    metavar="N",
    help="With --minibatch: how many batches an epoch has; a symbol without it.",
)
@click.option("--replacement", is_flag=True, help="With --minibatch: every step draws its batch anew.")
@click.option(
    "--certify", is_flag=True, help="Let coqc check the file of --target coq, and say so in one line."
)
@FORMAT
@TIMEOUT
@OUTPUT
def derive(  # noqa: PLR0917  # one argument for each option
    name: str,
    order: int,
    at_step: int | None,
    limit: bool,
    settings: tuple[str, ...],
    quadratic: bool,
    minibatch: bool,
    batches: int | None,
    replacement: bool,
    certify: bool,
    form: str,
    timeout: float,
    output: str | None,
) -> None:
    """The memoryless iteration, its correction, the modified loss and equation.

    Without --at-step and --limit both symbolic n and the limit n -> infinity are shown.
    """
    check_names((name,), output)
    if limit and at_step is not None:
        raise SymmemError("--at-step and --limit exclude each other; give one of them")
    if (batches is not None or replacement) and not minibatch:
        raise SymmemError("--batches and --replacement say how mini-batches are drawn: add --minibatch")
    if batches is not None and replacement:
        raise SymmemError("--batches and --replacement exclude each other; give one of them")
    if certify:
        left = {"--limit": limit, "--at-step": at_step is not None, "--quadratic": quadratic}
        _check_certified({**left, "--minibatch": minibatch, f"--format {form}": form != "text"})
    from symmem.declaration.loading import load
    from symmem.derivation.derivation import derive as derive_optimizer

    values = settings_of(settings)
    at: At = "limit" if limit else "n" if at_step is None else at_step
    with limited(timeout, ASK_LESS):
        optimizer = load(name)
        derivation = derive_optimizer(optimizer.with_values(values) if values else optimizer, order)
        if certify:
            from symmem.targets.coq.checking import certify as checked

            with progress(f"proving {optimizer.name} ..."):
                content = checked(derivation, timeout).line
            deliver(content, output)
            return
        with progress(f"deriving {optimizer.name} to order {order} ..."):
            sampling = _sampling(batches, replacement) if minibatch else None
            content = _formatted(derivation, at, form, output, quadratic=quadratic, sampling=sampling)
    deliver(content, output)


def _check_certified(given: Mapping[str, bool]) -> None:
    """An option that changes the report changes nothing of one line, and is not left unread."""
    for option, is_given in given.items():
        if is_given:
            raise SymmemError(f"--certify says one line and has no use for {option}; leave it out")


def settings_of(given: tuple[str, ...]) -> dict[str, str]:
    """The numbers of ``--set``, by parameter."""
    values: dict[str, str] = {}
    for setting in given:
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not (name and equals and value):
            raise SymmemError(f"--set {setting}: write PARAMETER=NUMBER, for example beta1=0.9")
        if "=" in value.lstrip("="):
            raise SymmemError(f"--set {setting}: one parameter at a time; write --set once for each")
        if name in values:
            raise SymmemError(f"--set {setting}: {name} is set twice; set it once")
        values[name] = value
    return values


def _sampling(batches: int | None, replacement: bool) -> Sampling:
    from sympy import Integer

    from symmem.method.sampling import Sampling

    if replacement:
        return Sampling(None)
    return Sampling() if batches is None else Sampling(Integer(batches))


def _formatted(
    derivation: Derivation,
    at: At,
    form: str,
    output: str | None,
    *,
    quadratic: bool,
    sampling: Sampling | None,
) -> str:
    from symmem.documents.account import account_of

    if form == "json":
        from symmem.documents.json_form import PARTS, json_data, json_text

        return json_text(
            json_data(account_of(derivation, at, quadratic=quadratic, sampling=sampling, parts=PARTS))
        )
    account = account_of(derivation, at, quadratic=quadratic, sampling=sampling)
    if form == "latex":
        from symmem.documents.paper.fragment import latex_fragment

        return latex_fragment(account)
    from symmem.documents.terminal import terminal_text

    return terminal_text(account, style(output))
