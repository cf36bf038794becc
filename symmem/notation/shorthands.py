r"""Short-hands for coefficients that come back: kappa_n(beta_1), kappa_n(beta_2), with the definition of kappa_n(x).

A candidate is a sum of scalars with one parameter and the step n in it, or the part of a longer sum that has that
parameter; two candidates are one template where they differ by the parameter and a number in front.  A template gets
a letter where the formulas become shorter by it, its definition counted in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from sympy import Add, Expr, Mul, S, Symbol, preorder_traversal
from sympy.logic.boolalg import Boolean

from symmem.algebra.atoms import STEP, is_scalar
from symmem.records import record

VARIABLE = Symbol("x")
"""The argument of a short-hand in its definition."""

_SHORT = 3.5
"""The width in ems of kappa_n(beta_1)."""
_DEFINITION = 3.0
"""What a definition takes besides its right-hand side."""
_LEAST = 5.5
"""Nothing that is narrower gets a letter."""


@record(frozen=True)
class Shorthand:
    """A letter for the template; each use is a symbol that stands for the template at a parameter."""

    letter: str
    template: Expr
    uses: tuple[tuple[Symbol, Symbol], ...]
    """Pairs (parameter, symbol)."""


_WALKED = (Expr, Boolean)
"""What has parts that can be replaced: not the limits of a sum."""


@record(frozen=True)
class _Place:
    """A part of a sum: ``factor * template(parameter)``."""

    terms: tuple[Expr, ...]
    factor: Expr
    template: Expr
    parameter: Symbol


def abbreviated(
    expressions: Sequence[Expr], letters: Sequence[str], size: Callable[[Expr], float]
) -> tuple[tuple[Expr, ...], tuple[Shorthand, ...]]:
    """The expressions with short-hands in them, and the short-hands; ``size`` is an expression's width in print."""
    current, found = tuple(expressions), []
    for letter in letters:
        counted: dict[Expr, list[Symbol]] = {}
        for place in (place for expression in current for place in _places(expression)):
            counted.setdefault(place.template, []).append(place.parameter)
        saved = {template: _saved(len(uses), size(template)) for template, uses in counted.items()}
        best = max(saved, key=lambda template: saved[template], default=None)
        if best is None or saved[best] <= 0:
            break
        parameters = sorted(set(counted[best]), key=lambda symbol: symbol.name)
        uses = tuple((parameter, Symbol(f"{letter}_{parameter.name}")) for parameter in parameters)
        current = tuple(_replaced(expression, best, dict(uses)) for expression in current)
        found.append(Shorthand(letter, best, uses))
    return _in_order(current, found, letters)


def _in_order(
    expressions: tuple[Expr, ...], found: Sequence[Shorthand], letters: Sequence[str]
) -> tuple[tuple[Expr, ...], tuple[Shorthand, ...]]:
    """The letters dealt out anew, in the order in which the short-hands are first used."""

    def first_use(shorthand: Shorthand) -> int:
        symbols = {symbol for _, symbol in shorthand.uses}
        return next(k for k, expression in enumerate(expressions) if expression.free_symbols & symbols)

    ordered = sorted(found, key=first_use)
    renamed: list[Shorthand] = []
    table: dict[Symbol, Symbol] = {}
    for letter, old in zip(letters, ordered, strict=False):
        uses = tuple((parameter, Symbol(f"{letter}_{parameter.name}")) for parameter, _ in old.uses)
        table |= {before: after for (_, before), (_, after) in zip(old.uses, uses, strict=True)}
        renamed.append(Shorthand(letter, old.template, uses))
    return tuple(expression.xreplace(table) for expression in expressions), tuple(renamed)


def _saved(count: int, size: float) -> float:
    return count * (size - _SHORT) - size - _DEFINITION if size >= _LEAST else 0


def _places(expression: Expr) -> Iterator[_Place]:
    for part in preorder_traversal(expression):
        if isinstance(part, Add) and is_scalar(part):
            yield from _parts(part)


def _parts(total: Add) -> Iterator[_Place]:
    """The whole sum where it has one parameter; else its parts by parameter.  The step occurs in all of them."""
    parameters = total.free_symbols - {STEP}
    groups: dict[Symbol, list[Expr]] = {}
    for term in total.args:
        own = parameters if len(parameters) == 1 else term.free_symbols - {STEP}
        if len(own) == 1:
            groups.setdefault(next(iter(own)), []).append(term)
    for parameter, terms in groups.items():
        if len(terms) > 1 and any(STEP in term.free_symbols for term in terms):
            yield _placed(tuple(terms), parameter)


def _placed(terms: tuple[Expr, ...], parameter: Symbol) -> _Place:
    """The template has a positive leading number, no common one, and at most one power of x in all its terms."""
    content, primitive = Add(*terms).xreplace({parameter: VARIABLE}).primitive()
    leading = min(primitive.args, key=lambda term: (STEP in term.free_symbols, term.sort_key()))
    if leading.as_coeff_Mul()[0] < 0:
        content, primitive = -content, Add(*(-term for term in primitive.args))
    common = min(_power_at_the_start(term) for term in primitive.args) - 1
    if common > 0:
        primitive = Add(*(_divided(term, common) for term in primitive.args))
    return _Place(terms, Mul(content, parameter ** max(common, 0)), primitive, parameter)


def _exponent(term: Expr) -> Expr:
    """The exponent of x in a product."""
    powers = (factor.as_base_exp() for factor in Mul.make_args(term))
    return Add(*(exponent for base, exponent in powers if base == VARIABLE))


def _power_at_the_start(term: Expr) -> int:
    """The exponent of x at n = 0."""
    exponent = _exponent(term).xreplace({STEP: S.Zero})
    return int(exponent) if exponent.is_Integer else 0


def _divided(term: Expr, power: int) -> Expr:
    """``term / x^power``, the powers of x as one."""
    others = [factor for factor in Mul.make_args(term) if factor.as_base_exp()[0] != VARIABLE]
    return Mul(VARIABLE ** (_exponent(term) - power), *others)


def _replaced(expression: Expr, template: Expr, symbols: Mapping[Symbol, Symbol]) -> Expr:
    """From the outside in: a sum is looked at whole before its terms are."""
    if isinstance(expression, Add) and is_scalar(expression):
        terms, short = list(expression.args), []
        for place in _parts(expression):
            if place.template == template:
                terms = [term for term in terms if term not in place.terms]
                short.append(Mul(place.factor, symbols[place.parameter]))
        if short:
            return Add(*short, *(_replaced(term, template, symbols) for term in terms))
    if not expression.args:
        return expression
    parts = [
        _replaced(part, template, symbols) if isinstance(part, _WALKED) else part for part in expression.args
    ]
    if list(expression.args) == parts:
        return expression
    if isinstance(expression, Mul):  # a number that all terms of a sum share goes in front
        pairs = [part.primitive() if isinstance(part, Add) else (S.One, part) for part in parts]
        return Mul(*(content for content, _ in pairs), *(rest for _, rest in pairs))
    return expression.func(*parts)
