r"""Norms, inner products and matrices in LaTeX: X \cdot Y for a product of matrices, X^{\top}, \langle x, y \rangle.

Vectors are multiplied entry by entry without a sign; the dot sets a product of matrices apart.  A norm that is too
wide for its line is broken between its bars.
"""

from __future__ import annotations

from symmem.notation.extent import SCRIPT_DEPTH
from symmem.notation.formula import Absolute, Atom, Call, Formula, Norm, Sum
from symmem.notation.latex_brackets import in_parentheses
from symmem.notation.layout import Cat, Choice, Doc, Fill, Item
from symmem.notation.piece import (
    NOTHING,
    SPACE,
    Piece,
    above,
    below,
    binary,
    listed,
    scripted,
    symbol,
)
from symmem.notation.statement_latex import StatementPrinter, attached

_TOP = above(symbol(r"\top", 0.778))


class TensorPrinter(StatementPrinter):
    """The part of the printer that knows functions of a whole tensor by their signs."""

    def tensor(self, formula: Formula) -> Doc | None:
        """Its form with signs; None for what is written by its name."""
        match formula:
            case Absolute(body):
                short = self.macros.absolute.around(self.line(body))
                return self._broken(short, body, r"\lvert ", r" \rvert")
            case Norm(body, index):
                parts = [self._exponent(part) for part in index]
                script = below(listed(parts, self.depth + SCRIPT_DEPTH), self.depth) if parts else NOTHING
                norm = self.macros.norm.around(self.line(body))
                return self._broken(
                    scripted(norm, script) if parts else norm, body, r"\lVert ", r" \rVert", script
                )
            case Call("matmul", arguments):
                return self._product(arguments)
            case Call("transpose", (body,)):
                is_symbol = isinstance(body, Atom) and body.name != "grad"
                return attached(self._once_raised(body) if is_symbol else self.enclosed(self.doc(body)), _TOP)
            case Call("dot", (left, right)):
                comma = symbol(",", 0.445)
                pair = Fill(
                    (
                        Item(NOTHING, NOTHING, Cat((self.doc(left), comma))),
                        Item(SPACE, NOTHING, self.doc(right)),
                    )
                )
                return self.enclosed(pair, r"\langle ", r" \rangle")
        return None

    def _once_raised(self, atom: Formula) -> Piece:
        """A symbol below an exponent or a transpose: one that carries a superscript of its own is enclosed.

        TeX takes no second superscript, and braces do not always help.
        """
        shown = self.line(atom)
        return in_parentheses(shown) if shown.extent.raised else shown

    def _broken(self, short: Piece, body: Formula, left: str, right: str, script: Piece = NOTHING) -> Doc:
        """In one piece where that fits; else a line may end between the bars."""
        if not self.fixed:
            return short
        return Choice(short, Cat((self.enclosed(self.doc(body), left, right), script)))

    def _exponent(self, formula: Formula) -> Piece:
        """A formula in small type."""
        return self.small(formula)

    def _product(self, factors: tuple[Formula, ...]) -> Doc:
        """The factors with dots; a product of matrices is associative, and needs no brackets inside."""
        flat = [part for factor in factors for part in _flat(factor)]
        dot = binary(r"\cdot", 0.278, self.depth)
        bodies = [self.enclosed(self.doc(part)) if isinstance(part, Sum) else self.doc(part) for part in flat]
        first, *others = bodies
        return Fill((Item(NOTHING, NOTHING, first), *(Item(dot, dot, each) for each in others)), stay=True)


def is_matrix_product(formula: Formula) -> bool:
    """Whether it is written with dots, so that beside other factors it needs brackets."""
    return isinstance(formula, Call) and formula.function == "matmul"


def _flat(formula: Formula) -> tuple[Formula, ...]:
    if isinstance(formula, Call) and formula.function == "matmul":
        return tuple(part for factor in formula.arguments for part in _flat(factor))
    return (formula,)
