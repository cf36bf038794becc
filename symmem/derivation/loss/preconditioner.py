"""The diagonal factor P of an update, ``F = P grad + decay theta``: what a modified loss is preconditioned by.

Below :mod:`.preconditioned_loss`; mathematics.md section 5.

Example: AdamW's limit, ``grad/sqrt(grad^2 + eps) + weight_decay theta``, has
``P = 1/sqrt(grad^2 + eps)`` and the decay ``weight_decay``.
"""

from __future__ import annotations

from sympy import Add, Expr, S

from symmem.algebra.atoms import GRAD, THETA, Kind, is_scalar, kind, split_scalar, terms_of
from symmem.algebra.heads import HEADS
from symmem.algebra.passes import collect, distribute
from symmem.algebra.scalars import Scalars


def preconditioner_of(update: Expr, scalars: Scalars) -> tuple[Expr | None, Expr]:
    """``(P, decay)`` with ``update = P grad + decay theta``; P is None where there is no diagonal one."""
    rest, decay = without_decay(update)
    forced = [term for term in terms_of(rest) if GRAD in term.free_symbols]
    factor = collect(Add(*(term / GRAD for term in forced)), scalars)
    joined = kind(factor) is Kind.TENSOR and not HEADS.is_uniform(factor)
    if not forced or joined or THETA in factor.free_symbols:
        return None, S.Zero
    if len(forced) < len(terms_of(rest)) and not is_scalar(factor):
        return None, S.Zero
    return factor, decay


def without_decay(field: Expr) -> tuple[Expr, Expr]:
    """``(rest, decay)`` with ``field = rest + decay theta``."""
    decay: list[Expr] = []
    rest: list[Expr] = []
    for term in terms_of(distribute(field)):
        scalar, vector = split_scalar(term)
        if vector == THETA:
            decay.append(scalar)
        else:
            rest.append(term)
    return Add(*rest), Add(*decay)
