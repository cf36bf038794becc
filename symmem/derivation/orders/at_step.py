"""Any order at one step n: the tree recursion with the finite memory of that step (mathematics.md section 4).

    a_{n,k}(tau) - a_{n,k-1}(tau) = prod over branches of sum_{j=0..n-k} p_l(n-k, j) prod_i a_{n,k+j}(t_i),  a_{n,0} = 0

with ``p_l(s, j) = c_l(s, j)/normaliser_l`` the weight of the iterate j steps ago in channel l at step s, in a cascade
the means of the branches that a branch carries beside the a's; c^(n) is minus the right-hand side at k = 0.  The
elementary differentials must not depend on the step: constant gains, or one channel and Phi linear.
"""

from __future__ import annotations

from sympy import Expr, Integer

from symmem.algebra.every import every
from symmem.algebra.exponential import ExponentialField
from symmem.algebra.grouping import group
from symmem.algebra.rational import Quotient, product_of, sum_of
from symmem.algebra.results import Advice, Missing, Sentence, Whose
from symmem.algebra.trees import Branch, Tree
from symmem.derivation.gains import unsettled
from symmem.derivation.orders.expansion import expansion
from symmem.derivation.past.paths import paths
from symmem.method.kernel import Kernel
from symmem.method.merging import merged
from symmem.method.method import Method

MOST_SYMBOLIC_STEPS = 10
"""Polynomials in several decays grow with the square of the step: beyond this a person would wait for minutes."""


def coefficients_at_step(method: Method, order: int, step: int) -> tuple[Expr, ...] | Missing:
    """``F_0^(n), ..., F_order^(n)`` at n = ``step``, exact.

    Heavy ball at n = 1 is ``grad_1 + beta grad_0`` with the gradient grad_0 at ``theta + h grad_0``:

    >>> from symmem import load
    >>> from symmem.method.reading import method_of
    >>> coefficients_at_step(method_of(load("heavyball")), 2, 1)
    (grad*(beta + 1), beta*D2L(grad), beta*(D2L(D2L(grad)) + D3L(grad, grad)/2))
    """
    missing = _out_of_reach(method, order, step)
    if missing is not None:
        return missing
    scalars = method.numbers
    series = expansion(method, order)
    memory = _memory(method, step)
    if isinstance(memory, Missing):
        return memory
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


def _out_of_reach(method: Method, order: int, step: int) -> Missing | None:
    """The elementary differentials must not depend on the step, and the exact numbers must be of a size."""
    missing = unsettled(method)
    if missing is not None:
        return missing
    if method.rate is not None:
        reason = "beyond order 2 a given step is known for a constant learning rate alone"
        return Missing(
            Sentence.of(Whose(method.name), reason), (Advice.LIMIT, Sentence.of("ask for order 2"))
        )
    one = merged(method)
    if one.is_cascade and not method.is_settled:
        reason = (
            "a g reads momentum variables: beyond order 1 a given step needs values that, on a "
            "constant history, do not depend on n (bias correction)"
        )
        return Missing(Sentence.of(Whose(method.name), reason), (Advice.LIMIT, Advice.LOWER_ORDER))
    if not (method.is_settled or (one.is_linear and len(one.channels) == 1)):
        reason = (
            "beyond order 2 a given step needs gains that do not depend on n (bias correction), "
            "or a Phi that is linear"
        )
        return Missing(
            Sentence.of(Whose(method.name), reason), (Advice.LIMIT, Sentence.of("ask for order 2"))
        )
    if len(method.numbers.decays) > 1 and step > MOST_SYMBOLIC_STEPS:
        reason = (
            f"step {step}: with several symbolic decays the exact coefficients of order {order} "
            f"are out of reach beyond step {MOST_SYMBOLIC_STEPS}"
        )
        return Missing(Sentence.of(Whose(method.name), reason), (Advice.NUMBERS, Advice.LIMIT))
    return None


def _memory(method: Method, step: int) -> _Memory | Missing:
    """What the channels remember at the steps 0, ..., n, where these are numbers of the method's field."""
    method = merged(method)
    field, channels, tables = method.numbers.field, method.channels, []
    for channel in channels:
        # A g that does not move has no branch in any tree: nobody asks for its weights.
        asked = len(channels) == 1 or bool(paths(method, channel))
        table = every(_weights(channel.kernel, s, field) for s in range(step + 1 if asked else 0))
        if table is None:
            words = " have no exact value in the parameters"
            reason = Sentence.of(Whose(method.name), f"step {step}: the weights of ", channel.symbol, words)
            return Missing(reason, (Advice.LIMIT,))
        tables.append(table)
    # A single channel may settle: the differentials hold its limit gain, and its gain at the step takes that place.
    only = channels[0].kernel
    whole = field.read(only.limit_gain / only.normaliser) if len(channels) == 1 else field.number(1)
    if whole is None:
        return Missing(
            Sentence.of(Whose(method.name), "the limit of its gain has no exact value in the parameters")
        )
    return _Memory(step, tables, whole, field)


def _weights(kernel: Kernel, s: int, field: ExponentialField) -> list[Quotient] | None:
    """``p(s, j)`` for j = 0, ..., s; None where one of them is not in the field."""
    weights = (kernel.weight(Integer(s), Integer(j)) for j in range(s + 1))
    return every(field.read(weight / kernel.normaliser) for weight in weights)


class _Memory:
    """The positions ``a_{n,k}`` of all trees at one step n, each computed once."""

    def __init__(
        self, step: int, weights: list[list[list[Quotient]]], whole: Quotient, field: ExponentialField
    ) -> None:
        """Takes ``p_l(s, j)`` for every channel l, s = 0, ..., n, j = 0, ..., s; and the limit gain of a single one."""
        self._step = step
        self._weights = weights
        self._whole = whole
        self._field = field
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
            children += [self._mean(inner) for inner in branch.branches]
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
