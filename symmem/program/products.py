"""Derivation -> Program in which the caller multiplies by the Hessian: for code that cannot call back.

A correction of order 1 is entrywise but for Hessian-vector products of directions:

    direction_k = v_k(theta, grad),     hv_k = D2L(v_k),     correction = M(theta, grad, hv_1, ..., hv_K)

so that every routine is one pass over the entries, with numbers that may be sums over all entries of the tensor
(:mod:`symmem.program.one_tensor`).  The routines are memoryless, direction1 to directionK, correction,
step and straight; finite n and the limit may differ in K.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sympy import Expr, Sum, Symbol, default_sort_key
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import GRAD, STEP, THETA, is_contraction
from symmem.algebra.results import Missing, Sentence
from symmem.derivation.derivation import Derivation
from symmem.program.expansion import expansion_loses_digits, formulas
from symmem.program.lowering import limit_rate, step_of, vector_routine
from symmem.program.one_tensor import in_one_tensor, sums_at_every_step
from symmem.program.program import Program, Routine, Variants
from symmem.program.statements import Internal
from symmem.program.straight import straight_formulas

_PAST_PRODUCTS = Missing(Sentence.of("every past step would need a Hessian-vector product of its own"))
_PAST_SUMS = Missing(Sentence.of("every past step would need a sum over the entries of its own"))


def product_symbol(position: int) -> Symbol:
    """The vector that the caller gives for the product with this position, counted from 1."""
    return Internal(f"hv{position}")


def direction_name(position: int) -> str:
    """The routine of the direction whose product ``product_symbol(position)`` is."""
    return f"direction{position}"


def lower_products(derivation: Derivation) -> Program:
    """The program of a derivation whose contractions are Hessian-vector products of entrywise vectors."""
    *lines, loses = straight_formulas(derivation)
    rates = derivation.method.rate_at(STEP), limit_rate(derivation)
    pairs = zip(formulas(derivation), lines, rates, strict=True)
    finite, limit = (_routines(*pair, line, rate) for pair, line, rate in pairs)
    found: dict[str, Variants] = {}
    for name in dict.fromkeys((*_names(finite), *_names(limit))):
        found[name] = Variants(_named(finite, name), _named(limit, name))
    lost = loses or expansion_loses_digits(derivation)
    return Program(derivation.optimizer, derivation.order, found, loses_digits=lost)


def correction_from_products(derivation: Derivation) -> tuple[Expr, tuple[Symbol, ...]] | Missing:
    """M at step n in terms of the products that the caller gives, and their symbols."""
    _, correction = formulas(derivation)[0]
    if isinstance(correction, Missing):
        return correction
    given = _given(correction, straight_formulas(derivation)[0])
    return given if isinstance(given, Missing) else (correction.xreplace(given), tuple(given.values()))


def straight_from_products(derivation: Derivation) -> tuple[Expr, tuple[Symbol, ...]] | Missing:
    """``F_straight - F`` at step n in terms of the same products, and their symbols."""
    (update, correction), straight = formulas(derivation)[0], straight_formulas(derivation)[0]
    for each in (update, correction, straight):
        if isinstance(each, Missing):
            return each
    assert isinstance(update, Expr)
    assert isinstance(correction, Expr)
    assert isinstance(straight, Expr)
    given = _given(correction, straight)
    return given if isinstance(given, Missing) else (straight.xreplace(given) - update, tuple(given.values()))


def _given(correction: Expr, straight: Expr | Missing) -> dict[Expr, Symbol] | Missing:
    """The symbol of every product with the Hessian; those that the straight line alone has come last."""
    contractions = _contractions(correction)
    if isinstance(straight, Expr):
        contractions += [atom for atom in _contractions(straight) if atom not in contractions]
    bound = {limits[0] for sum_ in correction.atoms(Sum) for limits in sum_.limits}
    if any(bound & atom.free_symbols for atom in contractions):
        return _PAST_PRODUCTS
    return {atom: product_symbol(position) for position, atom in enumerate(contractions, start=1)}


def _names(routines: Mapping[str, Routine | Missing] | Missing) -> tuple[str, ...]:
    return () if isinstance(routines, Missing) else tuple(routines)


def _named(routines: Mapping[str, Routine | Missing] | Missing, name: str) -> Routine | Missing:
    if isinstance(routines, Missing):
        return routines
    return routines.get(name, Missing(Sentence.of("this form has fewer directions")))


def _routines(
    update: Expr | Missing, correction: Expr | Missing, straight: Expr | Missing, rate: Expr
) -> Mapping[str, Routine | Missing] | Missing:
    if isinstance(update, Missing):
        return update
    if isinstance(correction, Missing):
        return correction
    given = _given(correction, straight)
    if isinstance(given, Missing):
        return given
    entrywise = correction.xreplace(given)
    wanted: dict[str, Expr | Missing] = {
        "memoryless": update,
        **{direction_name(position): atom.args[0] for position, atom in enumerate(given, start=1)},
        "correction": entrywise,
        "step": step_of(update, entrywise, rate),
        "straight": straight if isinstance(straight, Missing) else straight.xreplace(given),
    }
    routines = {name: _routine(formula, given.values()) for name, formula in wanted.items()}
    # A step without its directions is of no use: the form is refused as a whole.
    past = [name for name, routine in routines.items() if routine is _PAST_SUMS and name != "straight"]
    return _PAST_SUMS if past else routines


def _routine(formula: Expr | Missing, given: Iterable[Symbol]) -> Routine | Missing:
    if isinstance(formula, Missing):
        return formula
    vectors = frozenset({THETA, GRAD, *given})
    routine = vector_routine(in_one_tensor(formula, vectors), vectors)
    return _PAST_SUMS if sums_at_every_step(routine.statements) else routine


def _contractions(formula: Expr) -> list[Expr]:
    return sorted((a for a in formula.atoms(AppliedUndef) if is_contraction(a)), key=default_sort_key)
