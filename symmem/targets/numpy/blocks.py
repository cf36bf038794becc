"""Entrywise functions of the emitted NumPy module, block by block and in threads: copied into it, word for word.

NumPy lets go of Python's lock while a function runs over a block, so that two threads work at once.  A block is long
against what a thread waits for that lock, and short enough for the caches.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
BLOCK = 2**19  # bytes treated at a time, so that they stay in the caches of a core
SHARE = 2**22  # bytes of a result that are worth a thread


def _entrywise(
    function: Callable[..., None],
    theta: Array,
    vectors: Sequence[Array],
    scalars: Sequence[float],
    out: Array | None = None,
) -> Array:
    """function(*vectors, *scalars), block by block where the arrays are large; very large ones in threads."""
    if out is None:
        out = np.empty_like(theta)
    elif out.shape != theta.shape or out.dtype != theta.dtype:
        raise ValueError(f"out is not like theta: {theta.dtype}, {theta.shape}")
    entries, count = BLOCK // out.itemsize, len(vectors) + len(scalars)
    if out.size <= entries or not _can_be_cut(out, vectors):
        function(*vectors, *scalars, out, *_work(function, count, out))
        return out
    flat, target = [vector.reshape(-1) for vector in vectors], out.reshape(-1)

    def run(begin: int, end: int) -> None:
        work = _work(function, count, target[:entries])
        for start in range(begin, end, entries):
            block = slice(start, min(start + entries, end))
            given = [vector[block] for vector in flat]
            rest = [array[: block.stop - start] for array in work]
            function(*given, *scalars, target[block], *rest)

    threads = min(_threads(), out.nbytes // SHARE)
    if threads > 1:
        _in_threads(run, out.size, -(-out.size // (threads * entries)) * entries)
    else:
        run(0, out.size)
    return out


def _threads() -> int:
    """As many as OMP_NUM_THREADS says; else one for each core that this process may use."""
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    cores = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))
    return len(cores(0))


def _in_threads(run: Callable[[int, int], None], size: int, share: int) -> None:
    """run(begin, end) of each share, in threads that end here; what NumPy does with errors is the caller's choice."""
    chosen: dict[str, Any] = {**np.geterr(), "call": np.geterrcall()}

    def run_share(begin: int) -> None:
        with np.errstate(**chosen):
            run(begin, min(begin + share, size))

    begins = range(0, size, share)
    with ThreadPoolExecutor(len(begins)) as pool:
        for done in [pool.submit(run_share, begin) for begin in begins]:
            done.result()


def _work(function: Callable[..., None], given: int, like: Array) -> list[Array]:
    """The arrays that a function works in: its arguments behind those given and out."""
    count = function.__code__.co_argcount - given - 1
    return [np.empty_like(like) for _ in range(count)]


def _can_be_cut(out: Array, vectors: Sequence[Array]) -> bool:
    """Whether blocks are views, and none is overwritten before it is read."""
    arrays = (out, *vectors)
    if any(x.shape != out.shape or not x.flags.c_contiguous for x in arrays):
        return False
    shared = [vector for vector in vectors if np.may_share_memory(out, vector)]
    return all(vector.ctypes.data == out.ctypes.data for vector in shared)
