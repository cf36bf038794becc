"""Programs of other people, run on a problem step by step: a class of PyTorch's form, or a function of optax's form.

A program is named by its dotted path, ``torch.optim.AdamW``, or by ``file.py:Class``.  Naming it is the wish to run it:
nothing here runs a program that was not named.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from symmem.errors import quote, quote_path
from symmem.verification.problem import Problem
from symmem.verification.vectors import VerificationError

Arguments = Mapping[str, object]
Points = list[list[float]]
"""The iterates of a run, each a flat vector of floats."""


def found(path: str) -> Callable[..., Any]:
    """The class or function with this dotted path, or in this file: ``folder/file.py:Class``."""
    place, colon, name = path.rpartition(":")
    if colon:
        return _attribute(_file(Path(place)), [name], path)
    if path.endswith(".py"):
        raise VerificationError(f"{quote_path(path)} is a file; say which class of it: file.py:Class")
    parts = path.split(".")
    for length in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:length])
        if _exists(module):
            return _attribute(_imported(module), parts[length:], path)
    if len(parts) == 1:
        raise VerificationError(
            f"{quote(path)} is not the path of a program; write it whole, torch.optim.AdamW, or as file.py:Class"
        )
    raise VerificationError(
        f"{quote(path)}: there is no package {quote(parts[0])} here; install it, or name a class as file.py:Class"
    )


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _imported(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except Exception as error:  # somebody's package may raise whatever it likes
        raise VerificationError(f"{quote(module)} cannot be imported: {_said(error)}") from None


def _attribute(owner: Any, names: Sequence[str], path: str) -> Callable[..., Any]:
    for name in names:
        if not hasattr(owner, name):
            raise VerificationError(f"{quote(path)}: {owner.__name__} has no {name}; check the name")
        owner = getattr(owner, name)
    if not callable(owner):
        raise VerificationError(f"{quote(path)} is no class and no function; name an optimizer")
    return owner


def _file(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path) if path.is_file() else None
    if spec is None or spec.loader is None:
        raise VerificationError(f"{quote_path(str(path))}: there is no such Python file; check the path")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # the user's own file may raise whatever it likes
        raise VerificationError(f"{quote_path(str(path))} cannot be imported: {_said(error)}") from None
    return module


def run(
    path: str, arguments: Arguments, problem: Problem, rates: Sequence[float], group: Arguments | None = None
) -> Points:
    """theta_0, theta_1, ... of the program, in float64; ``rates`` has the learning rate of every step.

    ``group`` is what a class wants to hear of its parameter group.
    """
    make = found(path)
    try:
        if isinstance(make, type):
            return _run_class(make, arguments, problem, rates, group or {})
        return _run_transformation(make, arguments, problem, rates)
    except VerificationError:
        raise
    except Exception as error:  # a program refuses its arguments in its own way
        raise VerificationError(f"{path} does not run with {dict(arguments)}: {_said(error)}") from None


def _said(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}"


def _run_class(
    make: Any, arguments: Arguments, problem: Problem, rates: Sequence[float], group: Arguments
) -> Points:
    """A class with the interface of ``torch.optim.Optimizer``; a schedule is that of its groups.

    One whose first argument is ``model`` gets a module that has these tensors.
    """
    torch = importlib.import_module("torch")
    flat = [float(x) for x in problem.start]
    tensors = [
        torch.nn.Parameter(torch.tensor(part, dtype=torch.float64).reshape(shape))
        for part, shape in zip(_parts(flat, problem), problem.shapes, strict=True)
    ]
    takes = next(iter(inspect.signature(make).parameters), "")
    given = torch.nn.ParameterList(tensors) if takes == "model" else tensors
    if group:
        given = [{"params": tensors, **group}]
    optimizer = make(given, lr=rates[0], **arguments)
    points = [flat]
    for rate in rates:
        for each in optimizer.param_groups if len(set(rates)) > 1 else ():
            each["lr"] = rate
        for tensor, part in zip(tensors, _parts(problem.gradient(points[-1]), problem), strict=True):
            tensor.grad = torch.tensor(part, dtype=torch.float64).reshape(tensor.shape)
        optimizer.step()
        points.append([entry for tensor in tensors for entry in tensor.detach().flatten().tolist()])
    return points


def _run_transformation(make: Any, arguments: Arguments, problem: Problem, rates: Sequence[float]) -> Points:
    """A function that gives a gradient transformation, ``init`` and ``update``, as optax has them.

    A learning rate may be a function of the count of steps there.
    """
    jax = importlib.import_module("jax")
    numpy = importlib.import_module("jax.numpy")
    wide = jax.enable_x64() if hasattr(jax, "enable_x64") else nullcontext()
    with wide:
        points = [[float(x) for x in problem.start]]
        table = numpy.asarray(rates, dtype=numpy.float64)
        scheduled = len(set(rates)) > 1
        transformation = make(learning_rate=table.__getitem__ if scheduled else rates[0], **arguments)

        def tree(flat: list[float]) -> list[Any]:
            parts = zip(_parts(flat, problem), problem.shapes, strict=True)
            return [numpy.asarray(part, dtype=numpy.float64).reshape(shape) for part, shape in parts]

        state = transformation.init(tree(points[0]))
        update = jax.jit(transformation.update)
        for _ in rates:
            current = tree(points[-1])
            updates, state = update(tree(problem.gradient(points[-1])), state, current)
            moved = [entry for update in updates for entry in numpy.ravel(update).tolist()]
            points.append([x + change for x, change in zip(points[-1], moved, strict=True)])
        return points


def _parts(flat: Sequence[float], problem: Problem) -> list[list[float]]:
    """The flat vector, matrix by matrix."""
    parts, first = [], 0
    for shape in problem.shapes:
        parts.append(list(flat[first : first + math.prod(shape)]))
        first += math.prod(shape)
    return parts
