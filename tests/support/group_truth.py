"""Parameter groups by brute force, and the same problem in torch: the truth of the emitted optimizers.

A group is a set of entries with its own rate, parameters and number of updates made.  Nothing here knows a formula:

    F_i + M_i = (1 + d/dtau) F_i^(n_i)(theta(0), theta(1), ..., theta(n_i)) at tau = 0,
    theta_j(k) = theta_j + tau sum of lr_j(s) F_j^(s)(theta) over the last k updates s of group j, if it has made k
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain
from math import factorial

import mpmath
import torch
from mpmath import mpf
from sympy import Expr, Rational
from truth import GENTLE, LR

import symmem
from symmem import Momentum, Optimizer
from symmem.targets.torch.module import torch_module
from symmem.training import Memoryless, WithMemory, probe
from symmem.training.runtime.vectors import BLOCK
from symmem.verification.arithmetic import power
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import Literal
from symmem.verification.losses import Loss, coupled_loss, probe_point
from symmem.verification.ridges import Monomial, Ridge, exponential, log_cosh, potential_map, sine
from symmem.verification.vectors import real

SIZE = 3
"""Entries of a tensor: opaque functions act on one tensor at a time."""
TENSORS = 3
LOSS = coupled_loss(SIZE * TENSORS)
THETA = probe_point(SIZE * TENSORS)
DIGITS = 30
_MAP = potential_map(SIZE)
torch.set_num_threads(1)  # the tensors of the tests are small, and pytest has the other cores


EXTRAS = {
    name: Optimizer(
        name, phi, [Momentum(*variable) for variable in momentum], parameters, functions=functions
    )
    for name, phi, momentum, parameters, functions in (
        # What is remembered depends on theta itself.
        (
            "coupled-decay",
            "m1",
            [("grad + decay * theta", "beta", "1 - beta")],
            {"beta": "4/5", "decay": "1/10"},
            (),
        ),
        # Two decays, no bias correction, and a sum that splits into several vectors.
        (
            "two-decays",
            "m1 + m2 / 3 + m3",
            [("grad", "beta", "1"), ("grad + theta**3", "delta", "1 - delta"), ("theta", "0", "decay")],
            {"beta": "4/5", "delta": "7/10", "decay": "1/10"},
            (),
        ),
        # A factor with a root, and a decay that is a number.
        (
            "rooted",
            "m1 / sqrt(m2 + 1/9)",
            [("grad", "beta", "(1 - beta) / sqrt(n + 1)"), ("grad**2", "1/2", "1/2")],
            {"beta": "4/5"},
            (),
        ),
        # A factor that grows: there is no limit.
        ("growing", "m1 / sqrt(m1**2 + 1/7)", [("grad", "beta", "n + 1")], {"beta": "4/5"}, ()),
        # An opaque function of two memories.
        (
            "opaque-pair",
            "gradK(m1 + m2)",
            [("grad", "beta", "1 - beta"), ("grad", "delta", "1 - delta")],
            {"beta": "4/5", "delta": "7/10"},
            {"gradK": {"potential": "K"}},
        ),
    )
}
"""Optimizers that the zoo has nothing like."""


def load(name: str) -> Optimizer:
    return EXTRAS[name] if name in EXTRAS else symmem.load(name)


@dataclass(frozen=True)
class Group:
    """The tensors of a group, by position, and what an optimizer is told about it."""

    tensors: tuple[int, ...]
    lr: Rational = LR
    n: int = 0
    values: dict[str, Rational] = field(default_factory=dict)
    maximize: bool = False
    rates: tuple[float, ...] = ()
    """Those of the n past steps, where they were others than lr."""

    @property
    def entries(self) -> list[int]:
        return list(chain.from_iterable(range(SIZE * t, SIZE * t + SIZE) for t in self.tensors))


TWO = {"beta": Rational(3, 5), "beta1": Rational(1, 2), "beta2": Rational(9, 10), "eps": Rational(1, 30)}
TWO |= {"weight_decay": Rational(1, 7), "delta": Rational(1, 3), "decay": Rational(1, 5)}
CASES = {
    "one group": [Group((0, 1, 2), n=4)],
    "two rates": [Group((0, 2), n=3), Group((1,), lr=Rational(1, 30), n=3)],
    "two of everything": [Group((0, 2), n=6), Group((1,), lr=Rational(1, 40), n=6, values=TWO)],
    "one joined late": [Group((0,), n=7), Group((1, 2), lr=Rational(1, 40), n=2, values=TWO)],
    "one joins now": [Group((0,), n=5), Group((1,), n=0, values=TWO), Group((2,), lr=Rational(1, 50), n=5)],
    "one maximises": [Group((0, 1), n=4, values=TWO), Group((2,), n=4, maximize=True)],
    "one is not trained": [Group((0, 2), n=4)],
}


def runtime(name: str, order: int = 1) -> types.SimpleNamespace:
    """The optimizers of the runtime and the probe for one optimizer, by the names that emitted modules have.

    They take the expansion; the straight line is tested by itself.
    """
    title, optimizer = "".join(filter(str.isalnum, str(load(name).title))), load(name)
    return types.SimpleNamespace(
        **{
            f"Memoryless{title}": partial(Memoryless, optimizer, order=order, history="expansion"),
            f"{title}WithMemoryCorrection": partial(WithMemory, optimizer, history="expansion"),
        },
        probe=partial(probe, name=optimizer),
        BLOCK=BLOCK,
    )


@cache
def emitted(name: str, order: int = 1) -> types.ModuleType:
    """The emitted PyTorch module, known by its name to whoever looks for it: pickle, torch.compile."""
    made = types.ModuleType(f"emitted_{name.replace('-', '_')}_{order}")
    sys.modules[made.__name__] = made
    exec(compile(torch_module(symmem.derive(load(name), order)), made.__name__, "exec"), made.__dict__)
    return made


def moved(name: str, groups: Sequence[Group]) -> list[mpf]:
    """theta after one step of the memoryless iteration; what is in no group stays."""
    found = list(THETA)
    literals = [_literal(name, group) for group in groups]
    working = 3 * DIGITS + 20
    with mpmath.workdps(working):
        tau = mpf(10) ** -DIGITS
        pasts = [
            literal.frozen(THETA, group.n, working) for literal, group in zip(literals, groups, strict=True)
        ]

        def point(ago: int, by: mpf) -> tuple[mpf, ...]:
            entries = list(THETA)
            for group, past in zip(groups, pasts, strict=True):
                rates = group.rates or (mpf(group.lr.p) / group.lr.q,) * group.n
                steps = range(max(0, group.n - ago), group.n)
                for entry in group.entries:
                    way = sum((rates[s] * past[s][entry] for s in steps), mpf(0))
                    entries[entry] += by * way
            return tuple(entries)

        for group, literal in zip(groups, literals, strict=True):
            here, ahead, behind = (
                literal.direction([point(ago, by) for ago in range(group.n + 1)], working)
                for by in (mpf(0), tau, -tau)
            )
            rate = mpf(group.lr.p) / group.lr.q
            for entry in group.entries:
                found[entry] -= rate * (here[entry] + (ahead[entry] - behind[entry]) / (2 * tau))
    return found


def on_lines(name: str, groups: Sequence[Group]) -> list[mpf]:
    """theta after one step on the straight-line history; each memory of each group sees all groups on a line."""
    found = list(THETA)
    with mpmath.workdps(2 * DIGITS):
        for group in groups:
            literal = _literal(name, group)
            numbers = {key: real(value) for key, value in literal.numbers.items()}
            momenta = {}
            for position, momentum in enumerate(literal.optimizer.momentum, start=1):
                beta = evaluate(momentum.beta, numbers, {}, digits=2 * DIGITS)
                along = _velocity(name, groups, beta, group.n)
                change = literal.loss.contraction(THETA, along)
                total = [mpf(0)] * len(THETA)
                for k in range(group.n + 1):
                    point = {
                        "theta": [x + k * v for x, v in zip(THETA, along, strict=True)],
                        "grad": [
                            x + k * d for x, d in zip(literal.loss.gradient(THETA), change, strict=True)
                        ],
                    }
                    seen = _evaluated(momentum.g, numbers, point, literal)
                    total = [x + power(beta, mpf(k)) * y for x, y in zip(total, seen, strict=True)]
                factor = evaluate(momentum.b, {**numbers, "n": mpf(group.n)}, {}, digits=2 * DIGITS)
                momenta[f"m{position}"] = [factor * x for x in total]
            step = _evaluated(literal.optimizer.phi, numbers, momenta, literal)
            for entry in group.entries:
                found[entry] -= mpf(group.lr.p) / group.lr.q * step[entry]
    return found


def _velocity(name: str, groups: Sequence[Group], beta: mpf, n: int) -> list[mpf]:
    """How far every entry moves in one step of the line that a memory with this decay sees, lr included."""
    along, weight = [mpf(0)] * len(THETA), mpf(0)
    pasts = [_literal(name, group).frozen(THETA, group.n, 2 * DIGITS) for group in groups]
    for k in range(1, n + 1):
        share = power(beta, mpf(k))
        weight += k * share
        for group, past in zip(groups, pasts, strict=True):
            for step in past[max(0, group.n - k) :]:
                for entry in group.entries:
                    along[entry] += share * mpf(group.lr.p) / group.lr.q * step[entry]
    return [x / weight for x in along] if weight else along


def _evaluated(expression: Expr, numbers: object, vectors: object, literal: Literal) -> list[mpf]:
    found = evaluate(expression, numbers, vectors, None, literal.functions, digits=2 * DIGITS)
    return list(found) if isinstance(found, list) else [found] * len(THETA)


def frozen(name: str, groups: Sequence[Group]) -> list[mpf]:
    """theta after one step with F alone: the optimizer after n steps that did not move it."""
    found = list(THETA)
    with mpmath.workdps(2 * DIGITS):
        for group in groups:
            step = _literal(name, group).direction([tuple(THETA)] * (group.n + 1), 2 * DIGITS)
            for entry in group.entries:
                found[entry] -= mpf(group.lr.p) / group.lr.q * step[entry]
    return found


def parameters(dtype: torch.dtype = torch.float64) -> list[torch.nn.Parameter]:
    entries = torch.tensor([float(x) for x in THETA], dtype=dtype)
    return [torch.nn.Parameter(part.clone()) for part in entries.split(SIZE)]


def closure(tensors: Sequence[torch.Tensor]) -> Callable[[], torch.Tensor]:
    """The loss as torch sees it."""
    return lambda: ridge_sum(LOSS.ridges, torch.cat(list(tensors)))


def ridge_sum(ridges: Sequence[Ridge], point: torch.Tensor) -> torch.Tensor:
    profiles = {exponential: torch.exp, sine: torch.sin, log_cosh: lambda x: torch.log(torch.cosh(x))}
    total = point.new_zeros(())
    for ridge in ridges:
        x = point @ torch.tensor([float(entry) for entry in ridge.inward], dtype=point.dtype)
        degree = ridge.profile.degree if isinstance(ridge.profile, Monomial) else None
        value = profiles[ridge.profile](x) if degree is None else x**degree / factorial(degree)
        total = total + float(ridge.weight) * value
    return total


def opaque(name: str) -> dict[str, Callable[[torch.Tensor], torch.Tensor]]:
    """The functions that a constructor takes, by name; their derivatives are left to torch."""
    slopes = torch.func.grad(lambda x: ridge_sum(_MAP.ridges, x))
    return {function.name: slopes for function in load(name).functions}


def spelled(name: str, group: Group) -> dict[str, object]:
    """The values of a group as the constructor takes them."""
    optimizer = load(name)
    values = {key: float(value) for key, value in _values(name, group).items()}
    arguments: dict[str, object] = {}
    for key, value in ({} if optimizer.torch is None else optimizer.torch.arguments).items():
        names = (value,) if isinstance(value, str) else value
        found = [values.pop(each) for each in names]
        arguments[key] = found[0] if isinstance(value, str) else tuple(found)
    return {**arguments, **values, "lr": float(group.lr), "maximize": group.maximize, "n": group.n}


def optimizer_of(
    name: str, groups: Sequence[Group], tensors: Sequence[torch.nn.Parameter], **options: object
) -> torch.optim.Optimizer:
    """The optimizer without memory, its groups with the updates that they have made."""
    given = {"history": "expansion", **opaque(name), **options}
    return Memoryless(load(name), tables(name, groups, tensors), **given)


def tables(
    name: str, groups: Sequence[Group], tensors: Sequence[torch.nn.Parameter]
) -> list[dict[str, object]]:
    """The groups as constructors take them."""
    return [{**spelled(name, group), "params": [tensors[t] for t in group.tensors]} for group in groups]


def error(found: Sequence[torch.Tensor], truth: Sequence[mpf]) -> float:
    entries = torch.cat([x.detach() for x in found]).tolist()
    return float(max(abs(mpf(x) - y) for x, y in zip(entries, truth, strict=True)))


def _values(name: str, group: Group) -> dict[str, Rational]:
    defaults = {p.name: GENTLE.get(p.name, p.default) for p in load(name).parameters}
    return {**defaults, **{key: value for key, value in group.values.items() if key in defaults}}


def _literal(name: str, group: Group) -> Literal:
    sign = -1 if group.maximize else 1
    loss = Loss(tuple(replace(ridge, weight=sign * ridge.weight) for ridge in LOSS.ridges))
    functions = {function.name: _tensor_by_tensor for function in load(name).functions}
    return Literal(load(name), _values(name, group), loss, functions)


def _tensor_by_tensor(x: Sequence[mpf], *directions: Sequence[mpf]) -> tuple[mpf, ...]:
    spans = [slice(SIZE * t, SIZE * t + SIZE) for t in range(TENSORS)]
    return tuple(chain.from_iterable(_MAP(x[span], *(v[span] for v in directions)) for span in spans))


def moved_to_order(name: str, groups: Sequence[Group], order: int) -> list[mpf]:
    """theta after a step to the given order in the rates, from the one run of the true optimizer that is at THETA.

    All groups have the same n and the same values.  With rates ``tau lr_j`` the direction of that run is a power series
    in tau; its coefficients up to tau^order are found by interpolation.
    """
    n, values = groups[0].n, groups[0].values
    literal = _literal(name, replace(groups[0], values=values))
    half, exponent = order // 2 + 1, 12
    with mpmath.workdps((order + 3) * exponent + 20):
        rates = [mpf(0)] * len(THETA)
        for group in groups:
            for entry in group.entries:
                rates[entry] = mpf(group.lr.p) / group.lr.q
        delta = mpf(10) ** -exponent
        nodes = [k for k in range(-half, half + 1) if k]
        samples = [_direction_at(literal, [k * delta * rate for rate in rates], n) for k in nodes]
        weights = mpmath.matrix([[(k * delta) ** j for j in range(len(nodes))] for k in nodes]) ** -1
        found = []
        for entry, rate in enumerate(rates):
            terms = (weights[j, i] * samples[i][entry] for j in range(order + 1) for i in range(len(nodes)))
            found.append(THETA[entry] - rate * mpmath.fsum(terms))
        return found


def _direction_at(literal: Literal, rates: Sequence[mpf], n: int) -> tuple[mpf, ...]:
    """``F^(n)`` of the run with these rates that is at THETA after n steps; its start is found by a contraction."""
    start = list(THETA)
    while True:
        history = [tuple(start)]
        for _ in range(n):
            step = literal.direction(history, mpmath.mp.dps)
            history.insert(0, tuple(x - r * f for x, r, f in zip(history[0], rates, step, strict=True)))
        miss = [x - y for x, y in zip(THETA, history[0], strict=True)]
        if max(abs(x) for x in miss) < mpf(10) ** (12 - mpmath.mp.dps):
            return literal.direction(history, mpmath.mp.dps)
        start = [x + y for x, y in zip(start, miss, strict=True)]
