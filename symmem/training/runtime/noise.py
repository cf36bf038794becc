"""The noise of mini-batches in a running training, as numbers for a logger (mathematics.md section 7).

With lr F_xi and lr M_xi what noise adds to the mean update by itself and through memory, after many steps and to second
order in the noise, each over all parameters, and V the variance of the gradient of one batch,

noise_norm                 |lr F_xi|; 0 where the update is linear in the gradient
noise_ratio                |lr F_xi| / |U|, U the update that the optimizer would make now
noise_correction_norm      |lr M_xi|
noise_correction_ratio     |lr M_xi| / |U|
noise_to_gradient          sum_i V_i / |grad|^2
share_noisy                the share of the entries with V > grad^2: where Phi is curved, they are out of its range

The averages are those over the given batches, made to estimate the covariance without bias.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .formulas import FirstOrder
from .probe import left_alone
from .probed import Probed
from .products import check_hooks
from .refusals import check_twice, without_hooks
from .sharding import is_sharded
from .vectors import Closure


@dataclass(frozen=True)
class Noise:
    """The formulas of an optimizer, and ``noise_memoryless`` and ``noise_correction`` of its emitted module."""

    formulas: FirstOrder
    memoryless: Callable[..., Tensor]
    correction: Callable[..., Tensor]


@dataclass(frozen=True)
class Sample:
    """Closures, each with the loss of one batch, and how many an epoch has without replacement."""

    batches: Sequence[Closure]
    epoch: int | None


def with_noise(
    found: Probed,
    noise: Noise,
    sample: Sample,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
) -> Probed:
    """A probe with the numbers of noise, or the reason why there are none."""
    with left_alone(model, optimizer):
        reason = _reason(noise.formulas, optimizer, sample.batches, sample.epoch)
        return found.with_noise(reason or _numbers(noise, sample, optimizer, found["update_norm"]))


def _numbers(
    noise: Noise, sample: Sample, optimizer: torch.optim.Optimizer, update_norm: float
) -> dict[str, float] | str:
    formulas, batches, epoch = noise.formulas, sample.batches, sample.epoch
    group = optimizer.param_groups[0]
    parameters = [p for each in optimizer.param_groups for p in each["params"] if p.requires_grad]
    sign = -1.0 if group.get("maximize", False) else 1.0
    rows = _Rows(parameters, batches, sign)
    given = dict(zip(formulas.parameters, map(float, formulas.values(group)), strict=True))
    theta = _flat([p.detach() for p in parameters])
    scale = _unbiased(len(batches), epoch)
    frozen = scale * noise.memoryless(theta, rows.grads, batches=epoch, **given)
    lr = float(group["lr"])
    memory = scale * noise.correction(theta, rows.grads, rows.hvps, lr=lr, batches=epoch, **given)
    if not (frozen.isfinite().all() and memory.isfinite().all()):
        return "the gradient has entries that are 0, where the update is not smooth"
    sizes = {"noise": lr * float(frozen.norm()), "noise_correction": lr * float(memory.norm())}
    found = {f"{name}_norm": size for name, size in sizes.items()}
    found |= {f"{name}_ratio": size / update_norm for name, size in sizes.items() if update_norm > 0}
    mean, variance = rows.grads(theta).mean(dim=0), scale * rows.grads(theta).var(dim=0, unbiased=False)
    found["noise_to_gradient"] = float(variance.sum() / (mean**2).sum())
    found["share_noisy"] = float((variance > mean**2).double().mean())
    return found


def _reason(
    formulas: FirstOrder,
    optimizer: torch.optim.Optimizer,
    batches: Sequence[Closure],
    epoch: int | None,
) -> str:
    """Why there are no numbers; empty where there are."""
    groups = optimizer.param_groups
    if len(batches) < 2:
        return "noise needs the losses of two batches or more"
    if epoch is not None and epoch < len(batches):
        return f"an epoch of {epoch} batches has no {len(batches)} different ones"
    settings = {
        (float(group["lr"]), group.get("maximize", False), *map(float, formulas.values(group)))
        for group in groups
    }
    if len(settings) > 1:
        return "the groups are not alike"
    if any(is_sharded(p) for group in groups for p in group["params"]):
        return "the parameters are sharded: noise is known for one process"
    return ""


def _unbiased(count: int, epoch: int | None) -> float:
    """The variance of a batch over the mean square of ``count`` of them about their own mean."""
    return count / (count - 1) * (1.0 if epoch is None else (epoch - 1) / epoch)


def _flat(tensors: Sequence[Tensor]) -> Tensor:
    return torch.cat([each.reshape(-1) for each in tensors])


class _Rows:
    """The gradients of all batches and the products with their Hessians, by double backward."""

    def __init__(self, parameters: Sequence[Tensor], batches: Sequence[Closure], sign: float) -> None:
        self._parameters = list(parameters)
        check_hooks(self._parameters, "double-backward")
        with torch.enable_grad():
            self._gradients = [self._gradient(sign * without_hooks(closure)()) for closure in batches]
        check_twice(self._gradients)
        self._rows = torch.stack([each.detach() for each in self._gradients])

    def _gradient(self, loss: Tensor) -> Tensor:
        gradient = torch.autograd.grad
        return _flat(
            gradient(loss, self._parameters, create_graph=True, allow_unused=True, materialize_grads=True)
        )

    def grads(self, _theta: Tensor) -> Tensor:
        """A row for each batch."""
        return self._rows

    def hvps(self, _theta: Tensor, rows: Tensor) -> Tensor:
        """The Hessian of each batch times its row."""
        return torch.stack([self._product(*pair) for pair in zip(self._gradients, rows, strict=True)])

    def _product(self, gradient: Tensor, row: Tensor) -> Tensor:
        if not gradient.requires_grad:
            return torch.zeros_like(row)
        known = {"retain_graph": True, "allow_unused": True, "materialize_grads": True}
        return _flat(torch.autograd.grad([gradient], self._parameters, [row], **known))
