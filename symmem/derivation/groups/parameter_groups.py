"""Parameter groups: what the memory of one group makes of the steps of every group, first order in h.

mathematics.md section 2, "A schedule, and parameter groups".

Each group has its rate, its parameters and the number n of updates that it has made.  For a group i

    theta_i <- theta_i - lr_i (F_i + M_i),        M_i = DPhi(gbar)[scale_1 Dg_1[S_1], ..., scale_L Dg_L[S_L]],
    S_l on group j = lr_j sum_s w(s) F_j^(s),     w(s) = sum_{k=n_j-s..n_i} shape_l(n_i, k),

summed over max(0, n_j-n_i) <= s < n_j, with Phi and the kernels ``scale_l shape_l`` of group i, and
``Dg_l[S] = (dg_l/dgrad) D2L[S] + (dg_l/dtheta) S``: every rate stands inside the Hessian-vector product.
The sums over s are numbers, taken when the groups are known.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from sympy import Add, Expr, Mul, Product, Symbol

from symmem.algebra.atoms import GRAD, PAST, STEP, THETA, TOTAL, slot, split_scalar, terms_of
from symmem.algebra.directional import derivative
from symmem.algebra.exponential import exponential_field
from symmem.algebra.grouping import group
from symmem.algebra.limits import scalar_limit
from symmem.algebra.passes import collect, distribute
from symmem.algebra.reals import substituted
from symmem.algebra.results import Missing, Sentence, Whose, present
from symmem.algebra.scalars import Scalars
from symmem.algebra.where import where
from symmem.derivation.conditions.singular import singular_limit
from symmem.derivation.gains import Gains, gains, scales
from symmem.derivation.groups.group_line import Line, group_line, line_of
from symmem.derivation.groups.step_scalars import StepScalar, free_name
from symmem.derivation.past.history import past_terms
from symmem.method.kernel import Kernel
from symmem.method.method import Method
from symmem.records import record

RATES = slot(-1)
"""A vector of rates, one for each entry: a constant to every rule of the algebra."""


@record(frozen=True)
class SharedMemory:
    """All channels whose kernels have one shape: they see the same sum S over the past.

    ``product`` stands for D2L[S], ``displacement`` for S itself; both are given up to the number ``scale``.
    ``line`` is the memory as a straight line.
    """

    shape: Kernel
    product: Expr
    displacement: Expr
    scale: Symbol
    line: Line

    @property
    def decay(self) -> Expr:
        """Of a geometric shape: what a step takes from it."""
        (decay,) = self.shape.decays
        return decay


@record(frozen=True)
class GroupForm:
    """The update of one group, in which the steps of the groups enter by numbers and by ``memories``.

    past             F^(s) as a function of ``past_scalars``; their sum with weights where ``is_linear`` in them
    memoryless       F^(n) as a function of ``scalars``
    correction       M^(n) as a function of ``scalars``, and of the memories' products, displacements and scales
    straight         F_straight as a function of the same, and of the numbers of the memories' lines
    field            the numbers among which all of this is written
    """

    memories: tuple[SharedMemory, ...]
    past: Expr
    past_scalars: tuple[StepScalar, ...]
    is_linear: bool
    memoryless: Expr
    correction: Expr
    straight: Expr | Missing
    scalars: tuple[StepScalar, ...]
    field: Scalars

    @property
    def has_displacements(self) -> bool:
        """Whether some remembered g depends on theta itself, and not through the gradient alone."""
        updates = (self.correction, *(() if isinstance(self.straight, Missing) else (self.straight,)))
        return any(each.has(memory.displacement) for memory in self.memories for each in updates)


def without_group_form(method: Method) -> Missing | None:
    """Why there is no update of a parameter group: its sums over the steps of other groups ask for one decay each."""
    words = []
    if any(part.has(TOTAL) for part in (method.phi, *(channel.g for channel in method.channels))):
        words.append("a number of the whole model joins the parameter groups")
    if not has_geometric_memory(method):
        words.append(
            "parameter groups with rates and steps of their own need geometric memory of theta and grad"
        )
    elif any(gain.has(where, Product) for gain in (*gains(method), *scales(method))):
        words.append("a branch or a product over steps in b has no form for all steps at once")
    return Missing(Sentence.of(Whose(method.name), ", and ".join(words))) if words else None


def has_geometric_memory(method: Method) -> bool:
    """Whether every memory is one of theta and grad, with one decay: the sums of a group are then known."""
    one_decay = all(len(c.kernel.decays) == 1 for c in method.channels if c.kernel.has_memory)
    return one_decay and not method.is_cascade


@lru_cache(maxsize=64)
def group_form(method: Method) -> GroupForm:
    """The update of a parameter group of this method; its rates are the scheduler's, not the declared ones."""
    method = replace(method, rate=None)
    values, factors, scalars = _named_gains(method)
    memories = _memories(method)
    field = _field(method, scalars, memories)
    frozen: dict[Expr, Expr] = {
        channel.symbol: gain * channel.g for gain, channel in zip(values, method.channels, strict=True)
    }
    corrections = []
    for memory in memories:
        changes = _changes(method, factors, memory)
        parts = [collect(substituted(change, frozen), field) for change in changes]
        corrections.append(_without_cancellation(parts, field))
    memoryless = collect(substituted(method.phi, frozen), field)
    past, past_scalars, is_linear = _past(method, memoryless, scalars)
    lines = [memory.line for memory in memories]
    straight = group_line(method, frozen, factors, lines)
    used = Add(memoryless, *corrections, *(() if isinstance(straight, Missing) else (straight,))).free_symbols
    scalars = tuple(scalar for scalar in scalars if scalar.name in used)
    whole = Add(*corrections)
    return GroupForm(memories, past, past_scalars, is_linear, memoryless, whole, straight, scalars, field)


