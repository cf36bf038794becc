"""The parts of a declaration as frozen records; each reads its own text exactly and checks itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

from sympy import Expr, Rational

from symmem.declaration import bounded
from symmem.declaration.exact import exact_number
from symmem.declaration.interval import REALS, Interval
from symmem.declaration.names import check_name
from symmem.declaration.parser import called_names, parse
from symmem.declaration.tex import check_latex, latex_of_name
from symmem.errors import DeclarationError, quote
from symmem.records import record

Formula = str | int | float | Decimal | Fraction | Expr
"""What an expression may be given as; text goes through the safe parser."""


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
        if self.name in bounded.TENSOR_FUNCTIONS:
            raise DeclarationError(f"{quote(self.name)} is a function of the language; choose another name")
        object.__setattr__(self, "latex", check_latex(self.latex or latex_of_name(self.name)))
        if self.degree is not None:
            object.__setattr__(self, "degree", exact_number(self.degree))
        if self.potential is not None:
            try:
                check_name(self.potential)
            except DeclarationError as error:
                raise error.within("potential") from None


@record(frozen=True)
class TorchSpelling:
    """How PyTorch spells the optimizer: constructor argument -> parameter(s), m1, m2, ... -> state entry.

    ``options`` are arguments that have to be set for this optimizer: ``nesterov = true``.
    """

    arguments: Mapping[str, tuple[str, ...] | str]
    state: Mapping[str, str]
    options: Mapping[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        arguments = {
            key: value if isinstance(value, str) else tuple(value) for key, value in self.arguments.items()
        }
        object.__setattr__(self, "arguments", MappingProxyType(arguments))
        object.__setattr__(self, "state", MappingProxyType(dict(self.state)))
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))

    def __hash__(self) -> int:
        tables = (self.arguments, self.state, self.options)
        return hash(tuple(frozenset(table.items()) for table in tables))

    def __reduce__(
        self,
    ) -> tuple[type[TorchSpelling], tuple[dict[str, tuple[str, ...] | str], dict[str, str], dict[str, bool]]]:
        return TorchSpelling, (dict(self.arguments), dict(self.state), dict(self.options))

    def without(self, parameters: frozenset[str]) -> TorchSpelling:
        """The spelling without the arguments that name one of the parameters."""
        kept = {
            key: value
            for key, value in self.arguments.items()
            if not parameters.intersection((value,) if isinstance(value, str) else value)
        }
        return TorchSpelling(kept, self.state, self.options)


@record(frozen=True)
class Momentum:
    """A momentum variable: ``m^(n+1) = b^(n+1) sum_{k=0..n} beta^k g(theta_{n-k})``, with ``0**0 = 1``.

    g is an expression in theta, grad and the parameters; beta a constant in [0, 1); b an expression in n
    and the parameters.  Each may be given as text, int, Fraction or a SymPy expression.
    """

    g: Expr
    beta: Expr
    b: Expr

    def __post_init__(self) -> None:
        for part in ("g", "beta", "b"):
            try:
                object.__setattr__(self, part, formula(getattr(self, part)))
            except DeclarationError as error:
                raise error.within(part) from None


def formula(given: object) -> Expr:
    """An expression of the language; opaque functions pass, since only the optimizer knows them."""
    if isinstance(given, str):
        return parse(given, called_names(given))
    if isinstance(given, (int, float, Decimal, Fraction)) and not isinstance(given, bool):
        return exact_number(given)
    if isinstance(given, Expr):
        return bounded.plain(given)
    raise DeclarationError(f'{quote(given)} is not an expression; write it as text, for example "0.9"')
