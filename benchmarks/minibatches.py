"""Mini-batches: Adam's noise to second order, in the limit, against its promised seconds."""

from __future__ import annotations

import subprocess
import sys
import time

from measure import Row, Target

import symmem
from symmem.derivation.noise.mean_over_batches import mean_over_batches
from symmem.method.reading import method_of
from symmem.method.sampling import Sampling


def adam_noise() -> Row:
    """CPU seconds, in a new process: what is found is kept."""
    runs = [
        subprocess.run([sys.executable, __file__], capture_output=True, check=True, text=True)
        for _ in range(3)
    ]
    best = min(float(run.stdout) for run in runs)
    return Row(
        "adam, mini-batches, limit", best, 3.0, Target(1), "measure = promised CPU seconds, in a new process"
    )


if __name__ == "__main__":
    METHOD = method_of(symmem.load("adam"))
    START = time.process_time()
    mean_over_batches(METHOD, Sampling(), "limit")
    print(time.process_time() - START)
