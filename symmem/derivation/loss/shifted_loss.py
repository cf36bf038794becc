"""Coupled weight decay is a change of the loss: ``grad + lambda theta`` is the gradient of ``L + lambda |theta|^2/2``.

A method that sees the gradient only through it is the plain method on that loss, and has whatever modified loss the
plain one has (mathematics.md section 12).  The tensors change by ``D2L(v) -> D2L(v) + lambda v``, and no other one.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, Rational, S

from symmem.algebra.atoms import GRAD, LOSS, THETA, contraction, is_constant, is_contraction, total
from symmem.algebra.directional import slope_in
from symmem.algebra.heads import HEADS
from symmem.algebra.passes import collect
from symmem.method.merging import merged
from symmem.method.method import Method


def coupled_decay(method: Method) -> Expr:
    """The scalar lambda with which every g that sees the gradient depends on ``grad + lambda theta`` alone; or 0."""
    found = set()
    for channel in merged(method).channels:
        along_gradient = slope_in(channel.g, GRAD)
        if along_gradient == 0:
            continue
        ratio = collect(slope_in(channel.g, THETA) / along_gradient, method.numbers)
        found.add(ratio)
    shift = found.pop() if len(found) == 1 else S.Zero
    return shift if is_constant(shift) else S.Zero


def uncoupled(method: Method, decay: Expr) -> Method | None:
    """The plain method: grad stands for the gradient of the changed loss; None where theta does not drop out."""
    one = merged(method)
    channels = []
    for channel in one.channels:
        g = channel.g
        if g.has(GRAD):
            g = collect(g.xreplace({GRAD: GRAD - decay * THETA}).expand(), method.numbers)
            if g.has(THETA):
                return None
        channels.append(replace(channel, g=g))
    return replace(one, channels=tuple(channels))


def plain_method(method: Method) -> tuple[Method, Expr] | None:
    """The method without its coupled decay, and the decay; None where there is none."""
    decay = coupled_decay(method)
    plain = uncoupled(method, decay) if decay != 0 else None
    return None if plain is None else (plain, decay)


def in_terms_of_the_loss(expression: Expr, decay: Expr) -> Expr:
    """A formula on the changed loss, written in the tensors of the loss itself."""
    if expression == LOSS:
        return LOSS + decay * Rational(1, 2) * total(THETA**2)
    if expression == GRAD:
        return GRAD + decay * THETA
    if not expression.args:
        return expression
    if is_contraction(expression) and len(expression.args) == 1:
        direction = in_terms_of_the_loss(expression.args[0], decay)
        return contraction(direction) + decay * direction
    return HEADS.mapped(expression, lambda part: in_terms_of_the_loss(part, decay))
