"""Noise in a cascade after many steps: what :mod:`.minibatch` is for momentum variables that nobody reads.

With the trees of :mod:`.noise_trees`, leaves of past steps moved by ``D_s = sum_{r=s..n-1} F^(r)`` on the noisy
constant history, and brackets in which equal steps count 1 and different ones rho (mathematics.md section 7, cascades),

    F_xi   = V/2 sum_forks slope g(k) [k1 k2] = N
    M_xi/h = sum_paths slope lag(k) H(N)                                     noise in the updates between
           + V/2 sum_tridents, boughs slope [...] H(F)                       in the derivative of F^(n), twice
           + sum_forks sum_paths slope Q([...] slope')                       in the derivative, and in an update
           + 1/2 sum_paths sum_paths slope DV^T([...] slope')                in a Hessian, and in an update
           + 1/2 sum_forks slope [...] DV(F)                                 in a Hessian, and in the derivative

for gradients; where the leaf is the iterate H is the identity, ``Q(w) = w V``, and the last two are 0.  g is a gain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from sympy import Add, Expr, S, Symbol

from symmem.algebra.atoms import GRAD
from symmem.algebra.passes import collect
from symmem.algebra.symbols import VARIANCE
from symmem.derivation.gains import at_frozen_point, frozen_update, limit_gains
from symmem.derivation.noise.leaf_means import leaves, mixed, moved
from symmem.derivation.noise.minibatch import variance_along, variance_gradient
from symmem.derivation.noise.noise_trees import SlopeTree, Trees
from symmem.derivation.noise.noisy_leaves import NoisyLeaves
from symmem.method.method import Method
from symmem.method.sampling import Sampling
from symmem.work import checkpoint


class SettledCascade:
    """A cascade and its noise in the limit."""

    def __init__(self, method: Method, sampling: Sampling) -> None:
        self._method = method
        self._trees = Trees(method)
        self._sums = NoisyLeaves(sampling, method.numbers)
        self._gains = limit_gains(method)
        self._update = frozen_update(method, self._gains)
        self._noise = [(path, self._placed(path.slope)) for path in self._trees.paths(GRAD)]
        forks = [(tree, self._sums.fork(*tree.kernels)) for tree in self._trees.forks(GRAD)]
        self.frozen = collect(VARIANCE / 2 * self._added(forks), method.numbers)

    def memory(self) -> Expr:
        """``M_xi / h``."""
        parts = (self._of(leaf) for leaf in leaves(self._method))
        return collect(Add(*parts, self._in_hessian()), self._method.numbers)

    def _of(self, leaf: Symbol) -> Expr:
        """What every leaf has: its displacement is one along the way, or noise."""
        paths = self._added([(tree, self._sums.lag(*tree.kernels)) for tree in self._trees.paths(leaf)])
        terms = [
            paths * moved(leaf, self.frozen),
            VARIANCE / 2 * self._twice(leaf) * moved(leaf, self._update),
        ]
        weighed = [
            (self._placed(tree.slope), self._sums.seen(*tree.kernels, *path.kernels) * noise)
            for tree in self._trees.forks(leaf)
            for path, noise in self._noise
        ]
        return Add(*terms, *self._by_slope(weighed, partial(mixed, leaf)))

    def _by_slope(self, weighed: list[tuple[Expr, Expr]], seen: Callable[[Expr], Expr]) -> Iterator[Expr]:
        """``sum slope seen(weights)``: one mean for each slope, whose number goes to the weights."""
        found: dict[Expr, list[Expr]] = {}
        for slope, weights in weighed:
            checkpoint("the noise of a cascade")
            number, core = slope.as_coeff_Mul()
            found.setdefault(core, []).append(number * weights)
        yield from (slope * seen(collect(Add(*each), self._method.numbers)) for slope, each in found.items())

    def _twice(self, leaf: Symbol) -> Expr:
        """The derivative of F^(n) in the leaf, with noise in two gradients; over V/2 and along the lag of the leaf."""
        trees, sums = self._trees, self._sums
        return Add(
            self._added([(tree, sums.trident(*tree.kernels)) for tree in trees.tridents(leaf)]),
            self._added([(tree, sums.bough_above(*tree.kernels)) for tree in trees.boughs(leaf, GRAD)]),
            # Of two gradients either may be met first.
            2 * self._added([(tree, sums.bough_below(*tree.kernels)) for tree in trees.boughs(GRAD, leaf)]),
        )

    def _in_hessian(self) -> Expr:
        """The noise of the Hessian at a step, with that of an update after it or of the outer derivative."""
        shared = [(tree, self._sums.shared(*tree.kernels)) for tree in self._trees.forks(GRAD)]
        weighed = [
            (slope / 2, self._sums.repeated(*path.kernels, *other.kernels) * noise)
            for path, slope in self._noise
            for other, noise in self._noise
        ]
        outside = self._added(shared) / 2 * variance_along(self._update)
        return Add(outside, *self._by_slope(weighed, variance_gradient))

    def _added(self, weighed: list[tuple[SlopeTree, Expr]]) -> Expr:
        return self._placed(Add(*(tree.slope * weight for tree, weight in weighed)))

    def _placed(self, slope: Expr) -> Expr:
        return at_frozen_point(slope, self._method, self._gains) if slope != 0 else S.Zero
