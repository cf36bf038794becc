"""F and M as they are computed: their numbers at step n without cancellation, and in the limit."""

from __future__ import annotations

from functools import lru_cache

from sympy import Expr

from symmem.algebra.results import Advice, Missing
from symmem.derivation.derivation import Derivation
from symmem.derivation.marked_sums import marked_frozen
from symmem.errors import DerivationError
from symmem.method.plain_decays import PlainDecays, plain_decays
from symmem.program.digits.coefficients import cleared
from symmem.program.digits.kept_sums import subtracts
from symmem.program.digits.nested_sums import computed
from symmem.program.digits.stable_sums import loses_digits, stabilised

Pair = tuple[Expr | Missing, Expr | Missing]


def advised(formula: Expr | Missing, advice: Advice) -> Expr | Missing:
    """The formula, or why there is none; ``advice`` is for somebody who calls a function."""
    return Missing(formula.reason, (advice,)) if isinstance(formula, Missing) else formula


@lru_cache(maxsize=64)
def formulas(derivation: Derivation) -> tuple[Pair, Pair]:
    """F and M at step n, their numbers without cancellation, and in the limit: once for all targets."""
    if isinstance(derivation.F, Missing):
        raise DerivationError(str(derivation.F))  # without an update there is nothing to write
    named = _with_names(derivation)
    finite = _finite(derivation) if named is None else _written(named[1], _finite(named[0]))
    limit = derivation.limit
    if isinstance(limit, Missing):
        missing = advised(limit, Advice.STEP)
        return finite, (missing, missing)
    field = derivation.method.numbers.field
    return finite, (cleared(limit.F, field), cleared(limit.M, field))


def _finite(derivation: Derivation) -> Pair:
    """F and M at step n."""
    marked = derivation.marked
    if isinstance(marked, Missing):
        return _update(derivation)[0], advised(marked, Advice.LIMIT)
    numbers, marks = marked.numbers, marked.marks
    correction = stabilised(marked.M, numbers, marks)
    if marked.nested is not None:
        correction += computed(marked.nested)
    return _update(derivation)[0], correction


@lru_cache(maxsize=64)
def _update(derivation: Derivation) -> tuple[Expr, bool]:
    """F at step n as it is computed, and whether it loses digits: with its gains apart where together they subtract."""
    update, numbers = derivation.F, derivation.method.numbers
    assert isinstance(update, Expr)
    plain = stabilised(update, numbers), loses_digits(update, numbers)
    if not subtracts(plain[0]):
        return plain
    marked = marked_frozen(derivation.method)
    apart = marked.M, marked.numbers, marked.marks
    loses = loses_digits(*apart)
    return plain if loses and not plain[1] else (stabilised(*apart), loses)


@lru_cache(maxsize=64)
def _with_names(derivation: Derivation) -> tuple[Derivation, PlainDecays] | None:
    """The derivation with names for the decays that are computed, where there are such."""
    named = plain_decays(derivation.method)
    return None if named is None else (Derivation(named.method, derivation.order), named)


def _written(named: PlainDecays, pair: Pair) -> Pair:
    first, second = (each if isinstance(each, Missing) else named.written(each) for each in pair)
    return first, second


@lru_cache(maxsize=64)
def expansion_loses_digits(derivation: Derivation) -> bool:
    """Whether a number of F or M at step n is a closed form that subtracts."""
    named = _with_names(derivation)
    if named is not None:
        return expansion_loses_digits(named[0])
    marked = derivation.marked
    update = _update(derivation)[1]
    if isinstance(marked, Missing):
        return update
    return update or loses_digits(marked.M, marked.numbers, marked.marks)
