"""The PyTorch module that stands on the whole runtime, which is copied beside it as a package.

It has the functions of tensors, the optimizers with and without memory, and the probe.
"""

from __future__ import annotations

from pathlib import Path

from symmem.algebra.results import Missing
from symmem.derivation.derivation import Derivation
from symmem.output.files import write_set
from symmem.program.lowering import lower
from symmem.program.noise import with_noise
from symmem.targets.python.module import CHECKS, MATRICES, NOISE, PythonTarget, python_module
from symmem.targets.torch.arguments import spelled_arguments
from symmem.targets.torch.formulas import has_line, imports_math, tensor_writer, written
from symmem.targets.torch.line_record import line_of
from symmem.targets.torch.module import settings
from symmem.targets.torch.pieces import HELPERS, ROWS, more_helpers, runtime_files
from symmem.targets.torch.record import by_steps, own_shapes

PACKAGE = "symmem_runtime"
TARGET = PythonTarget(
    "torch/runtime.py.jinja", has_out=True, helpers=(CHECKS, HELPERS, MATRICES, ROWS, NOISE)
)


def write_with_runtime(derivation: Derivation, output: str, *, minibatch: bool = False) -> str:
    """The module and the package beside it, all or nothing; the names of what was written."""
    folder = Path(output).parent / PACKAGE
    files = {str(folder / name): text for name, text in runtime_files().items()}
    write_set(
        {**files, output: runtime_module(derivation, minibatch=minibatch)},
        str(folder.parent),
        named=(output,),
    )
    return f"{output}\n{folder}\n"


def runtime_module(derivation: Derivation, *, minibatch: bool = False) -> str:
    """The text of the module; ``minibatch``: with the functions of the noise of batches, and a probe that has them."""
    program = with_noise(lower(derivation), derivation) if minibatch else lower(derivation)
    writer = tensor_writer(program, in_place=True)
    form = line_of(derivation)
    if form is not None and isinstance(form.straight, Missing) and not own_shapes(derivation):
        form = None  # at finite n the step on flat vectors is all there is
    found = written(derivation, writer, form)
    needs = found.needs | program.needs()
    arguments, functions = spelled_arguments(derivation.optimizer, derivation.order)
    names = [name for each in functions for name in (each.name, *each.derivatives)]
    values = {
        "package": PACKAGE,
        "imports_math": imports_math(needs, writer.scope),
        "definitions": [
            *more_helpers(needs, program.needs()),
            *("\n".join(lines) for lines in (*found.functions, found.record)),
        ],
        "arguments": arguments,
        "open_functions": functions,
        "given_functions": [],
        "settings": settings(arguments),
        "functions_by_name": names,
        "has_memory": by_steps(derivation) or form is not None,
        "history": "straight" if has_line(derivation, alone=False) or form is not None else "expansion",
    }
    return python_module(derivation, program, TARGET, writer, values)
