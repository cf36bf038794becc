"""The tree recursion: every coefficient of every order, in integers.

Let ``theta_{n-k} = theta_n + sum_tau h^|tau| a_k(tau)/symmetry F(tau)`` in the limit of many steps.  The step
from n-k to n-k+1 sees the iterates n-k-j, which the same series reaches with k+j in the place of k, so that

    a_k(tau) - a_{k-1}(tau) = prod over branches (l; t_1..t_m) of  E_l[ a_{k+j}(t_1) ... a_{k+j}(t_m) ],   a_0 = 0,

E_l the mean over j with the weights of channel l, divided by its normaliser.  This is mathematics.md section 4 with
its sum over cuts carried out: cutting a flow at k and going on for j is going back k + j.  The normalisers are absorbed
in the elementary differentials (N = D^m(normaliser_l g_l)[...]), so they do not occur.  In a cascade a branch carries
branches nu_i, whose means stand under the mean too: ``mu_k(nu) = E_l[ prod a_{k+j}(t_i) prod mu_{k+j}(nu_i) ]``.

Polynomials in k are held by their coefficients over the binomials C(k, j), where each kernel takes its mean by itself,
and a sum over k is a shift.  All numbers are integer polynomials in the kernels' generators.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import fmpz_mpoly_ctx
from sympy import Expr

from symmem.algebra.polynomial_sizes import product
from symmem.algebra.trees import Branch, Tree
from symmem.method.kernel import Binomials, Kernel, Number
from symmem.records import record
from symmem.work import checkpoint


@record(frozen=True)
class Coefficients:
    """The ring of the recursion: integer polynomials in the generators of the channels' kernels."""

    kernels: tuple[Kernel, ...]

    @cached_property
    def generators(self) -> tuple[Expr, ...]:
        """Those of all kernels, without repetition; an integer needs none."""
        found = dict.fromkeys(generator for kernel in self.kernels for generator in kernel.generators)
        return tuple(generator for generator in found if not generator.is_Integer)

    @cached_property
    def _context(self) -> Any:
        names = tuple(f"x{position}" for position in range(max(1, len(self.generators))))
        return fmpz_mpoly_ctx.get(names, "lex")

    @cached_property
    def one(self) -> Number:
        """1 in the ring."""
        return self._context.constant(1)

    @cached_property
    def zero(self) -> Number:
        """0 in the ring."""
        return self._context.constant(0)

    @cached_property
    def _numbers(self) -> dict[Expr, Number]:
        """What each generator is in the ring."""
        found = dict(zip(self.generators, self._context.gens(), strict=False))
        for kernel in self.kernels:
            for generator in kernel.generators:
                if generator.is_Integer:
                    found[generator] = self._context.constant(int(generator))
        return found

    def mean(self, label: int, polynomial: Binomials) -> Binomials:
        """``E_l[p(k + j)]`` over j, as a polynomial in k."""
        return self.kernels[label].averaged(polynomial, self._numbers)

    def solve(self, by_size: Sequence[Sequence[Tree]]) -> dict[Tree, Binomials]:
        """The increments ``q_k = a_k - a_{k-1}`` of all trees; ``c = -q_0``, and a' follows (see below)."""
        increments: dict[Tree, Binomials] = {}
        positions: dict[Tree, Binomials] = {}
        means: dict[Branch, Binomials] = {}
        for trees in by_size:
            for tree in trees:
                checkpoint("the recursion over the trees")
                factors = [self._mean(branch, positions, means) for branch in tree.branches]
                increment = self._product(factors) if factors else [self.one]
                increments[tree] = increment
                positions[tree] = self._summed(increment)
        return increments

    def _mean(
        self, branch: Branch, positions: dict[Tree, Binomials], means: dict[Branch, Binomials]
    ) -> Binomials:
        """``mu_k`` of a branch: what its channel makes of the product of all that stands on it."""
        if branch not in means:
            factors = [positions[child] for child in branch.children]
            factors += [self._mean(inner, positions, means) for inner in branch.branches]
            means[branch] = self.mean(branch.label, self._product(factors))
        return means[branch]

    def _summed(self, increment: Binomials) -> Binomials:
        """``a_k = sum_{i=1..k} q_i``: over the binomials ``a_j = q_j + q_{j-1}``, ``a_0 = 0``."""
        shifted = [x + y for x, y in zip([*increment[1:], self.zero], increment, strict=True)]
        return [self.zero, *shifted]

    def _product(self, factors: list[Binomials]) -> Binomials:
        """The product of polynomials in k, by their values at k = 0, 1, ..., degree.

        ``k * k``: C(k, 1) is [0, 1], its values at 0, 1, 2 are 0, 1, 2, their squares 0, 1, 4, and the differences of
        these [0, 1, 2]: ``k^2 = C(k, 1) + 2 C(k, 2)``.
        """
        if len(factors) == 1:
            return factors[0]
        degree = sum(len(factor) - 1 for factor in factors)
        values = [_values([*factor, *[self.zero] * (degree + 1 - len(factor))]) for factor in factors]
        result = values[0]
        for other in values[1:]:
            result = [product(x, y) for x, y in zip(result, other, strict=True)]
        return _differences(result)

    def flow(self, increment: Binomials) -> list[tuple[Number, Fraction]]:
        """``a'``, the coefficient of k in a_k, as a sum of (number, rational): ``C(k, j)`` has (-1)^(j-1)/j."""
        positions = self._summed(increment)
        return [
            (d, Fraction((-1) ** (j - 1), j)) for j, d in enumerate(positions) if j > 0 and not d.is_zero()
        ]


def _values(polynomial: Binomials) -> list[Number]:
    """``p(0), ..., p(d)`` of ``p(k) = sum_j p_j C(k, j)``, j = 0, ..., d, by sums alone.

    Newton's table read backwards.  Pass ``depth`` adds to every place from ``depth`` on the one before it:

    >>> _values([0, 1, 2])  # k^2;  [0, 1, 2] -> [0, 1, 3] -> [0, 1, 4]
    [0, 1, 4]
    """
    row = list(polynomial)
    for depth in range(len(row) - 1, 0, -1):
        for position in range(depth, len(row)):
            row[position] = row[position] + row[position - 1]
    return row


def _differences(values: list[Number]) -> Binomials:
    """The coefficients over C(k, j) of the polynomial with these values at 0, ..., d: ``p_j = (Delta^j p)(0)``.

    Pass ``depth`` leaves the differences of order ``depth`` in the places from ``depth`` on:

    >>> _differences([0, 1, 4])  # [0, 1, 4] -> [0, 1, 3] -> [0, 1, 2]
    [0, 1, 2]
    """
    row = list(values)
    for depth in range(1, len(row)):
        for position in range(len(row) - 1, depth - 1, -1):
            row[position] = row[position] - row[position - 1]
    return row
