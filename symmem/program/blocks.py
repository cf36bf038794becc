"""Expressions -> statements: what is not entrywise becomes a statement of its own, once.

A block is the body of a routine or of a loop.  What does not depend on a loop is computed before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count

from sympy import Add, Expr, Mul, Number, Pow, Product, Sum, Symbol, cse, oo, ordered
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from symmem.algebra.atoms import (
    AGO,
    GRAD,
    STEP,
    THETA,
    TOTAL,
    Kind,
    is_contraction,
    is_scalar,
    opaque_parts,
    potential_parts,
)
from symmem.algebra.heads import HEADS, labels_of, operands_of
from symmem.algebra.real_functions import with_arguments
from symmem.algebra.tensor_heads import is_of_tensors
from symmem.algebra.where import where
from symmem.derivation.groups.step_scalars import MANY_STEPS
from symmem.program.digits.decay_functions import Complete, bare
from symmem.program.entrywise import entrywise, only_read
from symmem.program.shapes import THETA_SHAPE, Shape, shape_of_value
from symmem.program.statements import (
    Apply,
    Assign,
    Assignment,
    Branch,
    Choice,
    Contract,
    Evaluate,
    Internal,
    Loop,
    OfTensor,
    Potential,
    Statement,
    Total,
)
from symmem.work import checkpoint


@dataclass
class Names:
    """New internal symbols, counted for each stem; and which symbols stand for vectors."""

    vectors: set[Symbol] = field(default_factory=lambda: {THETA, GRAD})
    potentials: Mapping[str, str] = field(default_factory=dict)
    """Opaque function -> the name of the number whose gradient it is."""
    shapes: dict[Symbol, Shape | None] = field(default_factory=dict)
    """Of vectors that may have another shape than theta; None for a number of each tensor."""
    _counts: Counter[str] = field(default_factory=Counter)

    def shape(self, vector: Symbol) -> Shape | None:
        """Its shape by the letters of that of theta."""
        return self.shapes.get(vector, THETA_SHAPE)

    def has_own_shape(self, vector: Symbol) -> bool:
        """Whether it is a matrix that need not be like theta."""
        return self.shape(vector) not in (None, THETA_SHAPE)

    def fresh(self, stem: str) -> Symbol:
        """A new scalar: the stem with the next number."""
        checkpoint("the lowering to statements")
        self._counts[stem] += 1
        return Internal(f"{stem}{self._counts[stem]}")

    def fresh_vector(self, stem: str) -> Symbol:
        """The same for a vector."""
        name = self.fresh(stem)
        self.vectors.add(name)
        return name


class Block:
    """Statements under construction."""

    def __init__(self, names: Names, parent: Block | None = None, index: Symbol | None = None) -> None:
        self._names = names
        self._parent = parent
        self._local: set[Symbol] = set() if index is None else {index}
        self._known: dict[Expr, Symbol] = {}
        self._early: list[Assignment] = []
        self._late: set[Symbol] = set()
        self._statements: list[Statement] = []

    def statements(self) -> tuple[Statement, ...]:
        """The statements so far; the scalars that need no other statement come first, with shared parts."""
        early = _shared(self._early, self._names)
        return ((Assign(early),) if early else ()) + tuple(self._statements)

    def finish(self, expression: Expr) -> Symbol:
        """The name of a vector expression; the last statement computes it, so that it can be written in place."""
        return self._apply(self.entrywise(expression))

    def finish_scalar(self, expression: Expr) -> Symbol:
        """The expression as the last scalar of the block; its name."""
        result = self._names.fresh("c")
        self._statements.append(Assign(((result, self.entrywise(expression)),)))
        return result

    def entrywise(self, expression: Expr) -> Expr:
        """The expression with every contraction, call, total and sum replaced by the name of its value."""
        if not expression.args:
            return expression
        same = _same_at_every_step(expression)
        if same is not None:
            return self.entrywise(same)
        if not isinstance(expression, (Sum, Product, where, AppliedUndef)):
            return with_arguments(expression, map(self.entrywise, expression.args))
        owner = self._owner(expression)
        if expression not in owner._known:
            owner._known[expression] = owner._barrier(expression)
        return owner._known[expression]

    def _barrier(self, expression: Expr) -> Symbol:
        if isinstance(expression, (Sum, Product)):
            return self._loop(expression)
        if isinstance(expression, where):
            return self._choice(*expression.args)
        if is_of_tensors(expression):
            return self._of_tensor(expression)
        arguments = tuple(self.vector(argument, is_full=True) for argument in expression.args)
        if expression.func == TOTAL:
            result = self._names.fresh("c")
            self._late.add(result)
            return self._add(Total(result, arguments[0]))
        potential = potential_parts(expression)
        if potential is not None:
            result = self._names.fresh("c")
            self._late.add(result)
            return self._add(Potential(result, self._names.potentials[potential[0]], arguments[0]))
        if is_contraction(expression):
            return self._add(Contract(self._names.fresh_vector("h"), arguments))
        return self._add(Evaluate(self._names.fresh_vector("k"), expression.func.__name__, arguments))

    def _of_tensor(self, expression: Expr) -> Symbol:
        head = HEADS.of(expression)
        assert head is not None
        full = head.name != "sum_tensors"  # which takes one number of each tensor
        vectors = tuple(self.vector(each, is_full=full) for each in operands_of(expression, head))
        numbers = tuple(self.scalar(self.entrywise(label)) for label in labels_of(expression, head))
        name, names = opaque_parts(expression)[0], self._names
        if head.kind is Kind.SCALAR:
            result = names.fresh("c")
            self._late.add(result)
        else:
            result = names.fresh_vector("u" if head.is_uniform else "k")
        if not head.is_uniform and head.kind is not Kind.SCALAR:
            names.shapes[result] = shape_of_value(name, [names.shape(vector) for vector in vectors])
        elif head.is_uniform:
            names.shapes[result] = None
        return self._add(OfTensor(result, name, vectors, numbers))

    def vector(self, expression: Expr, *, is_full: bool = False) -> Symbol:
        """The name of a vector: theta, grad, or the result of a statement.

        ``is_full``: one number for each tensor, as ``mean(grad)``, is written into all entries, as others read it.
        """
        plain = self.entrywise(expression)
        if plain in self._names.vectors and not (is_full and self._names.shape(plain) is None):
            return plain
        owner = self._owner(plain)
        if plain not in owner._known:
            owner._known[plain] = owner._apply(plain)
        return owner._known[plain]

    def scalar(self, expression: Expr) -> Expr:
        """The name of a scalar; numbers and names, also with a minus, stand for themselves."""
        if isinstance(expression, (Number, Symbol)) or isinstance(-expression, Symbol):
            return expression
        owner = self._owner(expression)
        if expression not in owner._known:
            result = owner._names.fresh("c")
            owner._known[expression] = result
            owner._local.add(result)
            if expression.free_symbols & owner._late:
                owner._late.add(result)
                owner._statements.append(Assign(((result, expression),)))
            else:
                owner._early.append((result, expression))
        return owner._known[expression]

    def _apply(self, expression: Expr) -> Symbol:
        names = self._names
        # The local values of a function are counted anew, so that equal functions are equal records.
        value = entrywise(expression, frozenset(names.vectors), self.scalar, Names().fresh)
        result = names.fresh_vector("v")
        shapes = (names.shape(vector) for vector in value.vectors)
        names.shapes[result] = next((shape for shape in shapes if shape is not None), THETA_SHAPE)
        return self._add(Apply(result, value, names.has_own_shape(result)))

    def _choice(self, condition: Boolean, value: Expr, otherwise: Expr) -> Symbol:
        """The branches are blocks by themselves: nothing of them is computed before the condition is known."""
        result = self._names.fresh("c")
        self._late.add(result)
        sums, branches = {each: self.scalar(each) for each in ordered(condition.atoms(Complete))}, []
        for each in (value, otherwise):
            block = Block(self._names)
            ends = block.finish_scalar(each.xreplace(sums))
            branches.append(Branch(block.statements(), ends))
        return self._add(Choice(result, self._condition(condition.xreplace(sums)), *branches))

    def _condition(self, condition: Boolean) -> Boolean:
        if isinstance(condition, Relational):
            return condition.func(*(self.entrywise(side) for side in condition.args), evaluate=False)
        return condition.func(*(self._condition(part) for part in condition.args), evaluate=False)

    def _loop(self, expression: Sum | Product) -> Symbol:
        """A sum over past steps, or a product; SymPy's limits are inclusive, the innermost first."""
        if isinstance(expression, Product):
            return self._product_loop(expression)
        *inner, (index, lower, upper) = expression.limits
        if lower == 0 and (upper == oo or index == AGO):
            # Over lags: the oldest step first, as every loop runs, and as its terms are cut.
            newest = MANY_STEPS if upper == oo else upper
            turned = expression.function.xreplace({index: newest - index})
            expression, upper = Sum(turned, *inner, (index, 0, newest)), newest
        summand = Sum(expression.function, *inner) if inner else expression.function
        body = Block(self._names, self, index)
        scalar = is_scalar(expression.function)
        if scalar:
            result, term = self._names.fresh("c"), body.finish_scalar(summand)
            self._late.add(result)
        else:
            result, term = self._names.fresh_vector("v"), body.finish(summand)
        first, stop = self.entrywise(lower), self.entrywise(upper + 1)
        decay = _decay(expression.function, index, stop)
        own = not scalar and self._names.has_own_shape(term)
        if own:
            self._names.shapes[result] = self._names.shape(term)
        steps = body.statements()
        return self._add(Loop(result, index, first, stop, decay, steps, term, scalar, has_own_shape=own))

    def _product_loop(self, expression: Product) -> Symbol:
        ((index, lower, upper),) = expression.limits
        body = Block(self._names, self, index)
        result, term = self._names.fresh("c"), body.finish_scalar(expression.function)
        self._late.add(result)
        first, stop = self.entrywise(lower), self.entrywise(upper + 1)
        return self._add(Loop(result, index, first, stop, None, body.statements(), term, True, True))

    def _owner(self, expression: Expr) -> Block:
        """The outermost block in which the expression can be computed."""
        block = self
        while block._parent is not None and not expression.free_symbols & block._local:
            block = block._parent
        return block

    def _add(
        self, statement: Apply | Contract | Evaluate | Potential | OfTensor | Total | Loop | Choice
    ) -> Symbol:
        self._statements.append(statement)
        self._local.add(statement.result)
        return statement.result


