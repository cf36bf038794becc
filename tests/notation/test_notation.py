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
from sympy import Abs, Function, Max, Min, Rational, Sum, Symbol, sign, sqrt, symbols

from symmem.notation.decimals import decimal, shown
from symmem.notation.declared_latex import unicode_of
from symmem.notation.latex import latex, latex_lines
from symmem.notation.text import text

MP = mpmath.mp.clone()
MP.dps = 40

n, s, lr, beta, beta1, beta2, eps, weight_decay = symbols("n s lr beta beta1 beta2 eps weight_decay")
grad, theta, loss, c, batches = symbols("grad theta loss c batches")
D2L, D3L, total, grad_k, grad_k_jvp, grad_k_jvp2 = symbols(
    "D2L D3L total gradK gradK_jvp gradK_jvp2", cls=Function
)
f_jvp, f_jvp2 = symbols("f_jvp f_jvp2", cls=Function)
NAMES = {"beta1": r"\beta_1", "beta2": r"\beta_2", "eps": r"\varepsilon", "weight_decay": r"\lambda"}
LION = {"beta1": r"\rho_1", "beta2": r"\rho_2", "eps": r"\varepsilon", "weight_decay": r"\lambda"}
HEAVY = {"beta": r"\beta"}
ALL = {**NAMES, **HEAVY, "batches": "N"}
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
        "weight_decay": "0.29", "n": "3", "c": "1.7", "batches": "7",
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
    "ρ₁": "beta1", "ρ₂": "beta2", "n": "n", "s": "s", "c": "c", "N": "batches", "batches": "batches",
    "theta": "theta", "eps": "eps", "weight_decay": "weight_decay", "beta1": "beta1", "beta2": "beta2",
    "beta": "beta",
}  # fmt: skip
# A bar opens behind a space, a bracket, a slash or a minus sign, and closes behind anything else.
TOKEN = re.compile(
    r"(?P<hessians>\((?:∇²L|D2L)\))|(?P<bigsum>(?:Σ|sum)_\{s=(?P<low>[^}]*)\}\^\{(?P<high>[^}]*)\})"
    r"|(?P<total>Σᵢ|sum_i)|(?P<entry>ᵢ|_i)|(?P<index>_\{1,(?P<offset>[^}]*)\}|₁|_1)|(?P<transpose>ᵀ|\^T)"
    r"|(?P<tensor>∇(?P<order>[²³])(?P<field>[LK])|D(?P<digit>[23])(?P<letter>[LK]))"
    r"|(?P<directional>D²? f|D2 f)|(?P<gradient>∇L|grad L)|(?P<opaque>∇K|gradK|f(?=\())|(?P<nabla>∇|grad )"
    r"|(?P<norm>(?<![^\s(\[/−∇√,-])(?:‖|\|\|))|(?P<norm_end>‖|\|\|)"
    r"|(?P<bar>(?<![^\s(\[/−∇√,-])\|)|(?P<bar_end>\|)|(?P<scripts>[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿˢ]+)|(?P<function>sign|exp|tanh)|(?P<root>√|sqrt)"
    r"|(?P<half>½)|(?P<number>\d+)|(?P<name>theta|eps|weight_decay|batches|beta[12]?|[βρ][₁₂]?|[θhελnscN])|(?P<loss>L)"
    r"|(?P<mark>[-−+*·/^()\[\],])|(?P<space>\s+)"
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
        if kind == "bar":
            inside = self.until("bar_end")
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
            return lambda _: number
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
        self.take("norm_end")
        if self.kind() != "index":
            return lambda at: abs(inside(at))
        offset = self.take().group("offset")
        added = Reader(offset).whole() if offset else (lambda _: MP.mpf(0))
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
            point, order, slot = (
                self.until(")"),
                1 + ("2" in token.group() or "²" in token.group()),
                self.slots(),
            )
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
        return (
            self.atom()
            if token.group() == "^"
            else Reader("".join(SCRIPTS[x] for x in token.group())).whole()
        )

    def big_sum(self, low: Reading, high: Reading) -> Reading:
        body = self.product()

        def value(at: Values) -> Any:
            steps = range(int(low(at)), int(high(at)) + 1)
            return MP.fsum(body({**at, "s": MP.mpf(step)}) for step in steps)

        return value


STARTS = (
    "hessians", "bigsum", "total", "tensor", "directional", "gradient", "opaque", "nabla", "norm", "function",
    "root", "half", "number", "name", "loss", "(", "bar",
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


def read_text(source: str, at: Values = POINT) -> Any:
    return Reader(source).whole()(at)


# ---------------------------------------------------------------- the reader of LaTeX: LaTeX -> text

TEX = (
    (r"\\quad|\{\} |\\left|\\right(?![a-z])|\\[bB]igg?[lr]", ""),
    (r"\\times|\\cdot", "·"),
    (r"\\boldsymbol\{\\theta\}", "θ"),
    (r"\\mathcal\{([LK])\}", r"\1"),
    (r"\\nabla\^\{([23])\} ", lambda found: "∇" + "  ²³"[int(found.group(1))]),
    (r"\\nabla ?", "∇"),
    (r"D\^\{2\} f", "D² f"),
    (r"\^\{\\top\}", "ᵀ"),
    (r"\\sum_\{i\}", "Σᵢ"),
    (r"\)_\{i\}", ")ᵢ"),
    (r"\\sum_\{s = ([^}]*)\}\^\{([^}]*)\}", r"Σ_⦃s=\1⦄^⦃\2⦄"),
    (r"\\(?:beta|rho)_([12])", lambda found: "β" + " ₁₂"[int(found.group(1))]),
    (r"\\beta", "β"),
    (r"\\varepsilon", "ε"),
    (r"\\lambda", "λ"),
    (r"\\operatorname\{sign\}", "sign"),
    (r"\\(exp|tanh)", r"\1"),
    (r"\\lVert ", " ‖("),
    (r" \\rVert_\{1, ([^{}]*)\}", r")‖_⦃1,\1⦄"),
    (r" \\rVert", ")‖"),
    (r"\\lvert ", " |("),
    (r" \\rvert", ")|"),
    (r"‖_\{1\}", "‖₁"),
)


def text_of_latex(source: str) -> str:
    r"""LaTeX in the text form: symbols by the table, \frac, \sqrt and exponents by brackets."""
    for pattern, replacement in TEX:
        source = re.sub(pattern, replacement, source)
    group = r"\{([^{}]*)\}"
    shorter = ""
    while shorter != source:
        source = shorter or source
        shorter = re.sub(rf"\\frac{group}{group}", r"((\1)/(\2))", source)
        shorter = re.sub(rf"\\sqrt{group}", r"√(\1)", shorter)
        shorter = re.sub(rf"\^{group}", r"^(\1)", shorter)
    return source.replace("⦃", "{").replace("⦄", "}")


def read_latex(source: str, at: Values = POINT) -> Any:
    return read_text(text_of_latex(source), at)


# ---------------------------------------------------------------- samples

CUBE_HALF = Rational(3, 2)
SMOOTH = grad / sqrt(grad**2 + eps)
CONSTANT1, CONSTANT2 = beta1 / (1 - beta1), beta2 / (1 - beta2)
FINITE1 = CONSTANT1 - (n + 1) * beta1 ** (n + 1) / (1 - beta1 ** (n + 1))
FINITE2 = CONSTANT2 - (n + 1) * beta2 ** (n + 1) / (1 - beta2 ** (n + 1))
PAST = 1 - beta1 * beta2**s


def adamw(first: Any, second: Any) -> Any:
    entrywise = (first - second) / sqrt(grad**2 + eps) + eps * second / (grad**2 + eps) ** CUBE_HALF
    return lr * entrywise * D2L(SMOOTH + weight_decay * theta)


SAMPLES: dict[str, tuple[Any, dict[str, str], str]] = {
    "heavy ball": (
        lr * beta * (1 - (2 * n + 1) * beta**n * (1 - beta) - beta ** (2 * n + 1)) / (1 - beta) ** 3
        * D2L(grad),
        HEAVY,
        """\
M = h β (1 − (2n + 1) βⁿ (1 − β) − β²ⁿ⁺¹)/(2 (1 − β)³) · ∇‖∇L‖²""",
    ),
    "heavy ball, limit": (lr * beta / (1 - beta) ** 3 * D2L(grad), HEAVY, "M = h β/(2 (1 − β)³) · ∇‖∇L‖²"),
    "Nesterov, limit": (lr * beta**2 / (1 - beta) ** 3 * D2L(grad), HEAVY, "M = h β²/(2 (1 − β)³) · ∇‖∇L‖²"),
    "AdamW, limit": (
        adamw(CONSTANT1, CONSTANT2),
        NAMES,
        """\
M = h ((β₁/(1 − β₁) − β₂/(1 − β₂))/√(|∇L|² + ε)
       + β₂/(1 − β₂) · ε/(|∇L|² + ε)^(3/2))
      · (∇‖∇L‖_{1,ε} + λ ∇²L θ)""",
    ),
    "AdamW": (
        adamw(FINITE1, FINITE2),
        NAMES,
        """\
M = h ((β₁/(1 − β₁) − β₂/(1 − β₂) − (n + 1) β₁ⁿ⁺¹/(1 − β₁ⁿ⁺¹)
        + (n + 1) β₂ⁿ⁺¹/(1 − β₂ⁿ⁺¹))/√(|∇L|² + ε)
       + (β₂/(1 − β₂) − (n + 1) β₂ⁿ⁺¹/(1 − β₂ⁿ⁺¹)) ε/(|∇L|² + ε)^(3/2))
      · (∇‖∇L‖_{1,ε} + λ ∇²L θ)""",
    ),
    "Lion, limit": (
        lr * eps * beta1 / ((1 - beta2) * (grad**2 + eps) ** CUBE_HALF) * D2L(SMOOTH + weight_decay * theta),
        LION,
        "M = h ρ₁/(1 − ρ₂) · ε/(|∇L|² + ε)^(3/2) · (∇‖∇L‖_{1,ε} + λ ∇²L θ)",
    ),
    "Lion-K, limit": (
        lr * beta1 / (1 - beta2) * grad_k_jvp(-grad, D2L(weight_decay * theta - grad_k(-grad))),
        LION,
        "M = h ρ₁/(1 − ρ₂) · ∇²K(−∇L) ∇²L[λ θ − ∇K(−∇L)]",
    ),
    "Lion": (
        lr * beta1 * (1 - beta2) / beta2 * eps / (PAST.subs(s, n) ** 2 * grad**2 + eps) ** CUBE_HALF
        * D2L(
            Sum(
                beta2 ** (n - s) * (1 - beta2 ** (s + 1)) / (1 - beta2)
                * (PAST * grad / sqrt(PAST**2 * grad**2 + eps)),
                (s, 0, n - 1),
            )
            + c * weight_decay * theta
        ),
        LION,
        """\
M = h ρ₁ (1 − ρ₂)/ρ₂ · ε/((1 − ρ₁ ρ₂ⁿ)² |∇L|² + ε)^(3/2)
      · ∇²L[λ c θ
            + Σ_{s=0}^{n−1}
                ρ₂ⁿ⁻ˢ (1 − ρ₁ ρ₂ˢ) (1 − ρ₂ˢ⁺¹)/(1 − ρ₂)
                  · ∇L/√((1 − ρ₁ ρ₂ˢ)² |∇L|² + ε)]""",
    ),
    "AdamW, modified loss": (
        (1 + lr * weight_decay * (CONSTANT2 - CONSTANT1)) * loss
        - lr * (CONSTANT2 - CONSTANT1) * (total(Abs(grad)) + weight_decay * total(grad * theta)),
        NAMES,
        """\
M = (1 + h λ (β₂/(1 − β₂) − β₁/(1 − β₁))) L
    − h (β₂/(1 − β₂) − β₁/(1 − β₁)) (‖∇L‖₁ + λ ∇Lᵀθ)""",
    ),
}  # fmt: skip

PHRASES = [
    (D2L(grad), "½ ∇‖∇L‖²"),
    (-lr * D2L(grad), "−h/2 · ∇‖∇L‖²"),
    (D2L(sign(grad)), "∇‖∇L‖₁"),
    (D2L(grad / Abs(grad)), "∇‖∇L‖₁"),
    (D2L(theta), "∇²L θ"),
    (D2L(D2L(grad)), "(∇²L)² ∇L"),
    (D3L(grad, theta), "∇³L[∇L, θ]"),
    (D2L(grad + weight_decay * theta), "½ ∇‖∇L‖² + λ ∇²L θ"),
    (total(grad**2), "‖∇L‖²"),
    (total(sqrt(grad**2 + eps)), "‖∇L‖_{1,ε}"),
    (total(theta**2) / 2, "‖θ‖²/2"),
    (total(grad * D2L(grad)), "∇Lᵀ∇²L ∇L"),
    (total(D2L(grad) ** 2), "‖∇²L ∇L‖²"),
    (total(grad * D3L(grad, grad)), "∇³L[∇L, ∇L, ∇L]"),
    (total(sympy.exp(grad) * theta), "Σᵢ (exp(∇L) θ)ᵢ"),
    (grad / (1 - beta), "∇L/(1 − β)"),
    (beta * grad / (beta - 1), "−β/(1 − β) · ∇L"),
    (grad / (sqrt(grad**2) + eps), "∇L/(|∇L| + ε)"),
    (2 * beta - 1, "2β − 1"),
    (-lr * beta + 1, "1 − h β"),
    (lr * (-beta - eps), "−h (ε + β)"),
    (-grad + lr * D3L(grad, grad) / 6, "−∇L + h/6 · ∇³L[∇L, ∇L]"),
    (grad_k_jvp2(grad, theta, D2L(grad)), "∇³K(∇L)[θ, ∇²L ∇L]"),
    (f_jvp(-grad, theta), "D f(−∇L)[θ]"),
    (f_jvp2(grad, theta, grad), "D² f(∇L)[θ, ∇L]"),
    (D2L(theta) * D2L(sign(grad)), "(∇²L θ) ∇‖∇L‖₁"),
    (1 / sqrt(grad**2 + Rational(1, 10**8)), "1/√(|∇L|² + 10⁻⁸)"),
    (Rational(9, 10) ** n * lr, "h (9/10)ⁿ"),
    (sympy.Integer(0), "0"),
    (D2L(-theta - grad_k(grad)), "−∇²L[∇K(∇L) + θ]"),
    (D2L(-2 * weight_decay * D2L(-theta)), "2 λ (∇²L)² θ"),
    (theta - D2L(grad + weight_decay * theta), "θ − ½ ∇‖∇L‖² − λ ∇²L θ"),
    (Sum(beta**s * grad, (s, 0, n)) - theta, "(Σ_{s=0}^{n} βˢ ∇L) − θ"),
    (total(-2 * grad * theta) / (1 - beta), "−2/(1 − β) · ∇Lᵀθ"),
    (total(grad * theta) / (1 - beta), "(∇Lᵀθ)/(1 − β)"),
    (total(grad * D2L(-theta)), "−∇Lᵀ∇²L θ"),
    (lr * loss * grad * eps / (grad**2 + eps), "h ε L ∇L/(|∇L|² + ε)"),
    (lr * CONSTANT1 * D2L(grad) - lr * beta1**n * D2L(grad), "h β₁/(2 (1 − β₁)) · ∇‖∇L‖² − h β₁ⁿ/2 · ∇‖∇L‖²"),
    (lr * (CONSTANT1 - CONSTANT2) * D2L(grad), "h/2 · (β₁/(1 − β₁) − β₂/(1 − β₂)) ∇‖∇L‖²"),
    ((1 - beta1**n) * SMOOTH + weight_decay * theta, "(1 − β₁ⁿ) ∇L/√(|∇L|² + ε) + λ θ"),
    (lr * (beta1 + 1 / (1 - beta2) - 1), "h (β₁ − 1 + 1/(1 − β₂))"),
    (lr * (beta ** (2 * n + 1) + n * beta**n - 1), "−h (1 − n βⁿ − β²ⁿ⁺¹)"),
    (total(grad) * grad, "(Σᵢ (∇L)ᵢ) ∇L"),
    (Abs(Abs(grad) - theta), "|(θ − |∇L|)|"),
    (lr * (1 + beta - batches * (1 - beta)) / (1 - batches), "h (N (1 − β) − 1 − β)/(N − 1)"),
    (1 + beta - batches * (1 - beta), "1 + β − N (1 − β)"),
    (lr * beta**n * (1 - batches + 2 * n), "−h (N − 2n − 1) βⁿ"),
    (lr * (2 * beta**batches - batches**2 * beta + batches * eps), "−h (N² β − N ε − 2 β^N)"),
    (lr / (batches - 1) ** 2, "h/(N − 1)²"),
]


def close(left: Any, right: Any) -> bool:
    return bool(abs(left - right) <= MP.mpf(10) ** -14 * (1 + abs(left) + abs(right)))


def forms(expression: Any, names: dict[str, str]) -> dict[str, tuple[Callable[[str], Any], str]]:
    """Every form of the expression with its reader."""
    lines = latex_lines(expression, names=names, functions=FUNCTIONS, ems=16)
    return {
        "Unicode": (read_text, text(expression, names=names, functions=FUNCTIONS)),
        "narrow": (read_text, text(expression, names=names, functions=FUNCTIONS, width=30)),
        "ASCII": (read_text, text(expression, names=names, functions=FUNCTIONS, unicode=False)),
        "LaTeX": (read_latex, latex(expression, names=names, functions=FUNCTIONS)),
        "lines of LaTeX": (read_latex, " ".join(lines)),
    }


@pytest.mark.parametrize("name", SAMPLES)
def test_sample_is_printed_as_agreed(name: str) -> None:
    expression, names, expected = SAMPLES[name]
    assert text(expression, names=names, functions=FUNCTIONS, prefix="M = ") == expected


@pytest.mark.parametrize(("expression", "expected"), PHRASES, ids=[phrase for _, phrase in PHRASES])
def test_phrase(expression: Any, expected: str) -> None:
    assert text(expression, names=ALL, functions=FUNCTIONS) == expected
    for form, (reader, source) in forms(expression, ALL).items():
        assert close(reader(source), value_of(expression, POINT)), (form, source)


@pytest.mark.parametrize("name", SAMPLES)
def test_sample_is_read_back(name: str) -> None:
    expression, names, _ = SAMPLES[name]
    for form, (reader, source) in forms(expression, names).items():
        assert close(reader(source), value_of(expression, POINT)), (form, source)


@pytest.mark.parametrize("name", SAMPLES)
def test_reader_sees_every_sign(name: str) -> None:
    """The test of the test: one sign changed anywhere in a printed sample changes its value."""
    source = SAMPLES[name][2].removeprefix("M = ")
    value = read_text(source)
    for position, character in enumerate(source):
        if character in "+−" and source[position - 1 : position + 2] == f" {character} ":
            other = source[:position] + ("−" if character == "+" else "+") + source[position + 1 :]
            assert not close(read_text(other), value), other


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("unicode", [True, False])
@pytest.mark.parametrize("name", SAMPLES)
def test_no_line_is_too_wide(name: str, unicode: bool, width: int) -> None:
    expression, names, _ = SAMPLES[name]
    shown = text(expression, names=names, functions=FUNCTIONS, width=width, unicode=unicode, prefix="M = ")
    assert max(map(len, shown.splitlines())) <= width, shown


def test_ascii_is_ascii() -> None:
    for expression, names, _ in SAMPLES.values():
        assert text(expression, names=names, functions=FUNCTIONS, unicode=False).isascii()


def test_latex_of_adamw() -> None:
    expression, names, _ = SAMPLES["AdamW, limit"]
    norm, size = r"\lVert \nabla \mathcal{L} \rVert", r"\lvert \nabla \mathcal{L} \rvert^{2}"
    constants = [rf"\frac{{\beta_{i}}}{{1 - \beta_{i}}}" for i in (1, 2)]
    assert latex(expression, names=names) == (
        rf"h \left( \frac{{{constants[0]} - {constants[1]}}}{{({size} + \varepsilon)^{{1/2}}}}"
        rf" + {constants[1]} \frac{{\varepsilon}}{{({size} + \varepsilon)^{{3/2}}}} \right)"
        rf" (\nabla {norm}_{{1, \varepsilon}} + \lambda \nabla^{{2}} \mathcal{{L}} \boldsymbol{{\theta}})"
    )


def test_latex_of_samples_is_balanced() -> None:
    for expression, names, _ in SAMPLES.values():
        for ems in (16, 25, 1000):
            for line in latex_lines(expression, names=names, functions=FUNCTIONS, ems=ems):
                assert line.count("{") == line.count("}")
                assert line.count(r"\left(") == line.count(r"\right)"), line


def test_loss_at_theta() -> None:
    assert text(D2L(theta) + grad, names={}, arguments=True) == "∇L(θ) + ∇²L(θ) θ"
    expected = r"\nabla \mathcal{L}(\boldsymbol{\theta})"
    assert latex(grad, names={}, arguments=True) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"\beta_1", "β₁"), (r"\varepsilon", "ε"), (r"\lambda", "λ"), (r"\rho_{12}", "ρ₁₂"),
        (r"\nabla\mathcal{K}", "∇K"),
        (r"\hat{\beta}", None), (r"\gamma_{\max}", None), ("a", "a"),
    ],
)  # fmt: skip
def test_unicode_reading_of_latex(source: str, expected: str | None) -> None:
    assert unicode_of(source) == expected


