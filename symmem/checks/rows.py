"""The pieces of work of the sweeps: what is said of one optimizer, as plain data."""

from __future__ import annotations

from sympy import Symbol

from symmem.algebra.results import Missing
from symmem.checks.sweeps import Row, Values
from symmem.checks.verify import verify
from symmem.declaration.loading import load
from symmem.declaration.optimizer import Optimizer
from symmem.derivation.conditions.small_steps import largest_step
from symmem.derivation.derivation import Derivation, derive
from symmem.derivation.loss.gradient_map_loss import GradientMapLoss
from symmem.derivation.loss.regularisation_sign import Regularisation, regularisation
from symmem.derivation.loss.verdicts import ModifiedLoss
from symmem.derivation.slow_rate import at_slow_rate, is_rated
from symmem.documents.columns import Style
from symmem.documents.text_writer import TextWriter
from symmem.errors import BudgetError, SymmemError
from symmem.verification.values import longest_decay
from symmem.work import asking, budget

SECONDS = 120.0
"""CPU time of one piece of work."""


def sign_row(name: str, values: Values, seconds: float = SECONDS) -> Row:
    """Whether memory penalises large gradients at these parameters, by how much, and for which h the number means it.

    ``sign`` and ``factor``: of the modified loss behind a factor P; ``map_sign`` and ``map_factor``: of the loss inside
    the gradient map.  ``bound`` is 1 - beta for the longest memory, or less where the expansion asks for it: the
    numbers hold for h << bound.  ``per_rate``: under a schedule h is ``h rate(n)`` in all of this.  ``why``: where
    there is no sign, the reason.
    """
    row = _begun(name, values)
    try:
        with asking(""), budget(seconds):
            optimizer = load(name)
            return row | _signs(optimizer.with_values(dict(values)) if values else optimizer)
    except SymmemError as error:
        return row | _failed(error)


def _signs(optimizer: Optimizer) -> Row:
    derivation = at_slow_rate(derive(optimizer))
    loss, inside = derivation.modified_loss, derivation.gradient_map_loss
    method = derivation.method
    behind = regularisation(method, loss) if isinstance(loss, ModifiedLoss) else None
    regime = str(loss.regime) if isinstance(loss, ModifiedLoss) else None
    found = {"regime": regime, "per_rate": is_rated(derivation), **_side("", behind, optimizer)}
    if isinstance(inside, GradientMapLoss):
        whole = ModifiedLoss(inside.potential, inside.potential)
        found |= _side("map_", regularisation(method, whole), optimizer)
    small, memory = largest_step(method), _shortest(optimizer)
    found["bound"] = memory if small is None else min(memory, small)
    if found["sign"] is None:
        found["why"] = _why(derivation)
    return found


def _shortest(optimizer: Optimizer) -> float:
    """``1/(1 + lag)`` for the longest memory: 1 - beta for a geometric one, whose mean lag is beta/(1 - beta)."""
    delays = max(variable.delay for variable in optimizer.momentum)
    return min(1 - longest_decay(optimizer, dict(optimizer.defaults)), 1 / (1 + delays))


def _why(derivation: Derivation) -> str:
    """In a few words, why no sign is told."""
    if isinstance(derivation.limit, Missing):
        return "no limit: " + "".join(map(str, derivation.limit.reason.parts))
    against = derivation.obstruction
    if against is None:
        return "the loss changes by no norm of its gradient"
    if against.order == 0:
        return "F is P grad L for no P" if against.is_denial else "no P found with F = P grad L"
    return "M/P is no gradient" if against.is_denial else "no potential found for M/P"


def _side(prefix: str, found: Regularisation | None, optimizer: Optimizer) -> Row:
    if found is None:
        return {f"{prefix}sign": None, f"{prefix}factor": None, f"{prefix}norm": None}
    value = found.factor.xreplace({Symbol(name): number for name, number in optimizer.defaults.items()})
    norm = {"sympy": str(found.norm)}
    for form, unicode in (("text", True), ("ascii", False)):
        norm[form] = TextWriter.of(optimizer, Style(unicode=unicode)).flat(found.norm)
    return {f"{prefix}sign": found.sign, f"{prefix}factor": float(value), f"{prefix}norm": norm}


def verify_row(name: str, values: Values, seconds: float = SECONDS) -> Row:
    """Whether every claim holds, the worst error of the formulas, and the orders of error."""
    row = _begun(name, values)
    try:
        with asking(""), budget(seconds):
            optimizer = load(name)
            found = verify(optimizer.with_values(dict(values)) if values else optimizer)
    except SymmemError as error:
        return row | {"holds": False} | _failed(error)
    worst = max((claim.error for claim in found.claims), default=None)
    orders = {f"{each.counted}, {each.direction}": each.slope for each in found.orders}
    return row | {"holds": found.holds, "claims": len(found.claims), "worst": worst, "orders": orders}


def _failed(error: SymmemError) -> Row:
    """The reason; a row that ran out of its time or memory is ``spent``, and a later sweep tries it again."""
    return {"error": str(error), **({"spent": True} if isinstance(error, BudgetError) else {})}


def _begun(name: str, values: Values) -> Row:
    return {"name": name, "values": dict(values)}
