"""The optimizer with its memory, and with a part of what memory does added again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch._compile import _disable_dynamo

from .bunches import bunches, gradient_of, is_part_of, separated, whole_of, write
from .formulas import FirstOrder, Group
from .fused import can_run, evaluated, run_fused
from .loops import asks_for_state, closure_of
from .noted import note_rates
from .optimizer import GroupOptimizer, Settings, check_number
from .running import (
    Place,
    RunningPart,
    check_torch_options,
    correction_terms,
    run,
    running_parts,
    running_sums,
    shaped_sums,
    steps_made,
)
from .sharding import local
from .states import with_numbers
from .step import check_finite, evaluate, named
from .vectors import Closure, joined, widened


@dataclass(frozen=True)
class Amount:
    """How much of what memory does is added again; see :class:`WithMemory`."""

    strength: float | None = None
    target: Mapping[str, float] | None = None
    every: int = 1


class WithMemory(GroupOptimizer[FirstOrder]):
    """An optimizer with its memory, and with a part of what memory does added again.

    One step is theta <- theta - lr (Phi(m) + strength M). Phi(m) is the update of
    the optimizer from its memory m, and M what this memory adds, to first order in
    lr, to the update F of a constant history. strength = 0 is the optimizer itself, -1
    takes the effect of memory away to first order, +1 doubles it. M is F_straight - F, of
    the straight-line history, at the present gradient; the M of ``history="expansion"``
    divides by small gradients, and can be far larger than the update.
    ``target`` gives parameters other values: strength (M(target) - M) is added, so that
    with strength = 1, its default then, memory acts as with those values. The update F
    must not depend on them.
    ``every=k`` makes the correction in every k-th step alone, k times as large.
    ``limit=True`` takes M for n -> infinity, and so does a state without ``step``.

    ``step(closure)`` takes a closure that returns the loss and does not call backward;
    a step without correction takes one gradient. The groups, ``hvp``, ``max_norm``,
    ``process_group`` and ``module`` are as in :class:`.memoryless.Memoryless`. ``load_state_dict``
    takes the state of PyTorch's optimizer too.
    ``kernels``, a path as there, makes moments, update and correction in one pass; a step with
    a target, with ``limit=True``, or with a correction for groups that differ, is made without.
    """

    keeps_state = True

    def __init__(
        self,
        formulas: FirstOrder,
        params: Any,
        arguments: Mapping[str, Any],
        settings: Settings,
        amount: Amount,
    ) -> None:
        amounts = {"strength": amount.strength, "target": amount.target, "every": amount.every}
        super().__init__(formulas, params, {**arguments, **amounts}, settings)

    def check_settings(self, group: Group) -> None:
        """Fills in strength, target and every, and refuses what they cannot be."""
        super().check_settings(group)
        target = group["target"] = self._spread(group["target"] or {})
        if group["strength"] is None:
            group["strength"] = 1.0 if target else 0.0
        check_number("strength", group["strength"])
        if not isinstance(group["every"], int) or group["every"] < 1:
            raise ValueError(f"every = {group['every']!r}: it counts steps, from 1 on")
        self._check_target(group, target)

    def _spread(self, target: Mapping[str, Any]) -> dict[str, float]:
        """A target by the names of the formulas; ``betas`` may stand for several of them."""
        if not isinstance(target, Mapping):
            raise TypeError(f'target = {target!r} gives no names; write target={{"beta2": 0.95}}')
        found: dict[str, float] = {}
        for name, value in target.items():
            argument = next((each for each in self.formulas.arguments if each.name == name), None)
            if argument is not None:
                found |= zip(argument.parameters, argument.values({name: value}), strict=True)
                continue
            check_number(f"target: {name}", value)
            found[name] = value
        return found

    def _check_target(self, group: Group, target: Mapping[str, float]) -> None:
        formulas = self.formulas
        unknown = ", ".join(name for name in target if name not in formulas.parameters)
        if unknown:
            known = ", ".join(formulas.parameters) or "none"
            raise ValueError(f"target: {unknown}: not a parameter; known are {known}")
        running = formulas.running
        frozen = running.frozen_limit if group["limit"] else running.frozen
        changed = [name for name in target if name in frozen]
        if changed:
            reason = f"target: F depends on {', '.join(changed)}, and not memory alone"
            if not group["limit"] and not {*changed} & {*running.frozen_limit}:
                reason += "; with limit=True it does not"
            raise ValueError(reason)
        values = dict(zip(formulas.parameters, formulas.values(group), strict=True))
        formulas.check(None, *{**values, **target}.values())

    def corrects(self, group: Group) -> bool:
        """As the runtime, where the strength is not 0."""
        return super().corrects(group) and group["strength"] != 0

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """A state of this optimizer, or of PyTorch's, which keeps the settings here."""
        groups: list[Group] = []
        pairs = zip(state_dict["param_groups"], self.param_groups, strict=False)
        for saved, mine in pairs:
            check_torch_options(saved, self.formulas)
            kept = {key: value for key, value in mine.items() if key != "params"}
            groups.append({**kept, "_rates": [], **saved})
            self.check_group({**groups[-1], "params": mine["params"]})
        groups += state_dict["param_groups"][len(groups) :]
        # What no step here would bring up to date, as NAdam's mu_product, is left out: it is written anew.
        known = ("step", *self.formulas.running.states)
        state = {key: _only(known, entry) for key, entry in state_dict["state"].items()}
        super().load_state_dict({**state_dict, "state": state, "param_groups": groups})

    def state_dict(self) -> dict[str, Any]:
        """The state as PyTorch's optimizer has it: with the numbers that it keeps beside its sums."""
        found = super().state_dict()
        found["state"] = with_numbers(self.formulas, found["param_groups"], found["state"])
        return found

    @_disable_dynamo  # inside torch.compile too a step runs as it is
    @torch.no_grad()
    def step(self, closure: Closure | None = None) -> Tensor | None:  # type: ignore[override]
        """One update of every group; returns the loss before it."""
        if asks_for_state(closure, self._watched, self.param_groups):
            self._empty_state()
            return None
        closure = closure_of(closure, self._watched)
        self.check_changes()
        parts = running_parts(self.formulas, self.param_groups, self.state)
        groups, fused = self.param_groups, self.fused()
        corrects = self.formulas.memory is not None and any(group["strength"] != 0 for group in groups)
        first = corrects and not self._tried
        factors = [factor_of(part) for part in parts]
        if fused is not None and can_run(fused, parts, factors):
            loss, products = evaluated(
                fused, parts, closure, self.resources(closure), corrects=any(factors), first=first
            )
            for part, factor in zip(parts, factors, strict=True):
                run_fused(fused, part, factor, products, self.state)
        else:
            loss = self._advance(parts, closure, first=first)
        self._tried = self._tried or first
        aimed = [part.aimed(part.group["target"]) for part in parts if part.group["target"]]
        resting = running_parts(self.formulas, groups, self.state, trained=False)
        note_rates(parts, [*parts, *aimed, *resting])
        for group in groups:
            group["n"] += 1
        return loss

    def _advance(self, parts: Sequence[RunningPart], closure: Closure, *, first: bool) -> Tensor:
        """One update of all parts by the formulas; the loss before it."""
        terms = [terms_of(part) for part in parts]
        receivers = [receiver for each in terms for receiver, _ in each]
        loss = evaluate(parts, receivers, closure, self.resources(closure), first=first)
        waiting: list[_Advance] = []
        for part, mine in zip(parts, terms, strict=True):
            for bunch in bunches(part):
                with named(part, bunch[0]):
                    made = _advanced(part, bunch, mine, [self.state[part.owned[k]] for k in bunch])
                waiting.append(made)
                if not self.formulas.is_of_tensors:  # those are kept once all are known to be finite
                    _keep(waiting)
        _keep(waiting)
        return loss

    def _empty_state(self) -> None:
        """The state of an optimizer that has made no update, for what is loaded into it."""
        for part in running_parts(self.formulas, self.param_groups, self.state):
            for parameter in part.owned:
                sums = running_sums(self.state[parameter], parameter, self.formulas)
                self.state[parameter].update(zip(self.formulas.running.states, sums, strict=True))
                self.state[parameter].setdefault("step", torch.tensor(0.0))


