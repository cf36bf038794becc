"""The parts of a declaration as frozen records; each reads its own text exactly and checks itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from sympy import Expr, Rational, S

from symmem.declaration import bounded, tensor_calls
from symmem.declaration.exact import exact_number
from symmem.declaration.interval import REALS, Interval
from symmem.declaration.kinks import ONLY_SMOOTHED
from symmem.declaration.names import check_name
from symmem.declaration.parser import called_names, parse
from symmem.declaration.substitution import plain
from symmem.declaration.tex import check_latex, latex_of_name
from symmem.errors import DeclarationError, quote
from symmem.records import record

Formula = str | int | float | Decimal | Fraction | Expr
"""What an expression may be given as; text goes through the safe parser."""
MAX_DELAY = 256
"""As many past values an optimizer with a delay keeps for every entry."""
FIRST = "first"
"""How a delay begins where nothing is said: with the first value."""
PARTS = "a momentum variable has g, beta and b, or a delay in the place of beta"
DELAY_OR_BETA = "delay stands in the place of beta; give one of them"


@record(frozen=True)
class Parameter:
    """A scalar of the optimizer: its name in code, its exact default, its LaTeX symbol, its range."""

    name: str
    default: Rational
    latex: str = ""
    range: Interval = REALS

    def __post_init__(self) -> None:
        check_name(self.name)
        object.__setattr__(self, "default", exact_number(self.default))
        object.__setattr__(self, "latex", check_latex(self.latex or latex_of_name(self.name)))
        object.__setattr__(self, "range", Interval.parse(self.range))
        if not self.range.contains(self.default):
            raise DeclarationError(
                f"the default {self.default} is outside the range {self.range}; change one of them"
            )


@record(frozen=True)
class VectorFunction:
    """An opaque function of a vector to a vector; a potential declares that its Jacobian is symmetric.

    ``degree`` declares that ``f(c x) = c^degree f(x)`` for c > 0: positive gains then leave it.
    """

    name: str
    latex: str = ""
    potential: str | None = None
    degree: Rational | None = None

    def __post_init__(self) -> None:
        check_name(self.name)
        if self.name in tensor_calls.FUNCTIONS:
            raise DeclarationError(f"{quote(self.name)} is a function of the language; choose another name")
        object.__setattr__(self, "latex", check_latex(self.latex or latex_of_name(self.name)))
        if self.degree is not None:
            object.__setattr__(self, "degree", exact_number(self.degree))
            if not abs(self.degree) <= bounded.MAX_EXPONENT:
                raise DeclarationError(
                    f"degree: {self.degree} is larger than {bounded.MAX_EXPONENT}; f(c x) = c^degree f(x)"
                )
        if self.potential is not None:
            try:
                check_name(self.potential)
            except DeclarationError as error:
                raise error.within("potential") from None


@record(frozen=True)
class TorchSpelling:
    """How PyTorch spells the optimizer: constructor argument -> parameter(s), m1, m2, ... -> state entry.

    ``options`` are arguments that have to be set for this optimizer: ``nesterov = true``.  ``numbers`` are entries of a
    state that hold a number, as expressions in the parameters and in n, the steps that were made:
    ``mu_product = "prod(..., i, 1, n)"``.
    """

    arguments: Mapping[str, tuple[str, ...] | str]
    state: Mapping[str, str]
    options: Mapping[str, bool] = field(default_factory=dict)
    numbers: Mapping[str, Expr] = field(default_factory=dict)

    def __post_init__(self) -> None:
        arguments = {
            key: value if isinstance(value, str) else tuple(value) for key, value in self.arguments.items()
        }
        object.__setattr__(self, "arguments", MappingProxyType(arguments))
        object.__setattr__(self, "state", MappingProxyType(dict(self.state)))
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))
        numbers = {key: _number_of_state(key, value) for key, value in self.numbers.items()}
        object.__setattr__(self, "numbers", MappingProxyType(numbers))

    def __hash__(self) -> int:
        tables = (self.arguments, self.state, self.options, self.numbers)
        return hash(tuple(frozenset(table.items()) for table in tables))

    def __reduce__(self) -> tuple[type[TorchSpelling], tuple[dict[str, Any], ...]]:
        return TorchSpelling, (
            dict(self.arguments),
            dict(self.state),
            dict(self.options),
            dict(self.numbers),
        )

    def without(self, parameters: Collection[str], numbers: Mapping[str, Expr]) -> TorchSpelling:
        """The spelling without the arguments that name one of the parameters, and with other numbers."""
        kept = {
            key: value
            for key, value in self.arguments.items()
            if not {*parameters}.intersection((value,) if isinstance(value, str) else value)
        }
        return TorchSpelling(kept, self.state, self.options, numbers)


def _number_of_state(key: str, given: object) -> Expr:
    try:
        return formula(given, of_the_step=True)
    except DeclarationError as error:
        raise error.within(f"torch: numbers: {key}") from None


@record(frozen=True)
class Momentum:
    """A momentum variable: ``m^(n+1) = b^(n+1) sum_{k=0..n} beta^k g(theta_{n-k})``, with ``0**0 = 1``.

    g is an expression in theta, grad, the parameters and the momentum variables above it, which it sees at the same
    step; beta a constant in (-1, 1); b an expression in n and the parameters.  Each may be given as text, int,
    Fraction or a SymPy expression.  With ``delay = d`` in the place of beta, ``m^(n+1) = b^(n+1) g(theta_{n-d})``;
    before the start it is g at theta_0, or 0 with ``start = 0``.
    """

    g: Expr
    beta: Expr = None  # 0 for a delay
    b: Expr = None  # 1 for a delay
    delay: int = 0
    start: str | int = FIRST

    def __post_init__(self) -> None:
        _check_delay(self)
        absent = {"beta": S.Zero, "b": S.One} if self.delay else {}
        for part in ("g", "beta", "b"):
            given = absent.get(part) if getattr(self, part) is None else getattr(self, part)
            if given is None:
                raise DeclarationError(f"{part} is missing; {PARTS}")
            try:
                smoothed = ONLY_SMOOTHED if part == "g" else ()  # the optimizer knows whether it smooths them
                object.__setattr__(self, part, formula(given, of_the_step=part == "b", smoothed=smoothed))
            except DeclarationError as error:
                raise error.within(part) from None
        if self.delay and self.beta != 0:
            raise DeclarationError(DELAY_OR_BETA)

    def __repr__(self) -> str:
        late = f", delay={self.delay!r}, start={self.start!r}" if self.delay else ""
        return f"Momentum(g={self.g!r}, beta={self.beta!r}, b={self.b!r}{late})"

    @property
    def starts_empty(self) -> bool:
        """Whether a delay is 0 before the start."""
        return self.start == 0


def _check_delay(momentum: Momentum) -> None:
    """A delay is a whole number of steps, and what it is before the start is the first value or 0."""
    delay, start = momentum.delay, momentum.start
    if isinstance(delay, bool) or not isinstance(delay, int) or not 0 <= delay <= MAX_DELAY:
        raise DeclarationError(
            f"delay: {quote(delay)} is not a whole number of steps from 1 to {MAX_DELAY}; write delay = 1"
        )
    if isinstance(start, bool) or start not in (FIRST, 0):
        raise DeclarationError(
            f'start: {quote(start)} is neither "first" nor 0; a delay starts with the first value, or empty with 0'
        )
    if start != FIRST and not delay:
        raise DeclarationError("start belongs to a delay; a sum over the past always starts empty: remove it")


def formula(given: object, *, of_the_step: bool = False, smoothed: Collection[str] = ()) -> Expr:
    """An expression of the language; opaque functions pass, since only the optimizer knows them.

    ``of_the_step``: a number that depends on n and is not differentiated, where branches and products are allowed;
    ``smoothed``: which of max, min and clip may stand in it, because the declaration smooths them.
    """
    if isinstance(given, str):
        return parse(given, called_names(given), of_the_step=of_the_step, smoothed=smoothed)
    if isinstance(given, (int, float, Decimal, Fraction)) and not isinstance(given, bool):
        return exact_number(given)
    if isinstance(given, Expr):
        return plain(given, of_the_step=of_the_step)
    raise DeclarationError(f'{quote(given)} is not an expression; write it as text, for example "0.9"')


def read_schedule(given: object) -> Expr | None:
    """``rate(n)`` from an expression, or from a table with the one key rate; None where there is no schedule."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        if set(given) != {"rate"}:
            found = ", ".join(sorted(map(str, given))) or "nothing"
            raise DeclarationError(f"schedule: found {found}; a schedule has the one key rate")
        given = given["rate"]
    try:
        return formula(given, of_the_step=True)
    except DeclarationError as error:
        raise error.within("schedule: rate") from None
