"""The runtime PyTorch optimizers as PyTorch's users meet them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from math import log2

import pytest
import torch
from group_truth import Group, closure, error, moved, optimizer_of, parameters, runtime, spelled
from sympy import Rational
from torch import nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

METHODS = ("double-backward", "forward-over-reverse", "central-difference", "forward-difference")
OTHER = {"beta": Rational(3, 5), "beta1": Rational(1, 2), "beta2": Rational(9, 10)}


def network(dropout: float = 0.0) -> nn.Sequential:
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Dropout(dropout), nn.Linear(7, 3))
    return layers.double()


def data() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(12, 5, generator=generator, dtype=torch.float64)
    return x, torch.arange(12) % 3


def loss_of(model: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[], torch.Tensor]:
    x, y = data()
    return lambda: cross_entropy(model(x), y)


def flat(model: nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().reshape(-1) for p in model.parameters()])


def adamw(model: nn.Module, **options: object) -> torch.optim.Optimizer:
    return runtime("adamw").MemorylessAdamW(model.parameters(), lr=0.01, eps=1e-3, **options)


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_the_methods_agree(dropout: float) -> None:
    """Also with dropout: a second evaluation sees the same random numbers, and those after it go on as they would."""
    found, numbers = [], []
    for method in METHODS:
        model = network(dropout)
        optimizer = adamw(model, hvp=method)
        torch.manual_seed(5)
        for _ in range(4):
            optimizer.step(loss_of(model))
        found.append(flat(model))
        numbers.append(float(torch.rand(())))
    assert torch.allclose(found[1], found[0], rtol=0, atol=1e-13)
    assert torch.allclose(found[2], found[0], rtol=0, atol=1e-9)
    assert torch.allclose(found[3], found[0], rtol=0, atol=1e-7)
    assert len(set(numbers)) == 1
    plain = network(dropout)
    torch.manual_seed(5)
    optimizer = adamw(plain, hvp=lambda points, directions: [0 * v for v in directions])
    for _ in range(4):
        optimizer.step(loss_of(plain))
    assert float((flat(plain) - found[0]).abs().max()) > 1e-5


@pytest.mark.parametrize("options", [{"max_norm": 0.05}, {"maximize": True}, {"history": "expansion"}])
def test_one_gradient_more_is_enough(options: dict[str, object]) -> None:
    """Whatever becomes of the gradient meanwhile: the difference is that of the loss's own."""
    found = []
    for method in ("double-backward", "forward-difference", lambda _, vs: [0 * v for v in vs]):
        model = network()
        optimizer = adamw(model, hvp=method, **options)
        for _ in range(3):
            optimizer.step(loss_of(model))
        found.append(flat(model))
    assert torch.allclose(found[1], found[0], rtol=0, atol=1e-7)
    assert not torch.allclose(found[2], found[0], rtol=0, atol=1e-5)


def test_a_product_from_outside() -> None:
    model, twin = network(), network()
    seen = []

    def hvp(points: list[torch.Tensor], directions: list[torch.Tensor]) -> list[torch.Tensor]:
        seen.append([p.shape for p in points] == [v.shape for v in directions])
        with torch.enable_grad():
            first = torch.autograd.grad(loss_of(model)(), points, create_graph=True)
            return list(torch.autograd.grad(first, points, directions))

    optimizer, reference = adamw(model, hvp=hvp), adamw(twin)
    for _ in range(3):
        optimizer.step(loss_of(model))
        reference.step(loss_of(twin))
    assert torch.allclose(flat(model), flat(twin), rtol=0, atol=1e-15)
    assert seen == [True, True]  # the first step remembers nothing


