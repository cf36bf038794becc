"""The atoms of every formula, and their kinds: the floor on which all other rooms stand.

Vectors of R^d with entrywise products are a commutative algebra, so ordinary SymPy expressions model
entrywise formulas: one symbol for theta, one for the gradient.  The language is *plain* SymPy: plain
symbols, plain undefined functions, ``Sum``; the name of an atom carries its kind, so that a formula
typed by hand, or read back from JSON, equals the engine's own.

    theta, grad, m1, m2, ...        vectors, multiplied and mapped entry by entry
    D2L(v), D3L(u, v), ...          the loss's derivative tensors contracted with vectors: a vector
    gradK(x), gradK_jvp(x, v), ...  an opaque vector function and its derivative along v: a vector
    total(x)                        the sum of the entries of x: a scalar
    everything else                 scalars: parameters, lr, n, s, loss
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cache

from sympy import Add, Expr, Function, Mul, S, Sum, Symbol
from sympy.core.function import AppliedUndef

THETA = Symbol("theta")
GRAD = Symbol("grad")
LOSS = Symbol("loss")
LR = Symbol("lr")
STEP = Symbol("n")
PAST = Symbol("s")
"""The index of a past step in the finite sums that stay: 0 <= s < n."""
AGO = Symbol("k")
"""How many steps ago: the iterate theta_{n-k}."""

MOMENTUM_NAME = re.compile(r"m([1-9][0-9]*)")
CONTRACTION_NAME = re.compile(r"D([1-9][0-9]*)L")
JVP_NAME = re.compile(r"(\w+?)_jvp([2-9][0-9]*)?")
TOTAL = Function("total")


class Kind(Enum):
    """What an expression is, and which rules it may be treated by."""

    SCALAR = "scalar"
    ENTRYWISE = "entrywise"
    TENSOR = "tensor"


def momentum_symbol(position: int) -> Symbol:
    """The symbol of the momentum variable with the given position, counted from 1."""
    return Symbol(f"m{position}")


@cache
def kind(expression: Expr) -> Kind:
    """SCALAR, ENTRYWISE (entry i depends on the entries i of theta and grad), or TENSOR (mixes entries)."""
    if isinstance(expression, Symbol):
        entrywise = expression in (THETA, GRAD) or MOMENTUM_NAME.fullmatch(expression.name)
        return Kind.ENTRYWISE if entrywise else Kind.SCALAR
    if isinstance(expression, AppliedUndef):
        return Kind.SCALAR if expression.func == TOTAL else Kind.TENSOR
    operands = (expression.function,) if isinstance(expression, Sum) else expression.args
    kinds = {kind(operand) for operand in operands}
    for candidate in (Kind.TENSOR, Kind.ENTRYWISE):
        if candidate in kinds:
            return candidate
    return Kind.SCALAR


def is_scalar(expression: Expr) -> bool:
    return kind(expression) is Kind.SCALAR


def split_scalar(expression: Expr) -> tuple[Expr, Expr]:
    """``(c, v)`` with ``expression = c * v``, c the product of the scalar factors."""
    if isinstance(expression, Mul):
        scalars = [factor for factor in expression.args if is_scalar(factor)]
        vectors = [factor for factor in expression.args if not is_scalar(factor)]
        return Mul(*scalars), Mul(*vectors)
    return (expression, S.One) if is_scalar(expression) else (S.One, expression)


def _linear(head: type[AppliedUndef], fixed: tuple[Expr, ...], slots: tuple[Expr, ...]) -> Expr:
    """``head(*fixed, *slots)``, which is linear over scalars and symmetric in the slots."""
    if any(slot == 0 for slot in slots):
        return S.Zero
    # SymPy multiplies a number into a sum; it is taken out again: D2L(2 u + 2 v) = 2 D2L(u + v).
    pairs = [slot.primitive() if isinstance(slot, Add) else split_scalar(slot) for slot in slots]
    arguments = sorted((vector for _, vector in pairs), key=lambda vector: vector.sort_key())
    return Mul(*(scalar for scalar, _ in pairs), head(*fixed, *arguments))


def contraction(*vectors: Expr) -> Expr:
    """``D^(k+1) L [v_1, ..., v_k]``: a vector, symmetric, linear over scalars (not over vectors)."""
    if not vectors:
        return GRAD
    return _linear(Function(f"D{len(vectors) + 1}L"), (), vectors)


def total(vector: Expr) -> Expr:
    """The sum of the entries of a vector: a scalar, linear over scalars."""
    parts = [split_scalar(term) for term in terms_of(vector)]
    return Add(*(scalar * TOTAL(entry) for scalar, entry in parts if scalar != 0))


def opaque_derivative(name: str, point: Expr, *directions: Expr) -> Expr:
    """The derivative of the opaque function ``name`` at ``point`` along the directions."""
    if not directions:
        return Function(name)(point)
    suffix = "_jvp" if len(directions) == 1 else f"_jvp{len(directions)}"
    return _linear(Function(name + suffix), (point,), directions)


def opaque_parts(atom: AppliedUndef) -> tuple[str, Expr, tuple[Expr, ...]]:
    """``(name, point, directions)`` of an opaque function or of its derivative."""
    match = JVP_NAME.fullmatch(atom.func.__name__)
    return (match.group(1) if match else atom.func.__name__), atom.args[0], atom.args[1:]


def is_contraction(expression: Expr) -> bool:
    return isinstance(expression, AppliedUndef) and bool(CONTRACTION_NAME.fullmatch(expression.func.__name__))


def terms_of(expression: Expr) -> tuple[Expr, ...]:
    return Add.make_args(expression)
