"""The Program: a derivation as straight-line code, before it is spelled in a language.

Every target reads the same records.  A routine is a list of statements in order; every name is assigned once.

    Scalars    numbers: functions of the parameters, of n and of lr
    Apply      an entrywise kernel over vectors
    Contract   a derivative tensor of the loss with vectors in it: D2L(v) is one Hessian-vector product
    Call       an opaque vector function, or its derivative along vectors
    Total      the sum of the entries of a vector
    Loop       a finite sum over past steps that has no closed form
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Symbol

from symmem.declaration.optimizer import Optimizer

Assignment = tuple[Symbol, Expr]

TOLERANCE_BITS = 60
"""A finite sum leaves out the terms whose weight is below 2^-60 of the newest one's."""


@dataclass(frozen=True)
class Kernel:
    """An entrywise function of vectors and scalars: the local values in order, then the output.

    Nothing in it is a scalar expression (those are hoisted), and no power is a root: a root is a local value of
    its own, ``x**(1/2)`` or ``x**(-1/2)``, and higher powers are products of it.
    """

    vectors: tuple[Symbol, ...]
    scalars: tuple[Symbol, ...]
    locals: tuple[Assignment, ...]
    output: Expr


@dataclass(frozen=True)
class Scalars:
    assignments: tuple[Assignment, ...]


@dataclass(frozen=True)
class Apply:
    """``result = kernel(kernel.vectors, kernel.scalars)``, entry by entry."""

    result: Symbol
    kernel: Kernel


@dataclass(frozen=True)
class Contract:
    """``result = D^(k+1) L [directions]``, a vector; k is the number of directions."""

    result: Symbol
    directions: tuple[Symbol, ...]


@dataclass(frozen=True)
class Call:
    """``result = function(arguments)``: an opaque function ``gradK`` or its derivative ``gradK_jvp``."""

    result: Symbol
    function: str
    arguments: tuple[Symbol, ...]


@dataclass(frozen=True)
class Total:
    result: Symbol
    vector: Symbol


@dataclass(frozen=True)
class Loop:
    """``result = sum of term for first <= index < stop``; the body assigns the term.

    ``decay`` is the number whose power ``decay**(stop - index)`` every term carries, or None: terms are left out
    where that power is below ``2**-TOLERANCE_BITS``.
    """

    result: Symbol
    index: Symbol
    first: Expr
    stop: Expr
    decay: Expr | None
    body: tuple[Statement, ...]
    term: Symbol
    is_scalar: bool


Statement = Scalars | Apply | Contract | Call | Total | Loop


@dataclass(frozen=True)
class Routine:
    """Statements and the name of the result, which the last statement assigns."""

    statements: tuple[Statement, ...]
    result: Symbol


@dataclass(frozen=True)
class Unavailable:
    """In the place of a routine that does not exist: the reason."""

    reason: str


@dataclass(frozen=True)
class Variants:
    """A routine at a finite step n, and in the limit n -> infinity."""

    finite: Routine | Unavailable
    limit: Routine | Unavailable


@dataclass(frozen=True)
class LossProgram:
    """The modified loss and its preconditioner: ``theta <- theta - lr (P grad Ltilde + decay theta)``."""

    potential: Routine
    preconditioner: Routine
    decay: Routine | None
    regime: str
    rate: str | None


@dataclass(frozen=True)
class Program:
    """What every target emits: the routines of DESIGN.md's surfaces."""

    optimizer: Optimizer
    order: int
    memoryless: Variants
    correction: Variants
    step: Variants
    loss: LossProgram | None
    obstruction: str | None

    def routines(self) -> tuple[Routine, ...]:
        """Every routine that exists."""
        found: list[Routine | Unavailable | None] = []
        for variants in (self.memoryless, self.correction, self.step):
            found += [variants.finite, variants.limit]
        if self.loss is not None:
            found += [self.loss.potential, self.loss.preconditioner, self.loss.decay]
        return tuple(routine for routine in found if isinstance(routine, Routine))
