"""The random numbers of torch: a closure that is evaluated again sees the same."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

States = dict[torch.device, Tensor]


def random_states(parameters: Sequence[Tensor]) -> States:
    """The state of the CPU, and of every CUDA device that holds a parameter."""
    states = {torch.device("cpu"): torch.get_rng_state()}
    for device in {p.device for p in parameters if p.is_cuda}:
        states[device] = torch.cuda.get_rng_state(device)
    return states


def set_random_states(states: States) -> None:
    """Puts the generators back where ``random_states`` found them."""
    for device, state in states.items():
        if device.type == "cuda":
            torch.cuda.set_rng_state(state, device)
        else:
            torch.set_rng_state(state)
