r"""Where blocks can stand in a formula: every part with the steps on which it depends, and what parts share.

Below :mod:`.blocks`, which says what a block is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from sympy import Dummy, Expr, Function, Mul, Pow, Sum, Symbol, default_sort_key
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import LR, PAST, STEP, Kind, kind, momentum_symbol
from symmem.algebra.families import SLOT
from symmem.records import record

VECTOR, NUMBER = Function("a block of entries"), Function("a block of one number")
"""``VECTOR(3, s)``: the third block at step s, ``VECTOR(3)`` where it has no step.  No user can call a function so."""
_USED = (VECTOR, SLOT, NUMBER)


def canonical(expression: Expr) -> Expr:
    """The indices of sums named by the number of sums inside: equal sums are equal expressions."""
    return _named(_unbound(expression, {}))[0]


def _unbound(expression: Expr, indices: Mapping[Expr, Expr]) -> Expr:
    """Every index under a name of its own, so that no other name is taken by the next renaming."""
    if not expression.args:
        return indices.get(expression, expression)
    if not isinstance(expression, Sum):
        # A condition, as that of a where, has no sum of its own.
        parts = [
            _unbound(p, indices) if isinstance(p, Expr) else p.xreplace(indices) for p in expression.args
        ]
        return rebuilt(expression, parts)
    known, limits = dict(indices), []
    for index, low, high in reversed(expression.limits):  # the last is the outermost
        ends = [_unbound(end, known) for end in (low, high)]
        known[index] = Dummy()
        limits.append((known[index], *ends))
    return Sum(_unbound(expression.function, known), *reversed(limits))


def _named(expression: Expr) -> tuple[Expr, int]:
    """With the number of sums inside."""
    if not expression.args or not expression.has(Sum):
        return expression, 0
    if isinstance(expression, Sum):
        inside, height = _named(expression.function)
        limits: list[tuple[Expr, ...]] = []
        for index, low, high in expression.limits:  # SymPy keeps sums of sums as one, the inner limits first
            name = {index: PAST if height == 0 else Symbol(f"s{height}")}
            inside, height = inside.xreplace(name), height + 1
            limits = [tuple(end.xreplace(name) for end in ends) for ends in limits]
            limits.append((*name.values(), low, high))
        return Sum(inside, *limits), height
    pairs = [_named(part) if isinstance(part, Expr) else (part, 0) for part in expression.args]
    return rebuilt(expression, [part for part, _ in pairs]), max(height for _, height in pairs)


def rebuilt(expression: Expr, parts: Sequence[Expr]) -> Expr:
    """The expression with other parts; itself where they are its own."""
    return expression if tuple(parts) == expression.args else expression.func(*parts)


def _places(expression: Expr, bound: frozenset[Symbol]) -> Iterator[tuple[Expr, frozenset[Symbol]]]:
    """The parts that can be named, with the indices of the sums around them."""
    if not expression.args:
        return
    yield expression, bound
    if isinstance(expression, Sum):
        for count in range(len(expression.limits)):
            around = bound | {index for index, _, _ in expression.limits[count:]}
            yield from _places(inner(expression, count), around)
    elif isinstance(expression, Pow):
        if expression.exp.is_number:
            yield from _places(expression.base, bound)
    else:
        for part in expression.args:
            if isinstance(part, Expr):
                yield from _places(part, bound)


def inner(total: Sum, count: int) -> Expr:
    """The sum over the innermost indices alone."""
    return Sum(total.function, *total.limits[:count]) if count else total.function


@lru_cache(maxsize=1 << 14)
def _free(part: Expr) -> frozenset[Symbol]:
    return frozenset(part.free_symbols)


@lru_cache(maxsize=1 << 14)
def _at(part: Expr, index: Symbol) -> Expr:
    """The part with n for the index."""
    return part if index == STEP else part.xreplace({index: STEP})


def depends(part: Expr, bound: frozenset[Symbol]) -> list[Symbol]:
    """The steps on which a part depends: n, and indices of sums around it."""
    return sorted(_free(part) & (bound | {STEP}), key=lambda symbol: str(symbol.name))


def _template(part: Expr, bound: frozenset[Symbol]) -> Expr | None:
    """The part with n for the step on which it depends; None where there are two, or where it is no block."""
    if LR in _free(part) or part.is_number or isinstance(part, Symbol):
        return None
    steps = depends(part, bound)
    return None if len(steps) > 1 else _at(part, steps[0]) if steps else part


def _factors(product: Mul) -> list[Expr]:
    return [factor for factor in product.args if not factor.is_number and factor != LR]


def _templates(part: Expr, bound: frozenset[Symbol]) -> Iterator[Expr]:
    """What can be named at a place: of a product its factors, the entrywise ones, or the numbers among them."""
    if isinstance(part, Mul):
        factors = _factors(part)
        entrywise = [factor for factor in factors if kind_of(factor) is not Kind.TENSOR]
        numbers = [factor for factor in entrywise if kind_of(factor) is Kind.SCALAR]
        for chosen in (factors, entrywise, numbers):
            if len(chosen) > 1 and (found := _template(Mul(*chosen), bound)) is not None:
                yield found
    elif (found := _template(part, bound)) is not None:
        yield found


@record(frozen=True)
class Seen:
    """All that can be named in some formulas."""

    singles: Mapping[Expr, int]
    """How often each template is there as a whole."""
    products: tuple[tuple[Expr, ...], ...]
    """The factors of each product, with n for one step on which it depends."""

    @classmethod
    def of(cls, pool: Sequence[Expr]) -> Seen:
        """Every place of the formulas."""
        singles: dict[Expr, int] = {}
        products: list[tuple[Expr, ...]] = []
        for part, bound in (place for whole in pool for place in _places(whole, frozenset())):
            for found in _templates(part, bound):
                singles[found] = singles.get(found, 0) + 1
            if isinstance(part, Mul):
                for index in depends(part, bound) or [STEP]:
                    own = [f for f in _factors(part) if set(depends(f, bound)) <= {index}]
                    products.append(tuple(_at(factor, index) for factor in own))
        return cls(singles, tuple(products))

    def candidates(self) -> dict[Expr, int]:
        """Each template that is there twice or more, and how often; two products may share a part."""
        found = dict(self.singles)
        for position, left in enumerate(self.products):
            for right in self.products[:position]:
                both = [factor for factor in left if factor in right]
                if len(both) > 1:
                    found.setdefault(Mul(*both), 0)
        return {
            template: sum(all(f in product for f in template.args) for product in self.products)
            if isinstance(template, Mul)
            else count
            for template, count in found.items()
        }


def kind_of(expression: Expr) -> Kind:
    """With the blocks in it as numbers and vectors, each another: of ``u_1 - u_2`` nothing cancels."""
    return kind(expression.xreplace({use: _plain(use, k) for k, use in enumerate(uses(expression), start=1)}))


def _plain(use: AppliedUndef, number: int) -> Symbol:
    """What a use of a block is to the algebra."""
    return Symbol(f"x{number}") if use.func == NUMBER else momentum_symbol(number)


def uses(expression: Expr) -> list[AppliedUndef]:
    """The blocks in an expression, each at its step."""
    return sorted((use for use in expression.atoms(AppliedUndef) if use.func in _USED), key=default_sort_key)
