"""What is known of one function of the language, as a record; the table of them is :mod:`symmem.algebra.heads`.

A head's arguments are its *operands*, then labels that are no values (the limits of a ``Sum``, the number of a
``slot``).  From the operand ``linear_from`` on it is linear; before that stands its *point*, one operand at most.
The worked example, for ``gradK_jvp(x, v)``: the point is x, the operand v is linear, and when x
moves by u and v by w it changes by

    gradK_jvp2(x, v, u)  (its ``raised`` head)  +  gradK_jvp(x, w)  (it is linear in v).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from sympy import Expr, Rational

from symmem.algebra.intervals import REALS, Interval
from symmem.algebra.symbols import Kind
from symmem.records import record

Operands = tuple[Expr, ...]


class Scope(Enum):
    """What an entry of the value depends on: the same entry, the same parameter tensor, or the whole model."""

    ENTRY = "entry"
    TENSOR = "tensor"
    MODEL = "model"


class Roughness(Enum):
    """How a function fails to be smooth where its argument is 0; POLES: elsewhere; RANK: where a matrix loses rank."""

    JUMP = "jump"
    KINK = "kink"
    ROOT = "root"
    SINGULAR = "singular"
    POLES = "poles"
    RANK = "rank"


@record(frozen=True, eq=False)
class Head:
    """One function of the language.

    function        what SymPy builds it with, from the operands and the labels
    kind            of its value; ENTRYWISE is that of its operands: an entrywise function of a scalar is a scalar
    linear_from     the first operand in which it is linear over scalars; None where it is in none
    is_symmetric    whether its linear operands may change places
    is_additive     whether a sum in its linear operand is written as a sum of its values
    derivative      ``(operands, v)`` -> the change when the point moves by v
    raised          where there is no such formula: the head of the derivative, with v as one more linear operand
    moves_with_theta  whether its point is theta itself, which is not among the operands: the tensors of the loss
    degree          p with ``f(c x) = c^p f(x)`` for c > 0, all operands scaled; None where there is none
    scope           what an entry of the value depends on
    is_uniform      whether the value is one number for each parameter tensor: a vector that is constant on a tensor
    adjoint         ``(operands, position, w)`` -> the vector whose total with v is that of w times the value, v in the
                    place of that linear operand; None: the head itself with w there, its tensor is symmetric
    gradient        of a scalar function of a vector: the vector whose total with v is its change along v
    potential       of a vector function of one operand: the scalar whose gradient it is, where it is one
    antiderivative  of an entrywise function of one variable, where it is known
    roughness       where it is not smooth
    image           an interval in which the (entries of the) value lie
    operands        how many arguments are operands, from the first on; None: all of them
    binds           whether its labels bind a symbol, so that no scalar may leave it
    """

    name: str
    function: Callable[..., Expr]
    kind: Kind
    scope: Scope
    linear_from: int | None = None
    is_symmetric: bool = True
    is_additive: bool = False
    derivative: Callable[[Operands, Expr], Expr] | None = None
    raised: Callable[[], Head] | None = None
    moves_with_theta: bool = False
    degree: Rational | None = None
    is_uniform: bool = False
    adjoint: Callable[[Operands, int, Expr], Expr] | None = None
    gradient: Callable[[Operands], Expr] | None = None
    potential: Callable[[Expr], Expr] | None = None
    antiderivative: Callable[[Expr], Expr] | None = None
    roughness: Roughness | None = None
    image: Interval = REALS
    operands: int | None = None
    binds: bool = False

    def is_linear_in(self, position: int) -> bool:
        """Whether the value is linear over scalars in this operand."""
        return self.linear_from is not None and position >= self.linear_from

    @property
    def has_point(self) -> bool:
        """Whether it has an operand in which it is not linear."""
        return self.linear_from != 0 and self.operands != 0
