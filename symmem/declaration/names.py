"""Names and titles of a declaration: those that formulas and emitted functions can carry.

Whatever else stands in emitted code yields to them, keywords of other languages too: symmem.program.scope.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable

from symmem.algebra.atoms import CONTRACTION_NAME, MOMENTUM_NAME
from symmem.algebra.symbols import INDEX_NAME
from symmem.declaration.bounded import FUNCTIONS
from symmem.errors import DeclarationError, quote

MAX_NAME = 64
MAX_TEXT = 500
MOST_NEAR = 3
"""Names that are suggested, where several are equally near."""
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_OPTIMIZER = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_DERIVATIVE = re.compile(r"d[0-9]+")

_IN_FORMULAS = (
    "theta grad lr n s r k h loss previous total pi E I oo zoo nan inf max min where prod rate Abs Sum "
    "variance batches gradient_change variance_along variance_gradient noisy_hessian"
)
_FORMULA_WORDS = frozenset(_IN_FORMULAS.split())
_ARGUMENTS = frozenset({"hvp", "out"})
"""What emitted functions take beside the parameters, by these names; all other names in emitted code yield."""


def check_name(name: object) -> str:
    """The name of a parameter or of an opaque function, if formulas and emitted code can carry it."""
    if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name) or len(name) > MAX_NAME:
        raise DeclarationError(
            f"{quote(name)} is not a name; use a letter, then letters, digits and _, at most {MAX_NAME}"
        )
    if name == "lr":
        raise DeclarationError(
            "lr is the learning rate, which every optimizer has and none declares; remove it"
        )
    reason = reserved(name)
    if reason:
        raise DeclarationError(f"{quote(name)} is {reason}; choose another name")
    return name


def check_optimizer_name(name: object) -> str:
    """The optimizer's name, safe as a file name and, with underscores, in C."""
    if not isinstance(name, str) or not _OPTIMIZER.fullmatch(name) or len(name) > MAX_NAME:
        raise DeclarationError(
            f"name: {quote(name)} is not a name; use lower-case words of letters and digits joined by -, "
            f"such as my-adam, at most {MAX_NAME} characters"
        )
    return name


def check_family(family: object) -> None:
    """The family that a list shows the optimizer in: a word, or nothing."""
    if family != "" and not (isinstance(family, str) and _OPTIMIZER.fullmatch(family)):
        raise DeclarationError(f"family: {quote(family)} is not a word; write it in lower case, such as adam")


def check_line(field: str, text: object) -> None:
    """A title or a reference: one printable line."""
    if not isinstance(text, str):
        raise DeclarationError(f"{field}: {quote(text)} is not text; put it in quotes")
    if not text.isprintable():
        raise DeclarationError(
            f"{field}: {quote(text)} is not one printable line; remove line breaks and control characters"
        )
    if len(text) > MAX_TEXT:
        raise DeclarationError(f"{field}: {quote(text)} is longer than {MAX_TEXT} characters; shorten it")


def check_title(title: object) -> None:
    """The title names a class, ``Memoryless<Title>``, by its letters and digits."""
    check_line("title", title)
    letters = re.sub(r"[^A-Za-z0-9]", "", str(title))
    if not letters or letters[0].isdigit():
        raise DeclarationError(
            f"title: {quote(title)} needs a letter before its first digit; it names a class"
        )


def suggestion(word: str, known: Iterable[str]) -> str:
    """``; did you mean x?``, or nothing."""
    import difflib  # noqa: PLC0415  # for mistakes alone, and not cheap

    by_letters = {name.casefold(): name for name in known}
    nearest = difflib.get_close_matches(word.casefold(), sorted(by_letters), n=MOST_NEAR)
    near = [difflib.SequenceMatcher(None, name, word.casefold()).ratio() for name in nearest]
    meant = [by_letters[name] for name, ratio in zip(nearest, near, strict=True) if ratio == near[0]]
    return f"; did you mean {' or '.join(sorted(meant))}?" if meant else ""


def reserved(name: str) -> str | None:
    """What the name is, where a declaration cannot give it away."""
    if name in FUNCTIONS:
        return "a known function"
    if (
        name in _FORMULA_WORDS
        or INDEX_NAME.fullmatch(name)
        or MOMENTUM_NAME.fullmatch(name)
        or CONTRACTION_NAME.fullmatch(name)
    ):
        return "reserved in formulas"
    if "_jvp" in name or name.endswith("_potential"):
        return "reserved in formulas, for derivatives and potentials of functions"
    if keyword.iskeyword(name):
        return "a keyword of Python"
    if name in _ARGUMENTS or _DERIVATIVE.fullmatch(name):
        return "an argument of emitted functions"
    return None
