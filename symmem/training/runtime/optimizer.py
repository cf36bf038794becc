"""What the optimizers of the runtime share: groups that check themselves, and the settings of a step."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, SupportsFloat, TypeVar

import torch
from torch import Tensor

from .formulas import FirstOrder, Formulas, Group, HigherOrder
from .fused import Kernels
from .groups import OF_EVERY_GROUP
from .kernels import check_kernels, compiled_kernels
from .lines import check_history
from .loops import Watched
from .products import Hvp, check_hvp
from .sharding import is_sharded
from .step import Resources
from .together import processes_of
from .vectors import Closure
from .zero_gradient import has_no_value_at_zero


@dataclass(frozen=True)
class Settings:
    """Arguments that every optimizer takes by keyword; ``functions`` are the opaque functions, by name.

    ``kernels`` is the path of a module that ``symmem build`` laid out, such as DIR/python/symmem_adamw.py.
    """

    maximize: bool = False
    limit: bool = False
    hvp: Hvp = "double-backward"
    max_norm: float | None = None
    process_group: Any = None
    module: Any = None
    history: str = "straight"
    functions: Mapping[str, Callable[..., Tensor] | None] = field(default_factory=dict)
    kernels: str | None = None


Given = TypeVar("Given", bound=Formulas)


class GroupOptimizer(torch.optim.Optimizer, Generic[Given]):
    """An optimizer whose groups may differ; ``arguments`` are lr and those that the formulas name."""

    _watched: Watched | None = None
    _checked: tuple[Any, ...] = ()
    """The settings of the groups as they were checked last."""
    _values: tuple[tuple[float, ...], ...] = ()
    """The parameters of the groups at the last step."""
    _told = False
    """Whether it was told that they changed."""
    _tried = False
    """Whether a product with the Hessian was made by this object: its first step with a correction tries one."""
    _kept: tuple[str, ...] = ("hvp", "functions", "max_norm", "process_group", "module", "kernels")
    keeps_state = False
    """Whether the optimizer has a memory of its own."""

    def __init__(
        self, formulas: Given, params: Any, arguments: Mapping[str, Any], settings: Settings
    ) -> None:
        check_hvp(settings.hvp)
        if settings.max_norm is not None and (is_text(settings.max_norm) or not settings.max_norm > 0):
            raise ValueError(f"max_norm = {settings.max_norm!r} is not positive")
        processes_of(settings.process_group, settings.module, settings.hvp)
        check_kernels(formulas, settings.kernels, keeps_state=self.keeps_state)
        self.formulas = formulas
        self.kernels = settings.kernels
        self.hvp = settings.hvp
        self.functions = _functions(formulas, settings.functions)
        self.max_norm = settings.max_norm
        self.process_group = settings.process_group
        self.module = settings.module
        common = {"maximize": settings.maximize, "limit": settings.limit, "history": settings.history, "n": 0}
        super().__init__(params, {**arguments, **common})

    def __getstate__(self) -> dict[str, Any]:
        mine = {name: getattr(self, name) for name in (*self._kept, "formulas")}
        return {**super().__getstate__(), **mine}

    @property
    def _step_supports_amp_scaling(self) -> bool:
        """What GradScaler asks for first."""
        raise RuntimeError(
            "GradScaler has no part in step(closure), where there is no .grad to scale; "
            "use bfloat16 autocast inside the closure, which needs no GradScaler"
        )

    def add_param_group(self, param_group: Group) -> None:
        """A group that joins has made no update: its parameters were constant."""
        known = (*self.defaults, *OF_EVERY_GROUP)
        unknown = ", ".join(repr(key) for key in param_group if key not in known)
        if unknown:
            raise ValueError(f"a parameter group has {unknown}; known are {', '.join(self.defaults)}")
        super().add_param_group(param_group)
        self.param_groups[-1].setdefault(
            "_rates", []
        )  # a distributed checkpoint loads what stands there already
        try:
            self.check_group(self.param_groups[-1])
        except (TypeError, ValueError):
            self.param_groups.pop()
            raise
        if len(self.param_groups) == 1 and has_no_value_at_zero(self.formulas, param_group):
            words = "the update has no finite value where the gradient has always been 0, and the parameter becomes nan"
            warnings.warn(f"{self.formulas.title}: {words}; an eps in its declaration helps", stacklevel=4)

    def check_changes(self) -> None:
        """Raises where somebody wrote a value into a group that it must not have; what did not change costs nothing."""
        present = tuple(map(self._settings, self.param_groups))
        if present == self._checked:
            return
        for group in self.param_groups:
            self.check_settings(group)
        self._tell_of_changes()
        self._checked = tuple(map(self._settings, self.param_groups))

    def _tell_of_changes(self) -> None:
        """A warning, once, where the parameters of a group that made steps are others now, and memory is corrected for.

        The formulas know the past rates; every other number is to them what it is now, at all past steps.
        """
        present = tuple(tuple(self.formulas.values(group)) for group in self.param_groups)
        pairs = zip(self._values, present, self.param_groups, strict=False)
        changed = {
            name
            for before, after, group in pairs
            if group["n"] > 0 and self.corrects(group)
            for name, old, new in zip(self.formulas.parameters, before, after, strict=True)
            if old != new
        }
        self._values = present
        if changed and not self._told:
            self._told = True
            words = f"{self.formulas.title}: {', '.join(sorted(changed))} changed between two steps; the correction "
            words += (
                "of memory takes the present value for that of all past steps (past learning rates it knows)"
            )
            warnings.warn(words, stacklevel=4)

    def corrects(self, group: Group) -> bool:
        """Whether the steps of a group ask for what memory adds."""
        formulas = self.formulas
        return not isinstance(formulas, FirstOrder) or formulas.memory is not None

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """As torch.optim; what is loaded has not changed."""
        super().load_state_dict(state_dict)
        self._values = ()

    def _settings(self, group: Group) -> list[Any]:
        """What is checked of a group, as it is now: a tensor, a list or a dictionary may change in its place."""
        return [_copied(group.get(name)) for name in self.defaults if name != "n"]

    def check_group(self, group: Group) -> None:
        """Raises where a group has a value or a parameter that it must not have."""
        self.check_settings(group)
        self._check_parameters(group)

    def check_settings(self, group: Group) -> None:
        """Raises where a group has a value that it must not have."""
        lr = group["lr"]
        if is_text(lr) or not isinstance(lr, SupportsFloat) or not 0 <= float(lr) < math.inf:
            raise ValueError(f"lr = {lr!r} is not a finite number from 0 on")
        for name in ("maximize", "limit"):
            if group[name] not in (True, False):  # "no" would be taken for a yes
                raise ValueError(f"{name} = {group[name]!r} is neither True nor False")
        self.formulas.check_values(group)
        if isinstance(self.formulas, FirstOrder):
            check_history(group, self.formulas)

    def _check_parameters(self, group: Group) -> None:
        for p in group["params"]:
            if not p.is_floating_point():
                raise TypeError(f"parameters have to be real numbers, not {p.dtype}")
            if p.layout != torch.strided:
                raise TypeError("sparse parameters are not supported")
        if self.module is None and any(is_sharded(p) for p in group["params"]):
            words = "a parameter is a DTensor; after fully_shard give module=model"
            raise TypeError(words)

    def watch(self, model: torch.nn.Module, loss: Callable[[Any], Tensor]) -> None:
        """For loops that call ``step()`` without a closure: the last forward pass of the model is evaluated again.

        ``loss`` makes the loss of the model's output: ``lambda output: output.loss``.  What a loop does to ``.grad``,
        such as to clip it or to add up several passes, is not seen: a warning says so, once.
        """
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"watch: {type(model).__name__} is no torch.nn.Module")
        if not callable(loss):
            raise TypeError(f"loss = {loss!r} is not a function of the model's output")
        if self._watched is not None:
            self._watched.released()
        self._watched = Watched(model, loss)

    def fused(self) -> Kernels | None:
        """The kernels that somebody gave, of formulas that have some."""
        formulas = self.formulas
        if self.kernels is None or not isinstance(formulas, FirstOrder):
            return None
        return compiled_kernels(self.kernels, formulas)

    def resources(self, closure: Closure) -> Resources:
        """With what a step by this closure is computed."""
        processes = processes_of(self.process_group, self.module, self.hvp)
        watched = self._watched
        compare = None if watched is None or closure != watched.closure else watched.compare
        return Resources(self.hvp, self.functions, processes, self.max_norm, compare)


def _copied(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.item() if value.numel() == 1 else value.tolist()
    return value.copy() if isinstance(value, list | dict) else value


def is_text(value: object) -> bool:
    """Whether somebody wrote a number with quotes around it."""
    return isinstance(value, str | bytes)


def check_number(name: str, value: object) -> None:
    """ValueError where a setting is no finite number."""
    if is_text(value) or not isinstance(value, SupportsFloat) or not math.isfinite(float(value)):
        raise ValueError(f"{name} = {value!r} is not a finite number")


def _functions(formulas: Formulas, given: Mapping[str, Callable[..., Tensor] | None]) -> list[Any]:
    """The opaque functions and their derivatives, in order; torch makes a derivative that is not given."""
    found: list[Any] = []
    for function in formulas.opaque:
        value = given.get(function.name)
        if value is None:
            raise TypeError(f"{formulas.title} has an open function: give {function.name}=, a function")
        found.append(value)
        for times, name in enumerate(function.derivatives, start=1):
            found.append(given.get(name) or Along(value, times))
    return found


class Along:
    """The derivative of a function at x, along one direction after the other."""

    def __init__(self, function: Callable[..., Tensor], times: int) -> None:
        self._function = function if times == 1 else Along(function, times - 1)

    def __call__(self, x: Tensor, *directions: Tensor) -> Tensor:
        *before, last = directions
        found: Tensor = torch.func.jvp(lambda y: self._function(y, *before), (x,), (last,))[1]
        return found


def check_higher(formulas: HigherOrder, settings: Settings) -> None:
    """Beyond order 1 there is one way to make derivatives, and no bound of the gradient."""
    if settings.history != "expansion":
        words = f"order {formulas.order} is an expansion"
        if formulas.order == 1:
            words = f"{formulas.title} has no straight-line history here, the expansion in lr alone"
        raise ValueError(f'{words}; use history="expansion"')
    if settings.hvp != "double-backward":
        raise ValueError(f'order {formulas.order} is computed with hvp="double-backward" alone')
    if settings.max_norm is not None:
        words = "use order 1" if formulas.order > 1 else "leave it out"
        raise ValueError(f"{formulas.title} at order {formulas.order} has no max_norm; {words}")
