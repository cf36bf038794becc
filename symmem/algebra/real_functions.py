"""``|x|`` and ``sign(x)`` of real expressions, below :mod:`.heads`.

Symbols carry no assumptions, and SymPy takes them for complex: it writes ``|(|x|^q)|`` as ``|x|^re(q)`` and
``sign(e^x x)`` with ``e^re(x)``.  Where it would, the factors are told apart here: those that are never negative,
and the others.  As everywhere, off the zeros of the argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sympy import Abs, Expr, Integer, Mul, Pow, Rational, S, arg, conjugate, exp, im, re, sign

_COMPLEX = (re, im, conjugate, arg)


def is_never_negative(factor: Expr) -> bool:
    """``e^x``, ``|x|^p``, powers of positive numbers, even powers, and roots, which real numbers alone have."""
    if isinstance(factor, exp):
        return True
    base, exponent = factor.as_base_exp()
    if isinstance(base, (exp, Abs)) or (isinstance(base, Rational) and bool(base > 0)):
        return True
    if isinstance(exponent, Rational):
        return bool(exponent.q % 2 == 0 or exponent.p % 2 == 0)
    return False


def real_function(function: Callable[..., Expr], argument: Expr) -> Expr:
    """``Abs`` or ``sign`` of a real argument; every other function as SymPy has it."""
    if function not in (Abs, sign) or argument.has(*_COMPLEX):
        return function(argument)
    found = function(argument)
    if not found.has(*_COMPLEX):
        return found
    known: list[Expr] = []
    unknown: list[Expr] = []
    for factor in Mul.make_args(argument):
        (known if is_never_negative(factor) else unknown).append(factor)
    size = Mul(*known) if function is Abs else S.One
    return Mul(size, *(_of_factor(function, factor) for factor in unknown))


def with_arguments(expression: Expr, arguments: Iterable[Expr]) -> Expr:
    """The same function of other real arguments: no conjugate comes in with ``|x|`` and signs, and none stays."""
    if isinstance(expression, conjugate):
        return next(iter(arguments))
    if isinstance(expression, (Abs, sign)):
        return real_function(expression.func, *arguments)
    return expression.func(*arguments)


def replaced(expression: Expr, values: Mapping[Expr, Expr]) -> Expr:
    """As ``xreplace``, for real expressions."""
    if expression in values:
        return values[expression]
    if not expression.has(Abs, sign):
        return expression.xreplace(values)
    # A range of a sum and a condition are no expressions.
    parts = [
        replaced(part, values) if isinstance(part, Expr) else part.xreplace(values)
        for part in expression.args
    ]
    return with_arguments(expression, parts)


def _of_factor(function: Callable[..., Expr], factor: Expr) -> Expr:
    """A factor of either sign: a sign has the size 1, and an odd power the sign of its base."""
    base, exponent = factor.as_base_exp()
    if isinstance(base, sign) and isinstance(exponent, Integer):
        return S.One if function is Abs else base ** (exponent % 2)
    if isinstance(exponent, Integer):
        inner = _plain(function, base)
        return Pow(inner, exponent if function is Abs else exponent % 2)
    return _plain(function, factor)


def _plain(function: Callable[..., Expr], argument: Expr) -> Expr:
    found = function(argument)
    return function(argument, evaluate=False) if found.has(*_COMPLEX) else found