def _changes(method: Method, factors: Gains, memory: SharedMemory) -> list[Expr]:
    """``d_l Phi[factor_l Dg_l[S]]`` for the channels l that share this memory.

    ``g = grad^2`` moves by ``2 grad D2L[S]``, and D2L[S] is ``scale product``: ``Phi = m1`` changes by
    ``2 factor scale grad product``.
    """
    found = []
    for channel, factor in zip(method.channels, factors, strict=True):
        if channel.kernel.shape == memory.shape:
            moved = derivative(channel.g, {THETA: memory.displacement, GRAD: memory.product})
            found.append(derivative(method.phi, {channel.symbol: factor * memory.scale * moved}))
    return found


def with_rates(method: Method) -> Method:
    """``Phi -> RATES * Phi`` with h = 1: rates that differ between entries stand where they belong, at any order."""
    return replace(method, phi=RATES * method.phi, rate=None)


def _without_cancellation(parts: list[Expr], field: Scalars) -> Expr:
    """The sum of the parts: divided out where this leaves fewer terms, as in ``r - x^2 r^3 = eps r^3``.

    Where it leaves more, their difference would be small against each of them.
    """
    plain, divided = collect(Add(*parts), field), group(parts, field, merge_products=False)
    shorter = len(terms_of(distribute(divided))) < len(terms_of(distribute(plain)))
    return divided if shorter else plain


def _field(method: Method, scalars: tuple[StepScalar, ...], memories: tuple[SharedMemory, ...]) -> Scalars:
    """The scalars of the method in which what depends on the step is a name."""
    names = [Symbol(parameter.name) for parameter in method.parameters]
    names += [scalar.name for scalar in scalars] + [memory.scale for memory in memories]
    constant = [gain for gain in gains(method) if STEP not in gain.free_symbols]
    return Scalars(exponential_field([*names, *constant, method.phi]), frozenset())


def _named_gains(method: Method) -> tuple[Gains, Gains, tuple[StepScalar, ...]]:
    """Gains and factors with a name in the place of every number that depends on the step; the names' meanings."""
    scalars: list[StepScalar] = []
    settles = singular_limit(method, 1) is None

    def named(stem: str, at_step: Expr) -> Expr:
        if STEP not in at_step.free_symbols:
            return at_step
        limit = present(scalar_limit(at_step, method.numbers)) if settles else None
        scalars.append(StepScalar(free_name(stem, method), at_step, limit))
        return scalars[-1].name

    values, factors = [], []
    for position, (gain, factor) in enumerate(zip(gains(method), scales(method), strict=True), start=1):
        factors.append(named(f"b{position}", factor))
        values.append(named(f"gain{position}", gain))
    return tuple(values), tuple(factors), tuple(scalars)


def _memories(method: Method) -> tuple[SharedMemory, ...]:
    """One for each shape of a channel that remembers something that moves."""
    moving = [c.kernel.shape for c in method.channels if c.kernel.has_memory and c.g.has(THETA, GRAD)]
    return tuple(_memory(method, k, shape) for k, shape in enumerate(dict.fromkeys(moving)))


def _memory(method: Method, k: int, shape: Kernel) -> SharedMemory:
    product, displacement, scale = slot(2 * k), slot(2 * k + 1), free_name(f"scale{k + 1}", method)
    line = line_of(method, k + 1, shape, scale * product, scale * displacement)
    return SharedMemory(shape, product, displacement, scale, line)


def _past(
    method: Method, memoryless: Expr, scalars: tuple[StepScalar, ...]
) -> tuple[Expr, tuple[StepScalar, ...], bool]:
    """``F^(s)``, the numbers in it that depend on the step, and whether it is linear in them.

    Heavy ball: ``F^(s) = (1 - beta^(s+1))/(1 - beta) grad`` is ``share1 grad``, linear in one number whose sums over s
    are numbers too.  ``m1/sqrt(m2 + eps)`` with a gain of m2 that depends on the step is not linear in it.
    """
    used = tuple(scalar for scalar in scalars if scalar.name in memoryless.free_symbols)
    terms = [split_scalar(term) for term in past_terms(method)]
    if not used or any(PAST in vector.free_symbols for _, vector in terms):
        return memoryless, used, False
    coefficients: dict[Expr, list[Expr]] = {}
    for scalar, vector in terms:
        coefficients.setdefault(vector, []).append(scalar)
    field = method.numbers
    shares = []
    for position, parts in enumerate(coefficients.values(), start=1):
        share = field.add(parts).xreplace({PAST: STEP})
        limit = scalar_limit(share, field)
        known = None if isinstance(limit, Missing) else limit
        shares.append(StepScalar(free_name(f"share{position}", method), share, known))
    past = Add(*(Mul(share.name, vector) for share, vector in zip(shares, coefficients, strict=True)))
    return past, tuple(shares), True
