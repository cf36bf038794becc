"""What a derivation rests on, and where it does not hold."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from sympy import Abs, Add, Expr, Integer, Pow, S, log, preorder_traversal, sign

from symmem.algebra.atoms import GRAD, THETA, is_scalar
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.gains import at_frozen_point, gains
from symmem.derivation.scalars import scalars_of

ZERO_POINT = {GRAD: S.Zero, THETA: S.Zero}


@dataclass(frozen=True)
class Assumption:
    """One sentence; ``warning`` says that it is known to fail somewhere, and the sentence says where."""

    sentence: str
    warning: bool = False

    def __str__(self) -> str:
        return f"warning: {self.sentence}" if self.warning else self.sentence


def assumptions(
    optimizer: Optimizer, order: int, shifted: bool, formulas: tuple[Expr, ...]
) -> tuple[Assumption, ...]:
    """What the results to the given order in h rest on; ``formulas`` are searched for poles at equal decays."""
    return (
        *_decays(optimizer),
        *_distinct_decays(optimizer, formulas),
        Assumption(f"the loss is {order + 2} times continuously differentiable, with bounded derivatives"),
        *_smoothness(optimizer, order),
        *_functions(optimizer, order),
        *_start(shifted),
    )


def _decays(optimizer: Optimizer) -> list[Assumption]:
    seen = dict.fromkeys(variable.beta for variable in optimizer.momentum if variable.beta.free_symbols)
    ranges = {parameter.name: parameter.range for parameter in optimizer.parameters}
    return [Assumption(f"{beta} lies in {ranges.get(str(beta), '[0, 1)')}") for beta in seen]


def _distinct_decays(optimizer: Optimizer, formulas: tuple[Expr, ...]) -> list[Assumption]:
    """A closed form may have ``1/(beta1 - beta2)``: its value at equality is a limit."""
    field = scalars_of(optimizer).field
    betas = list(dict.fromkeys(variable.beta for variable in optimizer.momentum if variable.beta != 0))
    poles = {part.base for formula in formulas for part in formula.atoms(Pow) if part.exp.is_Rational and part.exp < 0}
    elements = [field.read(pole) for pole in poles if isinstance(pole, Add) and is_scalar(pole)]
    found = []
    for first, second in combinations(betas, 2):
        difference = field.read(first - second)
        ratios = [
            element / difference for element in elements if element is not None and difference is not None
        ]
        if any(not ratio.depends_on(range(len(field.rationals.names))) for ratio in ratios):
            sentence = f"{first} and {second} differ (where they are equal, derive again with both set)"
            found.append(Assumption(sentence))
    return found


def _smoothness(optimizer: Optimizer, order: int) -> list[Assumption]:
    """Phi and the g_l have to be smooth at the frozen point, also where an entry of the gradient is zero."""
    times = "twice" if order == 1 else f"{order + 1} times"
    found = []
    for name, expression in _parts(optimizer):
        for part in preorder_traversal(expression):
            problem = _problem(part, optimizer)
            if problem is not None:
                found.append(Assumption(f"{name} contains {part}, which {problem}", warning=True))
    if not found:
        found.append(Assumption(f"Phi and the g_l are {times} differentiable at the frozen point"))
    return list(dict.fromkeys(found))


def _functions(optimizer: Optimizer, order: int) -> list[Assumption]:
    times = "twice" if order == 1 else f"{order + 1} times"
    return [Assumption(f"{function.name} is {times} differentiable") for function in optimizer.functions]


def _parts(optimizer: Optimizer) -> list[tuple[str, Expr]]:
    variables = [(f"g of momentum {position}", v.g) for position, v in enumerate(optimizer.momentum, start=1)]
    return [("Phi", optimizer.phi), *variables]


def _problem(part: Expr, optimizer: Optimizer) -> str | None:
    """What fails at a zero of the gradient, and what to use instead; None for a smooth part."""
    kinked = isinstance(part, (Abs, sign))
    rooted = isinstance(part, Pow) and not isinstance(part.exp, Integer) and not part.exp.free_symbols
    singular = isinstance(part, log) or (isinstance(part, Pow) and part.exp.is_Rational and part.exp < 0)
    if not (kinked or rooted or singular):
        return None
    inner = part.base if isinstance(part, Pow) else part.args[0]
    if not _vanishes(inner, optimizer):
        return None
    if isinstance(part, sign):
        return "jumps where its argument is 0; use a smooth sign, x/sqrt(x**2 + eps)"
    if kinked:
        return "has a kink where its argument is 0; use sqrt(x**2 + eps)"
    if rooted and part.exp > 0:
        return (
            "is not differentiable where an entry of the gradient is 0: when an entry changes sign the correction "
            f"no longer helps; put the eps inside the root, ({inner} + eps)**({part.exp})"
        )
    return f"is singular where {inner} is 0"


def _vanishes(expression: Expr, optimizer: Optimizer) -> bool:
    """Whether the expression is zero at a point where the gradient and theta are zero."""
    frozen = at_frozen_point(expression, optimizer, gains(optimizer))
    value = frozen.xreplace(ZERO_POINT)
    return bool(value == 0) and bool(frozen.free_symbols & {GRAD, THETA})


def _start(shifted: bool) -> list[Assumption]:
    if not shifted:
        return []
    return [
        Assumption(
            "the limit form from the same theta_0 is O(h) close; from theta_0 + h d_1 it is O(h^2) close"
        )
    ]
