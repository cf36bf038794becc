"""The examples run as their first lines say, in a folder of their own, and show what they claim.

The two experiments that train for half a minute and more are run by ``make prove``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SYMMEM = Path(sys.executable).with_name("symmem")


def prepared(folder: Path, *commands: str) -> Path:
    """The folder after the ``symmem`` commands of an example were run in it."""
    for command in commands:
        done = subprocess.run(
            [SYMMEM, *command.split()[1:]], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    return folder


def commands_of(program: Path) -> list[str]:
    """The ``symmem`` commands in the docstring of an example."""
    return re.findall(r"^    (symmem .*)$", program.read_text(encoding="utf-8"), re.MULTILINE)


def output(
    program: Path, folder: Path, *arguments: str, alone: bool = True, beside: Path | None = None
) -> str:
    """What the program prints; where it stands alone, when symmem cannot be imported.

    ``beside``: the folder of modules of its own.
    """
    blocked = "sys.modules['symmem'] = None; " if alone else ""
    launcher = (
        f"import runpy, sys; {blocked}sys.path.insert(0, {str(beside or '.')!r}); "
        "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    alone_on_its_core = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", launcher, str(program), *arguments]
    done = subprocess.run(
        command, cwd=folder, env=alone_on_its_core, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def numbers(text: str) -> dict[str, float]:
    """``words   number`` lines as a dictionary."""
    return {
        words.strip(): float(number) for words, number in re.findall(r"^(.*?)\s\s+(\S+)$", text, re.MULTILINE)
    }


def test_numpy_alone(tmp_path: Path) -> None:
    program = EXAMPLES / "numpy_only" / "regression.py"
    found = numbers(output(program, prepared(tmp_path, *commands_of(program))))
    with_memory, memoryless = (
        found[f"loss after 400 {how}"] for how in ("steps of AdamW", "memoryless steps")
    )
    assert memoryless == pytest.approx(with_memory, abs=2e-4)
    assert found["distance to AdamW, without correction"] > 5 * found["distance to AdamW, memoryless"]


def test_digits(tmp_path: Path) -> None:
    """AdamW and its memoryless twin stay together, seven times closer than without the correction."""
    program = EXAMPLES / "digits" / "compare.py"
    said = output(program, prepared(tmp_path, *commands_of(program)), "--steps", "200")
    found = {key.removeprefix("distance after 200 steps, "): value for key, value in numbers(said).items()}
    assert found["memoryless, not corrected"] > 4 * found["memoryless, corrected"] > 0
    assert (tmp_path / "compare.png").stat().st_size > 20_000


@pytest.mark.prove
def test_training(tmp_path: Path) -> None:
    """Strength 0 is PyTorch's AdamW on both tasks; -1 is ahead of it on both after few steps, and +1 behind."""
    folder = EXAMPLES / "training"
    said = output(
        folder / "experiment.py",
        tmp_path,
        *("--seeds", "1", "--steps", "20", "--jobs", "1"),
        alone=False,
        beside=folder,
    )
    rows = re.findall(r"^\| (\S.*?) \| ([\d.]+) ± [\d.]+ \| ([+-][\d.]+) ±", said, re.MULTILINE)
    assert len(rows) == 10
    for task in (rows[:5], rows[5:]):
        changes = {method: float(change) for method, _, change in task}
        assert changes["strength −1"] < 0 < changes["strength +1"]
    assert (tmp_path / "training.png").stat().st_size > 20_000
    check = (
        "import torch, experiment as e; torch.set_num_threads(1)\n"
        "for task in (e.digits(), e.text()):\n"
        "    for make in (e.METHODS[e.PLAIN][0], e.torch_adamw(0.999)):\n"
        "        print(task.name, '  ', e.train(task, make, 0, 3).train[-1])\n"
    )
    program = tmp_path / "check.py"
    program.write_text(check, encoding="utf-8")
    losses = re.findall(r"(\S+)$", output(program, tmp_path, alone=False, beside=folder), re.MULTILINE)
    for mine, theirs in zip(losses[::2], losses[1::2], strict=True):
        assert float(mine) == pytest.approx(float(theirs), abs=2e-6)


@pytest.mark.prove
def test_effect_of_beta2(tmp_path: Path) -> None:
    """At equal training loss a larger beta2 leaves a larger gradient, for each of two seeds: AdamW anti-regularises."""
    program = EXAMPLES / "implicit_regularisation" / "effect_of_beta2.py"
    said = output(
        program, tmp_path, "--seeds", "2", "--only", "AdamW, full batch", alone=False, beside=program.parent
    )
    rows = re.findall(
        r"^\| ([\d.]+) \| ([\d.]+) \| [\d.]+ \| \+ \| ([+-][\d.]+) ± ([\d.]+)", said, re.MULTILINE
    )
    changes = {
        (float(level), float(beta2)): (float(mean), float(error)) for level, beta2, mean, error in rows
    }
    assert len(changes) == 12
    for beta2, least in ((0.95, 0.01), (0.99, 0.04), (0.999, 0.05)):
        mean, error = changes[0.3, beta2]
        assert mean > least
        assert mean > 3 * error


@pytest.mark.prove
def test_edge_of_stability(tmp_path: Path) -> None:
    """The preconditioned sharpness of AdamW with beta1 = 0.9 stays at its threshold (2 + 2 beta1)/((1 - beta1) lr)."""
    said = output(EXAMPLES / "edge_of_stability" / "sharpness.py", tmp_path, "--steps", "200")
    median, most = (
        float(number) for number in re.findall(r"at ([\d.]+) of it \(median\), .* at most ([\d.]+)", said)[0]
    )
    assert 0.85 < median < 1.1
    assert most < 1.25


@pytest.mark.prove
def test_three_curves(tmp_path: Path) -> None:
    """Halving the rate halves the distance without correction; with it, and on the straight line, it falls faster."""
    program = EXAMPLES / "distance" / "three_curves.py"
    said = output(program, prepared(tmp_path, *commands_of(program)), "--order-only", "--short", alone=False)
    for method in ("AdamW", "Lion, bias-corrected"):
        found = re.search(
            rf"^order, {method}: .* ([\d.]+), expansion ([\d.]+), straight line ([\d.]+)$", said, re.MULTILINE
        )
        assert found
        without, expansion, straight = (float(number) for number in found.groups())
        assert without < 1.3
        assert min(expansion, straight) > 1.6


@pytest.mark.prove
def test_batch_size(tmp_path: Path) -> None:
    """Simulated effects of both betas lie on the predicted curves, within four standard errors; a picture is drawn."""
    program = EXAMPLES / "batch_size" / "picture.py"
    said = output(program, tmp_path, "--runs", "500", alone=False, beside=program.parent)
    points = re.findall(r"^(beta.) B = [\d.]+: (\S+) \+- (\S+), predicted (\S+)$", said, re.MULTILINE)
    assert [name for name, *_ in points] == 8 * ["beta2"] + 8 * ["beta1"]
    for _, mean, error, predicted in points:
        assert abs(float(mean) - float(predicted)) < 4 * float(error) + 0.002
    assert (tmp_path / "turning.png").stat().st_size > 10_000
