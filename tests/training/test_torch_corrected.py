"""The runtime optimizers with memory: PyTorch's own at strength 0, and their corrections against brute force."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Sequence
from math import log2

import pytest
import torch
from group_truth import EXTRAS, Group, closure, error, load, moved, opaque, parameters, runtime, spelled
from mpmath import mpf
from sympy import Rational
from torch import nn
from torch.nn.functional import cross_entropy
from truth import FIRST, shown_first

OTHER = {"beta": Rational(3, 5), "beta1": Rational(1, 2), "beta2": Rational(9, 10), "eps": Rational(1, 30)}
OTHER |= {"weight_decay": Rational(1, 7), "delta": Rational(1, 3), "decay": Rational(1, 9)}
CASES = {
    "two of everything": [Group((0, 2), n=4), Group((1,), lr=Rational(1, 40), n=4, values=OTHER)],
    "one joined late": [Group((0,), n=5), Group((1, 2), lr=Rational(1, 40), n=2, values=OTHER)],
    "one maximises": [Group((0, 1), n=3, values=OTHER), Group((2,), n=3, maximize=True)],
}
Optimizer = torch.optim.Optimizer


def class_of(name: str) -> type[Optimizer]:
    title = "".join(filter(str.isalnum, str(load(name).title)))
    return getattr(runtime(name), f"{title}WithMemoryCorrection")


def with_past(
    name: str, groups: Sequence[Group], tensors: Sequence[nn.Parameter], **options: object
) -> Optimizer:
    """The optimizer after the updates that the groups have made, all with the rate 0: its parameters are at THETA."""
    tables = []
    for group in groups:
        table = spelled(name, group)
        table.pop("n")
        tables.append({**table, "params": [tensors[t] for t in group.tensors]})
    made = max(group.n for group in groups)
    optimizer = None
    for passed in range(made + 1):
        for group, table in zip(groups, tables, strict=True):
            if group.n == made - passed:
                if optimizer is None:
                    optimizer = class_of(name)([{**table, "lr": 0.0}], **opaque(name), **options)
                else:
                    optimizer.add_param_group({**table, "lr": 0.0})
        if passed < made:
            optimizer.step(closure(tensors))
    for group, table in zip(optimizer.param_groups, tables, strict=True):
        group["lr"] = table["lr"]
        group.pop("_rates", None)  # the steps count as steps with this rate
    return optimizer


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", [*shown_first(FIRST), *EXTRAS])
def test_the_correction(name: str, case: str) -> None:
    """On a constant history Phi(m) is F, so that with strength 1 the step is the memoryless one, F + M."""
    groups, tensors = CASES[case], parameters()
    with_past(name, groups, tensors, strength=1.0).step(closure(tensors))
    truth = moved(name, groups)
    assert error(tensors, truth) < 1e-14
    plain, opposite = parameters(), parameters()
    with_past(name, groups, plain, strength=0.0).step(closure(plain))
    with_past(name, groups, opposite, strength=-1.0).step(closure(opposite))
    mirrored = [2 * mpf(x) - y for x, y in zip(torch.cat(plain).tolist(), truth, strict=True)]
    assert error(opposite, mirrored) < 1e-14
    if name != "gd":
        assert error(plain, truth) > 1e-8


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3)).double()


def loss_of(model: nn.Module) -> Callable[[], torch.Tensor]:
    x = torch.randn(12, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    return lambda: cross_entropy(model(x), torch.arange(12) % 3)


def flat(model: nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().reshape(-1) for p in model.parameters()])


def two_groups(model: nn.Sequential, other: dict[str, object]) -> list[dict[str, object]]:
    return [{"params": model[0].parameters()}, {"params": model[2].parameters(), "lr": 0.003, **other}]


def no_product(_points: object, _directions: object) -> None:
    raise AssertionError("a product was made")


PYTORCH = {
    "heavyball": (torch.optim.SGD, {"momentum": 0.9}, {"momentum": 0.5}),
    "nesterov": (torch.optim.SGD, {"momentum": 0.9, "nesterov": True}, {"momentum": 0.5}),
    "rmsprop-torch": (torch.optim.RMSprop, {"alpha": 0.97}, {"alpha": 0.8, "eps": 1e-3}),
    "adam-torch": (torch.optim.Adam, {}, {"betas": (0.5, 0.8), "maximize": True}),
    "adamw-torch": (torch.optim.AdamW, {"weight_decay": 0.1}, {"betas": (0.5, 0.8), "weight_decay": 0.0}),
}
"""PyTorch's optimizer, its arguments, and those of a second group."""