@pytest.mark.parametrize(
    ("name", "late", "products"),
    [
        ("adamw", 0, 1),
        ("nadamw", 0, 1),
        ("lion-bc", 0, 1),
        ("lion", 0, 2),
        ("heavyball", 0, 2),
        ("adamw", 3, 3),
    ],
)
def test_as_few_products_as_the_groups_need(name: str, late: int, products: int) -> None:
    """Groups with different betas share one product where bias correction makes F independent of the step."""
    tensors, count = parameters(), [0]

    def hvp(points: list[torch.Tensor], directions: list[torch.Tensor]) -> list[torch.Tensor]:
        count[0] += 1
        with torch.enable_grad():
            first = torch.autograd.grad(closure(tensors)(), points, create_graph=True)
            return list(torch.autograd.grad(first, points, directions))

    groups = [Group((0, 2), n=6), Group((1,), lr=Rational(1, 40), n=6 - late, values=OTHER)]
    optimizer_of(name, groups, tensors, hvp=hvp).step(closure(tensors))
    assert count == [products]
    assert error(tensors, moved(name, groups)) < 1e-14


@pytest.mark.parametrize("name", ["lion", "adamw", "nadamw"])
def test_one_product_for_one_group(name: str) -> None:
    tensors, count = parameters(), [0]

    def hvp(_: object, directions: list[torch.Tensor]) -> list[torch.Tensor]:
        count[0] += 1
        return directions

    optimizer_of(name, [Group((0, 1, 2), n=5)], tensors, hvp=hvp).step(closure(tensors))
    assert count == [1]


@pytest.mark.parametrize("name", ["adamw", "heavyball", "rmsprop", "lion", "lion-k"])
def test_the_limit_is_what_many_steps_come_to(name: str) -> None:
    tensors, values = parameters(), {"beta": Rational(1, 2), "beta1": Rational(1, 3), "beta2": Rational(1, 2)}
    groups = [Group((0, 2), n=90, values=values), Group((1,), lr=Rational(1, 40), n=90)]
    groups[1].values.update({"beta": Rational(2, 5), "beta2": Rational(2, 5)})
    optimizer_of(name, groups, tensors, limit=True).step(closure(tensors))
    assert error(tensors, moved(name, groups)) < 1e-14


def test_a_long_past() -> None:
    """After many steps the sum over the past is cut off, and its oldest steps are one term."""
    model, twin = network(), network()
    made = runtime("rmsprop").MemorylessRMSprop
    optimizer = made(model.parameters(), lr=0.01, alpha=0.9, eps=1e-3)
    optimizer.param_groups[0]["n"] = 100_000
    optimizer.step(loss_of(model))
    made(twin.parameters(), lr=0.01, alpha=0.9, eps=1e-3, limit=True).step(loss_of(twin))
    assert torch.allclose(flat(model), flat(twin), rtol=0, atol=1e-15)


@pytest.mark.parametrize(("dtype", "unit"), [(torch.float32, 2.0**-23), (torch.bfloat16, 2.0**-8)])
@pytest.mark.parametrize("name", ["adamw", "heavyball", "rmsprop", "lion", "lion-k"])
def test_low_precision(name: str, dtype: torch.dtype, unit: float) -> None:
    """The step from the rounded point, up to the rounding of the loss's derivatives and of the result."""
    groups = [Group((0, 2), n=3), Group((1,), lr=Rational(1, 40), n=3, values=OTHER)]
    tensors = parameters(dtype)
    optimizer_of(name, groups, tensors).step(closure(tensors))
    assert all(x.dtype == dtype for x in tensors)
    precise = [nn.Parameter(x.to(dtype).double()) for x in parameters()]
    optimizer_of(name, groups, precise).step(closure(precise))
    start = torch.cat([x.to(dtype).double() for x in parameters()]).detach()
    found, truth = torch.cat([x.double() for x in tensors]), torch.cat(precise)
    assert float((found - truth).abs().max()) < 4 * unit * float(
        (truth - start).abs().max() + start.abs().max()
    )


def test_schedulers_and_the_present_rate() -> None:
    tensors = parameters()
    optimizer = optimizer_of("adamw", [Group((0, 1, 2), lr=Rational(1, 10), n=3)], tensors)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
    scheduler.step()
    optimizer.step(closure(tensors))
    assert error(tensors, moved("adamw", [Group((0, 1, 2), lr=Rational(1, 20), n=3)])) < 1e-14


