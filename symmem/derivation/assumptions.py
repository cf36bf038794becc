"""What a derivation rests on, and where it does not hold."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Abs, Add, Expr, Integer, Mul, Pow, Symbol, cosh, exp, log, sign

from symmem.algebra.atoms import STEP, is_scalar
from symmem.derivation.gains import at_frozen_point, gains
from symmem.method.method import Method


@dataclass(frozen=True)
class Assumption:
    """One sentence; ``warning`` says that it is known to fail somewhere, and the sentence says where."""

    sentence: str
    warning: bool = False

    def __str__(self) -> str:
        return f"warning: {self.sentence}" if self.warning else self.sentence


def assumptions(
    method: Method, order: int, shifted: bool, formulas: tuple[Expr, ...]
) -> tuple[Assumption, ...]:
    """What the results to the given order in h rest on; ``formulas`` are searched for poles at equal decays."""
    return (
        *_decays(method),
        *_distinct_decays(method, formulas),
        Assumption(f"the loss is {order + 2} times continuously differentiable, with bounded derivatives"),
        *_smoothness(method, order),
        *_functions(method, order),
        *_start(shifted),
    )


def _decays(method: Method) -> list[Assumption]:
    decays = dict.fromkeys(decay for channel in method.channels for decay in channel.kernel.decays)
    return [
        Assumption(f"{decay} lies in {method.ranges.get(decay, '[0, 1)')}")
        for decay in decays
        if decay.free_symbols
    ]


def _distinct_decays(method: Method, formulas: tuple[Expr, ...]) -> list[Assumption]:
    """A closed form may have ``1/(beta1 - beta2)``: its value where that is zero is a limit."""
    found = []
    for formula in formulas:
        for part in formula.atoms(Pow):
            pole = part.base
            below = isinstance(pole, Add) and part.exp.is_Rational and part.exp < 0 and is_scalar(pole)
            if below and not _stays_positive(pole, method):
                sentence = f"{pole} is not 0 (where it is, derive again with those values set)"
                found.append(Assumption(sentence))
    return list(dict.fromkeys(found))


def _stays_positive(pole: Add, method: Method) -> bool:
    """Whether the pole is ``1 - x`` with x a product of decays and numbers below 1, or a sum of positive terms."""
    constant, others = pole.as_coeff_Add()
    decays = set(method.numbers.vanishing) | set(_unit_symbols(method))
    if all(term.as_coeff_Mul()[0] > 0 for term in Add.make_args(others)):
        return bool(constant >= 0)
    if isinstance(others, Add):
        return False
    number, product = others.as_coeff_Mul()
    bases = {factor.as_base_exp()[0] for factor in Mul.make_args(product)}
    return bool(constant >= -number > 0) and bases <= decays


def _unit_symbols(method: Method) -> list[Symbol]:
    return [Symbol(p.name) for p in method.parameters if p.range.lower >= 0 and p.range.upper <= 1]


def _smoothness(method: Method, order: int) -> list[Assumption]:
    """Phi and the g_l have to be smooth at the frozen point, also where an entry of the gradient is zero."""
    times = "twice" if order == 1 else f"{order + 1} times"
    found = []
    for name, expression in _parts(method):
        pending = [expression]
        while pending:
            part = pending.pop()
            problem = _problem(part, method, order)
            if problem is not None:
                found.append(Assumption(f"{name} contains {part}, which {problem}", warning=True))
            smooth_power = isinstance(part, Pow) and isinstance(part.base, Abs) and problem is None
            pending.extend(part.base.args if smooth_power else part.args)
    if not found:
        found.append(Assumption(f"Phi and the g_l are {times} differentiable at the frozen point"))
    return list(dict.fromkeys(found))


def _functions(method: Method, order: int) -> list[Assumption]:
    times = "twice" if order == 1 else f"{order + 1} times"
    return [Assumption(f"{function.name} is {times} differentiable") for function in method.functions]


def _parts(method: Method) -> list[tuple[str, Expr]]:
    variables = [(f"g of momentum {position}", v.g) for position, v in enumerate(method.channels, start=1)]
    return [("Phi", method.phi), *variables]


def _problem(part: Expr, method: Method, order: int) -> str | None:
    """What fails where an argument is zero, and what to use instead; None for a smooth part."""
    base, exponent = part.as_base_exp() if isinstance(part, Pow) else (part, Integer(1))
    kinked = isinstance(base, (Abs, sign))
    rooted = isinstance(part, Pow) and exponent.is_Rational and not exponent.is_Integer
    singular = isinstance(part, log) or (isinstance(part, Pow) and exponent.is_Rational and exponent < 0)
    if not (kinked or rooted or singular):
        return None
    inner = base.args[0] if kinked or isinstance(part, log) else base
    if _is_nonzero(inner, method) or _is_smooth_power(inner, exponent, kinked, order):
        return None
    if isinstance(base, sign):
        return "jumps where its argument is 0; use a smooth sign, x/sqrt(x**2 + eps)"
    if singular:
        return f"is singular where {inner} is 0; keep it away from 0, e.g. with an eps"
    if kinked:
        return "has a kink where its argument is 0; use sqrt(x**2 + eps)"
    return (
        "is not differentiable where an entry of the gradient is 0: when an entry changes sign the correction "
        f"no longer helps; put the eps inside the root, ({inner} + eps)**({exponent})"
    )


def _is_smooth_power(inner: Expr, exponent: Expr, kinked: bool, order: int) -> bool:
    """``|x|^p`` and ``(x^q)^(p/q)`` have as many derivatives as p allows; an even p has all."""
    if not exponent.is_Rational or exponent < 0:
        return False
    root, power = inner.as_base_exp()
    if not (isinstance(root, Symbol) and power.is_Integer):
        root, power = inner, Integer(1)
    total = power * exponent
    if not kinked and power == 1:
        return False
    return bool(total.is_Integer and total % 2 == 0) or bool(total > order + 1)


def _is_nonzero(expression: Expr, method: Method) -> bool:
    """Whether the expression is known to keep away from zero at every frozen point."""
    frozen = at_frozen_point(expression, method, gains(method))
    return frozen != 0 and _bound(frozen, method) > 0


def _bound(expression: Expr, method: Method) -> int:
    """1 for what is known to be positive, 0 for what is known to be no less than zero, -1 for all else."""
    if is_scalar(expression):
        return _scalar_bound(expression, method)
    if isinstance(expression, Abs):
        return 0
    if isinstance(expression, Add):
        bounds = [_bound(term, method) for term in expression.args]
        return max(bounds) if min(bounds) >= 0 else -1
    if isinstance(expression, Mul):
        return min(_bound(factor, method) for factor in expression.args)
    if isinstance(expression, Pow):
        inner = _bound(expression.base, method)
        even = bool(expression.exp.is_Integer and expression.exp % 2 == 0)
        return inner if inner >= 0 else (0 if even else -1)
    return 1 if expression.func in (exp, cosh) else -1


def _scalar_bound(scalar: Expr, method: Method) -> int:
    """By the numbers at the defaults, at a few steps: a scalar of a declaration keeps its sign."""
    values = {Symbol(p.name): p.default for p in method.parameters}
    found = [scalar.xreplace({**values, STEP: Integer(step)}).evalf(15) for step in (0, 1, 7)]
    if not all(value.is_Number and value.is_finite for value in found):
        return -1
    least = min(found)
    return 1 if least > 0 else 0 if least == 0 else -1


def _start(shifted: bool) -> list[Assumption]:
    if not shifted:
        return []
    return [
        Assumption(
            "the limit form from the same theta_0 is O(h) close; from theta_0 + h d_1 it is O(h^2) close"
        )
    ]
