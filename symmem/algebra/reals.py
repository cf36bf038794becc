"""Rules that hold because every vector is real: roots of squares are absolute values.

Symbols carry no assumptions (see :mod:`symmem.algebra.atoms`), so SymPy does not apply these by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sympy import Abs, Expr, Integer, Mul, Pow, nan, oo, sign, zoo

from symmem.algebra.atoms import is_scalar, split_scalar
from symmem.algebra.head import Scope
from symmem.algebra.heads import HEADS
from symmem.algebra.real_functions import real_function


def real_power(base: Expr, exponent: Expr) -> Expr:
    """``base**exponent`` with ``(c x^(2k))^p = c^p |x|^(2kp)`` for vectors x and an exponent that is no integer."""
    if isinstance(exponent, Integer):
        return Pow(base, exponent)
    outside, inside = [], []
    for factor in Mul.make_args(base):
        root, power = factor.as_base_exp()
        if not is_scalar(root) and isinstance(power, Integer) and power % 2 == 0:
            outside.append(Pow(real_function(Abs, root), power * exponent))
        else:
            inside.append(factor)
    return real_product([*outside, Pow(Mul(*inside), exponent)])


def substituted(expression: Expr, values: Mapping[Expr, Expr]) -> Expr:
    """The expression with other expressions in the place of some; roots of squares come out as absolute values.

    SymPy's own replacement would ask, for every new root, what it can know about a complex base: slow, and nothing.
    """
    known: dict[Expr, Expr] = dict(values)

    def walk(part: Expr) -> Expr:
        if part not in known:
            arguments = [walk(argument) for argument in part.args]
            if all(new is old for new, old in zip(arguments, part.args, strict=True)):
                known[part] = part
            elif isinstance(part, Pow):
                known[part] = real_power(*arguments)
            elif isinstance(part, Mul) and 0 in arguments and not any(a.has(zoo, nan, oo) for a in arguments):
                known[part] = Integer(0)
            else:
                known[part] = function_of_sign(HEADS.rebuilt(part, arguments))
        return known[part]

    return walk(expression)


def real_product(factors: Iterable[Expr]) -> Expr:
    """The product with ``x sign(x) = |x|``, ``x^2 / |x| = |x|``, and no even power of ``|x|``; off the zeros of x."""
    product = Mul(*factors)
    once = _real_product(product)
    return once if once == product else _real_product(once)  # a sign of a product leaves signs of its factors


def _real_product(product: Expr) -> Expr:
    if not product.has(Abs, sign):
        return product
    powers: dict[Expr, Expr] = {}
    sizes: dict[Expr, Expr] = {}
    for factor in Mul.make_args(product):
        base, exponent = factor.as_base_exp()
        if isinstance(base, sign) and isinstance(exponent, Integer):
            # sign(x) = |x| / x off its jump, so sign(x)^2 = 1 and x sign(x) = |x|.
            inner = base.args[0]
            sizes[inner] = real_function(Abs, inner)
            _raise(powers, sizes[inner], exponent % 2)
            _raise(powers, inner, -(exponent % 2))
        else:
            _raise(powers, base, exponent)
    for inner, size in sizes.items():
        left = powers[inner]
        if size.args[:1] != (inner,) and isinstance(left, Integer) and left % 2 and left < 0:
            # SymPy writes |c - x| for |x - c|: what has no x to cancel with stays a sign, and is no 0/0 at x = c.
            _raise(powers, size, left)
            powers[inner], powers[sign(inner)] = Integer(0), Integer(1)
    for base, exponent in list(powers.items()):
        if isinstance(base, Abs):
            _settle(powers, base, exponent)
    return Mul(*(Pow(base, exponent) for base, exponent in powers.items()))


def function_of_sign(function: Expr) -> Expr:
    """``f(sign(x)) = (f(1) + f(-1))/2 + (f(1) - f(-1))/2 sign(x)`` off the zeros of x, for f taken entry by entry.

    So is ``f(c sign(x) + d)`` with scalars c and d: it has two values.  And ``sign(x^2 y z) = sign(y) sign(z)``.
    """
    if isinstance(function, sign):
        scalar, vector = split_scalar(function.args[0])
        odd = [sign(each) for each in Mul.make_args(vector) if not _is_even(each)]
        return Mul(sign(scalar), *odd)
    head = HEADS.of(function)
    if head is None or head.scope is not Scope.ENTRY or len(function.args) != 1:
        return function
    (argument,) = function.args
    signs = [each for each in argument.atoms(sign) if not is_scalar(each)]
    if len(signs) != 1:
        return function
    values = [argument.xreplace({signs[0]: Integer(side)}) for side in (1, -1)]
    if not all(map(is_scalar, values)):
        return function
    above, below = map(function.func, values)
    return (above + below) / 2 + (above - below) / 2 * signs[0]


def _is_even(factor: Expr) -> bool:
    """An even power of a vector, or any of its absolute value: above 0 off the zeros of the vector."""
    base, exponent = factor.as_base_exp()
    if is_scalar(base):
        return False
    return isinstance(base, Abs) or (isinstance(exponent, Integer) and exponent % 2 == 0)


def signed_power(product: Expr, x: Expr) -> tuple[Expr, bool] | None:
    """``(p, odd)`` of a product of powers of x, |x| and sign(x): it is ``|x|^p``, times sign(x) where it is odd."""
    total, odd = Integer(0), False
    for factor in Mul.make_args(product):
        base, exponent = factor.as_base_exp()
        whole = isinstance(exponent, Integer)
        if base == x and whole:
            total, odd = total + exponent, odd ^ bool(exponent % 2)
        elif base == Abs(x) and x not in exponent.free_symbols:
            total = total + exponent
        elif base == sign(x) and whole:
            odd = odd ^ bool(exponent % 2)
        else:
            return None
    return total, odd


def _raise(powers: dict[Expr, Expr], base: Expr, exponent: Expr) -> None:
    powers[base] = powers.get(base, Integer(0)) + exponent


def _settle(powers: dict[Expr, Expr], absolute: Abs, exponent: Expr) -> None:
    """Writes ``|x|^p x^q`` with as few factors as p and q allow, and ``|x| / x`` as a sign.

    |x|^2 x        = x^3               an even power of |x| is a power of x
    |x| x^2        = |x|^3             an even power of x is a power of |x|
    |x|^3 x        = |x|^3 x           both odd: one x stays, and |x| / x, x / |x| are sign(x)
    |x|^(3/2) / x  = |x|^(1/2) sign(x) any other p: a power of |x|, and a sign where q is odd
    """
    plain = absolute.args[0]
    other = powers.get(plain, Integer(0))
    if not isinstance(other, Integer):
        return
    if not isinstance(exponent, Integer):
        powers[absolute], powers[plain] = exponent + other, Integer(0)
        if other % 2:
            powers[sign(plain)] = Integer(1)
    elif (exponent, other) in ((1, -1), (-1, 1)):
        powers[absolute], powers[plain], powers[sign(plain)] = Integer(0), Integer(0), Integer(1)
    elif exponent % 2 == 0:
        powers[absolute], powers[plain] = Integer(0), other + exponent
    elif other % 2 == 0:
        powers[absolute], powers[plain] = other + exponent, Integer(0)
    else:
        # |x|^p x^q = |x|^p x^(q-1) x, where q - 1 is even.
        powers[absolute], powers[plain] = exponent + other - 1, Integer(1)
