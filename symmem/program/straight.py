"""The straight-line history as a routine: what the formula leaves open has a value in code."""

from __future__ import annotations

from functools import lru_cache

from sympy import Add, Dummy, Expr, Symbol

from symmem.algebra.atoms import STEP, split_scalar, terms_of
from symmem.algebra.passes import distribute
from symmem.algebra.real_functions import replaced
from symmem.algebra.results import Advice, Missing
from symmem.derivation.derivation import Derivation
from symmem.derivation.marked_sums import closes, marked_line, marked_past
from symmem.derivation.past.straight import inverted, is_expansion, straight_update
from symmem.method.kernel import Kernel
from symmem.method.method import Method
from symmem.method.plain_decays import plain_decays
from symmem.program.digits.coefficients import cleared
from symmem.program.digits.stable_sums import loses_digits, stabilised
from symmem.program.expansion import expansion_loses_digits, formulas


@lru_cache(maxsize=64)
def straight_formulas(derivation: Derivation) -> tuple[Expr | Missing, Expr | Missing, bool]:
    """``F_straight`` at step n and in the limit, as they are computed; and whether the first one loses digits."""
    finite, limit = derivation.straight, derivation.limit_straight
    field = derivation.method.numbers.field
    settled = Missing(limit.reason, (Advice.STEP,)) if isinstance(limit, Missing) else cleared(limit, field)
    if isinstance(finite, Missing):
        return finite, settled, False
    if derivation.method.is_cascade and is_expansion(derivation.method):
        update, correction = formulas(derivation)[0]
        if derivation.order == 1 and isinstance(update, Expr) and isinstance(correction, Expr):
            return update + correction, settled, expansion_loses_digits(derivation)
    named = plain_decays(derivation.method)
    if named is None:
        computed, loses = _computed(derivation.method)
        return computed, settled, loses
    computed, loses = _computed(named.method)
    return named.written(computed), settled, loses


def _computed(method: Method) -> tuple[Expr, bool]:
    """As the formula stands, where that keeps its digits; else each sum over the past has a name of its own.

    ``V = S / moment`` stands squared in the average of grad^2, and S^2, multiplied out, may be a difference.
    """
    if method.is_cascade or closes(method):
        plain = straight_update(method, inverted)
        if not loses_digits(plain, method.numbers):
            return stabilised(plain, method.numbers), False
    if method.is_cascade:
        line = marked_line(method)
        given = line.M, line.numbers, line.marks
        return stabilised(*given), loses_digits(*given)
    sums: dict[Symbol, Expr] = {}
    lost: list[bool] = []

    def past(method: Method, shape: Kernel) -> Expr:
        marked, parts = marked_past(method, shape), []
        for term in terms_of(distribute(marked.M)):
            scalar, vector = split_scalar(term)
            if STEP in scalar.free_symbols:
                name = Dummy("sum")
                sums[name] = stabilised(scalar, marked.numbers, marked.marks)
                lost.append(loses_digits(scalar, marked.numbers, marked.marks))
                parts.append(name * vector)
            else:
                parts.append(stabilised(term, marked.numbers, marked.marks))
        return Add(*parts)

    found = straight_update.__wrapped__(method, inverted, past)
    lost.append(loses_digits(found, method.numbers))
    return replaced(stabilised(found, method.numbers), sums), any(lost)