def test_parameter_without_unicode_keeps_its_name() -> None:
    assert text(1 - Symbol("gmax"), names={"gmax": r"\gamma_{\max}"}) == "1 − gmax"


# ---------------------------------------------------------------- random expressions

NUMBERS = st.sampled_from([Rational(p, q) for p in (-3, -1, 1, 2) for q in (1, 2, 5)])
POSITIVE = st.sampled_from([
    beta1, beta2, eps, lr, weight_decay, n, 1 - beta1, 1 - beta1 * beta2**n, beta1 ** (n + 1), n + 1,
    2 * n + 1, beta2**-n, batches, batches - 1, beta1**batches, 1 + beta2, eps + lr, total(grad**2),
    total(sqrt(theta**2 + eps)),
])  # fmt: skip
ROOTS = st.sampled_from([(grad**2 + eps) ** Rational(k, 2) for k in (-3, -2, -1, 1, 3)])
ATOMS = st.sampled_from([grad, theta, grad**2, Abs(grad), sign(grad), sympy.tanh(theta), Abs(grad - theta)])


def sums_and_products(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: a - b, inner, inner),
        st.builds(lambda a, b: a * b, inner, inner),
    )


def scalars() -> st.SearchStrategy[Any]:
    powers = st.builds(
        lambda base, k: base**k, POSITIVE, st.sampled_from([-2, -1, 1, 2, Rational(1, 2), Rational(-1, 2)])
    )
    leaves = st.one_of(NUMBERS, powers, st.sampled_from([beta1 - 1, loss, (beta2 - 1) ** -1]))
    return st.recursive(leaves, sums_and_products, max_leaves=4)


