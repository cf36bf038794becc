"""How Coq spells formulas over its reals: powers with a natural exponent, roots, entries of vectors.

A vector stands for its entry i, ``grad i``; the Hessian times a vector is ``D2L (fun i => v) i``.  What has no spelling
here raises :class:`Unspelled`: the theorem that needs it is left out, and the file says so.
"""

from __future__ import annotations

from collections.abc import Mapping

from sympy import Add, Expr, Function, Integer, Pow, Rational, S, Sum, Symbol

from symmem.algebra.atoms import GRAD, LR, PAST, STEP, THETA, is_contraction
from symmem.program.scope import Scope
from symmem.targets.printing import ATOM, SIGN, Dialect, SourcePrinter

_KEYWORDS = (
    "as at by cofix else end exists exists2 fix for forall fun if in let match return SProp Prop Set Type then using "
    "where with struct IF is Axiom Axioms Canonical Check Class Coercion CoFixpoint CoInductive Conjecture Context "
    "Corollary Definition End Example Export Fact Fixpoint Goal Hint Hypotheses Hypothesis Import Inductive Instance "
    "Lemma Let Local Ltac Module Notation Open Parameter Parameters Print Program Proof Property Proposition Qed "
    "Record Remark Require Scheme Scope Section Structure Theorem Variable Variables Variant inline"
)
_LIBRARY = (
    "R nat I O S Rabs sqrt INR exp ln cos sin tanh sinh cosh atan Nat total moved past tail now late rate fades "
    "grad theta lr D2L entry n s k j i rho u v c known earlier difference m F M Method Trees Potentials everything "
    "conj after PI"
)
_STEMS = (
    "weight", "gain", "history", "past", "tail", "direction", "apart", "root", "fades", "range", "sum", "frozen",
    "square", "above", "total", "radical", "size_", "pow_", "F_", "M_", "D2L_", "bias", "gap", "kernel", "power_",
    "vector", "number", "head", "map", "later",
)  # fmt: skip
"""How the names begin that the statements and the proofs of a method say."""
WORDS = frozenset((*_KEYWORDS.split(), *_LIBRARY.split()))
"""What no parameter can be called in the file: the words of Coq, and all that the statements and proofs say."""
_FUNCTIONS = {"Abs": "Rabs ({})", "exp": "exp ({})", "log": "ln ({})", "tanh": "tanh ({})", "sinh": "sinh ({})",
              "cosh": "cosh ({})", "atan": "atan ({})", "cos": "cos ({})", "sin": "sin ({})",
              "sqrt": "sqrt ({})"}  # fmt: skip
DIALECT = Dialect(_FUNCTIONS, "/ sqrt ({})")


def has_word(formula: Expr) -> bool:
    """Whether its outermost function, where it is one, has a spelling for numbers; of roots, the square root has."""
    if isinstance(formula, Pow):
        known = formula.exp.free_symbols <= {STEP, PAST}
        return known and bool(not formula.exp.is_Rational or formula.exp.q <= 2)
    return not isinstance(formula, Function) or formula.func.__name__ in (*_FUNCTIONS, "sign", "Min", "Max")


_LONGEST = 30
"""A longer expression is named by its function."""


class Unspelled(Exception):  # noqa: N818  # caught beside the theorem that it concerns
    """What the file cannot state, or cannot prove: the reason as a sentence."""

    @classmethod
    def of(cls, expression: Expr) -> Unspelled:
        """Named by its text, or by its function where that is long."""
        text = str(expression)
        return cls(f"there is no word for {text if len(text) <= _LONGEST else expression.func.__name__} here")


