"""Theorems of the memories of a file: their weights add up to the gain, their sums over the past close.

A memory of a memory follows from what it remembers: with b the outer decay and y the inner memory

    gain(n + 1) = b gain(n) + gain_y(n + 1),      S(n + 1) = b (S(n) + gain(n) F^(n)) + S_y(n + 1).

A memory of what was remembered one step ago is the inner one, one step earlier.
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr

from symmem.algebra.atoms import PAST, STEP
from symmem.method.composition import Composition
from symmem.method.delay import Delay
from symmem.method.geometric import Geometric
from symmem.method.kernel import Kernel
from symmem.targets.coq.claims import UpdateTerm
from symmem.targets.coq.kernels import has_name, shapes_of, summed_of
from symmem.targets.coq.proofs import Block, Proofs, defined, theorem


def shapes(proofs: Proofs) -> tuple[Kernel, ...]:
    """The memories without their factors, each once, inner ones first."""
    return shapes_of(part for held in proofs.claims.memories for part in held.parts)


def summed_shapes(proofs: Proofs) -> tuple[Kernel, ...]:
    """Those whose sums over the past are stated."""
    return summed_of(part for held in proofs.claims.summed for part in held.parts)


def row(proofs: Proofs, kernel: Kernel) -> int:
    """The number of a memory among these, from 1."""
    return shapes(proofs).index(kernel) + 1


def shape(proofs: Proofs, part: Kernel) -> str:
    """The weight of the value k steps ago at step n, without the factor of a memory that stands alone."""
    if isinstance(part, Composition):
        return f"kernel{row(proofs, part.shape)} n k"
    if isinstance(part, Delay):
        return f"late {part.steps} n k"
    return f"{proofs.atom(part.decay)} ^ k" if isinstance(part, Geometric) else "now k"


def weights(proofs: Proofs, kernel: Kernel) -> str:
    """The weights at step n, as a function of k."""
    if has_name(kernel):
        return f"(kernel{row(proofs, kernel)} n)"
    return f"(late {kernel.steps} n)" if isinstance(kernel, Delay) else f"(fun k => {shape(proofs, kernel)})"


def _function(proofs: Proofs, kernel: Kernel, lag: str = "j") -> str:
    """The weights as a function of the step and the lag."""
    if has_name(kernel):
        return f"kernel{row(proofs, kernel)}"
    if isinstance(kernel, Delay):
        return f"(late {kernel.steps})"
    assert isinstance(kernel, Geometric), "no other memory has another inside"
    return f"(fun _ {lag} => {proofs.atom(kernel.decay)} ^ {lag})"


def named(proofs: Proofs) -> list[Block]:
    """Every memory of a memory by its definition, and its gain."""
    return [block for each in shapes(proofs) if has_name(each) for block in _defined(proofs, each)]


def _defined(proofs: Proofs, kernel: Kernel) -> Iterator[Block]:
    place = row(proofs, kernel)
    if isinstance(kernel, Composition):
        yield defined(f"kernel{place} : nat -> nat -> R := {_after(proofs, kernel)}")
    else:
        yield defined(
            f"kernel{place} (n k : nat) : R := {proofs.atom(kernel.scale(STEP))} * {shape(proofs, kernel)}"
        )
    yield theorem(
        f"kernel{place}_gain",
        f"forall n : nat, total (kernel{place} n) (S n) = {proofs.real(_gain(proofs, kernel))}",
        _gain_proof(proofs, kernel),
    )


def _gain(proofs: Proofs, kernel: Kernel) -> Expr:
    return proofs.claims.method.numbers.tidy(kernel.gain(STEP))


def _after(proofs: Proofs, kernel: Composition) -> str:
    return f"after {_function(proofs, kernel.outer, 'k')} {_function(proofs, kernel.inner)}"


def gain_steps(proofs: Proofs, kernel: Kernel) -> str:
    """The tactic that puts in the sum of the weights of a memory."""
    if has_name(kernel):
        return f"rewrite ?kernel{row(proofs, kernel)}_gain."
    return "rewrite ?total_late." if isinstance(kernel, Delay) else "rewrite ?total_geometric by lra."


def _gain_proof(proofs: Proofs, kernel: Kernel) -> list[str]:
    ends = proofs.closes(_gain(proofs, kernel), *kernel.expressions)
    name, close = f"kernel{row(proofs, kernel)}", f"counted. {ends}"
    if not isinstance(kernel, Composition):
        inner = gain_steps(proofs, kernel.shape)
        return [f"intros n. {proofs.facts()}", f"unfold {name}. rewrite total_times. {inner} {close}"]
    inner, whole = gain_steps(proofs, kernel.inner), _after(proofs, kernel)
    if isinstance(kernel.outer, Delay):
        return [
            f"intros n. {proofs.facts()}",
            f"unfold {name}. rewrite total_after_late. cbv beta. {inner}",
            f"destruct n as [|n]; counted; {ends}",
        ]
    return [
        "induction n as [|n known].",
        f"- {proofs.facts('')} unfold {name}. rewrite total_after_start. cbv beta. {inner} {close}",
        f"- {proofs.facts()} change ({name} (S n)) with ({whole} (S n)). rewrite total_after.",
        f"  change ({whole}) with {name}. cbv beta. rewrite known. {inner} {close}",
    ]


def sums(proofs: Proofs, terms: tuple[UpdateTerm, ...]) -> list[Block]:
    """``past_r_c``: the double sum of one memory and one term of F, closed."""
    return [
        theorem(
            f"past{row(proofs, each)}_{column}",
            f"forall n : nat,\n  past {weights(proofs, each)} (fun s => {proofs.real(term.scalar)}) n\n"
            f"  = {proofs.real(proofs.claims.past(each, term))}",
            _past_proof(proofs, each, term, column),
        )
        for each in summed_shapes(proofs)
        for column, term in enumerate(terms, start=1)
    ]


def _past_proof(proofs: Proofs, kernel: Kernel, term: UpdateTerm, column: int) -> list[str]:
    used = proofs.claims.past(kernel, term), term.scalar, *kernel.expressions
    close = proofs.closes(*used)
    if isinstance(kernel, Geometric) and not has_name(kernel):
        return [
            "induction n as [|n known].",
            f"- {proofs.facts('')} unfold past, moved. simpl total. {close}",
            f"- {proofs.facts()} rewrite past_geometric, known, total_geometric by lra. {close}",
        ]
    if isinstance(kernel, Delay) and not has_name(kernel):
        if PAST not in term.scalar.free_symbols:
            return [f"intros n. {proofs.facts()}", f"rewrite past_late, moved_constant. {close}"]
        return [f"intros n. {proofs.facts()}", "rewrite past_late.", *_one_step(close)]
    name = f"kernel{row(proofs, kernel)}"
    if not isinstance(kernel, Composition):
        known = f"past{row(proofs, kernel.shape)}_{column}"
        return [f"intros n. {proofs.facts()}", f"unfold {name}. rewrite past_times_weight, {known}. {close}"]
    inner, whole = _inner_past(proofs, kernel.inner, column), _after(proofs, kernel)
    if isinstance(kernel.outer, Delay):
        return [
            f"intros n. {proofs.facts()}",
            f"unfold {name}. rewrite past_after_late. cbv beta. rewrite {inner}. {gain_steps(proofs, kernel.inner)}",
            *_one_step(close),
        ]
    return [
        "induction n as [|n known].",
        f"- {proofs.facts('')} rewrite past_start. counted. {close}",
        f"- {proofs.facts()} change ({name} (S n)) with ({whole} (S n)). rewrite past_after.",
        f"  change ({whole}) with {name}. cbv beta. rewrite known, {name}_gain, {inner}. counted. {close}",
    ]


def _inner_past(proofs: Proofs, inner: Kernel, column: int) -> str:
    """What is rewritten with, at step n + 1: the sum of the inner memory, of one step ago where it is that old."""
    if isinstance(inner, Delay):
        return "past_late. counted. rewrite moved_once"
    if isinstance(inner, Composition) and isinstance(inner.outer, Delay):
        older, name = inner.inner, f"kernel{row(proofs, inner)}"
        return (
            f"(past_after_late 1 {_function(proofs, older)} _ (S n) : past ({name} (S n)) _ (S n) = _). counted. "
            f"cbv beta. rewrite past{row(proofs, older)}_{column}. {gain_steps(proofs, older)} rewrite moved_once"
        )
    return f"past{row(proofs, inner)}_{column}"


def _one_step(close: str) -> list[str]:
    """A delay of one step: there is no past at first, then the step before."""
    return [f"destruct n as [|n]; counted; [change (moved _ 0 0) with 0 | rewrite moved_once]; {close}"]