def vector_steps(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        sums_and_products(inner),
        st.builds(lambda a, v: a * v, scalars(), inner),
        st.builds(lambda root, v: root * v, ROOTS, inner),
        st.builds(D2L, inner),
        st.builds(D3L, inner, inner),
        st.builds(grad_k, inner),
        st.builds(grad_k_jvp, inner, inner),
        st.builds(f_jvp2, inner, inner, inner),
        st.builds(lambda v: Sum(beta2 ** (n - s) * (1 - beta1**s) * v, (s, 0, n - 1)), inner),
        st.builds(lambda v: total(v) * grad, inner),
    )


VECTORS = st.recursive(ATOMS, vector_steps, max_leaves=6)


@settings(max_examples=400, deadline=None)
@given(VECTORS)
def test_any_expression_is_read_back(expression: Any) -> None:
    value = value_of(expression, POINT)
    assume(abs(value) < 1e9)
    for form, (reader, source) in forms(expression, ALL).items():
        assert close(reader(source), value), (form, source)


@settings(max_examples=200, deadline=None)
@given(scalars())
def test_any_scalar_is_read_back(expression: Any) -> None:
    value = value_of(expression, POINT)
    for form, (reader, source) in forms(expression, ALL).items():
        assert close(reader(source), value), (form, source)


