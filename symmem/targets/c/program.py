"""Derivation -> what the C target computes: passes over vectors, between which the caller multiplies by the Hessian.

A correction of order 1 is entrywise but for Hessian-vector products of entrywise directions:

    direction_k = v_k(theta, grad),     h_k = D2L(v_k),     correction = M(theta, grad, h_1, ..., h_K)

so that every function of the C interface is a pass that treats each entry by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sympy import Expr, Symbol, default_sort_key
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import GRAD, LR, PAST, THETA, is_contraction
from symmem.algebra.results import Missing, Sentence
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import Derivation
from symmem.errors import DerivationError, SymmemError
from symmem.program.blocks import Block, Names
from symmem.program.statements import Apply, Assignment, Loop, Scalars, Statement

OTHER_TARGETS = "latex, numpy, torch, jax and json"


@dataclass(frozen=True)
class Pass:
    """One loop over the entries.

    ``before`` computes numbers, once in a call; ``inside`` computes the entry ``result`` from ``vectors`` and
    ``numbers``.
    """

    before: tuple[Scalars | Loop, ...]
    inside: tuple[Apply | Loop, ...]
    result: Symbol
    vectors: tuple[Symbol, ...]
    numbers: tuple[Symbol, ...]

    @property
    def has_sum(self) -> bool:
        return any(isinstance(statement, Loop) for statement in self.inside)

    @property
    def given(self) -> frozenset[Symbol]:
        """What the caller gives: the parameters, n and lr that the numbers are made of."""
        return frozenset((_used(self.before) | set(self.numbers)) - _assigned(self.before))


@dataclass(frozen=True)
class Passes:
    """The passes at a finite step, or in the limit: one direction for each Hessian-vector product."""

    memoryless: Pass
    directions: tuple[Pass, ...]
    correction: Pass
    step: Pass


@dataclass(frozen=True)
class CProgram:
    """What the C library of an optimizer computes; ``products`` are the most products that a form needs."""

    optimizer: Optimizer
    finite: Passes | Missing
    limit: Passes | Missing
    products: tuple[Symbol, ...]


def c_program(derivation: Derivation) -> CProgram:
    """The passes of a derivation of order 1 whose formulas are entrywise."""
    optimizer = derivation.optimizer
    if derivation.order != 1:
        raise DerivationError(
            f"{optimizer.name}: the C target has order 1, not {derivation.order}; leave --order out"
        )
    if optimizer.functions:
        names = ", ".join(function.name for function in optimizer.functions)
        raise SymmemError(
            f"{optimizer.name}: the function {names} is left open, so that there is no C code for it; "
            f"this optimizer has the targets {OTHER_TARGETS}"
        )
    finite = _attempt(lambda: (derivation.F, derivation.M))
    limit = _attempt(lambda: (derivation.limit.F, derivation.limit.M))
    forms = [form for form in (finite, limit) if isinstance(form, Passes)]
    if not forms:
        assert isinstance(limit, Missing)
        raise DerivationError(str(limit.reason))
    most = max(len(form.directions) for form in forms)
    return CProgram(optimizer, finite, limit, _products(most))


def _attempt(formulas: Callable[[], tuple[Expr, Expr]]) -> Passes | Missing:
    try:
        update, correction = formulas()
    except DerivationError as error:
        return Missing(Sentence.of(str(error).partition(";")[0]))
    contractions = sorted((atom for atom in correction.atoms(AppliedUndef) if is_contraction(atom)),
                          key=default_sort_key)  # fmt: skip
    if any(PAST in atom.free_symbols for atom in contractions):
        return Missing(Sentence.of("every past step would need a Hessian-vector product of its own"))
    products = _products(len(contractions))
    entrywise = correction.xreplace(dict(zip(contractions, products, strict=True)))
    vectors = frozenset({THETA, GRAD, *products})

    def made(expression: Expr) -> Pass:
        return _pass(expression, vectors)

    return Passes(
        memoryless=made(update),
        directions=tuple(made(atom.args[0]) for atom in contractions),
        correction=made(entrywise),
        step=made(THETA - LR * (update + entrywise)),
    )


def _products(count: int) -> tuple[Symbol, ...]:
    """Names for the products that the caller supplies; no parameter has them."""
    names = Names()
    return tuple(names.fresh("h") for _ in range(count))


def _pass(expression: Expr, vectors: frozenset[Symbol]) -> Pass:
    block = Block(Names(set(vectors)))
    result = block.finish(expression)
    statements = block.statements()
    inside = tuple(each for each in statements if _is_vector(each))
    before = tuple(each for each in statements if isinstance(each, (Scalars, Loop)) and not _is_vector(each))
    assert len(inside) + len(before) == len(statements), "a formula of order 1 is entrywise"
    used = _used(inside)
    return Pass(
        before,
        tuple(each for each in inside if isinstance(each, (Apply, Loop))),
        result,
        tuple(sorted(used & vectors, key=_vectors_first)),
        tuple(sorted(used - vectors - _assigned(inside), key=lambda symbol: symbol.name)),
    )


def _is_vector(statement: Statement) -> bool:
    return isinstance(statement, Apply) or (isinstance(statement, Loop) and not statement.is_scalar)


def _vectors_first(symbol: Symbol) -> tuple[bool, bool, int, str]:
    return symbol != THETA, symbol != GRAD, len(symbol.name), symbol.name


def _used(statements: tuple[Statement, ...]) -> set[Symbol]:
    """Every symbol that the statements read."""
    found: set[Symbol] = set()
    for statement in statements:
        if isinstance(statement, Apply):
            found |= {*statement.function.vectors, *statement.function.scalars}
        elif isinstance(statement, Scalars):
            found |= _read(statement.assignments)
        elif isinstance(statement, Loop):
            bounds = [
                statement.first,
                statement.stop,
                *([statement.decay] if statement.decay is not None else []),
            ]
            found |= _used(statement.body).union(*(bound.free_symbols for bound in bounds))
    return found


def _read(assignments: tuple[Assignment, ...]) -> set[Symbol]:
    return set[Symbol]().union(*(value.free_symbols for _, value in assignments))


def _assigned(statements: tuple[Statement, ...]) -> set[Symbol]:
    """Every symbol that the statements assign, indices of sums among them."""
    found: set[Symbol] = set()
    for statement in statements:
        if isinstance(statement, Scalars):
            found |= {name for name, _ in statement.assignments}
        elif isinstance(statement, Loop):
            found |= {statement.result, statement.index} | _assigned(statement.body)
        else:
            found.add(statement.result)
    return found
