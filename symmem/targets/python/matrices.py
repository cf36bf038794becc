"""Functions of a whole tensor for emitted Python, copied word for word: ``library`` is numpy, torch or jax.numpy.

A function of a matrix is taken with its derivative along any number of directions at once.  A *jet* is the list of the
coefficients of products of nilpotent numbers, one for each direction: entry s belongs to the set of directions whose
bits are set in s, and the last entry is the derivative along all of them (mathematics.md section 9).
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "_as_matrices",
    "_dot",
    "_inverse_root",
    "_jet",
    "_jet_root",
    "_matmul",
    "_mean",
    "_newton_schulz",
    "_nuclear",
    "_parts",
    "_polar",
    "_product",
    "_transpose",
]


def _dot(library: Any, tensors: Any, _numbers: Any) -> Any:
    return library.sum(tensors[0] * tensors[1])


def _mean(library: Any, tensors: Any, _numbers: Any) -> Any:
    return library.mean(tensors[0])


def _matmul(library: Any, tensors: Any, _numbers: Any) -> Any:
    left, right = _as_matrices(tensors, "matmul")
    return library.matmul(left, right)


def _transpose(_library: Any, tensors: Any, _numbers: Any) -> Any:
    return _as_matrices(tensors, "transpose")[0].T


def _nuclear(library: Any, tensors: Any, _numbers: Any) -> Any:
    """The sum of the singular values."""
    return library.sum(library.linalg.svd(tensors[0], full_matrices=False)[1])


def _as_matrices(tensors: Any, name: str) -> Any:
    if any(tensor.ndim != 2 for tensor in tensors):
        shapes = [tuple(tensor.shape) for tensor in tensors]
        raise ValueError(f"{name} takes matrices, not {shapes}")
    return tensors


def _polar(library: Any, tensors: Any, _numbers: Any) -> Any:
    """U V^T of x = U S V^T of full rank; its derivative along further tensors."""
    x, *directions = _as_matrices(tensors, "polar")
    if x.shape[0] > x.shape[1]:
        return _polar(library, [tensor.T for tensor in tensors], ()).T
    jet = _jet(library, x, directions)
    square = _product(jet, [part.T for part in jet])
    least = x.shape[0] * float(library.finfo(x.dtype).eps)
    return _product(_jet_root(library, square, 2, least), jet)[-1]


def _newton_schulz(library: Any, tensors: Any, _numbers: Any) -> Any:
    """Muon's polynomial, five times from x/|x|; its derivative along more tensors."""
    x, *directions = _as_matrices(tensors, "newton_schulz")
    if x.shape[0] > x.shape[1]:
        return _newton_schulz(library, [tensor.T for tensor in tensors], ()).T
    jet = _jet(library, x, directions)
    rows = [part.reshape(1, -1) for part in jet]
    length = _jet_root(library, _product(rows, [row.T for row in rows]), 2)
    jet = [part.reshape(x.shape) for part in _product(length, rows)]
    for _ in range(5):
        square = _product(jet, [part.T for part in jet])
        quartic = _product(square, square)
        mixed = [-4.7750 * a + 2.0315 * b for a, b in zip(square, quartic, strict=True)]
        jet = [3.4445 * a + b for a, b in zip(jet, _product(mixed, jet), strict=True)]
    return jet[-1]


def _inverse_root(library: Any, tensors: Any, numbers: Any) -> Any:
    """(x + eps)^(-1/p) of a symmetric matrix; its derivative along further tensors."""
    x, *directions = _as_matrices(tensors, "inverse_root")
    if len(numbers) > 1:
        x = x + numbers[1] * library.diag(library.diag(library.ones_like(x)))
    return _jet_root(library, _jet(library, x, directions), int(numbers[0]))[-1]


def _jet(library: Any, x: Any, directions: list[Any]) -> list[Any]:
    """x + sum_i e_i v_i with e_i^2 = 0."""
    jet = [library.zeros_like(x) for _ in range(2 ** len(directions))]
    jet[0] = x
    for position, direction in enumerate(directions):
        jet[2**position] = direction
    return jet


def _parts(whole: int) -> list[int]:
    """The subsets of a set, as bits."""
    return [part for part in range(whole + 1) if part & ~whole == 0]


def _product(left: list[Any], right: list[Any]) -> list[Any]:
    def entry(whole: int) -> Any:
        return sum(left[part] @ right[whole ^ part] for part in _parts(whole))

    return [entry(whole) for whole in range(len(left))]


def _jet_root(library: Any, jet: list[Any], p: int, least: float = 0.0) -> list[Any]:
    """R = A^(-1/p) of a symmetric, positive A, from R^p A = 1 where A is diagonal.

    For every set of directions it is linear in the new part of R, with the factors
    sum_j r_a^j r_b^(p-1-j) A_b: no difference of eigenvalues is divided by.
    """
    values, basis = library.linalg.eigh(jet[0])
    if "jax" not in library.__name__ and not bool(values[0] > least * values[-1]):
        words = "its polar factor or inverse root needs full rank; muon-torch does not"
        raise ValueError(f"a matrix of {len(values)} rows is rank-deficient: {words}")
    turned = [basis.T @ part @ basis for part in jet]
    roots = values ** (-1.0 / p)
    root = [library.zeros_like(part) for part in turned]
    root[0] = library.diag(roots)
    rows, columns = roots[:, None], roots[None, :]
    factors = values[None, :] * sum(rows**j * columns ** (p - 1 - j) for j in range(p))
    for whole in range(1, len(jet)):
        power = turned
        for _ in range(p):
            power = _product(root, power)
        root[whole] = -power[whole] / factors
    return [basis @ part @ basis.T for part in root]
