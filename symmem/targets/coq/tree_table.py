"""The tree recursion as data for Coq: memories and trees with their numbers, at the default values of the parameters.

Coq computes c(tau) and a'(tau) from their definition and compares; the numbers here are the engine's.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import chain

from sympy import Expr, Rational

from symmem.algebra.every import every
from symmem.algebra.trees import Branch, Tree, trees
from symmem.derivation.gains import unsettled
from symmem.derivation.orders.differentials import Differentials
from symmem.derivation.orders.recursion import Coefficients
from symmem.method.composition import Composition
from symmem.method.delay import Delay
from symmem.method.geometric import Geometric
from symmem.method.instant import Instant
from symmem.method.kernel import Kernel, Number
from symmem.method.merging import merged
from symmem.method.method import Method
from symmem.method.mixture import Mixture
from symmem.records import record

LARGEST = 6
MOST, MOST_BITS = 60, 100
"""Trees of a table, and digits of its numbers in base 2; where there are more, the largest trees are left out."""


@record(frozen=True)
class TreeTable:
    """``memories`` as terms of Coq, and rows ``(tree, c, a')``, all of them up to ``size``."""

    memories: tuple[str, ...]
    rows: tuple[str, ...]
    size: int


def tree_table(method: Method) -> TreeTable | None:
    """None where the limit does not exist, or has a number that is not rational."""
    if unsettled(method) is not None:
        return None
    one = merged(method)
    kernels = tuple(channel.kernel for channel in one.channels)
    memories = every(_memory(kernel, one) for kernel in kernels)
    coefficients = Coefficients(kernels)
    numbers = every(_rational(generator, one) for generator in coefficients.generators)
    if memories is None or numbers is None:
        return None
    if any(_rational(kernel.normaliser, one) in (None, 0) for kernel in kernels):
        return None
    by_size = _trees(one)
    increments = coefficients.solve(by_size)

    def row(tree: Tree) -> str | None:
        """None where a number is too long."""
        step = -_value(increments[tree][0], numbers)
        parts = coefficients.flow(increments[tree])
        flow = sum((_value(x, numbers) * share for x, share in parts), Fraction(0))
        bits = max(abs(part).bit_length() for x in (step, flow) for part in x.as_integer_ratio())
        return f"({_tree(tree)}, {_number(step)}, {_number(flow)})" if bits <= MOST_BITS else None

    found: list[list[str]] = []
    for of_size in by_size[1:]:
        rows = every(map(row, of_size))
        if rows is None:
            break
        found.append(rows)
    return TreeTable(tuple(memories), tuple(chain(*found)), len(found))


def _trees(method: Method) -> list[list[Tree]]:
    shape, found = Differentials(method).shape, trees(Differentials(method).shape, 1)
    for size in range(2, LARGEST + 1):
        larger = trees(shape, size)
        if sum(map(len, larger)) > MOST:
            break
        found = larger
    return found


def _memory(kernel: Kernel, method: Method) -> str | None:
    """The memory after many steps, from its definition."""
    if isinstance(kernel, (Mixture, Composition)):
        pair = kernel.parts if isinstance(kernel, Mixture) else (kernel.outer, kernel.inner)
        parts = every(_memory(part, method) for part in pair)
        if parts is None:
            return None
        text = parts[-1]
        for part in reversed(parts[:-1]):
            text = f"({'Both' if isinstance(kernel, Mixture) else 'After'} {part} {text})"
        return text
    assert isinstance(kernel, (Geometric, Instant, Delay)), (
        f"{type(kernel).__name__} is a kernel without a word here"
    )
    front = _rational(kernel.limit_scale, method)
    if front is None:
        return None
    if isinstance(kernel, Geometric):
        decay = _rational(kernel.decay, method)
        return None if decay is None else f"(Geometric {_number(front)} {_number(decay)})"
    return f"(Late {_number(front)} {kernel.steps if isinstance(kernel, Delay) else 0})"


def _rational(scalar: Expr, method: Method) -> Fraction | None:
    value = scalar.xreplace(method.defaults)
    return Fraction(int(value.p), int(value.q)) if isinstance(value, Rational) else None


def _value(number: Number, values: list[Fraction]) -> Fraction:
    """A polynomial of the recursion at these values of its generators."""
    total = Fraction(0)
    for exponents, coefficient in number.to_dict().items():
        term = Fraction(int(coefficient))
        for value, exponent in zip(values, exponents, strict=False):
            term *= value ** int(exponent)
        total += term
    return total


def _number(value: Fraction) -> str:
    return f"({value.numerator} # {value.denominator})"


def _tree(tree: Tree) -> str:
    return f"Step [{'; '.join(map(_branch, tree.branches))}]"


def _branch(branch: Branch) -> str:
    children, inner = "; ".join(map(_tree, branch.children)), "; ".join(map(_branch, branch.branches))
    return f"Branch {branch.label} [{children}] [{inner}]"
