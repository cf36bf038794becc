"""How a momentum variable moves with the past, through all that it reads (mathematics.md section 9, cascades).

A path goes from a channel over channels that are read, one from another, to a g that is moved by theta itself.  Where
the frozen values that are read do not depend on the step, the slopes along the path are constants, the kernels along it
are composed, and a channel moves by

    delta_l(n) = sum over paths  slope[S],        S = sum_{s<n} tail(n, s) F^(s),   tail that of the composed kernels

RMSProp with momentum, ``m1 = average of grad^2``, ``m2 = sum of grad/sqrt(m1 + eps)``: one path is m2 alone, with the
slope of g_2 in theta, the other goes over m1, with the slope of g_2 in m1 after that of grad^2.
"""

from __future__ import annotations

from sympy import Expr

from symmem.algebra.atoms import slot
from symmem.algebra.directional import along, derivative
from symmem.method.flattening import composed
from symmem.method.kernel import Kernel
from symmem.method.method import Channel, Method
from symmem.records import record
from symmem.work import checkpoint

WAY = slot(0)
"""The direction in which the past lies."""


@record(frozen=True)
class Path:
    """The composed kernel, and the slope along :data:`WAY` as an expression of the channels."""

    kernel: Kernel
    slope: Expr


def paths(method: Method, channel: Channel) -> tuple[Path, ...]:
    """Every way in which the channel sees theta."""
    checkpoint("the paths of a cascade")
    found = []
    own = derivative(channel.g, along(WAY))
    if own != 0:
        found.append(Path(channel.kernel, own))
    for place in method.read_by(channel):
        read = method.channels[place]
        for path in paths(method, read):
            slope = derivative(channel.g, {read.symbol: path.slope})
            if slope != 0:
                found.append(Path(composed(channel.kernel, path.kernel), slope))
    return tuple(found)
