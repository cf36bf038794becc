"""The update and the correction as theorems: Phi of the sums of the definition against what the engine prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sympy import Add, Expr

from symmem.algebra.atoms import LR, PAST, STEP, contraction
from symmem.algebra.directional import slope_in
from symmem.targets.coq.claims import ChannelMemory
from symmem.targets.coq.directions import directions, expanded
from symmem.targets.coq.memories import history_number, history_value, summed_terms
from symmem.targets.coq.proofs import Block, Proofs, defined, lemma, theorem

_ALL = "forall (n : nat) (i : entry)"


def update(proofs: Proofs, printed: Expr) -> list[Block]:
    """F by its definition, Phi of the momentum variables, and as the engine prints it; then term by term."""
    phi, terms = proofs.claims.method.phi, proofs.claims.terms
    proofs.assert_formal(phi, printed, proofs.meanings([phi]))
    blocks = [
        defined(f"F (n : nat) (i : entry) : R := {proofs.real(phi)}"),
        theorem(
            "F_closed",
            f"{_ALL},\n  F n i = {proofs.real(printed)}",
            [
                f"intros n i. {proofs.facts('n', 'i')}",
                *proofs.frozen([phi]),
                "unfold F.",
                *proofs.put_in([phi], [printed]),
            ],
        ),
    ]
    if terms is not None:
        proofs.assert_formal(
            printed, Add(*(term.vector * term.scalar.xreplace({PAST: STEP}) for term in terms))
        )
        seen = [printed, *(term.vector for term in terms)]
        blocks.append(
            lemma(
                "F_terms",
                f"forall (s : nat) (i : entry),\n  F s i = {summed_terms(proofs, terms)}",
                [
                    f"intros s i. {proofs.facts('s', 'i')} rewrite F_closed.",
                    proofs.assembled(seen, "s"),
                ],
            )
        )
    return blocks


def correction(proofs: Proofs, printed: Expr) -> list[Block]:
    """``M = lr sum_l d_l Phi[Dg_l[S_l]]``, and as the engine prints it."""
    slopes = {held: slope_in(proofs.claims.method.phi, held.channel.symbol) for held in _remembering(proofs)}
    slopes = {held: slope for held, slope in slopes.items() if slope != 0 and held.slopes != (0, 0)}
    _assert_follows(proofs, printed, slopes)
    parts = [f"{proofs.atom(slope)} * ({_moved(proofs, held)})" for held, slope in slopes.items()]
    split = directions(proofs, (printed,))
    lemmas, steps = [each.lemma(proofs) for each in split], [each.step(proofs) for each in split]
    for held in slopes:
        if held.slopes[0] != 0:
            place, terms = proofs.place(held), proofs.claims.terms or ()
            values = {term.vector: history_number(proofs, held, term) for term in terms}
            steps.append(
                expanded(proofs, f"(fun i => history{place} n i)", f"history{place}_closed n", values)
            )
    if steps:
        steps.append("rewrite ?D2L_plus, ?D2L_times.")
    steps += [f"rewrite history{proofs.place(held)}_closed." for held in slopes if held.slopes[1] != 0]
    forms = [*slopes.values(), *(slope for held in slopes for slope in held.slopes)]
    return [
        *lemmas,
        defined(f"M (n : nat) (i : entry) : R :=\n  lr * ({' + '.join(parts) or '0'})"),
        theorem(
            "M_closed",
            f"{_ALL},\n  M n i = {proofs.real(printed)}",
            [
                f"intros n i. {proofs.facts('n', 'i')}",
                *proofs.frozen(slopes.values()),
                "unfold M.",
                *steps,
                *proofs.put_in(forms, [printed]),
            ],
        ),
    ]


def _assert_follows(proofs: Proofs, printed: Expr, slopes: Mapping[ChannelMemory, Expr]) -> None:
    """The algebra of the last step, with the Hessians of both sides term by term."""
    parts = []
    for held, slope in slopes.items():
        along, beside = held.slopes
        for term in proofs.claims.terms or ():
            number = history_value(proofs, held, term)
            parts.append(slope * number * (along * contraction(term.vector) + beside * term.vector))
    opened = {each.product: each.opened for each in directions(proofs, (printed,))}
    proofs.assert_formal(LR * Add(*parts), printed.xreplace(opened), proofs.meanings(slopes.values()))


def _remembering(proofs: Proofs) -> Iterator[ChannelMemory]:
    return (held for held in proofs.claims.memories if held.channel.kernel.has_memory)


def _moved(proofs: Proofs, held: ChannelMemory) -> str:
    """``Dg[S]`` of one memory."""
    place = proofs.place(held)
    ways = (f"D2L (fun i => history{place} n i) i", f"history{place} n i")
    return " + ".join(
        f"{proofs.atom(slope)} * {way}" for slope, way in zip(held.slopes, ways, strict=True) if slope != 0
    )
