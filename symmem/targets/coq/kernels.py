"""Which memories a file of Coq has words and proofs for, and in which order it tells them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sympy import Expr, Rational, Symbol

from symmem.algebra.atoms import STEP
from symmem.method.composition import Composition
from symmem.method.delay import Delay
from symmem.method.geometric import Geometric
from symmem.method.instant import Instant
from symmem.method.kernel import Kernel
from symmem.targets.coq.generators import generators_in, is_root


def is_known(kernel: Kernel) -> bool:
    """Whether the file has words for it and proofs of its sums."""
    if isinstance(kernel, Composition):
        outer = kernel.outer
        if any(is_root(each) and STEP in each.free_symbols for each in generators_in(kernel.expressions)):
            return False
        if isinstance(outer, Geometric):
            return is_known(outer) and (_is_one_step(kernel.inner) or _is_known_inside(kernel.inner))
        return _is_one_step(outer) and _is_known_inside(kernel.inner)
    if isinstance(kernel, Delay):
        return not kernel.starts_empty
    return isinstance(kernel, Instant) or (
        isinstance(kernel, Geometric) and STEP not in kernel.decay.free_symbols
    )


def _is_known_inside(inner: Kernel) -> bool:
    """A memory of a memory has no factor of its own there: the file has no name for both."""
    if isinstance(inner, Composition) and inner != inner.shape:
        return False
    return is_known(inner) and not isinstance(inner, (Instant, Delay))


def _is_one_step(kernel: Kernel) -> bool:
    """Beside another memory the steps of a delay are told apart one by one: there is one."""
    return (
        isinstance(kernel, Delay) and kernel == kernel.shape and not kernel.starts_empty and kernel.steps == 1
    )


def is_plain(decay: Expr) -> bool:
    """Whether its powers are written as they stand: those of a formula, and of 1/3, are taken apart."""
    return isinstance(decay, Symbol) or (isinstance(decay, Rational) and abs(decay.p) != 1)


def shapes_of(parts: Iterable[Kernel]) -> tuple[Kernel, ...]:
    """The memories without their factors, each once and behind those that it remembers."""
    return tuple(
        dict.fromkeys(found for part in parts if part.has_memory for found in _with_inner(part.shape))
    )


def _with_inner(kernel: Kernel) -> Iterator[Kernel]:
    if isinstance(kernel, Composition) and not isinstance(kernel.inner, Delay):
        yield from _with_inner(kernel.inner)
    if kernel != kernel.shape:
        yield kernel.shape
    yield kernel


def summed_of(parts: Iterable[Kernel]) -> tuple[Kernel, ...]:
    """Those whose sums over the past have theorems: all but what is one step old inside of another memory."""
    return tuple(dict.fromkeys(found for part in parts if part.has_memory for found in _summed(part.shape)))


def _summed(kernel: Kernel) -> Iterator[Kernel]:
    if isinstance(kernel, Composition):
        inner = kernel.inner
        if isinstance(inner, Composition) and isinstance(inner.outer, Delay):
            inner = inner.inner
        yield from () if isinstance(inner, Delay) else _summed(inner)
    if kernel != kernel.shape:
        yield kernel.shape
    yield kernel


def has_name(kernel: Kernel) -> bool:
    """Whether the file defines it: a memory of a memory, or one with its factor."""
    return isinstance(kernel, Composition) or kernel != kernel.shape
