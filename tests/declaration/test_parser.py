"""The safe parser: exact values, one refusal for each cause, and no way to run code or to fill the memory."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import (
    Abs,
    Expr,
    Function,
    Rational,
    Symbol,
    atan,
    cos,
    cosh,
    exp,
    log,
    sign,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)

import symmem.declaration.parser as parser_module
from symmem.declaration import bounded
from symmem.declaration.parser import called_names, parse
from symmem.declaration.substitution import plain, substitute
from symmem.errors import DeclarationError

x, y, n, beta, theta = (Symbol(name) for name in ("x", "y", "n", "beta", "theta"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", Rational(1, 10)),
        ("1e-3", Rational(1, 1000)),
        ("1E+2", Rational(100)),
        (".5", Rational(1, 2)),
        ("5.", Rational(5)),
        ("0.1 + 0.2", Rational(3, 10)),
        ("0.30000000000000004", Rational(30000000000000004, 10**17)),
        ("1e-400", Rational(1, 10**400)),
        (
            "0.1234567890123456789012345678901234567890"[:41],
            Rational(int("1234567890123456789012345678901234567890"[:39]), 10**39),
        ),
        ("123456789012345678901234567890", Rational(123456789012345678901234567890)),
        ("7/3", Rational(7, 3)),
        ("-2**2", Rational(-4)),
        ("2**-1", Rational(1, 2)),
        ("2**3**2", Rational(512)),
        ("+x - -y", x + y),
        ("  x*y / (x + y)\t", x * y / (x + y)),
        ("(1 - beta)/(1 - beta**(n + 1))", (1 - beta) / (1 - beta ** (n + 1))),
        ("x**0.5", sqrt(x)),
        ("(-1)**n", (-1) ** n),
        ("0**(n + 1)", Rational(0)),
        ("0**n", Rational(0) ** n),
        ("sqrt(8)", 2 * sqrt(2)),
        ("abs(x) + sign(y)", Abs(x) + sign(y)),
        ("exp(x)*log(y)", exp(x) * log(y)),
        ("sin(x) + cos(x) + tan(x)", sin(x) + cos(x) + tan(x)),
        ("sinh(x) + cosh(x) + tanh(x) + atan(x)", sinh(x) + cosh(x) + tanh(x) + atan(x)),
        ("abs(exp(theta))", exp(theta)),
        ("abs(-2*exp(theta)*x)", 2 * exp(theta) * Abs(x)),
        ("abs(-3*tanh(x))", 3 * Abs(tanh(x))),
        ("abs(2**x)", 2**x),
        ("abs((-2)**x)", 2**x),
        ("abs(sqrt(2)*x)", sqrt(2) * Abs(x)),
        ("sign(-3*exp(x)*y)", -sign(y)),
        ("sign(exp(x))", Rational(1)),
        ("abs(x - y)*sign(0)", Rational(0)),
        ("abs(-3) + sign(-2)", Rational(2)),
        ("exp(1)", exp(1)),
        ("exp(8*log(x))", x**8),
        ("exp(-n/10000)", exp(-n / 10000)),
        ("sign(tanh(x))", sign(tanh(x))),
        ("sqrt(1 + tanh(x))", sqrt(1 + tanh(x))),
        ("sqrt(1 + sqrt(2))", sqrt(1 + sqrt(2))),
    ],
)
def test_values_are_exact(text: str, value: Expr) -> None:
    assert parse(text) == value


@given(st.integers(0, 10**9), st.text("0123456789", min_size=1, max_size=25), st.integers(-50, 50))
def test_decimals_are_read_from_their_text(whole: int, digits: str, exponent: int) -> None:
    expected = Rational(int(f"{whole}{digits}"), 10 ** len(digits)) * Rational(10) ** exponent
    assert parse(f"{whole}.{digits}e{exponent}") == expected


def test_symbols_are_plain_and_opaque_functions_undefined() -> None:
    assert parse("gradK(x + y)", functions=["gradK"]) == Function("gradK")(x + y)
    assert parse("beta").assumptions0 == Symbol("beta").assumptions0
    assert called_names("gradK(x) + sqrt(y)*f (x) + max(x)") == {"gradK", "f"}


REFUSED = [
    ("", "empty"),
    (" \t", "empty"),
    ("x" * 2001, "2000 characters"),
    ("(" * 10**6, "2000 characters"),
    ("(" * 51 + "1" + ")" * 51, "column 51: more than 50 nested"),
    ("-" * 1500 + "1", "too deeply"),
    ("**".join(["2"] * 600), "too deeply"),
    ("+".join(["x"] * 900), "too deeply or too long"),
    ("1" * 41, "40 digits"),
    ("0." + "1" * 41, "40 digits"),
    ("1e401", "decimal exponent"),
    ("1e-999999999999", "decimal exponent"),
    ("9**9**9", "power of numbers is too large"),
    ("(9**9)**(9**9)", "power of numbers is too large"),
    ("2**-(10**9)", "power of numbers is too large"),
    ("(1/3)**100000", "power of numbers is too large"),
    ("((2**99)**99)**99", "power of numbers is too large"),
    ("x**65", "exponent larger than 64"),
    ("x**-65", "exponent larger than 64"),
    ("(x**64)**2", "exponent larger than 64"),
    ("(x**40*y)**2", "exponent larger than 64"),
    ("x**(1/10**9)", "denominator above 10000"),
    ("2**(10**40*n)", "numbers beyond 1000"),
    ("(2**(999*n))**2", "numbers beyond 1000"),
    ("exp(log(2)*10**8)", "numbers beyond 1000"),
    ("exp(log(x)*10**8)", "numbers beyond 1000"),
    ("exp((x + 10**9)*log(2))", "numbers beyond 1000"),
    ("2**(10**40*log(4)/log(2))", "numbers beyond 1000"),
    ("exp(10**40*log(4) - 2*10**40*log(2))", "too large, or cannot be told from zero"),
    ("exp(exp(exp(9)))", "too large, or cannot be told from zero"),
    ("1/(sqrt(2) + sqrt(3) - sqrt(5 + 2*sqrt(6)))", "too large, or cannot be told from zero"),
    ("sqrt(2**2000 + 1)", "1024 bits"),
    ("sign(tanh(exp(1e-30 + x + 0.5)))", "an exponent with numbers beyond"),
    ("atan(tan(2**999))", "SymPy cannot evaluate this"),
    ("exp(cosh((n + x)**64))", "cosh of a power larger than 8"),
    ("tanh((x*y*n)**3)", "tanh of a power larger than 8"),
    ("sin(2**2000)", "1024 bits"),
    ("factorial(factorial(9))", "unknown function 'factorial'; known are sqrt, abs"),
    ("__import__(os)", "unknown function '__import__'"),
    ("max(x, y)", "column 1: max is not known"),
    ("1 + min(x, y)", "column 5: min is not known"),
    ("sqrt(x, y)", "exactly one argument"),
    ("sqrt()", "exactly one argument"),
    ("sqrt(*x)", "exactly one argument"),
    ("sqrt(**x)", "exactly one argument"),
    ("x(y)(x)", "only a named function"),
    ("2(3)", "only a named function"),
    ("x.real", "column 1: names have no dots"),
    ("  x.real", "column 3: names have no dots"),
    ("x[0]", "column 2: no indexing"),
    ("{x}", "column 1: use parentheses"),
    ("x^2", "column 2: '^' is not a power here; write **"),
    ("  x^2", "column 4: '^'"),
    ("x < y", "column 3: no comparisons"),
    ("x == y", "has no '='"),
    ("x is y", "no comparisons"),
    ("x in y", "no comparisons"),
    ("sqrt(x=1)", "has no '='"),
    ("(x := 1)", "':'"),
    ("lambda: 1", "':'"),
    ("'text'", "remove the quotes"),
    ('f"{x}"', "remove the quotes"),
    ("True", "'True' is not a number"),
    ("None", "'None' is not a number"),
    ("...", "'...' is not a number"),
    ("1j", "no complex numbers"),
    ("1_000", "'1_' is not a number"),
    ("0x1f", "'0x' is not a number"),
    ("1.5.5", "is not a number"),
    ("2x", "write a product with *"),
    ("x if y else 1", "no conditions"),
    ("x and y", "no logic"),
    ("not x", "no logic"),
    ("~x", "'~' is not known"),
    ("x // y", "no floor division"),
    ("x % y", "no remainder"),
    ("x @ y", "no matrix product"),
    ("x, y", "remove the comma"),
    ("*x", "column"),
    ("await x", "Await is not in the language"),
    ("(yield)", "Yield is not in the language"),
    ("x +", "not an expression"),
    ("x y", "column 3: not an expression"),
    ("(x", "column 1: a '(' without its ')'"),
    ("x)", "column 2: a ')' without its '('"),
    ("007", "not an expression"),
    ("x # y", "'#' is not known"),
    ("x; y", "';' is not known"),
    ("x\n+ y", "column 2: a line break"),
    ("x\0", "column 2: a null byte"),
    ("β", "use ASCII"),
    ("x + ٣", "column 5"),
    ("x\u00a0+ y", "column 2"),
    ("1/0", "division by zero"),
    ("0**-1", "division by zero"),
    ("x/0.0", "division by zero"),
    ("1/(beta - beta)", "column 1: division by zero"),
    ("x + 1/(2*x - x - x)", "column 5: division by zero"),
    ("log(0)", "logarithm of zero"),
    ("tan(2*atan(1))", "division by zero"),
    ("sqrt(-1)", "negative number"),
    ("(-8)**(1/3)", "negative number"),
    ("(1 - sqrt(2))**0.5", "negative number"),
    ("log(-1)", "negative number"),
    ("(-2)**sqrt(2)", "not a real number"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=[text[:20] for text, _ in REFUSED])
def test_refused_with_its_cause(text: str, reason: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        parse(text)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_only_text_is_parsed() -> None:
    with pytest.raises(DeclarationError, match="expected an expression as text, got 3"):
        parse(3)  # type: ignore[arg-type]


_WORDS = (
    "x y n beta grad 1 2 9 0 0.1 1e9 40 99 + - * / ** ( ) ( ) sqrt( exp( log( abs( sign( tan( atan( "
    ", . ^ [ lambda if \0"
)
_PIECES = st.sampled_from(_WORDS.split(" "))


@settings(max_examples=600, deadline=None)
@given(
    st.one_of(
        st.text(max_size=60),
        st.lists(_PIECES, max_size=14).map("".join),
        st.lists(_PIECES, max_size=14).map(" ".join),
    )
)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        expression = parse(text)
    except DeclarationError:
        return
    assert isinstance(expression, Expr)
    assert all(bounded.bits(number) <= bounded.MAX_BITS for number in expression.atoms(Rational))
    assert plain(expression) == expression


@st.composite
def _formulas(draw: st.DrawFn, depth: int = 4) -> str:
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from(["x", "y", "n", "0", "1", "2", "3", "64", "0.5", "10**9"]))
    left = draw(_formulas(depth=depth - 1))
    if draw(st.booleans()):
        return f"{draw(st.sampled_from(sorted(bounded.FUNCTIONS)))}({left})"
    return f"({left} {draw(st.sampled_from(['+', '-', '*', '/', '**']))} {draw(_formulas(depth=depth - 1))})"


@settings(max_examples=400, deadline=None)
@given(_formulas())
def test_well_formed_formulas_are_read_or_refused(text: str) -> None:
    try:
        expression = parse(text)
        value = substitute(expression, {x: Rational(3, 7), y: Rational(10**30), n: Rational(2)})
    except DeclarationError:
        return
    assert not value.free_symbols


def _called(tree: ast.AST) -> set[str]:
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = {call.id for call in calls if isinstance(call, ast.Name)}
    methods = {call.attr for call in calls if isinstance(call, ast.Attribute)}
    return named | methods - {"compile"}  # re.compile


def test_nothing_in_the_room_can_run_text() -> None:
    forbidden = {"eval", "exec", "compile", "__import__", "sympify", "S", "parse_expr", "simplify"}
    modules = sorted(Path(parser_module.__file__).parent.glob("**/*.py"))
    assert len(modules) > 10
    for module in modules:
        found = _called(ast.parse(module.read_text(encoding="utf-8"))) & forbidden
        assert not found, f"{module.name} calls {found}"
