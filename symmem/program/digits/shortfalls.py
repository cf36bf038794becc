"""What powers of decays fall short of 1, without cancellation: in sums that stay, and in numbers outside the field."""

from __future__ import annotations

from sympy import Add, Expr, Mul

from symmem.algebra.atoms import PAST, STEP, is_scalar
from symmem.algebra.real_functions import with_arguments
from symmem.program.digits.decay_functions import Shortfall, Whole


def without_cancellation(expression: Expr) -> Expr:
    """``1 - x^e`` as a shortfall, everywhere in the expression; ``1 - x y`` as ``(1 - x) + x (1 - y)``.

    Also ``x^e - 1``, and with a number before both.  A vector is no decay: ``1 - x grad^2`` stays as it is.
    """
    if not expression.args:
        return expression
    parts = [without_cancellation(part) for part in expression.args]
    numbers = [part for part in parts if part.is_Rational]
    if not (isinstance(expression, Add) and len(parts) == 2 and len(numbers) == 1):
        return with_arguments(expression, parts)
    (number,) = numbers
    product = -next(part for part in parts if part is not number) / number
    powers = [factor.as_base_exp() for factor in Mul.make_args(product)]
    clear = is_scalar(product) and all(not base.is_number and STEP != base != PAST for base, _ in powers)
    if not clear or (len(powers) == 1 and not powers[0][1].free_symbols):
        return with_arguments(expression, parts)
    return number * _distance(powers)


def _distance(powers: list[tuple[Expr, Expr]]) -> Expr:
    """``1 - prod base^exponent``."""
    (base, exponent), *rest = powers
    own = Whole(1 - base) if exponent == 1 else Shortfall(base, exponent)
    return own + base**exponent * _distance(rest) if rest else own