def _same_at_every_step(expression: Expr) -> Expr | None:
    """The value of a sum whose terms do not depend on its index: so many times one; None for all else."""
    if not isinstance(expression, Sum):
        return None
    *inner, (index, lower, upper) = expression.limits
    summand = Sum(expression.function, *inner) if inner else expression.function
    if upper == oo or index in summand.free_symbols:
        return None
    return (upper + 1 - lower) * summand


def _shared(assignments: list[Assignment], names: Names) -> tuple[Assignment, ...]:
    """The assignments with their repeated parts named first; n + 1 is shorter than a name for it."""
    stream = (names.fresh("x") for _ in count())
    parts, reduced = cse([value for _, value in assignments], symbols=stream, list=False)
    named = zip((name for name, _ in assignments), reduced, strict=True)
    plain = {name: value for name, value in parts if isinstance(value, Add) and (value - STEP).is_Integer}
    found = [(name, bare(value.xreplace(plain))) for name, value in (*parts, *named) if name not in plain]
    return tuple(only_read(found, {name for name, _ in assignments}))


def _decay(summand: Expr, index: Symbol, stop: Expr) -> Expr | None:
    """The base b of a factor ``b**(stop - index + c)``, c >= -1, that all terms share; c = -1 ends with 0**0 = 1."""
    shared: set[Expr] | None = None
    for term in Add.make_args(summand):
        powers = [each for each in Mul.make_args(term) if isinstance(each, Pow) and is_scalar(each.base)]
        ahead = [(each.base, each.exp - stop + index) for each in powers]
        bases = {base for base, c in ahead if c.is_number and c >= -1}
        shared = bases if shared is None else shared & bases
    return min(shared, key=str) if shared else None
