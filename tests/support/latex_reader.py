r"""A reader of the LaTeX that symmem writes for papers: displayed equations -> numbers.

It knows the macros of symmem-macros.tex and shares no code with the printers.  A formula becomes a function of a
``World``: the point theta, the indices n, k, s, r, and what the letters mean.  Values are numbers or tuples of numbers,
and products are taken entry by entry; gradients are taken by differences.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import mpmath

Value = Any
MP = mpmath.mp
MOST_TERMS = 120
DIGITS = 45
"""Readings are taken inside ``MP.workdps(DIGITS)``."""
STEP = MP.mpf(10) ** -12

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|[^\s]")
IGNORED = re.compile(
    r"\\(?:quad|notag|displaystyle|scriptstyle|tight|,|;)(?![A-Za-z])|\\label\{[^}]*\}|\\(?:bigg?|Bigg?)[lr](?![A-Za-z])|\\times|\\cdot|\{\}|&"
)
INDEXED = {
    r"\btheta",
    r"\mom",
    r"\memless",
    r"\bF",
    r"\bM",
    r"\bG",
    r"\bd",
    r"\bS",
    r"\bR",
    r"\gain",
    r"\coef",
    r"\bu",
    r"\num",
}
APPLIED = {r"\maploss", r"\mappot", r"\bF", r"\bM", r"\bG", r"\update", r"\modloss", r"\precond", r"\loss"}
RELATIONS = {">": operator.gt, "<": operator.lt, r"\geq": operator.ge, r"\leq": operator.le}
FUNCTIONS = {"sign": MP.sign, r"\log": MP.log, r"\exp": MP.exp, r"\tanh": MP.tanh}


@dataclass(frozen=True)
class World:
    """``named[letter](world, subscript, superscript, argument)`` gives the value of a letter."""

    theta: tuple[Value, ...]
    named: dict[str, Callable[..., Value]]
    loss: Any
    functions: dict[str, Callable[..., Value]]
    indices: dict[str, int] = field(default_factory=dict)

    def at(self, theta: tuple[Value, ...]) -> World:
        return replace(self, theta=theta)

    def where(self, **indices: int) -> World:
        return replace(self, indices={**self.indices, **indices})


Reading = Callable[[World], Value]


def entrywise(function: Callable[..., Value], *values: Value) -> Value:
    lengths = {len(value) for value in values if isinstance(value, tuple)}
    if not lengths:
        return function(*values)
    (length,) = lengths
    columns = [value if isinstance(value, tuple) else (value,) * length for value in values]
    return tuple(function(*entries) for entries in zip(*columns, strict=True))


def total(value: Value) -> Value:
    return MP.fsum(value)


def slope(function: Reading, world: World) -> Value:
    """The gradient of a scalar with respect to theta."""
    entries = []
    for position in range(len(world.theta)):
        sides = []
        for side in (STEP, -STEP):
            moved = tuple(x + (side if i == position else 0) for i, x in enumerate(world.theta))
            sides.append(function(world.at(moved)))
        entries.append((sides[0] - sides[1]) / (2 * STEP))
    return tuple(entries)


class Reader:
    """Recursive descent over the tokens of one formula."""

    def __init__(self, source: str, shorthands: dict[str, tuple[str, Reading]] | None = None) -> None:
        self.tokens = TOKEN.findall(IGNORED.sub(" ", source))
        self.position = 0
        self.shorthands = shorthands or {}

    def peek(self, ahead: int = 0) -> str:
        place = self.position + ahead
        return self.tokens[place] if place < len(self.tokens) else ""

    def take(self, expected: str | None = None) -> str:
        token = self.peek()
        assert token, "the formula ends too early"
        assert expected is None or token == expected, f"{token} where {expected} was expected"
        self.position += 1
        return token

    def whole(self) -> Reading:
        reading = self.sum()
        assert not self.peek(), f"left over: {self.tokens[self.position :][:12]}"
        return reading

    def sum(self) -> Reading:
        terms = []
        while True:
            negative = self.peek() == "-"
            if self.peek() in ("+", "-"):
                self.take()
            terms.append((-1 if negative else 1, self.product()))
            if self.peek() not in ("+", "-"):
                break
        return lambda w: _added([entrywise(lambda x, s=s: s * x, term(w)) for s, term in terms])

    def factors(self) -> list[Reading]:
        found = [self.unit()]
        while self.peek() and self.peek() not in ("+", "-", ")", "]", "}", ",", "=", "/", *RELATIONS):
            found.append(self.unit())
        return found

    def product(self) -> Reading:
        factors = self.factors()
        reading = lambda w: _multiplied([factor(w) for factor in factors])  # noqa: E731
        if self.peek() == "/":  # 1/2 in an exponent
            self.take()
            below = self.unit()
            return lambda w: entrywise(lambda x, y: x / y, reading(w), below(w))
        return reading

    def unit(self) -> Reading:
        base = self.atom()
        while self.peek() in ("^", r"\trans"):
            if self.take() == r"\trans":
                right = self.unit()
                return lambda w, left=base: total(entrywise(lambda x, y: x * y, left(w), right(w)))
            base = _raised(base, self.group())
        return base

    def group(self) -> Reading:
        """An argument: a group in braces, or one token."""
        if self.peek() == "{":
            self.take()
            inside = self.sum()
            self.take("}")
            return inside
        return Reader(self.take(), self.shorthands).whole()

    def raw_group(self) -> str:
        """The source of the next argument."""
        if self.peek() != "{":
            return self.take()
        self.take("{")
        depth, found = 1, []
        while depth:
            token = self.take()
            depth += (token == "{") - (token == "}")
            found.append(token)
        return " ".join(found[:-1])

    def between(self, left: str, right: str) -> list[Reading]:
        self.take(left)
        parts = [self.sum()]
        while self.peek() == ",":
            self.take()
            parts.append(self.sum())
        self.take(right)
        return parts

    def atom(self) -> Reading:
        token = self.peek()
        if token == r"\mathcal":  # the potential of an open gradient
            self.take()
            letter = self.raw_group()
            (point,) = self.between("(", ")")
            return lambda w: w.functions[letter].potential(point(w))
        if " ".join(self.tokens[self.position : self.position + 8]) == r"( \nabla ^ { 2 } \loss )":
            return self.repeated_hessian()
        if token == "(":
            (inside,) = self.between("(", ")")
            return inside if self.peek() != "_" else self.entries(inside)
        if token == "[":
            return self.between("[", "]")[0]
        if token == "{":
            return self.group()
        self.take()
        if re.fullmatch(r"\d+(\.\d+)?", token):
            return lambda _: MP.mpf(token)
        if token == r"\frac":
            return self.fraction()
        if token == r"\sqrt":
            inside = self.group()
            return lambda w: entrywise(MP.sqrt, inside(w))
        if token in (r"\norm", r"\abs"):
            return self.bars(token)
        if token == r"\sum":
            return self.big_sum()
        if token == r"\nabla":
            return self.nabla()
        if token == r"\dirder":
            raise AssertionError("no directional derivative in the zoo")
        if token == r"\operatorname":
            name = self.raw_group().replace(" ", "")
            if name == "where":
                return self.where()
            return self.applied(FUNCTIONS[name])
        if token in (r"\max", r"\min"):
            choose = max if token == r"\max" else min
            parts = self.between("(", ")")
            return lambda w: choose(part(w) for part in parts)
        if token in FUNCTIONS:
            return self.applied(FUNCTIONS[token])
        if token == r"\infty":
            return lambda _: MP.inf
        return self.letter(token)

    def where(self) -> Reading:
        """where(x > y, if so, if not)."""
        self.take("(")
        left = self.sum()
        holds = RELATIONS[self.take()]
        right = self.sum()
        self.take(",")
        yes = self.sum()
        self.take(",")
        no = self.sum()
        self.take(")")
        return lambda w: yes(w) if holds(left(w), right(w)) else no(w)

    def entries(self, inside: Reading) -> Reading:
        """(...)_{i} under a sum over i."""
        self.take("_")
        assert self.raw_group() == "i"
        return inside

    def applied(self, function: Callable[[Value], Value]) -> Reading:
        (argument,) = self.between("(", ")")
        return lambda w: entrywise(function, argument(w))

    def bars(self, token: str) -> Reading:
        if self.peek() == "[":
            while self.take() != "]":
                pass
        inside = self.group()
        if token == r"\abs":
            return lambda w: entrywise(abs, inside(w))
        if self.peek() != "_":
            return lambda w: MP.sqrt(total(entrywise(lambda x: x * x, inside(w))))
        self.take("_")
        index = self.raw_group()
        if index == "1":
            return lambda w: total(entrywise(abs, inside(w)))
        assert index.startswith("1 , "), index
        offset = Reader(index[4:], self.shorthands).whole()
        return lambda w: total(entrywise(lambda x, e: MP.sqrt(x * x + e), inside(w), offset(w)))

    def fraction(self) -> Reading:
        if self.tokens[self.position : self.position + 2] == ["{", r"\partial"]:
            above, below = self.raw_group(), self.raw_group()
            assert above == r"\partial \bF ^ { ( n ) }", above
            assert below == r"\partial \btheta ^ { ( n - k ) }", below
            self.between("(", ")")
            (direction,) = self.between("[", "]")
            return lambda w: w.named["sensitivity"](w, direction(w))
        above, below = self.group(), self.group()
        return lambda w: entrywise(lambda x, y: x / y, above(w), below(w))

    def big_sum(self) -> Reading:
        self.take("_")
        lower = self.raw_group()
        if lower == "i":
            body = self.product()
            return lambda w: total(body(w))
        index, _, first = lower.partition(" = ")
        index = re.sub(r"[ {}]", "", index)
        low = Reader(first, self.shorthands).whole()
        self.take("^")
        high = self.group()
        body = self.product()

        def value(w: World) -> Value:
            end = high(w)
            terms: list[Value] = []
            position = int(low(w))
            while position <= end:
                terms.append(body(w.where(**{index: position})))
                recent = terms[-12:]
                if end == MP.inf and len(terms) > 12 and max(map(_size, recent)) < MP.mpf(10) ** -17:
                    break
                position += 1
                assert len(terms) < MOST_TERMS, "the sum does not settle"
            return _added(terms) if terms else MP.mpf(0)

        return value

    def nabla(self) -> Reading:
        order = 1
        if self.peek() == "^":
            self.take()
            order = int(self.raw_group())
        if self.peek() == r"\norm":
            potential = self.unit()
            return lambda w: slope(potential, w)
        field = self.take()
        if field == r"\mathcal":
            letter = self.raw_group()
            (point,) = self.between("(", ")")
            slots = self.slots() if order > 1 else []
            return lambda w: tuple(w.functions[letter](point(w), *(slot(w) for slot in slots)))
        where = self.between("(", ")")[0] if self.peek() == "(" and field == r"\modloss" else None
        if field == r"\modloss":
            assert where is not None
            return lambda w: w.at(where(w)).named["gradient of modloss"](w.at(where(w)))
        assert field == r"\loss", field
        if self.peek() == "(" and self.peek(1) in (r"\btheta", r"\memless"):
            (where,) = self.between("(", ")")
        slots = self.slots() if order > 1 else []

        def value(w: World) -> Value:
            point = where(w) if where is not None else w.theta
            vectors = [_as_vector(slot(w), w) for slot in slots[: order - 1]]
            found = tuple(w.loss.contraction(point, *vectors))
            if len(slots) == order:  # all slots filled: a number
                return total(entrywise(lambda x, y: x * y, found, slots[-1](w)))
            return found

        return value

    def slots(self) -> list[Reading]:
        return self.between("[", "]") if self.peek() == "[" else [self.unit()]

    def repeated_hessian(self) -> Reading:
        self.take("(")
        self.take(r"\nabla")
        self.take("^")
        assert self.raw_group() == "2"
        self.take(r"\loss")
        self.take(")")
        self.take("^")
        power = int(self.raw_group())
        (slot,) = self.slots()

        def value(w: World) -> Value:
            vector = slot(w)
            for _ in range(power):
                vector = tuple(w.loss.contraction(w.theta, vector))
            return vector

        return value

    def letter(self, token: str) -> Reading:
        """A named symbol with its subscript, its superscript in parentheses, and its argument."""
        kind = re.sub(r"^\\coef[a-z]$", lambda _: r"\coef", token)
        subscript = superscript = ""
        if self.peek() == "_":
            self.take()
            subscript = self.raw_group()
        if (
            kind in INDEXED
            and self.peek() == "^"
            and self.tokens[self.position + 1 : self.position + 3] == ["{", "("]
        ):
            self.take()
            superscript = self.raw_group()[2:-2]
        step = Reader(superscript, self.shorthands).whole() if superscript else None
        if kind == r"\coef":
            (argument,) = self.between("(", ")")
            return self.shorthand(token, argument)
        block = self.shorthands.get(f"{token}_{{{subscript}}}")
        if block is not None:
            return lambda w: block[1](w if step is None else w.where(n=int(step(w))))
        arguments: list[Reading] = []
        if kind in APPLIED and self.peek() == "(":
            arguments = self.between("(", ")")
        name = f"{token}_{subscript}" if subscript and kind not in INDEXED else token

        def value(w: World) -> Value:
            if name in w.indices:
                return MP.mpf(w.indices[name])
            number = None if step is None else int(step(w))
            return w.named[name](w, subscript, number, [argument(w) for argument in arguments])

        return value

    def shorthand(self, token: str, argument: Reading) -> Reading:
        variable, definition = self.shorthands[token]

        def value(w: World) -> Value:
            point = argument(w)
            return definition(replace(w, named={**w.named, variable: lambda *_: point}))

        return value


def _size(value: Value) -> Value:
    return max(map(abs, value)) if isinstance(value, tuple) else abs(value)


def _as_vector(value: Value, world: World) -> Value:
    """An empty sum of vectors is 0."""
    return value if isinstance(value, tuple) else (value,) * len(world.theta)


def _added(values: list[Value]) -> Value:
    result = values[0]
    for value in values[1:]:
        result = entrywise(lambda x, y: x + y, result, value)
    return result


def _multiplied(values: list[Value]) -> Value:
    result = values[0]
    for value in values[1:]:
        result = entrywise(lambda x, y: x * y, result, value)
    return result


def _raised(base: Reading, exponent: Reading) -> Reading:
    return lambda w: entrywise(lambda x, y: x**y, base(w), exponent(w))


def factors_of(source: str, shorthands: dict[str, tuple[str, Reading]]) -> list[tuple[str, Reading]]:
    """The top-level factors of a single product: the source and the reading of each."""
    reader = Reader(source.strip().removeprefix("-"), shorthands)
    found = []
    while reader.peek():
        start = reader.position
        reading = reader.unit()
        found.append((" ".join(reader.tokens[start : reader.position]), reading))
        assert reader.peek() not in ("+", "-"), "a sum, not a product"
    return found


def summands(factor: str) -> int:
    """How many terms the last outer bracket of a factor has; 1 where it ends in none."""
    if factor[-1] not in ")]":
        return 1
    depth, terms = 0, 1
    for token in reversed(factor.split()):
        depth += (token in ")]}") - (token in "([{")
        if depth == 0:
            return terms
        terms += depth == 1 and token in "+-"
    return terms


@dataclass(frozen=True)
class Equation:
    """``left = right = ...`` as it stands in the document, and the label of the environment around it."""

    place: str
    left: str
    rights: tuple[str, ...]


def displayed(document: str) -> list[Equation]:
    """Every displayed equation of a document."""
    pattern = re.compile(
        r"\\begin\{(?:example|lemma|corollary|remark)\}.*?\\label\{(?P<label>[^}]*)\}"
        r"|\\begin\{proof\}(?P<proof>)|\\begin\{align(?P<star>\*?)\}(?P<body>.*?)\\end\{align(?P=star)\}",
        re.DOTALL,
    )
    found, place = [], ""
    for match in pattern.finditer(document.replace(r"\smm", "\\")):  # the prefix of our macros
        if match["body"] is None:
            place = match["label"] or "proof"
            continue
        found += [Equation(place, *parts) for parts in _rows(match["body"])]
    return found


def _rows(body: str) -> list[tuple[str, tuple[str, ...]]]:
    """The equations of an align: a line that begins with & goes on, one with = begins another right-hand side."""
    rows: list[tuple[str, list[str]]] = []
    hanging = ""
    for line in re.split(r"\\\\\n", body):
        line = re.sub(r"\\(?:notag|label\{[^}]*\})", "", line).strip()
        left, _, right = line.partition("&")
        right = re.sub(r"^(?:\\quad )(?==)", "", right.strip())
        if left.strip():
            rows.append((left.strip(), [right.removeprefix("=")]))
        elif hanging:
            rows.append((hanging, [right.removeprefix("=")]))
            hanging = ""
        elif right.startswith("="):
            rows[-1][1].append(right.removeprefix("="))
        elif not rows or _is_complete(rows[-1][1][-1]):
            hanging = right
        else:
            rows[-1][1][-1] += " " + right
    return [(left, tuple(right.strip().rstrip(",.") for right in rights)) for left, rights in rows]


def _is_complete(right: str) -> bool:
    """Whether a right-hand side has come to its comma or full stop: all brackets are closed."""
    closed = all(right.count(left) == right.count(end) for left, end in ("()", "[]"))
    return closed and right.rstrip().endswith((",", "."))
