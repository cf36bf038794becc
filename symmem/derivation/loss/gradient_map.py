"""Methods that move along a gradient map of one memory (mathematics.md section 11):

    theta <- (1 - h decay) theta - h grad K(m),        m = the mean of the gradients over the memory

Heavy ball and EMA momentum (K a square), Signum, Lion-K with equal rates, normalised momentum, clipping and Muon, with
or without decoupled weight decay.  For a method read from a declaration, K is a primitive of ``x -> Phi(gain x)``.
"""

from __future__ import annotations

from sympy import Add, Dummy, Expr, Function, S, sqrt

from symmem.algebra.antiderivatives import antiderivative
from symmem.algebra.atoms import (
    GRAD,
    THETA,
    TOTAL,
    Kind,
    is_constant,
    kind,
    moves_with_theta,
    opaque_parts,
    over_tensors,
    split_scalar,
    terms_of,
    total,
)
from symmem.algebra.directional import slope_in
from symmem.algebra.heads import HEADS
from symmem.algebra.passes import collect, distribute
from symmem.algebra.reals import substituted
from symmem.algebra.results import Missing, Sentence
from symmem.algebra.tensor_heads import DOT
from symmem.derivation.gains import limit_gains, unsettled
from symmem.method.kernel import Kernel
from symmem.method.merging import held, merged
from symmem.method.method import Channel, Method
from symmem.records import record


@record(frozen=True)
class GradientMap:
    """``theta <- theta - h (map(m) + decay theta)`` with ``map = grad K`` taken at the mean m of past gradients.

    map, primitive   as formulas in grad: ``grad K(grad)``, a vector, and ``K(grad)``, a scalar
    channel, gain    the momentum variable, or the sum of them that Phi sees, which holds ``gain m``
    lag              ``sum_k k c(k) / sum_k c(k)``
    kernel           the memory
    """

    map: Expr
    primitive: Expr
    channel: Expr
    gain: Expr
    lag: Expr
    decay: Expr
    kernel: Kernel


def gradient_map(method: Method) -> GradientMap | Missing:
    """The method as a gradient map of one memory of the gradient, or why it is none."""
    one = merged(method)
    missing = unsettled(one)
    if missing is not None:
        return missing
    if one.is_cascade:
        return Missing(Sentence.of("what it remembers depends on other memories"))
    gains = dict(zip(one.channels, limit_gains(one), strict=True))
    remembering = [channel for channel in one.channels if channel.kernel.has_memory]
    if len(remembering) != 1:
        return Missing(Sentence.of("it has more than one memory" if remembering else "it has no memory"))
    memory = remembering[0]
    ratio = collect(memory.g / GRAD, method.numbers)
    if not is_constant(ratio) or gains[memory] == 0:
        return Missing(Sentence.of("what it remembers is not a multiple of the gradient"))
    phi, decay = _without_decay(one, memory, gains)
    if decay is None:
        return Missing(Sentence.of("its update depends on more than one memory and a decay"))
    gain = method.numbers.tidy(gains[memory] * ratio)
    field = distribute(collect(substituted(phi, {memory.symbol: gain * GRAD}), method.numbers))
    primitive = _primitive(field, one)
    if isinstance(primitive, Missing):
        return primitive
    lag = method.numbers.tidy(memory.kernel.factorial_moment(1) / memory.kernel.factorial_moment(0))
    return GradientMap(field, primitive, held(method)[memory.symbol], gain, lag, decay, memory.kernel)


def _without_decay(method: Method, memory: Channel, gains: dict[Channel, Expr]) -> tuple[Expr, Expr | None]:
    """``(map, decay)`` with ``Phi = map(m) + decay theta``; the decay is None where Phi is not such a sum."""
    phi, decay = method.phi, []
    for channel in method.channels:
        if channel == memory:
            continue
        slope = slope_in(phi, channel.symbol)
        share = collect(slope * gains[channel] * channel.g / THETA, method.numbers)
        without = phi.xreplace({channel.symbol: S.Zero})
        # A jump has the slope zero: what is taken out has to be the whole of what the channel brings.
        is_whole = (phi - without - slope * channel.symbol).expand() == 0
        if not is_whole or not is_constant(share) or channel.symbol in slope.free_symbols:
            return phi, None
        decay.append(share)
        phi = without
    return phi, method.numbers.add(decay) if decay else S.Zero


def _primitive(field: Expr, method: Method) -> Expr | Missing:
    """``K`` with ``grad K = field``, a function of the vector grad, term by term."""
    parts = []
    for term in terms_of(field):
        scalar, vector = split_scalar(term)
        if moves_with_theta(scalar):
            scalar, vector = S.One, term
        found = _of_entries(vector) if is_entrywise(vector) else _of_tensors(vector, method)
        if found is None:
            return Missing(Sentence.of(term, " is not known to be a gradient of the remembered vector"))
        parts.append(scalar * found)
    return Add(*parts)


def _of_entries(vector: Expr) -> Expr | None:
    inner = antiderivative(vector, GRAD) if vector != 1 else None
    return None if inner is None else total(inner)


def is_entrywise(vector: Expr) -> bool:
    """Whether it is taken entry by entry, without a number that joins entries in it."""
    return kind(vector) is Kind.ENTRYWISE and not vector.has(TOTAL)


def _of_tensors(vector: Expr, method: Method) -> Expr | None:
    """What the head knows; a function of the length times the vector; or what was declared for an open function."""
    head = HEADS.of(vector)
    if head is not None and head.potential is not None and vector.args[0] == GRAD:
        return head.potential(GRAD)
    return _of_length(vector) or _of_opaque(vector, method)


def _of_length(vector: Expr) -> Expr | None:
    """``x f(|x|)`` has the primitive ``a(|x|)`` with ``a'(r) = r f(r)``: of one tensor, or of the whole model.

    Normalised momentum: ``f(r) = 1/r`` gives the length itself; smooth clipping, ``c/sqrt(c^2 + r^2)``, gives
    ``c sqrt(c^2 + |x|^2)``.
    """
    length = Dummy("r", positive=True)
    for square, added in ((DOT(GRAD, GRAD), over_tensors), (total(GRAD**2), lambda number: number)):
        factor = (vector / GRAD).xreplace({square: length**2})
        if length in factor.free_symbols and not factor.free_symbols & {GRAD, THETA}:
            inner = antiderivative(factor * length, length)
            return None if inner is None else added(inner.xreplace({length: sqrt(square)}))
    return None


def _of_opaque(vector: Expr, method: Method) -> Expr | None:
    """``gradK(c x)`` has the primitive ``K(c x)/c`` where a potential was declared."""
    declared = {function.name for function in method.functions if function.potential}
    if vector.func not in {Function(name) for name in declared}:
        return None
    name, point, _ = opaque_parts(vector)
    scale, inner = split_scalar(point)
    return Function(f"{name}_potential")(point) / scale if inner == GRAD else None
