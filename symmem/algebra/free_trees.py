"""Free trees: rooted trees up to the choice of the root, and the scalars that they stand for.

Where every node is a derivative of one loss, a free tree is a number, its edges contractions:

    S(one node) = loss,   S(edge) = grad . grad,   S(path of three) = grad . D2L(grad),   ...

and ``grad S(pi)`` is the sum over the nodes r of pi of E(pi rooted at r), E the elementary differential.  So a
sum ``sum_tau b(tau)/symmetry(tau) E(tau)`` is a gradient, for every loss and in every dimension, exactly when b
takes one value on all roots of each free tree; its potential is ``sum_pi b(pi)/symmetry(pi) S(pi)``.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

from sympy import Expr

from symmem.algebra.atoms import LOSS, contraction, total
from symmem.algebra.trees import Tree

Rooted: TypeAlias = tuple[Any, ...]
"""A rooted tree as the sorted tuple of its children's tuples."""


@cache
def rooted(tree: Tree) -> Rooted:
    """A tree with one label and one branch at most per node, as a rooted tree."""
    children = [rooted(child) for branch in tree.branches for child in branch.children]
    return tuple(sorted(children))


@cache
def size(tree: Rooted) -> int:
    """How many nodes the tree has."""
    return 1 + sum(size(child) for child in tree)


@cache
def free(tree: Rooted) -> Rooted:
    """The representative of a tree's free tree: the smallest of its roots."""
    return min(_roots(tree))


def _roots(tree: Rooted) -> set[Rooted]:
    """The tree with every one of its nodes as the root."""
    found = set()

    def visit(node: Rooted, above: tuple[Rooted, ...]) -> None:
        found.add(tuple(sorted((*node, *above))))
        for position, child in enumerate(node):
            rest = (*node[:position], *node[position + 1 :], *above)
            visit(child, (tuple(sorted(rest)),))

    visit(tree, ())
    return found


@cache
def differential(tree: Rooted) -> Expr:
    """``E(tree) = D^(m+1) L [E(t_1), ..., E(t_m)]``."""
    return contraction(*(differential(child) for child in tree))


def scalar(tree: Rooted) -> Expr:
    """``S`` of the tree's free tree: the product over its most balanced edge of the two sides.

    A path of three nodes has the root at its end or in its middle:

    >>> end, middle = (((),),), ((), ())
    >>> differential(end), differential(middle)
    (D2L(D2L(grad)), D3L(grad, grad))
    >>> free(end) == free(middle), scalar(end) == scalar(middle)
    (True, True)
    >>> scalar(end)
    total(grad*D2L(grad))
    """
    if not tree:
        return LOSS
    sides = []
    for root in _roots(tree):
        for position, child in enumerate(root):
            other = (*root[:position], *root[position + 1 :])
            sides.append((abs(size(other) - size(child)), other, child))
    _, left, right = min(sides)
    return total(differential(left) * differential(right))
