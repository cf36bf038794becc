"""Where a method turns unstable on a quadratic, its preconditioner frozen (mathematics.md section 4).

A quadratic with Hessian H moves the channels that are linear in the gradient, each by the transform of its kernel;
what is not linear in it, such as an average of ``grad**2``, is held as it is.  Where all of them answer by one
transform W and one diagonal P,

    theta_{n+1} = theta_n - h sum_k w_k P (H + shift) theta_{n-k} - h sum_k d_k theta_{n-k},      W(1) = 1,

an eigenvalue a of ``P^(1/2) (H + shift) P^(1/2)`` has iterates ``mu^n`` with

    mu - 1 + h D(1/mu) + h a W(1/mu) = 0,

written as ``free(mu) + h a forced(mu) = 0`` with polynomials in mu.  The method is unstable from the first h a at
which a root leaves the unit disc; at ``mu = -1`` that is ``(2 - h D(-1))/W(-1)``.

Example: Adam has ``W(z) = (1 - beta1)/(1 - beta1 z)``, so that ``W(-1) = (1 - beta1)/(1 + beta1)`` and the threshold
of h a is ``(2 + 2 beta1)/(1 - beta1)`` (Cohen et al. 2022).
"""

from __future__ import annotations

from sympy import Add, Dummy, Expr, Poly, S, fraction

from symmem.algebra.atoms import GRAD, LR, THETA, is_scalar
from symmem.algebra.directional import slope_in
from symmem.algebra.passes import collect
from symmem.algebra.results import Missing, Sentence
from symmem.derivation.gains import unsettled
from symmem.method.delay import Delay
from symmem.method.method import Method
from symmem.records import record

_Z, _MU = Dummy("z"), Dummy("mu")
Response = dict[Expr, Expr]
"""What a change of grad, and of theta, makes of a channel."""


@record(frozen=True)
class Stability:
    """The linear recursion behind a frozen preconditioner.

    preconditioner   P, a formula in theta, grad and the channels
    shift            what stands beside the Hessian, a coupled decay
    free, forced     the polynomials, as coefficients of mu, the highest power first; free contains lr
    """

    preconditioner: Expr
    shift: Expr
    free: tuple[Expr, ...]
    forced: tuple[Expr, ...]


def stability(method: Method) -> Stability | Missing:
    """The recursion, or why there is none."""
    if unsettled(method) is not None:
        return _missing("its weights have no known limit")
    if not method.is_entrywise:
        return _missing("it has functions of whole tensors, or open ones")
    answers = _responses(method)
    if isinstance(answers, Missing):
        return answers
    slopes = {symbol: slope_in(method.phi, symbol) for symbol in answers}
    rest = (method.phi - Add(*(slope * symbol for symbol, slope in slopes.items()))).expand()
    if rest != 0 or any(slope.free_symbols & {*answers} for slope in slopes.values()):
        return _missing("its update is not linear in its memory of the gradient")
    if any(isinstance(c.kernel, Delay) and c.symbol not in answers for c in method.channels):
        return _missing("its preconditioner is a value of steps ago")
    forced, moved = (
        collect(Add(*(slopes[symbol] * answers[symbol][v] for symbol in answers)), method.numbers)
        for v in (GRAD, THETA)
    )
    return _factored(method, forced, moved)


def _responses(method: Method) -> dict[Expr, Response] | Missing:
    """The channels that are linear in grad and theta, and how they answer; those that read them too."""
    found: dict[Expr, Response] = {}
    for channel in method.channels:
        moving = [GRAD, THETA, *found]
        slopes = {v: slope_in(channel.g, v) for v in moving}
        rest = (channel.g - Add(*(slope * v for v, slope in slopes.items()))).expand()
        if rest == 0 and not any(slope.free_symbols & {*moving} for slope in slopes.values()):
            kernel = channel.kernel.transform(_Z)
            found[channel.symbol] = {
                v: kernel * Add(slopes[v], *(slopes[symbol] * found[symbol][v] for symbol in found))
                for v in (GRAD, THETA)
            }
        elif THETA in channel.g.free_symbols and GRAD not in channel.g.free_symbols:
            return _missing("its update is not linear in theta")
    return found


def _factored(method: Method, forced: Expr, moved: Expr) -> Stability | Missing:
    """The response to the gradient as ``P W(z)``; that to theta as a shift of the Hessian or a decay of its own."""
    preconditioner = collect(forced.xreplace({_Z: S.One}), method.numbers)
    if preconditioner == 0:
        return _missing("a constant gradient does not move it")
    transform = collect(forced / preconditioner, method.numbers)
    if not is_scalar(transform):
        return _missing("its memories have preconditioners of their own")
    shift, decay = S.Zero, moved
    if not is_scalar(moved):
        shift, decay = collect(moved / forced, method.numbers), S.Zero
        if not is_scalar(shift) or _Z in shift.free_symbols:
            return _missing("its decay has a preconditioner of its own")
    return Stability(preconditioner, shift, *_polynomials(transform, decay))


def _polynomials(transform: Expr, decay: Expr) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """``free`` and ``forced``: ``mu - 1 + h D(1/mu) = c/d`` and ``W(1/mu) = a/b`` make ``c b + h a d``."""
    a, b = fraction(transform.xreplace({_Z: 1 / _MU}).together().cancel())
    c, d = fraction((_MU - 1 + LR * decay.xreplace({_Z: 1 / _MU})).together().cancel())
    return tuple(Poly(c * b, _MU).all_coeffs()), tuple(Poly(a * d, _MU).all_coeffs())


def _missing(words: str) -> Missing:
    return Missing(Sentence.of(words))
