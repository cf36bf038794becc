"""Gradient or not, for methods linear in the gradient: settled tree by tree, for every loss.

With one channel and a linear Phi the elementary differentials are scalars times ``E(tau)``, and a field
``sum_tau b(tau)/symmetry E(tau)`` is a gradient exactly when b does not depend on the root of a free tree
(mathematics.md section 5).  Example: ``H H g`` and ``1/2 D3L[g, g]`` are the two roots of the path with three nodes:
with one coefficient c their sum is ``grad (c/2 g.Hg)``, with two different ones it is nobody's gradient.
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr, Rational, S

from symmem.algebra.atoms import GRAD, is_constant, split_scalar
from symmem.algebra.directional import slope_in
from symmem.algebra.free_trees import Rooted, differential, free, rooted, scalar, size
from symmem.algebra.grouping import group
from symmem.algebra.passes import collect
from symmem.algebra.results import Sentence
from symmem.algebra.scalars import Scalars
from symmem.derivation.gains import limit_gains
from symmem.derivation.loss.scalar_writing import by_factor
from symmem.derivation.loss.verdicts import Obstruction
from symmem.derivation.orders.expansion import Expansion, Numbers, written
from symmem.method.merging import merged
from symmem.method.method import Method


def gradient_gain(method: Method) -> Expr | None:
    """The scalar c with ``Phi(gbar) = c grad`` for a method linear in the gradient; None for all others."""
    one = merged(method)
    if not one.is_linear or len(one.channels) != 1:
        return None
    channel = one.channels[0]
    slope = slope_in(one.phi, channel.symbol)
    gain = collect(slope * limit_gains(one)[0] * channel.g / GRAD, method.numbers)
    return gain if is_constant(gain) else None


def potential_of_order(
    expansion: Expansion, order: int, numbers: Sequence[Numbers], gain: Expr
) -> Expr | Obstruction:
    """The potential p with ``gain grad p = sum over the trees of the order``, or the free trees that break it.

    ``numbers[i]`` are the coefficients, symmetry included, of the i-th tree of the order.
    """
    scalars = expansion.method.numbers
    classes: dict[Rooted, list[tuple[Rooted, int, Expr]]] = {}
    for term, number in zip(expansion.terms[order], numbers, strict=True):
        symmetry = term.tree.symmetry
        value = written(expansion.coefficients, [(x, share * symmetry) for x, share in number], scalars)
        factor, _ = split_scalar(expansion.differentials.of(term.tree))
        value = scalars.tidy(value * factor)
        tree = rooted(term.tree)
        classes.setdefault(free(tree), []).append((tree, symmetry, value))
    broken = [members for members in classes.values() if not _all_equal(members, scalars)]
    if broken:
        terms = tuple(
            group([value / symmetry * differential(tree)], scalars)
            for members in broken
            for tree, symmetry, value in members
        )
        reason = (
            "in two or more dimensions these terms are no gradient, for they are roots of one free tree "
            "with different coefficients"
        )
        return Obstruction(Sentence.of(reason), terms, order, proved=True)
    return _added(classes, gain, scalars)


def _all_equal(members: list[tuple[Rooted, int, Expr]], scalars: Scalars) -> bool:
    first = members[0][2]
    return all(scalars.tidy(value - first) == 0 for _, _, value in members[1:])


def _added(classes: dict[Rooted, list[tuple[Rooted, int, Expr]]], gain: Expr, scalars: Scalars) -> Expr:
    """``sum_pi b(pi)/(gain symmetry(pi)) S(pi)``, by coefficient; ``|pi|/symmetry(pi)`` is the sum of 1/symmetry."""
    terms = []
    for tree, members in classes.items():
        share = sum((Rational(1, symmetry) for _, symmetry, _ in members), S.Zero) / size(tree)
        terms.append((scalars.tidy(members[0][2] / gain), share * scalar(tree)))
    return by_factor(terms, scalars)