def both(name: str, **options: object) -> tuple[nn.Sequential, Optimizer, nn.Sequential, Optimizer]:
    """PyTorch's optimizer and ours, each with its model."""
    kind, arguments, other = PYTORCH[name]
    theirs, ours = network(), network()
    first = kind(two_groups(theirs, other), lr=0.01, **arguments)
    shared = {key: value for key, value in arguments.items() if key != "nesterov"}
    second = class_of(name)(two_groups(ours, other), lr=0.01, **shared, **options)
    return theirs, first, ours, second


def torch_steps(model: nn.Module, optimizer: Optimizer, count: int) -> None:
    for _ in range(count):
        optimizer.zero_grad()
        loss_of(model)().backward()
        optimizer.step()


def steps(model: nn.Module, optimizer: Optimizer, count: int) -> None:
    for _ in range(count):
        optimizer.step(loss_of(model))


@pytest.mark.parametrize("name", PYTORCH)
def test_strength_zero_is_pytorch(name: str) -> None:
    """Step by step, parameters and state; and no product with the Hessian is made."""
    theirs, first, ours, second = both(name, strength=0.0, hvp=no_product)
    for _ in range(20):
        torch_steps(theirs, first, 1)
        steps(ours, second, 1)
        assert float((flat(theirs) - flat(ours)).abs().max()) < 1e-12
    kept, found = first.state_dict()["state"], second.state_dict()["state"]
    for place, entry in kept.items():
        for key, value in entry.items():
            assert float((value - found[place][key]).abs().max()) < 1e-12, key


@pytest.mark.parametrize("name", PYTORCH)
def test_the_state_of_pytorch_is_taken_over(name: str) -> None:
    theirs, first, ours, second = both(name)
    torch_steps(theirs, first, 6)
    second.param_groups[1]["lr"] = 17.0
    ours.load_state_dict(theirs.state_dict())
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    for _ in range(6):
        torch_steps(theirs, first, 1)
        steps(ours, second, 1)
    assert float((flat(theirs) - flat(ours)).abs().max()) < 1e-12
    assert second.param_groups[1]["strength"] == 0


@pytest.mark.parametrize("name", ["adamw-torch", "rmsprop-torch"])
def test_a_correction_goes_on_from_the_state_of_pytorch(name: str) -> None:
    """PyTorch's ``step`` is the n of the correction."""
    theirs, first, ours, second = both(name)
    torch_steps(theirs, first, 6)
    steps(ours, second, 6)
    third = class_of(name)(two_groups(theirs, {}), strength=-1.0)
    third.load_state_dict(first.state_dict())
    for group in second.param_groups:
        group["strength"] = -1.0
    steps(theirs, third, 4)
    steps(ours, second, 4)
    assert float((flat(theirs) - flat(ours)).abs().max()) < 1e-12


def test_without_a_count_the_limit_is_taken() -> None:
    """PyTorch's SGD does not count its steps."""
    theirs, first, ours, second = both("heavyball")
    torch_steps(theirs, first, 300)
    steps(ours, second, 300)
    third = class_of("heavyball")(two_groups(theirs, {}), strength=-1.0)
    third.load_state_dict(first.state_dict())
    for group in second.param_groups:
        group["strength"] = -1.0
    steps(theirs, third, 3)
    steps(ours, second, 3)
    assert float((flat(theirs) - flat(ours)).abs().max()) < 1e-12


@pytest.mark.parametrize(
    ("name", "kind", "options", "words"),
    [
        ("heavyball", torch.optim.SGD, {"momentum": 0.9, "nesterov": True}, "nesterov = True"),
        ("nesterov", torch.optim.SGD, {"momentum": 0.9}, "nesterov = False"),
        ("heavyball", torch.optim.SGD, {"momentum": 0.9, "weight_decay": 0.1}, "weight_decay = 0.1"),
        ("adam", torch.optim.Adam, {"amsgrad": True}, "amsgrad = True"),
        ("adamw", torch.optim.Adam, {"weight_decay": 0.1}, "decoupled_weight_decay = False"),
        ("rmsprop", torch.optim.RMSprop, {"centered": True}, "centered = True"),
        ("rmsprop", torch.optim.Adam, {}, "no alpha"),
    ],
)
def test_other_optimizers_are_refused(
    name: str, kind: type[Optimizer], options: dict[str, object], words: str
) -> None:
    model = network()
    made = class_of(name)(model.parameters())
    before = copy.deepcopy(made.state_dict())
    with pytest.raises(ValueError, match=words):
        made.load_state_dict(kind(model.parameters(), **options).state_dict())
    assert made.state_dict() == before


