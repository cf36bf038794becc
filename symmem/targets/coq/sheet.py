"""The theorems of one method, as far as they can be stated; what is left out is told with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sympy import Abs, Expr, Function, Pow, Sum, Symbol, preorder_traversal, sign

from symmem.algebra.atoms import STEP
from symmem.algebra.directional import slope_in
from symmem.algebra.results import Missing
from symmem.derivation.derivation import Derivation
from symmem.derivation.gains import at_frozen_point, gains
from symmem.method.composition import Composition
from symmem.method.method import Method
from symmem.records import record
from symmem.targets.coq import assembled
from symmem.targets.coq.assembly import assembly, no_assembly
from symmem.targets.coq.bounds import BOUND_OF_M, bounds
from symmem.targets.coq.claims import Claims, claims_of, is_known
from symmem.targets.coq.conditions import Condition, conditions, poles
from symmem.targets.coq.correction import correction, update
from symmem.targets.coq.dialect import CoqPrinter, Unspelled
from symmem.targets.coq.extent import Extent
from symmem.targets.coq.generators import generators_in, is_root
from symmem.targets.coq.kernel_proofs import named, sums
from symmem.targets.coq.memories import frozen_value, history, memory, tails
from symmem.targets.coq.proofs import Block, Proofs
from symmem.targets.coq.witness import is_met


@record(frozen=True)
class Sheet:
    """Conditions and blocks of a file, and sentences on what it states of the method and what not."""

    conditions: tuple[Condition, ...]
    blocks: tuple[Block, ...]
    stated: tuple[str, ...]
    extent: Extent
    missing: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    """What the file does not look into."""


_MEMORIES = "the gain of every memory that is stated, and the tail of the geometric ones, at every step"
_UPDATE = (
    "F on a constant history, and that its double sums over the past are single sums, under a schedule too"
)
_CORRECTION = "F on a constant history, the sums over the past, and the correction M, at every step"
_SUMS = "the sums over the past of F, which stands there as symmem prints it, at every step"
_ASSEMBLED = (
    "the correction M at every step, put together from these sums; its slopes stand there as linear maps"
)
_UNBOUNDED = (
    "the limit of M with a bound: M is no sum of powers of the decays, each in front of a vector that stays"
)
_SLOPES = "that F is Phi on a constant history, and that the linear maps are its slopes there"


def sheet(derivation: Derivation, names: dict[Symbol, str]) -> Sheet:
    """As much as can be stated: with M, else M from its sums over the past, else F, else the memories alone."""
    claims = claims_of(derivation)
    printer = CoqPrinter(
        names | {channel.symbol: f"{channel.symbol.name} n i" for channel in claims.method.channels}
    )
    why = _no_correction(claims, derivation)
    if why is None:
        try:
            return _with_correction(claims, derivation, printer)
        except Unspelled as unspelled:
            why = str(unspelled)
    open_ = no_assembly(derivation)
    if open_ is None:
        try:
            return _by_sums(derivation, names, why)
        except Unspelled as unspelled:
            open_ = str(unspelled)
    lost = [f"M at step n: {open_}"]
    why = _no_update(claims, derivation)
    if why is None:
        try:
            return replace(_with_update(claims, derivation, printer), missing=tuple(lost))
        except Unspelled as unspelled:
            why = str(unspelled)
    lost.append(f"F on a constant history: {why}")
    try:
        return replace(_memories_alone(claims, printer), missing=tuple(lost))
    except Unspelled as unspelled:
        return Sheet((), (), (), Extent.NOTHING, (*lost, f"the gains: {unspelled}"))


def _with_correction(claims: Claims, derivation: Derivation, printer: CoqPrinter) -> Sheet:
    printed, change = _present(derivation.F), _present(derivation.M)
    proofs = _proofs(claims, printer, [*_expressions(claims), printed, change, *claims.pasts])
    blocks = [
        *_memories(proofs),
        *(frozen_value(proofs, each) for each in claims.memories),
        *update(proofs, printed),
        *sums(proofs, claims.terms or ()),
        *(block for each in claims.memories for block in history(proofs, each)),
        *correction(proofs, change),
    ]
    limit = None if isinstance(derivation.limit, Missing) else derivation.limit.M
    limits = bounds(proofs, change, limit)
    stated = _stated(proofs, blocks, limits, (_MEMORIES, _CORRECTION), Extent.CORRECTION)
    return replace(stated, missing=_unbounded(change, derivation, limits))


def _by_sums(derivation: Derivation, names: dict[Symbol, str], why: str) -> Sheet:
    """Where the file cannot follow Phi itself: its sums over the past, and M put together from them."""
    made = assembly(derivation)
    printer = CoqPrinter(names | made.opening.names, frozenset(made.opening.entries))
    claims = made.claims
    spelled = (each for each in claims.memories if each in made.sums or _is_spelled(each.gain, printer))
    claims = replace(claims, memories=tuple(spelled))
    formulas = [each for each in (made.assembled, made.printed, *made.vectors) if each is not None]
    used = [*(each.gain for each in claims.memories), *_scales(claims), *claims.pasts, *formulas]
    proofs = _proofs(claims, printer, used)
    blocks = [
        *_memories(proofs),
        *assembled.update(proofs, made),
        *assembled.past(proofs, made),
        *assembled.correction(proofs, made),
    ]
    whole, limits = made.assembled is not None, bounds(proofs, made.printed, made.limit)
    found = _stated(
        proofs,
        blocks,
        limits,
        (_MEMORIES, _SUMS, _ASSEMBLED) if whole else (_MEMORIES, _SUMS),
        Extent.ASSEMBLED if whole else Extent.SUMS,
    )
    lost = f"{_SLOPES if whole else 'that F is Phi on a constant history, and M'}: {why}"
    left = (lost, *_unbounded(made.printed, derivation, limits))
    return replace(found, missing=left, variables=assembled.variables(made))


def _with_update(claims: Claims, derivation: Derivation, printer: CoqPrinter) -> Sheet:
    claims, printed = replace(claims, terms=None), _present(derivation.F)
    proofs = _proofs(claims, printer, [*_expressions(claims), printed])
    blocks = [
        *_memories(proofs),
        *(frozen_value(proofs, each) for each in claims.memories),
        *update(proofs, printed),
        *(block for each in claims.memories for block in history(proofs, each)),
    ]
    limits = bounds(proofs, None, None)
    return _stated(proofs, blocks, limits, (_MEMORIES, _UPDATE), Extent.UPDATE)


def _memories_alone(claims: Claims, printer: CoqPrinter) -> Sheet:
    known = tuple(each for each in claims.memories if is_known(each) and _is_spelled(each.gain, printer))
    claims = replace(claims, memories=known, terms=None)
    proofs = _proofs(claims, printer, [*(each.gain for each in known), *_scales(claims)])
    said, extent = ((_MEMORIES,), Extent.GAINS) if known else ((), Extent.NOTHING)
    return _stated(proofs, list(_memories(proofs)), bounds(proofs, None, None), said, extent)


def _proofs(claims: Claims, printer: CoqPrinter, used: list[Expr]) -> Proofs:
    """With the conditions of these expressions; nothing is stated under conditions that contradict each other."""
    method = claims.method
    found = conditions(used, _decays(claims), method.ranges, printer)
    if not is_met(found, method.parameters):
        raise Unspelled("what it divides by is zero at a step, for all values that were tried")
    return Proofs(claims, printer, found)


def _stated(
    proofs: Proofs, blocks: list[Block], limits: list[Block], said: tuple[str, ...], extent: Extent
) -> Sheet:
    settled = f"{len(limits)} of these numbers settle: their limits, each with a geometric bound"
    told = (*said, settled) if limits else said
    return Sheet(tuple(proofs.conditions), (*blocks, *limits), told, extent)


def _unbounded(printed: Expr | None, derivation: Derivation, limits: list[Block]) -> tuple[str, ...]:
    """Where M has a limit and no bound that goes there: that is said."""
    settles = (
        printed is not None and STEP in printed.free_symbols and not isinstance(derivation.limit, Missing)
    )
    return () if not settles or any(block.proves == BOUND_OF_M for block in limits) else (_UNBOUNDED,)


def _memories(proofs: Proofs) -> Iterator[Block]:
    yield from named(proofs)
    for each in proofs.claims.memories:
        yield from memory(proofs, each)
    yield from tails(proofs)


def _no_update(claims: Claims, derivation: Derivation) -> str | None:
    method = claims.method
    if method.is_cascade:
        return "a g reads momentum variables"
    if not method.is_entrywise:
        return "a function joins entries, or is not given"
    if not all(is_known(each) for each in claims.memories):
        return "a memory is a delay that starts empty, or a memory of a memory of several steps"
    if _divides_under_a_root(method):
        return "a quotient of momentum variables stands under a root"
    if isinstance(derivation.F, Missing):
        return "it has no value at step n"
    special = _functions(method.phi) - _functions(derivation.F)
    return f"{' and '.join(sorted(special))} has a special value there" if special else None


def _functions(formula: Expr) -> set[str]:
    """Those that are known by their values alone: no algebra of Coq turns atan(1) into pi/4."""
    return {part.func.__name__ for part in formula.atoms(Function) if not isinstance(part, (Abs, sign))}


def _divides_under_a_root(method: Method) -> bool:
    """Then its form on the frozen point is no product of plain roots, which the proofs could follow."""
    symbols = {channel.symbol for channel in method.channels}
    roots = filter(is_root, generators_in([method.phi]))
    parts = (part for root in roots for part in preorder_traversal(root.base))
    return any(
        isinstance(part, Pow) and part.exp.is_negative and part.base.free_symbols & symbols for part in parts
    )


def _no_correction(claims: Claims, derivation: Derivation) -> str | None:
    reason = _no_update(claims, derivation)
    if reason is not None:
        return reason
    if claims.method.rate is not None:
        return "the rate has a schedule"
    if claims.looks_at_changes:
        return "a delay of several steps looks at an update that changes with n"
    open_ = claims.terms is None or any(past.has(Sum) for past in claims.pasts)
    return "its sums over the past do not close" if open_ or isinstance(derivation.M, Missing) else None


def _expressions(claims: Claims) -> Iterator[Expr]:
    """Whatever divides somewhere: the scalars of the memories, Phi and its slopes on the frozen point."""
    method = claims.method
    yield from (each.gain for each in claims.memories)
    yield from _scales(claims)
    yield from poles(method, method.phi)
    slopes = {each: slope_in(method.phi, each.channel.symbol) for each in claims.memories}
    for each in generators_in([method.phi, *slopes.values()]):
        yield at_frozen_point(each, method, gains(method))
    for each, slope in slopes.items():
        yield each.channel.g
        yield from each.slopes
        yield at_frozen_point(slope, method, gains(method))
        yield from poles(method, slope)


def _scales(claims: Claims) -> list[Expr]:
    parts = [part for each in claims.memories for part in each.parts]
    inner = (each for part in parts if isinstance(part, Composition) for each in part.expressions)
    return [*(part.scale(STEP) for part in parts), *inner]


def _decays(claims: Claims) -> list[Expr]:
    return [decay for each in claims.memories for decay in each.channel.kernel.decays]


def _is_spelled(expression: Expr, printer: CoqPrinter) -> bool:
    try:
        printer.source(expression)
    except Unspelled:
        return False
    return True


def _present(value: Expr | Missing) -> Expr:
    assert isinstance(value, Expr), "asked only where it exists"
    return value
