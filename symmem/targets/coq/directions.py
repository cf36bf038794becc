"""The Hessian along a vector of several terms: the vector term by term, and with it the product, which is linear.

D2L(a(n) u + b(n) v) = a(n) D2L(u) + b(n) D2L(v)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sympy import Add, Expr, S, preorder_traversal

from symmem.algebra.atoms import contraction, is_contraction, split_scalar, terms_of
from symmem.algebra.passes import collect, distribute
from symmem.records import record
from symmem.targets.coq.proofs import Block, Proofs, lemma


@record(frozen=True)
class Direction:
    """``D2L(vector)`` as a formula has it, and the vector by its terms: each with its number in front."""

    name: str
    product: Expr
    terms: Mapping[Expr, Expr]

    @property
    def vector(self) -> Expr:
        """Along which the Hessian is taken."""
        (vector,) = self.product.args
        return vector

    @property
    def opened(self) -> Expr:
        """The product, term by term."""
        return Add(*(number * contraction(each) for each, number in self.terms.items()))

    def lemma(self, proofs: Proofs) -> Block:
        """The vector is the sum of its terms."""
        return lemma(
            self.name,
            f"forall (n : nat) (i : entry),\n  {proofs.real(self.vector)} = {combined(proofs, self._values(proofs))}",
            [f"intros n i. {proofs.facts('n', 'i')}", proofs.assembled([self.vector, *self.terms])],
        )

    def step(self, proofs: Proofs) -> str:
        """Puts the terms into the product."""
        vector = f"(fun i => {proofs.real(self.vector)})"
        return expanded(proofs, vector, f"{self.name} n", self._values(proofs))

    def _values(self, proofs: Proofs) -> dict[Expr, str]:
        return {each: proofs.real(number) for each, number in self.terms.items()}


def directions(proofs: Proofs, formulas: Iterable[Expr]) -> tuple[Direction, ...]:
    """For every ``D2L(v)`` of the formulas, one after the other, where v is no term of the update itself."""
    claims = proofs.claims
    known = {term.vector for term in claims.terms or ()}
    found: dict[Expr, Direction] = {}
    for formula in formulas:
        for atom in sorted(set(filter(is_contraction, preorder_traversal(formula))), key=str):
            (vector,) = atom.args
            if vector in known or atom in found:
                continue
            terms: dict[Expr, Expr] = {}
            for part in terms_of(distribute(collect(vector, claims.method.numbers))):
                scalar, rest = split_scalar(part)
                terms[rest] = terms.get(rest, S.Zero) + scalar
            found[atom] = Direction(f"direction{len(found) + 1}", atom, terms)
    return tuple(found.values())


def expanded(proofs: Proofs, vector: str, proof: str, values: Mapping[Expr, str]) -> str:
    """The Hessian along a vector, term by term."""
    return f"rewrite (D2L_ext {vector}\n    (fun i => {combined(proofs, values)}) ({proof}) i)."


def combined(proofs: Proofs, values: Mapping[Expr, str]) -> str:
    """The sum of the terms, each behind its number."""
    return " + ".join(f"({value}) * {proofs.atom(vector)}" for vector, value in values.items())
