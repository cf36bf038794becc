r"""The paper section, read back: every displayed equation is turned into numbers and compared with the Derivation's.

The numbers of the left-hand sides come from the Derivation, from the literal optimizer on a history, or from brute
force; those of the right-hand sides from the LaTeX alone, by a reader that shares no code with the printers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

import mpmath
import pytest
from latex_reader import DIGITS, MP, Equation, Reader, World, displayed, entrywise, factors_of, summands
from sympy import Rational, Symbol
from truth import FIRST, LOSS, LR, THETA, load, shown_first

import symmem
from symmem.derivation.derivation import Derivation
from symmem.derivation.orders.second_order import second_coefficient
from symmem.derivation.past.correction import finite_correction
from symmem.documents.account import account_of
from symmem.documents.paper.blocks import Numbering, height
from symmem.documents.paper.displays import Writer
from symmem.documents.paper.histories import naming_histories
from symmem.documents.paper.lemma import shortened
from symmem.documents.paper.macros import SHORTHANDS
from symmem.documents.paper.section import PARTS, paper_section
from symmem.documents.parts import Part
from symmem.method.reading import method_of
from symmem.notation.formula import Atom
from symmem.notation.statement import Applied, Indexed, Letter, N
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.ridges import potential_map

QUICK = {
    "beta": Rational(1, 4),
    "beta1": Rational(1, 5),
    "beta2": Rational(3, 10),
    "eps": Rational(1, 50),
    "weight_decay": Rational(3, 10),
}
"""Small betas: the endless sums of the start-up shift end after some thirty terms."""
STEPS = 3
AGO = 2
CLOSE = 1e-14
TINY = Rational(1, 10**40)
EVERY = [*((name, 1) for name in FIRST), *shown_first(FIRST, 2), ("heavyball", 3)]


def vector(seed: int) -> tuple[object, ...]:
    return tuple(MP.mpf((7 * seed + 5 * i) % 13 - 6) / 9 + MP.mpf(1) / 17 for i in range(len(THETA)))


@pytest.fixture(autouse=True)
def _digits():
    with MP.workdps(DIGITS):
        yield


@dataclass(frozen=True)
class Remembered:
    """The loss of the truth tests; a derivative that was taken once is not taken again."""

    def value(self, theta):
        return LOSS.value(theta)

    @lru_cache(maxsize=20000)  # noqa: B019  # one instance, which lives as long as the tests
    def contraction(self, theta, *vectors):
        return LOSS.contraction(theta, *vectors)


OPAQUE = {"gradK": potential_map(3)}
"""For Lion-K: bounded, and the gradient of no even function, or a sign inside its Hessian would not be felt."""

HISTORY = [vector(seed) for seed in range(STEPS + 1)]
"""theta_0, ..., theta_n."""


class Truth:
    """What each letter of the section means, from the Derivation and from the literal optimizer."""

    def __init__(self, derivation: Derivation) -> None:
        self.derivation, self.optimizer = derivation, derivation.optimizer
        values = {p.name: QUICK.get(p.name, p.default) for p in self.optimizer.parameters}
        functions = {f.name: OPAQUE[f.name] for f in self.optimizer.functions}
        self.literal = Literal(self.optimizer, values, LOSS, functions)

    def number(self, expression, theta, n=0, **changed):
        scalars = {**self.literal.numbers, "n": n, "lr": LR, **changed}
        found = evaluate(expression, scalars, {"theta": theta}, LOSS, self.literal.functions, digits=30)
        return tuple(found) if isinstance(found, list) else found

    def vector(self, expression, theta, n=0, **changed):
        found = self.number(expression, theta, n, **changed)
        return found if isinstance(found, tuple) else (found,) * len(THETA)

    def named(self) -> dict[str, object]:
        d = self.derivation
        finite = finite_correction(method_of(self.optimizer)) / symmem.derivation.derivation.LR
        parts = {1: finite}
        if d.order > 1:
            parts[2] = second_coefficient(method_of(self.optimizer))

        def update(w, j, step, arguments):
            point = arguments[0] if arguments else w.theta
            if "s" in str(j):  # on the straight line
                return self.vector(d.limit_straight, point)
            if step is None:
                return self.vector(d.coefficients[int(j)], point)
            return self.vector(d.F if not j else parts[int(j)], point, step)

        def correction(_, __, step, arguments):
            total = sum(Symbol("lr") ** j * part for j, part in parts.items())
            return self.vector(total, arguments[0], step)

        letters = {
            r"\lr": lambda *_: MP.mpf(LR.p) / LR.q,
            r"\btheta": lambda w, _, step, __: w.theta if step is None else self.iterate(step),
            r"\memless": lambda *_: HISTORY[1],
            r"\loss": lambda w, _, __, arguments: LOSS.value(arguments[0] if arguments else w.theta),
            r"\mom": self.momentum,
            r"\update": lambda _, __, ___, arguments: self.phi(arguments),
            r"\gain": self.gain,
            r"\bF": update,
            r"\bM": correction,
            r"\bG": lambda w, j, *_: self.vector(d.modified_equation[int(j)], w.theta),
            r"\bd": lambda w, j, *_: self.vector(d.shift[int(j) - 1], w.theta),
            r"\bS": self.past,
            r"\by": lambda w, *_: entrywise(
                lambda x: MP.mpf(LR.p) / LR.q * x,
                tuple(LOSS.contraction(w.theta, self.vector(d.limit.F, w.theta))),
            ),
            r"\bv": lambda *_: vector(3),
            r"\bR": lambda w, k, *_: self.vector(d.obstruction.terms[int(k) - 1], w.theta),
            r"\modloss": lambda w, *_: self.number(d.modified_loss.potential, w.theta),
            r"\precond": lambda w, _, __, a: self.number(
                d.modified_loss.preconditioner, a[0] if a else w.theta
            ),
            r"\maploss": lambda w, *_: self.number(d.gradient_map_loss.potential, w.theta),
            r"\age": lambda w, *_: self.number(d.gradient_map_loss.map.lag, w.theta),
            r"\mappot": lambda w, *_: self.number(d.gradient_map_loss.map.primitive, w.theta),
            "gradient of modloss": self.modified_gradient,
            "sensitivity": self.sensitivity,
        }
        for parameter in self.optimizer.parameters:
            name = re.sub(r"_\{?(\w+)\}?", r"_\1", parameter.latex)
            number = (
                mpmath.mpf(self.literal.numbers[parameter.name].p) / self.literal.numbers[parameter.name].q
            )
            letters[name] = lambda *_, number=number: MP.mpf(number)
        return letters

    def iterate(self, step: int):
        """theta_n of the given history; one step further as the literal optimizer makes it."""
        if step <= STEPS:
            return HISTORY[step]
        move = self.literal.direction(HISTORY[::-1], 40)
        return entrywise(lambda x, f: x - MP.mpf(LR.p) / LR.q * f, HISTORY[-1], tuple(move))

    def momentum(self, _, position, step, __):
        if step is None:
            return entrywise(abs, vector(5 + int(position)))
        variable = self.optimizer.momentum[int(position) - 1]
        beta = self.number(variable.beta, THETA)
        total = (MP.mpf(0),) * len(THETA)
        for k in range(step):
            seen = self.vector(variable.g, HISTORY[step - 1 - k])
            total = entrywise(lambda t, g, k=k: t + (MP.mpf(1) if k == 0 else beta**k) * g, total, seen)
        factor = self.number(variable.b, THETA, step - 1)
        return entrywise(lambda t: factor * t, total)

    def phi(self, momenta):
        names = {f"m{k}": value for k, value in enumerate(momenta, start=1)}
        found = evaluate(
            self.optimizer.phi, self.literal.numbers, names, None, self.literal.functions, digits=30
        )
        return tuple(found)

    def gain(self, _, position, step, __):
        variable = self.optimizer.momentum[int(position) - 1]
        beta = self.number(variable.beta, THETA)
        weights = [MP.mpf(1) if k == 0 else beta**k for k in range(step + 1)]
        return self.number(variable.b, THETA, step) * MP.fsum(weights)

    def past(self, w, number, *_):
        """The double sum over the history, on the true frozen updates."""
        betas = dict.fromkeys(v.beta for v in self.optimizer.momentum if v.beta != 0)
        beta = self.number(list(betas)[int(number) - 1], THETA)
        frozen = self.literal.frozen(w.theta, STEPS, 40)
        total = (MP.mpf(0),) * len(THETA)
        for k in range(1, STEPS + 1):
            for s in range(STEPS - k, STEPS):
                total = entrywise(lambda t, f, k=k: t + beta**k * f, total, tuple(frozen[s]))
        return total

    def sensitivity(self, w, direction):
        """dF^(n)/dtheta_{n-k} along a direction, by a difference of the literal optimizer."""
        k, tau = w.indices["k"], MP.mpf(10) ** -14
        sides = []
        for side in (tau, -tau):
            history = [w.theta] * (STEPS + 1)
            history[k] = entrywise(lambda x, v, side=side: x + side * v, w.theta, direction)
            sides.append(tuple(self.literal.direction(history, 60)))
        return entrywise(lambda up, down: (up - down) / (2 * tau), *sides)

    def modified_gradient(self, w):
        potential, step = self.derivation.modified_loss.potential, MP.mpf(10) ** -12
        entries = []
        for i in range(len(THETA)):
            up, down = (
                self.number(potential, tuple(x + side * (i == j) for j, x in enumerate(w.theta)))
                for side in (step, -step)
            )
            entries.append((up - down) / (2 * step))
        return tuple(entries)

    def memoryless_step(self, place: str):
        """theta of the next step: of the lemma, of the limit, or of the step on the modified loss."""
        d, start, rate = self.derivation, HISTORY[1], MP.mpf(LR.p) / LR.q
        if place.startswith("lem:"):
            named = self.named()
            parts = [named[letter](None, "", STEPS, [start]) for letter in (r"\bF", r"\bM")]
            move = entrywise(lambda x, y: x + y, *parts)
        else:
            small = d.modified_loss.regime.small if place.endswith("-loss") else ()
            settled = {symbol.name: TINY for symbol in small}
            move = self.vector(d.limit.F + d.limit.M, start, **settled)
        return entrywise(lambda x, f: x - rate * f, start, move)

    def world(self, place: str) -> World:
        named = self.named()
        theta = HISTORY[0] if place.endswith("-start") else tuple(MP.mpf(x) for x in THETA)
        functions = {"K": OPAQUE["gradK"]}
        return World(theta, named, Remembered(), functions, {"n": STEPS, "k": AGO})


@cache
def section(name: str, order: int) -> tuple[Derivation, str]:
    derivation = symmem.derive(load(name), order)
    return derivation, paper_section(account_of(derivation, parts=PARTS))


def shorthands_of(equations: list[Equation]) -> dict[str, tuple[str, object]]:
    found = {}
    for equation in equations:
        match = re.fullmatch(r"(\\coef[a-z])_\{n\}\((\w)\)", equation.left)
        if match:
            found[match[1]] = (match[2], Reader(equation.rights[0]).whole())
        match = re.fullmatch(r"(\\(?:bu|num)_\{\d+\})(?:\^\{\(n\)\})?", equation.left)
        if match:  # a block reads those before it
            found[match[1]] = ("n", Reader(equation.rights[0], found).whole())
    return found


def values(equation: Equation, truth: Truth, shorthands) -> list[object]:
    """The left-hand side and all right-hand sides as numbers."""
    world = truth.world(equation.place)
    if equation.left == r"\memless^{(n + 1)}":
        left = truth.memoryless_step(equation.place)
    else:
        left = Reader(equation.left, shorthands).whole()(world)
    return [left, *(Reader(right, shorthands).whole()(world) for right in equation.rights)]


def close(left, right) -> bool:
    left, right = (x if isinstance(x, tuple) else (x,) * len(THETA) for x in (left, right))
    scale = 1 + max(map(abs, right))
    return max(abs(x - y) for x, y in zip(left, right, strict=True)) < CLOSE * scale


def checked(name: str, order: int) -> list[Equation]:
    derivation, source = section(name, order)
    equations = displayed(source)
    shorthands, truth = shorthands_of(equations), Truth(derivation)
    for equation in equations:
        if equation.left.startswith((r"\coef", r"\bu", r"\num")):
            continue
        left, *rights = values(equation, truth, shorthands)
        for right, formula in zip(rights, equation.rights, strict=True):
            assert close(left, right), (equation.place, equation.left, formula)
    return equations


@pytest.mark.parametrize(("name", "order"), EVERY)
def test_every_displayed_equation_is_read_back(name: str, order: int) -> None:
    equations = checked(name, order)
    derivation, _ = section(name, order)
    lefts = {equation.left for equation in equations}
    expected = {r"\btheta^{(n + 1)}", r"\memless^{(n + 1)}", r"\bF^{(n)}(\btheta)", r"\bM^{(n)}(\btheta)"}
    expected |= {rf"\bF_{{{j}}}(\btheta)" for j in range(order + 1)}
    expected |= {rf"\bG_{{{j}}}(\btheta)" for j in range(order + 1)}
    expected |= {rf"\mom_{{{k}}}^{{(n + 1)}}" for k in range(1, len(derivation.optimizer.momentum) + 1)}
    expected |= {
        rf"\bd_{{{j}}}" for j, d in enumerate(derivation.shift, 1) if any(x != 0 for x in derivation.shift)
    }
    if derivation.modified_loss is not None:
        expected |= {r"\modloss(\btheta)", r"\precond(\btheta)"}
    if derivation.gradient_map_loss is not None:
        expected |= {r"\maploss(\btheta)", r"\mappot(\nabla \loss)"}
    assert expected <= lefts, expected - lefts


def flips(formula: str) -> list[str]:
    """The formula with one sign changed, once for every sign in it."""
    places = [match.start(1) for match in re.finditer(r"(?:^|[ ({\[&])([+-])(?= ?[^+-])", formula)]
    return [formula[:p] + ("-" if formula[p] == "+" else "+") + formula[p + 1 :] for p in places]


@pytest.mark.parametrize("name", ["adamw", "lion-k", "nesterov"])
def test_a_wrong_sign_anywhere_is_seen(name: str) -> None:
    """The test of the test: one sign changed in any displayed equation is found, by its value or as nonsense."""
    derivation, source = section(name, 1)
    equations = displayed(source)
    shorthands, truth = shorthands_of(equations), Truth(derivation)
    count = 0
    for equation in equations:
        if equation.left.startswith(r"\coef"):
            continue
        for position, right in enumerate(equation.rights):
            for wrong in flips(right):
                rights = (*equation.rights[:position], wrong, *equation.rights[position + 1 :])
                changed = Equation(equation.place, equation.left, rights)
                try:
                    left, *found = values(changed, truth, shorthands)
                except (AssertionError, KeyError, IndexError, ZeroDivisionError, TypeError, ValueError):
                    count += 1
                    continue
                assert not all(close(left, value) for value in found), (equation.left, wrong)
                count += 1
    assert count > 30


def test_a_wrong_short_hand_is_seen() -> None:
    derivation, source = section("adamw", 1)
    equations = displayed(source)
    truth = Truth(derivation)
    (lemma,) = [e for e in equations if e.left == r"\bM^{(n)}(\btheta)" and e.place.startswith("lem:")]
    (definition,) = [e for e in equations if e.left.startswith(r"\coef")]
    for wrong in flips(definition.rights[0]):
        shorthands = {r"\coefa": ("x", Reader(wrong).whole())}
        left, right = values(lemma, truth, shorthands)
        assert not close(left, right), wrong


def in_blocks(name: str) -> tuple[Truth, Equation, list[Equation]]:
    """The correction of a method whose lemma has blocks, and the definitions before it, sums included."""
    derivation, source = section(name, 1)
    equations = [e for e in displayed(source) if e.place.startswith("lem:")]
    (lemma,) = [e for e in equations if e.left == r"\bM^{(n)}(\btheta)"]
    return Truth(derivation), lemma, equations[: equations.index(lemma)]


def with_sums(definitions: list[Equation]) -> dict[str, tuple[str, object]]:
    """The blocks, with the sums over the history as the lemma defines them."""
    sums = {e.left: ("n", Reader(e.rights[0]).whole()) for e in definitions if e.left.startswith(r"\bS_")}
    found = dict(sums)
    for equation in definitions:
        if equation.left.startswith((r"\bu", r"\num")):
            name = equation.left.removesuffix("^{(n)}")
            found[name] = ("n", Reader(equation.rights[0], found).whole())
    return found


LONG = ["laprop", "rmsprop-momentum"]
LONGER = [
    "adabelief",
    "adapnm",
    "exadam",
    "mars-adamw",
    "radam",
    "rmsprop-momentum-optax",
    "rmsprop-nesterov",
]


@pytest.mark.parametrize("name", [*LONG, *(pytest.param(name, marks=pytest.mark.prove) for name in LONGER)])
def test_a_correction_in_blocks_is_the_correction(name: str) -> None:
    """Read with its definitions alone, it has the value of the Derivation; a sign changed in a definition is seen."""
    truth, lemma, before = in_blocks(name)
    (update,) = [e for e in before if e.left == r"\bF^{(n)}(\btheta)"]
    for equation in (update, lemma):
        left, right = values(equation, truth, with_sums(before))
        assert close(left, right), equation.left
    assert any(e.left.startswith(r"\bu") for e in before)
    if any("where" in right for e in (lemma, *before) for right in e.rights):
        return  # a value that is not taken at this step changes nothing
    for position, equation in enumerate(before):
        for wrong in flips(equation.rights[0])[:2] if equation.left.startswith((r"\bu", r"\num")) else ():
            changed = Equation(equation.place, equation.left, (wrong,))
            left, right = values(
                lemma, truth, with_sums([*before[:position], changed, *before[position + 1 :]])
            )
            assert not close(left, right), (equation.left, wrong)


@pytest.mark.prove
@pytest.mark.parametrize("name", list(symmem.zoo()))
def test_no_correction_is_longer_than_a_person_reads(name: str) -> None:
    """Six lines of an article, for M^(n) and for the definition of each of its blocks."""
    derivation = symmem.derive(name)
    writer = Writer.of(derivation.optimizer)
    account = account_of(derivation, parts={Part.LEMMA})
    short = shortened(account, writer, SHORTHANDS, numbering=Numbering())
    naming = writer
    if short.steps is not None:
        naming = naming_histories(short.steps, naming)
    uses = {symbol.name: Atom(parameter.name) for s in short.shorthands for parameter, symbol in s.uses}
    naming = naming.naming({key: Applied(Indexed(Letter("coefa"), N), (at,)) for key, at in uses.items()})
    for formula in (short.corrections[0], *(block.template for block in short.blocks)):
        assert height(formula, short.blocks, naming) <= 6


# beside the paper: the formulas as printed, in our macros

SQUARE = r"(\abs{\nabla \loss}^{2} + \varepsilon)"
ADAMW_LAST = r"(\nabla \norm{\nabla \loss}_{1, \varepsilon} + \lambda \nabla^{2} \loss \btheta)"
KAPPA = r"\frac{x}{1 - x} - \frac{(n + 1) x^{n + 1}}{1 - x^{n + 1}}"


def adam_like(first: str, second: str) -> str:
    return (
        rf"\lr (\frac{{{first} - {second}}}{{{SQUARE}^{{1/2}}}}"
        rf" + \varepsilon \frac{{{second}}}{{{SQUARE}^{{3/2}}}}) {ADAMW_LAST}"
    )


def limit_of(name: str) -> str:
    return rf"\beta_{name} (1 - \beta_{name})^{{-1}}"


PRINTED = {
    ("heavyball", "limit"): r"\frac{\lr \beta}{2 (1 - \beta)^{3}} \nabla \norm{\nabla \loss}^{2}",
    ("nesterov", "limit"): r"\frac{\lr \beta^{2}}{2 (1 - \beta)^{3}} \nabla \norm{\nabla \loss}^{2}",
    ("adamw", "limit"): adam_like(limit_of("1"), limit_of("2")),
    ("nadamw", "limit"): adam_like(r"\beta_1^{2} (1 - \beta_1)^{-1}", limit_of("2")),
    ("lion-k", "limit"): (
        r"-\lr \frac{\rho_1}{1 - \rho_2} \nabla^{2} \mathcal{K}(-\nabla \loss)"
        r" \nabla^{2} \loss[\nabla\mathcal{K}(-\nabla \loss) - \lambda \btheta]"
    ),
    ("heavyball", "lemma"): (
        r"\lr \frac{\beta (1 - (2 n + 1) \beta^{n} (1 - \beta) - \beta^{2 n + 1})}{2 (1 - \beta)^{3}}"
        r" \nabla \norm{\nabla \loss}^{2}"
    ),
    # The lemma with the common root in the first bracket, where the paper's own limit has it.
    ("adamw", "lemma"): adam_like(r"\coefa_{n}(\beta_1)", r"\coefa_{n}(\beta_2)"),
    ("lion-k", "lemma"): (
        r"\lr \rho_1 (1 - \rho_2) \nabla^{2} \mathcal{K}(-(1 - \rho_1 \rho_2^{n}) \nabla \loss) \nabla^{2} \loss["
        r"\sum_{k = 1}^{n} \rho_2^{k - 1} \sum_{s = n - k}^{n - 1}"
        r" (\lambda \btheta - \nabla\mathcal{K}(-(1 - \rho_1 \rho_2^{s}) \nabla \loss))]"
    ),
}


@pytest.mark.parametrize(("name", "part"), PRINTED)
def test_the_grouping_is_that_of_the_paper(name: str, part: str) -> None:
    """The same top-level factors: the numbers in front, each vector up to its sign, and what a bracket holds."""
    derivation, source = section(name, 1)
    equations = displayed(source)
    truth = Truth(derivation)
    label, place = (r"\bM^{(n)}(\btheta)", "lem:") if part == "lemma" else (r"\bF_{1}(\btheta)", "cor:")
    (ours,) = [e.rights[0] for e in equations if e.left == label and e.place.startswith(place)]
    ours = ours if part == "lemma" else r"\lr " + ours
    definitions = {r"\coefa": ("x", Reader(KAPPA).whole())}
    world = truth.world("")
    pairs = [
        [(factor, reading(world)) for factor, reading in factors_of(formula, shorthands)]
        for formula, shorthands in ((ours, shorthands_of(equations)), (PRINTED[name, part], definitions))
    ]
    scalars = [MP.fprod(value for _, value in pair if not isinstance(value, tuple)) for pair in pairs]
    vectors = [[(factor, value) for factor, value in pair if isinstance(value, tuple)] for pair in pairs]
    assert len(vectors[0]) == len(vectors[1])
    ratio = scalars[0] / scalars[1]
    for (mine, left), (printed, right) in zip(*vectors, strict=True):
        sides = {round(float(x / y), 9) for x, y in zip(left, right, strict=True)}
        assert len(sides) == 1, (mine, printed)
        ratio *= sides.pop()
        if part == "limit":
            assert summands(mine) == summands(printed), (mine, printed)
    sign = -1 if PRINTED[name, part].startswith("-") else 1
    assert abs(ratio - sign) < 1e-8
