"""An entrywise function as calls of a library's functions, each with its ``out``: no pass makes a new array.

A formula ``r1 * g + w * theta`` makes four arrays in NumPy; the same calls with ``out`` need one, which stays in the
cache of a core.  ``Passes`` puts a formula into such calls, numbers multiplied with numbers first, ``x**(-1/2) * y``
as a division; ``in_arrays`` gives every value the first array that is free.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sympy import Add, Expr, Mul, Pow, S, Symbol, preorder_traversal
from sympy.core.numbers import Number

from symmem.program.statements import Assignment, Entrywise, Internal
from symmem.targets.printing import MOST_FACTORS

OUT = Internal("out")
"""Where the last call writes.  Inputs may be the same array, so no other call does."""
ROOT = -S.Half


class Work(Internal):
    """An array that a function works in."""


class _Value(Internal):
    """What one call made, before it has an array."""


@dataclass(frozen=True)
class Call:
    """``function(*arguments, result)``: a function of the library, or of the language by its class name."""

    function: str
    arguments: tuple[Expr, ...]
    result: Symbol


def passes(function: Entrywise) -> list[Call]:
    """The calls of NumPy's functions in their order; the last one writes OUT."""
    found = Passes(function)
    if found.calls and found.calls[-1].result == found.value:
        return [*found.calls[:-1], replace(found.calls[-1], result=OUT)]
    return [*found.calls, Call("positive", (found.value,), OUT)]


class Passes:
    """The calls of one function, as its values are computed; ``value`` is the last, a vector or a number."""

    divides_by_roots = True
    """Whether ``x**(-1/2) * y`` is a division."""

    def __init__(self, function: Entrywise) -> None:
        self._vectors = {*function.vectors, *(name for name, _ in function.locals)}
        self.calls: list[Call] = []
        self._made: dict[Expr, Expr] = {}
        known: dict[Expr, Expr] = {}
        divided = _divided(function.locals, function.output) if self.divides_by_roots else set()
        for name, value in function.locals:
            known[name] = value.xreplace(known) if name in divided else self._value(value.xreplace(known))
        self.value = self._value(function.output.xreplace(known))

    def _is_number(self, part: Expr) -> bool:
        return not part.free_symbols & self._vectors

    def _call(self, function: str, *arguments: Expr) -> Symbol:
        result = _Value(f"value{len(self.calls) + 1}")
        self._vectors.add(result)
        self.calls.append(Call(function, arguments, result))
        return result

    def _value(self, part: Expr) -> Expr:
        """The name of a vector, or the number itself; what is needed twice is made once."""
        if self._is_number(part) or isinstance(part, Symbol):
            return part
        if part not in self._made:
            self._made[part] = self._operation(part)
        return self._made[part]

    def _operation(self, part: Expr) -> Expr:
        if isinstance(part, Add):
            return self._sum(part)
        if isinstance(part, Mul):
            return self._product(part)
        if isinstance(part, Pow):
            return self._power(part.base, part.exp)
        numbers = [each for each in part.args if self._is_number(each)]
        vectors = heavy_first(each for each in part.args if not self._is_number(each))
        first, *others = (self._value(each) for each in (*vectors, *numbers))
        if not others:
            return self._call(part.func.__name__, first)
        for other in others:  # the smallest of many, two by two
            first = self._call(part.func.__name__, first, other)
        return first

    def _power(self, base: Expr, exponent: Expr) -> Expr:
        if exponent == ROOT:
            return self._call("divide", S.One, self._power(base, S.Half))
        value = self._value(base)
        if exponent == S.Half:
            return self._call("sqrt", value)
        if exponent.is_Integer and abs(exponent) <= MOST_FACTORS:
            result = value
            for _ in range(abs(int(exponent)) - 1):
                result = self._call("multiply", result, value)
            return result if exponent > 0 else self._call("divide", S.One, result)
        return self._call("power", value, exponent)

    def _product(self, part: Mul) -> Expr:
        number, above, below = self._distributed(part)
        first, *others = [*([] if number == 1 else [number]), *(self._value(each) for each in above)] or [
            S.One
        ]
        result = first
        for other in others:
            result = self._call("multiply", result, other)
        for each in below:
            result = self._call("divide", result, self._value(each))
        return result

    def _distributed(self, part: Expr) -> tuple[Expr, list[Expr], list[Expr]]:
        """The factors; where all terms of a sum have numbers already, the number before it goes to them."""
        number, above, below = self._factors(part)
        if number != 1:
            place = next((k for k, each in enumerate(above) if self._takes_a_number(each)), None)
            if place is not None:  # c (a + b x) is c a + c b x: the numbers are multiplied before
                terms = [_times(number, term) for term in above[place].args]
                above[place], number = Add(*terms, evaluate=False), S.One
        return number, above, below

    def _factors(self, part: Expr) -> tuple[Expr, list[Expr], list[Expr]]:
        """The number before it, the vectors above the line, the longest first, and those below."""
        number: list[Expr] = []
        above: list[Expr] = []
        below: list[Expr] = []
        for each in Mul.make_args(part):
            if self._is_number(each):
                number.append(each)
            elif isinstance(each, Pow) and each.exp.could_extract_minus_sign():
                below.append(Pow(each.base, -each.exp, evaluate=False))
            elif isinstance(each, Pow) and each.exp.is_Integer and each.exp <= MOST_FACTORS:
                above += [each.base] * int(each.exp)
            else:
                above.append(each)
        return Mul(*number), heavy_first(above), below

    def _takes_a_number(self, factor: Expr) -> bool:
        """Whether every term of a sum has a number already."""
        return isinstance(factor, Add) and all(
            self._is_number(term)
            or (
                isinstance(term, Mul)
                and any(self._is_number(each) and each not in (1, -1) for each in term.args)
            )
            for term in factor.args
        )

    def _sum(self, part: Add) -> Expr:
        number = Add(*(term for term in part.args if self._is_number(term)))
        terms = [term for term in part.args if not self._is_number(term)]
        terms.sort(key=lambda term: (_is_minus(term), -weight(term)))
        if number != 0 and _is_minus(terms[0]):
            result, number = self._call("subtract", number, self._value(-terms[0])), S.Zero
        else:
            result = self._value(terms[0])
        for term in terms[1:]:
            function, size = ("subtract", -term) if _is_minus(term) else ("add", term)
            result = self._call(function, result, self._value(size))
        return result if number == 0 else self._call("add", result, number)


