"""The memories of a method as theorems: weights by their definition, gains, tails, and sums over the past."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sympy import Add, Expr

from symmem.algebra.atoms import PAST, STEP
from symmem.method.delay import Delay
from symmem.method.geometric import Geometric
from symmem.targets.coq.claims import ChannelMemory, UpdateTerm
from symmem.targets.coq.kernel_proofs import gain_steps, row, shape, shapes, summed_shapes
from symmem.targets.coq.kernels import has_name
from symmem.targets.coq.proofs import Block, Proofs, defined, theorem

_APART = "rewrite ?total_plus, ?total_times, ?total_geometric, ?total_now, ?total_late by lra."


def memory(proofs: Proofs, held: ChannelMemory) -> list[Block]:
    """The weights, the gain as their sum, and its closed form."""
    place = proofs.place(held)
    close = proofs.closes(held.gain, *(part.scale(STEP) for part in held.parts))
    weights = " + ".join(f"{proofs.atom(part.scale(STEP))} * {shape(proofs, part)}" for part in held.parts)
    return [
        defined(f"weight{place} (n k : nat) : R := {weights}"),
        defined(f"gain{place} (n : nat) : R := total (weight{place} n) (S n)"),
        theorem(
            f"gain{place}_closed",
            f"forall n : nat, gain{place} n = {proofs.real(held.gain)}",
            [
                f"intros n. {proofs.facts()}",
                f"unfold gain{place}, weight{place}. {_APART} {_gains(proofs, held)}{close}",
            ],
        ),
    ]


def _gains(proofs: Proofs, held: ChannelMemory) -> str:
    """Puts in the gains of memories of memories."""
    return "".join(f"{gain_steps(proofs, part.shape)} " for part in held.parts if has_name(part.shape))


def frozen_value(proofs: Proofs, held: ChannelMemory) -> Block:
    """The momentum variable on a constant history."""
    name, g = held.channel.symbol.name, proofs.atom(held.channel.g)
    return defined(f"{name} (n : nat) (i : entry) : R := gain{proofs.place(held)} n * {g}")


def tails(proofs: Proofs) -> list[Block]:
    """The weight of one past step, closed: by it a double sum over the past is a single one."""
    return [
        theorem(
            f"tail{place}_closed",
            f"forall n s : nat, (s < n)%nat ->\n  tail (fun k => {shape(proofs, each)}) n s "
            f"= {proofs.real(each.tail(STEP, PAST))}",
            [
                f"intros n s earlier. {proofs.facts()}",
                f"unfold tail. rewrite (total_ext _ (fun j => {proofs.atom(each.decay)} ^ (n - s) * "
                f"{proofs.atom(each.decay)} ^ j)) by (intros; apply pow_add).",
                f"rewrite total_times, total_geometric by lra. {proofs.closes()}",
            ],
        )
        for place, each in enumerate(shapes(proofs), start=1)
        if isinstance(each, Geometric) and not has_name(each)
    ]


def history(proofs: Proofs, held: ChannelMemory) -> list[Block]:
    """``S_l``, its factor included, by its definition; closed term by term, else as a single sum."""
    place, terms = proofs.place(held), proofs.claims.terms
    by_definition = defined(
        f"history{place} (n : nat) (i : entry) : R :=\n  past (weight{place} n) (fun s => {_past_update(proofs)}) n"
    )
    if terms is None:
        return [
            by_definition,
            *_seen_by_delay(proofs, held),
            theorem(
                f"history{place}_single",
                f"forall (n : nat) (i : entry),\n"
                f"  history{place} n i = total (fun s => tail (weight{place} n) n s * ({_past_update(proofs)})) n",
                [f"intros n i. unfold history{place}. apply past_single."],
            ),
        ]
    values = history_terms(proofs, held, terms)
    summed = summed_terms(proofs, terms)
    known = known_sums(proofs, range(1, len(terms) + 1))
    return [
        by_definition,
        theorem(
            f"history{place}_closed",
            f"forall (n : nat) (i : entry),\n  history{place} n i = {values}",
            [
                f"intros n i. unfold history{place}.",
                f"rewrite (past_ext (weight{place} n) (weight{place} n) (fun s => F s i) (fun s => {summed}) n);",
                "  [| reflexivity | intros s _; apply F_terms].",
                f"unfold weight{place}.",
                f"rewrite ?past_plus, ?past_times, ?past_plus_weight, ?past_times_weight, ?past_now{known}.",
                "ring.",
            ],
        ),
    ]


def _past_update(proofs: Proofs) -> str:
    """The step from theta_s, over lr; under a schedule, which may be any, with its rate."""
    return "F s i" if proofs.claims.method.rate is None else "rate s * F s i"


def _seen_by_delay(proofs: Proofs, held: ChannelMemory) -> list[Block]:
    """A delay of d steps sees the last d of them, each with the same weight."""
    part, place = held.parts[0], proofs.place(held)
    if len(held.parts) > 1 or not isinstance(part, Delay):
        return []
    return [
        theorem(
            f"history{place}_late",
            f"forall (n : nat) (i : entry),\n  history{place} n i = {proofs.atom(part.scale(STEP))} * "
            f"moved (fun s => {_past_update(proofs)}) n (Nat.min {part.steps} n)",
            [
                f"intros n i. unfold history{place}, weight{place}.",
                f"rewrite (past_times_weight _ (late {part.steps} n)), past_late. reflexivity.",
            ],
        )
    ]


def history_terms(proofs: Proofs, held: ChannelMemory, terms: Sequence[UpdateTerm]) -> str:
    """``S_l`` in closed form; 0, with no vector behind it, where nothing is remembered."""
    if not any(part.has_memory for part in held.parts):
        return "0"
    return " + ".join(
        f"({history_number(proofs, held, term)}) * {proofs.atom(term.vector)}" for term in terms
    )


def history_number(proofs: Proofs, held: ChannelMemory, term: UpdateTerm) -> str:
    """The number in front of one vector of ``S_l``."""
    parts = [
        f"{proofs.atom(part.scale(STEP))} * {proofs.atom(proofs.claims.past(part.shape, term))}"
        for part in held.parts
        if part.has_memory
    ]
    return " + ".join(parts) or "0"


def known_sums(proofs: Proofs, columns: Iterable[int]) -> str:
    """The theorems of these terms, to be rewritten with."""
    rows = [row(proofs, each) for each in summed_shapes(proofs)]
    return "".join(f", ?past{place}_{column}" for place in rows for column in columns)


def history_value(proofs: Proofs, held: ChannelMemory, term: UpdateTerm) -> Expr:
    """The same number as an expression."""
    parts = (part for part in held.parts if part.has_memory)
    return Add(*(part.scale(STEP) * proofs.claims.past(part.shape, term) for part in parts))


def summed_terms(proofs: Proofs, terms: tuple[UpdateTerm, ...]) -> str:
    """F at step s, term by term."""
    return " + ".join(f"{proofs.atom(term.vector)} * {proofs.atom(term.scalar)}" for term in terms)