@pytest.mark.parametrize("way", ["state_dict", "pickle", "deepcopy"])
def test_interrupted_training_goes_on(way: str) -> None:
    options = {"lr": 0.01, "strength": -0.5, "every": 3, "target": {"beta2": 0.9}}
    model = network()
    optimizer = class_of("adamw")(two_groups(model, {"betas": (0.8, 0.95)}), **options)
    steps(model, optimizer, 4)
    if way == "state_dict":
        twin = network()
        twin.load_state_dict(model.state_dict())
        again = class_of("adamw")(two_groups(twin, {}))
        again.load_state_dict(pickle.loads(pickle.dumps(optimizer.state_dict())))
    elif way == "pickle":
        twin, again = pickle.loads(pickle.dumps((model, optimizer)))
    else:
        twin, again = copy.deepcopy((model, optimizer))
    for each, its in ((model, optimizer), (twin, again)):
        steps(each, its, 5)
    assert torch.equal(flat(model), flat(twin))


ORDER = [
    ("heavyball", {"momentum": 0.6}),
    ("nesterov", {"momentum": 0.6}),
    ("rmsprop", {"alpha": 0.5, "eps": 0.02}),
    ("adamw", {"betas": (0.5, 0.7), "eps": 0.02}),
    ("lion", {"beta1": 0.4, "beta2": 0.5, "eps": 0.05}),
]
Make = Callable[..., Optimizer]


def orders(reference: Make, *others: Make) -> list[float]:
    """The orders in lr of the distances to a reference after a fixed time, fitted to two rates."""
    distances = []
    for lr in (1 / 100, 1 / 200):
        ends = []
        for make in (reference, *others):
            torch.manual_seed(0)
            model = nn.Linear(5, 3).double()
            steps(model, make(model.parameters(), lr=lr), round(0.5 / lr))
            ends.append(flat(model))
        distances.append([float((end - ends[0]).norm()) for end in ends[1:]])
    return [log2(first / second) for first, second in zip(*distances, strict=True)]


@pytest.mark.parametrize(("name", "options"), ORDER, ids=[name for name, _ in ORDER])
def test_strength_minus_one_takes_memory_away(name: str, options: dict[str, object]) -> None:
    """Against the memoryless iteration without correction: order 2, and 1 for the optimizer itself."""

    def made(strength: float) -> Make:
        return lambda p, lr: class_of(name)(p, lr=lr, strength=strength, **options)

    def memoryless(p: object, lr: float) -> Optimizer:
        kind = getattr(runtime(name), f"Memoryless{load(name).title}")
        return kind(p, lr=lr, hvp=lambda _, directions: [0 * v for v in directions], **options)

    assert orders(memoryless, made(-1.0), made(0.0)) == pytest.approx([2, 1], abs=0.15)


@pytest.mark.parametrize(
    ("name", "options", "target"),
    [
        ("adamw", {"betas": (0.5, 0.7), "eps": 0.02}, {"beta2": 0.3}),
        ("adamw", {"betas": (0.5, 0.7), "eps": 0.02}, {"beta1": 0.2, "beta2": 0.6}),
        ("lion-bc", {"beta1": 0.4, "beta2": 0.6, "eps": 0.05}, {"beta1": 0.2}),
    ],
)
def test_target(name: str, options: dict[str, object], target: dict[str, float]) -> None:
    """With the memory of the target: order 2 against the optimizer with these values, and 1 without."""
    changed = dict(options)
    if "betas" in options:
        own = dict(zip(("beta1", "beta2"), options["betas"], strict=True))
        changed["betas"] = tuple({**own, **target}.values())
    else:
        changed |= target

    def made(values: dict[str, object], **more: object) -> Make:
        return lambda p, lr: class_of(name)(p, lr=lr, **values, **more)

    found = orders(made(changed), made(options, target=target), made(options))
    assert found == pytest.approx([2, 1], abs=0.15)


