"""The notation room: what is printed is read back, by a reader written here, and has the same value.

One dimension: L is a polynomial, so that every derivative, norm and gradient of a norm has a value by its
meaning.  The reader knows nothing of the printer; it refuses a factor behind a fraction without a dot, so
that `a/b c` cannot be printed unnoticed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import mpmath
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sympy import Abs, Function, Rational, Sum, Symbol, sign, sqrt, symbols

from symmem.notation.latex import latex, latex_lines
from symmem.notation.symbols import unicode_of
from symmem.notation.text import text

MP = mpmath.mp.clone()
MP.dps = 40

n, s, lr, beta, beta1, beta2, eps, weight_decay = symbols("n s lr beta beta1 beta2 eps weight_decay")
grad, theta, loss, c = symbols("grad theta loss c")
D2L, D3L, total, gradK, gradK_jvp, gradK_jvp2, f, f_jvp, f_jvp2 = (
    Function(name) for name in "D2L D3L total gradK gradK_jvp gradK_jvp2 f f_jvp f_jvp2".split(" ")
)
NAMES = {"beta1": r"\beta_1", "beta2": r"\beta_2", "eps": r"\varepsilon", "weight_decay": r"\lambda"}
LION = {"beta1": r"\rho_1", "beta2": r"\rho_2", "eps": r"\varepsilon", "weight_decay": r"\lambda"}
HEAVY = {"beta": r"\beta"}
ALL = {**NAMES, **HEAVY}
FUNCTIONS = {"gradK": (r"\nabla\mathcal{K}", "K"), "f": ("f", None)}

# ---------------------------------------------------------------- meaning: values in one dimension

Values = Mapping[str, Any]
POLYNOMIAL = (3, 2, -1, 1, 2)  # coefficients of L, constant first


def derivative(order: int, at: Any) -> Any:
    """The derivative of L at a point."""
    value = MP.mpf(0)
    for power, coefficient in enumerate(POLYNOMIAL):
        if power >= order:
            value += coefficient * MP.factorial(power) / MP.factorial(power - order) * at ** (power - order)
    return value


def opaque(name: str, order: int, at: Any) -> Any:
    """The opaque functions and their derivatives: K' = x^3/3 + x, f = sin."""
    if name == "f":
        return [MP.sin(at), MP.cos(at), -MP.sin(at)][order]
    return [at**3 / 3 + at, at**2 + 1, 2 * at][order]


POINT: Values = {
    name: MP.mpf(value)
    for name, value in {
        "theta": "0.37", "lr": "0.21", "beta": "0.83", "beta1": "0.71", "beta2": "0.57", "eps": "0.13",
        "weight_decay": "0.29", "n": "3", "c": "1.7",
    }.items()
}  # fmt: skip


def value_of(expression: Any, at: Values) -> Any:
    """The direct value of an expression of the language."""
    if expression.is_Rational:
        return MP.mpf(int(expression.p)) / int(expression.q)
    if isinstance(expression, Symbol):
        orders = {"loss": 0, "grad": 1}
        known = expression.name in orders
        return derivative(orders[expression.name], at["theta"]) if known else at[expression.name]
    if isinstance(expression, Sum):
        (index, low, high), *_ = expression.limits
        steps = range(int(value_of(low, at)), int(value_of(high, at)) + 1)
        parts = (value_of(expression.function, {**at, index.name: MP.mpf(step)}) for step in steps)
        return MP.fsum(parts)
    values = [value_of(argument, at) for argument in expression.args]
    if expression.is_Add:
        return MP.fsum(values)
    if expression.is_Mul:
        return MP.fprod(values)
    if expression.is_Pow:
        return values[0] ** values[1]
    return applied(expression.func.__name__, values, at)


def applied(name: str, values: list[Any], at: Values) -> Any:
    if name == "total":
        return values[0]
    if match := re.fullmatch(r"D(\d)L", name):
        return derivative(int(match.group(1)), at["theta"]) * MP.fprod(values)
    if match := re.fullmatch(r"(gradK|f)(_jvp2?)?", name):
        return opaque(match.group(1), len(values) - 1, values[0]) * MP.fprod(values[1:])
    return {"Abs": abs, "sign": MP.sign, "exp": MP.exp, "tanh": MP.tanh}[name](values[0])


# ---------------------------------------------------------------- the reader: text -> value

