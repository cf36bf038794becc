"""The memoryless iteration and the modified equation by Lie series, another route (mathematics.md section 4).

After the transient the iterates lie on a curve of ``theta' = G(theta)``, so that with ``L_G f = Df[G]``

    m_l = b_l sum_j (-h)^j/j! (sum_k k^j beta_l^k) L_G^j g_l,        h G + h^2/2 L_G G + ... = -h Phi(m)

and both sides are compared power by power.  A series in h is the list of its coefficients.  Only the directional
derivative is shared with the engine: no trees, no recursion, no channels.
"""

from __future__ import annotations

from math import comb, factorial

from sympy import Add, Expr, Pow, Rational, S, Symbol

from symmem.algebra.atoms import STEP, THETA
from symmem.algebra.directional import along, derivative
from symmem.declaration.optimizer import Optimizer

Series = list[Expr]


def lie_series(optimizer: Optimizer, order: int) -> tuple[Series, Series]:
    """``([F_0, ..., F_order], [G_0, ..., G_order])`` in the limit n -> infinity, as unsimplified expressions."""
    memoryless: Series = []
    flow: Series = []
    update = _Update(optimizer)
    # The coefficient of h^j in Phi(m) needs G_0, ..., G_{j-1} only: nothing has to be solved.
    for j in range(order + 1):
        momenta = [
            [_momentum(variable.g, weights, flow, i) for i in range(j + 1)]
            for variable, weights in zip(optimizer.momentum, update.weights(order), strict=True)
        ]
        value = update.coefficient(momenta, j)
        memoryless.append(value)
        higher = [Rational(1, factorial(i)) * _power(THETA, flow, i, j + 1 - i) for i in range(2, j + 2)]
        flow.append(Add(-value, *(-term for term in higher)))
    return memoryless, flow


def _power(f: Expr, flow: Series, times: int, order: int) -> Expr:
    """The coefficient of h^order in ``L_G^times f``: one derivative along each coefficient of G that fits."""
    if times == 0:
        return f if order == 0 else S.Zero
    lower = (_power(f, flow, times - 1, order - i) for i in range(order + 1))
    return Add(
        *(derivative(part, along(flow[i])) for i, part in enumerate(lower) if part != 0 and flow[i] != 0)
    )


def _momentum(g: Expr, weights: list[Expr], flow: Series, order: int) -> Expr:
    """The coefficient of h^order in m_l, with ``weights[j] = b_l sum_k k^j beta_l^k``."""
    return Add(
        *(
            Rational((-1) ** j, factorial(j)) * weights[j] * _power(g, flow, j, order - j)
            for j in range(order + 1)
            if weights[j] != 0
        )
    )


class _Update:
    """Phi along a curve of momenta: Taylor coefficients in h by repeated differentiation."""

    def __init__(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer
        self._derivatives = [optimizer.phi]

    def weights(self, order: int) -> list[list[Expr]]:
        return [
            [_settled(variable.b) * moment(variable.beta, j) for j in range(order + 1)]
            for variable in self._optimizer.momentum
        ]

    def coefficient(self, momenta: list[Series], order: int) -> Expr:
        """The coefficient of h^order in Phi(m(h)); ``momenta[l][i]`` is the coefficient of h^i in m_l."""
        count = len(momenta)
        while len(self._derivatives) <= order:
            velocities = {
                _jet(l, i): _jet(l, i + 1) for l in range(count) for i in range(len(self._derivatives))
            }
            self._derivatives.append(derivative(self._derivatives[-1], velocities))
        values = {_jet(l, i): factorial(i) * momenta[l][i] for l in range(count) for i in range(order + 1)}
        return self._derivatives[order].xreplace(values) / factorial(order)


def _jet(label: int, times: int) -> Symbol:
    """The symbol of a derivative of a momentum in h; all have the names, hence the kind, of momenta."""
    return Symbol(f"m{label + 1 + 1000 * times}")


def _settled(b: Expr) -> Expr:
    """b as n -> infinity: every ``beta**(n + 1)`` is gone."""
    return b.replace(lambda part: isinstance(part, Pow) and part.exp.has(STEP), lambda part: S.Zero)


def moment(beta: Expr, power: int) -> Expr:
    """``M_j = sum_{k>=0} k^j beta^k``, from ``M_j = beta sum_k (k+1)^j beta^k``, j > 0; 0^0 = 1."""
    found = [1 / (1 - beta)]
    for j in range(1, power + 1):
        found.append(beta / (1 - beta) * Add(*(comb(j, i) * found[i] for i in range(j))))
    return found[power]
