"""Formulas with functions that a file does not look into: each becomes a variable, with its meaning beside it.

A function of tensors that does not see the past is a number or a vector; one that is linear in a sum over the past, as
``polar_jvp(grad, D2L(S))``, is a linear map.  What is left has entries, and Coq can compute with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sympy import Expr, Mul, Pow, Symbol, floor
from sympy.core.function import AppliedUndef

from symmem.algebra.atoms import STEP, Kind, contraction, is_contraction, kind
from symmem.algebra.passes import collect
from symmem.algebra.scalars import Scalars
from symmem.targets.coq.dialect import Unspelled, has_word

HESSIAN = "D2L"


class Opening:
    """Replaces what stays closed by symbols; ``names`` says how Coq calls them."""

    def __init__(self, direction: Symbol, numbers: Scalars) -> None:
        """``direction`` stands for the vector to which a linear map is applied."""
        self.direction = direction
        self._numbers = numbers
        self.names: dict[Symbol, str] = {}
        self.maps: dict[Expr, str] = {contraction(direction): HESSIAN}
        self.heads: dict[Expr, Symbol] = {}
        self.entries: set[Symbol] = set()
        self.images: dict[Expr, Expr] = {}
        self.mapped: dict[Symbol, tuple[str, int]] = {}
        """The maps of the sums over the past, each with the number of the sum."""

    def opened(self, formula: Expr, sums: Mapping[Symbol, int]) -> Expr:
        """A formula in which the ``sums`` over the past stand, each with its number."""
        if formula in sums:
            return self.history(sums[formula])
        if not formula.args or formula in self.heads:
            return self.heads.get(formula, formula)
        if formula in self.images:
            return self.images[formula]
        if isinstance(formula, Pow) and _is_closed(formula) and formula.exp != _fraction(formula.exp):
            # One generator for a root and its quotients by what stands under it.
            rest = _fraction(formula.exp)
            whole = Pow(self.opened(formula.base, sums), formula.exp - rest)
            return whole * self.opened(Pow(formula.base, rest), sums)
        if _is_closed(formula):
            seen = formula.free_symbols & set(sums)
            return self._mapped(formula, sums) if seen else self._head(formula)
        parts = [self.opened(part, sums) if isinstance(part, Expr) else part for part in formula.args]
        return formula.func(*parts)

    def know(self, vectors: Sequence[Expr]) -> None:
        """The images of these vectors, ``vector1`` and so on, under the maps that were met."""
        for place, vector in enumerate(vectors, start=1):
            for template, name in self.maps.items():
                image = collect(template.xreplace({self.direction: vector}), self._numbers)
                # A number of the vector may stand in front, of a value that is itself a number too: c dot(u, v).
                heads = [factor for factor in Mul.make_args(image) if factor.func == template.func]
                if len(heads) == 1:
                    known = self.image(name, place)
                    self.images.setdefault(heads[0], known / self.opened(image / heads[0], {}))

    def _mapped(self, formula: Expr, sums: Mapping[Symbol, int]) -> Expr:
        first, *others = formula.free_symbols & set(sums)
        if others or STEP in formula.free_symbols:
            raise Unspelled.of(formula)
        template = formula.xreplace({first: self.direction})
        name = self.maps.setdefault(template, f"map{len(self.maps)}")
        symbol = self._symbol(f"{name} (fun i => history{sums[first]} n i) i")
        self.mapped[symbol] = name, sums[first]
        return symbol

    def _head(self, formula: Expr) -> Symbol:
        """A Hessian that is no image of a known vector has no place in the proof."""
        if STEP in formula.free_symbols or any(map(is_contraction, formula.atoms(AppliedUndef))):
            raise Unspelled.of(formula)
        place = len(self.heads) + 1
        if kind(formula) is Kind.SCALAR:
            self.heads[formula] = self._symbol(f"number{place}")
        else:
            self.heads[formula] = self.vector(f"head{place}")
        return self.heads[formula]

    def history(self, place: int) -> Symbol:
        """The entry of a sum over the past."""
        return self._symbol(f"history{place} n i")

    def image(self, name: str, place: int) -> Symbol:
        """The entry of the image of a vector under a map."""
        return self._symbol(f"{name} vector{place} i")

    def vector(self, name: str) -> Symbol:
        """The entry of a vector of the file."""
        symbol = self._symbol(f"{name} i")
        self.entries.add(symbol)
        return symbol

    def _symbol(self, text: str) -> Symbol:
        # A name that no parameter can have.
        symbol = Symbol(f"the Coq term {text}")
        self.names[symbol] = text
        return symbol


def _fraction(exponent: Expr) -> Expr:
    """The exponent without its whole part: 2/3 of -4/3, p of p - 1."""
    constant, moving = exponent.as_coeff_Add()
    return moving + constant - floor(constant)


def _is_closed(formula: Expr) -> bool:
    """Whether the file has no word for its outermost function."""
    return not has_word(formula)
