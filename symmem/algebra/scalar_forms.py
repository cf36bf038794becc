"""One spelling for each contraction of the loss's tensors to a number (mathematics.md section 5).

The tensors are symmetric, and so are the Jacobians of opaque functions, which have to be gradients here:
``u . D2L(v) = v . D2L(u)`` and ``g . D2L(D2L(g)) = |D2L(g)|^2``.  A number is a free tree of contractions
(:mod:`.free_trees`), and any of its edges may be the product that is summed; the flattest spelling is taken.
"""

from __future__ import annotations

from sympy import Add, Expr, Mul, Pow, default_sort_key, expand, fraction, together

from symmem.algebra.atoms import TOTAL, Kind, is_contraction, moves_with_theta, split_scalar, terms_of
from symmem.algebra.gradients import expanded
from symmem.algebra.heads import HEADS, labels_of, operands_of


def canonical(scalar: Expr) -> Expr:
    """The scalar with its totals in one spelling each, multiplied out: equal numbers cancel."""
    terms = []
    for term in terms_of(expanded(scalar)):
        factors = [_flattest(factor) if factor.func == TOTAL else factor for factor in Mul.make_args(term)]
        terms.append(Mul(*factors))
    return Add(*terms)


def is_same(one: Expr, other: Expr) -> bool:
    """Whether two scalars are equal by their terms, the coefficient of each as a quotient of polynomials.

    ``b/(2 (1 - b)) + c/(2 (1 - c))`` and ``(b/(1 - b) + c/(1 - c))/2`` are; of what is left nothing is claimed.
    """
    rows: dict[Expr, list[Expr]] = {}
    for term in terms_of(canonical(one - other)):
        factors = Mul.make_args(term)
        moving = Mul(*(factor for factor in factors if moves_with_theta(factor)))
        rows.setdefault(moving, []).append(Mul(*(f for f in factors if not moves_with_theta(f))))
    return all(expand(fraction(together(Add(*fixed)))[0]) == 0 for fixed in rows.values())


def _flattest(number: Expr) -> Expr:
    """The least of all spellings of ``total(product)``."""
    first = number.args[0]
    seen, pending = {first}, [first]
    while pending:
        for other in _turned(pending.pop()):
            if other not in seen:
                seen.add(other)
                pending.append(other)
    return TOTAL(min(seen, key=lambda product: (_depth(product), default_sort_key(product))))


def _turned(product: Expr) -> list[Expr]:
    """The spellings one edge away: ``w DkL(u, ...)`` as ``u DkL(w, ...)``."""
    found = []
    for factor in Mul.make_args(product):
        whole = isinstance(factor, Pow) and factor.exp.is_Integer and factor.exp > 0
        tensor = factor.base if whole else factor
        head = HEADS.of(tensor)
        if (
            head is None
            or head.kind is not Kind.TENSOR
            or head.linear_from is None
            or head.adjoint is not None
        ):
            continue
        rest = Mul(product, Pow(tensor, -1))
        operands, labels = operands_of(tensor, head), labels_of(tensor, head)
        for position in range(head.linear_from, len(operands)):
            others = (*operands[:position], rest, *operands[position + 1 :])
            scalar, vector = split_scalar(HEADS.applied(head, others, labels))
            if scalar == 1:
                found.append(tensor.args[position] * vector)
    return found


def _depth(product: Expr) -> tuple[int, int]:
    """How deep the contractions stand in each other, and how many operations there are."""

    def nested(part: Expr) -> int:
        return int(is_contraction(part)) + max((nested(argument) for argument in part.args), default=0)

    return nested(product), int(product.count_ops())
