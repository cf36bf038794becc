"""Functions of a whole tensor for emitted Python, copied word for word: ``library`` is numpy, torch or jax.numpy.

A function of a matrix is taken with its derivative along any number of directions at once.  A *jet* is the list of the
coefficients of products of nilpotent numbers, one for each direction: entry s belongs to the set of directions whose
bits are set in s, and the last entry is the derivative along all of them (mathematics.md section 9).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

__all__ = [
    "_as_matrices",
    "_dot",
    "_inverse_root",
    "_jet",
    "_jet_root",
    "_last",
    "_matmul",
    "_mean",
    "_newton_schulz",
    "_nuclear",
    "_parts",
    "_polar",
    "_product",
    "_transpose",
]

Jet = list[Any]


def _dot(library: Any, tensors: Sequence[Any], _numbers: Sequence[Any]) -> Any:
    return library.sum(tensors[0] * tensors[1])


def _mean(library: Any, tensors: Sequence[Any], _numbers: Sequence[Any]) -> Any:
    return library.mean(tensors[0])


def _matmul(library: Any, tensors: Sequence[Any], _numbers: Sequence[Any]) -> Any:
    left, right = _as_matrices(tensors, "matmul")
    return library.matmul(left, right)


def _transpose(_library: Any, tensors: Sequence[Any], _numbers: Sequence[Any]) -> Any:
    return _as_matrices(tensors, "transpose")[0].T


def _nuclear(library: Any, tensors: Sequence[Any], _numbers: Sequence[Any]) -> Any:
    """The sum of the singular values."""
    return library.sum(library.linalg.svd(tensors[0], full_matrices=False)[1])


def _as_matrices(tensors: Sequence[Any], name: str) -> Sequence[Any]:
    if any(tensor.ndim != 2 for tensor in tensors):
        raise ValueError(f"{name} takes matrices, not {[tuple(tensor.shape) for tensor in tensors]}")
    return tensors


def _polar(library: Any, tensors: Sequence[Any], _numbers: Sequence[Any]) -> Any:
    """U V^T of x = U S V^T of full rank, or its derivative along the tensors after the first."""
    if tensors[0].shape[0] > tensors[0].shape[1]:
        return _polar(library, [tensor.T for tensor in tensors], ()).T
    x = _jet(library, _as_matrices(tensors, "polar"))
    square = _product(x, [part.T for part in x])
    return _last(_product(_jet_root(library, square, 2), x))


def _newton_schulz(library: Any, tensors: Sequence[Any], _numbers: Sequence[Any]) -> Any:
    """Muon's polynomial, five times from x/|x|, or its derivative along the tensors after the first."""
    if tensors[0].shape[0] > tensors[0].shape[1]:
        return _newton_schulz(library, [tensor.T for tensor in tensors], ()).T
    x = _jet(library, _as_matrices(tensors, "newton_schulz"))
    rows = [part.reshape(1, -1) for part in x]
    length = _jet_root(library, _product(rows, [row.T for row in rows]), 2)
    x = [part.reshape(x[0].shape) for part in _product(length, rows)]
    for _ in range(5):
        square = _product(x, [part.T for part in x])
        quartic = _product(square, square)
        mixed = [-4.7750 * a + 2.0315 * b for a, b in zip(square, quartic, strict=True)]
        x = [3.4445 * a + b for a, b in zip(x, _product(mixed, x), strict=True)]
    return _last(x)


def _inverse_root(library: Any, tensors: Sequence[Any], numbers: Sequence[Any]) -> Any:
    """(x + eps)^(-1/p) of a symmetric matrix, or its derivative along the tensors after the first."""
    x = _jet(library, _as_matrices(tensors, "inverse_root"))
    if len(numbers) > 1:
        x[0] = x[0] + numbers[1] * library.diag(library.diag(library.ones_like(x[0])))
    return _last(_jet_root(library, x, int(numbers[0])))


def _jet(library: Any, tensors: Sequence[Any]) -> Jet:
    """x + sum_i e_i v_i with e_i^2 = 0."""
    x, *directions = tensors
    jet = [library.zeros_like(x) for _ in range(2 ** len(directions))]
    jet[0] = x
    for position, direction in enumerate(directions):
        jet[2**position] = direction
    return jet


def _last(jet: Jet) -> Any:
    return jet[-1]


def _parts(whole: int) -> Iterator[int]:
    """The subsets of a set, as bits."""
    part = whole
    while True:
        yield part
        if part == 0:
            return
        part = (part - 1) & whole


def _product(left: Jet, right: Jet) -> Jet:
    return [sum(left[part] @ right[whole ^ part] for part in _parts(whole)) for whole in range(len(left))]


def _jet_root(library: Any, jet: Jet, p: int) -> Jet:
    """R = A^(-1/p) of a symmetric, positive A, from R^p A = 1 in the basis in which A is diagonal.

    At every set of directions the equation is linear in the new part of R, with the factors
    sum_j r_a^j r_b^(p-1-j) A_b: no difference of eigenvalues is divided by.
    """
    values, basis = library.linalg.eigh(jet[0])
    turned = [basis.T @ part @ basis for part in jet]
    roots = values ** (-1.0 / p)
    root = [library.zeros_like(part) for part in turned]
    root[0] = library.diag(roots)
    factors = sum(roots[:, None] ** j * roots[None, :] ** (p - 1 - j) for j in range(p)) * values[None, :]
    for whole in range(1, len(jet)):
        power = turned
        for _ in range(p):
            power = _product(root, power)
        root[whole] = -power[whole] / factors
    return [basis @ part @ basis.T for part in root]
