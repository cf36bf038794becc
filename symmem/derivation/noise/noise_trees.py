"""How the update of a cascade changes with the gradients and iterates of past steps, to third order: its trees.

On a constant history let ``F^(n)`` be a function of what every step has seen, a gradient or an iterate: its *leaves*.
A derivative in leaves at the lags a, b, c is a sum over trees (mathematics.md section 7, cascades): from Phi a chain of
memories goes down to a function at the lag u, whose inputs see the leaves,

    path     slope k(a)                                              dF
    fork     slope k(u) k1(a - u) k2(b - u)                          d2F, summed over u
    trident  slope k(u) k1(a - u) k2(b - u) k3(c - u)                d3F, summed over u
    bough    slope k(u) k1(a - u) k'(v - u) k2(b - v) k3(c - v)      d3F, summed over u and v: a fork in a branch

Every k is a kernel, composed of those along the chain; :data:`PRESENT` is that of no memory.  LaProp,
``m2 = average of grad/sqrt(m1 + eps)``, has a fork in g_2: the gradient itself, and the squares that m1 holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sympy import Expr, S, Symbol

from symmem.algebra.atoms import GRAD
from symmem.algebra.directional import slope_in
from symmem.method.flattening import composed
from symmem.method.instant import Instant
from symmem.method.kernel import Kernel
from symmem.method.method import Method
from symmem.records import record
from symmem.work import checkpoint

PRESENT = Instant()
"""The kernel of what is seen at once."""


@record(frozen=True)
class SlopeTree:
    """The slope, an expression in the channels, and the kernels in the order of the table above."""

    slope: Expr
    kernels: tuple[Kernel, ...]


@record(frozen=True)
class Trees:
    """The trees of one method."""

    method: Method

    def paths(self, leaf: Symbol, function: Expr | None = None) -> tuple[SlopeTree, ...]:
        """``dF``: one kernel."""
        top = self._top(function)
        return _gathered(path for _, path in self._inputs(top, leaf, with_slope=True))

    def forks(self, leaf: Symbol, function: Expr | None = None) -> tuple[SlopeTree, ...]:
        """``d2F`` in this leaf and in a gradient: the chain, the kernels of the leaf and of the gradient."""
        checkpoint("the trees of a cascade")
        top = self._top(function)
        own = (
            SlopeTree(curved * one.slope * other.slope, (PRESENT, *one.kernels, *other.kernels))
            for x, one in self._inputs(top, leaf)
            for y, other in self._inputs(top, GRAD)
            if (curved := slope_in(slope_in(top, x), y)) != 0
        )
        return _gathered([*own, *self._below(top, lambda g: self.forks(leaf, g))])

    def tridents(self, leaf: Symbol, function: Expr | None = None) -> tuple[SlopeTree, ...]:
        """``d3F`` in this leaf and in two gradients, where all meet in one function."""
        checkpoint("the trees of a cascade")
        top = self._top(function)
        noisy = list(self._inputs(top, GRAD))
        own = (
            SlopeTree(
                curved * one.slope * two.slope * three.slope,
                (PRESENT, *one.kernels, *two.kernels, *three.kernels),
            )
            for x, one in self._inputs(top, leaf)
            for y, two in noisy
            if (bent := slope_in(slope_in(top, x), y)) != 0
            for z, three in noisy
            if (curved := slope_in(bent, z)) != 0
        )
        return _gathered([*own, *self._below(top, lambda g: self.tridents(leaf, g))])

    def boughs(self, outer: Symbol, inner: Symbol, function: Expr | None = None) -> tuple[SlopeTree, ...]:
        """``d3F`` where the leaf ``outer`` is met first; below it the leaf ``inner`` and a gradient meet."""
        checkpoint("the trees of a cascade")
        top = self._top(function)
        own = (
            SlopeTree(
                curved * one.slope * fork.slope,
                (PRESENT, *one.kernels, composed(channel.kernel, fork.kernels[0]), *fork.kernels[1:]),
            )
            for x, one in self._inputs(top, outer)
            for channel in self.method.channels
            if (curved := slope_in(slope_in(top, x), channel.symbol)) != 0
            for fork in self.forks(inner, channel.g)
        )
        return _gathered([*own, *self._below(top, lambda g: self.boughs(outer, inner, g))])

    def _top(self, function: Expr | None) -> Expr:
        return self.method.phi if function is None else function

    def _inputs(
        self, function: Expr, leaf: Symbol, *, with_slope: bool = False
    ) -> Iterator[tuple[Symbol, SlopeTree]]:
        """The inputs of a function that see the leaf, each with its paths; times the slope of the function in it."""
        for symbol, path in self._seeing(function, leaf):
            if not with_slope:
                yield symbol, path
            elif (slope := slope_in(function, symbol)) != 0:
                yield symbol, SlopeTree(slope * path.slope, path.kernels)

    def _seeing(self, function: Expr, leaf: Symbol) -> Iterator[tuple[Symbol, SlopeTree]]:
        if leaf in function.free_symbols:
            yield leaf, SlopeTree(S.One, (PRESENT,))
        for channel in self.method.channels:
            if channel.symbol in function.free_symbols:
                for path in self.paths(leaf, channel.g):
                    yield channel.symbol, SlopeTree(path.slope, (composed(channel.kernel, path.kernels[0]),))

    def _below(self, function: Expr, trees: Callable[[Expr], tuple[SlopeTree, ...]]) -> Iterator[SlopeTree]:
        """The trees of the functions that this one reads, with a longer chain."""
        for channel in self.method.channels:
            slope = slope_in(function, channel.symbol)
            if slope == 0:
                continue
            for tree in trees(channel.g):
                chain = composed(channel.kernel, tree.kernels[0])
                yield SlopeTree(slope * tree.slope, (chain, *tree.kernels[1:]))


def _gathered(trees: Iterable[SlopeTree]) -> tuple[SlopeTree, ...]:
    """Trees with the same kernels are one."""
    found: dict[tuple[Kernel, ...], Expr] = {}
    for tree in trees:
        found[tree.kernels] = found.get(tree.kernels, S.Zero) + tree.slope
    return tuple(SlopeTree(slope, kernels) for kernels, slope in found.items() if slope != 0)