def test_what_has_no_gradient_stays() -> None:
    """Frozen parameters, and parameters that the loss does not use; also weight decay leaves them alone."""
    tensors = parameters()
    tensors[1].requires_grad_(False)
    unused = nn.Parameter(torch.ones(2, dtype=torch.float64))
    optimizer = optimizer_of("adamw", [Group((0, 1, 2), n=4)], tensors)
    optimizer.add_param_group({"params": [unused], "lr": 1.0})
    optimizer.step(closure(tensors))
    truth = moved("adamw", [Group((0, 2), n=4)])
    assert error(tensors, truth) < 1e-14
    assert unused.tolist() == [1.0, 1.0]
    assert optimizer.param_groups[1]["n"] == 0


def test_tied_weights() -> None:
    tied = nn.Parameter(torch.tensor([0.3, -0.4], dtype=torch.float64))
    apart = nn.Parameter(tied.detach().clone())
    made = runtime("adamw").MemorylessAdamW
    model = nn.ParameterList([tied, tied])
    one, other = made(model.parameters(), lr=0.1, eps=1e-2), made([apart], lr=0.1, eps=1e-2)
    for _ in range(4):
        one.step(lambda: (model[0] * model[1]).square().sum() + model[0].sin().sum())
        other.step(lambda: (apart * apart).square().sum() + apart.sin().sum())
    assert torch.equal(tied, apart)


def test_layouts_and_sizes() -> None:
    """Large tensors go block by block; a tensor that is not contiguous gives the same."""
    torch.manual_seed(0)
    start = torch.randn(600, 500, dtype=torch.float64)
    made = runtime("adamw").MemorylessAdamW
    whole = nn.Parameter(start.clone())
    turned = nn.Parameter(start.t().contiguous().t())
    rows = [nn.Parameter(row.clone()) for row in start]
    weights = torch.randn(500, dtype=torch.float64) / 500
    for tensors, product in (
        ([whole], lambda: whole @ weights),
        ([turned], lambda: turned @ weights),
        (rows, lambda: torch.stack([row @ weights for row in rows])),
    ):
        optimizer = made(tensors, lr=0.1, eps=1e-4)
        for _ in range(2):
            optimizer.step(lambda product=product: product().tanh().square().sum())
    assert whole.numel() > runtime("adamw").BLOCK
    assert torch.allclose(turned, whole, rtol=0, atol=1e-12)
    assert torch.allclose(torch.stack(rows), whole, rtol=0, atol=1e-12)


@pytest.mark.parametrize("way", ["state_dict", "deepcopy", "pickle"])
def test_interrupted_training_goes_on(way: str) -> None:
    def groups(model: nn.Sequential) -> list[dict[str, object]]:
        return [
            {"params": model[0].parameters(), "lr": 0.3},
            {"params": model[3].parameters(), "momentum": 0.5},
        ]

    made = runtime("heavyball").MemorylessHeavyBall
    model = network()
    optimizer = made(groups(model), lr=0.1, hvp="forward-over-reverse")
    for _ in range(3):
        optimizer.step(loss_of(model))
    if way == "state_dict":
        again = network()
        again.load_state_dict(model.state_dict())
        other = made(groups(again), hvp="forward-over-reverse")
        other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    elif way == "deepcopy":
        again, other = copy.deepcopy((model, optimizer))
    else:
        again, other = pickle.loads(pickle.dumps((model, optimizer)))
    assert other.hvp == "forward-over-reverse"
    for _ in range(2):
        optimizer.step(loss_of(model))
        other.step(loss_of(again))
    assert torch.equal(flat(model), flat(again))
    assert [group["n"] for group in other.param_groups] == [5, 5]


def attention() -> tuple[nn.Module, Callable[[], torch.Tensor]]:
    torch.manual_seed(0)
    model, x = nn.Linear(8, 24), torch.randn(2, 6, 8)

    def loss() -> torch.Tensor:
        q, k, v = model(x).reshape(2, 6, 3, 2, 4).permute(2, 0, 3, 1, 4)
        return scaled_dot_product_attention(q, k, v).square().sum()

    return model, loss


