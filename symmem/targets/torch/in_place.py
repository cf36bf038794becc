"""Entrywise formulas as calls of PyTorch's functions that work in a few tensors of their own.

``b + c x y`` is one call, ``addcmul``; a value that is read for the last time gives its tensor to the result.  The
tensors of the caller are never written.  Autograd does not go through such functions: the runtime calls them without.

Example: ``w * theta + s * x / sqrt(eps + v)`` is

    w1 = torch.add(v, eps)
    w1.rsqrt_()
    w2 = torch.mul(theta, w)
    return w2.addcmul_(x, w1, value=s)
"""

from __future__ import annotations

from collections.abc import Collection

from sympy import Add, Expr, Mul, Pow, Symbol

from symmem.program.statements import Entrywise
from symmem.targets.printing import MOST_FACTORS
from symmem.targets.python.in_place import ROOT, Call, Passes, in_arrays, weight
from symmem.targets.python.layout import call
from symmem.targets.python.printing import PythonPrinter

NAMES = {"multiply": "mul", "divide": "div", "power": "pow", "Abs": "abs", "Min": "clamp", "Max": "clamp"}
"""PyTorch's names of the calls, where they differ."""
NUMBER = {"add": "alpha", "addcmul": "value", "addcdiv": "value"}
"""What PyTorch calls the number before the last term, which is the last argument here."""
BOUND = {"Min": "max", "Max": "min"}


def tensor_lines(function: Entrywise, printer: PythonPrinter, torch: str, width: int) -> list[str]:
    """The calls, and ``return`` of the value; it may be a tensor that was given, or a number."""
    found = TensorPasses(function)
    calls = in_arrays(found.calls)
    last = calls.pop() if calls and found.calls[-1].result == found.value else None
    made: set[Symbol] = set()
    lines: list[str] = []
    for each in calls:
        new = f"{printer.source(each.result)} = "
        lines += call("" if each.result in made else new, *_called(each, printer, torch, made), width)
        made.add(each.result)
    if last is None:
        return [*lines, f"return {printer.source(found.value)}"]
    return [*lines, *call("return ", *_called(last, printer, torch, made), width)]


def _called(
    each: Call, printer: PythonPrinter, torch: str, made: Collection[Symbol]
) -> tuple[str, list[str]]:
    """A method of the tensor that it changes, a function with ``out``, or one that makes a new tensor."""
    name, result = NAMES.get(each.function, each.function), printer.source(each.result)
    first, *others = _arguments(each, printer)
    if each.arguments[0] == each.result:
        return f"{result}.{name}_", others
    out = [f"out={result}"] if each.result in made else []
    return f"{torch}.{name}", [first, *others, *out]


def _arguments(each: Call, printer: PythonPrinter) -> list[str]:
    found = [printer.source(argument) for argument in each.arguments]
    if each.function in BOUND:
        return [found[0], f"{BOUND[each.function]}={found[1]}"]
    keyword = NUMBER.get(each.function)
    count = 3 if keyword == "alpha" else 4
    if keyword is None or len(found) < count:
        return found
    return found[:-1] if each.arguments[-1] == 1 else [*found[:-1], f"{keyword}={found[-1]}"]


class TensorPasses(Passes):
    """Sums by ``add(x, alpha=c)``, ``addcmul(x, y, value=c)`` and ``addcdiv``; the first argument is a vector."""

    divides_by_roots = False  # a product with rsqrt takes less than a quotient by sqrt

    def _power(self, base: Expr, exponent: Expr) -> Expr:
        if exponent == ROOT:
            return self._call("rsqrt", self._value(base))
        if exponent.is_Integer and -MOST_FACTORS <= exponent < 0:
            return self._call("reciprocal", self._value(Pow(base, -exponent)))
        return super()._power(base, exponent)

    def _product(self, part: Mul) -> Expr:
        number, above, below = self._distributed(part)
        result = self._factor(above, below)
        return result if number == 1 else self._call("multiply", result, number)

    def _factor(self, above: list[Expr], below: list[Expr]) -> Expr:
        """The product of vectors over that of others."""
        over = [self._value(each) for each in below]
        if above:
            result, *others = (self._value(each) for each in above)
        else:
            result, others = self._call("reciprocal", over.pop(0)), []
        for other in others:
            result = self._call("multiply", result, other)
        for other in over:
            result = self._call("divide", result, other)
        return result

    def _sum(self, part: Add) -> Expr:
        number = Add(*(term for term in part.args if self._is_number(term)))
        terms = [self._distributed(term) for term in part.args if not self._is_number(term)]
        terms.sort(key=lambda term: (_gain(*term), -sum(map(weight, (*term[1], *term[2])))))
        (factor, above, below), *others = terms
        result = self._factor(above, below)
        if factor != 1:
            result = self._call("multiply", result, factor)
        for factor, above, below in others:
            result = self._added(result, factor, above, below)
        return result if number == 0 else self._call("add", result, number)

    def _added(self, result: Expr, factor: Expr, above: list[Expr], below: list[Expr]) -> Expr:
        """``result + factor * above / below`` in one call, after the values that it takes."""
        if len(above) + len(below) == 1 and above:
            return self._call("add", result, self._value(above[0]), factor)
        if below and above:
            upper = self._factor(above, below[1:])
            return self._call("addcdiv", result, upper, self._value(below[0]), factor)
        if len(above) > 1:
            first, *rest = above
            return self._call("addcmul", result, self._factor(rest, []), self._value(first), factor)
        return self._call("add", result, self._factor(above, below), factor)


def _gain(factor: Expr, above: list[Expr], below: list[Expr]) -> int:
    """How many calls are saved where a term is added, and is not the first of its sum."""
    return int(factor != 1) - int(len(above) + len(below) == 1)
