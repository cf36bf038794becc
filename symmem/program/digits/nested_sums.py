"""Sums inside sums over the past, made of terms that add: where no closed form shows how (mathematics.md section 14).

Terms ``c h_{n-q}(x_0, .., x_q)`` with c >= 0 are closed under what such a sum is made of.  Summing adds a node,

    sum_{s<n} rho^(n-1-s) h_{s-q}(X) = h_{n-q-1}(X, rho),

and a product is a sum over paths in a grid: for ``u_i(n) = h_{n-i}(x_0..x_i)`` is ``u_i(n+1) = x_i u_i + u_{i-1}``, so
that the product of u_i and v_j goes on to itself with ``x_i y_j``, and comes from the left with y_j, from below with
x_i, from the corner with 1.  The worked example, with ``u_1 = h_{n-1}(1, b)`` and ``v_1 = h_{n-1}(1, c)``:

    u_1 v_1 = h_{n-1}(1, bc) + b h_{n-2}(1, b, bc) + c h_{n-2}(1, c, bc).

A memory rho around a path p sees what the path has seen, and the whole gain of the path up to the step:

    A_{rho p}(n) = sum_{r<=n} rho^(n-r) A_p(r)
    t_{rho p}(n, s) = sum_{s<r<=n} rho^(n-r) t_p(r, s) + rho^(n-s) A_{rho p}(s)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from sympy import Add, Expr, Symbol

from symmem.algebra.atoms import LR, split_scalar, terms_of
from symmem.algebra.passes import distribute
from symmem.algebra.rational import Quotient, quotient
from symmem.derivation.nested_sums import Nested, NestedSums, Path, SumKind
from symmem.program.digits.chains import CompleteTerm, joined
from symmem.program.digits.coefficients import written
from symmem.program.digits.magnitude import Magnitudes, Rates
from symmem.program.digits.signed_sums import with_content
from symmem.records import record
from symmem.work import checkpoint

Terms = tuple[CompleteTerm, ...]


def computed(nested: NestedSums) -> Expr:
    """The part of ``M^(n)``, with the sums in the place of their marks."""
    field = nested.numbers.field
    made = _Made(Magnitudes(field), {})
    parts = []
    for term in terms_of(distribute(nested.coefficient)):
        scalar, vector = split_scalar(term)
        assert not vector.free_symbols & set(nested.marks), "a mark stands before its vector"
        element = field.read(scalar)
        assert element is not None, "the factors of a sum do not move with the step"
        for key, factor in _by_product(element, nested).items():
            if key in nested.sums:  # others have the tail of a channel without memory, which is 0
                content, rest = with_content(list(made.sum(nested.sums[key])), nested.numbers)
                parts.append(written(factor * content, field) * rest * vector)
    return LR**nested.order * Add(*parts)


def _by_product(element: Quotient, nested: NestedSums) -> dict[frozenset[Symbol], Quotient]:
    """The factor before every product of marks."""
    field = nested.numbers.field
    first = len(field.rationals.names) - len(field.constants)
    places = {first + field.constants.index(mark): mark for mark in nested.marks}
    rows: dict[frozenset[Symbol], dict[tuple[int, ...], int]] = {}
    for exponents, coefficient in element.numerator.to_dict().items():
        kept = tuple(0 if place in places else power for place, power in enumerate(exponents))
        key = frozenset(mark for place, mark in places.items() if exponents[place])
        rows.setdefault(key, {})[kept] = coefficient
    polynomial = field.rationals.polynomial
    return {key: quotient(polynomial(row), element.denominator) for key, row in rows.items()}


@record(frozen=True)
class _Made:
    """The terms of the sums, each made once."""

    sizes: Magnitudes
    known: dict[Nested, Terms]

    def sum(self, nested: Nested) -> Terms:
        """The terms of one of the sums."""
        if nested not in self.known:
            outer, second, *last = nested.paths
            gains = [self.gain(path) for path in last]
            if nested.kind is SumKind.ALONE:
                found = self.seen(outer, self.gain(second))
            elif nested.kind is SumKind.FIRST:
                found = self.seen(outer, self.seen(second, *gains))
            elif nested.kind is SumKind.SAME:
                found = self.seen(outer, self.product(self.gain(second), *gains))
            else:
                found = self.later(outer, self.gain(second), *gains)
            self.known[nested] = tuple(joined(list(self._added(found)), self.sizes))
        return self.known[nested]

    def gain(self, path: Path) -> Terms:
        """``A(n)``, that of one memory ``1 + decay h_{n-1}(1, decay)``; 1 where there is no memory."""
        none = (0,) * len(self.sizes.field.bases)
        found: Terms = (CompleteTerm(self.sizes.integer(1), 0, (none,)),)
        for decay in path:
            found = self.remembered(decay, found)
        return found

    def seen(self, path: Path, values: Terms) -> Terms:
        """``sum_{s<n} t(n, s) values(s)``."""
        found: Terms = ()
        for end, decay in enumerate(path, start=1):
            now = self.weighted(decay, self.product(self.gain(path[:end]), values))
            found = self._added((*self.remembered(decay, found), *now))
        return found

    def later(self, path: Path, first: Terms, then: Terms) -> Terms:
        """``sum_{s<r<n} t(n, s) first(s) then(r)``."""
        found: Terms = ()
        for end, decay in enumerate(path, start=1):
            now = self.weighted(decay, self.product(then, self.seen(path[:end], first)))
            found = self._added((*self.remembered(decay, found), *now))
        return found

    def remembered(self, decay: Expr, values: Terms) -> Terms:
        """``sum_{s<=n} decay^(n-s) values(s)``."""
        return self._added((*values, *self.weighted(decay, values)))

    def weighted(self, decay: Expr, values: Terms) -> Terms:
        """``sum_{s<n} decay^(n-s) values(s)``."""
        node = self._node(decay)
        factor = self.sizes.value(node)
        return tuple(
            CompleteTerm(factor * each.coefficient, each.shift + 1, (*each.nodes, node)) for each in values
        )

    def product(self, left: Terms, right: Terms) -> Terms:
        """Of two sums, term by term."""
        pairs = product(left, right)
        return self._added(path for one, two in pairs for path in self._paths(one, two))

    def _added(self, given: Iterable[CompleteTerm]) -> Terms:
        """Equal terms as one; not joined, so that each keeps one node more than its shift."""
        found: dict[tuple[Rates, ...], CompleteTerm] = {}
        for term in given:
            checkpoint("the sums over the past")
            nodes = tuple(sorted(term.nodes))
            total = term.coefficient + found[nodes].coefficient if nodes in found else term.coefficient
            found[nodes] = CompleteTerm(total, term.shift, nodes)
        return tuple(found.values())

    def _paths(self, one: CompleteTerm, two: CompleteTerm) -> Iterator[CompleteTerm]:
        """The product of two terms: a term for every path from (0, 0) to the corner of the grid of their nodes."""
        ends = len(one.nodes) - 1, len(two.nodes) - 1
        pending: list[tuple[tuple[int, int], Quotient, tuple[Rates, ...]]]
        pending = [((0, 0), one.coefficient * two.coefficient, (_times(one.nodes[0], two.nodes[0]),))]
        while pending:
            (i, j), weight, nodes = pending.pop()
            if (i, j) == ends:
                yield CompleteTerm(weight, len(nodes) - 1, nodes)
            for di, dj, factor in ((1, 0, two.nodes[j]), (0, 1, one.nodes[i]), (1, 1, None)):
                if i + di <= ends[0] and j + dj <= ends[1]:
                    at = i + di, j + dj
                    value = weight if factor is None else weight * self.sizes.value(factor)
                    pending.append((at, value, (*nodes, _times(one.nodes[at[0]], two.nodes[at[1]]))))

    def _node(self, decay: Expr) -> Rates:
        return tuple(int(base == decay) for base in self.sizes.field.bases)


def _times(one: Rates, two: Rates) -> Rates:
    return tuple(a + b for a, b in zip(one, two, strict=True))
