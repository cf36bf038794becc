"""Degrees of homogeneity: positive scalars leave a function of a tensor, ``f(c x) = c^p f(x)`` for c > 0.

So the gains of a memory cancel where a function has degree 0, ``polar(gamma x) = polar(x)``, or stand in front,
``norm(gamma x) = gamma norm(x)``, and sums over the past close (mathematics.md section 9).  Entrywise functions keep
what they are given, but for ``|c x|`` and ``sign(c x)``: their gains are seen by the field of the method's numbers.  A
pass of :mod:`.passes`.
"""

from __future__ import annotations

from sympy import Abs, Add, Expr, Integer, Mul, Pow, Symbol, sign

from symmem.algebra.atoms import TOTAL, is_scalar, split_scalar, terms_of
from symmem.algebra.every import every
from symmem.algebra.head import Head, Scope
from symmem.algebra.heads import HEADS, labels_of, operands_of
from symmem.algebra.real_functions import real_function
from symmem.algebra.reals import real_power
from symmem.algebra.scalars import Scalars


def homogeneous(expression: Expr, scalars: Scalars) -> Expr:
    """The function at the top with the positive scalars of its point in front, where it has a degree.

    ``f_jvp(c x, v) = c^(p - 1) f_jvp(x, v)``: the degree in the point is that of all operands less the linear ones.
    """
    number, function = split_scalar(expression)
    if isinstance(function, (Abs, sign)) and not is_scalar(function):
        return number * _without_signs(function, scalars)
    head = HEADS.of(function)
    if head is None or head.scope is not Scope.TENSOR or not head.has_point:
        return expression
    degree = scalars.degree(function, head)
    if degree is None:
        return expression
    operands = operands_of(function, head)
    positive, point = split_positive(operands[0], scalars)
    if positive == 1:
        return expression
    factor = Pow(positive, degree - (len(operands) - 1))
    return Mul(number, factor, _rebuilt(function, head, (point, *operands[1:])))


def _without_signs(function: Expr, scalars: Scalars) -> Expr:
    """``|c x| = c |x|`` and ``sign(c x) = sign(x)`` for c > 0; for c < 0 with the other sign."""
    size, rest, is_odd = [], [], False
    for factor in Mul.make_args(function.args[0]):
        if _leaves(factor, scalars):
            size.append(factor)
        elif _leaves(-factor, scalars):
            size.append(-factor)
            is_odd = not is_odd
        else:
            rest.append(factor)
    if not size:
        return function
    if isinstance(function, Abs):
        return scalars.tidy(Mul(*size)) * real_function(Abs, Mul(*rest))
    return (-1 if is_odd else 1) * real_function(sign, Mul(*rest))


def _rebuilt(function: Expr, head: Head, operands: tuple[Expr, ...]) -> Expr:
    return HEADS.applied(head, operands, labels_of(function, head))


def homogeneous_power(base: Expr, exponent: Expr, scalars: Scalars) -> Expr:
    """``(c x)^p = c^p x^p`` for c > 0, where x joins entries, as in ``norm(c x) = sqrt(c^2 dot(x, x))``, or is a size.

    ``(c |x|)^q = c^q |x|^q`` is a power of x, which has a potential.
    """
    sizes = any(isinstance(factor, Abs) and not is_scalar(factor) for factor in Mul.make_args(base))
    if isinstance(exponent, Integer) or not (sizes or joins_entries(base)):
        return real_power(base, exponent)
    positive, rest = split_positive(base, scalars)
    powers = [_power_of_positive(factor, exponent, scalars) for factor in Mul.make_args(positive)]
    return Mul(*powers, real_power(rest, exponent))


def joins_entries(expression: Expr) -> bool:
    """Whether a product has a factor that is one number for a tensor or for the model."""
    return any(factor.func == TOTAL or _is_uniform(factor) for factor in Mul.make_args(expression))


def _is_uniform(factor: Expr) -> bool:
    head = HEADS.of(factor)
    return head is not None and head.is_uniform


def split_positive(expression: Expr, scalars: Scalars) -> tuple[Expr, Expr]:
    """``(c, rest)``: the scalar factors that are positive for all parameters in their ranges.

    Of a sum the factor that all terms share: ``gamma u + gamma v = gamma (u + v)``.
    """
    terms = terms_of(expression)
    if len(terms) > 1:
        first = split_positive(terms[0], scalars)[0]
        others = [scalars.tidy(split_scalar(term)[0] / first) for term in terms]
        if first == 1 or any(other.free_symbols for other in others):
            return Integer(1), expression
        vectors = [split_scalar(term)[1] for term in terms]
        return first, sum((c * v for c, v in zip(others, vectors, strict=True)), Integer(0))
    factors = Mul.make_args(expression)
    inside = [factor for factor in factors if not _leaves(factor, scalars)]
    return Mul(*(factor for factor in factors if _leaves(factor, scalars))), Mul(*inside)


def _leaves(factor: Expr, scalars: Scalars) -> bool:
    return is_scalar(factor) and not factor.has(TOTAL) and scalars.is_positive(factor)


def _power_of_positive(factor: Expr, exponent: Expr, scalars: Scalars) -> Expr:
    """``(c^2)^(1/2) = c`` for c > 0; an even power of a number that may be negative has no such root."""
    base, power = factor.as_base_exp()
    return Pow(base, power * exponent) if scalars.is_positive(base) else Pow(factor, exponent)


def degree_in(expression: Expr, vector: Symbol) -> Expr | None:
    """p with ``f(c x) = c^p f(x)`` for c > 0, for an expression in the vector x; None where none is known."""
    if vector not in expression.free_symbols:
        return Integer(0)
    if expression == vector:
        return Integer(1)
    if isinstance(expression, Pow):
        inner = degree_in(expression.base, vector)
        return None if inner is None or vector in expression.exp.free_symbols else inner * expression.exp
    known = every(degree_in(part, vector) for part in expression.args)
    if known is None:
        return None
    if isinstance(expression, Mul):
        return Add(*known)
    if isinstance(expression, Add):
        return known[0] if len(set(known)) == 1 else None
    head = HEADS.of(expression)
    if head is None or head.degree is None or head.moves_with_theta:
        return None
    operands = operands_of(expression, head)
    linear = [known[k] for k in range(len(operands)) if head.is_linear_in(k)]
    point = known[0] * (head.degree - len(linear)) if head.has_point else Integer(0)
    return Add(point, *linear)
