"""Lion (Chen et al. 2023) as it is published, for weights that are stacked or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch


class Lion(torch.optim.Optimizer):
    """``theta <- theta - lr (sign(rho1 m + (1 - rho1) g) + weight_decay theta)``, ``m <- rho2 m + (1 - rho2) g``."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        assert closure is None, "this Lion reads .grad"
        for group in self.param_groups:
            rho1, rho2 = group["betas"]
            for parameter in group["params"]:
                gradient = parameter.grad
                momentum = self.state[parameter].setdefault("exp_avg", torch.zeros_like(parameter))
                direction = torch.lerp(gradient, momentum, rho1).sign_()
                parameter.mul_(1 - group["lr"] * group["weight_decay"]).sub_(direction, alpha=group["lr"])
                momentum.lerp_(gradient, 1 - rho2)
