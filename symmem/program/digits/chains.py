"""An exponential polynomial as a sum of complete homogeneous polynomials, in which nothing cancels.

With the shift ``(T E)(n) = E(n+1)`` and ``E' = (T - rho) E``, which has the node rho once less,

    E(n) = E(0) rho^n + sum_{s<n} rho^(n-1-s) E'(s),

and a sum ``sum_{s<n} rho^(n-1-s) h_{s-k}(X)`` is ``h_{n-k-1}(X, rho)``: node by node E falls apart into terms
``c h_{n-k}(nodes)`` (mathematics.md section 14).  Where the c have one sign the h of decays add up without a loss.  The
operators commute, so that what is left depends on which nodes were taken, not on their order: the paths are those of a
small lattice, and the best one is found on it.  The worked example, ``A(n) = (1 - b^(n+1))/(1 - b)`` with itself:

    sum_{s<n} b^(n-s) A(s)^2 = b h_{n-1}(1, b, b^2) + 2 b^2 h_{n-2}(1, b, b, b^2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property, reduce
from heapq import heappop, heappush
from itertools import count
from math import comb
from operator import mul

from symmem.algebra.factored import irreducible_factors
from symmem.algebra.rational import Quotient, quotient
from symmem.program.digits.coefficients import is_difference
from symmem.program.digits.coefficients import sign as sign_of
from symmem.program.digits.magnitude import Magnitudes, Rates
from symmem.records import record
from symmem.work import checkpoint

MOST_NODES, MOST_NODES_OF_MANY = 12, 8
"""Beyond it a closed form is left as it is.  Two decays have no more nodes in a sum of first order, over a memory of a
memory too; from three decays on coefficients are too long to be searched."""
MOST_DEAD_ENDS, MOST_PLACES = 64, 256
"""So far the lattice is searched: a sum with a path of one sign shows it early, one without shows it nowhere."""
Coefficients = dict[tuple[Rates, int], Quotient]
"""``c`` of each ``c n^degree prod base^(rate n)``, by rates and degree."""


@record(frozen=True)
class CompleteTerm:
    """``coefficient * h_{n - shift}(nodes)``; the nodes in order, each by its rates."""

    coefficient: Quotient
    shift: int
    nodes: tuple[Rates, ...]


@record(frozen=True)
class ExponentialPolynomial:
    """``E(n)``; the values of its nodes are those of the field it lives in."""

    coefficients: Coefficients
    magnitudes: Magnitudes

    @cached_property
    def nodes(self) -> dict[Rates, int]:
        """The nodes with their multiplicities."""
        found: dict[Rates, int] = {}
        for rates, degree in self.coefficients:
            found[rates] = max(found.get(rates, 0), degree + 1)
        return found

    @cached_property
    def first(self) -> Quotient:
        """``E(0)``."""
        total = self.magnitudes.zero
        for (_, degree), value in self.coefficients.items():
            total = total if degree else total + value
        return total

    @property
    def next_values(self) -> tuple[Quotient, Quotient]:
        """``E(1)`` and ``E(2)``."""
        found = []
        for step in (1, 2):
            total = self.magnitudes.zero
            for (rates, degree), value in self.coefficients.items():
                weight = self.magnitudes.integer(step**degree)
                total = total + value * weight * self.magnitudes.value(rates) ** step
            found.append(total)
        return found[0], found[1]

    def without(self, node: Rates) -> ExponentialPolynomial:
        """``(T - node) E``."""
        found: Coefficients = {}
        rho = self.magnitudes.value(node)
        for (rates, degree), value in self.coefficients.items():
            moved = value * self.magnitudes.value(rates)
            for lower in range(degree + 1):
                part = moved * self.magnitudes.integer(comb(degree, lower))
                if lower == degree:
                    part = part - rho * value
                known = found.get((rates, lower))
                found[rates, lower] = part if known is None else known + part
        kept = {place: value for place, value in found.items() if not value.is_zero()}
        return ExponentialPolynomial(kept, self.magnitudes)

    @property
    def is_long(self) -> bool:
        """Whether it has too many nodes to be searched."""
        decays = sum(map(any, zip(*self.nodes, strict=True)))
        return sum(self.nodes.values()) > (MOST_NODES if decays < 3 else MOST_NODES_OF_MANY)

    @property
    def is_plain(self) -> bool:
        """Whether it is a sum of pure powers."""
        return all(degree == 0 for _, degree in self.coefficients)


def one_signed(polynomial: ExponentialPolynomial) -> list[CompleteTerm] | None:
    """Terms whose coefficients are all >= 0 or all <= 0 for decays in [0, 1]; None where no path has such."""
    found = _either_path(polynomial)
    if found is not None:
        return joined(found, polynomial.magnitudes)
    shared = _shared(polynomial)
    return None if shared is None else _beside(shared, polynomial)


def _shared(polynomial: ExponentialPolynomial) -> Quotient | None:
    """The differences of two decays that divide the first values; None where there are none.

    ``b^(n+1) - a^(n+1)`` has either sign, and is ``(b - a) h_n(a, b)``.
    """
    values = [each.numerator for each in (polynomial.first, *polynomial.next_values) if not each.is_zero()]
    common = reduce(lambda one, other: one.gcd(other), values) if values else None
    if common is None or common.is_constant():
        return None
    one = polynomial.magnitudes.integer(1)
    factors = [
        quotient(factor, one.numerator) ** power
        for factor, power in irreducible_factors(common)[1]
        if is_difference(factor)
    ]
    return reduce(mul, factors) if factors else None


def _beside(shared: Quotient, polynomial: ExponentialPolynomial) -> list[CompleteTerm] | None:
    """The terms of one sign of what is left beside a factor that has none, with the factor in each."""
    left = {place: value / shared for place, value in polynomial.coefficients.items()}
    found = _either_path(ExponentialPolynomial(left, polynomial.magnitudes))
    if found is None:
        return None
    terms = joined(found, polynomial.magnitudes)
    return [replace(term, coefficient=term.coefficient * shared) for term in terms]


def _either_path(polynomial: ExponentialPolynomial) -> list[CompleteTerm] | None:
    """A path of coefficients >= 0, or one of coefficients <= 0."""
    for sign in (1, -1):
        found = _path(polynomial, sign, (), {})
        if found is not None:
            return found
    return None


def _path(
    rest: ExponentialPolynomial, sign: int, taken: tuple[Rates, ...], dead: dict[tuple[Rates, ...], bool]
) -> list[CompleteTerm] | None:
    """The terms of what is left behind the nodes that were taken, all of the sign; ``dead`` remembers dead ends."""
    checkpoint("the sums over the past")
    if rest.is_plain and all(sign_of(value) == sign for value in rest.coefficients.values()):
        return list(_plain(rest, taken))
    key = tuple(sorted(taken))
    if (
        key in dead
        or len(dead) >= MOST_DEAD_ENDS
        or (not rest.first.is_zero() and sign_of(rest.first) != sign)
    ):
        return None
    for node in _ordered(rest):
        behind = _path(rest.without(node), sign, (*taken, node), dead)
        if behind is not None:
            return [*_opening(rest, taken, node), *behind]
    dead[key] = True
    return None


def _ordered(rest: ExponentialPolynomial) -> list[Rates]:
    """What stands outermost in a sum over the past first: a repeated node, then 1, then products."""
    return sorted(rest.nodes, key=lambda node: (-rest.nodes[node], sum(node) > 0, -sum(node), node))


def _opening(rest: ExponentialPolynomial, taken: tuple[Rates, ...], node: Rates) -> Iterator[CompleteTerm]:
    if not rest.first.is_zero():
        yield CompleteTerm(rest.first, len(taken), tuple(sorted((*taken, node))))


def _plain(rest: ExponentialPolynomial, taken: tuple[Rates, ...]) -> Iterator[CompleteTerm]:
    for (rates, _), value in rest.coefficients.items():
        yield CompleteTerm(value, len(taken), tuple(sorted((*taken, rates))))


def least(polynomial: ExponentialPolynomial) -> list[CompleteTerm] | None:
    """The terms whose absolute values add up to the least, on a set of sample points: the cheapest path."""
    sizes, order = polynomial.magnitudes, count()
    waiting: list[tuple[float, int, ExponentialPolynomial, tuple[Rates, ...], list[CompleteTerm], bool]] = []
    heappush(waiting, (0.0, next(order), polynomial, (), [], False))
    seen: set[tuple[Rates, ...]] = set()
    while waiting and len(seen) < MOST_PLACES:
        checkpoint("the sums over the past")
        cost, _, rest, taken, terms, done = heappop(waiting)
        if done:
            return joined(terms, sizes)
        key = tuple(sorted(taken))
        if key in seen:
            continue
        seen.add(key)
        if rest.is_plain:
            ends = list(_plain(rest, taken))
            heappush(waiting, (cost + _size(ends, sizes), next(order), rest, taken, terms + ends, True))
        for node in _ordered(rest):
            opening = list(_opening(rest, taken, node))
            total = cost + _size(opening, sizes)
            after = rest.without(node)
            heappush(waiting, (total, next(order), after, (*taken, node), terms + opening, False))
    return None


def _size(terms: Iterable[CompleteTerm], sizes: Magnitudes) -> float:
    return sum(sizes.of(term.coefficient, term.shift, term.nodes) for term in terms)


def joined(terms: list[CompleteTerm], sizes: Magnitudes) -> list[CompleteTerm]:
    """Fewer terms: ``h_m(X) + x h_{m-1}(X, x) = h_m(X, x)``, and equal ones added."""
    known: dict[tuple[int, tuple[Rates, ...]], Quotient] = {}
    for term in terms:
        place = term.shift, term.nodes
        known[place] = known[place] + term.coefficient if place in known else term.coefficient
    while (pair := _pair(known, sizes)) is not None:
        (near, far), rest = pair
        value = known.pop(near)
        del known[far]
        if not rest.is_zero():
            known[far] = rest
        place = near[0], far[1]
        known[place] = known[place] + value if place in known else value
    return [CompleteTerm(value, *place) for place, value in sorted(known.items(), key=lambda item: item[0])]


Place = tuple[int, tuple[Rates, ...]]


def _pair(known: dict[Place, Quotient], sizes: Magnitudes) -> tuple[tuple[Place, Place], Quotient] | None:
    """Two terms that are one, and what is left of the second: nothing, or fewer monomials than it had."""
    for near, value in known.items():
        for far, other in known.items():
            node = _added(near, far)
            if node is None:
                continue
            rest = other - value * sizes.value(node)
            shorter = len(rest.numerator) < len(other.numerator) and rest.denominator == other.denominator
            if rest.is_zero() or (shorter and sign_of(rest) == sign_of(other) != 0):
                return (near, far), rest
    return None


def _added(near: Place, far: Place) -> Rates | None:
    """The node that the second term has more than the first, where it is one step later."""
    if far[0] != near[0] + 1 or len(far[1]) != len(near[1]) + 1:
        return None
    rest = list(far[1])
    for node in near[1]:
        if node not in rest:
            return None
        rest.remove(node)
    return rest[0]
