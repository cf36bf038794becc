"""What a module of formulas takes from the runtime: records to fill, and classes to stand on."""

from __future__ import annotations

from .formulas import (
    Argument,
    FirstOrder,
    HigherOrder,
    Link,
    Memory,
    Opaque,
    Regulariser,
    Running,
    RunningLoss,
    Stability,
)
from .memoryless import Memoryless
from .noise import Noise, Sample, with_noise
from .optimizer import Settings
from .probe import probe
from .slopes import slope_of, with_slope
from .stepwise import step_by_step
from .with_memory import Amount, WithMemory

__all__ = [
    "Amount",
    "Argument",
    "FirstOrder",
    "HigherOrder",
    "Link",
    "Memory",
    "Memoryless",
    "Noise",
    "Opaque",
    "Regulariser",
    "Running",
    "RunningLoss",
    "Sample",
    "Settings",
    "Stability",
    "WithMemory",
    "probe",
    "slope_of",
    "step_by_step",
    "with_noise",
    "with_slope",
]
