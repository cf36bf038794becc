"""Declarations from seeds: of the zoo with pieces changed, from the grammar, with words of the targets, hostile."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fuzzing import grammar
from fuzzing.words import HOSTILE, NUMBERS, WORDS
from symmem.declaration.catalogue import names, text_of

NAMES = ("beta", "beta2", "eps")
SCHEDULES = (
    "min(1, (n + 1)/100)", "(1 + cos(pi*min(n, 100)/100))/2", "where(n < 100, 1, 1/10)", "1/sqrt(n + 1)",
    "min(1/sqrt(n + 1), (n + 1)/1000)", "1/2 + 1/(n + 1)", "prod(1 - 1/(i + 1), i, 1, n + 1)", "0.999**n",
)  # fmt: skip
SMOOTH = {
    "sign": ("x/sqrt(x**2 + eps)", "tanh(x/eps)"),
    "abs": ("sqrt(x**2 + eps)",),
    "max": ("(x + y + sqrt((x - y)**2 + eps))/2",),
    "min": ("(x + y - sqrt((x - y)**2 + eps))/2",),
    "clip": ("lo + (hi - lo)/(1 + exp(-x))", "x"),
}


@dataclass(frozen=True)
class Input:
    """One input: its kind, and the text of its declaration."""

    kind: str
    text: str


def made(seed: int) -> Input:
    """The input of a seed, and of nothing else."""
    chance = random.Random(seed)
    kind = chance.choices(list(KINDS), [share for share, _ in KINDS.values()])[0]
    return Input(kind, KINDS[kind][1](chance))


@dataclass(frozen=True)
class Variable:
    """A momentum variable as it is written."""

    g: str
    beta: str = ""
    b: str = ""
    delay: str = ""

    @property
    def lines(self) -> list[str]:
        """In TOML."""
        fields = [f'g = "{self.g}"', self.delay]
        fields += [f'{name} = "{value}"' for name, value in (("beta", self.beta), ("b", self.b)) if value]
        return ["[[momentum]]", *filter(None, fields)]


def _written(
    chance: random.Random,
    phi: str,
    variables: list[Variable],
    tables: Mapping[str, list[str]],
    known: tuple[str, ...],
) -> str:
    """Every variable and parameter that is declared is used: what is refused for less shows nothing."""
    readers = " ".join([phi, *(each.g for each in variables)])
    unread = [f"m{k}" for k, _ in enumerate(variables, 1) if not re.search(rf"\bm{k}\b", readers)]
    phi = " + ".join([phi, *unread])
    lines = [line for each in variables for line in each.lines]
    more = [line for head, body in tables.items() for line in (f"[{head}]", *body)]
    said = " ".join([phi, *lines, *more])
    decay, other, small = known
    default = chance.choice(["0.9", "0", "0.5", "0.999", "-0.5", '{ default = 0.9, range = "[0, 1)" }'])
    values = {small: chance.choice(["1e-8", "1"]), other: "0.99", decay: default}
    used = [name for name in dict.fromkeys(known) if re.search(rf"\b{re.escape(name)}\b", said)]
    table = ["[parameters]", *(f"{name} = {values[name]}" for name in used)]
    return "\n".join(['name = "mine"', f'phi = "{phi}"', *table, *more, *lines]) + "\n"


def _decays(known: tuple[str, ...]) -> list[str]:
    decay, other, _ = known
    return [
        *[decay] * 6,
        *[other] * 3,
        *["0"] * 3,
        "0.9",
        "1/2",
        f"-{decay}",
        f"-{decay}",
        f"{decay}*{other}",
        f"{decay}**2",
    ]


def _gains(chance: random.Random, known: tuple[str, ...]) -> str:
    decay, _, small = known
    usual = ["1", "1", f"1 - {decay}", f"1 - {decay}", f"(1 - {decay})/(1 - {decay}**(n + 1))"]
    return chance.choice(
        [*usual, "1/(n + 1)", "2 + sin(n)", "exp(-n) + 1", grammar.entrywise(chance, ["n", decay, small], 2)]
    )


def _variable(chance: random.Random, known: tuple[str, ...], g: str | None = None) -> Variable:
    if g is None:
        own = grammar.entrywise(chance, ["grad", "theta", known[2]], 2)
        g = chance.choice(["grad", "grad", "grad", "grad**2", "grad**2", "theta", own])
    if chance.random() < 0.1:
        return Variable(
            g, delay=f"delay = {chance.choice('1112345')}{chance.choice(('', chr(10) + 'start = 0'))}"
        )
    beta = (
        chance.choice(_decays(known)) if chance.random() < 0.97 else grammar.entrywise(chance, known[:2], 2)
    )
    return Variable(g, beta, _gains(chance, known))


def _formulas(chance: random.Random, known: tuple[str, ...] = NAMES) -> str:
    variables = [_variable(chance, known) for _ in range(chance.choice((1, 1, 2, 2, 3)))]
    leaves = [*(f"m{k}" for k, _ in enumerate(variables, 1))] * 2 + [known[2]]
    return _written(
        chance, grammar.entrywise(chance, leaves, chance.choice((1, 2, 2, 3, 4))), variables, {}, known
    )


def _linear(chance: random.Random) -> str:
    variables = [
        _variable(chance, NAMES, chance.choice(("grad", "grad", "theta")))
        for _ in range(chance.choice((1, 2, 3)))
    ]
    terms = [f"{chance.choice(('', 'eps*', '-', '2*'))}m{k}" for k, _ in enumerate(variables, 1)]
    return _written(chance, " + ".join(terms), variables, {}, NAMES)


def _cascades(chance: random.Random) -> str:
    variables = [_variable(chance, NAMES)]
    for k in range(1, chance.choice((2, 3))):
        leaves = ["grad", *(f"m{j}" for j in range(1, k + 1 + (chance.random() < 0.05)))]
        usual = f"grad{chance.choice('-+*/')}m{k}"
        g = chance.choice([f"m{k}", usual, f"grad/sqrt(m{k} + eps)", grammar.entrywise(chance, leaves, 2)])
        variables.append(_variable(chance, NAMES, g))
    last = f"m{len(variables)}"
    phi = chance.choice([last, last, f"m1 + {last}", grammar.entrywise(chance, [last, "m1"], 2)])
    return _written(chance, phi, variables, {}, NAMES)


def _tensors(chance: random.Random) -> str:
    variables = [_variable(chance, NAMES) for _ in range(chance.choice((1, 1, 2)))]
    leaves = [f"m{k}" for k, _ in enumerate(variables, 1)]
    if chance.random() < 0.2:
        variables[0] = _variable(chance, NAMES, grammar.of_tensors(chance, ["grad", "theta"], 1))
    return _written(
        chance, grammar.of_tensors(chance, leaves, chance.choice((1, 1, 2))), variables, {}, NAMES
    )


def _schedules(chance: random.Random) -> str:
    variables = [_variable(chance, NAMES) for _ in range(chance.choice((1, 1, 2)))]
    if chance.random() < 0.6:
        own = grammar.of_the_step(chance, ["n", "n", "beta", "eps"], chance.choice((1, 2, 3)))
        variables[0] = Variable(variables[0].g, "beta", own)
    tables = {}
    if chance.random() < 0.7:
        own = grammar.of_the_step(chance, ["n", "n", "eps"], chance.choice((1, 2, 3)))
        tables["schedule"] = [f'rate = "{chance.choice((own, *SCHEDULES))}"']
    phi = chance.choice(["m1", "m1", "m1/sqrt(m1**2 + eps)", grammar.entrywise(chance, ["m1"], 2)])
    return _written(chance, phi, variables, tables, NAMES)


def _smoothed(chance: random.Random) -> str:
    phi = grammar.kinked(chance, ["m1", "m1", "eps"], chance.choice((1, 2, 2)))
    shapes = [name for name in SMOOTH if re.search(rf"\b{name}\(", phi)]
    table = [f'{name} = "{chance.choice(SMOOTH[name])}"' for name in shapes if chance.random() < 0.95]
    return _written(chance, phi, [_variable(chance, NAMES)], {"smooth": table} if table else {}, NAMES)


def _opaque(chance: random.Random) -> str:
    name = chance.choice(("gradK", "project", *WORDS))
    more = [
        f'potential = "{chance.choice(("K", *WORDS))}"',
        f"degree = {chance.choice(('0', '1', '-1', '0.5', '1e9'))}",
    ]
    body = ", ".join(chance.sample(more, chance.randrange(3)))
    phi = chance.choice([f"{name}(m1)", f"{name}(m1) + m1", f"{name}({name}(m1))", f"m1*{name}(m1 + eps)"])
    return _written(chance, phi, [_variable(chance, NAMES)], {"functions": [f"{name} = {{ {body} }}"]}, NAMES)


def _programs(chance: random.Random) -> str:
    """With the tables that say how programs spell it."""
    word = lambda: chance.choice(("beta", "betas", "exp_avg", "1", *WORDS))  # noqa: E731
    tables = {
        "torch": [
            f'arguments = {{ "{word()}" = "beta" }}',
            f'state = {{ m1 = "{word()}" }}',
            f"options = {{ {word()} = true }}",
        ],
        "implementation": [
            f'name = "{chance.choice(("torch.optim.SGD", "os.system", "x", word()))}"',
            f'arguments = {{ {word()} = "{word()}" }}',
        ],
        "citation.one": [
            f"type = '{chance.choice(('article', 'misc', word()))}'",
            f"title = '{chance.choice(HOSTILE)}'",
            f"{word()} = '{word()}'",
        ],
    }
    kept = {head: body for head, body in tables.items() if chance.random() < 0.5}
    return _written(chance, "m1", [Variable("grad", "beta", "1 - beta")], kept, NAMES)


def _words(chance: random.Random) -> str:
    known = (chance.choice(WORDS), chance.choice(WORDS), chance.choice(WORDS))
    return _formulas(chance, known)


def _mutated(chance: random.Random) -> str:
    text = text_of(chance.choice(names()))
    for _ in range(chance.randint(1, 3)):
        pieces = text.split('"')
        place = chance.randrange(len(pieces))
        change = chance.randrange(6)
        if change == 0:
            pieces[place] = grammar.entrywise(chance, ["m1", "grad", "n", "theta", "eps", "beta", "beta1"], 2)
        elif change == 1:
            old, new = chance.choice("()+-*/0123456789aeg=[]"), chance.choice("()+-*/0 9a=[]")
            pieces[place] = pieces[place].replace(old, new, 1)
        elif change == 2:
            pieces[place] = chance.choice(pieces)
        elif change == 3:
            del pieces[place]
        elif change == 4:
            pieces[place] += chance.choice(NUMBERS)
        else:
            lines = text.split("\n")
            lines.insert(chance.randrange(len(lines)), lines.pop(chance.randrange(len(lines))))
            pieces = "\n".join(lines).split('"')
        text = '"'.join(pieces)
    return text


def _hostile(chance: random.Random) -> str:
    """A text of another kind with a piece of hostile text anywhere in it, or in the place of a value."""
    text = chance.choice((_formulas, _mutated, _schedules, _opaque, _programs))(chance)
    piece = chance.choice(HOSTILE)
    if chance.random() < 0.5:
        values = [found.span(1) for found in re.finditer(r'= "([^"\n]*)"', text)]
        start, end = chance.choice(values) if values else (0, 0)
        return text[:start] + piece + text[end:]
    place = chance.randrange(len(text) + 1)
    return text[:place] + piece + text[place + chance.randrange(3) :]


KINDS: Mapping[str, tuple[float, Callable[[random.Random], str]]] = {
    "mutated zoo": (25, _mutated),
    "hostile text": (25, _hostile),
    "linear": (10, _linear),
    "words of targets": (10, _words),
    "formulas": (8, _formulas),
    "programs": (6, _programs),
    "cascades": (4, _cascades),
    "tensors": (4, _tensors),
    "schedules": (4, _schedules),
    "opaque": (3, _opaque),
    "smoothed": (1, _smoothed),
}
"""Name: its share in hundred, and what makes it.  What is cheap has the larger share."""
