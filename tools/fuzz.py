"""Inputs that nobody would write, through the whole engine: each ends in a result or in one line, or is a failure.

    python tools/fuzz.py --count 100000 --jobs 2          # make fuzz
    python tools/fuzz.py --seed 4711 --count 1 --show     # one input again, with its declaration

An input is made from its seed alone: a declaration of the zoo with pieces changed, expressions from a grammar, names
that are words of the targets, hostile text.  It is derived; one in five goes through every target, and what is written
in a language has to be of it.  A failure is an exception other than SymmemError, a message of several
lines, a text that is not of its language, or more memory than a gigabyte; it is printed with its seed.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import keyword
import random
import re
import resource
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import symmem
from symmem.declaration.catalogue import names, text_of
from symmem.declaration.toml import read_toml
from symmem.errors import BudgetError, SymmemError
from symmem.targets.registry import TARGETS

SECONDS = 10.0
MOST_MEGABYTES = 1000
CHUNK = 50

HOSTILE = (
    *(
        "'''",
        '"""',
        "\\",
        "\\\\",
        "\x00",
        "\x1b[31m",
        "\u202e",
        "%s%n",
        "{{7*7}}",
        "{% raw %}",
        "$(id)",
        "`id`",
    ),
    *(
        "; DROP",
        "*/",
        "//",
        "/*",
        "#",
        "<script>",
        "]]>",
        "\\input{/etc/passwd}",
        "\\end{document}",
        "^^M",
        "é",
    ),
    *(
        "__import__('os')",
        "().__class__",
        "9**9**9**9",
        "1e999",
        "1e-400",
        "1e400",
        "0x1f",
        "1_000",
        "1j",
        "∇L",
    ),
)
_RESERVED = """
int float double static const struct return while register restrict inline sizeof volatile extern
np numpy torch jnp jax lax math self cls step state group closure params theta_ loss_ memoryless
end function endfunction pi e i j Inf NaN ans nargin varargin eps realmin global persistent
correction preconditioner hvp out d3 d4 n lr grad theta phi beta gamma lambda_ E I S N O Q oo zoo Sum D2L
NULL true false main printf M_PI fabs sqrtf pow expf errno EOF FILE symmem symmem_mine __init__ _x
"""
WORDS = (*keyword.kwlist, *(name for name in dir(builtins) if name.islower()), *_RESERVED.split())
FUNCTIONS = ("sqrt", "abs", "sign", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan")
_NUMERALS = "0 1 2 3 -1 0.5 0.9 0.999 1e-8 1e-300 1e-400 1e300 10 64 65 1000 1/2 1/3 0.1 1e39"
NUMBERS = tuple(_NUMERALS.split())


@dataclass(frozen=True)
class Outcome:
    """How one input ended: ``kind`` is "result", "refused", "spent" or "failed"."""

    seed: int
    kind: str
    words: str = ""


def expression(chance: random.Random, leaves: list[str], depth: int) -> str:
    """An expression of the grammar; deeper ones are rarer."""
    if depth <= 0 or chance.random() < 0.25:
        return chance.choice(leaves) if chance.random() < 0.7 else chance.choice(NUMBERS)
    inner = lambda: expression(chance, leaves, depth - 1)  # noqa: E731
    form = chance.randrange(8)
    if form < 4:
        return f"{inner()} {chance.choice('+-*/')} {inner()}"
    if form == 4:
        return f"({inner()})**{chance.choice(['2', '3', '-1', '(1/2)', '(-1/2)', '0.7', '(1/3)', '4', '0'])}"
    if form == 5:
        return f"({inner()})"
    return f"{chance.choice(FUNCTIONS)}({inner()})"


def declaration(seed: int) -> str:
    """The declaration of a seed."""
    chance = random.Random(seed)
    made = (_from_grammar, _from_grammar, _from_zoo, _with_words)[chance.randrange(4)](chance)
    if chance.random() < 0.08:
        place = chance.randrange(len(made) + 1)
        made = made[:place] + chance.choice(HOSTILE) + made[place + chance.randrange(3) :]
    return made


def _from_grammar(chance: random.Random, names: tuple[str, ...] = ("beta", "beta2", "eps")) -> str:
    """Every variable and parameter that is declared is used: what is refused for less shows nothing."""
    count, (decay, other, small) = chance.randint(1, 3), names
    variables = [f"m{k}" for k in range(1, count + 1)]
    phi = expression(chance, [*variables, *variables, small], chance.randint(1, 4))
    phi = " + ".join([phi, *(name for name in variables if name not in phi)])
    decays = [
        decay,
        decay,
        decay,
        other,
        "0",
        "0.9",
        "1/2",
        f"{decay}**2",
        f"sqrt({decay})",
        f"{decay}*{other}",
    ]
    gains = [
        "1",
        f"1 - {decay}",
        f"(1 - {decay})/(1 - {decay}**(n + 1))",
        "1/(n + 1)",
        "2 + sin(n)",
        "n",
        "exp(-n) + 1",
    ]
    lines = [f'phi = "{phi}"']
    for _ in range(count):
        g = chance.choice(
            ["grad", "grad", "grad**2", "theta", expression(chance, ["grad", "theta", small], 2)]
        )
        b = chance.choice([*gains, expression(chance, ["n", decay, small], 2)])
        beta = chance.choice(decays) if chance.random() < 0.95 else expression(chance, [decay, other], 2)
        lines += ["[[momentum]]", f'g = "{g}"', f'beta = "{beta}"', f'b = "{b}"']
    used = [name for name in names if re.search(rf"\b{name}\b", " ".join(lines))]
    values = {small: "1e-8", other: "0.99", decay: chance.choice(["0.9", "0", "0.5", "0.999"])}
    table = ["[parameters]", *(f"{name} = {values[name]}" for name in dict.fromkeys(used))]
    return "\n".join(['name = "mine"', lines[0], *table, *lines[1:]]) + "\n"


def _from_zoo(chance: random.Random) -> str:
    text = text_of(chance.choice(names()))
    for _ in range(chance.randint(1, 4)):
        pieces = text.split('"')
        place = chance.randrange(len(pieces))
        change = chance.randrange(5)
        if change == 0:
            pieces[place] = expression(chance, ["m1", "grad", "n", "theta", "eps", "beta", "beta1"], 2)
        elif change == 1:
            pieces[place] = pieces[place].replace(
                chance.choice("()+-*/0123456789aeg=[]"), chance.choice("()+-*/0 9a=[]"), 1
            )
        elif change == 2:
            pieces[place] = chance.choice(pieces)
        elif change == 3:
            del pieces[place]
        else:
            pieces[place] += chance.choice(NUMBERS)
        text = '"'.join(pieces)
    return text


def _with_words(chance: random.Random) -> str:
    names = tuple(chance.choice(WORDS) for _ in range(3))
    return _from_grammar(chance, names)


def one(seed: int, seconds: float = SECONDS) -> Outcome:
    """The outcome of one seed."""
    try:
        with symmem.budget(seconds=seconds, megabytes=MOST_MEGABYTES):
            derivation = symmem.derive(read_toml(declaration(seed), "fuzz.toml"), 2 if seed % 10 == 0 else 1)
            str(derivation)
            if seed % 5 == 0:
                _through_targets(derivation)
    except BudgetError:
        return Outcome(seed, "spent")
    except SymmemError as error:
        return Outcome(seed, "refused" if len(str(error).splitlines()) == 1 else "failed", str(error))
    except Exception:  # this is what is looked for
        return Outcome(seed, "failed", traceback.format_exc())
    return Outcome(seed, "result")


def _through_targets(derivation: symmem.Derivation) -> None:
    for name in TARGETS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                text = symmem.emit(derivation, name, folder if name == "c" else None)
            except BudgetError:
                raise
            except SymmemError as error:
                if len(str(error).splitlines()) != 1:
                    raise ValueError(f"{name}: several lines: {error}") from None
                continue
            if name in ("numpy", "torch", "jax"):
                ast.parse(text)
            elif name == "c":
                _check_c(Path(folder))
            elif name == "octave":
                _check_octave(str(text))


def _check_octave(text: str) -> None:
    """Octave starts too slowly to read every file: brackets are closed in every line, and every block has its end."""
    depth = 0
    for line in text.splitlines():
        code = re.sub(r"'(?:[^']|'')*'", "''", line)
        code = re.sub(r"[%#].*", "", code)
        for opening, closing in ("()", "[]", "{}"):
            assert code.count(opening) == code.count(closing), line
        words = code.split()
        depth += bool(words) and words[0] in ("function", "if", "for", "while", "switch", "try")
        depth -= bool(words) and words[0].rstrip(";") == "end"
        assert depth >= 0, line
    assert depth == 0, "a block without its end"


def _check_c(folder: Path) -> None:
    for source in sorted(folder.glob("*.c")):
        command = [
            "cc",
            "-std=c11",
            "-fsyntax-only",
            "-Werror=implicit-function-declaration",
            "-I",
            str(folder),
            str(source),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr


def outcomes(seeds: range, seconds: float = SECONDS) -> list[Outcome]:
    """Those of a range of seeds, in this process."""
    found = [one(seed, seconds) for seed in seeds]
    if (used := resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024) > 2 * MOST_MEGABYTES:
        found.append(Outcome(seeds[0], "failed", f"{used} MB in this process, after the seeds {seeds}"))
    return found


def all_outcomes(seeds: range, jobs: int, seconds: float) -> Iterator[Outcome]:
    """Those of all seeds, in processes that are made anew now and then: caches grow."""
    chunks = [seeds[start : start + CHUNK] for start in range(0, len(seeds), CHUNK)]
    run: Callable[[range], list[Outcome]] = lambda chunk: outcomes(chunk, seconds)  # noqa: E731
    if jobs == 1:
        for chunk in chunks:
            yield from run(chunk)
        return
    with ProcessPoolExecutor(jobs, max_tasks_per_child=4) as pool:
        for found in pool.map(outcomes, chunks, [seconds] * len(chunks)):
            yield from found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--show", action="store_true", help="print the declarations")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.count)
    if options.show:
        for seed in seeds:
            print(declaration(seed))
    kinds: Counter[str] = Counter()
    for outcome in all_outcomes(seeds, options.jobs, options.seconds):
        kinds[outcome.kind] += 1
        if outcome.kind == "failed" or options.show:
            print(f"seed {outcome.seed}: {outcome.kind}\n{outcome.words}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
    sys.exit(1 if kinds["failed"] else 0)


if __name__ == "__main__":
    main()
