"""Trees by counting: their numbers, symmetries and roots, each against a count written here from scratch.

The last part is gradient descent: its modified equation, one rational number for every rooted tree, by the
recursion of Hairer, Lubich and Wanner (chapter IX) on nested tuples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from math import factorial
from typing import Any

import mpmath
import pytest
from mpmath import mpf
from truth import load

from symmem.algebra.free_trees import differential, free, rooted, scalar, size
from symmem.algebra.trees import Shape, Tree, trees
from symmem.derivation.orders.expansion import expansion
from symmem.method.reading import method_of
from symmem.verification.evaluation import evaluate
from symmem.verification.losses import coupled_loss, probe_point
from symmem.verification.vectors import distance

Nested = tuple[Any, ...]
"""A step node is the sorted tuple of its branches, a branch is (label, sorted tuple of step nodes)."""

ORDINARY = Shape(1, lambda labels: len(labels) <= 1, lambda label, arity, _labels: True)


def nested(tree: Tree) -> Nested:
    return tuple(
        sorted(
            (branch.label, tuple(sorted(nested(child) for child in branch.children)))
            for branch in tree.branches
        )
    )


def grown(tree: Nested, labels: int) -> Iterator[Nested]:
    """The tree with one more leaf, in every way: a new branch, or a new child of a branch, at every node."""
    for label in range(labels):
        yield tuple(sorted((*tree, (label, ((),)))))
    for position, (label, children) in enumerate(tree):
        others = (*tree[:position], *tree[position + 1 :])
        yield tuple(sorted((*others, (label, tuple(sorted((*children, ())))))))
        for place, child in enumerate(children):
            rest = (*children[:place], *children[place + 1 :])
            for larger in grown(child, labels):
                yield tuple(sorted((*others, (label, tuple(sorted((*rest, larger)))))))


def is_allowed(tree: Nested, shape: Shape) -> bool:
    return shape.step(tuple(sorted(label for label, _ in tree))) and all(
        shape.branch(label, len(children), ()) and all(is_allowed(child, shape) for child in children)
        for label, children in tree
    )


def all_grown(shape: Shape, largest: int) -> list[set[Nested]]:
    """Every tree loses a leaf somewhere, and what is left is allowed too: so growth reaches all of them."""
    found: list[set[Nested]] = [set(), {()}]
    while len(found) <= largest:
        candidates = {tree for smaller in found[-1] for tree in grown(smaller, shape.labels)}
        found.append({tree for tree in candidates if is_allowed(tree, shape)})
    return found


def test_there_are_as_many_ordinary_rooted_trees_as_there_should_be() -> None:
    counts = [len(group) for group in trees(ORDINARY, 10)[1:]]
    assert counts == [1, 1, 2, 4, 9, 20, 48, 115, 286, 719]


def test_ordinary_rooted_trees_weigh_as_cayley_says() -> None:
    """``sum over tau of n!/symmetry`` is the number of rooted labelled trees, ``n^(n-1)``."""
    for n, group in enumerate(trees(ORDINARY, 9)[1:], start=1):
        assert sum(Fraction(factorial(n), tree.symmetry) for tree in group) == n ** (n - 1)


TWO_KINDS = {
    "one label": (Shape(1, lambda labels: True, lambda label, arity, _labels: True), 6),
    "two labels": (Shape(2, lambda labels: True, lambda label, arity, _labels: True), 5),
    "three labels": (Shape(3, lambda labels: True, lambda label, arity, _labels: True), 4),
    "adamw": (
        Shape(
            3,
            lambda labels: labels.count(2) <= (len(labels) == 1),
            lambda label, arity, _labels: label < 2 or arity < 2,
        ),
        5,
    ),
    "linear": (Shape(2, lambda labels: len(labels) <= 1, lambda label, arity, _labels: True), 6),
    "quadratic phi": (Shape(2, lambda labels: len(labels) <= 2, lambda label, arity, _labels: arity <= label + 1), 5),
}  # fmt: skip


@pytest.mark.parametrize("name", TWO_KINDS)
def test_two_kind_trees_are_those_that_grow(name: str) -> None:
    shape, largest = TWO_KINDS[name]
    made = [[nested(tree) for tree in group] for group in trees(shape, largest)]
    assert all(len(set(group)) == len(group) for group in made)
    assert [set(group) for group in made] == all_grown(shape, largest)


Node = tuple[int | None, Any]
"""(position of the parent, kind)"""


def as_nodes(tree: Nested) -> list[Node]:
    """All nodes, parents first."""
    nodes: list[Node] = []

    def visit_step(step: Nested, parent: int | None) -> None:
        nodes.append((parent, "step"))
        here = len(nodes) - 1
        for label, children in step:
            nodes.append((here, label))
            branch = len(nodes) - 1
            for child in children:
                visit_step(child, branch)

    visit_step(tree, None)
    return nodes


def automorphisms(nodes: list[Node], images: tuple[int, ...] = ()) -> int:
    """The permutations that keep kinds and parents, by trying every image of every node."""
    if len(images) == len(nodes):
        return 1
    parent, kind = nodes[len(images)]
    wanted = (None if parent is None else images[parent], kind)
    return sum(
        automorphisms(nodes, (*images, candidate))
        for candidate, node in enumerate(nodes)
        if candidate not in images and node == wanted
    )


@pytest.mark.parametrize("name", ["one label", "two labels", "adamw"])
def test_symmetry_counts_automorphisms(name: str) -> None:
    shape, _ = TWO_KINDS[name]
    for group in trees(shape, 5):
        for tree in group:
            assert tree.symmetry == automorphisms(as_nodes(nested(tree)))


# Free trees ------------------------------------------------------------------------------------------------

Edges = list[tuple[int, int]]


def edges_of(tree: Nested) -> Edges:
    """The edges of a rooted tree given by its children's tuples; node 0 is the root."""
    edges: Edges = []
    count = 0

    def visit(node: Nested) -> int:
        nonlocal count
        here = count
        count += 1
        for child in node:
            edges.append((here, visit(child)))
        return here

    visit(tree)
    return edges


