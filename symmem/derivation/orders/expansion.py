"""Any order: the coefficients of the memoryless iteration and of the modified equation, for n -> infinity.

mathematics.md section 4; ``h F_1`` is the limit of the paper's correction, its equation (9) and Appendix D.

theta <- theta - h (F_0 + h F_1 + ...),   F_j = -sum_{|tau|=j+1} c(tau)/symmetry F(tau)
theta' = G_0 + h G_1 + ...,               G_j = -sum_{|tau|=j+1} a'(tau)/symmetry F(tau)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from fractions import Fraction
from functools import lru_cache
from math import lcm

from sympy import Add, Expr

from symmem.algebra.grouping import group
from symmem.algebra.rational import Quotient, quotient
from symmem.algebra.scalars import Scalars
from symmem.algebra.trees import Tree, trees
from symmem.derivation.gains import limit_gains
from symmem.derivation.orders.differentials import Differentials
from symmem.derivation.orders.recursion import Coefficients
from symmem.method.exactly import exactly
from symmem.method.kernel import Number
from symmem.method.merging import merged
from symmem.method.method import Method
from symmem.records import record
from symmem.work import checkpoint

Numbers = tuple[tuple[Number, Fraction], ...]
"""A sum of ring elements with rational factors."""


@record(frozen=True)
class TreeTerm:
    """One tree with its coefficients ``-c/symmetry`` and ``-a'/symmetry``."""

    tree: Tree
    step: Numbers
    flow: Numbers


@record(frozen=True)
class Expansion:
    """The trees of a method up to a size, with their coefficients, and what the trees stand for."""

    method: Method
    coefficients: Coefficients
    differentials: Differentials
    terms: tuple[tuple[TreeTerm, ...], ...]
    """``terms[j]`` has the trees of F_j and G_j: those with j + 1 step nodes."""
    _known: dict[tuple[str, int], Expr] = field(default_factory=dict, compare=False, repr=False)
    """What was assembled before: the coefficients, the modified loss and the start all ask for the same F_j."""

    def memoryless(self, order: int) -> Expr:
        """``F_order``."""
        if ("F", order) not in self._known:
            self._known["F", order] = self.assembled((term.tree, term.step) for term in self.terms[order])
        return self._known["F", order]

    def modified_equation(self, order: int) -> Expr:
        """``G_order``."""
        if ("G", order) not in self._known:
            self._known["G", order] = self.assembled((term.tree, term.flow) for term in self.terms[order])
        return self._known["G", order]

    def assembled(self, parts: Iterable[tuple[Tree, Numbers]]) -> Expr:
        """The sum of trees with these numbers in front, as an expression."""
        scalars = self.method.numbers
        contributions = []
        for tree, numbers in parts:
            scalar = written(self.coefficients, numbers, scalars)
            if scalar != 0:
                contributions.append(scalar * self.differentials.of(tree))
        return group(contributions, scalars, merge_products=False)


@lru_cache(maxsize=64)
def expansion(method: Method, order: int) -> Expansion:
    """The expansion of a method to the given power of h.

    Heavy ball has the two trees of the recursion at order 2, a Hessian of a Hessian and a third derivative:

    >>> from symmem import load
    >>> from symmem.method.reading import method_of
    >>> found = expansion(method_of(load("heavyball")), 2)
    >>> found.memoryless(1), found.modified_equation(1)
    (beta*D2L(grad)/(1 - beta)**3, -(beta + 1)*D2L(grad)/(2*(1 - beta)**3))
    >>> found.memoryless(2)
    beta*(beta + 1)*(D2L(D2L(grad)) + D3L(grad, grad)/2)/(1 - beta)**5
    """
    limit_gains(method)
    one = merged(method)
    differentials = Differentials(one)
    by_size = trees(differentials.shape, order + 1)
    coefficients = Coefficients(tuple(channel.kernel for channel in one.channels))
    increments = coefficients.solve(by_size)
    terms = tuple(
        tuple(_term(tree, increments[tree], coefficients) for tree in by_size[size])
        for size in range(1, order + 2)
    )
    return Expansion(method, coefficients, differentials, terms)


def _term(tree: Tree, increment: list[Number], coefficients: Coefficients) -> TreeTerm:
    """``c = -q_0``, so that F has the sign +; the flow backwards in time gives G the sign -."""
    step = ((increment[0], Fraction(1, tree.symmetry)),) if not increment[0].is_zero() else ()
    flow = tuple((number, -share / tree.symmetry) for number, share in coefficients.flow(increment))
    return TreeTerm(tree, step, flow)


def written(coefficients: Coefficients, numbers: Iterable[tuple[Number, Fraction]], scalars: Scalars) -> Expr:
    """A sum of ring elements with rational factors as a scalar of the method, decay by decay."""
    added: dict[tuple[int, ...], Fraction] = {}
    for number, share in numbers:
        for exponents, value in number.to_dict().items():
            added[exponents] = added.get(exponents, Fraction(0)) + int(value) * share
    by_support: dict[tuple[bool, ...], dict[tuple[int, ...], Fraction]] = {}
    for exponents, value in added.items():
        if value:
            by_support.setdefault(tuple(e > 0 for e in exponents), {})[exponents] = value
    parts = (_evaluated(coefficients, part, scalars) for part in by_support.values())
    return scalars.add([scalars.write(part) for part in parts]) if by_support else Add()


def _evaluated(
    coefficients: Coefficients, terms: dict[tuple[int, ...], Fraction], scalars: Scalars
) -> Quotient:
    """The value of a polynomial ``{exponents: factor}`` at the kernels' generators, over one denominator.

    With the generator ``v = beta/(1 - beta)``, of degree 2 at most: ``v/2 + v^2`` is ``{(1,): 1/2, (2,): 1}``, and

        v/2 + v^2 = ( beta (1 - beta) + 2 beta^2 ) / ( 2 (1 - beta)^2 ),

    every term brought to the highest power of each denominator; one reduction at the end, and none on the way.
    """
    fractions = []
    for generator in coefficients.generators:
        element = exactly(scalars.field.read(generator))
        fractions.append((element.numerator, element.denominator))
    degrees = [max(exponents[i] for exponents in terms) for i in range(len(fractions))]
    common = lcm(*(value.denominator for value in terms.values()))
    total = scalars.field.number(0).numerator
    for exponents, value in terms.items():
        checkpoint("the coefficients of the trees", len(total))
        product = scalars.field.number(int(value * common)).numerator
        for (above, below), exponent, degree in zip(fractions, exponents, degrees, strict=False):
            product = product * above**exponent * below ** (degree - exponent)
        total = total + product
    denominator = scalars.field.number(common).numerator
    for (_, below), degree in zip(fractions, degrees, strict=True):
        denominator = denominator * below**degree
    return quotient(total, denominator)