@pytest.mark.parametrize("method", METHODS[:2])
def test_fused_attention_is_refused_and_the_ways_out_work(method: str) -> None:
    model, loss = attention()
    optimizer = adamw(model, hvp=method)
    before = flat(model)
    with pytest.raises(
        RuntimeError, match=r"cannot be differentiated twice.*central-difference.*sdpa_kernel"
    ):
        optimizer.step(loss)
    assert torch.equal(flat(model), before)

    def plain() -> torch.Tensor:
        with nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH):
            return loss()

    optimizer.step(plain)
    twin = copy.deepcopy(model)
    reference = adamw(twin, hvp="central-difference")
    reference.load_state_dict(optimizer.state_dict())
    optimizer.step(plain)
    first = flat(model)
    with torch.no_grad():
        torch.nn.utils.vector_to_parameters(flat(twin), model.parameters())
    optimizer.param_groups[0]["n"] = 1
    optimizer.hvp = "central-difference"
    optimizer.step(loss)
    assert torch.allclose(first, flat(model), rtol=0, atol=1e-5)


@pytest.mark.parametrize("method", METHODS[:2])
def test_a_compiled_model_is_refused_and_differences_work(method: str) -> None:
    model = network()
    compiled = torch.compile(model, backend="aot_eager")
    optimizer = adamw(model, hvp=method)
    before = flat(model)
    with pytest.raises(RuntimeError, match=r"cannot be differentiated twice.*before torch\.compile"):
        optimizer.step(loss_of(compiled))
    assert torch.equal(flat(model), before)
    assert optimizer.param_groups[0]["n"] == 0
    optimizer.step(loss_of(model))
    twin = copy.deepcopy(model)
    reference = adamw(twin)
    reference.load_state_dict(optimizer.state_dict())
    optimizer.hvp = "central-difference"
    optimizer.step(loss_of(compiled))
    reference.step(loss_of(twin))
    assert torch.allclose(flat(model), flat(twin), rtol=0, atol=1e-9)


class OnceOnly(torch.autograd.Function):
    @staticmethod
    def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: object, g: torch.Tensor) -> torch.Tensor:
        return g * ctx.saved_tensors[0].cos()


def test_a_function_marked_once_differentiable_is_refused() -> None:
    """Autograd itself would leave out its part without a word."""
    model = network()
    optimizer = adamw(model)
    x, y = data()

    def loss() -> torch.Tensor:
        return cross_entropy(OnceOnly.apply(model[0](x)) @ model[3].weight.t(), y)

    with pytest.raises(RuntimeError, match=r"once_differentiable.*central-difference"):
        optimizer.step(loss)


def test_checkpoints() -> None:
    x, y = data()
    found = []
    for method in ("double-backward", "central-difference", None):
        model = network()
        optimizer = adamw(model, hvp=method or "double-backward")
        run = model if method is None else lambda z, model=model: checkpoint(model, z, use_reentrant=False)
        for _ in range(3):
            optimizer.step(lambda run=run: cross_entropy(run(x), y))
        found.append(flat(model))
    assert all(torch.allclose(each, found[-1], rtol=0, atol=1e-9) for each in found)
    optimizer.hvp = "forward-over-reverse"
    with pytest.raises(RuntimeError, match=r"checkpoints need .*double-backward"):
        optimizer.step(lambda: cross_entropy(checkpoint(model, x, use_reentrant=False), y))
    model = network()
    inside = x.clone().requires_grad_()
    with pytest.raises(RuntimeError, match="use_reentrant=False"):
        adamw(model).step(lambda: cross_entropy(checkpoint(model, inside, use_reentrant=True), y))


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (lambda model: loss_of(model)().detach(), "return the loss with its graph"),
        (lambda model: 1.0, "return the loss with its graph"),
        (lambda model: [loss := loss_of(model)(), loss.backward()][0], "must not call backward"),
    ],
)
def test_closures_that_cannot_serve(loss: Callable[[nn.Module], object], words: str) -> None:
    model = network()
    with pytest.raises(RuntimeError, match=words):
        adamw(model).step(lambda: loss(model))


def test_torchscript_cannot_be_given_dual_numbers() -> None:
    with pytest.warns(DeprecationWarning, match="torch.jit.script"):
        model = torch.jit.script(network())
    optimizer = adamw(model, hvp="forward-over-reverse")
    with pytest.raises(RuntimeError, match=r"cannot be replaced.*double-backward"):
        optimizer.step(loss_of(model))


