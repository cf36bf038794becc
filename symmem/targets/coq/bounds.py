"""The limits as theorems: a number at step n, its limit as the engine prints it, and a geometric bound between them.

A delay of d steps sees all of its past from step d on: there the theorem begins, and the bound is one of step n + d.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sympy import Expr

from symmem.algebra.atoms import PAST, STEP
from symmem.algebra.limits import scalar_limit
from symmem.algebra.results import Missing
from symmem.derivation.gains import unsettled
from symmem.targets.coq.claims import UpdateTerm
from symmem.targets.coq.directions import Direction, directions
from symmem.targets.coq.fading import SIGN, Denominators, Fading, Powers, fading_terms, without_fading
from symmem.targets.coq.memories import history_value, known_sums
from symmem.targets.coq.proofs import Block, Proofs, lemma, theorem
from symmem.targets.coq.waiting import later

_M, _LIMIT = "M", "_limit"
BOUND_OF_M = _M + _LIMIT


def bounds(proofs: Proofs, printed: Expr | None, limit: Expr | None) -> list[Block]:
    """One theorem for every gain, sum and correction that depends on n and settles."""
    settled = unsettled(proofs.claims.method) is None
    return [*_gains(proofs), *_sums(proofs), *_correction(proofs, printed, limit)] if settled else []


def _gains(proofs: Proofs) -> Iterator[Block]:
    numbers = proofs.claims.method.numbers
    for held in proofs.claims.memories:
        place, limit = proofs.place(held), numbers.tidy(held.channel.kernel.limit_gain)
        steps = [f"rewrite gain{place}_closed."]
        yield from _bound(proofs, f"gain{place}", f"gain{place} {{}}".format, held.gain, limit, steps=steps)


def _sums(proofs: Proofs) -> Iterator[Block]:
    claims, terms = proofs.claims, proofs.claims.terms or ()
    for held in claims.summed:
        place, kernel = proofs.place(held), held.channel.kernel
        for column, term in enumerate(terms, start=1):
            settled = _settled(proofs, term)
            if not kernel.has_memory or settled is None:
                continue
            limit = claims.method.numbers.tidy(kernel.factorial_moment(1) * settled)
            known = known_sums(proofs, (column,))
            steps = [
                f"unfold weight{place}. rewrite ?past_plus_weight, ?past_times_weight, ?past_now{known}."
            ]
            subject = f"past (weight{place} {{0}}) (fun s => {proofs.real(term.scalar)}) {{0}}".format
            value = history_value(proofs, held, term)
            yield from _bound(proofs, f"sum{place}_{column}", subject, value, limit, steps=steps)


def _settled(proofs: Proofs, term: UpdateTerm) -> Expr | None:
    """The limit of a number of F; a decay that is a formula fades by assumption, which the ranges may not tell."""
    scalar = term.scalar.xreplace({PAST: STEP})
    found = scalar_limit(scalar, proofs.claims.method.numbers)
    return without_fading(scalar, _decays(proofs)) if isinstance(found, Missing) else found


def _decays(proofs: Proofs) -> frozenset[Expr]:
    return frozenset(decay for held in proofs.claims.memories for decay in held.channel.kernel.decays)


def _correction(proofs: Proofs, printed: Expr | None, limit: Expr | None) -> Iterator[Block]:
    """Where a vector knows the step, its Hessian is taken term by term: then the coefficients alone know it."""
    if printed is None or limit is None or proofs.claims.terms is None:
        return
    known = directions(proofs, (printed,))
    moving = any(STEP in each.vector.free_symbols for each in known)
    known, split = (known, directions(proofs, (printed, limit))) if moving else ((), ())
    settling = [each for each in split if limit.has(each.product)]
    value, settled = (_opened(formula, split) for formula in (printed, limit))
    by_terms = f"{_M}_terms" if known else f"{_M}_closed"
    found = list(
        _bound(
            proofs,
            _M,
            f"{_M} {{}} i".format,
            value,
            limit,
            steps=[
                f"rewrite {by_terms}.",
                *(each.step(proofs) for each in settling),
                *(["rewrite ?D2L_plus, ?D2L_times."] if settling else []),
            ],
            by_entry=True,
            closing=[proofs.assembled([value, settled])],
        )
    )
    if found and known:
        yield _by_terms(proofs, printed, value, known)
    yield from (each.lemma(proofs) for each in split[len(known) :] if found)
    yield from found


def _opened(formula: Expr, split: Sequence[Direction]) -> Expr:
    return formula.xreplace({each.product: each.opened for each in split})


def _by_terms(proofs: Proofs, printed: Expr, value: Expr, known: Sequence[Direction]) -> Block:
    return lemma(
        f"{_M}_terms",
        f"forall (n : nat) (i : entry),\n  {_M} n i = {proofs.real(value)}",
        [
            f"intros n i. {proofs.facts('n', 'i')} rewrite {_M}_closed.",
            *(each.step(proofs) for each in known),
            "rewrite ?D2L_plus, ?D2L_times.",
            proofs.assembled([printed, value]),
        ],
    )


def _bound(
    proofs: Proofs,
    name: str,
    subject: Callable[[str], str],
    value: Expr,
    limit: Expr,
    *,
    steps: Sequence[str],
    by_entry: bool = False,
    closing: Sequence[str] | None = None,
) -> Iterator[Block]:
    """``|subject - limit| <= C(n) rho^n`` for every rho from the slowest decay on; ``steps`` put the closed form in.

    ``subject`` is what has the limit, at a step.
    """
    start, at_later = later(value)
    terms = fading_terms(at_later, _decays(proofs))
    if terms is None or not (terms or start):
        return
    step = f"(n + {start})" if start else "n"
    difference = " + ".join(_difference(proofs, each) for each in terms) or "0"
    constant = " + ".join(
        f"Rabs {proofs.atom(each.factor)} * ({_above(proofs, each.below)})" for each in terms
    )
    binder = f"(n : nat){' (i : entry)' if by_entry else ''}"
    claim = f"{subject(step)} - {proofs.atom(limit)}"
    facts = [f"intros. {proofs.facts('n', 'i' if by_entry else '')}", *steps]
    ends = [*_waited(proofs, terms, start), *(closing or [proofs.closes(value, limit)])]
    if not terms:
        claim = f"{subject(step)} = {proofs.real(limit)}"
        yield theorem(f"{name}{_LIMIT}", f"forall {binder}, {claim}", [*facts, *ends])
        return
    decays = sorted({decay for term in terms for decay, _ in term.powers if decay != SIGN}, key=str)
    slowest = "".join(f"Rabs {proofs.atom(decay)} <= rho -> " for decay in decays)
    yield theorem(
        f"{name}{_LIMIT}",
        f"forall (rho : R) {binder}, {slowest}\n  Rabs ({claim})\n  <= ({constant}) * rho ^ n",
        [
            *facts,
            f"match goal with |- Rabs ?difference <= _ => replace difference with\n    ({difference}) end.",
            f"- change (fades ({difference}) ({constant}) (rho ^ n)). fade.",
            "- " + "\n    ".join(ends),
        ],
    )


def _waited(proofs: Proofs, terms: Sequence[Fading], start: int) -> list[str]:
    """What is known at a later step: how long the delays are, and that no denominator is zero there."""
    if not start:
        return []
    below = dict.fromkeys(base for term in terms for base, _ in term.below)
    return [
        *(
            f"pose proof (bias _ (n + {count - 1}) {proofs.fades(decay)}) as later{place}. powers_in later{place}."
            for place, (decay, count) in enumerate(below, start=1)
        ),
        "decided.",
    ]


def _difference(proofs: Proofs, term: Fading) -> str:
    powers = _nested([f"{proofs.atom(decay)} ^ n" for decay in _repeated(term.powers)])
    below = [
        f"/ (1 - {proofs.atom(decay)} ^ (n + {count}))"
        for (decay, count), times in term.below
        for _ in range(times)
    ]
    return f"{proofs.atom(term.factor)} * (({powers}) * ({_nested(below)}))"


def _above(proofs: Proofs, below: Denominators) -> str:
    return _nested(
        [f"/ (1 - Rabs {proofs.atom(decay)})" for (decay, _), times in below for _ in range(times)]
    )


def _repeated(powers: Powers) -> list[Expr]:
    return [decay for decay, count in powers for _ in range(count)]


def _nested(factors: list[str]) -> str:
    """``x * (y * 1)``: the shape that the tactic ``fade`` walks."""
    text = "1"
    for factor in reversed(factors):
        text = f"{factor} * {text if text == '1' else f'({text})'}"
    return text
