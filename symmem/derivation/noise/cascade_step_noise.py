"""Noise in a cascade at a given step: the sums of :mod:`.cascade_noise`, added up (mathematics.md section 7, cascades).

With the derivatives of :mod:`.update_jets`, in the leaf of step s and in the noise of single steps p or of all,

    F_xi   = V/2 {F^(n)_dd},        N^(r) the same at step r,        {x} = (1 - rho) sum_p x_p + rho x_all
    M_xi/h = sum_s F_e H(sum_{r=s..n-1} N^(r)) + V/2 {F_edd} H(D_s) + {F_ed Q(d_s)}
           + 1/2 F_e DV^T((1 - rho) d_s(s) + rho d_s(all)) + 1/2 ((1 - rho) F_ed(s) + rho F_ed(all)) DV(D_s)

with ``D_s = sum_{r=s..n-1} F^(r)`` and ``d_s(p) = sum_{r=s..n-1} F^(r)_d``; for a leaf that is the iterate H is the
identity, ``Q(w) = w V``, and the last two are 0.
"""

from __future__ import annotations

from collections.abc import Callable

from sympy import Add, Expr, Symbol

from symmem.algebra.atoms import GRAD
from symmem.algebra.passes import collect
from symmem.algebra.symbols import VARIANCE
from symmem.derivation.noise.leaf_means import leaves, mixed, moved
from symmem.derivation.noise.minibatch import variance_along, variance_gradient
from symmem.derivation.noise.update_jets import DD, ED, EDD, D, Direction, E, UpdateJets
from symmem.method.method import Method
from symmem.method.sampling import Sampling


class CascadeAtStep:
    """A cascade and its noise at the step ``n = step``."""

    def __init__(self, method: Method, sampling: Sampling, step: int) -> None:
        self._method = method
        self._rho = sampling.between
        self._step = step
        self._jets = UpdateJets(method)

    @property
    def frozen(self) -> Expr:
        """``F_xi``."""
        return self._frozen_noise(self._step)

    def memory(self) -> Expr:
        """``M_xi / h``."""
        parts = [self._of(leaf, s) for leaf in leaves(self._method) for s in range(self._step)]
        return self._collected(Add(*parts, *(self._in_hessian(s) for s in range(self._step))))

    def _of(self, leaf: Symbol, s: int) -> Expr:
        noisy_way = self._collected(Add(*(self._frozen_noise(r) for r in range(s, self._step))))
        first = self._jets.update(E, self._step, None, (leaf, s))
        twice = self._paired(lambda p: self._jets.update(EDD, self._step, p, (leaf, s)), self._step)
        both = self._paired(
            lambda p: self._jets.update(ED, self._step, p, (leaf, s)) * mixed(leaf, self._moved(s, p)),
            self._step,
        )
        return first * moved(leaf, noisy_way) + VARIANCE / 2 * twice * moved(leaf, self._way(s)) + both

    def _in_hessian(self, s: int) -> Expr:
        """The noise of the Hessian at step s, with that of an update after it or of the outer derivative."""
        leaf = (GRAD, s)
        first = self._jets.update(E, self._step, None, leaf)
        alone = self._mixed(*(self._moved(s, p) for p in (s, None)))
        outer = self._mixed(*(self._jets.update(ED, self._step, p, leaf) for p in (s, None)))
        return first * variance_gradient(alone) / 2 + outer * variance_along(self._way(s)) / 2

    def _way(self, s: int) -> Expr:
        """``D_s``."""
        return self._collected(Add(*(self._jets.frozen(r) for r in range(s, self._step))))

    def _moved(self, s: int, direction: Direction) -> Expr:
        """``d_s(p)``."""
        return self._collected(Add(*(self._jets.update(D, r, direction) for r in range(s, self._step))))

    def _frozen_noise(self, r: int) -> Expr:
        return self._collected(VARIANCE / 2 * self._paired(lambda p: self._jets.update(DD, r, p), r))

    def _paired(self, value: Callable[[Direction], Expr], last: int) -> Expr:
        """``{x}`` over the steps up to the last."""
        return self._mixed(Add(*(value(p) for p in range(last + 1))), value(None))

    def _mixed(self, equal: Expr, all_pairs: Expr) -> Expr:
        return self._collected(equal + self._rho * (all_pairs - equal))

    def _collected(self, expression: Expr) -> Expr:
        return collect(expression, self._method.numbers)
