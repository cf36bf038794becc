"""Any order at one step n: the tree recursion with the finite memory that the optimizer has at that step.

    a_{n,k}(tau) - a_{n,k-1}(tau) = prod over branches of sum_{j=0..n-k} p_l(n-k, j) prod_i a_{n,k+j}(t_i),  a_{n,0} = 0

with ``p_l(s, j) scale_l`` the weight of the iterate j steps ago in channel l at step s; c^(n) is minus the right-hand
side at k = 0.  The elementary differentials must not depend on the step: constant gains, or one channel and Phi linear.
"""

from __future__ import annotations

from sympy import Expr, Integer

from symmem.algebra.atoms import STEP
from symmem.algebra.grouping import group
from symmem.algebra.rational import Quotient, product_of, sum_of
from symmem.algebra.trees import Branch, Tree
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.channels import Channels, channels_of, is_linear
from symmem.derivation.expansion import expansion
from symmem.derivation.gains import gains
from symmem.errors import DerivationError
from symmem.method.numbers import scalars_of

MOST_SYMBOLIC_STEPS = 10
"""Polynomials in several decays grow with the square of the step: beyond this a person would wait for minutes."""


def coefficients_at_step(optimizer: Optimizer, order: int, step: int) -> tuple[Expr, ...]:
    """``F_0^(n), ..., F_order^(n)`` at n = ``step``, exact."""
    _require_constant_differentials(optimizer)
    scalars = scalars_of(optimizer)
    if len(scalars.decays) > 1 and step > MOST_SYMBOLIC_STEPS:
        raise DerivationError(
            f"{optimizer.name}: step {step}: with several symbolic decays the exact coefficients of order {order} "
            f"are out of reach beyond step {MOST_SYMBOLIC_STEPS}; put numbers in (--set), or ask for --limit"
        )
    series = expansion(optimizer, order)
    memory = _Memory(optimizer, step)
    found = []
    for terms in series.terms:
        contributions = [
            scalars.write(memory.direction(term.tree))
            / term.tree.symmetry
            * series.differentials.of(term.tree)
            for term in terms
        ]
        found.append(group(contributions, scalars, merge_products=False))
    return tuple(found)


def _require_constant_differentials(optimizer: Optimizer) -> None:
    system = channels_of(optimizer)
    if all(gain.is_constant for gain in gains(optimizer)):
        return
    if is_linear(system) and len(system.channels) == 1:
        return
    raise DerivationError(
        f"{optimizer.name}: beyond order 2 a given step needs gains that do not depend on n (bias correction), or a "
        "Phi that is linear; ask for the limit (--limit), or for order 2"
    )


class _Memory:
    """The positions ``a_{n,k}`` of all trees at one step n, each computed once."""

    def __init__(self, optimizer: Optimizer, step: int) -> None:
        self._field = scalars_of(optimizer).field
        self._step = step
        self._weights = _weights(optimizer, channels_of(optimizer), step)
        self._whole = _whole_weight(optimizer)
        self._increments: dict[Tree, list[Quotient]] = {}
        self._positions: dict[Tree, list[Quotient]] = {}
        self._means: dict[Branch, list[Quotient]] = {}

    def direction(self, tree: Tree) -> Quotient:
        """``-c^(n)(tree)``."""
        return self._increment(tree)[0]

    def _increment(self, tree: Tree) -> list[Quotient]:
        """The right-hand side for k = 0, ..., n."""
        if tree not in self._increments:
            factors = [self._mean(branch) for branch in tree.branches]
            # A leaf sees its channel on a constant history: the whole weight, 1 where the gain is constant.
            factors = factors or [[self._total(0, k) for k in range(self._step + 1)]]
            self._increments[tree] = [product_of(column) for column in zip(*factors, strict=True)]
        return self._increments[tree]

    def _position(self, tree: Tree) -> list[Quotient]:
        if tree not in self._positions:
            sums = [self._field.number(0)]
            for increment in self._increment(tree)[1:]:
                sums.append(sums[-1] + increment)
            self._positions[tree] = sums
        return self._positions[tree]

    def _mean(self, branch: Branch) -> list[Quotient]:
        if branch not in self._means:
            children = [self._position(child) for child in branch.children]
            products = [product_of(column) for column in zip(*children, strict=True)]
            self._means[branch] = [
                sum_of([self._weights[branch.label][self._step - k][j] * products[k + j]
                        for j in range(self._step - k + 1)])
                for k in range(self._step + 1)
            ]  # fmt: skip
        return self._means[branch]

    def _total(self, label: int, k: int) -> Quotient:
        if len(self._weights) > 1:
            return self._field.number(1)
        return sum_of(self._weights[label][self._step - k]) / self._whole


def _weights(optimizer: Optimizer, system: Channels, step: int) -> list[list[list[Quotient]]]:
    """``p_l(s, j)`` for each channel l, s = 0, ..., n, j = 0, ..., s."""
    field = scalars_of(optimizer).field
    tables = []
    for channel in system.channels:
        table = []
        for s in range(step + 1):
            row = [field.number(0)] * (s + 1)
            for position, factor in channel.members:
                variable = optimizer.momentum[position]
                base = variable.b.xreplace({STEP: Integer(s)}) * factor / channel.scale
                for j in range(s + 1):
                    element = field.read(base * variable.beta**j if j else base)
                    if element is None:
                        raise DerivationError(f"{optimizer.name}: {base} has no exact value at step {s}")
                    row[j] = row[j] + element
            table.append(row)
        tables.append(table)
    return tables


def _whole_weight(optimizer: Optimizer) -> Quotient:
    """The weight of a whole history in the first channel, in the limit: gain / scale."""
    channel = channels_of(optimizer).channels[0]
    element = scalars_of(optimizer).field.read(channel.gain / channel.scale)
    if element is None:
        raise DerivationError(f"{optimizer.name}: the gain {channel.gain} is not rational in the parameters")
    return element
