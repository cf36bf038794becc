"""LaTeX symbols of a declaration: checked, since a stranger's file is typeset, and made from names.

Only braces, letters, digits, scripts and a list of control words pass, each complete with its arguments: no file can be
read or written by TeX, no meaning can be changed, no comment or ``$`` can swallow what follows.  ``<`` and ``>``
do not: programs that export a notebook put the LaTeX of an output into a page as it is, where they would open a tag.
"""

from __future__ import annotations

import re

from symmem.errors import DeclarationError, quote

MAX_LATEX = 120

_LOWER = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi "
    "chi psi omega"
)
_UPPER = "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
_LETTERS = (
    "varepsilon vartheta varkappa varpi varrho varsigma varphi ell hbar imath jmath Re Im wp "
    "partial nabla infty"
)
_FONTS = (
    "mathrm mathbf mathit mathsf mathtt mathcal mathbb mathfrak boldsymbol operatorname "
    "text textrm textbf textit texttt textsf"
)
_ACCENTS = (
    "hat widehat bar overline underline tilde widetilde vec dot ddot check breve acute grave "
    "mathring sqrt frac"
)
_MARKS = (
    "prime ast star dagger ddagger circ bullet cdot times pm mp perp parallel top bot mid ldots cdots odot "
    "oplus otimes max min log exp sup inf lim sum prod int lVert rVert lvert rvert langle rangle"
)
CONTROL_WORDS = frozenset(" ".join([_LOWER, _UPPER, _LETTERS, _FONTS, _ACCENTS, _MARKS]).split())
_GREEK = frozenset(f"{_LOWER} {_UPPER}".split())

_TAKES = dict.fromkeys(f"{_FONTS} {_ACCENTS}".split(), 1) | {"frac": 2}
"""Control words with arguments, and how many; without them they would take what stands behind the symbol."""
_TEXTS = frozenset(word for word in _FONTS.split() if word.startswith("text"))
"""Those whose argument is text: scripts and mathematics are errors there."""

_PIECE = re.compile(r"\\([A-Za-z]+)|\\[,;:! _{}|%#&$]|[A-Za-z0-9{}_^' ()\[\],.;:+*/=|!-]")
_NUMBERED_NAME = re.compile(r"([A-Za-z]+?)_?([0-9]*)")


def check_latex(latex: object) -> str:
    """The LaTeX symbol, if it is one balanced, harmless piece of mathematics."""
    if not isinstance(latex, str) or not latex.strip() or len(latex) > MAX_LATEX:
        raise DeclarationError(f"latex: {quote(latex)} is not a LaTeX symbol; write text such as '\\beta_1'")
    _check_quotes(latex)
    pieces = _pieces(latex)
    depth = 0
    for piece in pieces:
        depth += (piece == "{") - (piece == "}")
        if depth < 0:
            break
    if depth != 0:
        raise DeclarationError(f"latex: {quote(latex)} has unbalanced braces; close every {{")
    wrong = _Shape(pieces).complaint()
    if wrong:
        raise DeclarationError(f"latex: {quote(latex)}: {wrong}")
    return latex


_ESCAPES = {"\b": "b", "\t": "t", "\n": "n", "\f": "f", "\r": "r"}
"""The first letters of beta, tau, nu, frac, rho, where a text in double quotes has lost its backslash to TOML."""


def _check_quotes(latex: str) -> None:
    meant = "".join(f"\\{_ESCAPES[letter]}" if letter in _ESCAPES else letter for letter in latex)
    if meant == latex:
        return
    try:
        _pieces(meant)
    except DeclarationError:
        return  # what was meant is no symbol either: it is refused for what it is
    raise DeclarationError(
        f"latex: in double quotes TOML reads a backslash as an escape; write it in single quotes, '{meant}'"
    )


def _pieces(latex: str) -> list[str]:
    """The symbol in tokens of TeX; what is not on the list is refused."""
    found, position = [], 0
    while position < len(latex):
        match = _PIECE.match(latex, position)
        if match is None or latex.startswith("^^", position):
            raise DeclarationError(
                f"latex: column {position + 1} of {quote(latex)} is not allowed; use plain symbols"
            )
        if match[1] and match[1] not in CONTROL_WORDS:
            raise DeclarationError(
                f"latex: \\{match[1]} is not among the known control words; use a plain symbol"
            )
        found.append(match[0])
        position = match.end()
    return [piece for piece in found if piece != " "]


class _Shape:
    r"""Whether the symbol is complete: every \hat has its argument, every script its base, none stands twice.

    A symbol that is not would take what stands behind it in a formula, or stop the compiler.
    """

    def __init__(self, pieces: list[str]) -> None:
        self._pieces = pieces
        self._at = 0

    def complaint(self) -> str:
        """What is wrong, and the way out; empty where nothing is."""
        return self._row()

    def _row(self) -> str:
        """Atoms with their scripts, up to the end or to a closing brace."""
        scripts: set[str] | None = None  # of the atom before; None where there is none
        while self._at < len(self._pieces) and self._pieces[self._at] != "}":
            piece = self._pieces[self._at]
            self._at += 1
            if piece in ("_", "^", "'"):
                if scripts is None:
                    return f"{piece} has nothing before it; put a letter there"
                if piece in scripts or (piece == "'" and "^" in scripts):
                    return f"two of {piece} stand on one symbol; put braces around the first"
                scripts.add("^" if piece == "^" else piece if piece == "_" else "")
                wrong = "" if piece == "'" else self._argument(piece)
            else:
                scripts = set()
                wrong = self._rest_of_atom(piece)
            if wrong:
                return wrong
        return ""

    def _rest_of_atom(self, piece: str) -> str:
        word = piece[1:]
        if piece == "{":
            return self._group()
        if piece[0] != "\\" or word not in _TAKES:
            return ""
        if word in _TEXTS:
            return self._text(piece)
        for _ in range(_TAKES[word]):
            wrong = self._argument(piece)
            if wrong:
                return wrong
        return ""

    def _group(self) -> str:
        wrong = self._row()
        self._at += 1
        return wrong

    def _argument(self, of: str) -> str:
        """A group, a letter, a digit or a control word that takes nothing itself."""
        if self._at < len(self._pieces):
            piece = self._pieces[self._at]
            self._at += 1
            if piece == "{":
                return self._group()
            if piece.isalnum() or (piece[0] == "\\" and piece[1:] not in _TAKES) or piece in ("*", "+", "-"):
                return ""
        return f"{of} has nothing after it; put its argument in braces"

    def _text(self, of: str) -> str:
        if self._pieces[self._at : self._at + 1] != ["{"]:
            return f"{of} has nothing after it; put its argument in braces"
        self._at += 1
        while self._pieces[self._at] != "}":
            piece = self._pieces[self._at]
            if piece in ("{", "_", "^", "\\|") or piece[1:].isalpha():
                return f"{piece} is not allowed in {of}; write plain words there"
            self._at += 1
        self._at += 1
        return ""


def latex_of_name(name: str) -> str:
    r"""``beta1`` -> ``\beta_1``, ``b1`` -> ``b_1``, ``weight_decay`` -> ``\mathrm{weight\_decay}``."""
    match = _NUMBERED_NAME.fullmatch(name)
    if match and (match[1] in _GREEK or len(match[1]) == 1):
        letter = f"\\{match[1]}" if match[1] in _GREEK else match[1]
        return letter + (f"_{{{match[2]}}}" if len(match[2]) > 1 else f"_{match[2]}" if match[2] else "")
    return "\\mathrm{" + name.replace("_", "\\_") + "}"
