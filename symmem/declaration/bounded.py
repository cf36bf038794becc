"""Guarded arithmetic: how the parser and the substitution of values build every SymPy node.

SymPy evaluates numbers at once, so a short text can ask for a number that fills the memory (``9**9**9``,
``exp(log(2)*10**40)``).  Each constructor here bounds the work before SymPy is asked, and refuses what is
not a real, finite number.  All symbols are real: ``abs`` is built with ``re(x) = x`` and ``im(x) = 0``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Self

import sympy
from sympy import Add, Expr, Function, Integer, Mul, Pow, Rational, S, Symbol
from sympy.core.function import AppliedUndef

from symmem.algebra import functions
from symmem.algebra.atoms import STEP
from symmem.errors import DeclarationError

MAX_BITS = 8192
"""Of the numerator and the denominator of any number that is computed."""
MAX_ARGUMENT_BITS = 1024
"""Of a number under a root or a function, and of a number raised to a symbolic power."""
MAX_EXPONENT = 64
MAX_EXPONENT_NUMBER = 1000
MAX_EXPONENT_DENOMINATOR = 10_000
"""Of a number inside an exponent that is an expression: ``beta**(1000*n)``, ``exp(-n/10000)``."""
MAX_ARGUMENT_DEGREE = 8
"""Of the argument of a function: SymPy may expand its real and imaginary parts as polynomials."""
SMALLEST, LARGEST = Rational(1, 10**60), Integer(10**60)
"""Bounds of an irrational constant: beyond them its sign or its size cannot be told cheaply."""

FUNCTIONS: Mapping[str, Callable[..., Expr]] = MappingProxyType(
    {head.name: head.function for head in functions.FUNCTIONS}
)
"""What an expression may call, by name: the entrywise functions of the algebra."""
HEADS = {head: name for name, head in FUNCTIONS.items() if name != "sqrt"}
"""SymPy's class of a function -> its name here."""


class ArithmeticRefusal(DeclarationError):  # noqa: N818  # the family of those below
    """What no expression may be built with; it tells its column once, the innermost."""

    is_placed = False

    def at_column(self, column: int) -> Self:
        """The same, with its place in the text where it has none yet."""
        if self.is_placed:
            return self
        placed = self.within(f"column {column}")
        placed.is_placed = True
        return placed


class DivisionByZeroError(ArithmeticRefusal):
    """A division by zero, or a logarithm of zero."""


class NotRealError(ArithmeticRefusal):
    """An even root or a logarithm of a negative number."""


class TooLargeError(ArithmeticRefusal):
    """A number beyond the bounds of this module."""


def add(*terms: Expr) -> Expr:
    """The sum, its numbers bounded."""
    return checked(Add(*terms))


def multiply(*factors: Expr) -> Expr:
    """The product, its numbers bounded."""
    return checked(Mul(*factors))


def divide(numerator: Expr, denominator: Expr) -> Expr:
    """``numerator / denominator``; division by zero is an error that says so."""
    return multiply(numerator, power(denominator, S.NegativeOne))


def power(base: Expr, exponent: Expr) -> Expr:
    """``base**exponent``, its size bounded before it is computed."""
    if base == S.Zero and exponent.is_Number and exponent.is_negative:
        raise DivisionByZeroError("division by zero; change the denominator")
    if base == S.Zero and is_positive_at_every_step(exponent):
        return S.Zero
    if isinstance(exponent, Rational):
        _bound_number_power(base, exponent)
    else:
        _bound_exponent(exponent)
        _bound_argument(base, "a number raised to a symbolic power")
    cheap = exponent.is_Integer or not is_nested(base + exponent)
    result = checked(built(Pow, base, exponent, evaluate=cheap))
    for factor in Mul.make_args(result):
        if isinstance(factor, Pow):
            _bound_result(factor)
    return result


def call(name: str, argument: Expr) -> Expr:
    """The known function ``name`` of one argument."""
    if name == "sqrt":
        return power(argument, S.Half)
    _bound_argument(argument, f"the argument of {name}")
    if _degree(argument) > MAX_ARGUMENT_DEGREE:
        raise TooLargeError(f"{name} of a power larger than {MAX_ARGUMENT_DEGREE}; use a smaller one")
    if name == "log" and argument == S.Zero:
        raise DivisionByZeroError("the logarithm of zero; change the argument of log")
    if name == "exp":
        _bound_exponent(argument)  # exp(c*log(x)) is x**c to SymPy
    if name in ("abs", "sign"):
        return checked(_modulus_or_sign(name, argument))
    return checked(built(FUNCTIONS[name], argument, evaluate=name == "exp" or not is_nested(argument)))


def undefined(name: str, *arguments: Expr) -> Expr:
    """The opaque function ``name``."""
    return Function(name)(*arguments)


def bits(number: Rational) -> int:
    """The size of a number: the bits of its larger part."""
    return max(int(number.p).bit_length(), int(number.q).bit_length())


def built(head: Callable[..., Any], *arguments: object, evaluate: bool) -> Any:
    """``head(*arguments)``; SymPy's own failures, as in ``atan(tan(2**999))``, become ours."""
    try:
        return head(*arguments, evaluate=evaluate)
    except (ArithmeticError, AttributeError, TypeError, ValueError, RecursionError, NotImplementedError):
        raise TooLargeError("SymPy cannot evaluate this; write it in another way") from None


