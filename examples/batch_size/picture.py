"""The effect of memory against the batch size: simulated runs with error bars, and the second order in the noise.

python picture.py -o turning.png
"""

from __future__ import annotations

import argparse

import matplotlib as mpl
import numpy as np
from turning import CASES, STEPS, Noise, predicted, slopes

mpl.use("Agg")
from matplotlib import pyplot as plt

SHARES = (0.5, 0.7, 0.85, 1.0, 1.2, 1.6, 2.5, 4.0)
"""Batch sizes over the predicted one."""


def measured(
    parameter: str, betas: tuple[float, float], noise: Noise, turn: float, runs: int
) -> list[tuple[float, ...]]:
    """Batch size, slope in the parameter over that of the full batch, and its standard error; the runs are shared."""
    zeta = np.random.default_rng(2).standard_normal((runs, STEPS))
    full = slopes(np.zeros((1, STEPS)), noise, 1.0, betas, parameter)[0]
    found = []
    for share in SHARES:
        batch = share * turn
        ratio = slopes(zeta, noise, batch, betas, parameter) / full
        found.append((batch, ratio.mean(), ratio.std() / np.sqrt(runs)))
    return found


def main() -> None:
    """Draw both turns, and print the points."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=8000)
    parser.add_argument("-o", "--output", default="turning.png")
    given = parser.parse_args()
    figure, axes = plt.subplots(1, len(CASES), figsize=(9, 3.4), layout="constrained")
    for axis, (parameter, betas, steepness) in zip(axes, CASES, strict=True):
        noise = Noise(steepness)
        turn = predicted(noise, *betas, parameter)
        points = measured(parameter, betas, noise, turn, given.runs)
        for batch, mean, error in points:
            print(f"{parameter} B = {batch:.1f}: {mean:.3f} +- {error:.3f}, predicted {1 - turn / batch:.3f}")
        sizes = np.geomspace(points[0][0] / 1.1, points[-1][0] * 1.1, 200)
        axis.axhline(0, color="0.8", lw=1)
        axis.axvline(turn, color="0.8", lw=1, ls="--")
        axis.plot(sizes, 1 - turn / sizes, color="tab:blue", label="second order in the noise")
        batch, mean, error = np.array(points).T
        axis.errorbar(batch, mean, 2 * error, fmt="o", ms=4, color="tab:orange", label="simulated, 2 s.e.")
        axis.set_xscale("log")
        ticks = [round(turn * share) for share in (0.5, 1.0, 2.0, 4.0)]
        axis.set_xticks(ticks, [str(tick) for tick in ticks])
        axis.minorticks_off()
        axis.set_xlabel("batch size")
        axis.set_ylabel(f"effect of {parameter} / that of the full batch")
        axis.set_title(f"Adam, betas = {betas}: turns at {turn:.1f}", fontsize=10)
        axis.legend(frameon=False, fontsize=8)
    figure.savefig(given.output, dpi=120)


if __name__ == "__main__":
    main()
