"""The open functions of optimizers: what is declared of them, and maps of numbers that stand in for them."""

from __future__ import annotations

from dataclasses import replace

from sympy import Rational

from symmem.declaration.optimizer import Optimizer
from symmem.declaration.records import VectorFunction
from symmem.verification.evaluation import VectorMap
from symmem.verification.homogeneous import homogeneous_gradient, homogeneous_map
from symmem.verification.ridges import potential_map, skew_map


def stand_in(function: VectorFunction, dimension: int) -> VectorMap:
    """A coupled map with what is declared of the function, and nothing more: a gradient, and of its degree."""
    if function.degree is None:
        return potential_map(dimension) if function.potential else skew_map(dimension)
    made = homogeneous_gradient if function.potential else homogeneous_map
    return made(function.degree, dimension)


def degrees_of(*optimizers: Optimizer) -> dict[str, Rational]:
    """The degree of every open function that declares one."""
    functions = (function for optimizer in optimizers for function in optimizer.functions)
    return {function.name: function.degree for function in functions if function.degree is not None}


def with_one_meaning(optimizer: Optimizer, other: Optimizer) -> Optimizer:
    """The optimizer, knowing of its open functions what the other one declares: functions of one name are one."""
    declared = {function.name: function for function in other.functions}
    known = tuple(
        replace(
            function,
            potential=function.potential or declared[function.name].potential,
            degree=declared[function.name].degree if function.degree is None else function.degree,
        )
        if function.name in declared
        else function
        for function in optimizer.functions
    )
    return optimizer if known == optimizer.functions else replace(optimizer, functions=known)
