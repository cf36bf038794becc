r"""Letters for blocks of a long formula: u_1^(n) for a vector, varphi_1^(n) for a number, each with its definition.

A block is a part of a formula that depends on at most one step: on n, or on the index of a sum around it, and then its
template has n in the place of that index.  Repeated blocks come first, the one that saves most; where a formula is
still longer than a person reads, its largest parts get letters too.  Beside :mod:`.shorthands`, whose letters stand
for functions of a parameter.

A use is a function of the block's number and of the step: what it depends on is seen by SymPy itself.  ``slot(s)`` is
a vector that is known by another name, such as a past update.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from sympy import Expr, Integer, Mul, Pow, S, Sum, Symbol
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import STEP, Kind
from symmem.algebra.families import SLOT
from symmem.notation.block_places import (
    NUMBER,
    VECTOR,
    Seen,
    canonical,
    depends,
    inner,
    kind_of,
    rebuilt,
    uses,
)
from symmem.records import record

_SHORT, _DEFINITION, _LEAST = 1.8, 4.0, 5.0
"""Widths in ems: of a use, of what a definition takes besides its right-hand side, and below which nothing is named."""
_MOST, _LINES = 40, 3
"""At most so many blocks; one that stands once takes at most so many lines."""


Key = tuple[bool, int]
"""Of a block: whether it is a vector, and its number."""


@record(frozen=True)
class Block:
    """The vector, or the number, ``number``: its place among its kind.

    ``template`` has n for the step on which the block depends, and other blocks as functions.
    """

    is_vector: bool
    number: int
    template: Expr

    @classmethod
    def of(cls, use: AppliedUndef) -> Block:
        """What is seen of a block where it is used."""
        if use.func == SLOT:
            return cls(True, 0, STEP)
        return cls(*key_of(use), STEP if len(use.args) > 1 else S.Zero)

    @property
    def key(self) -> Key:
        """By which its uses know it."""
        return self.is_vector, self.number

    @property
    def has_step(self) -> bool:
        """Whether it depends on a step."""
        return STEP in self.template.free_symbols

    def at(self, index: Expr) -> Expr:
        """The block at a step."""
        return used(self.key, (index,) if self.has_step else ())


def key_of(use: AppliedUndef) -> Key:
    """Which block it is that is used."""
    return use.func == VECTOR, int(use.args[0])


def used(key: Key, step: Sequence[Expr]) -> Expr:
    """The block at a step, where it has one."""
    is_vector, number = key
    return (VECTOR if is_vector else NUMBER)(Integer(number), *step)


@record(frozen=True)
class Blocks:
    """A formula with blocks in it, and the blocks, each behind those that it reads."""

    formula: Expr
    blocks: tuple[Block, ...]
    beside: tuple[Expr, ...] = ()
    """The formulas beside it, in the same blocks."""


def blocked(
    formula: Expr,
    size: Callable[[Expr], float],
    is_long: Callable[[Expr], bool],
    line: float,
    beside: Sequence[Expr] = (),
) -> Blocks:
    """The formula in blocks; ``size`` is a width in print, ``line`` that of a line, ``is_long`` more than is read.

    Formulas that stand ``beside`` it are written in the same blocks.
    """
    given = [canonical(each) for each in (formula, *beside)]
    pool = list(given)
    keys: list[Key] = []
    # A part is measured once, however often it is asked for.
    width, too_long = cache(size), cache(is_long)

    while len(keys) < _MOST:
        template = _repeated(pool, width)
        for whole in pool if template is None else ():
            if template is None and too_long(whole):
                template = _largest(whole, width, _LINES * line)
        if template is None:
            break
        keys.append((kind_of(template) is not Kind.SCALAR, len(keys) + 1))
        block = Block(*keys[-1], template)
        pool = [*(canonical(_replaced(part, frozenset(), block)) for part in pool), template]
    blocks = [Block(*key, template) for key, template in zip(keys, pool[len(given) :], strict=True)]
    return _in_order(pool[: len(given)], blocks)


def _repeated(pool: Sequence[Expr], size: Callable[[Expr], float]) -> Expr | None:
    """The template that saves most; None where none saves anything."""
    best, most = None, 0.0
    for template, count in Seen.of(pool).candidates().items():
        if count > 1 and template not in pool:
            width = size(template)
            saved = count * (width - _SHORT) - width - _DEFINITION if width >= _LEAST else 0
            if saved > most:
                best, most = template, saved
    return best


def _largest(whole: Expr, size: Callable[[Expr], float], most: float) -> Expr | None:
    """The widest part that is not too wide; one whose entries do not mix is better than one with a Hessian in it."""
    found = [template for template in Seen.of([whole]).singles if template != whole]
    sized = [(kind_of(template) is not Kind.TENSOR, size(template), template) for template in found]
    fit = [entry for entry in sized if _LEAST <= entry[1] <= most]
    return max(fit, key=lambda entry: entry[:2], default=(False, 0.0, None))[2]


def _replaced(expression: Expr, bound: frozenset[Symbol], block: Block) -> Expr:
    """From the outside in: every place of the template, at whatever step, is a use of the block."""
    if not expression.args:
        return expression
    for index in depends(expression, bound) or [STEP]:
        template = block.template.xreplace({STEP: index})
        if expression == template:
            return block.at(index)
        if isinstance(expression, Mul) and isinstance(template, Mul):
            factors = list(expression.args)
            if all(factor in factors for factor in template.args):
                rest = [_replaced(f, bound, block) for f in factors if f not in template.args]
                return Mul(block.at(index), *rest)
    if isinstance(expression, Sum):
        last = len(expression.limits) - 1
        inside = bound | {expression.limits[last][0]}
        return Sum(_replaced(inner(expression, last), inside, block), expression.limits[last])
    if isinstance(expression, Pow) and not expression.exp.is_number:
        return expression
    parts = [_replaced(part, bound, block) if isinstance(part, Expr) else part for part in expression.args]
    return rebuilt(expression, parts)


def _in_order(formulas: Sequence[Expr], blocks: Sequence[Block]) -> Blocks:
    """Numbered anew, each behind those that it reads; numbers and vectors are counted apart."""
    named = {block.key: block for block in blocks}
    order: dict[Key, Key] = {}

    def visit(expression: Expr) -> None:
        for key in dict.fromkeys(key_of(use) for use in uses(expression) if use.func != SLOT):
            if key not in order:
                visit(named[key].template)
                is_vector, _ = key
                order[key] = is_vector, 1 + sum(other == is_vector for other, _ in order)

    def renamed(expression: Expr) -> Expr:
        found = (use for use in uses(expression) if use.func != SLOT)
        return expression.xreplace({use: used(order[key_of(use)], use.args[1:]) for use in found})

    for formula in formulas:
        visit(formula)
    first, *beside = map(renamed, formulas)
    found = tuple(Block(*new, renamed(named[old].template)) for old, new in order.items())
    return Blocks(first, found, tuple(beside))
