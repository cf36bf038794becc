"""Sums inside sums over the past, made of terms that add: where no closed form shows how (mathematics.md section 14).

Terms ``c h_{n-q}(x_0, .., x_q)`` with c >= 0 are closed under what such a sum is made of.  Summing adds a node,

    sum_{s<n} rho^(n-1-s) h_{s-q}(X) = h_{n-q-1}(X, rho),

and a product is a sum over paths in a grid: for ``u_i(n) = h_{n-i}(x_0..x_i)`` is ``u_i(n+1) = x_i u_i + u_{i-1}``, so
that the product of u_i and v_j goes on to itself with ``x_i y_j``, and comes from the left with y_j, from below with
x_i, from the corner with 1.  The worked example, with ``u_1 = h_{n-1}(1, b)`` and ``v_1 = h_{n-1}(1, c)``:

    u_1 v_1 = h_{n-1}(1, bc) + b h_{n-2}(1, b, bc) + c h_{n-2}(1, c, bc).
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Add, Expr, Symbol

from symmem.algebra.atoms import split_scalar, terms_of
from symmem.algebra.passes import distribute
from symmem.algebra.rational import Quotient, quotient
from symmem.derivation.nested_sums import Kind, Nested, NestedSums
from symmem.program.chains import Term, joined
from symmem.program.coefficients import written
from symmem.program.magnitude import Magnitudes, Rates
from symmem.program.signed_sums import with_content
from symmem.records import record
from symmem.work import checkpoint

Terms = tuple[Term, ...]


def computed(nested: NestedSums) -> Expr:
    """``F_2^(n)`` with the sums in the place of their marks."""
    field = nested.numbers.field
    made, sums = _Made(Magnitudes(field), {}), nested.sums()
    parts = []
    for term in terms_of(distribute(nested.F2)):
        scalar, vector = split_scalar(term)
        assert not vector.free_symbols & set(nested.marks), "a mark stands before its vector"
        element = field.read(scalar)
        assert element is not None, "the factors of a sum do not move with the step"
        for key, factor in _by_product(element, nested).items():
            if key in sums:  # others have the tail of a channel without memory, which is 0
                content, rest = with_content(list(made.sum(sums[key])), nested.numbers)
                parts.append(written(factor * content, field) * rest * vector)
    return Add(*parts)


def _by_product(element: Quotient, nested: NestedSums) -> dict[tuple[Symbol, ...], Quotient]:
    """The factor before every product of marks."""
    field = nested.numbers.field
    first = len(field.rationals.names) - len(field.constants)
    places = {first + field.constants.index(mark): mark for mark in nested.marks}
    rows: dict[tuple[Symbol, ...], dict[tuple[int, ...], int]] = {}
    for exponents, coefficient in element.numerator.to_dict().items():
        kept = tuple(0 if place in places else power for place, power in enumerate(exponents))
        key = tuple(mark for place, mark in places.items() if exponents[place])
        rows.setdefault(key, {})[kept] = coefficient
    polynomial = field.rationals.polynomial
    return {key: quotient(polynomial(row), element.denominator) for key, row in rows.items()}


@record(frozen=True)
class _Made:
    """The terms of the sums, each made once."""

    sizes: Magnitudes
    known: dict[Nested, Terms]

    def sum(self, nested: Nested) -> Terms:
        """The terms of one of the three sums."""
        if nested not in self.known:
            outer, second, third = nested.decays
            if nested.kind is Kind.FIRST:
                assert second is not None, "FIRST has a tail of m"
                found = self.seen(outer, self.seen(second, self.gain(third)))
            elif nested.kind is Kind.SAME:
                found = self.seen(outer, self.product(self.gain(second), self.gain(third)))
            else:
                found = self.weighted(
                    outer, self.product(self.gain(third), self.seen(outer, self.gain(second)))
                )
            self.known[nested] = tuple(joined(list(found), self.sizes))
        return self.known[nested]

    def gain(self, decay: Expr | None) -> Terms:
        """``A(n) = 1 + decay h_{n-1}(1, decay)``; 1 where there is no memory."""
        one, none = self.sizes.integer(1), (0,) * len(self.sizes.field.bases)
        first = Term(one, 0, (none,))
        if decay is None:
            return (first,)
        node = self._node(decay)
        return first, Term(self.sizes.value(node), 1, (none, node))

    def seen(self, decay: Expr, values: Terms) -> Terms:
        """``sum_{s<n} t(n, s) values(s)``, the tail ``t(n, s) = decay^(n-s) A(s)``."""
        return self.weighted(decay, self.product(self.gain(decay), values))

    def weighted(self, decay: Expr, values: Terms) -> Terms:
        """``sum_{s<n} decay^(n-s) values(s)``."""
        node = self._node(decay)
        factor = self.sizes.value(node)
        return tuple(Term(factor * each.coefficient, each.shift + 1, (*each.nodes, node)) for each in values)

    def product(self, left: Terms, right: Terms) -> Terms:
        """Of two sums, term by term; equal terms are added."""
        found: dict[tuple[Rates, ...], Term] = {}
        for one in left:
            for two in right:
                checkpoint("the sums over the past")
                for path in self._paths(one, two):
                    key = tuple(sorted(path.nodes))
                    old = found.get(key)
                    total = path.coefficient if old is None else old.coefficient + path.coefficient
                    found[key] = Term(total, path.shift, path.nodes if old is None else old.nodes)
        return tuple(found.values())

    def _paths(self, one: Term, two: Term) -> Iterator[Term]:
        """The product of two terms: a term for every path from (0, 0) to the corner of the grid of their nodes."""
        ends = len(one.nodes) - 1, len(two.nodes) - 1
        pending: list[tuple[tuple[int, int], Quotient, tuple[Rates, ...]]]
        pending = [((0, 0), one.coefficient * two.coefficient, (_times(one.nodes[0], two.nodes[0]),))]
        while pending:
            (i, j), weight, nodes = pending.pop()
            if (i, j) == ends:
                yield Term(weight, len(nodes) - 1, nodes)
            for di, dj, factor in ((1, 0, two.nodes[j]), (0, 1, one.nodes[i]), (1, 1, None)):
                if i + di <= ends[0] and j + dj <= ends[1]:
                    at = i + di, j + dj
                    value = weight if factor is None else weight * self.sizes.value(factor)
                    pending.append((at, value, (*nodes, _times(one.nodes[at[0]], two.nodes[at[1]]))))

    def _node(self, decay: Expr) -> Rates:
        return tuple(int(base == decay) for base in self.sizes.field.bases)


def _times(one: Rates, two: Rates) -> Rates:
    return tuple(a + b for a, b in zip(one, two, strict=True))