@settings(max_examples=100, deadline=None)
@given(VECTORS, st.sampled_from([40, 60, 80, 120]))
def test_random_lines_are_not_too_wide(expression: Any, width: int) -> None:
    shown = text(expression, names=ALL, functions=FUNCTIONS, width=width)
    assert max(map(len, shown.splitlines())) <= width, shown


@pytest.mark.parametrize(
    ("expression", "written"),
    [
        (theta / Function("max")(sqrt(theta), eps), "θ/max(√θ, ε)"),
        (Function("clip")(theta, -eps, eps), "clip(θ, −ε, ε)"),
        (lr * Function("sum_tensors")(Function("nuclear")(grad)), "h Σ_tensors ‖∇L‖_*"),
        (Function("sum_tensors")(Function("nuclear")(grad) + eps), "Σ_tensors (‖∇L‖_* + ε)"),
    ],
)
def test_what_has_no_directions_is_no_derivative(expression: sympy.Expr, written: str) -> None:
    """The second argument of max is no direction, as it is of ``f_jvp(x, v)``; sums over tensors are sums."""
    assert text(expression, names=ALL) == written
    assert "mathrm{D}" not in latex(expression, names=ALL)


@pytest.mark.parametrize(
    "value", [Rational(7) ** 9000, Rational(1, 7**9000), -(Rational(7) ** 900), Rational(3) ** 9100 / 2]
)
def test_numbers_beyond_every_float_and_every_print(value: Rational) -> None:
    """Python writes no integer of more than 4300 digits by itself."""
    exact = mpmath.mpf(int(value.p)) / int(value.q)
    assert abs(mpmath.mpf(decimal(value)) / exact - 1) < 1e-9
    assert abs(mpmath.mpf(str(shown(value + lr).subs(lr, 0))) / exact - 1) < 1e-9