class CoqPrinter(SourcePrinter):
    """The text of an expression as a real number of Coq, in entry i of a vector."""

    def __init__(self, names: Mapping[Symbol, str], vectors: frozenset[Symbol] = frozenset()) -> None:
        """``vectors``, beside grad and theta, stand for their entries."""
        self.entries = vectors | {GRAD, THETA}
        super().__init__(DIALECT, names=lambda symbol: _named(symbol, names))

    def _print_Integer(self, number: Integer) -> str:
        return str(int(number))

    def _print_Pi(self, number: Expr) -> str:  # noqa: ARG002
        return "PI"

    def _print_Rational(self, number: Rational) -> str:
        return f"{int(number.p)} / {int(number.q)}"

    def _print_Pow(self, expression: Pow) -> str:
        base, exponent = expression.base, expression.exp
        if exponent.is_Integer and exponent > 0:
            return f"{self.bound(base, ATOM)} ^ {int(exponent)}"
        if exponent.is_Rational and exponent.q == 2 and exponent > 0:
            root = f"sqrt ({self.source(base)})"
            return root if exponent == S.Half else f"{root} ^ {int(exponent.p)}"
        if exponent.is_Rational and exponent.q <= 2:
            return f"/ {self.bound(Pow(base, -exponent), SIGN)}"
        return self._step_power(base, exponent)

    def _step_power(self, base: Expr, exponent: Expr) -> str:
        """``base ^ (2 n + 1)``; an exponent that may be negative, but for n - s, is a quotient."""
        if not base.free_symbols.isdisjoint({STEP, PAST}):
            raise Unspelled.of(base**exponent)
        above, below = told_apart(exponent)
        if below == 0:
            return f"{self.bound(base, ATOM)} ^ {natural(above)}"
        upper = "1" if above == 0 else f"{self.bound(base, ATOM)} ^ {natural(above)}"
        return f"({upper} / {self.bound(base, ATOM)} ^ {natural(below)})"

    def vector(self, vector: Expr) -> str:
        """A vector as the function of its entries."""
        plain = {GRAD: "grad", THETA: "theta"}
        return plain.get(vector, f"(fun i => {self.source(vector)})")

    def _print_Sum(self, expression: Sum) -> str:
        (index, lower, upper), *others = expression.limits
        if others or index != PAST or lower != 0 or upper != STEP - 1:
            raise Unspelled.of(expression)
        return f"total (fun s => {self.source(expression.function)}) n"

    def _print_Min(self, expression: Expr) -> str:
        return f"INR {natural(expression)}"

    def _print_Max(self, expression: Expr) -> str:
        return f"INR {natural(expression)}"

    def _print_Function(self, expression: Expr) -> str:
        if is_contraction(expression) and len(expression.args) == 1:
            return f"D2L {self.vector(expression.args[0])} i"
        if expression.func.__name__ not in _FUNCTIONS:
            raise Unspelled.of(expression)
        return super()._print_Function(expression)

    def _print_sign(self, expression: Expr) -> str:
        """Exactly ``x/|x|``: Coq's quotient is 0 at 0."""
        (inner,) = expression.args
        return f"({self.bound(inner, ATOM)} / Rabs ({self.source(inner)}))"

    def emptyPrinter(self, expr: Expr) -> str:  # SymPy's name
        """Whatever has no spelling."""
        raise Unspelled.of(expr)


def told_apart(exponent: Expr) -> tuple[Expr, Expr]:
    """``(p, q)``, two natural numbers with the difference ``exponent``; n - s is one, for s <= n."""
    terms = Add.make_args(exponent)
    if {-STEP, PAST} <= set(terms):
        below, above = told_apart(-exponent)
        return above, below
    ago = STEP - PAST if {STEP, -PAST} <= set(terms) else S.Zero
    rest = [term for term in terms if ago == 0 or term not in (STEP, -PAST)]
    above = [term for term in rest if not term.as_coeff_Mul()[0].is_negative]
    return ago + Add(*above), Add(*(-term for term in rest if term not in above))


def natural(exponent: Expr) -> str:
    """A natural number of n and s in parentheses; what is taken away stands last, s <= n."""
    if exponent.func.__name__ in ("Min", "Max"):
        word = f"Nat.{exponent.func.__name__.lower()}"
        first, *rest = (natural(each) for each in exponent.args)
        for each in rest:
            first = f"({word} {first} {each})"
        return first
    terms = sorted(
        Add.make_args(exponent), key=lambda term: (bool(term.as_coeff_Mul()[0] < 0), bool(term.is_Number))
    )
    text = ""
    for term in terms:
        count, symbol = term.as_coeff_Mul()
        picks = symbol.func.__name__ in ("Min", "Max")
        if not count.is_Integer or not (picks or symbol in (S.One, STEP, PAST)):
            raise Unspelled.of(exponent)
        word = natural(symbol) if picks else str(symbol)
        size = (
            str(abs(int(count)))
            if symbol == 1
            else word
            if abs(count) == 1
            else f"{word} * {abs(int(count))}"
        )
        text += f" - {size}" if count < 0 else f" + {size}" if text else size
    return text if text.isalnum() else f"({text})%nat"


def _named(symbol: Symbol, names: Mapping[Symbol, str]) -> str:
    if symbol not in names:
        raise Unspelled.of(symbol)
    return names[symbol]


def names_of(parameters: tuple[str, ...]) -> dict[Symbol, str]:
    """The names of a file: the user's by the Scope, ours as they are."""
    near = {name for name in parameters if name.startswith(_STEMS)}
    scope = Scope(parameters, words=WORDS | near)
    ours = {STEP: "INR n", PAST: "INR s", LR: "lr", GRAD: "grad i", THETA: "theta i"}
    return {Symbol(name): scope.kept(name) for name in parameters} | ours
