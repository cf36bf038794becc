"""Maps from the parameters of one optimizer to those of another that are solved for, not guessed.

The parameters q of the second optimizer and the factor c of lr are unknowns.  A decay of the second is one of the
first, or 0; then both updates are functions of the same sums over the past X (:mod:`symmem.checks.past_sums`), and

    update_1(X) - c update_2(X; q) = 0    for all X

is a polynomial in the X, in the roots and in the powers of the step whose coefficients are equations in q and c.  A
root or a function that has unknowns inside is first taken to be one that the first optimizer has too.  Triple momentum
against QHM: (1 + gamma - gamma/beta) X + gamma/beta grad = c (nu (1 - beta) X + (1 - nu) grad), so c = 1/(1 - beta) and
nu = 1 - gamma (1 - beta)/beta.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product

from sympy import Dummy, Expr, Pow, S, Symbol, default_sort_key, nan, zoo

from symmem.algebra.atoms import STEP
from symmem.algebra.intervals import Interval
from symmem.checks.elimination import Solution, solutions
from symmem.checks.maps import ParameterMap, may_be
from symmem.checks.matching import Matching, coefficients
from symmem.checks.open_functions import degrees_of
from symmem.checks.past_sums import PastSums, update_of
from symmem.checks.zero import Normal
from symmem.declaration.optimizer import Optimizer

MOST_CASES = 64
"""Ways to give decays and roots to each other that are tried."""


@dataclass(frozen=True)
class Question:
    """Two optimizers, the second with unknowns in the place of its parameters."""

    first: Optimizer
    second: Optimizer
    unknowns: dict[Symbol, Symbol]

    @classmethod
    def of(cls, first: Optimizer, second: Optimizer) -> Question:
        """With a new unknown for every parameter of the second."""
        return cls(first, second, {Symbol(each.name): Dummy(each.name) for each in second.parameters})

    @property
    def ranges(self) -> dict[Expr, Interval]:
        """Of the parameters of the first and of the unknowns."""
        ours: dict[Expr, Interval] = {Symbol(each.name): each.range for each in self.first.parameters}
        theirs = {self.unknowns[Symbol(each.name)]: each.range for each in self.second.parameters}
        return {**ours, **theirs}


def solved_maps(first: Optimizer, second: Optimizer) -> Iterator[ParameterMap]:
    """The maps under which the second may be the first: proposals, each to be proved."""
    question = Question.of(first, second)
    if not question.unknowns:
        return
    seen: set[tuple[Expr, ...]] = set()
    for assigned in islice(_assigned(question), MOST_CASES):
        for found in _maps(question, assigned):
            values = tuple(_value(name, found, question) for name in question.unknowns)
            if values not in seen and not any(value.has(nan, zoo) for value in values):
                seen.add(values)
                yield dict(zip(question.unknowns, values, strict=True))


def _value(name: Symbol, found: Solution, question: Question) -> Expr:
    """What was found; the default of a parameter that nothing depends on."""
    defaults = {question.unknowns[Symbol(each.name)]: each.default for each in question.second.parameters}
    unknown = question.unknowns[name]
    return found.get(unknown, unknown).xreplace(defaults)


def _assigned(question: Question) -> Iterator[Solution]:
    """Every decay and every exponent of the second one of the first, or a decay 0: solved for the unknowns."""
    first, second, unknowns = question.first, question.second, question.unknowns
    decays = list(dict.fromkeys(each.beta for each in first.momentum if each.delay == 0))
    theirs = dict.fromkeys(each.beta.xreplace(unknowns) for each in second.momentum if each.delay == 0)
    moving = [beta for beta in theirs if not beta.free_symbols.isdisjoint(unknowns.values())]
    choices = [list(dict.fromkeys([*decays, S.Zero])) for _ in moving]
    powers = [power for power in _exponents(second) if not power.free_symbols.isdisjoint(unknowns)]
    ours = [power for power in _exponents(first) if power.is_Rational]
    goals = [*moving, *(power.xreplace(unknowns) for power in powers)]
    for chosen in product(*choices, *(ours for _ in powers)):
        equations = [goal - value for goal, value in zip(goals, chosen, strict=True)]
        yield from islice(solutions(equations, list(unknowns.values())), 2)


def _exponents(optimizer: Optimizer) -> list[Expr]:
    """Of all powers but those of the step, up to their sign; 1 among them."""
    parts = [optimizer.phi, *(part for each in optimizer.momentum for part in (each.g, each.b))]
    powers = (power for part in parts for power in sorted(part.atoms(Pow), key=default_sort_key))
    found = [power.exp for power in powers if not power.exp.has(STEP)]
    return list(
        dict.fromkeys([S.One, *(-power if power.could_extract_minus_sign() else power for power in found)])
    )


def _maps(question: Question, assigned: Solution, guesses: bool = True) -> Iterator[Solution]:
    """All unknowns, given those that the decays fix; with ``guesses`` also for simple values inside roots.

    ``sqrt(nu*X + (1 - nu)*grad**2)`` is no root of the first optimizer, and with nu = 1 it is.
    """
    normal = Normal(question.ranges, degrees=degrees_of(question.first, question.second))
    memories = PastSums(normal)
    place = {name: assigned.get(unknown, unknown) for name, unknown in question.unknowns.items()}
    ours = normal.read(update_of(question.first, memories, {}))
    known = frozenset(normal.generators.values())
    theirs = normal.read(update_of(question.second, memories, place))
    past = {symbol for _, symbol in memories.known}
    if not past.intersection(normal.written(ours).free_symbols) <= normal.written(theirs).free_symbols:
        return  # a sum over the past that the second does not have
    scale = Dummy("c")
    left = [unknown for unknown in question.unknowns.values() if unknown not in assigned]
    settled = {symbol: normal.written(symbol) for symbol in known if normal.is_constant(symbol)}
    constant = frozenset({*question.ranges, *settled, scale})
    matching = Matching(normal, known, constant, frozenset(left))
    for match in islice(matching.all(), MOST_CASES):
        above = normal.numerator(ours - scale * theirs.xreplace(match.same))
        equations = [*match.equations, *coefficients(above, constant.union(match.unknowns))]
        for found in islice(solutions(equations, [scale, *left, *match.unknowns]), MOST_CASES):
            if found.get(scale) != 0:
                told = {**{key: value.xreplace(found) for key, value in assigned.items()}, **found}
                yield {key: value.xreplace(settled) for key, value in told.items()}
    hidden = sorted(matching.hidden, key=default_sort_key) if guesses else []
    choices = [_simple(unknown, question) for unknown in hidden]
    for chosen in islice(product(*choices), MOST_CASES if hidden else 0):
        fixed = dict(zip(hidden, chosen, strict=True))
        more = {key: value.xreplace(fixed) for key, value in assigned.items()}
        yield from _maps(question, {**more, **fixed}, guesses=False)


def _simple(unknown: Symbol, question: Question) -> list[Expr]:
    """The parameter of the first with this name, or one of the numbers 0 and 1, where it may be these."""
    (parameter,) = (p for p in question.second.parameters if question.unknowns[Symbol(p.name)] == unknown)
    names: list[Expr] = [Symbol(p.name) for p in question.first.parameters if p.name == parameter.name]
    return [*names, *(number for number in (S.Zero, S.One) if may_be(parameter, number))]
