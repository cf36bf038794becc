"""What no algebra of Coq looks into: roots, sizes and functions, as generators of the last step of a proof."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sympy import Abs, Expr, Function, Max, Min, Pow, S, default_sort_key, preorder_traversal, sign
from sympy.core.function import AppliedUndef


def generators_in(expressions: Iterable[Expr]) -> tuple[Expr, ...]:
    """``sqrt(x)``, ``|x|`` and ``f(x)`` of these expressions, each once, those inside of others behind them."""
    found = dict.fromkeys(each for formula in expressions for each in _generators(formula))
    return tuple(sorted(found, key=lambda each: (-_size(each), default_sort_key(each))))


def is_root(generator: Expr) -> bool:
    """Whether it is a root; what is neither root nor size is known by nothing."""
    return isinstance(generator, Pow)


def is_size(generator: Expr) -> bool:
    """Whether it is a size."""
    return isinstance(generator, Abs)


def _generators(formula: Expr) -> Iterator[Expr]:
    for part in preorder_traversal(formula):
        if isinstance(part, Pow) and part.exp.is_Rational and part.exp.q == 2:
            yield Pow(part.base, S.Half)
        elif isinstance(part, (Abs, sign)):
            yield Abs(part.args[0], evaluate=False)
        elif isinstance(part, Function) and not isinstance(part, (AppliedUndef, Min, Max)):
            yield part


def _size(formula: Expr) -> int:
    return sum(1 for _ in preorder_traversal(formula))
