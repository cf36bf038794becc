"""The optimizers of the runtime by the name of an optimizer: the door that derives, where the runtime only computes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from symmem.declaration.optimizer import Optimizer
from symmem.derivation.derivation import derive
from symmem.derivation.groups.parameter_groups import without_group_form
from symmem.errors import DerivationError, SymmemError
from symmem.training.loading import declared, formulas_of
from symmem.training.noise import noise_functions
from symmem.training.on_triton import TRITON, check_devices, check_kernels, triton_kernels
from symmem.training.runtime import memoryless, with_memory
from symmem.training.runtime import probe as runtime_probe
from symmem.training.runtime.formulas import FirstOrder, Formulas, Group
from symmem.training.runtime.fused import Kernels
from symmem.training.runtime.lines import usual_history
from symmem.training.runtime.noise import Noise, Sample, with_noise
from symmem.training.runtime.optimizer import GroupOptimizer, Settings
from symmem.training.runtime.probed import Probed
from symmem.training.runtime.products import Hvp
from symmem.training.runtime.running import check_torch_options
from symmem.training.runtime.vectors import Closure
from symmem.training.runtime.with_memory import Amount

Name = Optimizer | str | Path

PYTORCH: Mapping[type[torch.optim.Optimizer], tuple[str, ...]] = {
    torch.optim.AdamW: ("adamw-torch",),
    torch.optim.Adam: ("adam-torch", "adam-l2", "adamw-torch"),
    torch.optim.NAdam: ("nadam-torch", "nadamw-torch"),
    torch.optim.RAdam: ("radam",),
    torch.optim.RMSprop: ("rmsprop-torch", "rmsprop-l2", "rmsprop-momentum"),
    torch.optim.SGD: ("heavyball", "nesterov", "sgd-l2", "nesterov-l2"),
}
"""The declarations that are PyTorch's own optimizers, by class; the options of all groups say which."""


IMPLEMENTATIONS = ("foreach", "fused")
"""Arguments of torch.optim that choose between ways to compute the same update: taken, and without effect here."""


