"""An optimizer as it is after many steps: every factor b(n) at its limit, and without what fades."""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, S

from symmem.algebra.atoms import momentum_symbol
from symmem.algebra.results import Missing
from symmem.declaration.optimizer import Optimizer
from symmem.declaration.records import Momentum
from symmem.errors import DeclarationError
from symmem.method.reading import method_of


def settled(optimizer: Optimizer) -> Optimizer | None:
    """The optimizer with the limits of its factors; None where one has none."""
    variables: list[Momentum] = []
    places: dict[Expr, Expr] = {}
    for position, channel in enumerate(method_of(optimizer).channels, start=1):
        variable = optimizer.momentum[position - 1]
        factor = getattr(channel.kernel, "settled", None)
        if factor is None or isinstance(factor, Missing):
            return None
        if factor != 0:
            variables.append(replace(variable, g=variable.g.xreplace(places), b=factor))
        places[momentum_symbol(position)] = S.Zero if factor == 0 else momentum_symbol(len(variables))
    phi = optimizer.phi.xreplace(places)
    parts = [phi, *(part for each in variables for part in (each.g, each.beta, each.b))]
    parts += [] if optimizer.schedule is None else [optimizer.schedule]
    used = {symbol.name for part in parts for symbol in part.free_symbols}
    kept = tuple(parameter for parameter in optimizer.parameters if parameter.name in used)
    try:
        return replace(
            optimizer, phi=phi, momentum=tuple(variables), parameters=kept, torch=None, implementation=None
        )
    except DeclarationError:  # what is left is no declaration
        return None
