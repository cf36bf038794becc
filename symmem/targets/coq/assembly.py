"""M from its sums over the past, as in the proof of the lemma: where Phi joins entries, or a g reads other variables.

    F^(s) = sum_t scalar_t(s) v_t,      S_k = sum_t number_kt(n) v_t,      M^(n) = h sum_k slope_k[S_k]

The vectors v_t and the slopes on a constant history are the engine's (``derivation/past/steps.py``): linear maps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sympy import Add, Expr, Mul, Sum
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import GRAD, LR, PAST, STEP, split_scalar
from symmem.algebra.results import Missing
from symmem.derivation.derivation import Derivation
from symmem.derivation.gains import gains
from symmem.derivation.past.history import past_terms
from symmem.derivation.past.steps import Steps, steps
from symmem.method.method import Channel, Method
from symmem.records import record
from symmem.targets.coq.claims import ChannelMemory, Claims, UpdateTerm, is_known, terms_of_update
from symmem.targets.coq.dialect import Unspelled
from symmem.targets.coq.opening import Opening


@record(frozen=True)
class Assembly:
    """The claims, whose last memories are the sums over the past, and the formulas of M with their symbols."""

    claims: Claims
    sums: tuple[ChannelMemory, ...]
    opening: Opening
    vectors: tuple[Expr, ...]
    """What the vectors are, opened."""
    meanings: tuple[Expr, ...]
    """The same as the engine writes it."""
    assembled: Expr | None
    """M over h by its sums; None where it cannot be stated, and so are the next two."""
    printed: Expr | None
    limit: Expr | None


def no_assembly(derivation: Derivation) -> str | None:
    """Why the sums over the past cannot be stated as closed."""
    method = derivation.method
    if method.rate is not None:
        return "the rate has a schedule"
    held = steps(method)
    terms = None if held.is_written_out else _terms(method)
    if terms is None:
        return "its sums over the past do not close"
    claims = Claims(method, _sums(method, held), terms)
    if not all(map(is_known, claims.memories)):
        return "a memory is a delay that starts empty, or a memory of a memory of several steps"
    if claims.looks_at_changes:
        return "a delay of several steps looks at an update that changes with n"
    return "its sums over the past do not close" if any(past.has(Sum) for past in claims.pasts) else None


def assembly(derivation: Derivation) -> Assembly:
    """Asked where :func:`no_assembly` has no objection."""
    method = derivation.method
    held, terms = steps(method), _terms(method)
    assert terms is not None, "asked before"
    known = tuple(each for each in _memories(method) if is_known(each))
    sums = _sums(method, held)
    opening = Opening(held.direction, method.numbers)
    symbols = [opening.vector(f"vector{place}") for place in range(1, len(terms) + 1)]
    vectors = tuple(opening.opened(term.vector, {}) for term in terms)
    scalars = [opening.opened(term.scalar, {}) for term in terms]
    named = tuple(UpdateTerm(scalar, symbol) for scalar, symbol in zip(scalars, symbols, strict=True))
    meanings = tuple(term.vector for term in terms)
    made = Assembly(
        Claims(method, (*known, *sums), named, sums, tuple(opening.heads.items())),
        sums,
        opening,
        vectors,
        meanings,
        None,
        None,
        None,
    )
    try:
        return _with_correction(made, derivation, held)
    except Unspelled:
        return made


def _with_correction(made: Assembly, derivation: Derivation, held: Steps) -> Assembly:
    places = {
        history.symbol: made.claims.memories.index(memory) + 1
        for history, memory in zip(held.histories, made.sums, strict=True)
    }
    assembled = LR * made.opening.opened(held.assembled, places)
    made.opening.know(made.meanings)
    printed, limit = derivation.M, derivation.limit
    assert isinstance(printed, Expr), "sums that close have been asked for"
    shown = made.opening.opened(printed, {})
    try:
        settled = None if isinstance(limit, Missing) else made.opening.opened(limit.M, {})
    except Unspelled:
        settled = None
    return replace(made, assembled=assembled, printed=shown, limit=settled)


def _terms(method: Method) -> tuple[UpdateTerm, ...] | None:
    """Where the vector of F is the same at every step, it stays whole, as in the engine: the slopes see one vector."""
    update = past_terms(method)
    scalar, vector = split_scalar(update[0])
    if len(update) == 1 and PAST not in vector.free_symbols:
        return (UpdateTerm(scalar, vector),)
    found = terms_of_update(Add(*update), method)
    return None if found is None else tuple(_joined(found))


def _joined(terms: tuple[UpdateTerm, ...]) -> Iterator[UpdateTerm]:
    """Vectors that come and go together are one: the engine's products with the Hessian are of their sum."""
    together: dict[Expr, list[tuple[Expr, Expr]]] = {}
    for term in terms:
        steady, moving = term.scalar.as_independent(PAST, as_Add=False)
        together.setdefault(moving, []).append((steady, term.vector))
    for moving, parts in together.items():
        shared = [
            factor
            for factor in Mul.make_args(parts[0][0])
            if len(parts) == 1
            or (not factor.has(AppliedUndef) and all(factor in Mul.make_args(each) for each, _ in parts))
        ]
        front = Mul(*shared)
        yield UpdateTerm(front * moving, Add(*(each / front * vector for each, vector in parts)))


def _memories(method: Method) -> tuple[ChannelMemory, ...]:
    return tuple(
        ChannelMemory(channel, channel.kernel.summands, gain)
        for channel, gain in zip(method.channels, gains(method), strict=True)
    )


def _sums(method: Method, held: Steps) -> tuple[ChannelMemory, ...]:
    """Each sum of the proof as the memory of a vector; its weights have no factor in front."""
    return tuple(
        ChannelMemory(
            Channel(history.symbol, GRAD, history.shape),
            history.shape.summands,
            method.numbers.tidy(history.shape.gain(STEP)),
        )
        for history in held.histories
    )
