"""The errors of a Verification as a picture: over h, with their slopes, and over the steps of a run."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

from symmem.checks.orders import FIXED_TIME, Errors
from symmem.checks.verify import Verification
from symmem.errors import SymmemError, quote_path

FORMATS = ("png", "pdf", "svg")
COLOURS = ("tab:red", "tab:blue", "tab:green")
WIDTHS = (1.5, 3.5, 1.0)
"""A line that lies on another, as the straight line does on F + M of a linear method, leaves it to be seen."""
Look = dict[str, Any]
RESOLUTION = 150


def form_of(path: str) -> str:
    """The form of a picture, by the ending of its name; an error where it is none, or nothing here can draw."""
    form = Path(path).suffix.removeprefix(".")
    if form not in FORMATS:
        raise SymmemError(f"--plot {quote_path(path)}: a picture ends in .{', .'.join(FORMATS)}; choose one")
    if find_spec("matplotlib") is None:
        raise SymmemError("--plot needs matplotlib; install it with: pip install 'symmem[plot]'")
    return form


def drawn(found: Verification, form: str) -> bytes:
    """The picture in one of the FORMATS.  The title is a stranger's text: shown letter by letter, never typeset."""
    if not found.orders:
        raise SymmemError(f"--plot: {found.optimizer.name} has no formula at step n, and no errors to draw")
    if found.unmeasured:
        raise SymmemError(f"--plot: there are no errors over steps to draw; not measured: {found.unmeasured}")
    pyplot = _pyplot()
    with pyplot.rc_context({"text.usetex": False}):  # which a user's own settings may ask for
        return _drawn(found, form, pyplot)


def _drawn(found: Verification, form: str, pyplot: Any) -> bytes:
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
    directions = list(dict.fromkeys(each.direction for each in found.orders))
    looks = {
        direction: {"color": colour, "linewidth": width, "markersize": 4 + width}
        for direction, colour, width in zip(directions, COLOURS, WIDTHS, strict=False)
    }
    for each in found.orders:
        _over_rates(left, each, looks[each.direction])
        if each.counted == FIXED_TIME:
            _over_steps(right, each, looks[each.direction])
    left.set(xlabel="h", title="Error over h", xscale=_scale(left), yscale=_scale(left))
    heading = f"Error over steps, h = {found.orders[0].rates[-1]:.2g}"
    right.set(xlabel="step", title=heading, yscale=_scale(right))
    for axes in (left, right):
        axes.set_ylabel("largest difference")
        axes.grid(visible=True, which="both", alpha=0.25)
        axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)
    left.set_xticks(found.orders[0].rates, [f"{rate:.2g}" for rate in found.orders[0].rates])
    left.tick_params(axis="x", which="minor", labelbottom=False)
    heading = f"{found.optimizer.title}: the optimizer against its memoryless iteration"
    figure.suptitle(heading, parse_math=False)
    content = BytesIO()
    figure.savefig(content, format=form, dpi=RESOLUTION)
    pyplot.close(figure)
    return content.getvalue()


def _pyplot() -> Any:
    """Without a display."""
    import_module("matplotlib").use("Agg")
    return import_module("matplotlib.pyplot")


def _scale(axes: Any) -> str:
    """Logarithmic; where all is exact there are no errors, and matplotlib has no logarithm of nothing."""
    return "log" if any(len(line.get_xdata()) for line in axes.lines) else "linear"


def _over_rates(axes: Any, each: Errors, look: Look) -> None:
    style = "o-" if each.counted == FIXED_TIME else "s--"
    slope = "exact" if each.slope is None else f"order {each.slope:.2f}"
    label = f"{each.direction}, {each.counted}: {slope}"
    if each.slope is not None:
        axes.plot(each.rates, each.errors, style, label=label, **look)
    else:
        axes.plot([], [], style, label=label, **look)


def _over_steps(axes: Any, each: Errors, look: Look) -> None:
    steps = [step for step, error in enumerate(each.path) if error > 0]
    axes.plot(steps, [each.path[step] for step in steps], "-", label=each.direction, **look)
