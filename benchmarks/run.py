"""``make bench``: the promised ratios, measured side by side in one run, as one table.

A benchmark is a function without arguments that returns a Row; it joins the table by joining BENCHMARKS.
Give words to run only those whose function name contains one of them:  python benchmarks/run.py adamw
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import any_order
import arrays
import cold_start
import double_sum
import kernels
import many_variables
import minibatches
import torch_memory
import torch_step
from measure import Row

BENCHMARKS: tuple[Callable[[], Row], ...] = (
    cold_start.derive_adamw,
    cold_start.list_zoo,
    cold_start.help_text,
    double_sum.heavy_ball,
    double_sum.heavy_ball_single,
    many_variables.bias_corrected_variables,
    many_variables.heavy_ball_variables,
    any_order.gd_nine,
    any_order.heavy_ball_nine,
    any_order.heavy_ball_ten,
    any_order.adamw_second,
    any_order.adamw_third,
    any_order.heavy_ball_eighth,
    any_order.adamw_fourth,
    any_order.aggmo_second,
    any_order.lie_series_route,
    minibatches.adam_noise,
    arrays.adamw_formula_float64,
    arrays.adamw_correction_float64,
    arrays.adamw_correction_float32,
    *kernels.BENCHMARKS,
    torch_step.double_backward_time,
    torch_step.double_backward_memory,
    torch_step.forward_over_reverse_time,
    torch_step.forward_over_reverse_memory,
    torch_step.central_difference_time,
    torch_step.double_backward_by_kernels_time,
    torch_step.forward_over_reverse_by_kernels_time,
    *torch_memory.BENCHMARKS,
)
HEADER = ("benchmark", "subject", "measure", "ratio", "target", "", "note")


def cells(row: Row) -> tuple[str, ...]:
    target = "" if row.target is None else str(row.target)
    ratio = f"{row.ratio:.0f}" if row.ratio >= 100 else f"{row.ratio:.2f}"
    sizes = (_size(value, row.unit) for value in (row.subject, row.measure))
    return (row.name, *sizes, ratio, target, row.verdict, row.note)


def _size(value: float, unit: str) -> str:
    thousandth = {"s": "ms", "GB": "MB"}[unit]
    return f"{value:.3g} {unit}" if value >= 0.1 else f"{value * 1000:.3g} {thousandth}"


def table(rows: Sequence[Row]) -> str:
    lines = [HEADER, *(cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    return "\n".join(
        "  ".join(cell.rjust(width) if 0 < column < 5 else cell.ljust(width)
                  for column, (cell, width) in enumerate(zip(line, widths, strict=True))).rstrip()
        for line in lines
    )  # fmt: skip


def main(words: Sequence[str]) -> None:
    chosen = [b for b in BENCHMARKS if not words or any(word in b.__name__ for word in words)]
    rows = []
    for benchmark in chosen:
        print(f"measuring {benchmark.__name__} ...", file=sys.stderr)
        rows.append(benchmark())
    print(table(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