def _only(names: Sequence[str], entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name in names}


Terms = list[tuple[RunningPart, float]]


def factor_of(part: RunningPart) -> float:
    """How often this step adds M, or the difference of M that a target makes."""
    group = part.group
    factor = float(group["strength"] * group["every"])
    return 0.0 if part.formulas.memory is None or (group["n"] + 1) % group["every"] != 0 else factor


def terms_of(part: RunningPart) -> Terms:
    """Whose M this step adds, and how often."""
    group, factor = part.group, factor_of(part)
    if factor == 0:
        return []
    if not group["target"]:
        return [(part, factor)]
    return [(part.aimed(group["target"]), factor), (part, -factor)]


@dataclass(frozen=True)
class _Advance:
    """What a bunch of tensors and their states become: where each is kept, and what was computed for all."""

    kept: list[list[Tensor]]
    computed: list[Tensor]
    entries: list[dict[str, Any]]
    news: list[tuple[str, Sequence[Any]]]


def _advanced(
    part: RunningPart, bunch: Sequence[int], terms: Terms, entries: list[dict[str, Any]]
) -> _Advance:
    """theta - lr (Phi(m) + strength M) and the state, of a bunch; on copies for functions of a whole tensor."""
    parameters = [part.parameters[place] for place in bunch]
    states = [_sums(part, place, entry) for place, entry in zip(bunch, entries, strict=True)]
    names = part.formulas.running.states
    sums = [_Sum.of(name, column) for name, column in zip(names, zip(*states, strict=True), strict=True)]
    theta, g, *wide = widened(joined(parameters), gradient_of(part, bunch), *(each.whole for each in sums))
    if part.formulas.is_of_tensors:
        theta, *wide = (x.clone() for x in (theta, *wide))
    at = Place(bunch, theta, g, part.functions[bunch[0]])
    more = [term for receiver, factor in terms for term in correction_terms(receiver, at, factor)]
    run(part, at, wide, theta, -part.lr, *more)
    if part.formulas.is_of_tensors:
        check_finite(theta)
    kept = [parameters, *(each.kept for each in sums)]
    return _Advance(
        kept,
        [theta, *wide],
        entries,
        [*(each.column() for each in sums), ("step", steps_made(part, entries))],
    )


