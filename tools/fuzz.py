"""Inputs that nobody would write, through the whole engine: each ends in a result or in one line, or is a failure.

    python tools/fuzz.py --count 100000 --jobs 2 --results build/fuzz.jsonl    # make fuzz; goes on where it was
    python tools/fuzz.py --seed 4711 --count 1 --show                         # one input again, with its declaration

An input is made from its seed alone (tools/fuzzing/declarations.py): a declaration of the zoo with pieces changed,
expressions from a grammar of the whole language, names that are words of the targets, hostile text.  ``symmem derive``
reads it with a budget of ten seconds of CPU time; one in twelve of those that have a result goes through every target,
and what is written in a language has to be of it.  A failure is a traceback, a message of several lines, an exit code
other than 0 and 2, a value that is none in the output, a text that is not of its language, more memory than a
gigabyte, or a process that dies; it is printed with its seed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fuzzing.declarations import KINDS, made
from fuzzing.outcomes import SECONDS, Outcome, question
from fuzzing.workers import all_outcomes

ENDINGS = ("result", "refused", "spent", "failed")
EVERY = 10.0
"""Seconds between two lines of progress."""


def kept(path: Path) -> dict[int, Outcome]:
    """The outcomes of an earlier run, by seed; a line that was cut by a kill is left out."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            outcome = Outcome(**json.loads(line))
        except (ValueError, TypeError):
            continue
        found[outcome.seed] = outcome
    return found


def table(outcomes: Iterable[Outcome]) -> str:
    """How the inputs of every kind ended, what they took of CPU time, and the most memory of one."""
    rows = []
    everything = list(outcomes)
    for kind in (*KINDS, "?", "all"):
        those = [each for each in everything if kind in (each.kind, "all")]
        if not those:
            continue
        endings, seconds = Counter(each.ending for each in those), sorted(each.seconds for each in those)
        times = [sum(seconds) / len(seconds), seconds[len(seconds) * 99 // 100], seconds[-1]]
        counts = "".join(f"{endings[ending]:>9}" for ending in ENDINGS)
        rows.append(
            f"{kind:<18}{len(those):>9}{counts}{''.join(f'{each:>9.2f}' for each in times)}"
            f"{max(each.megabytes for each in those):>7.0f}"
        )
    columns = ("inputs", *ENDINGS, "mean s", "p99 s", "most s")
    head = f"{'kind':<18}{''.join(f'{each:>9}' for each in columns)}{'MB':>7}"
    return "\n".join([head, *rows])


def run(seeds: list[int], options: argparse.Namespace) -> list[Outcome]:
    """The outcomes of all seeds, those that were kept too; every new one is kept at once."""
    path = None if options.results is None else Path(options.results)
    done = {} if path is None else kept(path)
    left = [seed for seed in seeds if seed not in done]
    found = [done[seed] for seed in seeds if seed in done]
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    is_cut = path is not None and path.exists() and not path.read_bytes().endswith(b"\n")
    begin = said = time.monotonic()
    failed = sum(each.ending == "failed" for each in found)
    for count, outcome in enumerate(all_outcomes(left, options.jobs, options.seconds), 1):
        found.append(outcome)
        failed += outcome.ending == "failed"
        if path is not None:
            with path.open("a", encoding="utf-8") as stream:
                stream.write("\n" * is_cut + json.dumps(asdict(outcome)) + "\n")
            is_cut = False
        if outcome.ending == "failed" or options.show:
            print(f"seed {outcome.seed}: {outcome.ending}, {outcome.seconds} s\n{outcome.words}", flush=True)
        if time.monotonic() - said > EVERY:
            said = time.monotonic()
            minutes = (said - begin) / count * (len(left) - count) / 60
            print(
                f"{len(found)} of {len(seeds)}, {failed} failed, {minutes:.0f} min left",
                file=sys.stderr,
                flush=True,
            )
    return found


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0, help="the first")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of CPU time, for each input")
    parser.add_argument("--results", help="keeps every outcome in this file, and goes on from there")
    parser.add_argument("--show", action="store_true", help="print the declarations and every outcome")
    return parser.parse_args(arguments)


def main() -> None:
    """The command."""
    options = parsed()
    seeds = list(range(options.seed, options.seed + options.count))
    if options.show:
        for seed in seeds:
            print(f"{made(seed).text}# symmem derive - {' '.join(question(seed))}")
    found = run(seeds, options)
    print(table(found))
    sys.exit(1 if any(each.ending == "failed" for each in found) else 0)


if __name__ == "__main__":
    main()
