"""LaTeX symbols of a declaration: checked, since a stranger's file is typeset, and made from names.

Only braces, letters, digits, scripts and a list of control words pass: no file can be read or written by
TeX, no comment or ``$`` can swallow what follows.
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
    "mathrm mathbf mathit mathsf mathtt mathcal mathbb mathfrak mathscr boldsymbol operatorname "
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

_PIECE = re.compile(r"\\([A-Za-z]+)|\\[,;:! _{}|%#&$]|[A-Za-z0-9{}_^' ()\[\],.;:+*/=|<>!-]")
_GREEK_NAME = re.compile(r"([A-Za-z]+?)_?([0-9]*)")


def check_latex(latex: object) -> str:
    """The LaTeX symbol, if it is one balanced, harmless piece of mathematics."""
    if not isinstance(latex, str) or not latex.strip() or len(latex) > MAX_LATEX:
        raise DeclarationError(f"latex: {quote(latex)} is not a LaTeX symbol; write text such as '\\beta_1'")
    position = depth = 0
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
        depth += (match[0] == "{") - (match[0] == "}")
        if depth < 0:
            break
        position = match.end()
    if depth != 0:
        raise DeclarationError(f"latex: {quote(latex)} has unbalanced braces; close every {{")
    return latex


def latex_of_name(name: str) -> str:
    r"""``beta1`` -> ``\beta_1``, ``weight_decay`` -> ``\mathrm{weight\_decay}``."""
    match = _GREEK_NAME.fullmatch(name)
    if match and match[1] in _GREEK:
        return f"\\{match[1]}" + (
            f"_{{{match[2]}}}" if len(match[2]) > 1 else f"_{match[2]}" if match[2] else ""
        )
    if len(name) == 1:
        return name
    return "\\mathrm{" + name.replace("_", "\\_") + "}"
