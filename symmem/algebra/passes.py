"""Named simplification passes on vector expressions.  Each one keeps the value: ``new - old == 0``.

collect      scalars in lowest terms; equal vectors added up; the common scalar of a sum in front
distribute   products over sums of vectors, at the top level alone
divide_out   x^p / B^q with a polynomial B(x) by division: x^2/(x^2+eps)^(3/2) = 1/(..)^(1/2) - eps/(..)^(3/2)
"""

from __future__ import annotations

from functools import lru_cache

from sympy import Abs, Add, Expr, Integer, Mul, Pow, S, Sum, Symbol

from symmem.algebra.atoms import Kind, is_scalar, kind, moves_with_theta, split_scalar, terms_of
from symmem.algebra.heads import HEADS
from symmem.algebra.homogeneity import homogeneous, homogeneous_power
from symmem.algebra.reals import function_of_sign, real_product
from symmem.algebra.scalars import Scalars
from symmem.work import checkpoint


@lru_cache(maxsize=4096)
def collect(expression: Expr, scalars: Scalars) -> Expr:
    """Bottom-up: every scalar in lowest terms, every sum with one term per vector and its content in front."""
    if not isinstance(expression, Expr) or expression.is_Atom:
        return expression
    checkpoint("the collection of the terms")
    if is_scalar(expression) and not moves_with_theta(expression):
        return scalars.tidy(expression)
    if isinstance(expression, Add):
        return _collect_sum(expression, scalars)
    if isinstance(expression, Mul):
        scalar, vector = split_scalar(expression)
        inner = real_product(collect(factor, scalars) for factor in Mul.make_args(vector))
        # A number that moves with theta has parts of its own: total(c v) = c total(v).
        moving = [factor for factor in Mul.make_args(scalar) if moves_with_theta(factor)]
        fixed = Mul(*(factor for factor in Mul.make_args(scalar) if factor not in moving))
        front, rest = split_scalar(Mul(inner, *(collect(factor, scalars) for factor in moving)))
        return Mul(scalars.tidy(fixed * front), rest)
    if isinstance(expression, Pow):
        base, exponent = collect(expression.base, scalars), collect(expression.exp, scalars)
        scalar, vector = split_scalar(homogeneous_power(base, exponent, scalars))
        return Mul(scalars.tidy(scalar), vector)
    if isinstance(expression, Sum):
        return _collect_finite_sum(expression, scalars)
    mapped = HEADS.mapped(expression, lambda operand: collect(operand, scalars))
    return homogeneous(function_of_sign(mapped), scalars)


def _collect_sum(expression: Add, scalars: Scalars) -> Expr:
    coefficients: dict[Expr, list[Expr]] = {}
    for term in expression.args:
        for part in terms_of(collect(term, scalars)):
            scalar, vector = split_scalar(part)
            coefficients.setdefault(vector, []).append(scalar)
    added = {vector: scalars.add(parts) for vector, parts in coefficients.items()}
    added = {vector: scalar for vector, scalar in added.items() if scalar != 0}
    content = scalars.content(list(added.values()))
    return Mul(content, Add(*(scalars.ratio(scalar, content) * vector for vector, scalar in added.items())))


def _collect_finite_sum(expression: Sum, scalars: Scalars) -> Expr:
    """``Sum(c v)`` with what does not depend on the index in front."""
    index = expression.limits[0][0]
    if not isinstance(expression.function, Mul):
        return expression
    outside = [factor for factor in expression.function.args if index not in factor.free_symbols]
    inside = [factor for factor in expression.function.args if index in factor.free_symbols]
    front, vector = split_scalar(Mul(*outside))
    return Mul(scalars.tidy(front), vector, Sum(Mul(*inside), *expression.limits))


def distribute(expression: Expr) -> Expr:
    """Products distributed over sums of vectors at the top level; sums of scalars stay factors."""
    if isinstance(expression, Add):
        return Add(*(distribute(term) for term in expression.args))
    if not isinstance(expression, Mul):
        return expression
    for factor in expression.args:
        if isinstance(factor, Add) and not is_scalar(factor):
            rest = Mul(*(other for other in expression.args if other is not factor))
            return Add(*(distribute(rest * term) for term in factor.args))
    return expression


def divide_out(term: Expr, scalars: Scalars) -> Expr:
    """Rewrites ``c x^p B^q``, q < 0 and B a polynomial in x of degree at most p, by division with remainder.

    With ``B = a x^d + r(x)``:  ``x^p B^q = x^(p-d) (B^(q+1) - r(x) B^q) / a``, until no power is left to divide.
    Left alone where a does not divide c: the quotient would be longer than what it replaces.
    """
    done, pending = [], [term]
    while pending:
        checkpoint("the division of the terms")
        current = pending.pop()
        step = _division_step(current, scalars)
        if step is None:
            done.append(current)
        else:
            pending.extend(terms_of(distribute(step)))
    return Add(*done)


def _division_step(term: Expr, scalars: Scalars) -> Expr | None:
    scalar, product = split_scalar(term)
    powers = dict(factor.as_base_exp() for factor in Mul.make_args(product))
    for base, exponent in powers.items():
        if (
            not isinstance(base, Add)
            or kind(base) is not Kind.ENTRYWISE
            or not (exponent.is_Rational and exponent < 0)
        ):
            continue
        for vector, power in powers.items():
            if not (isinstance(vector, (Symbol, Abs)) and isinstance(power, Integer) and power > 0):
                continue
            leading = _leading_term(base, vector)
            if leading is not None and leading[1] <= power and scalars.divides(leading[0], scalar):
                coefficient, degree = leading
                rest = base - coefficient * vector**degree
                shared = Mul(term, vector**-degree, 1 / coefficient)
                return Add(shared * base, *(-shared * part for part in terms_of(rest)))
    return None


def _leading_term(base: Add, vector: Expr) -> tuple[Expr, int] | None:
    """``(a, d)`` of the leading term ``a x^d`` of a polynomial in x with scalar coefficients, else None."""
    best: tuple[Expr, int] | None = None
    for term in base.args:
        scalar, part = split_scalar(term)
        root, degree = part.as_base_exp()
        if part == 1:
            continue
        if root != vector or not isinstance(degree, Integer) or degree < 0:
            return None
        if best is None or degree > best[1]:
            best = (scalar, int(degree))
        elif degree == best[1]:
            return None
    return best if best is not None and best[0] is not S.Zero else None
