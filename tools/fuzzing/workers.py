"""Processes that run inputs, made anew now and then, since caches grow; one that dies is a failure of its input."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from fuzzing.outcomes import Outcome, one
from symmem.work import in_use

CHUNK = 250
"""Inputs of one process."""
LARGEST = 300
"""Megabytes that a process may hold between two inputs; a larger one ends, and another goes on."""


@dataclass
class Worker:
    """A process, what it says, and what is left to it."""

    process: BaseProcess
    said: Connection
    left: list[int]


def _work(seeds: list[int], seconds: float, told: Connection) -> None:
    for seed in seeds:
        told.send(one(seed, seconds))
        if in_use().resident > LARGEST:
            return


def _started(seeds: list[int], seconds: float) -> Worker:
    context = multiprocessing.get_context("fork")  # everything is imported already
    said, told = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(seeds, seconds, told), daemon=True)
    process.start()
    told.close()
    return Worker(process, said, seeds)


def all_outcomes(seeds: list[int], jobs: int, seconds: float) -> Iterator[Outcome]:
    """Those of all seeds, as they come."""
    chunks = [seeds[start : start + CHUNK] for start in range(0, len(seeds), CHUNK)][::-1]
    workers: dict[Connection, Worker] = {}
    while chunks or workers:
        while chunks and len(workers) < jobs:
            worker = _started(chunks.pop(), seconds)
            workers[worker.said] = worker
        for said in wait(list(workers)):
            worker = workers[said]
            try:
                outcome = worker.said.recv()
            except EOFError:
                worker.process.join()
                del workers[worker.said]
                if worker.process.exitcode:
                    code, seed = worker.process.exitcode, worker.left.pop(0)
                    yield Outcome(seed, "?", "failed", f"the process ended with {code}")
                if worker.left:
                    chunks.append(worker.left)
                continue
            worker.left = worker.left[1:]
            yield outcome
