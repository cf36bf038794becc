"""Two gloo processes, each with half of the batch, train as one process with all of it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch_processes import STEPS, WORLD, Net, alone, groups_alone, matrices_alone, module_from, probed
from truth import load

import symmem
from symmem.targets.torch.with_runtime import write_with_runtime

SEVERAL = ("gd", "heavyball", "rmsprop", "adamw", "adamw-torch", "lion", "lion-k")
"""No product and one, sums over the past, a decayed theta, PyTorch's form, a sign, a map that is given."""
MODULES = {name.replace("-", "_"): (name, 1) for name in SEVERAL} | {
    "heavyball_2": ("heavyball", 2),
    "lion_k_2": ("lion-k", 2),
    "lamb": ("lamb", 1),
}
MORE = {"muon": ("muon", 1), "global_clip": ("global-clip", 1)}
"""Functions of matrices, and of the whole model."""
PATIENCE = 150.0
"""Seconds for the two processes; they end by themselves, much sooner."""
Found = list[dict[str, Any]]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The emitted modules, with the runtime beside them."""
    place = tmp_path_factory.mktemp("processes")
    for stem, (name, order) in {**MODULES, **MORE}.items():
        write_with_runtime(symmem.derive(load(name), order), str(place / f"{stem}.py"))
    return place


@pytest.fixture(scope="module")
def found(directory: Path) -> Found:
    """What each process found, by case: parameters and losses."""
    script = Path(__file__).parents[1] / "support" / "torch_processes.py"
    running = [
        subprocess.Popen([sys.executable, script, str(rank), directory], stderr=subprocess.PIPE, text=True)
        for rank in range(WORLD)
    ]
    try:
        words = [process.communicate(timeout=PATIENCE)[1] for process in running]
    finally:
        for process in running:
            process.kill()
    assert [process.returncode for process in running] == [0] * WORLD, words
    return [torch.load(directory / f"{rank}.pt") for rank in range(WORLD)]


@pytest.fixture(scope="module")
def adamw(directory: Path) -> ModuleType:
    return module_from(directory / "adamw.py")


def distance(found: Found, case: str, truth: torch.Tensor) -> float:
    return max(float((each[case] - truth).abs().max()) for each in found)


@pytest.mark.parametrize("kind", ["replicas", "shards"])
@pytest.mark.parametrize("name", MODULES)
def test_processes_train_as_one(found: Found, directory: Path, name: str, kind: str) -> None:
    """Parameters and losses under DistributedDataParallel and fully_shard; one process does not use all parameters."""
    assert distance(found, f"{kind} of {name}", alone(module_from(directory / f"{name}.py"))) < 1e-12


def test_functions_of_whole_matrices_in_shards(found: Found, directory: Path) -> None:
    """The shards are gathered; what is refused is refused by all, and no parameter changes."""
    truth = matrices_alone(module_from(directory / "muon.py"))
    assert distance(found, "matrices", truth) < 1e-11
    for each in found:
        seen = each["deficient matrices"]
        assert "rank-deficient" in seen["memoryless"]
        assert "keeps a state of whole tensors" in seen["with memory"]
        assert seen["moved"] == 0


def test_a_norm_of_the_whole_model_in_processes(found: Found, directory: Path) -> None:
    assert (
        distance(found, "replicas of global_clip", alone(module_from(directory / "global_clip.py"))) < 1e-12
    )
    assert all("needs whole tensors, all as one vector" in each["shards of global_clip"] for each in found)


@pytest.mark.parametrize("kind", ["replicas", "shards"])
@pytest.mark.parametrize("name", ["adamw", "heavyball", "rmsprop", "lion_k"])
def test_optimizers_with_memory(found: Found, directory: Path, name: str, kind: str) -> None:
    """The state is in shards too."""
    made = module_from(directory / f"{name}.py")
    truth = alone(made, strength=-1.0)
    assert distance(found, f"corrected {kind} of {name}", truth) < 1e-12
    assert float((truth - alone(made, strength=0.0)).abs().max()) > 1e-6


@pytest.mark.parametrize(
    ("case", "error"), [("replicas", 1e-12), ("shards", 1e-12), ("shards, difference", 1e-8)]
)
def test_probes(found: Found, directory: Path, case: str, error: float) -> None:
    """The numbers for the joint batch, in every process; the iteration of the sharpness starts elsewhere on shards."""
    truth = probed(module_from(directory / "adamw_torch.py"), Net(both=True).double())
    assert len(truth) == 16
    for each in found:
        numbers = dict(each[f"probe of {case}"])
        sharpness = numbers.pop("preconditioned_sharpness")
        assert sharpness == pytest.approx(truth["preconditioned_sharpness"], rel=2e-2)
        rest = {name: value for name, value in truth.items() if name in numbers}
        assert numbers == pytest.approx(rest, rel=error, abs=error)


def clipped(made: ModuleType) -> torch.Tensor:
    return alone(made, max_norm=0.1)


@pytest.mark.parametrize(
    ("case", "truth"),
    [
        ("module", alone),
        ("replicas, forward", alone),
        ("replicas, clipped", clipped),
        ("shards, clipped", clipped),
        ("some shards", alone),
        ("small batches", alone),
        ("groups", groups_alone),
    ],
)
def test_ways_to_train(
    found: Found, adamw: ModuleType, case: str, truth: Callable[..., torch.Tensor]
) -> None:
    """The group by module=; norms over all shards; replicas among shards; accumulation with checkpoints; groups."""
    assert distance(found, case, truth(adamw)) < 1e-12


@pytest.mark.parametrize(
    ("case", "both"),
    [("replicas, difference", False), ("shards, difference", True), ("some shards, difference", True)],
)
def test_central_differences(found: Found, adamw: ModuleType, case: str, both: bool) -> None:
    """With FSDP2 by its own backward passes, which it reduces and between which it reshards."""
    truth = alone(adamw, both=both)
    assert distance(found, case, truth) < 1e-10
    plain = alone(adamw, both=both, hvp=lambda _, directions: [0 * v for v in directions])
    assert float((truth - plain).abs().max()) > 1e-2


def test_half_precision(found: Found, adamw: ModuleType) -> None:
    """FSDP2's mixed precision: within the rounding of bfloat16, and not the update without memory."""
    assert distance(found, "half precision", alone(adamw)) < 0.01


def test_nothing_is_left_behind(found: Found, adamw: ModuleType) -> None:
    """After an exception in a closure: the flags and states of FSDP2, shards, .grad; and training goes on."""
    truth = alone(adamw, both=True)[:-STEPS]
    for case, calls, error in (("exceptions", 2, 1e-12), ("exceptions, difference", 6, 1e-10)):
        for each in found:
            seen = each[case]
            assert seen["flags"] == [True] * (calls + 1)
            assert seen["moved"] == [0.0] * calls
            assert seen["grads"]
            assert float((seen["parameters"] - truth).abs().max()) < error


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("no group", r"RuntimeError: DistributedDataParallel .*process_group=model\.process_group"),
        ("no module", "TypeError: a parameter is a DTensor.*module=model"),
        ("both", "ValueError: .*leave process_group out"),
        ("plain", "ValueError: module = Net is neither DistributedDataParallel nor .*fully_shard"),
        ("forward", "ValueError: FSDP2 has no forward derivatives.*double-backward"),
        ("foreign", "ValueError: the optimizer has a parameter that module does not have"),
    ],
)
def test_refusals(found: Found, case: str, words: str) -> None:
    for each in found:
        assert re.match(words, each["refusals"].get(case, "nothing was refused"))
