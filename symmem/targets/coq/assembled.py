"""The theorems of an assembly: F by its vectors, the sums over the past, and M put together from them."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Add, Expr, Symbol

from symmem.algebra.atoms import PAST, STEP
from symmem.targets.comments import in_coq_comment
from symmem.targets.coq.assembly import Assembly
from symmem.targets.coq.kernel_proofs import sums
from symmem.targets.coq.memories import history, history_terms, history_value, summed_terms
from symmem.targets.coq.opening import HESSIAN
from symmem.targets.coq.proofs import Block, Proofs, defined, lemma, theorem


def variables(made: Assembly) -> tuple[str, ...]:
    """What the file does not look into: numbers, vectors, and linear maps."""
    opening = made.opening
    lines: list[str] = []
    for place, (head, symbol) in enumerate(opening.heads.items(), start=1):
        declared = f"head{place} : entry -> R" if symbol in opening.entries else f"number{place} : R"
        lines.append(f"Variable {declared}. {_meaning(head)}")
    for template, name in opening.maps.items():
        if name != HESSIAN:
            shown = template.xreplace({opening.direction: Symbol("v")})
            lines += [
                f"Variable {name} : (entry -> R) -> entry -> R. {_meaning(shown, 'of v, ')}",
                f"Hypothesis {name}_ext : forall u v, (forall i, u i = v i) -> forall i, {name} u i = {name} v i.",
                f"Hypothesis {name}_plus : forall u v i, {name} (fun i => u i + v i) i = {name} u i + {name} v i.",
                f"Hypothesis {name}_times : forall c v i, {name} (fun i => c * v i) i = c * {name} v i.",
            ]
    return tuple(lines)


def _meaning(formula: Expr, front: str = "") -> str:
    return f"(* {front}{in_coq_comment(str(formula))} *)"


def update(proofs: Proofs, made: Assembly) -> Iterator[Block]:
    """The vectors, and F by them."""
    terms = proofs.claims.terms or ()
    for place, vector in enumerate(made.vectors, start=1):
        yield defined(f"vector{place} (i : entry) : R := {proofs.real(vector)}")
    at_n = " + ".join(
        f"{proofs.atom(term.vector)} * {proofs.atom(term.scalar.xreplace({PAST: STEP}))}" for term in terms
    )
    yield defined(f"F (n : nat) (i : entry) : R := {at_n}")
    yield lemma(
        "F_terms", f"forall (s : nat) (i : entry),\n  F s i = {summed_terms(proofs, terms)}", ["reflexivity."]
    )


def past(proofs: Proofs, made: Assembly) -> Iterator[Block]:
    """The sums over the past, closed."""
    yield from sums(proofs, proofs.claims.terms or ())
    for each in made.sums:
        yield from history(proofs, each)


def correction(proofs: Proofs, made: Assembly) -> Iterator[Block]:
    """M by its sums, and as the engine prints it."""
    if made.assembled is None or made.printed is None:
        return
    yield defined(f"M (n : nat) (i : entry) : R :=\n  {proofs.real(made.assembled)}")
    proofs.assert_formal(made.assembled, made.printed, _meanings(proofs, made))
    seen = [made.assembled, made.printed, *made.vectors]
    places = range(1, len(made.vectors) + 1)
    yield theorem(
        "M_closed",
        f"forall (n : nat) (i : entry),\n  M n i = {proofs.real(made.printed)}",
        [
            f"intros n i. {proofs.facts('n', 'i')}",
            "unfold M.",
            *_expanded(proofs, made),
            *(f"change (vector{place} i) with ({proofs.real(made.vectors[place - 1])})." for place in places),
            proofs.assembled(seen),
        ],
    )


def _meanings(proofs: Proofs, made: Assembly) -> dict[Expr, Expr]:
    """What the proof puts in: the sums over the past and their images by vectors, and the vectors."""
    terms, memories = proofs.claims.terms or (), proofs.claims.memories
    found = {term.vector: vector for term, vector in zip(terms, made.vectors, strict=True)}
    for each in made.sums:
        parts = (history_value(proofs, each, term) * term.vector for term in terms)
        found[made.opening.history(proofs.place(each))] = Add(*parts)
    for symbol, (name, place) in made.opening.mapped.items():
        numbers = (history_value(proofs, memories[place - 1], term) for term in terms)
        images = (made.opening.image(name, column) for column in range(1, len(terms) + 1))
        found[symbol] = Add(*(number * image for number, image in zip(numbers, images, strict=True)))
    return found


def _expanded(proofs: Proofs, made: Assembly) -> Iterator[str]:
    """Every map of a sum over the past, term by term."""
    used = sorted(made.opening.mapped.values())
    for name, place in used:
        values = history_terms(proofs, proofs.claims.memories[place - 1], proofs.claims.terms or ())
        yield (
            f"rewrite ({name}_ext (fun i => history{place} n i)\n"
            f"    (fun i => {values}) (history{place}_closed n) i)."
        )
    for name in dict.fromkeys(name for name, _ in used):
        yield f"rewrite ?{name}_plus, ?{name}_times."
    for each in made.sums:
        yield f"rewrite ?history{proofs.place(each)}_closed."