def hung_up(edges: Edges, root: int, parent: int | None = None) -> Nested:
    """The tree hung up at one of its nodes."""
    neighbours = [b if a == root else a for a, b in edges if root in (a, b)]
    return tuple(sorted(hung_up(edges, node, root) for node in neighbours if node != parent))


def all_roots(tree: Nested) -> list[Nested]:
    edges = edges_of(tree)
    return [hung_up(edges, node) for node in range(len(edges) + 1)]


def free_automorphisms(edges: Edges, images: tuple[int, ...] = ()) -> int:
    """The permutations of the nodes that keep the edges."""
    position, nodes = len(images), len(edges) + 1
    if position == nodes:
        return 1
    joined = {frozenset(edge) for edge in edges}
    return sum(
        free_automorphisms(edges, (*images, candidate))
        for candidate in range(nodes)
        if candidate not in images
        and all(
            (frozenset((earlier, position)) in joined) == (frozenset((images[earlier], candidate)) in joined)
            for earlier in range(position)
        )
    )


@cache
def rooted_trees(n: int) -> list[Nested]:
    return [rooted(tree) for tree in trees(ORDINARY, n)[n]]


def test_there_are_as_many_free_trees_as_there_should_be() -> None:
    counts = [len({free(tree) for tree in rooted_trees(n)}) for n in range(1, 10)]
    assert counts == [1, 1, 1, 2, 3, 6, 11, 23, 47]


def test_trees_share_a_free_tree_when_one_is_the_other_hung_up_elsewhere() -> None:
    for n in range(1, 8):
        for tree in rooted_trees(n):
            assert size(tree) == n
            assert {other for other in rooted_trees(n) if free(other) == free(tree)} == set(all_roots(tree))


