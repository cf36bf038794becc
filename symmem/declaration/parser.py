"""The safe expression parser: a declaration's text -> a SymPy expression with plain symbols.

The text is checked character by character and token by token, read into Python's syntax tree, and the tree
is translated node by node through a whitelist.  Nothing is ever executed.  Every bound on the work is
checked before the work: the length, the depth, the digits here; the size of numbers in ``bounded``.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Collection

from sympy import Expr, Integer, S, Symbol
from sympy.logic.boolalg import Boolean

from symmem.declaration import bounded, hints, kinks, stepwise, tensor_calls
from symmem.declaration.names import check_name
from symmem.declaration.tokens import at_column, check_tokens, decimal_number
from symmem.errors import DeclarationError, quote

MAX_LENGTH = 2000
MAX_DEPTH = 200
MAX_NODES = 1000

_CALLED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)[ \t]*\(")

_NODE_HINTS: dict[type[ast.AST], str] = {
    ast.Attribute: "names have no dots; write plain names, sqrt and not np.sqrt",
    ast.Lambda: "no lambda; write the expression itself",
    ast.Tuple: "an expression is one value; remove the comma, and write a decimal with a point, 0.5",
    ast.Starred: "a star without a left side; write a product as a*b",
    ast.IfExp: "no conditions; write one smooth formula",
    ast.BoolOp: "no logic; an expression is one formula",
    ast.Compare: "no comparisons and no conditions; write one smooth formula",
    ast.Not: "no logic; an expression is one formula",
    ast.FloorDiv: "no floor division; write /",
}


def parse(
    text: str, functions: Collection[str] = (), *, of_the_step: bool = False, smoothed: Collection[str] = ()
) -> Expr:
    """Read one expression exactly: ``0.1`` is 1/10, names are plain symbols, ``functions`` are opaque.

    Knows + - * / **, parentheses, names, and calls of ``bounded.FUNCTIONS`` or of ``functions`` with one argument;
    where nothing is differentiated, ``of_the_step``, also pi and those of ``stepwise.NAMES``; of max, min and clip
    those that are ``smoothed``.  Anything else is a DeclarationError that names the column, counted from 1.
    """
    if not isinstance(text, str):
        raise DeclarationError(f"expected an expression as text, got {quote(text)}")
    if len(text) > MAX_LENGTH:
        raise DeclarationError(f"longer than {MAX_LENGTH} characters; split it or use parameters")
    if not text.strip(" \t"):
        raise DeclarationError("empty; write a number or a formula")
    check_tokens(text, of_the_step=of_the_step)
    stripped = text.lstrip(" \t")
    offset = len(text) - len(stripped)
    try:
        tree = ast.parse(stripped, mode="eval").body
    except SyntaxError as error:
        column = min((error.offset or 1) + offset, len(text))
        raise at_column(column, _not_an_expression(text)) from None
    except (ValueError, MemoryError, RecursionError):
        raise DeclarationError("nested too deeply; simplify the expression") from None
    _check_tree(tree)
    translator = _StepTranslator if of_the_step else _Translator
    return translator(stripped, offset, frozenset(functions), frozenset(smoothed)).expression(tree)


def called_names(text: str) -> frozenset[str]:
    """The names that the text calls like a function and that the language does not know itself."""
    known = {*bounded.FUNCTIONS, *tensor_calls.FUNCTIONS, *stepwise.NAMES}
    return frozenset(_CALLED.findall(text[:MAX_LENGTH])) - known


def _not_an_expression(text: str) -> str:
    for name in re.findall(r"[A-Za-z_]+", text):
        if keyword.iskeyword(name):
            return f"{quote(name)} is a word of Python; choose another name"
    return f"not an expression; check {quote(text)}"


def _check_tree(tree: ast.AST) -> None:
    """Bound depth and size without recursion."""
    level, nodes, depth = [tree], 0, 0
    while level:
        nodes, depth = nodes + len(level), depth + 1
        if depth > MAX_DEPTH or nodes > 3 * MAX_NODES:
            raise DeclarationError("nested too deeply or too long; simplify the expression")
        level = [child for node in level for child in ast.iter_child_nodes(node)]


class _Translator:
    """The whitelist: one method for each kind of node that the language has."""

    def __init__(
        self, text: str, offset: int, functions: frozenset[str], smoothed: frozenset[str] = frozenset()
    ) -> None:
        self._text = text
        self._offset = offset
        self._functions = functions
        self._kinks = smoothed

    def expression(self, node: ast.expr) -> Expr:
        try:
            if isinstance(node, ast.Constant):
                return self._number(node)
            if isinstance(node, ast.Name):
                return self._symbol(node.id)
            if isinstance(node, ast.UnaryOp):
                return self._unary(node)
            if isinstance(node, ast.BinOp):
                return self._binary(node)
            if isinstance(node, ast.Call):
                return self._call(node)
        except bounded.ArithmeticRefusal as error:
            raise error.at_column(self._column(node)) from None
        raise self._refusal(node, node)

    def _symbol(self, name: str) -> Expr:
        return Symbol(name)

    def _number(self, node: ast.Constant) -> Expr:
        segment = ast.get_source_segment(self._text, node) or ""
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            raise at_column(self._column(node), f"{quote(segment)} is not a number; use numbers and names")
        return decimal_number(segment)

    def _unary(self, node: ast.UnaryOp) -> Expr:
        if isinstance(node.op, ast.USub):
            return bounded.multiply(S.NegativeOne, self.expression(node.operand))
        if isinstance(node.op, ast.UAdd):
            return self.expression(node.operand)
        raise self._refusal(node.op, node)

    def _binary(self, node: ast.BinOp) -> Expr:
        if not isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)):
            raise self._refusal(node.op, node)
        left, right = self.expression(node.left), self.expression(node.right)
        if isinstance(node.op, ast.Add):
            return bounded.add(left, right)
        if isinstance(node.op, ast.Sub):
            return bounded.add(left, bounded.multiply(Integer(-1), right))
        if isinstance(node.op, ast.Mult):
            return bounded.multiply(left, right)
        return (bounded.divide if isinstance(node.op, ast.Div) else bounded.power)(left, right)

    def _call(self, node: ast.Call) -> Expr:
        column = self._column(node)
        if isinstance(node.func, ast.Attribute):
            raise at_column(
                column, f"names have no dots; write {node.func.attr}(x) alone, or what stands for it"
            )
        if not isinstance(node.func, ast.Name):
            raise at_column(column, "only a named function can be called; write a product with *")
        name = node.func.id
        if name in self._kinks:
            return kinks.kinked(name, map(self.expression, node.args))
        if name in stepwise.NAMES:
            return self._of_the_step(name, node)
        if name in tensor_calls.FUNCTIONS:
            return self._tensor_call(name, node, column)
        if name not in bounded.FUNCTIONS and name not in self._functions:
            known = ", ".join([*bounded.FUNCTIONS, *tensor_calls.FUNCTIONS, *sorted(self._functions)])
            raise at_column(column, f"unknown function {quote(name)}; known are {known}")
        by_place = not node.keywords and not any(isinstance(each, ast.Starred) for each in node.args)
        if len(node.args) != 1 or not by_place:
            if name not in bounded.FUNCTIONS and name in hints.CALLS:
                raise at_column(column, f"{name} {hints.CALLS[name]}")
            if name in bounded.FUNCTIONS or not by_place:
                raise at_column(column, f"{name} takes exactly one argument; write {name}(x)")
        arguments = [self.expression(each) for each in node.args]
        if name in bounded.FUNCTIONS:
            return bounded.call(name, *arguments)
        return bounded.undefined(name, *arguments)  # what the declaration does not know it refuses

    def _tensor_call(self, name: str, node: ast.Call, column: int) -> Expr:
        if node.keywords:
            raise at_column(
                column, f"{name} takes its arguments by position; write {tensor_calls.usage(name)}"
            )
        return tensor_calls.call(name, [self.expression(argument) for argument in node.args])

    def _of_the_step(self, name: str, node: ast.Call) -> Expr:
        raise at_column(self._column(node), f"{name} {hints.CALLS[name]}")

    def _refusal(self, kind: ast.AST, place: ast.expr) -> DeclarationError:
        unknown = (
            f"{type(kind).__name__} is not in the language; use numbers, names, + - * / ** and functions"
        )
        return at_column(self._column(place), _NODE_HINTS.get(type(kind), unknown))

    def _column(self, node: ast.expr) -> int:
        return node.col_offset + self._offset + 1


_STEP_HINTS: dict[type[ast.AST], str] = dict.fromkeys(
    (ast.Compare, ast.IfExp, ast.BoolOp, ast.Not),
    "a condition stands inside where alone; write where(n < 100, x, y)",
)


class _StepTranslator(_Translator):
    """The whitelist where nothing is differentiated: branches, conditions and products too."""

    def _refusal(self, kind: ast.AST, place: ast.expr) -> DeclarationError:
        if type(kind) in _STEP_HINTS:
            return at_column(self._column(place), _STEP_HINTS[type(kind)])
        return super()._refusal(kind, place)

    def _symbol(self, name: str) -> Expr:
        return S.Pi if name == "pi" else Symbol(name)

    def _of_the_step(self, name: str, node: ast.Call) -> Expr:
        given, column = node.args, self._column(node)
        if node.keywords or any(isinstance(each, ast.Starred) for each in given):
            raise at_column(
                column, f"{name} takes its arguments by their places; write no names and no stars"
            )
        if name == "where":
            if len(given) != 3:
                raise at_column(column, "where takes a condition and two values; write where(n < 100, x, y)")
            return stepwise.chosen(self._condition(given[0]), *map(self.expression, given[1:]))
        if name == "prod":
            return self._product(given, column)
        if len(given) < 2:
            raise at_column(column, f"{name} takes two arguments or more; write {name}(x, y)")
        return stepwise.extreme(name, [self.expression(each) for each in given])

    def _product(self, given: list[ast.expr], column: int) -> Expr:
        if len(given) != 4 or not isinstance(given[1], ast.Name):
            raise at_column(
                column, "prod takes a factor, its index and the ends; write prod(1 - 1/i, i, 2, n + 1)"
            )
        try:
            index = Symbol(check_name(given[1].id))
        except DeclarationError as error:
            raise error.within(f"column {self._column(given[1])}") from None
        factor, first, last = (self.expression(given[place]) for place in (0, 2, 3))
        return stepwise.product(factor, index, first, last)

    def _condition(self, node: ast.expr) -> Boolean:
        if isinstance(node, ast.BoolOp):
            parts = [self._condition(each) for each in node.values]
            return stepwise.joined(parts, all_of_them=isinstance(node.op, ast.And))
        if not isinstance(node, ast.Compare) or any(type(op) not in stepwise.COMPARISONS for op in node.ops):
            raise at_column(
                self._column(node), "a condition compares two numbers; write n < 100, <=, >, >=, and, or"
            )
        sides = [self.expression(each) for each in (node.left, *node.comparators)]
        parts = [
            stepwise.comparison(stepwise.COMPARISONS[type(op)], left, right)
            for op, left, right in zip(node.ops, sides, sides[1:], strict=False)
        ]
        return parts[0] if len(parts) == 1 else stepwise.joined(parts, all_of_them=True)
