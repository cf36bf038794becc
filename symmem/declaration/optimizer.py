"""The declaration as one frozen record: the end of this room, and what the derivation starts from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Self

from sympy import Expr, Rational, Symbol

from symmem.declaration.citation import Citation, read_citations
from symmem.declaration.decays import NEVER_FADES
from symmem.declaration.exact import exact_number
from symmem.declaration.fields import read_functions, read_momentum, read_parameters, read_torch
from symmem.declaration.implementation import Implementation, read_implementation
from symmem.declaration.interval import DECAYS, REALS, Interval
from symmem.declaration.names import check_family, check_line, check_optimizer_name, check_title, suggestion
from symmem.declaration.records import (
    Momentum,
    Parameter,
    TorchSpelling,
    VectorFunction,
    formula,
    read_schedule,
)
from symmem.declaration.smoothing import Smooth, only_smoothed, read_smooth
from symmem.declaration.substitution import substitute
from symmem.declaration.validation import entries, validate
from symmem.errors import DeclarationError, quote
from symmem.records import record

__all__ = ["Interval", "Momentum", "Optimizer", "Parameter", "TorchSpelling", "VectorFunction"]


@record(frozen=True)
class Optimizer:
    """An optimizer with memory, as exact data.  For n = 0, 1, 2, ... and the learning rate h:

        theta_{n+1} = theta_n - h rate(n) Phi(m_1, ..., m_L),
        m_l^(n+1)   = b_l^(n+1) sum_{k=0..n} beta_l^k g_l(theta_{n-k}),        0**0 = 1,
                      or b_l^(n+1) g_l(theta_{n-d}) for a delay of d steps,

    with ``b_l^(n+1)`` the expression b_l at n, and every product and function taken entry by entry, but for
    the opaque ``functions``.  ``phi`` and the fields of ``momentum`` may be text; ``momentum`` may hold
    mappings with g, beta, b; ``parameters`` and ``functions`` may be mappings from names.  A parameter that
    is a beta and has no range gets (-1, 1).  A g may read the momentum variables above it, at the same step.
    ``schedule`` is rate(n), an expression in n; None is 1.  ``smooth``, also a mapping, are smooth formulas that the
    theory takes in the place of sign, abs, max, min or clip, and the optimizer as it runs does not.  ``values`` are the
    parameters that ``with_values`` has put in.
    """

    name: str
    phi: Expr
    momentum: tuple[Momentum, ...]
    parameters: tuple[Parameter, ...] = ()
    title: str | None = None
    reference: str = ""
    functions: tuple[VectorFunction, ...] = ()
    torch: TorchSpelling | None = None
    citations: tuple[Citation, ...] = ()
    source: str | None = field(default=None, compare=False)
    values: tuple[tuple[str, Rational], ...] = ()
    family: str = ""
    implementation: Implementation | None = None
    schedule: Expr | None = None
    smooth: tuple[Smooth, ...] = ()

    def __post_init__(self) -> None:
        try:
            check_optimizer_name(self.name)
            self._read()
            validate(self)
        except DeclarationError as error:
            place = self.source or (self.name if isinstance(self.name, str) else None) or "optimizer"
            raise error.within(place[:200]) from None

    def _read(self) -> None:
        """Bring every field to its record."""
        title = self.name if self.title is None else self.title
        check_title(title)
        check_line("reference", self.reference)
        check_family(self.family)
        smooth = read_smooth(self.smooth)
        smoothed = only_smoothed(smooth)
        try:
            phi = formula(self.phi, smoothed=smoothed)
        except DeclarationError as error:
            raise error.within("phi") from None
        momentum = read_momentum(self.momentum, smoothed)
        parameters = tuple(_with_decay_range(p, momentum) for p in read_parameters(self.parameters))
        fields = {
            "title": title,
            "phi": phi,
            "momentum": momentum,
            "parameters": parameters,
            "functions": read_functions(self.functions),
            "torch": read_torch(self.torch),
            "schedule": read_schedule(self.schedule),
            "smooth": smooth,
            "citations": read_citations(self.citations),
            "values": tuple((name, exact_number(value)) for name, value in self.values),
            "implementation": read_implementation(
                self.implementation, frozenset(parameter.name for parameter in parameters)
            ),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def symbols(self) -> dict[str, str]:
        """Name -> LaTeX of every parameter."""
        return {parameter.name: parameter.latex for parameter in self.parameters}

    @property
    def function_symbols(self) -> dict[str, tuple[str, str | None]]:
        """Name -> (LaTeX, potential or None) of every opaque function, as the notation room takes them."""
        return {function.name: (function.latex, function.potential) for function in self.functions}

    @property
    def defaults(self) -> dict[str, Rational]:
        """Name -> default of every parameter."""
        return {parameter.name: parameter.default for parameter in self.parameters}

    def with_values(self, values: Mapping[str, object] | None = None, /, **more: object) -> Self:
        """The optimizer with exact numbers in the place of these parameters, which are then gone.

        ``optimizer.with_values(beta1=0.9)``; a mapping does the same.
        """
        numbers: dict[str, Rational] = {}
        try:
            for name, value in {**(values or {}), **more}.items():
                numbers[name] = self._value(name, value)
            table = {Symbol(name): number for name, number in numbers.items()}
            parts = [_with_numbers(entry, expression, table) for entry, expression in entries(self)]
            schedule = parts.pop() if self.schedule is not None else None
            torch_numbers = {
                key: _with_numbers(f"torch: numbers: {key}", value, table)
                for key, value in (self.torch.numbers.items() if self.torch else ())
            }
            smooth = tuple(
                Smooth(each.function, _with_numbers(f"smooth: {each.function}", each.formula, table))
                for each in self.smooth
            )
        except DeclarationError as error:
            raise error.within(self.source or self.name) from None
        return replace(
            self,
            phi=parts[0],
            momentum=tuple(
                replace(variable, g=g, beta=beta, b=b)
                for variable, g, beta, b in zip(
                    self.momentum, parts[1::3], parts[2::3], parts[3::3], strict=True
                )
            ),
            parameters=tuple(p for p in self.parameters if p.name not in numbers),
            torch=self.torch and self.torch.without(numbers, torch_numbers),
            values=(*self.values, *numbers.items()),
            schedule=schedule,
            smooth=smooth,
            implementation=self.implementation and self.implementation.with_values(table),
        )

    def _value(self, name: str, value: object) -> Rational:
        for parameter in self.parameters:
            if parameter.name == name:
                try:
                    number = exact_number(value)
                    is_inside = parameter.range.contains(number)
                except DeclarationError as error:
                    raise error.within(name) from None
                if not is_inside:
                    raise DeclarationError(
                        f"{name} = {number} is outside its range {parameter.range}; choose another value"
                    )
                return number
        if name == "lr":
            raise DeclarationError("lr is the learning rate and stays a symbol, written h; leave it out")
        known = [parameter.name for parameter in self.parameters]
        listed = ", ".join(known) or "none"
        raise DeclarationError(
            f"{quote(name)} is not a parameter; known are {listed}{suggestion(str(name), known)}"
        )


def _with_numbers(entry: str, expression: Expr, numbers: Mapping[Symbol, Rational]) -> Expr:
    try:
        return substitute(expression, numbers)
    except DeclarationError as error:
        raise error.within(entry) from None


def _with_decay_range(parameter: Parameter, momentum: Iterable[Momentum]) -> Parameter:
    """A bare parameter as beta, or with a minus, declared without a range, has the range of a decay."""
    symbol = Symbol(parameter.name)
    is_decay = any(variable.beta in (symbol, -symbol) for variable in momentum)
    if parameter.range != REALS or not is_decay:
        return parameter
    if parameter.default == 1:
        raise DeclarationError(
            f"parameters: {parameter.name}: it is a beta with the default 1: {NEVER_FADES}"
        )
    try:
        return replace(parameter, range=DECAYS)
    except DeclarationError as error:
        raise error.within(f"parameters: {parameter.name}: it is a beta") from None