class _Declared(GroupOptimizer[Any]):
    """What both have beside the runtime: a declaration, from which a copy derives its formulas again."""

    declaration: Optimizer
    order = 1
    flat = False
    on_triton: bool

    def fused(self) -> Kernels | None:
        """Triton's kernels, where they were asked for, else those of the path."""
        return triton_kernels(self.declaration) if self.on_triton else super().fused()

    def check_group(self, group: Group) -> None:
        """As the runtime; Triton's kernels ask for a GPU."""
        super().check_group(group)
        check_devices(group["params"], on_triton=self.on_triton)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("formulas")
        own = ("declaration", "order", "flat", "on_triton")
        return state | {name: getattr(self, name) for name in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # a whole optimizer, or what load_state_dict has of it
        self.formulas = formulas_of(self.declaration, self.order, flat=self.flat)


class Memoryless(_Declared, memoryless.Memoryless):
    """The runtime's Memoryless for a name of the zoo, a file, or an Optimizer.

    ``arguments`` are those of the optimizer as PyTorch spells them (``betas``), else its parameters by name; opaque
    functions by name too.  One whose name is an argument here gets an underscore after it.  ``history`` is "straight"
    where there is such a history, else "expansion": with a warning at order 1, and as a matter of course beyond it.
    ``kernels="triton"`` makes the step by Triton's kernels (:mod:`symmem.training.on_triton`), the path of a module of
    ``symmem build`` by its compiled ones.
    """

    def __init__(
        self,
        optimizer: Name,
        params: Any,
        lr: float = 1e-3,
        *,
        order: int = 1,
        history: str | None = None,
        maximize: bool = False,
        limit: bool = False,
        hvp: Hvp = "double-backward",
        kernels: str | None = None,
        max_norm: float | None = None,
        process_group: Any = None,
        module: Any = None,
        **arguments: Any,
    ) -> None:
        self.declaration, self.order = declared(optimizer), order
        self.on_triton = kernels == TRITON
        self.flat = _is_flat(formulas_of(self.declaration, order), limit=limit)
        formulas = formulas_of(self.declaration, order, flat=self.flat)
        check_kernels(self.declaration, formulas, kernels, keeps_state=False)
        values, functions = _sorted_out(formulas, arguments)
        known = history or _history(formulas, order, values)
        path = None if self.on_triton else kernels
        settings = Settings(maximize, limit, hvp, max_norm, process_group, module, known, functions, path)
        super().__init__(formulas, params, {"lr": lr, **values}, settings)


class WithMemory(_Declared, with_memory.WithMemory):
    """The runtime's WithMemory for a name of the zoo, a file, or an Optimizer; ``arguments`` as in Memoryless.

    ``kernels="triton"`` makes the step by Triton's kernels (:mod:`symmem.training.on_triton`), the path of a module of
    ``symmem build`` by its compiled ones.
    """

    def __init__(
        self,
        optimizer: Name,
        params: Any,
        lr: float = 1e-3,
        *,
        strength: float | None = None,
        target: Mapping[str, float] | None = None,
        every: int = 1,
        history: str | None = None,
        maximize: bool = False,
        limit: bool = False,
        hvp: Hvp = "double-backward",
        kernels: str | None = None,
        max_norm: float | None = None,
        process_group: Any = None,
        module: Any = None,
        **arguments: Any,
    ) -> None:
        self.declaration = declared(optimizer)
        self.on_triton = kernels == TRITON
        formulas = first_order_of(self.declaration)
        check_kernels(self.declaration, formulas, kernels, keeps_state=True)
        values, functions = _sorted_out(formulas, arguments)
        known = history or _history(formulas, 1, values)
        path = None if self.on_triton else kernels
        settings = Settings(maximize, limit, hvp, max_norm, process_group, module, known, functions, path)
        amount = Amount(strength, target, every)
        super().__init__(formulas, params, {"lr": lr, **values}, settings, amount)


def probe(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    closure: Closure,
    *,
    name: Name | None = None,
    hvp: Hvp = "double-backward",
    process_group: Any = None,
    iterations: int = 20,
    previous: Mapping[str, float] | None = None,
    batches: Sequence[Closure] | None = None,
    epoch: int | None = None,
) -> Probed:
    """What the memory of a running optimizer does now, as numbers for a logger; ``text`` is one line of them.

    ``optimizer`` is a WithMemory or one of PyTorch's; ``name`` says what it is where that is not known: a name of the
    zoo, a file, or an Optimizer.  ``iterations`` are those of the sharpness at most, 0 leaves it out; ``previous`` is
    the probe of the step before, for the modified loss along the trajectory.  :func:`.runtime.probe.probe` has the
    list of numbers.

    ``batches``: closures with the losses of some batches, two or more, give what their noise adds to the mean update
    too, after many steps; ``epoch`` is how many batches an epoch has without replacement, None where each is drawn
    anew.  :mod:`.runtime.noise` has these numbers.  For B batches a curved Phi costs about 3 B^2 products.
    """
    formulas = _formulas_behind(optimizer) if name is None else first_order_of(declared(name))
    settings = {"hvp": hvp, "process_group": process_group}
    found = runtime_probe.probe(
        formulas, model, optimizer, closure, **settings, iterations=iterations, previous=previous
    )
    if batches is None:
        return found
    declaration = declared(name) if name is not None else _declaration_behind(optimizer, formulas)
    try:
        noise = Noise(formulas, *noise_functions(declaration))
    except SymmemError as error:
        return found.with_noise(str(error))
    return with_noise(found, noise, Sample(batches, epoch), model, optimizer)


def _declaration_behind(optimizer: torch.optim.Optimizer, formulas: FirstOrder) -> Optimizer:
    """What an optimizer that runs was declared as."""
    return optimizer.declaration if isinstance(optimizer, WithMemory) else declared(formulas.name)


def _is_flat(formulas: Formulas, *, limit: bool) -> bool:
    """Whether a memory has no line at finite n, so that the expansion of all tensors as one vector takes its place."""
    return isinstance(formulas, FirstOrder) and not formulas.has_finite and not limit


def _history(formulas: Formulas, order: int, values: Group) -> str:
    """The usual history; a warning where that is the expansion although order 1 was asked for."""
    found = usual_history(formulas, values)
    if order == 1 and found == "expansion":
        has_lines = isinstance(formulas, FirstOrder) and formulas.memory and formulas.memory.on_line
        reason = (
            "with a memory of negative decay"
            if has_lines
            else "at finite n, and may have one with limit=True"
        )
        words = (
            f"has no straight-line history {reason}; "
            "the expansion in lr is used, which can leave its range for small eps"
        )
        warnings.warn(
            f'{formulas.title} {words}; history="expansion" asks for it without this warning', stacklevel=3
        )
    return found


def first_order_of(optimizer: Optimizer) -> FirstOrder:
    """The formulas at order 1, which is all that the runtime with memory and the probe know."""
    found = formulas_of(optimizer)
    if not isinstance(found, FirstOrder):
        reason = without_group_form(derive(optimizer).method)
        raise DerivationError(f"{reason}; so there is no optimizer with memory and no probe: take Memoryless")
    return found


def _formulas_behind(optimizer: torch.optim.Optimizer) -> FirstOrder:
    """The formulas of an optimizer that runs; PyTorch's options decide between those of one class."""
    if isinstance(optimizer, with_memory.WithMemory):
        return optimizer.formulas
    names = PYTORCH.get(type(optimizer), ())
    if not names:
        raise ValueError(f"{type(optimizer).__name__} is not known here; say what it is with name=")
    reasons = []
    for name in names:
        formulas = first_order_of(declared(name))
        try:
            for group in optimizer.param_groups:
                check_torch_options(group, formulas)
        except ValueError as error:
            reasons.append(str(error))
            continue
        return formulas
    others = f", nor has it the options of {', '.join(names[1:])}" if names[1:] else ""
    raise ValueError(f"{reasons[0]}{others}; say what the optimizer is with name=")


def _separate(betas: Any, formulas: Formulas) -> dict[str, float]:
    """``betas`` for an optimizer that declares them one by one: beta1, beta2, ..."""
    if not isinstance(betas, tuple | list):
        raise TypeError(f"betas = {betas!r} is not a tuple of numbers")
    names = [f"beta{k}" for k in range(1, len(betas) + 1)]
    if not {*names} <= {*formulas.parameters} or f"beta{len(betas) + 1}" in formulas.parameters:
        raise TypeError(
            f"betas = {betas!r}: {formulas.title} has the parameters {', '.join(formulas.parameters)}"
        )
    return dict(zip(names, betas, strict=True))


def _sorted_out(
    formulas: Formulas, arguments: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Callable[..., torch.Tensor] | None]]:
    """The values of the optimizer's arguments, with their defaults; the opaque functions."""
    values = {argument.name: argument.default for argument in formulas.arguments}
    arguments = {name: value for name, value in arguments.items() if name not in IMPLEMENTATIONS}
    if "betas" in arguments and "betas" not in values:
        arguments |= _separate(arguments.pop("betas"), formulas)
    opaque = [name for each in formulas.opaque for name in (each.name, *each.derivatives)]
    unknown = [name for name in arguments if name not in values and name not in opaque]
    if unknown:
        known = ", ".join([*values, *opaque]) or "none"
        raise TypeError(f"{formulas.title} has no argument {', '.join(unknown)}; known are {known}")
    found = {**values, **{name: arguments[name] for name in arguments if name in values}}
    return found, {name: arguments[name] for name in arguments if name in opaque}