def _times(number: Expr, term: Expr) -> Expr:
    return Mul(number, *Mul.make_args(term))


def _is_minus(term: Expr) -> bool:
    """-x, which is subtracted; -c x for a number c is added with its sign."""
    coefficient = term.as_coeff_Mul()[0]
    return isinstance(coefficient, Number) and bool(coefficient.is_negative)


def weight(part: Expr) -> int:
    """How many operations it has."""
    return sum(1 for each in preorder_traversal(part) if each.args)


def heavy_first(parts: Iterable[Expr]) -> list[Expr]:
    """What has to be computed stands first: fewer values wait for it."""
    return sorted(parts, key=weight, reverse=True)


def _divided(assignments: Sequence[Assignment], output: Expr) -> set[Symbol]:
    """The roots ``x**(-1/2)`` that stand once, in a product: it is divided by ``sqrt(x)``."""
    formulas = [*(value for _, value in assignments), output]
    uses: dict[Symbol, int] = {}
    for formula in formulas:
        for part in preorder_traversal(formula):
            for each in part.args:
                if isinstance(each, Symbol):
                    uses[each] = uses.get(each, 0) + (1 if isinstance(part, Mul) else 2)
    return {
        name
        for name, value in assignments
        if isinstance(value, Pow) and value.exp == ROOT and uses.get(name) == 1
    }


def in_arrays(calls: Sequence[Call]) -> list[Call]:
    """Each value in an array that is free: one that is read for the last time gives its own to the result.

    That of the first argument is preferred: a library may have the call as a method that changes it.
    """
    last = {part: k for k, call in enumerate(calls) for each in call.arguments for part in each.free_symbols}
    free: list[Work] = []
    places: dict[Expr, Expr] = {}
    made, found = 0, []
    for k, call in enumerate(calls):
        arguments = tuple(each.xreplace(places) for each in call.arguments)
        over = [value for value in places if last[value] <= k]
        free = sorted([*free, *(places.pop(value) for value in over)], key=str)
        if isinstance(call.result, _Value):
            if not free:
                made += 1
                free = [Work(f"w{made}")]
            place = arguments[0] if arguments[0] in free else free[0]
            free.remove(place)
            places[call.result] = place
        found.append(Call(call.function, arguments, places.get(call.result, call.result)))
    return found
