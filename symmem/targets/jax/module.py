"""The JAX target: pure functions of pytrees that can be compiled and mapped, and optax transformations."""

from __future__ import annotations

from pathlib import Path

from symmem.derivation.derivation import Derivation
from symmem.program.lowering import lower
from symmem.program.needs import Need
from symmem.targets.jax.optax_functions import OptaxFunctions
from symmem.targets.jax.writer import JaxWriter, spelling
from symmem.targets.python.copied import Helpers
from symmem.targets.python.module import (
    CHECKS,
    MATRICES,
    PythonTarget,
    python_module,
    python_scope,
)

OUTER = ("jnp", "jax", "float", "ValueError")
HELPERS = Helpers(
    Path(__file__).with_name("helpers.py"),
    always=(
        "_with_derivatives",
        "_check_step",
        "_is_known",
        "_array",
        "_like",
        "_entrywise",
        "_kept",
    ),
    needed={
        Need.ZEROS: ("_zeros", "_add"),
        Need.TOTAL: ("_total",),
        Need.OLDEST: ("_oldest",),
        Need.FEW: ("_few", "_nodes"),
        Need.RULE: ("_few", "_nodes"),
        Need.COMPLETE: ("_complete",),
        Need.PRODUCT: ("_Product",),
        Need.SHORTFALL: ("_shortfall",),
        Need.SHORTFALLS: ("_shortfall",),
        Need.CHOICE: ("_chosen",),
        Need.SHAPED: ("_shaped",),
        Need.SUM_TENSORS: ("_sum_tensors",),
        **dict.fromkeys(MATRICES.needed, ("_of_tensor",)),
    },
)
TRANSFORMATIONS = Helpers(
    Path(__file__).with_name("transformations.py"),
    always=(
        *("MemorylessState", "_Formulas", "_Settings", "_Method", "_gradient_field", "_passed"),
        *("_check_before", "_checked", "_complain", "_needed", "_scaled", "_memoryless_transformation"),
    ),
)
WITH_MEMORY = Helpers(
    Path(__file__).with_name("with_memory.py"),
    always=(
        *("WithMemoryState", "_WithMemory", "_with_memory_transformation", "_target"),
        *("_probed", "_followed", "probe_line", "_norm", "_ratio"),
    ),
)
EDGE = Helpers(
    Path(__file__).with_name("edge.py"),
    always=(),
    needed={
        Need.SHARPNESS: (
            *("_sharpness", "_largest_eigenvalue", "_noise", "_dot", "_less", "_divided", "_threshold"),
        )
    },
)
TARGET = PythonTarget(
    "jax/module.py.jinja",
    has_out=False,
    helpers=(
        Helpers(CHECKS.file, ("_outside",), CHECKS.needed),
        HELPERS,
        MATRICES,
        TRANSFORMATIONS,
        WITH_MEMORY,
        EDGE,
    ),
    # What is traced has no value before the function runs.
    guard="_is_known({}) and ",
)


def jax_module(derivation: Derivation) -> str:
    """The JAX module of a derivation."""
    program = lower(derivation)
    scope = python_scope(program, OUTER)
    writer = JaxWriter(spelling(scope), scope)
    optax = OptaxFunctions.of(derivation, program, writer)
    values = {"of_optax": optax.lines(), "record": optax.record()}
    return python_module(derivation, program, TARGET, writer, values, needs=optax.needs)
