"""The small functions of the emitted JAX module: those that it needs are copied into it, word for word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from symmem.program.tolerance import TOLERANCE_BITS


def _with_derivatives(field: Callable[..., Any]) -> Callable[..., Any]:
    """(x, v, ...) -> the derivative of the field at x along every v in turn."""

    def along(x: Any, *directions: Any) -> Any:
        if not directions:
            return field(x)
        *rest, last = directions
        return jax.jvp(lambda y: along(y, *rest), (x,), (last,))[1]

    return along


def _check_step(n: Any) -> None:
    if n is None or not _is_known(n):
        return
    most = 2 ** (53 if jnp.result_type(int).itemsize > 4 else 30)
    if isinstance(n, str) or not 0 <= n <= most or n != int(n):
        known = f"steps count from 0 to {most}"
        raise ValueError(f"n = {n!r}: {known}; n=None is the limit")


def _is_known(value: Any) -> bool:
    return not isinstance(value, jax.Array | jax.core.Tracer)


def _array(theta: Any) -> Any:
    def real(leaf: Any) -> jax.Array:
        leaf = jnp.asarray(leaf)
        if jnp.iscomplexobj(leaf):
            raise TypeError("theta is complex; give its real and imaginary parts")
        return leaf if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf.astype(float)

    return jax.tree.map(real, theta)


def _like(theta: Any, values: Any) -> Any:
    """What a function of the caller's returned, as a tree like theta."""

    def leaf(like: jax.Array, value: Any) -> jax.Array:
        value = jnp.asarray(value, like.dtype)
        if value.shape != like.shape:
            raise ValueError(f"a function returned {value.shape}, not {like.shape}")
        return value

    return jax.tree.map(leaf, theta, values)


def _entrywise(
    function: Callable[..., Any],
    theta: Any,
    vectors: Sequence[Any],
    scalars: Sequence[Any],
) -> Any:
    """function(*vectors, *scalars), leaf by leaf, in the types of theta."""

    def leaf(like: jax.Array, *parts: jax.Array) -> jax.Array:
        return jnp.full_like(like, function(*parts, *scalars))

    return jax.tree.map(leaf, theta, *vectors)


def _kept(theta: Any, memory: Any, count: int, n: Any) -> Any:
    """What was kept of the past, one tree for each sum; zeros where nothing was."""
    if n is None:
        raise ValueError("the optimizer runs step by step: n is a number")
    if memory is not None and len(memory) != count:
        raise ValueError(
            f"memory has {len(memory)} sums, and the optimizer keeps {count}",
        )
    nothing = jax.tree.map(lambda leaf: jnp.zeros([], leaf.dtype), theta)
    return (nothing,) * count if memory is None else tuple(memory)


def _zeros(theta: Any) -> Any:
    return jax.tree.map(jnp.zeros_like, theta)


def _add(left: Any, right: Any) -> Any:
    return jax.tree.map(jnp.add, left, right)


def _total(vector: Any) -> Any:
    return sum(jnp.sum(leaf) for leaf in jax.tree.leaves(vector))