Reading = Callable[[Values], Any]
SCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿˢ", "0123456789+-ns", strict=True))
SPELLED = {
    "θ": "theta", "h": "lr", "ε": "eps", "λ": "weight_decay", "β₁": "beta1", "β₂": "beta2", "β": "beta",
    "ρ₁": "beta1", "ρ₂": "beta2", "n": "n", "s": "s", "c": "c",
    "theta": "theta", "eps": "eps", "weight_decay": "weight_decay", "beta1": "beta1", "beta2": "beta2",
    "beta": "beta",
}  # fmt: skip
TOKEN = re.compile(
    r"(?P<hessians>\((?:∇²L|D2L)\))|(?P<bigsum>(?:Σ|sum)_\{s=(?P<low>[^}]*)\}\^\{(?P<high>[^}]*)\})"
    r"|(?P<total>Σᵢ|sum_i)|(?P<entry>ᵢ|_i)|(?P<index>_\{1,(?P<offset>[^}]*)\}|₁|_1)|(?P<transpose>ᵀ|\^T)"
    r"|(?P<tensor>∇(?P<order>[²³])(?P<field>[LK])|D(?P<digit>[23])(?P<letter>[LK]))"
    r"|(?P<directional>D²? f|D2 f)|(?P<gradient>∇L|grad L)|(?P<opaque>∇K|gradK|f(?=\())|(?P<nabla>∇|grad )"
    r"|(?P<norm>‖|\|\|)|(?P<scripts>[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿˢ]+)|(?P<function>sign|exp|tanh)|(?P<root>√|sqrt)"
    r"|(?P<half>½)|(?P<number>\d+)|(?P<name>theta|eps|weight_decay|beta[12]?|[βρ][₁₂]?|[θhελnsc])|(?P<loss>L)"
    r"|(?P<mark>[-−+*·/^()\[\],|])|(?P<space>\s+)"
)  # fmt: skip