def _modulus_or_sign(name: str, argument: Expr) -> Expr:
    """Known factors first: SymPy, with complex symbols in mind, would write ``abs(exp(x))`` as exp(re(x))."""
    number, rest = argument.as_coeff_Mul(rational=True)
    positive = [factor for factor in Mul.make_args(rest) if _is_positive(factor)]
    unknown = Mul(*(factor for factor in Mul.make_args(rest) if not _is_positive(factor)))
    known = FUNCTIONS[name](number) * (Mul(*positive) if name == "abs" else S.One)
    if unknown == S.One:
        return known
    result = known * built(FUNCTIONS[name], unknown, evaluate=not is_nested(unknown))
    return result.replace(sympy.re, lambda part: part).replace(sympy.im, lambda _: S.Zero)


def _is_positive(factor: Expr) -> bool:
    """``exp(x)``, or a power of ``|x|`` or of a positive number."""
    base = factor.base if isinstance(factor, Pow) else factor
    return isinstance(base, (sympy.exp, sympy.Abs)) or (isinstance(base, Rational) and bool(base > 0))


def _degree(expression: Expr) -> int:
    """The degree of the polynomial that an expansion of the integer powers would give; through functions."""
    if isinstance(expression, Symbol):
        return 1
    degrees = [_degree(argument) for argument in expression.args]
    if isinstance(expression, Mul):
        return sum(degrees)
    if isinstance(expression, Pow) and expression.exp.is_Integer:
        return degrees[0] * abs(int(expression.exp))
    return max(degrees, default=0)


def is_nested(argument: Expr) -> bool:
    """Has it a function of a symbol?  To simplify a root or a function of that, SymPy asks for its sign, and
    may expand real and imaginary parts for minutes: such a node is built as it was written."""
    return bool(argument.free_symbols) and argument.has(*HEADS)


def is_positive_at_every_step(exponent: Expr) -> bool:
    """Is it ``c n + d`` with c >= 0 and d > 0?  Then ``0**exponent`` is 0 for n = 0, 1, 2, ..."""
    terms = exponent.as_coefficients_dict()
    return bool(set(terms) <= {S.One, STEP} and terms[S.One] > 0 and terms[STEP] >= 0)


def _bound_number_power(base: Expr, exponent: Rational) -> None:
    if isinstance(base, Rational):
        if not exponent.is_Integer and base < 0:
            raise NotRealError("a root of a negative number; only real numbers are known")
        if bits(base) * abs(exponent) > MAX_BITS and base not in (0, 1, -1):
            raise TooLargeError("a power of numbers is too large; make the number a parameter")
        if not exponent.is_Integer:
            _bound_argument(base, "a number under a root")
    elif abs(exponent) > MAX_EXPONENT:
        raise TooLargeError(f"an exponent larger than {MAX_EXPONENT}; use a smaller one")
    if exponent.q > MAX_EXPONENT_DENOMINATOR:
        raise TooLargeError(
            f"an exponent with a denominator above {MAX_EXPONENT_DENOMINATOR}; use a simpler one"
        )
    if not exponent.is_Integer and _is_constant(base) and base.evalf(15).is_negative:
        raise NotRealError("a root of a negative number; only real numbers are known")


def _bound_result(result: Pow) -> None:
    base, exponent = result.args
    if not isinstance(exponent, Rational):
        _bound_exponent(exponent)
    elif not isinstance(base, Rational) and abs(exponent) > MAX_EXPONENT:
        raise TooLargeError(f"an exponent larger than {MAX_EXPONENT}; use a smaller one")


def _bound_exponent(exponent: Expr) -> None:
    for number in exponent.atoms(Rational):
        if abs(number) > MAX_EXPONENT_NUMBER or number.q > MAX_EXPONENT_DENOMINATOR:
            raise TooLargeError(
                f"an exponent with numbers beyond {MAX_EXPONENT_NUMBER}; make them parameters"
            )


def _bound_argument(argument: Expr, what: str) -> None:
    if isinstance(argument, Rational) and bits(argument) > MAX_ARGUMENT_BITS:
        raise TooLargeError(f"{what} has more than {MAX_ARGUMENT_BITS} bits; make it a parameter")


def _is_constant(expression: Expr) -> bool:
    """Irrational and without symbols, such as sqrt(2)."""
    return not isinstance(expression, Rational) and not expression.free_symbols


def checked(result: Expr) -> Expr:
    """The result, if it is real, finite, and of bounded size."""
    if isinstance(result, Rational):
        if bits(result) > MAX_BITS:
            raise TooLargeError(f"a number of more than {MAX_BITS} bits; make it a parameter")
        return result
    if result.has(S.ComplexInfinity, S.NaN, S.Infinity, S.NegativeInfinity):
        raise DivisionByZeroError("division by zero; change the denominator")
    if result.has(S.ImaginaryUnit):
        raise NotRealError("a root or a logarithm of a negative number; only real numbers are known")
    if _is_constant(result):
        _check_constant(result)
    return result


def _check_constant(constant: Expr) -> None:
    """Later steps ask SymPy for the sign of a constant: it must show within few digits."""
    if constant.has(AppliedUndef):
        return
    value = constant.evalf(15)
    if not value.is_Float:
        raise NotRealError("a constant that is not a real number; only real numbers are known")
    if not SMALLEST <= abs(value) <= LARGEST:
        raise TooLargeError("a constant that is too large, or cannot be told from zero; make it a parameter")
