"""Functions of decays that stand in numbers: their values keep the digits that closed forms lose.

    Complete.of(m, nodes)    h_m(nodes): the sum of all products of m factors, each one of the nodes; 0 for m < 0
    Shortfall(x, k)          1 - x^k
    Whole(x)                 x: a sum that is added as one number, ``(1 - x) + x (1 - y)`` for ``1 - x y``

Every target has them in its runtime (mathematics.md section 14).
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr, Function, Integer, S

Node = tuple[Expr, ...]
"""A product of decays, by its factors: the power of a rounded product would lose digits."""


class Complete(Function):
    """``h_m``; the arguments are m, the number of factors in a node, and the factors, filled up with ones.

    >>> from sympy import symbols
    >>> a, b, m = symbols("a b m")
    >>> found = Complete.of(m, [(b,), (a, b)])  # h_m(b, a b)
    >>> found, found.nodes
    (Complete(m, 2, b, 1, a, b), [(b,), (a, b)])
    """

    @classmethod
    def of(cls, order: Expr, nodes: Sequence[Node]) -> Expr:
        """``h_order(nodes)``."""
        width = max(len(node) for node in nodes)
        padded = (factor for node in nodes for factor in (*node, *(S.One,) * (width - len(node))))
        return cls(order, Integer(width), *padded)

    @property
    def rows(self) -> list[Node]:
        """The nodes, with equally many factors each."""
        width, factors = int(self.args[1]), self.args[2:]
        return [factors[at : at + width] for at in range(0, len(factors), width)]

    @property
    def nodes(self) -> list[Node]:
        """The nodes, without the ones in a product."""
        return [tuple(factor for factor in row if factor != 1) or (S.One,) for row in self.rows]


class Shortfall(Function):
    """What a power of a decay falls short of 1."""


class Whole(Function):
    """A sum in parentheses; SymPy would join it with what is added to it."""


def bare(value: Expr) -> Expr:
    """A value behind a name of its own: a sum that is added as one number needs no parentheses there."""
    return value.args[0] if isinstance(value, Whole) else value
