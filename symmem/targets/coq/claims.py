"""What a Coq file can state of a derivation, as data: memories, the update on a constant history, sums, the correction.

Nothing is computed here that the engine did not print: closed forms are its own, taken apart at their scalars.
"""

from __future__ import annotations

from sympy import Add, Expr, S, Sum, Symbol

from symmem.algebra.atoms import GRAD, PAST, THETA, split_scalar, terms_of
from symmem.algebra.directional import slope_in
from symmem.algebra.passes import collect, distribute
from symmem.derivation.derivation import Derivation
from symmem.derivation.gains import gains
from symmem.derivation.past.history import past_terms, sum_over_past
from symmem.method.delay import Delay
from symmem.method.kernel import Kernel
from symmem.method.merging import merged
from symmem.method.method import Channel, Method
from symmem.records import record
from symmem.targets.coq import kernels


@record(frozen=True)
class ChannelMemory:
    """One momentum variable: the kernels that add up to its memory, and its gain in closed form."""

    channel: Channel
    parts: tuple[Kernel, ...]
    gain: Expr

    @property
    def slopes(self) -> tuple[Expr, Expr]:
        """``(a, b)`` with ``Dg[v] = a D2L[v] + b v``."""
        return slope_in(self.channel.g, GRAD), slope_in(self.channel.g, THETA)


@record(frozen=True)
class UpdateTerm:
    """``scalar(s) vector``: one term of the update on a constant history; the vector does not know the step."""

    scalar: Expr
    vector: Expr


@record(frozen=True)
class Claims:
    """``terms`` is None where the update is no sum of such terms: then its sums over the past stay."""

    method: Method
    memories: tuple[ChannelMemory, ...]
    terms: tuple[UpdateTerm, ...] | None
    sums: tuple[ChannelMemory, ...] | None = None
    """Those of the memories whose sums over the past are stated; None for all."""
    heads: tuple[tuple[Expr, Symbol], ...] = ()
    """What the file does not look into, by the symbols that stand for it."""

    @property
    def summed(self) -> tuple[ChannelMemory, ...]:
        """The memories whose sums over the past are stated."""
        return self.memories if self.sums is None else self.sums

    @property
    def pasts(self) -> tuple[Expr, ...]:
        """Every sum over the past of one decay and one term."""
        shapes = kernels.summed_of(part for each in self.summed for part in each.parts)
        return tuple(self.past(shape, term) for shape in shapes for term in self.terms or ())

    @property
    def looks_at_changes(self) -> bool:
        """Whether a delay of several steps sees an update that depends on the step: its sum is not stated."""
        late = any(isinstance(part, Delay) and part.steps > 1 for each in self.summed for part in each.parts)
        return late and any(PAST in term.scalar.free_symbols for term in self.terms or ())

    def past(self, shape: Kernel, term: UpdateTerm) -> Expr:
        """``sum_{s<n} tail(n, s) scalar(s)`` as the engine closes it; with a ``Sum`` where it does not close."""
        scalar = term.scalar.xreplace({symbol: head for head, symbol in self.heads})
        front, inside = split_scalar(sum_over_past(scalar * GRAD, shape, self.method.numbers))
        return (front * Add(*(part / GRAD for part in terms_of(inside)))).xreplace(dict(self.heads))


def claims_of(derivation: Derivation) -> Claims:
    """Of the method as declared; of a cascade that is linear in what it reads, the one that reads nothing."""
    method = derivation.method
    method = merged(method) if method.is_cascade else method
    memories = tuple(
        ChannelMemory(channel, channel.kernel.summands, gain)
        for channel, gain in zip(method.channels, gains(method), strict=True)
    )
    return Claims(method, memories, _terms(method))


def is_known(memory: ChannelMemory) -> bool:
    """Whether the file has words for its memory and proofs of its sums."""
    return all(map(kernels.is_known, memory.parts))


def _terms(method: Method) -> tuple[UpdateTerm, ...] | None:
    if method.is_cascade or not method.is_entrywise or method.rate is not None:
        return None
    return terms_of_update(Add(*past_terms(method)), method)


def terms_of_update(update: Expr, method: Method) -> tuple[UpdateTerm, ...] | None:
    """The update at step s term by term; None where a vector depends on the step."""
    found: dict[Expr, Expr] = {}
    for part in terms_of(distribute(collect(update, method.numbers))):
        scalar, vector = split_scalar(part)
        if PAST in vector.free_symbols or vector.has(Sum):
            return None
        found[vector] = found.get(vector, S.Zero) + scalar
    return tuple(UpdateTerm(scalar, vector) for vector, scalar in found.items())
