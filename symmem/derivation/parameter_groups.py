"""Parameter groups: what the memory of one group makes of the steps of every group, first order in h.

Each group has its rate, its parameters and the number n of updates that it has made.  For a group i

    theta_i <- theta_i - lr_i (F_i + M_i),        M_i = DPhi(gbar)[b_1 Dg_1[S_1], ..., b_L Dg_L[S_L]],
    S_l on group j = lr_j sum_s w(s) F_j^(s),     w(s) = sum_{k=n_j-s..n_i} beta_l^k,     max(0, n_j-n_i) <= s < n_j,

with Phi, b_l and beta_l of group i, and ``Dg_l[S] = (dg_l/dgrad) D2L[S] + (dg_l/dtheta) S``: every rate stands inside
the Hessian-vector product.  The sums over s are numbers, taken when the groups are known.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import lru_cache

from sympy import Add, Expr, Mul, Symbol

from symmem.algebra.atoms import GRAD, PAST, STEP, THETA, momentum_symbol, split_scalar, terms_of
from symmem.algebra.directional import derivative
from symmem.algebra.exponential import exponential_field
from symmem.algebra.grouping import group
from symmem.algebra.passes import collect, distribute
from symmem.algebra.reals import substituted
from symmem.algebra.scalars import Scalars
from symmem.algebra.sums import NoLimitError
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.differentials import slot
from symmem.derivation.gains import Gain, gains, limit_gains, scalar_limit
from symmem.derivation.history import past_terms
from symmem.errors import DerivationError
from symmem.method.numbers import scalars_of

RATES = slot(-1)
"""A vector of rates, one for each entry: a constant to every rule of the algebra."""


@dataclass(frozen=True)
class StepScalar:
    """A number that depends on the step: its name, its value at step n, and its limit, None where it has none."""

    name: Symbol
    at_step: Expr
    limit: Expr | None


@dataclass(frozen=True)
class Memory:
    """All momentum variables with one decay: they see the same sum S over the past.

    ``product`` stands for D2L[S], ``way`` for S itself; both are given up to the number ``scale``.
    """

    decay: Expr
    product: Expr
    way: Expr
    scale: Symbol


@dataclass(frozen=True)
class GroupForm:
    """The update of one group, in which the steps of the groups enter by numbers and by ``memories``.

    past             F^(s) as a function of ``past_scalars``; their sum with weights where ``is_linear`` in them
    memoryless       F^(n) as a function of ``scalars``
    correction       M^(n) as a function of ``scalars``, and of the memories' products, ways and scales
    field            the numbers among which all of this is written
    """

    memories: tuple[Memory, ...]
    past: Expr
    past_scalars: tuple[StepScalar, ...]
    is_linear: bool
    memoryless: Expr
    correction: Expr
    scalars: tuple[StepScalar, ...]
    field: Scalars

    @property
    def has_ways(self) -> bool:
        """Whether some remembered g depends on theta itself, and not through the gradient alone."""
        return any(self.correction.has(memory.way) for memory in self.memories)


@lru_cache(maxsize=64)
def group_form(optimizer: Optimizer) -> GroupForm:
    """The update of a parameter group of this optimizer."""
    values, scalars = _named_gains(optimizer)
    memories = _memories(optimizer)
    field = _field(optimizer, scalars, memories)
    frozen = {
        momentum_symbol(position): gain.value * variable.g
        for position, (gain, variable) in enumerate(zip(values, optimizer.momentum, strict=True), start=1)
    }
    corrections = []
    for memory in memories:
        parts = []
        for position, (variable, gain) in enumerate(zip(optimizer.momentum, values, strict=True), start=1):
            if variable.beta == memory.decay:
                moved = derivative(variable.g, {THETA: memory.way, GRAD: memory.product})
                change = derivative(optimizer.phi, {momentum_symbol(position): gain.b * memory.scale * moved})
                parts.append(collect(substituted(change, frozen), field))
        corrections.append(_without_cancellation(parts, field))
    memoryless = collect(substituted(optimizer.phi, frozen), field)
    past, past_scalars, is_linear = _past(optimizer, memoryless, scalars)
    used = Add(memoryless, *corrections).free_symbols
    scalars = tuple(scalar for scalar in scalars if scalar.name in used)
    return GroupForm(memories, past, past_scalars, is_linear, memoryless, Add(*corrections), scalars, field)


def with_rates(optimizer: Optimizer) -> Optimizer:
    """``Phi -> RATES * Phi`` with h = 1: at any order, rates that differ from entry to entry stand where they belong.

    No declaration can name a constant vector, so that the copy does not pass the checks of a declaration again.
    """
    rated = copy(optimizer)
    object.__setattr__(rated, "phi", RATES * optimizer.phi)
    return rated


def _without_cancellation(parts: list[Expr], field: Scalars) -> Expr:
    """The sum of the parts: divided out where this leaves fewer terms, as in ``r - x^2 r^3 = eps r^3``.

    Where it leaves more, their difference would be small against each of them.
    """
    plain, divided = collect(Add(*parts), field), group(parts, field, merge_products=False)
    shorter = len(terms_of(distribute(divided))) < len(terms_of(distribute(plain)))
    return divided if shorter else plain


def _field(optimizer: Optimizer, scalars: tuple[StepScalar, ...], memories: tuple[Memory, ...]) -> Scalars:
    """The scalars of the optimizer in which what depends on the step is a name."""
    names = [Symbol(parameter.name) for parameter in optimizer.parameters]
    names += [scalar.name for scalar in scalars] + [memory.scale for memory in memories]
    constant = [gain.value for gain in gains(optimizer) if gain.is_constant]
    return Scalars(exponential_field([*names, *constant, optimizer.phi]), frozenset())


def _named_gains(optimizer: Optimizer) -> tuple[tuple[Gain, ...], tuple[StepScalar, ...]]:
    """The gains with a name in the place of every number that depends on the step; the names' meanings."""
    scalars: list[StepScalar] = []
    try:
        limits: tuple[Gain | None, ...] = limit_gains(optimizer)
    except DerivationError:
        limits = (None,) * len(optimizer.momentum)

    def named(stem: str, at_step: Expr, limit: Expr | None) -> Expr:
        if STEP not in at_step.free_symbols:
            return at_step
        scalars.append(StepScalar(free_name(stem, optimizer), at_step, limit))
        return scalars[-1].name

    values = []
    for position, (gain, limit) in enumerate(zip(gains(optimizer), limits, strict=True), start=1):
        b = named(f"b{position}", gain.b, limit and limit.b)
        values.append(Gain(gain.beta, b, named(f"gain{position}", gain.value, limit and limit.value)))
    return tuple(values), tuple(scalars)