def test_the_weights_of_the_roots_add_up_to_the_weight_of_the_free_tree() -> None:
    """``|pi|/symmetry(pi) = sum over its rooted trees of 1/symmetry``; each occurs symmetry(pi)/symmetry times."""
    for n in range(1, 8):
        symmetry = {rooted(tree): tree.symmetry for tree in trees(ORDINARY, n)[n]}
        for representative in {free(tree) for tree in symmetry}:
            whole = free_automorphisms(edges_of(representative))
            assert sum(Fraction(1, symmetry[tree]) for tree in set(all_roots(representative))) == Fraction(
                n, whole
            )
            for tree, count in Counter(all_roots(representative)).items():
                assert count == Fraction(whole, symmetry[tree])


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_gradient_of_a_free_tree_is_the_sum_over_its_roots(dimension: int) -> None:
    loss, theta = coupled_loss(dimension), probe_point(dimension)
    for n in range(1, 7 if dimension == 2 else 6):
        for tree in {free(tree) for tree in rooted_trees(n)}:
            parts = [
                evaluate(differential(root), {}, {"theta": theta}, loss, digits=40)
                for root in all_roots(tree)
            ]
            truth = gradient(
                lambda point, s=scalar(tree): evaluate(s, {}, {"theta": point}, loss, digits=80), theta
            )
            with mpmath.workdps(50):
                added = [mpmath.fsum(column) for column in zip(*parts, strict=True)]
                assert distance(added, truth) < mpf("1e-30")


def gradient(value: Callable[[list[mpf]], mpf], theta: tuple[mpf, ...]) -> list[mpf]:
    """Central differences with a step of 1e-20 at 80 digits: an error of about 1e-40."""
    with mpmath.workdps(80):
        step = mpf("1e-20")

        def moved(entry: int, by: mpf) -> mpf:
            return value([x + by if i == entry else x for i, x in enumerate(theta)])

        return [(moved(i, step) - moved(i, -step)) / (2 * step) for i in range(len(theta))]


# The modified equation of the explicit Euler method ----------------------------------------------------------


def removals(tree: Nested) -> Iterator[tuple[Nested, Nested]]:
    """``(what is left, the subtree)`` for every node but the root, each node once."""
    for position, child in enumerate(tree):
        others = (*tree[:position], *tree[position + 1 :])
        yield tuple(sorted(others)), child
        for left, subtree in removals(child):
            yield tuple(sorted((*others, left))), subtree


@cache
def lie_power(tree: Nested, power: int) -> Fraction:
    """``(d_b^power b)(tree)`` with ``(d_b c)(tree) = sum over removals of c(left) b(subtree)``."""
    if power == 0:
        return euler(tree)
    return sum((lie_power(left, power - 1) * euler(subtree) for left, subtree in removals(tree)), Fraction(0))


@cache
def euler(tree: Nested) -> Fraction:
    """``b = a - sum_{j>=2} d_b^(j-1) b / j!``, a = 1 for the single node and 0 for all others."""
    higher = (lie_power(tree, j - 1) / factorial(j) for j in range(2, size(tree) + 1))
    return Fraction(int(tree == ())) - sum(higher, Fraction(0))


def test_the_known_coefficients_of_the_explicit_euler_method() -> None:
    """``f' f`` has -1/2, ``f' f' f`` has 1/3, ``f''(f, f)`` has 1/6: Hairer, Lubich and Wanner, IX.9."""
    assert [euler(()), euler(((),)), euler((((),),)), euler(((), ()))] == [
        1,
        Fraction(-1, 2),
        Fraction(1, 3),
        Fraction(1, 6),
    ]


def test_gradient_descent_is_the_explicit_euler_method_tree_by_tree() -> None:
    """f = -grad, so the differential of a tree with n nodes has the sign (-1)^n: G has (-1)^n b/symmetry."""
    series = expansion(method_of(load("gd")), 5)
    assert [len(terms) for terms in series.terms] == [1, 1, 2, 4, 9, 20]
    for terms in series.terms:
        for term in terms:
            tree = rooted(term.tree)
            flow = sum((whole_number(number) * share for number, share in term.flow), Fraction(0))
            assert flow == (-1) ** term.tree.size * euler(tree) / term.tree.symmetry
            step = sum((whole_number(number) * share for number, share in term.step), Fraction(0))
            assert step == (1 if term.tree.size == 1 else 0)


def whole_number(number: Any) -> int:
    """A constant of the coefficient ring: gradient descent has no decay, so nothing else occurs."""
    constant = {exponents: int(value) for exponents, value in number.to_dict().items()}
    assert all(not any(exponents) for exponents in constant)
    return sum(constant.values())
