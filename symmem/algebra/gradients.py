"""The gradient of a scalar: the way back along the rules of :mod:`.directional`.

``pulled(v, w)`` is the gradient in theta of ``total(w v)`` with w held fixed, so that ``gradient(total(v)) =
pulled(v, 1)``.  The tensors of the loss and the Jacobians of potentials are symmetric:

    pulled(theta, w) = w,   pulled(grad, w) = D2L(w),   pulled(D2L(u), w) = D3L(w, u) + pulled(u, D2L(w)),   ...

For one check: ``grad (grad . D2L(grad)) = 2 D2L(D2L(grad)) + D3L(grad, grad)``, mathematics.md section 5.
"""

from __future__ import annotations

from sympy import Add, Expr, Mul, Pow, S, Symbol
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import (
    GRAD,
    LOSS,
    THETA,
    contraction,
    is_contraction,
    is_scalar,
    moves_with_theta,
    total,
)
from symmem.algebra.head import Head, Operands
from symmem.algebra.heads import HEADS, labels_of, operands_of
from symmem.algebra.tensor_heads import size_of_tensor

_MOVING = {LOSS, GRAD, THETA}


def gradient(scalar: Expr) -> Expr:
    """The vector g with ``d scalar = total(g v)`` when theta moves along v, for every v.

    An opaque function in it has to be a gradient itself: its Jacobian is taken to be symmetric.
    """
    if scalar == LOSS:
        return GRAD
    if not scalar.free_symbols & _MOVING and not scalar.has(AppliedUndef):
        return S.Zero
    if isinstance(scalar, Add):
        return Add(*(gradient(term) for term in scalar.args))
    if isinstance(scalar, Mul):
        return _of_product(scalar)
    if isinstance(scalar, Pow):
        return scalar.exp * scalar.base ** (scalar.exp - 1) * gradient(scalar.base)
    head = HEADS.of(scalar)
    if head is None:
        return S.Zero
    if head.name == "sum_tensors":
        return _over_tensors(scalar.args[0], S.One)
    if head.is_additive:
        return pulled(scalar.args[0], S.One)
    if head.gradient is not None:
        return pulled(scalar.args[0], head.gradient(scalar.args))
    inner = gradient(scalar.args[0])
    return S.Zero if inner == 0 else scalar.fdiff(1) * inner


def _over_tensors(uniform: Expr, weight: Expr) -> Expr:
    """The gradient of the sum over the tensors of ``weight uniform``, one number each; the weight is held fixed."""
    if isinstance(uniform, Add):
        return Add(*(_over_tensors(term, weight) for term in uniform.args))
    if isinstance(uniform, Mul):
        parts = uniform.args
        rests = (Mul(weight, *parts[:k], *parts[k + 1 :]) for k in range(len(parts)))
        return Add(*(_over_tensors(part, rest) for part, rest in zip(parts, rests, strict=True)))
    if isinstance(uniform, Pow):
        return _over_tensors(uniform.base, weight * uniform.exp * uniform.base ** (uniform.exp - 1))
    head = HEADS.of(uniform)
    if head is None or is_scalar(uniform):
        return HEADS.applied(HEADS.by_name["sum_tensors"], (weight,)) * gradient(uniform)
    if head.gradient is not None:
        return pulled(uniform.args[0], weight * head.gradient(uniform.args))
    if head.name == "dot":
        left, right = uniform.args
        return pulled(left, weight * right) + pulled(right, weight * left)
    if head.name == "mean":
        return pulled(uniform.args[0], weight / size_of_tensor())
    return _over_tensors(uniform.args[0], weight * uniform.fdiff(1))


def _of_product(product: Mul) -> Expr:
    terms = []
    for position, factor in enumerate(product.args):
        slope = gradient(factor)
        if slope != 0:
            terms.append(Mul(*product.args[:position], *product.args[position + 1 :]) * slope)
    return Add(*terms)


def pulled(vector: Expr, weight: Expr) -> Expr:
    """The gradient of ``total(weight vector)``, the weight held fixed."""
    if vector == THETA:
        return weight
    if vector == GRAD:
        return contraction(weight)
    if isinstance(vector, Symbol) or not vector.args:
        return S.Zero
    if is_scalar(vector):
        return total(weight) * gradient(vector)
    if isinstance(vector, Add):
        return Add(*(pulled(term, weight) for term in vector.args))
    if isinstance(vector, Mul):
        parts = vector.args
        return Add(*(pulled(part, Mul(weight, *parts[:k], *parts[k + 1 :])) for k, part in enumerate(parts)))
    if isinstance(vector, Pow):
        return pulled(vector.base, weight * vector.exp * vector.base ** (vector.exp - 1))
    head = HEADS.of(vector)
    if head is None:
        raise NotImplementedError(f"no rule for the gradient of {vector.func.__name__}")
    return _through(vector, head, weight)


def _through(vector: Expr, head: Head, weight: Expr) -> Expr:
    """Back through a function: into its point, and into each operand in which it is linear."""
    operands, labels = operands_of(vector, head), labels_of(vector, head)
    terms = []
    if is_contraction(vector):
        terms.append(HEADS.moved(head, operands, weight))
    elif head.has_point:
        terms.append(pulled(operands[0], HEADS.moved(head, operands, weight, labels)))
    for position, operand in enumerate(operands):
        if head.is_linear_in(position):
            terms.append(pulled(operand, _adjoint(head, operands, position, weight, labels)))
    return Add(*terms)


def _adjoint(head: Head, operands: Operands, position: int, weight: Expr, labels: Operands) -> Expr:
    """The vector whose total with v is that of ``weight head(.., v, ..)``."""
    if head.adjoint is not None:
        return head.adjoint(operands, position, weight)
    return HEADS.applied(head, (*operands[:position], weight, *operands[position + 1 :]), labels)


def expanded(vector: Expr) -> Expr:
    """Every contraction and every total of a sum as a sum of them, products distributed: ``D2L(u + v)`` in two terms.

    Sums of scalars stay whole, as in ``1/(1 - beta)``.
    """
    if not vector.args or (is_scalar(vector) and not moves_with_theta(vector)):
        return vector
    head = HEADS.of(vector)
    parts = [expanded(part) for part in vector.args]
    if head is not None and head.linear_from is not None:
        count = len(operands_of(vector, head))
        return _distributed(head, parts[:count], parts[count:])
    whole = vector.func(*parts)
    if isinstance(whole, Pow) and isinstance(whole.base, Add) and whole.exp.is_Integer and whole.exp > 1:
        return Add(*(expanded(whole.base ** (whole.exp - 1) * term) for term in whole.base.args))
    return _multiplied_out(whole)


def _distributed(head: Head, operands: list[Expr], labels: list[Expr]) -> Expr:
    terms: list[tuple[Expr, ...]] = [()]
    for position, operand in enumerate(operands):
        choices = Add.make_args(operand) if head.is_linear_in(position) else (operand,)
        terms = [(*chosen, choice) for chosen in terms for choice in choices]
    return Add(*(HEADS.applied(head, chosen, labels) for chosen in terms))


def _multiplied_out(product: Expr) -> Expr:
    """A product distributed over its sums, but for those of constants."""
    for factor in Mul.make_args(product):
        if isinstance(factor, Add) and (not is_scalar(factor) or moves_with_theta(factor)):
            rest = Mul(*(other for other in Mul.make_args(product) if other is not factor))
            return Add(*(_multiplied_out(rest * term) for term in factor.args))
    return product