class Reader:
    """Recursive descent over the tokens; every rule returns a function of the point."""

    def __init__(self, source: str) -> None:
        self.tokens: list[re.Match[str]] = []
        position = 0
        while position < len(source):
            token = TOKEN.match(source, position)
            assert token is not None, f"cannot read {source[position:]!r}"
            position = token.end()
            if token.lastgroup is not None and token.group("space") is None:
                self.tokens.append(token)
        self.position = 0

    def kind(self) -> str:
        """The kind of the next token; a mark is its own kind."""
        if self.position == len(self.tokens):
            return "end"
        token = self.tokens[self.position]
        kinds = [name for name, found in token.groupdict().items() if found is not None]
        mark = {"−": "-", "·": "*"}.get(token.group(), token.group())
        return mark if kinds[0] == "mark" else kinds[0]

    def take(self, expected: str | None = None) -> re.Match[str]:
        assert expected is None or self.kind() == expected, f"{self.kind()} where {expected} was expected"
        self.position += 1
        return self.tokens[self.position - 1]

    def whole(self) -> Reading:
        reading = self.sum()
        assert self.kind() == "end", f"left over: {self.kind()}"
        return reading

    def sum(self) -> Reading:
        negative = self.kind() == "-"
        if negative:
            self.take()
        terms = [(-1 if negative else 1, self.product())]
        while self.kind() in ("+", "-"):
            mark = -1 if self.kind() == "-" else 1
            self.take()
            terms.append((mark, self.product()))
        return lambda at: MP.fsum(factor * term(at) for factor, term in terms)

    def product(self) -> Reading:
        result = self.unit()
        slashed = False
        while True:
            kind = self.kind()
            if kind == "/":
                assert not slashed, "a/b/c"
                self.take()
                slashed, result = True, _divided(result, self.unit())
            elif kind in ("*", *STARTS):
                assert kind == "*" or not slashed, "a factor behind a fraction without a dot"
                if kind == "*":
                    self.take()
                slashed, result = False, _times(result, self.unit())
            else:
                return result

    def unit(self) -> Reading:
        base = self.atom()
        while self.kind() in ("^", "scripts", "transpose", "entry"):
            kind = self.kind()
            token = self.take()
            if kind == "scripts":
                base = _raised(base, Reader("".join(SCRIPTS[x] for x in token.group())).whole())
            elif kind == "^":
                base = _raised(base, self.atom())
        return base

    def atom(self) -> Reading:
        kind = self.kind()
        token = self.take()
        if kind == "(":
            return self.until(")")
        if kind == "|":
            inside = self.until("|")
            return lambda at: abs(inside(at))
        if kind == "root":
            radicand = self.atom()
            return lambda at: MP.sqrt(radicand(at))
        if kind == "norm":
            return self.norm()
        if kind == "nabla":
            potential = self.unit()
            return lambda at: _slope(potential, at)
        if kind in ("number", "half"):
            number = MP.mpf(token.group()) if kind == "number" else MP.mpf(1) / 2
            return lambda at: number
        if kind == "name":
            name = SPELLED[token.group()]
            return lambda at: at[name]
        if kind in ("gradient", "loss"):
            return lambda at: derivative(int(kind == "gradient"), at["theta"])
        return self.operator(kind, token)

    def until(self, mark: str) -> Reading:
        inside = self.sum()
        self.take(mark)
        return inside

    def norm(self) -> Reading:
        inside = self.sum()
        self.take("norm")
        if self.kind() != "index":
            return lambda at: abs(inside(at))
        offset = self.take().group("offset")
        added = Reader(offset).whole() if offset else (lambda at: MP.mpf(0))
        return lambda at: MP.sqrt(inside(at) ** 2 + added(at))

    def slots(self) -> Reading:
        """One vector without brackets, or several in brackets: their product."""
        if self.kind() != "[":
            return self.unit()
        self.take()
        product = self.sum()
        while self.kind() == ",":
            self.take()
            product = _times(product, self.sum())
        self.take("]")
        return product

    def operator(self, kind: str, token: re.Match[str]) -> Reading:
        if kind == "function":
            self.take("(")
            argument, name = self.until(")"), token.group()
            return lambda at: applied(name, [argument(at)], at)
        if kind == "total":
            return self.unit()
        if kind == "bigsum":
            return self.big_sum(Reader(token.group("low")).whole(), Reader(token.group("high")).whole())
        if kind == "hessians":
            power = self.unit_exponent()
            slot = self.slots()
            return lambda at: derivative(2, at["theta"]) ** power(at) * slot(at)
        if kind == "opaque":
            self.take("(")
            point, name = self.until(")"), "f" if token.group() == "f" else "gradK"
            return lambda at: opaque(name, 0, point(at))
        if kind == "directional":
            self.take("(")
            point, order, slot = self.until(")"), 1 + ("2" in token.group() or "²" in token.group()), self.slots()
            return lambda at: opaque("f", order, point(at)) * slot(at)
        assert kind == "tensor", f"unexpected {kind}"
        order = int(token.group("digit") or {"²": 2, "³": 3}[token.group("order")])
        if (token.group("field") or token.group("letter")) == "K":
            self.take("(")
            point, slot = self.until(")"), self.slots()
            return lambda at: opaque("gradK", order - 1, point(at)) * slot(at)
        slot = self.slots()
        return lambda at: derivative(order, at["theta"]) * slot(at)

    def unit_exponent(self) -> Reading:
        token = self.take()
        return self.atom() if token.group() == "^" else Reader("".join(SCRIPTS[x] for x in token.group())).whole()

    def big_sum(self, low: Reading, high: Reading) -> Reading:
        body = self.product()

        def value(at: Values) -> Any:
            steps = range(int(low(at)), int(high(at)) + 1)
            return MP.fsum(body({**at, "s": MP.mpf(step)}) for step in steps)

        return value


STARTS = (
    "hessians", "bigsum", "total", "tensor", "directional", "gradient", "opaque", "nabla", "norm", "function",
    "root", "half", "number", "name", "loss", "(", "|",
)  # fmt: skip


def _times(left: Reading, right: Reading) -> Reading:
    return lambda at: left(at) * right(at)


def _divided(left: Reading, right: Reading) -> Reading:
    return lambda at: left(at) / right(at)


def _raised(base: Reading, exponent: Reading) -> Reading:
    return lambda at: base(at) ** exponent(at)


def _slope(potential: Reading, at: Values) -> Any:
    """The gradient of a scalar, by a central difference of error 1e-20."""
    step = MP.mpf(10) ** -10
    ahead, behind = ({**at, "theta": at["theta"] + side * step} for side in (1, -1))
    return (potential(ahead) - potential(behind)) / (2 * step)


# Bars know no left and right: in a product inside bars the reader would take the closing bar for an opening
# one.  The printed spaces tell them apart, and the reader gets parentheses.
def barred(source: str) -> str:
    source = re.sub(r"(?<![\w₁₂ᵢ)\]|⁰¹²³⁴⁵⁶⁷⁸⁹ⁿˢ])\|(?=[^\s|])", "⟨", source.replace("||", "‖"))
    source = source.replace("|", ")⟩").replace("⟨", "abs(")
    return source


def read_text(source: str, at: Values = POINT) -> Any:
    return Reader(source).whole()(at)
