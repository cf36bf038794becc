"""The exact modified loss of a gradient-map momentum, as a power series in h (mathematics.md section 11).

On the slow manifold the momentum is a gradient, ``m = grad S(theta)``, to every order in h, and the method is exactly
``theta <- (1 - h decay) theta - h grad K(grad S)``.  For geometric memory S solves

    S(x) = (1 - beta) L(x) + B (T S)(x / (1 - h decay)),      B = beta (1 - h decay),

``T S = U`` at the time ``h/(1 - h decay)`` of the Hamilton-Jacobi equation ``dU/dt = K(grad U)``, ``U = S`` at t = 0.
Written with the lag ``kappa = beta/(1 - beta)``, so that no beta is left:  ``S_0 = L`` and, for p >= 1,

    S_p = kappa [h^p] { (1 - h decay) (T S_{<p})(x / (1 - h decay)) }.

The worked example, decay 0:  ``S = L + h kappa K(g) + h^2 kappa (kappa + 1/2) v . D2L(v) + ...``, ``v = grad K(g)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from math import factorial

from sympy import Add, Dummy, Expr, Rational, S, Symbol

from symmem.algebra.atoms import GRAD, LOSS, LR, THETA, slot, total
from symmem.algebra.directional import along, derivative
from symmem.algebra.gradients import expanded, gradient
from symmem.algebra.homogeneity import degree_in
from symmem.algebra.passes import collect
from symmem.algebra.results import EXACT, Missing, Regime
from symmem.algebra.scalar_forms import canonical
from symmem.algebra.scalars import Scalars
from symmem.derivation.loss.gradient_map import GradientMap, gradient_map
from symmem.derivation.loss.scalar_writing import gathered
from symmem.derivation.loss.shifted_loss import in_terms_of_the_loss, plain_method
from symmem.derivation.loss.slow_manifold import beyond_geometric_memory
from symmem.derivation.loss.verdicts import Obstruction
from symmem.method.geometric import Geometric
from symmem.method.merging import held
from symmem.method.method import Method
from symmem.records import record

Degrees = tuple[int, int]
"""The powers of t and of h."""
Series = dict[Degrees, Expr]
_LAG, _DECAY = Dummy("kappa"), Dummy("decay")


PREVIOUS = Symbol("previous")
"""The modified loss at the iterate before."""


@record(frozen=True)
class GradientMapLoss:
    """The method is ``theta <- (1 - h decay) theta - h grad K(grad S)``: its potential S to the power ``order`` of h.

    running   S along a trajectory, without Hessians and to every order: from the loss now, from ``previous`` and from
              the momentum of the step before, in the declared variables; None where the memory is not geometric
    coupled   the decay inside the gradient: past gradients are those of ``L + coupled |theta|^2/2``
    """

    potential: Expr
    running: Expr | None
    map: GradientMap
    order: int
    regime: Regime = EXACT
    coupled: Expr = S.Zero


@lru_cache(maxsize=64)
def gradient_map_loss(method: Method, order: int) -> GradientMapLoss | Obstruction | Missing:
    """The potential to the power ``order`` of h; what is in the way; or why the method is no gradient map.

    Memory that is not geometric has it to first order, with its mean lag in the place of kappa, and in general no
    further.
    """
    found = gradient_map(method)
    if isinstance(found, Missing):
        return _with_coupled_decay(method, order) or found
    if order > 1 and not isinstance(found.kernel, Geometric):
        return beyond_geometric_memory(method, found, order)
    # The coefficients are polynomials in the lag and the decay, whatever these are: both are symbols on the way.
    general = replace(found, decay=S.Zero if found.decay == 0 else _DECAY)
    parts = [LOSS]
    for power in range(1, order + 1):
        parts.append(canonical(_LAG * _of_power(general, parts, power)))
    values = {_LAG: found.lag, _DECAY: found.decay}
    potential = gathered(Add(*(LR**power * part for power, part in enumerate(parts))), method.numbers, values)
    return GradientMapLoss(potential, _running(found, method.numbers), found, order)


def _with_coupled_decay(method: Method, order: int) -> GradientMapLoss | None:
    """The loss of the plain method, which sees ``L + coupled |theta|^2/2``, in terms of L (section 12)."""
    apart = plain_method(method)
    if apart is None:
        return None
    plain, coupled = apart
    found = gradient_map_loss(plain, order)
    if not isinstance(found, GradientMapLoss):
        return None
    potential = gathered(in_terms_of_the_loss(found.potential, coupled), method.numbers)
    # The plain method was merged: its channels may be sums of those that were declared.
    values = dict(held(method))
    running = found.running
    if running is not None:
        running = in_terms_of_the_loss(running.xreplace(values), coupled)
    seen = replace(found.map, channel=found.map.channel.xreplace(values))
    return replace(found, potential=potential, running=running, map=seen, coupled=coupled)


def _running(found: GradientMap, numbers: Scalars) -> Expr | None:
    """``S_n = (1 - beta) L(theta_n) + B S_{n-1} - h beta K*(v)``, with ``K*(v) = m . v - K(m)`` and ``v = grad K(m)``.

    All of the step before is taken at the mean ``m = channel/gain``; ``beta = kappa/(1 + kappa)``.
    """
    if not isinstance(found.kernel, Geometric):
        return None
    mean = found.channel / found.gain
    homogeneous = degree_in(found.map, GRAD) == 0  # then K has degree 1, and K* is 0 wherever it is finite
    dual = S.Zero if homogeneous else (total(GRAD * found.map) - found.primitive).xreplace({GRAD: mean})
    now, kept = (numbers.tidy(share) for share in (1 / (1 + found.lag), found.lag / (1 + found.lag)))
    return now * LOSS + kept * ((1 - LR * found.decay) * PREVIOUS - LR * collect(canonical(dual), numbers))


def _of_power(found: GradientMap, parts: list[Expr], power: int) -> Expr:
    """``[h^power] { (1 - h decay) (T S)(x/(1 - h decay)) }`` of ``S = sum_i h^i parts[i]``."""
    flowed = _flow(found, parts, power)
    stretched = [Add(*(_in_h(found.decay, degrees, value, p) for degrees, value in flowed.items()))
                 for p in range(power + 1)]  # fmt: skip
    moved = _at_stretched_point(stretched, found.decay, power)
    return moved[power] - found.decay * moved[power - 1]


def _in_h(decay: Expr, degrees: Degrees, value: Expr, power: int) -> Expr:
    """``[h^power] (h/(1 - h decay))^j h^i value``: ``C(power-i-1, j-1) decay^(power-i-j)``, for degrees (j, i)."""
    j, i = degrees
    rest = power - i - j
    if rest < 0:
        return S.Zero
    if j == 0:
        return value if rest == 0 else S.Zero
    return Rational(factorial(j + rest - 1), factorial(j - 1) * factorial(rest)) * decay**rest * value


def _at_stretched_point(series: list[Expr], decay: Expr, power: int) -> list[Expr]:
    """``f(x/(1 - h decay))`` as a series in h: ``exp(s theta . grad) f`` with ``s = -log(1 - h decay)``.

    ``s^j / j! = sum_p h^p decay^p c(p, j)/p!`` with the unsigned Stirling numbers of the first kind.
    """
    if decay == 0:
        return series
    derivatives = [series]
    for _ in range(power):
        derivatives.append([expanded(derivative(f, along(THETA))) for f in derivatives[-1]])
    found = []
    for p in range(power + 1):
        terms = [
            Rational(_stirling(q, j), factorial(q)) * decay**q * derivatives[j][p - q]
            for q in range(p + 1)
            for j in range(q + 1)
        ]
        found.append(Add(*terms))
    return found


def _stirling(p: int, j: int) -> int:
    """The permutations of p things with j cycles."""
    if p == 0 or j == 0:
        return int(p == j)
    return _stirling(p - 1, j - 1) + (p - 1) * _stirling(p - 1, j)


def _flow(found: GradientMap, parts: list[Expr], power: int) -> Series:
    """``U = sum t^j h^i U_ji`` with ``U_0i = parts[i]`` and ``(j+1) U_{j+1} = [t^j] K(grad U)``, ``i + j <= power``."""
    flow: Series = {(0, i): part for i, part in enumerate(parts)}
    slopes: Series = {}
    for j in range(power):
        for i in range(power - j):
            if (j, i) != (0, 0) and flow.get((j, i), S.Zero) != 0:
                slopes[j, i] = expanded(gradient(flow[j, i]))
        potential = _potential_at(found, slopes, power - 1)
        for i in range(power - j):
            flow[j + 1, i] = canonical(potential.get((j, i), S.Zero) / (j + 1))
    return flow


def _potential_at(found: GradientMap, slopes: Series, most: int) -> Series:
    """``K(g + sum of slopes)`` by Taylor's formula: ``D^r K [d_1, ..., d_r] = total(d_r D^(r-1) map [d_1, ...])``."""
    series: Series = {(0, 0): found.primitive}
    template = found.map
    for r in range(1, most + 1):
        for chosen in _choices(slopes, r, most):
            *first, last = (slopes[degrees] for degrees in chosen)
            vector = template.xreplace({slot(place): value for place, value in enumerate(first)})
            at = (sum(degrees[0] for degrees in chosen), sum(degrees[1] for degrees in chosen))
            term = total(expanded(vector * last)) / factorial(r)
            series[at] = series.get(at, S.Zero) + term
        template = derivative(template, {GRAD: slot(r - 1)})
    return series


def _choices(slopes: Series, count: int, most: int) -> Iterator[tuple[Degrees, ...]]:
    """All sequences of so many degrees whose sum is at most ``most``."""
    if count == 0:
        yield ()
        return
    for degrees in slopes:
        if sum(degrees) <= most:
            for rest in _choices(slopes, count - 1, most - sum(degrees)):
                yield (degrees, *rest)
