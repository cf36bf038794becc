"""Any order: the coefficients of the memoryless iteration and of the modified equation, for n -> infinity.

theta <- theta - h (F_0 + h F_1 + ...),   F_j = -sum_{|tau|=j+1} c(tau)/symmetry F(tau)
theta' = G_0 + h G_1 + ...,               G_j = -sum_{|tau|=j+1} a'(tau)/symmetry F(tau)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import lcm

from sympy import Add, Expr

from symmem.algebra.grouping import group
from symmem.algebra.rational import Quotient, quotient
from symmem.algebra.scalars import Scalars
from symmem.algebra.trees import Tree, trees
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.channels import channels_of
from symmem.derivation.differentials import Differentials
from symmem.derivation.recursion import Coefficients, Number
from symmem.method.numbers import scalars_of

Numbers = tuple[tuple[Number, Fraction], ...]
"""A sum of ring elements with rational factors."""


@dataclass(frozen=True)
class Term:
    """One tree with its coefficients ``-c/symmetry`` and ``-a'/symmetry``."""

    tree: Tree
    step: Numbers
    flow: Numbers


@dataclass(frozen=True)
class Expansion:
    """The trees of an optimizer up to a size, with their coefficients, and what the trees stand for."""

    optimizer: Optimizer
    coefficients: Coefficients
    differentials: Differentials
    terms: tuple[tuple[Term, ...], ...]
    """``terms[j]`` has the trees of F_j and G_j: those with j + 1 step nodes."""

    def memoryless(self, order: int) -> Expr:
        """``F_order``."""
        return self._assembled((term.tree, term.step) for term in self.terms[order])

    def modified_equation(self, order: int) -> Expr:
        """``G_order``."""
        return self._assembled((term.tree, term.flow) for term in self.terms[order])

    def _assembled(self, parts: Iterable[tuple[Tree, Numbers]]) -> Expr:
        scalars = scalars_of(self.optimizer)
        contributions = []
        for tree, numbers in parts:
            scalar = written(self.coefficients, numbers, scalars)
            if scalar != 0:
                contributions.append(scalar * self.differentials.of(tree))
        return group(contributions, scalars, merge_products=False)


@lru_cache(maxsize=64)
def expansion(optimizer: Optimizer, order: int) -> Expansion:
    """The expansion of an optimizer to the given power of h."""
    differentials = Differentials(optimizer)
    by_size = trees(differentials.shape, order + 1)
    coefficients = Coefficients(channels_of(optimizer).channels)
    increments = coefficients.solve(by_size)
    terms = tuple(
        tuple(_term(tree, increments[tree], coefficients) for tree in by_size[size])
        for size in range(1, order + 2)
    )
    return Expansion(optimizer, coefficients, differentials, terms)


def _term(tree: Tree, increment: list[Number], coefficients: Coefficients) -> Term:
    """``c = -q_0``, so that F has the sign +; the flow backwards in time gives G the sign -."""
    step = ((increment[0], Fraction(1, tree.symmetry)),) if not increment[0].is_zero() else ()
    flow = tuple((number, -share / tree.symmetry) for number, share in coefficients.flow(increment))
    return Term(tree, step, flow)


def written(coefficients: Coefficients, numbers: Iterable[tuple[Number, Fraction]], scalars: Scalars) -> Expr:
    """A sum of ring elements with rational factors as a scalar of the optimizer, decay by decay."""
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
    """The value of an integer polynomial at ``v = beta/(1 - beta)`` and at the weights, over one denominator."""
    fractions = []
    for kind, expression in coefficients.generators:
        element = scalars.field.read(expression)
        if element is None:
            raise ValueError(f"{expression} is not in the optimizer's field")
        below = element.denominator - element.numerator if kind == "v" else element.denominator
        fractions.append((element.numerator, below))
    degrees = [max(exponents[i] for exponents in terms) for i in range(len(fractions))]
    common = lcm(*(value.denominator for value in terms.values()))
    total = scalars.field.number(0).numerator
    for exponents, value in terms.items():
        product = scalars.field.number(int(value * common)).numerator
        for (above, below), exponent, degree in zip(fractions, exponents, degrees, strict=False):
            product = product * above**exponent * below ** (degree - exponent)
        total = total + product
    denominator = scalars.field.number(common).numerator
    for (_, below), degree in zip(fractions, degrees, strict=True):
        denominator = denominator * below**degree
    return quotient(total, denominator)