def test_refused_parameters_and_arguments() -> None:
    made = runtime("adamw").MemorylessAdamW
    with pytest.raises(TypeError, match="real numbers"):
        made([nn.Parameter(torch.zeros(2, dtype=torch.complex64))])
    sparse = nn.Embedding(4, 2, sparse=True)
    with pytest.raises(RuntimeError, match="sparse=False"):
        made(sparse.parameters()).step(lambda: sparse(torch.tensor([0, 1])).square().sum())
    model = network()
    with pytest.raises(ValueError, match=r"beta2 = 1\.5 is outside \[0, 1\)"):
        made(model.parameters(), betas=(0.9, 1.5))
    with pytest.raises(ValueError, match="lr"):
        made(model.parameters(), lr=-1.0)
    with pytest.raises(ValueError, match=r"'newton'.*double-backward"):
        made(model.parameters(), hvp="newton")
    with pytest.raises(ValueError, match="closure"):
        made(model.parameters()).step(None)
    optimizer = made(model[0].parameters())
    with pytest.raises(ValueError, match="eps"):
        optimizer.add_param_group({"params": model[3].parameters(), "eps": 0.0})
    assert len(optimizer.param_groups) == 1


def test_a_failed_difference_restores_the_parameters() -> None:
    model, calls = network(), [0]
    optimizer = adamw(model, hvp="central-difference")
    optimizer.step(loss_of(model))
    before = flat(model)

    def loss() -> torch.Tensor:
        calls[0] += 1
        if calls[0] == 3:
            raise KeyError("lost")
        return loss_of(model)()

    with pytest.raises(KeyError):
        optimizer.step(loss)
    assert torch.equal(flat(model), before)
    half = nn.Linear(3, 1).bfloat16()
    optimizer = adamw(half, hvp="central-difference")
    optimizer.step(lambda: half(torch.ones(1, 3, dtype=torch.bfloat16)).square().sum())
    with pytest.raises(RuntimeError, match="float32 or float64"):
        optimizer.step(lambda: half(torch.ones(1, 3, dtype=torch.bfloat16)).square().sum())


@pytest.mark.parametrize(
    ("name", "true"),
    [
        ("heavyball", lambda p, lr: torch.optim.SGD(p, lr=lr, momentum=0.8)),
        ("nesterov", lambda p, lr: torch.optim.SGD(p, lr=lr, momentum=0.8, nesterov=True)),
        (
            "adamw-torch",
            lambda p, lr: torch.optim.AdamW(p, lr=lr, betas=(0.7, 0.85), eps=0.02, weight_decay=0.3),
        ),
        ("rmsprop-torch", lambda p, lr: torch.optim.RMSprop(p, lr=lr, alpha=0.5, eps=0.02)),
    ],
)
def test_training_beside_the_true_optimizer(name: str, true: Callable[..., torch.optim.Optimizer]) -> None:
    """The distance to PyTorch's own optimizer over a fixed time is O(h^2); without the correction it is O(h)."""
    change: dict[bool, list[float]] = {True: [], False: []}
    for rate in (1 / 400, 1 / 800):
        for corrected, distances in change.items():
            original, twin = network(), network()
            one = true(original.parameters(), rate)
            options = {} if corrected else {"hvp": lambda _, directions: [0 * v for v in directions]}
            values = spelled(name, Group((0,), values={"beta": Rational(1, 2)} if "rms" in name else {}))
            kind = next(made for key, made in vars(runtime(name)).items() if key.startswith("Memoryless"))
            other = kind([{**values, "lr": rate, "params": list(twin.parameters())}], **options)
            for _ in range(round(0.4 / rate)):
                one.zero_grad()
                loss_of(original)().backward()
                one.step()
                other.step(loss_of(twin))
            distances.append(float((flat(original) - flat(twin)).norm()))
    orders = {corrected: log2(first / second) for corrected, (first, second) in change.items()}
    assert orders[True] == pytest.approx(2, abs=0.15)
    assert orders[False] == pytest.approx(1, abs=0.15)
