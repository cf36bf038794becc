"""A step by compiled kernels, those of ``symmem build``, where one set of coefficients serves all parameters."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from .formulas import FirstOrder, Formulas
from .groups import Part
from .noted import note_steps
from .products import evaluation_by
from .step import Resources, place_parts
from .vectors import Closure, Vectors


def check_kernels(formulas: Formulas, path: str | None) -> None:
    """Raises where there is nothing for kernels to do, or where they are those of another optimizer."""
    if path is None:
        return
    if not isinstance(formulas, FirstOrder) or formulas.memory is None or formulas.opaque:
        raise ValueError(f"kernels = {path!r}: {formulas.title} has no kernels at this order")
    operators_of(path, formulas.name)


@cache
def operators_of(path: str, name: str) -> Any:
    """The custom operators of built kernels, and how many products they need."""
    specification = importlib.util.spec_from_file_location("symmem_kernels", path)
    if specification is None or specification.loader is None:
        raise ValueError(f"{path!r} is not a Python module")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    if name != module.NAME:
        raise ValueError(f"{path!r} has the kernels of {module.NAME}, not of {name}")
    return module.torch_operators()


def are_alike(parts: Sequence[Part]) -> bool:
    """Whether one set of coefficients serves all parameters, and the kernels know them."""
    known = {(part.n, part.lr, part.on_line, *part.values) for part in parts}
    parameters = [p for part in parts for p in part.owned]
    types = {(p.device.type, p.dtype) for p in parameters}
    served = {("cpu", torch.float32), ("cpu", torch.float64)}
    whole = all(p.is_contiguous() for p in parameters)
    level = all(part.had_one_rate for part in parts)
    return len(known) == 1 and types <= served and whole and level


def compiled_step(parts: Sequence[Part], closure: Closure, resources: Resources, operators: Any) -> Tensor:
    """One update of all groups by the kernels; returns the loss before it."""
    n = -1 if math.isinf(parts[0].n) else int(parts[0].n)
    values, lr = parts[0].values, parts[0].lr
    count = operators.directions(n)
    points = [p for part in parts for p in part.owned]
    evaluation = evaluation_by(resources.hvp, products=count > 0)(closure, points, resources.processes)
    place_parts(parts, evaluation.gradients, resources)
    directions = [
        None if g is None else operators.direction(p, g, n, values)
        for part in parts
        for p, g in zip(part.parameters, part.gradients, strict=True)
    ]
    products: list[Vectors] = []
    for k in range(count):
        vectors = [None if each is None else each[k] for each in directions]
        products.append(evaluation.product(vectors, last=k + 1 == count))
    for part in parts:
        mine = [part.signed(product[part.span]) for product in products]
        for place, p in enumerate(part.parameters):
            g = part.gradients[place]
            if g is not None:
                each = [_present(product[place], p) for product in mine]
                hv = each[0][None] if count == 1 else torch.stack(each)
                if part.on_line:
                    p.sub_(operators.straight(p, g, hv, n, lr, values), alpha=lr)
                else:
                    operators.step_(p, g, hv, n, lr, values)
    note_steps(parts)
    return evaluation.loss


def _present(vector: Tensor | None, theta: Tensor) -> Tensor:
    return torch.zeros_like(theta) if vector is None else vector.contiguous()
