"""An optimizer as it is after many steps: every factor b(n) at its limit."""

from __future__ import annotations

from dataclasses import replace

from symmem.algebra.results import Missing
from symmem.declaration.optimizer import Optimizer
from symmem.errors import DeclarationError
from symmem.method.reading import method_of


def settled(optimizer: Optimizer) -> Optimizer | None:
    """The optimizer with the limits of its factors; None where one has none."""
    variables = []
    for variable, channel in zip(optimizer.momentum, method_of(optimizer).channels, strict=True):
        factor = getattr(channel.kernel, "settled", None)
        if factor is None or isinstance(factor, Missing):
            return None
        variables.append(replace(variable, b=factor))
    parts = [optimizer.phi, *(part for each in variables for part in (each.g, each.beta, each.b))]
    used = {symbol.name for part in parts for symbol in part.free_symbols}
    kept = tuple(parameter for parameter in optimizer.parameters if parameter.name in used)
    try:
        return replace(optimizer, momentum=tuple(variables), parameters=kept, torch=None, implementation=None)
    except DeclarationError:  # a variable that fades is no declaration any more
        return None
