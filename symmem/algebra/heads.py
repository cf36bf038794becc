"""The table of the language's functions, and the three questions that every walk over an expression asks it.

    head_of     the record of the function at the top of an expression
    kind        scalar, entrywise or tensor
    applied     the function of new operands, in normal form: scalars in front of what is linear in them

``HEADS`` is the table of the language.  A new function costs one :class:`~symmem.algebra.head.Head`:
``HEADS.extended(record)`` is a table that has it, and every walk takes a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from types import MappingProxyType

from sympy import Abs, Add, Expr, Mul, S, Symbol, sign
from sympy.core.function import AppliedUndef, UndefinedFunction

from symmem.algebra.families import VECTOR_HEADS, of_family
from symmem.algebra.functions import FUNCTIONS
from symmem.algebra.head import Head, Operands, Scope
from symmem.algebra.noise_heads import NOISE_HEADS
from symmem.algebra.real_functions import real_function
from symmem.algebra.symbols import CHANGE, GRAD, MOMENTUM_NAME, THETA, VARIANCE, Kind
from symmem.algebra.tensor_heads import TENSOR_HEADS, matrix_head
from symmem.records import record


@record(frozen=True, eq=False)
class Heads:
    """A table of heads, read by name or by the SymPy class; other names are tensors of the loss or opaque."""

    records: tuple[Head, ...]
    _kinds: dict[Expr, Kind] = field(default_factory=dict, repr=False)

    @cached_property
    def by_name(self) -> Mapping[str, Head]:
        """The records by their names."""
        return MappingProxyType({head.name: head for head in self.records})

    @cached_property
    def _by_class(self) -> Mapping[type[Expr], Head]:
        classes = {head.function: head for head in self.records if isinstance(head.function, type)}
        return MappingProxyType({key: head for key, head in classes.items() if _is_defined(key)})

    def extended(self, *records: Head) -> Heads:
        """A table with further records; one with a known name takes its place."""
        names = {head.name for head in records}
        return Heads((*(head for head in self.records if head.name not in names), *records))

    def of(self, expression: Expr) -> Head | None:
        """The record of the function at the top; None for symbols, numbers and arithmetic."""
        if isinstance(expression, AppliedUndef):
            name = expression.func.__name__
            return self.by_name.get(name) or matrix_head(expression) or of_family(name)
        return self._by_class.get(expression.func)

    def kind(self, expression: Expr) -> Kind:
        """SCALAR, ENTRYWISE (entry i depends on the entries i of theta and grad), or TENSOR (mixes entries)."""
        if expression not in self._kinds:
            self._kinds[expression] = self._kind(expression)
        return self._kinds[expression]

    def _kind(self, expression: Expr) -> Kind:
        if isinstance(expression, Symbol):
            vector = expression in (THETA, GRAD, VARIANCE, CHANGE) or MOMENTUM_NAME.fullmatch(expression.name)
            return Kind.ENTRYWISE if vector else Kind.SCALAR
        head = self.of(expression)
        if head is not None and head.kind is not Kind.ENTRYWISE:
            return head.kind
        kinds = {self.kind(operand) for operand in operands_of(expression, head)}
        for candidate in (Kind.TENSOR, Kind.ENTRYWISE):
            if candidate in kinds:
                return candidate
        return Kind.SCALAR

    def split_scalar(self, expression: Expr) -> tuple[Expr, Expr]:
        """``(c, v)`` with ``expression = c * v``, c the product of the scalar factors."""
        factors = Mul.make_args(expression)
        scalars = [factor for factor in factors if self.kind(factor) is Kind.SCALAR]
        return Mul(*scalars), Mul(*(factor for factor in factors if self.kind(factor) is not Kind.SCALAR))

    def is_uniform(self, expression: Expr) -> bool:
        """Whether it is one number for each parameter tensor; a scalar is, too."""
        if self.kind(expression) is Kind.SCALAR:
            return True
        head = self.of(expression)
        if head is not None and head.scope is not Scope.ENTRY:
            return head.is_uniform
        operands = operands_of(expression, head)
        return bool(operands) and all(self.is_uniform(operand) for operand in operands)

    def split_for(self, head: Head, expression: Expr) -> tuple[Expr, Expr]:
        """``(c, v)`` with ``expression = c * v`` where c may leave the head: numbers of one tensor leave its functions.

        ``dot(norm(u) v, w) = norm(u) dot(v, w)``, while the Hessian joins tensors: ``D2L(norm(u) v)`` stays.
        """
        if head.scope is not Scope.TENSOR:
            return self.split_scalar(expression)
        factors = Mul.make_args(expression)
        outside = [factor for factor in factors if self.is_uniform(factor)]
        return Mul(*outside), Mul(*(factor for factor in factors if not self.is_uniform(factor)))

    def applied(self, head: Head, operands: Sequence[Expr], labels: Sequence[Expr] = ()) -> Expr:
        """``head(*operands, *labels)`` in normal form: ``D2L(2 beta u) = 2 beta D2L(u)``, ``D3L(v, u) = D3L(u, v)``."""
        if head.linear_from is None:
            of_real = head.function in (Abs, sign)
            return real_function(head.function, *operands) if of_real else head.function(*operands, *labels)
        fixed, slots = operands[: head.linear_from], operands[head.linear_from :]
        if any(slot == 0 for slot in slots):
            return S.Zero
        if head.binds:
            return head.function(*operands, *labels)
        if head.is_additive and len(slots) == 1:
            parts = [self.split_for(head, term) for term in Add.make_args(slots[0])]
            return Add(*(scalar * head.function(*fixed, vector) for scalar, vector in parts if scalar != 0))
        # SymPy multiplies a number into a sum; it is taken out again: D2L(2 u + 2 v) = 2 D2L(u + v).
        pairs = [slot.primitive() if isinstance(slot, Add) else self.split_for(head, slot) for slot in slots]
        vectors = [vector for _, vector in pairs]
        if head.is_symmetric:
            vectors.sort(key=lambda vector: vector.sort_key())
        return Mul(*(scalar for scalar, _ in pairs), head.function(*fixed, *vectors, *labels))

    def moved(self, head: Head, operands: Operands, rate: Expr, labels: Operands = ()) -> Expr:
        """The change of ``head(*operands)`` when its point moves by ``rate``."""
        if rate == 0:
            return S.Zero
        if head.derivative is not None:
            return head.derivative(operands, rate)
        if head.raised is not None:
            return self.applied(head.raised(), (*operands, rate), labels)
        if head.gradient is not None:
            return self.applied(self.by_name["total"], (head.gradient(operands) * rate,))
        raise NotImplementedError(f"no rule for the derivative of {head.name}")

    def rebuilt(self, expression: Expr, arguments: Sequence[Expr]) -> Expr:
        """The expression with other arguments, labels included, in normal form."""
        head = self.of(expression)
        if head is None:
            return expression.func(*arguments)
        count = len(operands_of(expression, head))
        return self.applied(head, arguments[:count], arguments[count:])

    def mapped(self, expression: Expr, change: Callable[[Expr], Expr]) -> Expr:
        """The expression with every operand changed, in normal form."""
        head = self.of(expression)
        operands = [change(operand) for operand in operands_of(expression, head)]
        return self.rebuilt(expression, [*operands, *expression.args[len(operands) :]])


def _is_defined(function: type[Expr]) -> bool:
    """Whether SymPy knows the function by its class; an undefined one is known by its name."""
    return not isinstance(function, UndefinedFunction)


def operands_of(expression: Expr, head: Head | None) -> Operands:
    """The arguments that are values."""
    return expression.args if head is None else expression.args[: head.operands]


def labels_of(expression: Expr, head: Head) -> Operands:
    """The arguments that are no values: limits of a sum, the number of a slot."""
    return () if head.operands is None else expression.args[head.operands :]


HEADS = Heads((*FUNCTIONS, *VECTOR_HEADS, *TENSOR_HEADS, *NOISE_HEADS))
"""The functions of the language."""