def _memories(optimizer: Optimizer) -> tuple[Memory, ...]:
    """One for each decay of a variable that remembers something that moves."""
    moving = [v.beta for v in optimizer.momentum if v.beta != 0 and v.g.has(THETA, GRAD)]
    return tuple(
        Memory(decay, slot(2 * k), slot(2 * k + 1), free_name(f"scale{k + 1}", optimizer))
        for k, decay in enumerate(dict.fromkeys(moving))
    )


def _past(
    optimizer: Optimizer, memoryless: Expr, scalars: tuple[StepScalar, ...]
) -> tuple[Expr, tuple[StepScalar, ...], bool]:
    """``F^(s)``, the numbers in it that depend on the step, and whether it is linear in them."""
    used = tuple(scalar for scalar in scalars if scalar.name in memoryless.free_symbols)
    terms = [split_scalar(term) for term in past_terms(optimizer)]
    if not used or any(PAST in vector.free_symbols for _, vector in terms):
        return memoryless, used, False
    coefficients: dict[Expr, list[Expr]] = {}
    for scalar, vector in terms:
        coefficients.setdefault(vector, []).append(scalar)
    field = scalars_of(optimizer)
    shares = []
    for position, parts in enumerate(coefficients.values(), start=1):
        share = field.add(parts).xreplace({PAST: STEP})
        try:
            limit = scalar_limit(share, field)
        except NoLimitError:
            limit = None
        shares.append(StepScalar(free_name(f"share{position}", optimizer), share, limit))
    past = Add(*(Mul(share.name, vector) for share, vector in zip(shares, coefficients, strict=True)))
    return past, tuple(shares), True


def free_name(stem: str, optimizer: Optimizer) -> Symbol:
    """The stem, with underscores where a parameter or a function has this name."""
    taken = {parameter.name for parameter in optimizer.parameters}
    taken |= {function.name for function in optimizer.functions}
    while stem in taken:
        stem += "_"
    return Symbol(stem)
