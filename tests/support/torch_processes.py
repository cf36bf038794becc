"""Two processes that train together: what each of them does in tests/test_torch_distributed.py.

``python torch_processes.py RANK DIRECTORY`` runs every case below and saves what it found as DIRECTORY/RANK.pt; the
emitted modules are in the directory.  A case trains a model; one process alone, with the joint batch, is the truth.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import distributed, nn
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

WORLD = 2
STEPS = 4
ROWS = 12
SETTINGS: dict[str, Any] = {
    "eps": 1e-2,
    "betas": (0.8, 0.9),
    "momentum": 0.8,
    "alpha": 0.7,
    "weight_decay": 0.1,
}
"""Gentle values, for those optimizers that have them."""


class Net(nn.Module):
    """Two layers, sharded unevenly between two processes, and a scale for late rows, or for all.

    A process without late rows does not use the scale.
    """

    def __init__(self, both: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Linear(5, 7)
        self.last = nn.Linear(7, 3)
        self.scale = nn.Parameter(torch.tensor([0.7, -0.4, 0.3]))
        self.unused = nn.Parameter(torch.ones(4))
        self.both = both

    def forward(self, x: torch.Tensor, late: torch.Tensor) -> torch.Tensor:
        out = self.last(torch.tanh(self.first(x)))
        scaled = torch.ones_like(late) if self.both else late
        return out * (1 + scaled[:, None] * self.scale) if scaled.any() else out


def batch(part: int | None = None) -> list[torch.Tensor]:
    """Inputs, which of them are late, and labels: all, or the part of one process."""
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(ROWS, 5, generator=generator, dtype=torch.float64)
    rows = torch.arange(ROWS)
    joint = [x, rows >= ROWS // WORLD, rows % 3]
    return joint if part is None else [each.chunk(WORLD)[part] for each in joint]


def loss_of(model: nn.Module, part: int | None = None, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """The mean loss."""
    x, late, labels = batch(part)
    return cross_entropy(model(x.to(dtype), late), labels)


def soft(x: torch.Tensor) -> torch.Tensor:
    """A function of a whole tensor, not of each entry."""
    return x / torch.sqrt(1 + x.square().sum())


def optimizer_of(made: ModuleType, params: Any, **options: Any) -> torch.optim.Optimizer:
    """The memoryless optimizer, or with ``strength`` the one with its memory."""
    words = (
        ("startswith", "Memoryless") if "strength" not in options else ("endswith", "WithMemoryCorrection")
    )
    kind = next(value for name, value in vars(made).items() if getattr(name, words[0])(words[1]))
    names = kind.__init__.__annotations__
    given = {name: value for name, value in SETTINGS.items() if name in names}
    if "gradK" in names:
        given["gradK"] = soft
    return kind(params, **given, **{"lr": 0.05, **options})


def trained(
    model: nn.Module, optimizer: torch.optim.Optimizer, closure: Callable[[], torch.Tensor]
) -> torch.Tensor:
    """The parameters after some steps, and the losses before them."""
    steps = STEPS // getattr(optimizer.formulas, "order", 1)  # beyond order 1 they take longer
    losses = [optimizer.step(closure) for _ in range(steps)]
    return torch.cat([*whole(model), torch.stack(losses)])


def whole(model: nn.Module) -> list[torch.Tensor]:
    for module in model.modules():
        if isinstance(module, FSDPModule):
            module.reshard()
    found = [p.detach() for p in model.parameters()]
    return [(p.full_tensor() if hasattr(p, "full_tensor") else p).reshape(-1) for p in found]


def alone(made: ModuleType, both: bool = False, **options: Any) -> torch.Tensor:
    """The truth."""
    model = Net(both).double()
    return trained(model, optimizer_of(made, model.parameters(), **options), lambda: loss_of(model))


def replica() -> nn.Module:
    return DistributedDataParallel(Net(both=True).double(), find_unused_parameters=True)


def replicated(made: ModuleType, rank: int, by_module: bool = False, **options: Any) -> torch.Tensor:
    model = DistributedDataParallel(Net().double(), find_unused_parameters=by_module)
    who = {"module": model} if by_module else {"process_group": distributed.group.WORLD}
    return trained(
        model, optimizer_of(made, model.parameters(), **who, **options), lambda: loss_of(model, rank)
    )


def shards(both: bool = False) -> nn.Module:
    model = Net(both).double()
    fully_shard(model.first)
    fully_shard(model.last)
    return fully_shard(model)


def sharded(made: ModuleType, rank: int, both: bool = False, **options: Any) -> torch.Tensor:
    model = shards(both)
    return trained(
        model, optimizer_of(made, model.parameters(), module=model, **options), lambda: loss_of(model, rank)
    )


def weights(model: nn.Module) -> list[Any]:
    """The parameters that are matrices, for functions of matrices."""
    return [model.first.weight, model.last.weight]


def matrices_alone(made: ModuleType) -> torch.Tensor:
    model = Net().double()
    return trained(model, optimizer_of(made, weights(model)), lambda: loss_of(model))


def matrices_sharded(made: ModuleType, rank: int) -> torch.Tensor:
    model = shards()
    return trained(model, optimizer_of(made, weights(model), module=model), lambda: loss_of(model, rank))


def deficient_shards(made: ModuleType, rank: int) -> dict[str, Any]:
    """With a scale for all rows, those of the last gradient depend on each other: every process refuses it."""
    model = shards(both=True)
    before = torch.cat(whole(model))
    seen: dict[str, Any] = {}
    for name, options in (("memoryless", {}), ("with memory", {"strength": -1.0})):
        try:
            optimizer_of(made, weights(model), module=model, **options).step(lambda: loss_of(model, rank))
        except ValueError as error:
            seen[name] = str(error)
    return {**seen, "moved": float((torch.cat(whole(model)) - before).abs().max())}


def refused_shards(made: ModuleType, rank: int) -> str:
    """What is said where a number of the whole model would need all shards."""
    try:
        sharded(made, rank)
    except ValueError as error:
        return str(error)
    return ""


def partly_sharded(made: ModuleType, rank: int, both: bool = False, **options: Any) -> torch.Tensor:
    """A parameter that FSDP2 is told to ignore is a replica."""
    model = Net(both).double()
    fully_shard(model, ignored_params={model.last.bias})
    optimizer = optimizer_of(made, model.parameters(), module=model, **options)
    return trained(model, optimizer, lambda: loss_of(model, rank))


def in_small_batches(made: ModuleType, rank: int) -> torch.Tensor:
    """Gradient accumulation: the closure adds up; with checkpoints."""
    model = shards()

    def closure() -> torch.Tensor:
        pieces = zip(*(each.chunk(3) for each in batch(rank)), strict=True)
        losses = [
            cross_entropy(checkpoint(model, x, late, use_reentrant=False), labels)
            for x, late, labels in pieces
        ]
        return torch.stack(losses).mean()

    return trained(model, optimizer_of(made, model.parameters(), module=model), closure)


def half_precision(made: ModuleType, rank: int) -> torch.Tensor:
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16)
    model = Net()
    fully_shard(model, mp_policy=policy)
    optimizer = optimizer_of(made, model.parameters(), module=model)
    return trained(model, optimizer, lambda: loss_of(model, rank, torch.float32).float())


def by_groups(model: nn.Module) -> list[dict[str, Any]]:
    return [
        {"params": model.first.parameters(), "lr": 0.02},
        {"params": [*model.last.parameters(), model.scale]},
    ]


def groups_alone(made: ModuleType) -> torch.Tensor:
    model = Net().double()
    return trained(model, optimizer_of(made, by_groups(model)), lambda: loss_of(model))


def groups_sharded(made: ModuleType, rank: int) -> torch.Tensor:
    model = shards()
    return trained(model, optimizer_of(made, by_groups(model), module=model), lambda: loss_of(model, rank))


def probed(made: ModuleType, model: nn.Module, part: int | None = None, **options: Any) -> dict[str, float]:
    """The probe's numbers for PyTorch's own optimizer, after some steps of it."""
    original = torch.optim.AdamW(model.parameters(), lr=0.05, eps=1e-2, weight_decay=0.1)
    for _ in range(2):
        original.zero_grad()
        loss_of(model, part).backward()
        original.step()
    return made.probe(model, original, lambda: loss_of(model, part), **options)


def flags(model: nn.Module) -> list[dict[str, Any]]:
    """Everything that FSDP2 could be told, and whether it is sharded."""
    found = []
    for module in model.modules():
        if isinstance(module, FSDPModule):
            state = module._get_fsdp_state()
            for group in state._fsdp_param_groups:
                kept = {
                    name: value
                    for name, value in vars(group).items()
                    if isinstance(value, bool | float | None)
                }
                training = str(state._training_state), str(group._training_state), str(group._sharded_state)
                meshes = (
                    group.post_forward_mesh_info is None,
                    state._auto_reshard_after_forward,
                    state._is_root,
                )
                found.append({**kept, "training": training, "meshes": meshes})
    return found


class Failure:
    """A forward hook that raises in the n-th call."""

    def __init__(self, call: int) -> None:
        self.left = call

    def __call__(self, *_: object) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyError("lost")


def after_exceptions(made: ModuleType, rank: int, hvp: str) -> dict[str, Any]:
    """An exception in or after the n-th forward pass: all is as before it, and training goes on as if it never was."""
    model = shards(both=True)
    optimizer = optimizer_of(made, model.parameters(), module=model, hvp=hvp)
    loss_of(model, rank).backward()  # an ordinary pass, after which FSDP2 has set itself up
    model.set_requires_gradient_sync(False)
    grads = [p.grad for p in model.parameters()]
    before = flags(model)
    seen: dict[str, Any] = {"flags": [], "moved": []}
    optimizer.step(lambda: loss_of(model, rank))
    place = torch.cat(whole(model))
    for broken, call in product([model, model.last], range(1, 4 if hvp == "central-difference" else 2)):
        handle = broken.register_forward_hook(Failure(call))
        try:
            optimizer.step(lambda: loss_of(model, rank))
        except KeyError:
            seen["flags"].append(flags(model) == before)
            seen["moved"].append(float((torch.cat(whole(model)) - place).abs().max()))
        handle.remove()
    seen["grads"] = all(p.grad is grad for p, grad in zip(model.parameters(), grads, strict=True))
    for _ in range(STEPS - 1):
        optimizer.step(lambda: loss_of(model, rank))
    seen["flags"].append(flags(model) == before)
    seen["parameters"] = torch.cat(whole(model))
    return seen


def refusals(made: ModuleType, rank: int) -> dict[str, str]:
    replica, sharding, plain = DistributedDataParallel(Net().double()), shards(), Net().double()
    world = distributed.group.WORLD
    attempts: dict[str, Callable[[], Any]] = {
        "no group": lambda: optimizer_of(made, replica.parameters()).step(lambda: loss_of(replica, rank)),
        "no module": lambda: optimizer_of(made, sharding.parameters()),
        "both": lambda: optimizer_of(made, replica.parameters(), module=replica, process_group=world),
        "plain": lambda: optimizer_of(made, plain.parameters(), module=plain),
        "forward": lambda: optimizer_of(
            made, sharding.parameters(), module=sharding, hvp="forward-over-reverse"
        ),
        "foreign": lambda: optimizer_of(made, plain.parameters(), module=sharding).step(
            lambda: loss_of(plain, rank)
        ),
    }
    found = {}
    for name, attempt in attempts.items():
        try:
            attempt()
        except (RuntimeError, TypeError, ValueError) as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


def module_from(path: Path) -> ModuleType:
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))  # for the runtime beside the module
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = made
    spec.loader.exec_module(made)
    return made


def cases(made: dict[str, ModuleType], rank: int) -> dict[str, Callable[[], Any]]:
    adamw = made["adamw"]
    difference, forward = {"hvp": "central-difference"}, {"hvp": "forward-over-reverse"}
    found: dict[str, Callable[[], Any]] = {
        "module": partial(replicated, adamw, rank, by_module=True),
        "replicas, forward": partial(replicated, adamw, rank, **forward),
        "replicas, difference": partial(replicated, adamw, rank, **difference),
        "replicas, clipped": partial(replicated, adamw, rank, max_norm=0.1),
        "shards, difference": partial(sharded, adamw, rank, both=True, **difference),
        "shards, clipped": partial(sharded, adamw, rank, max_norm=0.1),
        "some shards": partial(partly_sharded, adamw, rank),
        "some shards, difference": partial(partly_sharded, adamw, rank, both=True, **difference),
        "small batches": partial(in_small_batches, adamw, rank),
        "half precision": partial(half_precision, adamw, rank),
        "groups": partial(groups_sharded, adamw, rank),
        "exceptions": partial(after_exceptions, adamw, rank, "double-backward"),
        "exceptions, difference": partial(after_exceptions, adamw, rank, "central-difference"),
        "refusals": partial(refusals, adamw, rank),
        "replicas of global_clip": partial(replicated, made["global_clip"], rank),
        "shards of global_clip": partial(refused_shards, made["global_clip"], rank),
        "matrices": partial(matrices_sharded, made["muon"], rank),
        "deficient matrices": partial(deficient_shards, made["muon"], rank),
    }
    for name in ("adamw", "heavyball", "rmsprop", "lion_k"):
        found[f"corrected shards of {name}"] = partial(sharded, made[name], rank, strength=-1.0)
        found[f"corrected replicas of {name}"] = partial(replicated, made[name], rank, strength=-1.0)
    torch_adamw = made["adamw_torch"]
    found["probe of replicas"] = lambda: probed(torch_adamw, replica(), rank)
    found["probe of shards"] = lambda: probed(torch_adamw, shards(True), rank)
    found["probe of shards, difference"] = lambda: probed(
        torch_adamw, shards(True), rank, hvp="central-difference"
    )
    for name, module in made.items():
        if name in ("muon", "global_clip"):
            continue  # of matrices alone; of the whole model, which is not sharded
        found[f"replicas of {name}"] = partial(replicated, module, rank)
        found[f"shards of {name}"] = partial(sharded, module, rank)
    return found


def main(rank: int, directory: Path) -> None:
    torch.set_num_threads(1)
    patience = timedelta(seconds=60)
    distributed.init_process_group(
        "gloo", init_method=f"file://{directory}/meeting", rank=rank, world_size=WORLD, timeout=patience
    )
    made = {path.stem: module_from(path) for path in sorted(directory.glob("*.py"))}
    torch.save({name: case() for name, case in cases(made, rank).items()}, directory / f"{rank}.pt")
    distributed.destroy_process_group()
    # Everything is saved, and the group is gone; so nothing is taken down.  A thread of gloo that still holds a tensor
    # of the last reduction asks Python for it, and where Python has ended by then PyTorch ends in std::terminate.  This
    # is seldom; a program of all_reduce and destroy_process_group alone shows it too, with a long switch interval.
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
