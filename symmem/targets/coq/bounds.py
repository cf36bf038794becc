"""The limits as theorems: a number at step n, its limit as the engine prints it, and a geometric bound between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sympy import Expr, preorder_traversal

from symmem.algebra.atoms import PAST, STEP, is_contraction
from symmem.algebra.limits import scalar_limit
from symmem.algebra.results import Missing
from symmem.derivation.gains import unsettled
from symmem.targets.coq.claims import Term
from symmem.targets.coq.fading import Fading, Powers, fading_terms
from symmem.targets.coq.memories import history_value, known_sums
from symmem.targets.coq.proofs import Block, Proofs, theorem

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
        yield from _bound(proofs, f"gain{place}", f"gain{place} n", held.gain, limit, steps=steps)


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
            subject = f"past (weight{place} n) (fun s => {proofs.real(term.scalar)}) n"
            value = history_value(proofs, held, term)
            yield from _bound(proofs, f"sum{place}_{column}", subject, value, limit, steps=steps)


def _settled(proofs: Proofs, term: Term) -> Expr | None:
    found = scalar_limit(term.scalar.xreplace({PAST: STEP}), proofs.claims.method.numbers)
    return None if isinstance(found, Missing) else found


def _correction(proofs: Proofs, printed: Expr | None, limit: Expr | None) -> Iterator[Block]:
    """Where no vector in M knows the step: its coefficients alone do."""
    if printed is None or limit is None or proofs.claims.terms is None:
        return
    if any(is_contraction(part) and STEP in part.free_symbols for part in preorder_traversal(printed)):
        return
    closing = proofs.squares([printed, limit])
    yield from _bound(
        proofs, _M, "M n i", printed, limit, steps=["rewrite M_closed."], by_entry=True, closing=closing
    )


def _bound(
    proofs: Proofs,
    name: str,
    subject: str,
    value: Expr,
    limit: Expr,
    *,
    steps: Sequence[str],
    by_entry: bool = False,
    closing: Sequence[str] | None = None,
) -> Iterator[Block]:
    """``|subject - limit| <= C(n) rho^n`` for every rho from the slowest decay on; ``steps`` put the closed form in."""
    terms = fading_terms(
        value, frozenset(d for held in proofs.claims.memories for d in held.channel.kernel.decays)
    )
    if not terms:
        return
    decays = sorted({decay for term in terms for decay, _ in term.powers}, key=str)
    slowest = "".join(f"Rabs {proofs.atom(decay)} <= rho -> " for decay in decays)
    difference = " + ".join(_difference(proofs, each) for each in terms)
    constant = " + ".join(
        f"Rabs {proofs.atom(each.factor)} * ({_above(proofs, each.below)})" for each in terms
    )
    yield theorem(
        f"{name}{_LIMIT}",
        f"forall (rho : R) (n : nat){' (i : entry)' if by_entry else ''}, {slowest}\n"
        f"  Rabs ({subject} - {proofs.atom(limit)})\n  <= ({constant}) * rho ^ n",
        [
            f"intros. {proofs.facts('n', 'i' if by_entry else '')}",
            *steps,
            f"match goal with |- Rabs ?d <= _ => replace d with\n    ({difference}) end.",
            f"- change (fades ({difference}) ({constant}) (rho ^ n)). fade.",
            "- " + "\n    ".join(closing or [proofs.closes]),
        ],
    )


def _difference(proofs: Proofs, term: Fading) -> str:
    powers = _nested([f"{proofs.atom(decay)} ^ n" for decay in _repeated(term.powers)])
    below = _nested([f"/ (1 - {proofs.atom(decay)} ^ (n + 1))" for decay in _repeated(term.below)])
    return f"{proofs.atom(term.factor)} * (({powers}) * ({below}))"


def _above(proofs: Proofs, below: Powers) -> str:
    return _nested([f"/ (1 - Rabs {proofs.atom(decay)})" for decay in _repeated(below)])


def _repeated(powers: Powers) -> list[Expr]:
    return [decay for decay, count in powers for _ in range(count)]


def _nested(factors: list[str]) -> str:
    """``x * (y * 1)``: the shape that the tactic ``fade`` walks."""
    text = "1"
    for factor in reversed(factors):
        text = f"{factor} * {text if text == '1' else f'({text})'}"
    return text
