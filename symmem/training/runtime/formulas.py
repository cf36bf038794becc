"""What varies with the optimizer, as data: the runtime takes one of these records and branches on nothing else.

All functions take their arguments by position, in this order: tensors, opaque functions, numbers, parameters in the
order of the declaration.  n is None for the limit n -> infinity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

Group = dict[str, Any]
"""A parameter group, as torch.optim keeps it."""
Function = Callable[..., Tensor]
Numbers = Callable[..., Sequence[Any]]


@dataclass(frozen=True)
class Argument:
    """An argument of a constructor as PyTorch spells it: a number for one parameter, or a tuple of several."""

    name: str
    parameters: tuple[str, ...]
    default: float | tuple[float, ...]

    def values(self, group: Group) -> tuple[float, ...]:
        """The numbers of this argument in a group: one, or as many as its tuple has."""
        given = group[self.name]
        count = len(self.default) if isinstance(self.default, tuple) else 0
        if count and (not isinstance(given, tuple | list) or len(given) != count):
            raise ValueError(f"{self.name} = {given!r}: the optimizer takes {count} {self.name}")
        try:
            return tuple(float(x) for x in given) if count else (float(given),)
        except (TypeError, ValueError):
            raise ValueError(f"{self.name} = {given!r} is not a number") from None


@dataclass(frozen=True)
class Opaque:
    """An opaque function of a declaration: the names that a constructor takes for it and for its derivatives."""

    name: str
    derivatives: tuple[str, ...]


@dataclass(frozen=True)
class Formulas:
    """What every optimizer has.

    ``check(n, *parameters)`` raises ValueError for a value out of range.  ``is_entrywise`` says that every formula acts
    entry by entry, so that large tensors may go block by block; ``is_of_tensors`` that some need a whole tensor or all.
    ``declaration`` is a digest of what was declared, but for a schedule: here the rate is that of the group.
    """

    name: str
    title: str
    declaration: str
    parameters: tuple[str, ...]
    arguments: tuple[Argument, ...]
    opaque: tuple[Opaque, ...]
    check: Callable[..., None]
    has_finite: bool
    has_limit: bool
    is_entrywise: bool
    is_of_tensors: bool

    def values(self, group: Group) -> list[float]:
        """The parameters of a group, in the order of the declaration."""
        found: dict[str, float] = {}
        for argument in self.arguments:
            found |= zip(argument.parameters, argument.values(group), strict=True)
        return [found[name] for name in self.parameters]

    def check_values(self, group: Group) -> None:
        """ValueError where the values of a group are out of range, or have no form for finite n or for the limit."""
        self.check(None, *self.values(group))
        if not self.has_finite and not group["limit"]:
            raise ValueError(
                f"{self.title} has its correction in the limit of many steps alone here; use limit=True"
            )
        if not self.has_limit and group["limit"]:
            raise ValueError("the coefficients have no limit; use limit=False")


@dataclass(frozen=True)
class Memory:
    """What memory adds, first order in lr (mathematics.md section 5; the sums are in :mod:`.remembered`).

    decays(*parameters)                one for each memory l
    past(theta, g, ..., *shares)       F of a past step; where ``is_linear`` it is linear in the ``shares``
    past_scalars(n, *parameters)       the shares of past steps, n a tensor; None where F does not depend on the step
    corrected(theta, g, *products, *displacements, ..., *scales, *scalars)   F + M
    shared(theta, g, product, displacement, ..., *scales, *scalars)          F + M where all memories share a product
    correction(...)                    M alone, with the arguments of ``corrected``
    on_line(...)                       F on the straight-line history, with the numbers of the lines behind the scales;
                                       None where there is none
    lines                              for each memory the highest power of the lag in it, and whether a sum over
                                       the lags is taken
    is_smooth                          ``past`` is a smooth function of its shares: few of them may stand for many
    is_one_line                        cascades and delays: all memory sees one line, that of the last step's rates;
                                       the one product is that of ``past``, and n stands among the scalars
    """

    decays: Numbers
    past: Function
    past_scalars: Numbers | None
    is_linear: bool
    has_displacements: bool
    corrected: Function
    shared: Function
    correction: Function
    on_line: Function | None
    lines: tuple[tuple[int, bool], ...]
    is_smooth: bool = False
    is_one_line: bool = False

    @property
    def has_sums(self) -> bool:
        """Whether the past steps enter by sums of numbers alone."""
        return self.is_linear or self.past_scalars is None


@dataclass(frozen=True)
class Link:
    """A variable of a chain: a running sum, or the value of some steps ago, first that of the first step or 0."""

    delay: int
    starts_empty: bool

    @property
    def states(self) -> int:
        """How many tensors it keeps."""
        return max(1, self.delay)


@dataclass(frozen=True)
class Running:
    """The optimizer as it runs: ``x_l <- decay_l x_l + unit_l g_l``, then ``update(theta, g, *x, ..., *scalars)``.

    ``states`` are the names of x_l in the state; ``options`` those of PyTorch's options that change the update, as
    they have to be; F depends on the ``frozen`` parameters, its limit on ``frozen_limit``.
    In a ``chain`` a g may read the variables above it, and ``taken_in(theta, g, *x, ..., *scalars)`` takes all of them.
    PyTorch's state has ``numbers`` beside the sums: ``counted(n, *parameters)`` after n steps.
    """

    states: tuple[str, ...]
    taken_in: tuple[Function, ...]
    rates: Numbers
    scalars: Numbers
    update: Function
    frozen: tuple[str, ...]
    frozen_limit: tuple[str, ...]
    options: Mapping[str, bool]
    chain: tuple[Link, ...] = ()
    numbers: tuple[str, ...] = ()
    counted: Numbers | None = None


@dataclass(frozen=True)
class Regulariser:
    """``M = P grad R``, R = sum_l strength_l A[S_l], and A of one past step is ``sum of density - share * loss``.

    strengths(*scalars, *parameters), density(theta, g, *shares, *parameters), share_of_loss(*shares, *parameters)
    """

    strengths: Numbers
    density: Function
    share_of_loss: Callable[..., float]


@dataclass(frozen=True)
class Stability:
    """The method on a quadratic, its preconditioner P frozen: ``mu^n`` with ``free(mu) + lr a forced(mu) = 0``.

    a is an eigenvalue of ``P^(1/2) (H + shift) P^(1/2)``, and the polynomials are lists, the highest power first.
    preconditioner(theta, g, *x, *scalars, *parameters), shift(*parameters), free(lr, *parameters), forced(the same)
    """

    preconditioner: Function
    shift: Callable[..., float]
    free: Numbers
    forced: Numbers


@dataclass(frozen=True)
class RunningLoss:
    """The modified loss inside a gradient map along a trajectory (mathematics.md section 11):

    ``S <- now L + kept S - lr (sum of density)``, the density at the sums that the step before left.
    now(*parameters), kept(lr, *parameters), density(theta, g, *x, *scalars, *parameters)
    """

    now: Callable[..., float]
    kept: Callable[..., float]
    density: Function


@dataclass(frozen=True)
class FirstOrder(Formulas):
    """Formulas of order 1: groups may differ in everything.

    ``plain(theta, g, ..., *scalars)`` is F, ``scalars(n, *parameters)`` its numbers; memory and regulariser are None
    where there are none, and in the place of a stability or a running loss that is not there stands the reason.
    """

    scalars: Numbers
    plain: Function
    memory: Memory | None
    running: Running
    regulariser: Regulariser | None
    stability: Stability | str
    running_loss: RunningLoss | str


@dataclass(frozen=True)
class HigherOrder(Formulas):
    """Formulas of an order above 1: ``step(theta, g, *contractions, ..., rates, n, *parameters)`` on flat vectors.

    Where it ``is_of_tensors``, ``step`` takes ``of_tensor(function, vectors, numbers)`` before the rates.
    """

    order: int
    step: Function
