"""Files of Coq under coqc: accepted with the axioms of Coq's reals alone, and numbers in them to be broken."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from machine import needs

AXIOMS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
"""Those of Coq's reals: its own library rests on them."""
ADMITTED = re.compile(r"\b(Admitted|admit|Axiom|Parameter|Conjecture)\b")
LITERAL = re.compile(r"(?<!M \(n \+ )(?<!\(0 # )(?<![\w.])\d+(?![\w.])")
"""A whole number; two are not wrong when they are larger: from which step on a limit is reached, and what divides 0."""


def run(text: str, folder: Path, name: str = "proof") -> subprocess.CompletedProcess[str]:
    needs("coqc")
    (folder / f"{name}.v").write_text(text, encoding="utf-8")
    return subprocess.run(
        ["coqc", "-q", f"{name}.v"], cwd=folder, text=True, capture_output=True, check=False, timeout=900
    )


def assert_accepted(text: str, folder: Path) -> None:
    done = run(text, folder)
    assert done.returncode == 0, done.stderr
    # What coqc prints of the axioms: a name, then its type, on lines that are indented.
    axioms = {line.split()[0] for line in done.stdout.splitlines() if line[:1].isalpha()} - {"Axioms:"}
    assert axioms <= AXIOMS
    assert axioms or "Closed under the global context" in done.stdout
    assert not ADMITTED.search(text)


def numbers_of(text: str) -> list[re.Match[str]]:
    """The whole numbers in what is claimed: statements of theorems of the method, and rows of the table."""
    claimed = [
        *re.finditer(r"^Theorem (?:gain|kernel|past|F_|history|M_)\w+ : (.*?)\.\nProof", text, re.M | re.S),
        *re.finditer(r"^  (\(Step .*\));?$", text, re.M),
    ]
    return [number for part in claimed for number in LITERAL.finditer(text, part.start(1), part.end(1))]


def broken(text: str, number: re.Match[str]) -> str:
    return f"{text[: number.start()]}{int(number.group()) + 1}{text[number.end() :]}"
