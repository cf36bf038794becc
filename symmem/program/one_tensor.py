"""Functions of a tensor, for code that sees one tensor at a time: its numbers are sums over all entries.

    dot(x, y) = total(x y),     mean(x) = total(x)/SIZE,     dot(1, 1) = SIZE

so that a number of the tensor is a scalar like any other, and is computed once.  For example ``c grad/norm(grad)``
is one sum, ``t = total(grad**2)``, the number ``c/sqrt(t)``, and one pass over the entries.
"""

from __future__ import annotations

from collections.abc import Iterable

from sympy import Add, Expr, Mul, Sum, Symbol, expand_mul, expand_multinomial
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import TOTAL
from symmem.algebra.tensor_heads import DOT, MEAN, is_of_tensors
from symmem.program.statements import Internal, Loop, Statement, Total

SIZE = Internal("size")
"""How many entries the tensor has."""


def in_one_tensor(expression: Expr, vectors: frozenset[Symbol]) -> Expr:
    """The expression with every dot and mean as a total; ``vectors`` are the symbols that have entries."""
    bound = frozenset(limits[0] for each in expression.atoms(Sum) for limits in each.limits)

    def total(density: Expr) -> Expr:
        if not density.free_symbols & bound:
            return _total(density, vectors)
        # What varies over the steps of a sum leaves the total: (u + k v)**2 has the totals of u**2, u v and v**2.
        terms = Add.make_args(expand_mul(expand_multinomial(density)))
        return Add(*(_with_numbers_outside(term, vectors) for term in terms))

    summed = expression.replace(DOT, lambda x, y: total(x * y))
    return summed.replace(MEAN, lambda x: total(x) / SIZE)


def _with_numbers_outside(term: Expr, vectors: frozenset[Symbol]) -> Expr:
    factors = Mul.make_args(term)
    numbers = [factor for factor in factors if not factor.free_symbols & vectors]
    return Mul(*numbers, _total(Mul(*(each for each in factors if each.free_symbols & vectors)), vectors))


def _total(density: Expr, vectors: frozenset[Symbol]) -> Expr:
    return TOTAL(density) if density.free_symbols & vectors else density * SIZE


def of_matrices(expressions: Iterable[Expr]) -> tuple[str, ...]:
    """The functions of a tensor that are no number of it, by name: they need its shape."""
    atoms = (atom for each in expressions for atom in each.atoms(AppliedUndef) if is_of_tensors(atom))
    names = {atom.func.__name__ for atom in atoms} - {DOT.__name__, MEAN.__name__}
    return tuple(sorted(names))


def sums_at_every_step(statements: Iterable[Statement]) -> bool:
    """Whether a sum over past steps needs a sum over the entries for each of them."""
    loops = (statement for statement in statements if isinstance(statement, Loop))
    return any(
        any(isinstance(inner, Total) for inner in loop.body) or sums_at_every_step(loop.body)
        for loop in loops
    )
