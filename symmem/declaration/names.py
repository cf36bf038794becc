"""Names and titles of a declaration: those that formulas and every emitted language can carry."""

from __future__ import annotations

import builtins
import difflib
import keyword
import re
from collections.abc import Iterable

from symmem.algebra.atoms import CONTRACTION_NAME, MOMENTUM_NAME
from symmem.declaration.bounded import FUNCTIONS
from symmem.errors import DeclarationError, quote

MAX_NAME = 64
MAX_TEXT = 500
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_OPTIMIZER = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_NUMBERED_WORD = re.compile(r"(m|d|hv|way)[0-9]+")

_IN_FORMULAS = "theta grad lr n s r k h loss previous total pi E I oo zoo nan inf max min Abs Sum"
_IN_EMITTED_CODE = (
    "hvp out memoryless correction step direction modified_loss preconditioner gradient_map_loss running_loss "
    "np numpy torch jax jnp math g value kernel vectors scalars learning_rate maximize limit strength every "
    "target module process_group self params closure state group pow fabs NAN INFINITY NULL EOF errno stdin "
    "stdout stderr"
)
_IN_C = (
    "auto break case char const continue default do double else enum extern float for goto if inline int "
    "long register restrict return short signed sizeof static struct switch typedef union unsigned void "
    "volatile while bool true false alignas alignof constexpr nullptr static_assert thread_local typeof asm "
    "main "
    # and those that C++ adds: it includes the headers
    "catch class delete explicit export friend mutable namespace new operator private protected public template "
    "this throw typeid typename using virtual wchar_t decltype noexcept"
)
_FORMULA_WORDS = frozenset(_IN_FORMULAS.split())
_EMITTED_WORDS = frozenset(_IN_EMITTED_CODE.split())
_C_KEYWORDS = frozenset(_IN_C.split())


def check_name(name: object) -> str:
    """The name of a parameter or of an opaque function, if formulas and emitted code can carry it."""
    if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name) or len(name) > MAX_NAME:
        raise DeclarationError(
            f"{quote(name)} is not a name; use a letter, then letters, digits and _, at most {MAX_NAME}"
        )
    reason = _reason(name)
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


def check_line(field: str, text: object) -> None:
    """A title or a reference: one printable line."""
    if not isinstance(text, str) or not text.isprintable() or len(text) > MAX_TEXT:
        raise DeclarationError(
            f"{field}: {quote(text)} is not one printable line of at most {MAX_TEXT} characters; shorten it"
        )


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
    nearest = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {nearest[0]}?" if nearest else ""


def _reason(name: str) -> str | None:
    if name in FUNCTIONS:
        return "a known function"
    if name in _FORMULA_WORDS or MOMENTUM_NAME.fullmatch(name) or CONTRACTION_NAME.fullmatch(name):
        return "reserved in formulas"
    if (
        name in _EMITTED_WORDS
        or _NUMBERED_WORD.fullmatch(name)
        or "_jvp" in name
        or name.endswith("_potential")
    ):
        return "reserved in emitted code"
    if keyword.iskeyword(name) or name in _C_KEYWORDS:
        return "a keyword of Python, C or C++"
    if hasattr(builtins, name):
        return "a built-in name of Python"
    return None
