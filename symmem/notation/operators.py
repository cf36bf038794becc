"""The operators of an expression as formulas: Hessians, totals, opaque functions; below structure.py.

Each is linear in its slots, so the scalars of the slots are written in front:

    D2L(beta*grad)     beta/2 times the gradient of |grad L|^2
    total(grad**2)     |grad L|^2
    D2L(D2L(theta))    (nabla^2 L)^2 theta
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field, replace

from sympy import Add, Expr, Function, Mul, S
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import (
    TOTAL,
    Kind,
    contraction_order,
    is_contraction,
    kind,
    opaque_parts,
    potential_parts,
    split_scalar,
)
from symmem.algebra.heads import HEADS, labels_of
from symmem.algebra.norms import NormShape, gradient_shape, total_shape
from symmem.algebra.tensor_heads import DOT, MATMUL, MEAN, NUCLEAR, SUM_TENSORS, TRANSPOSE
from symmem.notation.formula import (
    Atom,
    Call,
    Derivative,
    Directional,
    Formula,
    Gradient,
    Inner,
    Norm,
    Number,
    Potential,
    Power,
    TensorSum,
    Total,
)
from symmem.notation.ordering import TermOrder
from symmem.notation.symbols import Functions
from symmem.records import record

HESSIAN = Function("D2L")
_PLAIN_CALLS = (MEAN, MATMUL, TRANSPOSE)


@record(frozen=True)
class OperatorReader(ABC):
    """Reads operators; how sums and whole expressions are read is structure.py's."""

    order: TermOrder
    functions: Functions
    plain: bool = False
    """Inside an operator a Hessian stays a Hessian: (nabla^2 L)^2 grad, not nabla^2 L of a gradient."""
    known: dict[tuple[Expr, bool, bool, bool], tuple[bool, Formula]] = field(default_factory=dict)
    """What was read already, as a sum or not, and how: the formulas of one optimizer share most of their parts."""

    @abstractmethod
    def read(self, expression: Expr) -> Formula:
        """The whole expression."""

    @abstractmethod
    def signed(self, expression: Expr) -> tuple[bool, Formula]:
        """`(negative, formula)` with the sign taken out in front."""

    @abstractmethod
    def sum(self, expression: Add, flip: bool, minus: bool = False) -> tuple[bool, Formula]:
        """`(flipped, sum)`."""

    def _slot(self, slot: Expr) -> tuple[Expr, Formula]:
        """`(scalar, formula)` of a slot in which the operator is linear."""
        scalar, vector = split_scalar(slot)
        if vector == 1:
            scalar, vector = S.One, slot
        inside = replace(self, plain=True)
        if isinstance(vector, AppliedUndef):
            factor, formula = inside.operator(vector)
            return scalar * factor, formula
        if isinstance(vector, Add):
            flipped, formula = inside.sum(vector, flip=True)
        else:
            flipped, formula = inside.signed(vector)
        return (-scalar if flipped else scalar), formula

    def operator(self, atom: AppliedUndef) -> tuple[Expr, Formula]:
        """`(scalar, formula)` with atom = scalar * formula."""
        if atom.func == TOTAL:
            return self._total(atom.args[0])
        if contraction_order(atom) == 2:
            return self._hessian(atom.args[0])
        potential = potential_parts(atom)
        if potential is not None:
            return S.One, Potential(potential[0], replace(self, plain=True).read(potential[1]))
        if is_contraction(atom):
            scalars, slots = zip(*map(self._slot, atom.args), strict=True)
            return Mul(*scalars), Derivative("loss", contraction_order(atom), None, slots)
        if atom.func in _PLAIN_CALLS or atom.func in (DOT, NUCLEAR, SUM_TENSORS):
            return self._of_tensor(atom)
        name, point, directions = opaque_parts(atom)
        if name == atom.func.__name__:  # no derivative: every argument of max(x, y) is one of the function
            return S.One, Call(name, tuple(map(replace(self, plain=True).read, atom.args)))
        labels = self._labels(atom)
        directions = directions[: len(directions) - len(labels)]
        if not directions:
            return S.One, Call(name, (replace(self, plain=True).read(point), *labels))
        scalars, slots = zip(*map(self._slot, directions), strict=True)
        at = replace(self, plain=True).read(point)
        if labels:
            return Mul(*scalars), Directional(name, at, slots, labels)
        if self.functions.get(name, ("", None))[1] is None:
            return Mul(*scalars), Directional(name, at, slots)
        return Mul(*scalars), Derivative(name, len(slots) + 1, at, slots)

    def _labels(self, atom: AppliedUndef) -> tuple[Formula, ...]:
        """What a matrix function is told beside its vectors: the order of a root, and its eps."""
        head = HEADS.of(atom)
        return () if head is None else tuple(map(replace(self, plain=True).read, labels_of(atom, head)))

    def _of_tensor(self, atom: AppliedUndef) -> tuple[Expr, Formula]:
        """A function of a whole tensor: the norm with the index F is that of one tensor, not of the model."""
        inside = replace(self, plain=True)
        if atom.func == DOT and atom.args[0] == atom.args[1]:
            return S.One, Power(self.tensor_norm(atom), Number(2))
        if atom.func == NUCLEAR:
            return S.One, Norm(inside.read(atom.args[0]), (Atom("*"),))
        if atom.func == SUM_TENSORS:
            scalar, uniform = split_scalar(atom.args[0])
            return scalar, TensorSum(inside.read(uniform))
        return S.One, Call(atom.func.__name__, tuple(map(inside.read, atom.args)))

    def tensor_norm(self, square: Expr) -> Formula:
        """The norm of one tensor, from its square ``dot(x, x)``."""
        return Norm(replace(self, plain=True).read(square.args[0]), (Atom("F"),))

    def _hessian(self, direction: Expr) -> tuple[Expr, Formula]:
        """D2L of a direction: the gradient of a named norm, a sum of such, or the Hessian applied."""
        scalar, vector = split_scalar(direction)
        if not self.plain:
            named = gradient_shape(vector)
            if named is not None:
                return scalar * named[0], Gradient(self._norm(named[1]))
            if isinstance(vector, Add) and self._splits(vector):
                parts = Add(*(Mul(c, HESSIAN(v)) for c, v in map(split_scalar, vector.args)))
                flipped, formula = self.sum(parts, flip=True)
                return (-scalar if flipped else scalar), formula
        repeat = 1
        while contraction_order(vector) == 2:
            factor, vector = split_scalar(vector.args[0])
            scalar, repeat = scalar * factor, repeat + 1
        factor, slot = self._slot(vector)
        return scalar * factor, Derivative("loss", 2, None, (slot,), repeat)

    def _splits(self, direction: Add) -> bool:
        """Whether the Hessian of a sum is written by terms: named norms, one at least, and plain vectors."""
        vectors = [split_scalar(term)[1] for term in direction.args]
        named = [gradient_shape(vector) is not None for vector in vectors]
        return any(named) and all(n or v.is_Symbol for n, v in zip(named, vectors, strict=True))

    def _norm(self, shape: NormShape) -> Formula:
        inside = replace(self, plain=True)
        norm = Norm(inside.read(shape.vector), tuple(inside.read(part) for part in shape.index))
        return norm if shape.power == 1 else Power(norm, Number(shape.power))

    def _total(self, summand: Expr) -> tuple[Expr, Formula]:
        """The sum of the entries: a norm, an inner product, a contracted tensor, or a plain sum."""
        scalar, vector = split_scalar(summand)
        shape = total_shape(vector)
        if shape is not None:
            return scalar, self._norm(shape)
        inside = replace(self, plain=True)
        pair = sorted(
            Mul.make_args(vector), key=lambda part: (kind(part) is Kind.TENSOR, self.order.vector(part))
        )
        if len(pair) == 2 and all(part.is_Symbol or isinstance(part, AppliedUndef) for part in pair):
            (left_scalar, left), (right_scalar, right) = map(self._slot, pair)
            scalar *= left_scalar * right_scalar
            if isinstance(right, Derivative) and right.field == "loss" and right.order > 2:
                slots = (left, *right.slots)
                return scalar, Derivative(right.field, right.order, right.point, slots, right.repeat)
            return scalar, Inner(left, right)
        if vector == 1:
            return S.One, Total(inside.read(summand))
        factor, body = self._slot(vector)
        return scalar * factor, Total(body)
