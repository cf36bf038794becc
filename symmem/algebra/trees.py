"""Trees with two kinds of nodes: the normal form of an expansion in the step size.

A *step* node has any number of branches; a *branch* is a momentum node with a label and one or more step
trees as children.  ``size`` counts step nodes: the power of h.  ``symmetry`` is the usual symmetry number.
With one label and one branch at most per step node these are the ordinary rooted trees.

In a cascade a momentum variable reads others: a branch then carries branches of its own beside its step trees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement
from math import factorial
from typing import TypeVar

from symmem.records import record
from symmem.work import checkpoint

Labels = tuple[int, ...]


@record(frozen=True, eq=False)
class Branch:
    """A momentum node ``(label; children; branches)``; branches stand on it in a cascade alone."""

    label: int
    children: tuple[Tree, ...]
    size: int
    symmetry: int
    branches: tuple[Branch, ...] = ()


@record(frozen=True, eq=False)
class Tree:
    """A step node with its branches; trees are made once each by :func:`trees` and compared by identity."""

    branches: tuple[Branch, ...]
    size: int
    symmetry: int


@record(frozen=True)
class Shape:
    """Which trees there are: ``step(labels)`` and ``branch(label, arity, labels)`` tell which derivatives are not zero.

    Both get the sorted labels of a node's branches, and are closed under taking away.  ``reads[label]`` are the smaller
    labels that may stand on a branch; empty where no momentum variable reads another.
    """

    labels: int
    step: Callable[[Labels], bool]
    branch: Callable[[int, int, Labels], bool]
    reads: tuple[Labels, ...] = ()


def trees(shape: Shape, largest: int) -> list[list[Tree]]:
    """``trees(...)[n]``: all trees with n step nodes, n = 0, ..., largest, in a fixed order.

    Of one memory of the gradient, under a linear Phi, they are the rooted trees, of which there are 1, 1, 2, 4, 9:

    >>> linear = Shape(1, lambda labels: len(labels) < 2, lambda label, arity, labels: True)
    >>> [len(row) for row in trees(linear, 5)]
    [0, 1, 1, 2, 4, 9]
    >>> [tree.symmetry for tree in trees(linear, 4)[4]]  # chain; fork above; chain beside a leaf; three leaves
    [1, 2, 1, 6]
    """
    by_size: list[list[Tree]] = [[], [Tree((), 1, 1)]]
    branches: list[list[Branch]] = [[]]
    seen: list[list[Branch]] = [[]]
    for size in range(2, largest + 1):
        if any(shape.reads):
            seen.append(_reading_branches(shape, by_size, seen, size - 1))
            branches.append([branch for branch in seen[-1] if shape.step((branch.label,))])
        else:
            branches.append(list(_branches(shape, by_size, size - 1)))
        by_size.append(
            [
                Tree(chosen, size, _symmetry(chosen))
                for chosen in _multisets(branches, size - 1, size - 1)
                if shape.step(tuple(sorted(branch.label for branch in chosen)))
            ]
        )
    return by_size


def _branches(shape: Shape, by_size: list[list[Tree]], size: int) -> Iterator[Branch]:
    for children in _multisets(by_size, size, size):
        for label in range(shape.labels):
            if shape.step((label,)) and shape.branch(label, len(children), ()):
                yield Branch(label, children, size, _symmetry(children))


def _reading_branches(
    shape: Shape, by_size: list[list[Tree]], seen: list[list[Branch]], size: int
) -> list[Branch]:
    """The branches of this size in a cascade, by label: one that reads another may carry a branch of its own size."""
    found: list[Branch] = []
    for label in range(shape.labels):
        below = [[branch for branch in row if branch.label in shape.reads[label]] for row in (*seen, found)]
        for own in range(size, -1, -1):
            carried = list(_multisets(below, size - own, size - own)) if own < size else [()]
            for children in _multisets(by_size, own, own) if own else ((),):
                for inner in carried:
                    labels = tuple(sorted(branch.label for branch in inner))
                    if shape.branch(label, len(children), labels):
                        symmetry = _symmetry(children) * _symmetry(inner)
                        found.append(Branch(label, children, size, symmetry, inner))
    return found


Part = TypeVar("Part", Tree, Branch)


def _multisets(by_size: list[list[Part]], total: int, largest: int) -> Iterator[tuple[Part, ...]]:
    """All multisets of parts of at most the size ``largest`` whose sizes add up to ``total``, each once."""
    checkpoint("the count of the trees")
    for size in range(min(total, largest, len(by_size) - 1), 0, -1):
        for count in range(total // size, 0, -1):
            rest = total - count * size
            smaller: list[tuple[Part, ...]] = [()] if rest == 0 else list(_multisets(by_size, rest, size - 1))
            for equal in combinations_with_replacement(by_size[size], count):
                for others in smaller:
                    yield equal + others


def _symmetry(parts: Sequence[Tree] | Sequence[Branch]) -> int:
    """``prod over equal parts of (multiplicity! symmetry^multiplicity)``."""
    checkpoint("the count of the trees")
    result = 1
    for part in parts:
        result *= part.symmetry
    for count in Counter(parts).values():
        result *= factorial(count)
    return result
