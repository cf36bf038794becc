"""What the functions of a tensor, and choices between numbers, mean: a paper defines those that a method uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sympy import Expr
from sympy.core.function import AppliedUndef

from symmem.algebra.where import where
from symmem.derivation.loss.gradient_map_loss import GradientMapLoss
from symmem.derivation.loss.verdicts import ModifiedLoss
from symmem.documents.account import Account

_MEANINGS: Mapping[str, str] = {
    "matmul": r"$X \cdot Y$ is the product of two matrices",
    "transpose": r"$X\smmtrans$ is the transpose of a matrix",
    "dot": (
        r"$\langle X, Y \rangle$ is the sum of the products of their entries, and "
        r"$\smmnorm{X}_{F} = \langle X, X \rangle^{1/2}$"
    ),
    "polar": r"$\operatorname{polar}(X) = U V\smmtrans$ for the singular value decomposition $X = U S V\smmtrans$",
    "nuclear": r"$\smmnorm{X}_{*}$ is the sum of the singular values of $X$",
    "newton_schulz": (
        r"$\operatorname{NS}(X)$ is the Newton--Schulz iteration, $X / \smmnorm{X}$ after five steps "
        r"$Y \mapsto a Y + b Y Y\smmtrans Y + "
        r"c Y Y\smmtrans Y Y\smmtrans Y$ with $a = 3.4445$, $b = -4.7750$, $c = 2.0315$"
    ),
    "inverse_root": (
        r"$\operatorname{InverseRoot}(X, p, \varepsilon) = (X + \varepsilon I)^{-1/p}$ for a symmetric matrix $X$"
    ),
    "mean": r"$\operatorname{mean}(X)$ is the mean of the entries of a tensor",
}


def glossary(account: Account) -> list[str]:
    """The sentences of the functions that the method and its losses contain, each tensor by itself."""
    names = {call.func.__name__ for part in _told(account) for call in part.atoms(AppliedUndef)}
    return [sentence for name, sentence in _MEANINGS.items() if name in names]


def choices(account: Account) -> list[str]:
    """What ``where`` means, for a method that has it in the factor of a variable or in its rate."""
    optimizer = account.optimizer
    factors = [variable.b for variable in optimizer.momentum]
    factors += [] if optimizer.schedule is None else [optimizer.schedule]
    if not any(factor.has(where) for factor in factors):
        return []
    return [r"$\operatorname{where}(A, x, y)$ is $x$ where $A$ holds, and $y$ where it does not"]


def _told(account: Account) -> Iterator[Expr]:
    optimizer = account.optimizer
    yield optimizer.phi
    yield from (variable.g for variable in optimizer.momentum)
    for loss in (account.modified_loss, account.gradient_map_loss):
        if isinstance(loss, (ModifiedLoss, GradientMapLoss)):
            yield loss.potential