def test_target_of_one_group() -> None:
    """The other group keeps its memory: brute force on a constant history, of both corrections."""
    groups = [Group((0, 2), n=4), Group((1,), lr=Rational(1, 40), n=4, values=OTHER)]
    aimed = [Group((0, 2), n=4, values={"beta2": Rational(2, 5)}), groups[1]]
    tensors = parameters()
    optimizer = with_past("adamw", groups, tensors)
    optimizer.param_groups[0].update(strength=1.0, target={"beta2": 0.4})
    optimizer.step(closure(tensors))
    # F does not depend on beta2, so that the two differ by M alone.
    own, other = moved("adamw", groups), moved("adamw", aimed)
    plain = parameters()
    with_past("adamw", groups, plain).step(closure(plain))
    start = torch.cat(plain).tolist()
    triples = zip(start, own, other, strict=True)
    truth = [mpf(x) + (b - a if place // 3 != 1 else 0) for place, (x, a, b) in enumerate(triples)]
    assert error(tensors, truth) < 1e-14


def test_every() -> None:
    """Every third step, three times as large: the same sum, and a third of the products."""
    sums, counts = [], []
    for every in (1, 3):
        tensors, count = parameters(), []

        def hvp(points: list[torch.Tensor], directions: list[torch.Tensor]) -> list[torch.Tensor]:
            count.append(optimizer.param_groups[0]["n"])  # noqa: B023  # used before the loop goes on
            with torch.enable_grad():
                first = torch.autograd.grad(closure(tensors)(), points, create_graph=True)  # noqa: B023
                return list(torch.autograd.grad(first, points, directions))

        optimizer = with_past(
            "adamw", [Group((0, 1, 2), lr=Rational(1, 10**5), n=3)], tensors, limit=True, hvp=hvp
        )
        optimizer.param_groups[0].update(strength=2.0, every=every)
        twins = parameters()
        plain = with_past("adamw", [Group((0, 1, 2), lr=Rational(1, 10**5), n=3)], twins)
        for _ in range(6):
            optimizer.step(closure(tensors))
            plain.step(closure(twins))
        sums.append((torch.cat(tensors) - torch.cat(twins)).detach())
        counts.append(count)
    assert counts == [[3, 4, 5, 6, 7, 8], [5, 8]]
    assert float((sums[1] - sums[0]).norm()) < 0.01 * float(sums[0].norm())


@pytest.mark.parametrize(("dtype", "unit"), [(torch.float32, 2.0**-23), (torch.bfloat16, 2.0**-8)])
def test_low_precision(dtype: torch.dtype, unit: float) -> None:
    tensors, precise = parameters(dtype), [nn.Parameter(x.to(dtype).double()) for x in parameters()]
    start = torch.cat(precise).detach()
    for each in (tensors, precise):
        optimizer = with_past("adamw", [Group((0, 1, 2), n=3)], each, strength=1.0)
        optimizer.step(closure(each))
        state = optimizer.state[each[0]]
        assert [state[key].dtype for key in ("exp_avg", "exp_avg_sq")] == [each[0].dtype] * 2
    assert all(x.dtype == dtype for x in tensors)
    found, truth = torch.cat([x.detach().double() for x in tensors]), torch.cat(precise).detach()
    assert float((found - truth).abs().max()) < 4 * unit * float(
        (truth - start).abs().max() + start.abs().max()
    )


def test_large_tensors_go_in_blocks() -> None:
    torch.manual_seed(0)
    start = torch.randn(700, 500, dtype=torch.float64)
    whole, turned = nn.Parameter(start.clone()), nn.Parameter(start.t().contiguous().t())
    for tensor in (whole, turned):
        optimizer = class_of("adamw")([tensor], lr=0.1, eps=0.1, strength=-1.0)
        for _ in range(3):
            optimizer.step(lambda tensor=tensor: tensor.sin().square().sum() + tensor.sum().square() / 1e3)
    assert torch.allclose(whole, turned, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("heavyball", {"target": {"beta": 0.5}}, "F depends on beta, and not memory alone$"),
        ("rmsprop", {"target": {"beta": 0.5}}, "F depends on beta, and not memory alone; with limit=True"),
        ("adamw", {"target": {"eps": 0.5}}, "F depends on eps"),
        ("adamw", {"target": {"beta3": 0.5}}, "beta3: not a parameter; known are beta1, beta2, eps"),
        ("adamw", {"target": {"beta2": 1.5}}, "beta2 = 1.5 is outside"),
        ("adamw", {"every": 0}, "every = 0"),
        ("adamw", {"strength": float("nan")}, "strength = nan"),
    ],
)
def test_refusals(name: str, options: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        class_of(name)(network().parameters(), **options)


def test_strength_is_one_where_a_target_is_given() -> None:
    model = network()
    optimizer = class_of("adamw")(two_groups(model, {"target": {"beta2": 0.95}}))
    assert [group["strength"] for group in optimizer.param_groups] == [0.0, 1.0]
