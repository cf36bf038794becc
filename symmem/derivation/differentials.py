"""Elementary differentials: the vectors that the trees stand for (mathematics.md section 4).

    F(tau) = D^r Phi(gbar)[N(nu_1), ..., N(nu_r)],   N(l; t_1..t_m) = D^m (normaliser_l g_l)(theta)[F(t_1), ..., F(t_m)]

and ``F(single step node) = Phi(gbar)``.  Each derivative is taken once, with slots for its directions; the trees
fill the slots, so that the results share their parts.
"""

from __future__ import annotations

from sympy import Expr, S

from symmem.algebra.atoms import slot
from symmem.algebra.directional import along, derivative
from symmem.algebra.passes import collect
from symmem.algebra.reals import substituted
from symmem.algebra.trees import Branch, Labels, Shape, Tree
from symmem.derivation.gains import limit_gains
from symmem.method.method import Method


class Differentials:
    """The elementary differentials of one method, each computed once."""

    def __init__(self, method: Method) -> None:
        self._scalars = method.numbers
        self._system = method
        self._known: dict[Tree | Branch, Expr] = {}
        self._frozen = {
            c.symbol: gain * c.g for c, gain in zip(method.channels, limit_gains(method), strict=True)
        }
        self._step_templates: dict[Labels, Expr] = {(): self._system.phi}
        self._frozen_steps: dict[Labels, Expr] = {}
        self._branch_templates: dict[tuple[int, int], Expr] = {}

    @property
    def shape(self) -> Shape:
        """Which derivatives of Phi and of the g_l are not identically zero."""
        return Shape(
            len(self._system.channels),
            lambda labels: self._step_template(labels) != 0,
            lambda label, arity: self._branch_template(label, arity) != 0,
        )

    def of(self, tree: Tree) -> Expr:
        """``F(tree)``."""
        if tree not in self._known:
            ordered = sorted(tree.branches, key=lambda branch: branch.label)
            template = self._frozen_step(tuple(branch.label for branch in ordered))
            self._known[tree] = self._filled(template, [self._branch(branch) for branch in ordered])
        return self._known[tree]

    def _branch(self, branch: Branch) -> Expr:
        if branch not in self._known:
            template = self._branch_template(branch.label, len(branch.children))
            self._known[branch] = self._filled(template, [self.of(child) for child in branch.children])
        return self._known[branch]

    def _filled(self, template: Expr, directions: list[Expr]) -> Expr:
        slots = {slot(position): direction for position, direction in enumerate(directions)}
        return collect(template.xreplace(slots), self._scalars)

    def _step_template(self, labels: Labels) -> Expr:
        """``D^r Phi[slot_0, ..., slot_{r-1}]`` as a function of the channels."""
        if labels not in self._step_templates:
            symbol = self._system.channels[labels[-1]].symbol
            lower = self._step_template(labels[:-1])
            self._step_templates[labels] = derivative(lower, {symbol: slot(len(labels) - 1)})
        return self._step_templates[labels]

    def _frozen_step(self, labels: Labels) -> Expr:
        """The template at the frozen point."""
        if labels not in self._frozen_steps:
            placed = substituted(self._step_template(labels), self._frozen)
            self._frozen_steps[labels] = collect(placed, self._scalars)
        return self._frozen_steps[labels]

    def _branch_template(self, label: int, arity: int) -> Expr:
        """``D^m (normaliser g)[slot_0, ..., slot_{m-1}]``."""
        if (label, arity) not in self._branch_templates:
            channel = self._system.channels[label]
            if arity == 0:
                found = self._scalars.tidy(channel.kernel.normaliser) * channel.g
            else:
                lower = self._branch_template(label, arity - 1)
                found = derivative(lower, along(slot(arity - 1))) if lower != 0 else S.Zero
            self._branch_templates[label, arity] = found
        return self._branch_templates[label, arity]
