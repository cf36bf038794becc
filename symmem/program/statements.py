"""Statements: straight-line code over vectors and numbers, before it is spelled in a language.

Every name is assigned once, and read after it is assigned.

    Assign     numbers: functions of the parameters, of n and of lr
    Apply      an entrywise function over vectors
    Contract   a derivative tensor of the loss with vectors in it: D2L(v) is one Hessian-vector product
    Evaluate   an opaque vector function, or its derivative along vectors
    Potential  the number whose gradient an opaque function is
    OfTensor   a function of a whole tensor, or its derivative along vectors: dot, polar, matmul, ...
    Total      the sum of the entries of a vector
    Loop       a finite sum over past steps that has no closed form, or a product over steps
    Choice     a number with two branches, of which one is computed
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Rational, Symbol
from sympy.logic.boolalg import Boolean

from symmem.algebra.atoms import GRAD, THETA


class Internal(Symbol):
    """A symbol that this program made.  It equals no symbol that a user declared, whatever the names.

    >>> Internal("v1") == Symbol("v1"), Internal("v1") == Internal("v1")
    (False, True)
    """


Assignment = tuple[Symbol, Expr]


@dataclass(frozen=True)
class Entrywise:
    """An entrywise function of vectors and scalars: the local values in order, then the output.

    Nothing in it is a scalar expression (those are hoisted), and no power is a root: a root is a local value of
    its own, ``x**(1/2)`` or ``x**(-1/2)``, and higher powers are products of it.
    """

    vectors: tuple[Symbol, ...]
    scalars: tuple[Symbol, ...]
    locals: tuple[Assignment, ...]
    output: Expr


@dataclass(frozen=True)
class Assign:
    """Numbers, each computed from those before it."""

    assignments: tuple[Assignment, ...]


@dataclass(frozen=True)
class Apply:
    """``result = function(function.vectors, function.scalars)``, entry by entry.

    ``has_own_shape``: made of matrices whose shape need not be that of theta, as in ``c matmul(x, y)``.
    """

    result: Symbol
    function: Entrywise
    has_own_shape: bool = False


@dataclass(frozen=True)
class Contract:
    """``result = D^(k+1) L [directions]``, a vector; k is the number of directions."""

    result: Symbol
    directions: tuple[Symbol, ...]


@dataclass(frozen=True)
class Evaluate:
    """``result = function(arguments)``: an opaque function ``gradK`` or its derivative ``gradK_jvp``."""

    result: Symbol
    function: str
    arguments: tuple[Symbol, ...]


@dataclass(frozen=True)
class Potential:
    """``result = function(argument)``: the number ``K(x)`` whose gradient an opaque function is."""

    result: Symbol
    function: str
    argument: Symbol


@dataclass(frozen=True)
class OfTensor:
    """``result = function(vectors, numbers)``: ``polar`` of one vector, or its derivative along those after the first.

    The result of dot and mean is a vector that is constant on each tensor; ``sum_tensors`` makes a number of such.
    """

    result: Symbol
    function: str
    vectors: tuple[Symbol, ...]
    numbers: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class Total:
    """``result = sum of the entries of vector``."""

    result: Symbol
    vector: Symbol


@dataclass(frozen=True)
class Reach:
    """A function of a number c that is analytic for ``|arg c| < sector pi/2``, and within ``c^(+-growth)`` in size."""

    sector: Rational
    growth: Rational


@dataclass(frozen=True)
class Loop:
    """``result = sum of term for first <= index < stop``, or their product; the body assigns the term.

    ``decay`` is the number whose power ``decay**(stop - index)`` every term carries, or None: terms are left out
    where that power is below ``2**-TOLERANCE_BITS``.  ``has_own_shape``: the terms are matrices not like theta.
    ``few``: the numbers that move with the index, the weight first, where a few steps stand for all
    (:mod:`symmem.program.few_steps`).  ``reach``: that of a term without its weight, in the one other number.
    """

    result: Symbol
    index: Symbol
    first: Expr
    stop: Expr
    decay: Expr | None
    body: tuple[Statement, ...]
    term: Symbol
    is_scalar: bool
    is_product: bool = False
    has_own_shape: bool = False
    few: tuple[Symbol, ...] = ()
    reach: Reach | None = None

    @property
    def numbers(self) -> tuple[Assignment, ...]:
        """The numbers of the body."""
        bodies = (statement for statement in self.body if isinstance(statement, Assign))
        return tuple(pair for body in bodies for pair in body.assignments)

    @property
    def is_formula(self) -> bool:
        """Whether the terms are numbers to be added, by a formula: all of them can be computed at once."""
        return (
            self.is_scalar
            and not self.is_product
            and all(isinstance(statement, Assign) for statement in self.body)
        )


@dataclass(frozen=True)
class Branch:
    """Statements of their own, and the number that they end with."""

    body: tuple[Statement, ...]
    value: Symbol


@dataclass(frozen=True)
class Choice:
    """``result = value where the condition holds, else otherwise``: what is not taken is not computed."""

    result: Symbol
    condition: Boolean
    value: Branch
    otherwise: Branch

    @property
    def branches(self) -> tuple[Branch, Branch]:
        """Both."""
        return self.value, self.otherwise


Statement = Assign | Apply | Contract | Evaluate | Potential | OfTensor | Total | Loop | Choice


def reads(statement: Statement) -> frozenset[Symbol]:
    """Every symbol that the statement reads, from outside and, in a loop, from its own body."""
    if isinstance(statement, Assign):
        return frozenset[Symbol]().union(*(value.free_symbols for _, value in statement.assignments))
    if isinstance(statement, Apply):
        return frozenset((*statement.function.vectors, *statement.function.scalars))
    if isinstance(statement, Contract):
        return frozenset(statement.directions)
    if isinstance(statement, Evaluate):
        return frozenset(statement.arguments)
    if isinstance(statement, Potential):
        return frozenset({statement.argument})
    if isinstance(statement, OfTensor):
        return frozenset(statement.vectors).union(*(number.free_symbols for number in statement.numbers))
    if isinstance(statement, Total):
        return frozenset({statement.vector})
    if isinstance(statement, Choice):
        inside = frozenset[Symbol]().union(*(reads(s) for branch in statement.branches for s in branch.body))
        return inside.union(statement.condition.free_symbols, (branch.value for branch in statement.branches))
    numbers = [statement.first, statement.stop, *([] if statement.decay is None else [statement.decay])]
    inner = frozenset[Symbol]().union(*map(reads, statement.body))
    return inner.union({statement.term}, *(number.free_symbols for number in numbers))


def assigns(statement: Statement) -> frozenset[Symbol]:
    """Every symbol that the statement assigns; a loop also its index, and what its body assigns."""
    if isinstance(statement, Assign):
        return frozenset(name for name, _ in statement.assignments)
    if isinstance(statement, Loop):
        return frozenset[Symbol]({statement.result, statement.index}).union(*map(assigns, statement.body))
    if isinstance(statement, Choice):
        inside = (assigns(each) for branch in statement.branches for each in branch.body)
        return frozenset[Symbol]({statement.result}).union(*inside)
    return frozenset({statement.result})


def theta_first(symbol: Symbol) -> tuple[bool, bool, int, str]:
    """The order of the vectors of a kernel: theta, grad, then the others as they are numbered."""
    return symbol != THETA, symbol != GRAD, len(symbol.name), symbol.name


def by_name(symbol: Symbol) -> tuple[str, bool]:
    """The order of the numbers of a kernel; a user's name comes before the same name of ours."""
    return symbol.name, isinstance(symbol, Internal)
