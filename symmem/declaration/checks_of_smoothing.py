"""The checks of ``[smooth]``: what a formula knows, whether it is smooth, and whether its function is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Abs, Expr, Pow, S, Symbol, preorder_traversal

from symmem.algebra.head import Roughness
from symmem.algebra.heads import HEADS
from symmem.declaration.kinks import ARGUMENTS
from symmem.declaration.names import suggestion
from symmem.declaration.smoothing import Smooth, kink_of
from symmem.errors import DeclarationError, quote

if TYPE_CHECKING:
    from symmem.declaration.optimizer import Optimizer


def check_smooth(optimizer: Optimizer) -> None:
    """A formula in its arguments and the parameters, once for a function that phi or a g has."""
    expressions = [optimizer.phi, *(momentum.g for momentum in optimizer.momentum)]
    present = {kink_of(node) for expression in expressions for node in preorder_traversal(expression)}
    seen: set[str] = set()
    for each in optimizer.smooth:
        place = f"smooth: {each.function}"
        known = [*ARGUMENTS[each.function], *(parameter.name for parameter in optimizer.parameters)]
        for name in sorted(symbol.name for symbol in each.formula.free_symbols):
            if name not in known:
                hint = suggestion(name, known) or "; or declare it in [parameters]"
                listed = ", ".join(known)
                raise DeclarationError(f"{place}: unknown symbol {quote(name)}; known here: {listed}{hint}")
        if each.function not in present:
            raise DeclarationError(f"{place}: neither phi nor a g has {each.function}; use it or remove it")
        if each.function in seen:
            raise DeclarationError(f"{place}: two formulas; keep one")
        seen.add(each.function)
        _check_is_smooth(each, place)


def _check_is_smooth(smooth: Smooth, place: str) -> None:
    """No part of the formula has a kink or a jump, or a root of 0 where the function has its own: sqrt(x**2) is abs."""
    names = [Symbol(name) for name in ARGUMENTS[smooth.function]]
    kinks = [{names[0]: where} for where in names[1:] or [S.Zero]]
    pending = [smooth.formula]
    while pending:
        part = pending.pop()
        if not _has_two_derivatives(part, names, kinks):
            words = "the formula has a kink, a jump or a root of 0 itself"
            raise DeclarationError(f"{place}: {words}; write a smooth one, {quote(smooth.example)}")
        is_power_of_abs = isinstance(part, Pow) and isinstance(part.base, Abs)
        pending.extend(part.base.args if is_power_of_abs else part.args)


def _has_two_derivatives(part: Expr, names: list[Symbol], kinks: list[dict[Symbol, Expr]]) -> bool:
    """What is left aside: where the arguments of the part are not smooth themselves."""
    if not part.free_symbols.intersection(names):
        return True
    if not isinstance(part, Pow):
        head = HEADS.of(part)
        rough = None if head is None else head.roughness
        if rough in (Roughness.ROOT, Roughness.SINGULAR):
            return not _vanishes(part.args[0], kinks)
        return rough not in (Roughness.JUMP, Roughness.KINK)
    base, power = part.as_base_exp()
    if isinstance(base, Abs):
        return bool(power.is_Integer and power >= 2)
    return bool(power.is_Integer and power >= 0) or not _vanishes(base, kinks)


def _vanishes(inner: Expr, kinks: list[dict[Symbol, Expr]]) -> bool:
    return any(inner.xreplace(kink).expand() == 0 for kink in kinks)