def _complete(m: Any, *nodes: Any) -> jax.Array:
    """The sum of all products of m nodes: a power of a triangular matrix, by doubling.

    Nothing is subtracted; the diagonal is taken anew, so that its error does not double.
    """
    m, size = jnp.asarray(m), len(nodes)
    whole = m.dtype if jnp.issubdtype(m.dtype, jnp.integer) else jnp.int32
    last = m.astype(whole) + (size - 1)
    highest = 8 * jnp.dtype(whole).itemsize - 2

    def powers(k: Any) -> jax.Array:
        return jnp.stack([jnp.asarray(x**k, float) for x in nodes])

    def doubled(k: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        rows, done = state
        bit = (last >> (highest - k)) & 1
        rows = jnp.matmul(rows, rows, precision="highest")
        moved = jnp.pad(rows[:, :-1], ((0, 0), (1, 0)))
        rows = jnp.where(bit == 1, rows * powers(1) + moved, rows)
        done = 2 * done + bit
        return jnp.where(jnp.eye(size, dtype=bool), powers(done), rows), done

    start = (jnp.eye(size, dtype=powers(1).dtype), jnp.zeros((), whole))
    rows, _ = jax.lax.fori_loop(0, highest + 1, doubled, start)
    return rows[0, -1]


class _Product:
    """A product of decays: its power is taken factor by factor, and keeps its digits."""

    def __init__(self, *factors: Any) -> None:
        self.factors = factors

    def __pow__(self, k: Any) -> jax.Array:
        return jnp.prod(jnp.stack([jnp.asarray(x, float) ** k for x in self.factors]))


def _shortfall(x: Any, k: Any) -> jax.Array:
    """1 - x**k, without cancellation."""
    known = jnp.where(x > 0, x, 0.5)
    plain = 1.0 - jnp.asarray(x, float) ** k
    return jnp.where(x > 0, -jnp.expm1(k * jnp.log1p(known - 1)), plain)


def _of_tensor(function: Callable[..., Any], vectors: Any, numbers: Any) -> Any:
    """A function of a whole tensor: every leaf of the tree is one."""
    return jax.tree.map(lambda *leaves: function(jnp, leaves, numbers), *vectors)


def _shaped(function: Callable[..., Any], vectors: Any, scalars: Any) -> Any:
    """An entrywise function of matrices that are not like theta."""
    return jax.tree.map(lambda *leaves: function(*leaves, *scalars), *vectors)


def _sum_tensors(vector: Any) -> Any:
    """The sum over the leaves of one number each, which is in all their entries."""
    return sum(jnp.mean(leaf) for leaf in jax.tree.leaves(vector))


def _oldest(first: Any, stop: Any, decay: Any) -> jax.Array:
    """The first step with abs(decay)**(stop - step) >= 2**-TOLERANCE_BITS; with 0**0 = 1 the last one at least."""
    terms = jnp.ceil(-TOLERANCE_BITS * jnp.log(2.0) / jnp.log(jnp.abs(decay)))
    count = jnp.where(decay == 0.0, 1.0, terms).astype(jnp.asarray(stop).dtype)
    return jnp.maximum(first, stop - count)


def _few(numbers: Callable[[Any], Any], first: Any, stop: Any) -> tuple[Any, Any]:
    """How many rows there are, and the rows of few of the steps, the weight first.

    A long block from one power of 2 to the next stands as 18 of its steps.
    """
    first, stop = jnp.asarray(first).astype(int), jnp.asarray(stop).astype(int)

    def rows(steps: Any) -> jax.Array:
        columns = jax.vmap(numbers)(steps)
        return jnp.stack([jnp.asarray(x, float) for x in columns], axis=1)

    def block(state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        begin, count, table = state
        bits = 8 * begin.dtype.itemsize - jax.lax.clz(begin + 1)
        end = jnp.minimum(stop, jnp.maximum(127, (jnp.ones_like(bits) << bits) - 1))
        is_long = end - begin > 128
        nodes, weights = _nodes(lambda s: rows(s)[:, 0], begin, end, is_long)
        few = rows(begin + nodes).at[:, 0].set(weights)
        whole = rows(begin + jnp.arange(128))
        part = jnp.where(is_long, jnp.pad(few, ((0, 110), (0, 0))), whole)
        table = jax.lax.dynamic_update_slice_in_dim(table, part, count, axis=0)
        return end, count + jnp.where(is_long, 18, end - begin), table

    room = jnp.zeros((1536, len(numbers(first))), rows(first[None]).dtype)
    state = (first, jnp.zeros_like(first), room)
    _, count, table = jax.lax.while_loop(lambda each: each[0] < stop, block, state)
    return count, table


def _nodes(weight: Callable[[Any], Any], begin: Any, end: Any, is_long: Any) -> Any:
    """Steps near Chebyshev's points; the weights of all go to them by Lagrange's polynomials."""
    last = end - begin - 1
    turns = (1 - jnp.cos(jnp.arange(18) * (jnp.pi / 17))) / 2
    nodes = jnp.minimum(jnp.round(last * turns).astype(last.dtype), last)
    gaps = nodes[:, None] - nodes
    factors = jnp.prod(jnp.where(gaps == 0, 1.0, last / 4 / gaps), axis=1)

    def gathered(k: Any, weights: Any) -> Any:
        every = 1024 * k + jnp.arange(1024, dtype=last.dtype)
        places = jnp.minimum(every, last)
        off = places[:, None] - nodes
        shares = factors / jnp.where(off == 0, 1, off)
        is_node = jnp.any(off == 0, axis=1, keepdims=True)
        shares = shares / shares.sum(axis=1, keepdims=True)
        shares = jnp.where(is_node, off == 0, shares)
        mine = jnp.where(every <= last, weight(begin + places), 0.0)
        return weights + jnp.matmul(mine, shares, precision="highest")

    count = jnp.where(is_long, last // 1024 + 1, 0)
    return nodes, jax.lax.fori_loop(0, count, gathered, jnp.zeros_like(factors))


def _chosen(
    condition: Any,
    value: Callable[[], Any],
    otherwise: Callable[[], Any],
) -> Any:
    """One of two numbers; both are computed where the condition is traced."""
    if _is_known(condition):
        return value() if condition else otherwise()
    return jnp.where(condition, value(), otherwise())
