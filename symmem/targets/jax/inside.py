"""RunningLoss -> how ``probe`` of the emitted JAX module follows the modified loss inside a gradient map.

    S_n = running_loss(S_{n-1}, L(theta_n), m),     m the momentum variable that the step before left

Example: Signum keeps x = m, so that m is its memory; debiased momentum keeps x with m = x/(1 - beta^n) after n steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sympy import Expr

from symmem.algebra.atoms import STEP
from symmem.algebra.results import Missing
from symmem.derivation.derivation import Derivation
from symmem.derivation.loss.gradient_map_loss import GradientMapLoss
from symmem.derivation.loss.running_loss import running_loss
from symmem.method.reading import running_method
from symmem.program.digits.stable_sums import stabilised
from symmem.program.lowering import number_routine
from symmem.program.needs import Need
from symmem.program.program import Program, Routine
from symmem.targets.jax.writer import JaxWriter
from symmem.targets.python.layout import INDENT, WIDTH, Argument, call, indented

CLAIM = (
    "With loss, L(theta), and previous, the probe of the step before or None, there is also",
    "modified_loss, the loss inside the gradient map along the run: it starts with the loss",
    "itself, also where a step was left out, and forgets this start as the optimizer does.",
)

ARGUMENTS = ("loss", "previous")
"""As ``running_loss`` has them."""
LOCALS = ("found", "before", "moment", "after")


@dataclass(frozen=True)
class Inside:
    """m is ``share`` times the state at ``place`` in what the optimizer keeps, after the step n - 1."""

    place: int
    share: Expr

    @classmethod
    def of(cls, derivation: Derivation, program: Program) -> Inside | None:
        """None where there is no running form, or where it asks for functions of the caller."""
        found = derivation.gradient_map_loss
        if "running_loss" not in program or program.optimizer.functions or derivation.order != 1:
            return None
        if isinstance(running_loss(derivation.method), Missing) or not isinstance(found, GradientMapLoss):
            return None
        method, place = running_method(program.optimizer), 0
        for channel in method.channels:
            if not channel.kernel.has_memory:
                continue
            real = channel.kernel.realisation()
            if channel.symbol == found.map.channel:
                share = stabilised(real.C[0].subs(STEP, STEP - 1), method.numbers)
                return cls(place, share) if len(real.C) == 1 else None
            place += len(real.B)
        return None

    @cached_property
    def _share(self) -> Routine:
        """By statements: a gain may have branches."""
        return number_routine(self.share)

    @property
    def needs(self) -> frozenset[Need]:
        """Of the share."""
        return self._share.needs

    def lines(self, program: Program, writer: JaxWriter, names: dict[str, str]) -> list[str]:
        """From the numbers ``found`` to the end of ``probe``."""
        loss, previous, memory = *ARGUMENTS, names["memory"]
        found, before, moment, after = (names[name] for name in LOCALS)
        told = [f"{name}={name}" for name in program.parameters]
        scheduled = program.optimizer.schedule is not None
        lr = f"lr={'lr * _rate(' + ', '.join(['n - 1', *told]) + ')' if scheduled else 'lr'}"
        room = WIDTH - len(INDENT)
        lines = [f"if {loss} is None:", f"{INDENT}return {found}", ""]
        value = call("return ", "running_loss", [before, loss, moment, lr, *told], room - len(INDENT))
        lines += [f"def {after}({before}, {moment}):", *indented(value), ""]
        arguments: list[Argument] = [found, loss, previous, f"{memory} and {memory}[{self.place}]"]
        if self.share.is_number:
            share = writer.number(self.share)
        else:
            lines += writer.block(self._share.statements)
            share = writer.scope.name(self._share.result)
        arguments += [share, "n", after]
        return [*lines, *call("return ", "_followed", arguments, room)]