@dataclass(frozen=True)
class _Sum:
    """A running sum of a bunch of tensors, as one; ``kept`` is where its new value goes."""

    name: str
    tensors: Sequence[Tensor]
    whole: Tensor
    kept: list[Tensor]

    @classmethod
    def of(cls, name: str, tensors: Sequence[Tensor]) -> _Sum:
        """The tensors of a bunch lie in one memory from their first step on; those of shards stay where they are."""
        places = [local(x) for x in tensors]
        whole = whole_of(places)
        is_own = all(x is place for x, place in zip(tensors, places, strict=True))
        return cls(name, tensors, whole, [whole] if is_own else places)

    def column(self) -> tuple[str, Sequence[Any]]:
        """Its name in the state, and what the tensors have there."""
        stay = len(self.kept) == len(self.tensors) or is_part_of(self.whole, self.tensors)
        return self.name, self.tensors if stay else separated(self.whole, self.tensors)


def _sums(part: RunningPart, place: int, entry: dict[str, Any]) -> list[Tensor]:
    """The running sums of one tensor."""
    found, gradient = running_sums(entry, part.owned[place], part.formulas), part.gradients[place]
    assert gradient is not None
    return shaped_sums(found, part, place, gradient)


def _keep(waiting: list[_Advance]) -> None:
    """What was computed elsewhere, or in a wider type, goes back to where it is kept; none waits any more."""
    for made in waiting:
        for place, x in zip(made.kept, made.computed, strict=True):
            write(place, x)
        for name, column in made.news:
            for entry, x in zip(made.entries, column, strict=True):
                entry[name] = x
    waiting.clear()