def test_a_maximum_with_0_of_what_is_never_below_it_is_not_shown() -> None:
    """A step is not negative; ``n - 2`` may be."""
    assert text(Max(0, Min(1, n)), names={}, functions={}) == "min(1, n)"
    assert text(Max(0, Min(1, n - 2)), names={}, functions={}) == "max(0, min(1, n − 2))"
    assert text(Abs(-grad - theta, evaluate=False), names={}, functions={}) == "|∇L + θ|"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (Rational(9, 10) * lr * grad, "0.9 h ∇L"),
        (Rational(9, 10) * D2L(grad), "0.45 ∇‖∇L‖²"),
        (Rational(9, 10**5) * theta, "9·10⁻⁵ θ"),
        (Rational(99, 10**10) * theta, "9.9·10⁻⁹ θ"),
        (Rational(24, 25) ** n * lr, "h · 0.96ⁿ"),
        (theta / 100 + Rational(99, 50) * grad, "1.98 ∇L + 0.01 θ"),
        (theta / 20000, "5·10⁻⁵ θ"),
        (theta / 10**8, "10⁻⁸ θ"),
        (Rational(1, 3) * theta + Rational(1, 5) * grad, "∇L/5 + θ/3"),
        (lr * grad / 2, "h/2 · ∇L"),
    ],
)
def test_numbers_are_in_one_style(expression: Any, expected: str) -> None:
    assert text(shown(expression), names=ALL, functions=FUNCTIONS) == expected
