"""The host's side of an emitted Triton module: tensors, tables of addresses, tuned launches; copied into it."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

KINDS = {
    torch.float64: tl.float64,
    torch.float32: tl.float32,
    torch.bfloat16: tl.bfloat16,
    torch.float16: tl.float16,
}
CONFIGURATIONS = ((1024, 4), (512, 2), (2048, 8), (4096, 8))  # entries and warps
SCRATCH = 1 << 22  # entries on which they are timed
_CHOSEN: dict[Any, tuple[int, int]] = {}  # by kernel, types, alignment and device


class _Call:
    """The vectors of a call by name: of each, one tensor for every tensor of theta."""

    def __init__(
        self,
        theta: Any,
        grad: Any,
        products: Sequence[Any] = (),
        asked: int = 0,
        memory: Sequence[Any] = (),
        kept: int = 0,
    ) -> None:
        self.theta = theta
        given = {"theta": theta, "grad": grad, **_numbered("hv", products, asked)}
        given.update(_numbered("past", memory, kept))
        self.vectors = {name: _listed(value) for name, value in given.items()}
        for name, tensors in self.vectors.items():
            _check_like(self.vectors["theta"], tensors, name)

    def run(
        self,
        kernel: Any,
        names: Sequence[str],
        written: Sequence[str],
        numbers: Sequence[float],
        tables: Sequence[Tensor] = (),
    ) -> Any:
        """One launch over all tensors; what is written last, like theta."""
        if not all(map(math.isfinite, numbers)):
            raise ValueError("lr, a parameter or a number made of them is not finite")
        vectors = dict(self.vectors)
        if "out" in written:
            like = vectors["theta"]
            vectors["out"] = [torch.empty_like(x).contiguous() for x in like]
        _check_apart([x for name in written for x in vectors[name]])
        plain = {name: [x.resolve_neg() for x in vectors[name]] for name in names}
        columns = {name: [x.contiguous() for x in plain[name]] for name in names}
        _launch(kernel, list(columns.values()), [float(x) for x in numbers], tables)
        for name in written:
            for own, used in zip(vectors[name], columns[name], strict=True):
                if own is not used:
                    with torch.no_grad():
                        own.copy_(used)
                elif name != "out":
                    torch.autograd.graph.increment_version(own)
        if written[-1] == "theta":
            return self.theta
        found = vectors[written[-1]]
        return found[0] if isinstance(self.theta, Tensor) else found


def _zeros(theta: Any, count: int) -> list[Any]:
    """Vectors of zeros, each like theta; half precision is kept in float32."""

    def like(each: Tensor) -> Tensor:
        kind = torch.float64 if each.dtype == torch.float64 else torch.float32
        return torch.zeros(each.shape, dtype=kind, device=each.device)

    if isinstance(theta, Tensor):
        return [like(theta) for _ in range(count)]
    return [[like(each) for each in theta] for _ in range(count)]


def _listed(value: Any) -> list[Tensor]:
    return [value] if isinstance(value, Tensor) else list(value)


def _numbered(name: str, vectors: Any, asked: int) -> dict[str, Any]:
    """hv1, hv2, ...: as many as the formula asks for."""
    if isinstance(vectors, Tensor) or len(vectors) != asked:
        found = "a tensor" if isinstance(vectors, Tensor) else f"{len(vectors)} vectors"
        raise ValueError(f"{name} is {found}, not a list of {asked} vectors")
    return {f"{name}{k}": each for k, each in enumerate(vectors, start=1)}


def _check_like(theta: list[Tensor], tensors: list[Tensor], name: str) -> None:
    if [each.shape for each in tensors] != [each.shape for each in theta]:
        raise ValueError(f"the shapes of {name} are not those of theta")
    kinds = {each.dtype for each in tensors}
    if len(kinds) > 1 or not kinds <= set(KINDS):
        found, known = (", ".join(sorted(map(str, each))) for each in (kinds, KINDS))
        raise TypeError(f"{name} is of {found}; give one of {known}")
    if any(each.layout is not torch.strided for each in tensors):
        raise TypeError(f"{name} is sparse; give dense tensors")
    devices = {each.device for each in (*theta, *tensors)}
    if len(devices) > 1:
        found = ", ".join(sorted(map(str, devices)))
        raise ValueError(f"{name} and theta are on {found}; one device is asked for")


def _check_given(n: float | None) -> None:
    if n is None:
        raise ValueError("a step with memory has a number: give n, counted from 0")


def _check_apart(tensors: list[Tensor]) -> None:
    """What is written must not be written twice."""
    dense = (x for x in tensors if x.is_contiguous() and x.numel())
    spans = sorted((x.data_ptr(), x.data_ptr() + x.nbytes) for x in dense)
    if any(end > begin for (_, end), (begin, _) in itertools.pairwise(spans)):
        raise ValueError("two of the tensors that are written share memory")


def _launch(
    kernel: Any,
    columns: list[list[Tensor]],
    numbers: Sequence[float],
    tables: Sequence[Tensor],
) -> None:
    """One launch: an entry of a program is that of the tensor which owns its block."""
    sizes = tuple(each.numel() for each in columns[0])
    if not sum(sizes):
        return
    device = columns[0][0].device
    if (device.type == "cpu") != triton.knobs.runtime.interpret:
        asked = "TRITON_INTERPRET=1 is asked for on a CPU, and only there"
        raise ValueError(f"theta is on {device}; {asked}")
    rows = [each.to(device) for each in tables]
    kinds = tuple(column[0].dtype for column in columns)
    addresses = tuple(tuple(x.data_ptr() for x in column) for column in columns)
    aligned = all(x % 16 == 0 for row in (sizes, *addresses) for x in row)
    real = torch.float64 if torch.float64 in kinds else torch.float32
    key = (kernel, kinds, aligned, device)

    def start(block: int, warps: int, places: Any, lengths: tuple[int, ...]) -> None:
        blocks, owner = _owners(lengths, block, device)
        with torch.cuda.device(device) if device.type == "cuda" else nullcontext():
            kernel[(blocks,)](
                *(_table(lengths, places, block, device), owner, *rows, *numbers),
                BLOCK=block,
                REAL=KINDS[real],
                KINDS=tuple(KINDS[kind] for kind in kinds),
                ALIGNED=aligned,
                num_warps=warps,
            )

    if key not in _CHOSEN:
        on_cpu = device.type == "cpu"
        chosen = CONFIGURATIONS[0] if on_cpu else _fastest(start, kinds, device)
        _CHOSEN[key] = chosen
    start(*_CHOSEN[key], addresses, sizes)


def _fastest(start: Any, kinds: Sequence[Any], device: torch.device) -> tuple[int, int]:
    """The fastest configuration, on memory of our own: what a kernel writes goes there."""
    scratch = [torch.ones(SCRATCH, dtype=kind, device=device) for kind in kinds]
    places = tuple((each.data_ptr(),) for each in scratch)
    times = {}
    for each in CONFIGURATIONS:
        run = functools.partial(start, *each, places, (SCRATCH,))
        times[each] = triton.testing.do_bench(run)
    return min(times, key=lambda each: times[each])


@functools.lru_cache(maxsize=64)
def _owners(sizes: tuple[int, ...], block: int, device: Any) -> tuple[int, Tensor]:
    """How many blocks there are, and which tensor owns each."""
    counts = torch.tensor([-(-size // block) for size in sizes])
    owner = torch.repeat_interleave(torch.arange(len(sizes)), counts)
    return len(owner), owner.to(device)


@functools.lru_cache(maxsize=64)
def _table(
    sizes: tuple[int, ...],
    addresses: tuple[tuple[int, ...], ...],
    block: int,
    device: torch.device,
) -> Tensor:
    """For every tensor its first block, its size, and the address of each of its vectors."""
    first, rows = 0, []
    for size, *places in zip(sizes, *addresses, strict=True):
        rows.append([first, size, *places])
        first += -(-size // block)
    return torch.tensor(rows, dtype=torch.int64).to(device)


def _counted(table: Tensor) -> Tensor:
    """How many rows of numbers of past steps there are, then the rows."""
    count = torch.full((1,), float(len(table)), dtype=torch.float64)
    return torch.cat([count, table.reshape(-1)])


def _stacked(steps: Tensor, columns: Sequence[Any]) -> Tensor:
    """A row for every step."""
    values = [torch.as_tensor(each, dtype=torch.float64) for each in columns]
    return torch.stack([each.expand(len(steps)) for each in values or [steps]], dim=1)


def _columns(rows: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
    return list(zip(*rows, strict=True))
