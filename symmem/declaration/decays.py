"""The decay of a momentum variable: a constant in (-1, 1), so that what is old fades; see :mod:`.validation`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Expr, Integer, Rational, Symbol

from symmem.declaration.interval import DECAYS
from symmem.declaration.powers import has_exact_powers
from symmem.declaration.substitution import substitute
from symmem.errors import DeclarationError

if TYPE_CHECKING:
    from symmem.declaration.optimizer import Optimizer

FADES = "-1 < beta < 1 makes the sum over the past converge; change it"
NEVER_FADES = (
    "with beta = 1 memory does not fade (Adagrad, Shampoo's sums, betas = (0.9, 1)), and no iteration without memory "
    "follows the method; take an average, beta below 1 with b = 1 - beta"
)
"""What stands behind a decay of 1."""


def defaults_of(optimizer: Optimizer) -> dict[Symbol, Rational]:
    """The default of each parameter, by its symbol."""
    return {Symbol(parameter.name): parameter.default for parameter in optimizer.parameters}


def check_decay(optimizer: Optimizer, beta: Expr) -> None:
    """Refuse a decay outside (-1, 1) at the default values, or with powers that are not known exactly."""
    for parameter in optimizer.parameters:
        if beta == Symbol(parameter.name) and not parameter.range.within(DECAYS):
            raise DeclarationError(
                f"beta: {parameter.name} has the range {parameter.range}; it must lie in {DECAYS}, where memory fades: "
                "with 1, the default of DistributedShampoo's beta2, past gradients are summed and never forgotten; "
                'write range = "[0, 1)" and a default below 1'
            )
    try:
        value = substitute(beta, defaults_of(optimizer))
    except DeclarationError as error:
        raise error.within("beta: at the default values") from None
    number = value if isinstance(value, Rational) else Rational(str(value.evalf(30)))
    if not DECAYS.contains(number):
        written = "" if beta == value else " at the default values"
        way_out = NEVER_FADES if number == 1 else FADES
        raise DeclarationError(f"beta: {value} is outside {DECAYS}{written}; {way_out}")
    if not has_exact_powers(beta):
        raise DeclarationError(
            f"beta: the powers of {beta} are not known exactly; make it a parameter, "
            f"with {_written(value)} as its default"
        )


def _written(value: Expr) -> str:
    """The number as a declaration would have it."""
    return str(value if isinstance(value, Integer) else value.evalf(6))
