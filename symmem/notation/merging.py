r"""Two fractions of one root that are one: ``eps/q^(3/2) - 1/q^(1/2)`` is ``-g^2/q^(3/2)`` where ``q = g^2 + eps``.

The engine divides vectors out of fractions, so that terms can be collected; what a person reads is put together again:

    c q^e - c r q^(e - 1)  =  c (q - r) q^(e - 1),     r a term of the sum q, e < 0

An identity for every c, e and q.  Applied where a formula is shown; data stay as they are.
"""

from __future__ import annotations

from itertools import permutations

from sympy import Add, Expr, Mul, Pow


def merged(expression: Expr) -> Expr:
    """The expression with every such pair in one fraction, from the inside out."""
    if not expression.args or not any(map(_is_below, expression.atoms(Pow))):
        return expression
    parts = [merged(part) if isinstance(part, Expr) else part for part in expression.args]
    whole = expression if parts == list(expression.args) else expression.func(*parts)
    while isinstance(whole, Add) and (pair := _pair(whole)) is not None:
        whole = pair
    return whole


def _pair(whole: Add) -> Expr | None:
    """The sum with one pair merged; None where there is none."""
    roots = {term: _roots(term) for term in whole.args}
    candidates = [term for term in whole.args if roots[term]]
    for high, low in permutations(candidates, 2):
        for base, exponent in roots[high].items():
            if roots[low].get(base) == exponent - 1:
                offset = Mul(-1, low, base, Pow(high, -1))
                if offset in base.args:
                    others = [term for term in whole.args if term not in (high, low)]
                    return Add(*others, Mul(high, Pow(base, -1), base - offset))
    return None


def _roots(term: Expr) -> dict[Expr, Expr]:
    """The sums below the bar with their exponents."""
    return dict(factor.args for factor in Mul.make_args(term) if _is_below(factor))


def _is_below(factor: Expr) -> bool:
    return (
        isinstance(factor, Pow)
        and isinstance(factor.base, Add)
        and factor.exp.is_Rational
        and bool(factor.exp.is_negative)
    )
