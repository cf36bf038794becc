"""Elementary differentials: the vectors that the trees stand for (mathematics.md section 4).

    F(tau) = D^r Phi(gbar)[N(nu_1), ..., N(nu_r)],   N(l; t_1..t_m) = D^m (normaliser_l g_l)(theta)[F(t_1), ..., F(t_m)]

and ``F(single step node) = Phi(gbar)``.  In a cascade g_l depends on momentum variables too; a branch carries others:
``N(l; t_1..; nu_1..) = D^(p+q) (normaliser_l g_l)(theta, gbar)[F(t_1).., N(nu_1)..]``.  Each derivative is taken once,
with slots for its directions; the trees fill the slots, so that the results share their parts.
"""

from __future__ import annotations

from sympy import Expr, S

from symmem.algebra.atoms import slot
from symmem.algebra.directional import along, derivative
from symmem.algebra.passes import collect
from symmem.algebra.reals import substituted
from symmem.algebra.trees import Branch, Labels, Shape, Tree
from symmem.derivation.gains import frozen_point, limit_gains
from symmem.method.method import Method


class Differentials:
    """The elementary differentials of one method, each computed once."""

    def __init__(self, method: Method) -> None:
        self._scalars = method.numbers
        self._system = method
        self._known: dict[Tree | Branch, Expr] = {}
        self._frozen = frozen_point(method, limit_gains(method))
        self._step_templates: dict[Labels, Expr] = {(): self._system.phi}
        self._frozen_steps: dict[Labels, Expr] = {}
        self._branch_templates: dict[tuple[int, int, Labels], Expr] = {}
        self._frozen_branches: dict[tuple[int, int, Labels], Expr] = {}

    @property
    def shape(self) -> Shape:
        """Which derivatives of Phi and of the g_l are not identically zero."""
        return Shape(
            len(self._system.channels),
            lambda labels: self._step_template(labels) != 0,
            lambda label, arity, labels: self._branch_template(label, arity, labels) != 0,
            tuple(self._system.read_by(channel) for channel in self._system.channels)
            if self._system.is_cascade
            else (),
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
            ordered = sorted(branch.branches, key=lambda inner: inner.label)
            labels = tuple(inner.label for inner in ordered)
            template = self._frozen_branch(branch.label, len(branch.children), labels)
            directions = [self.of(child) for child in branch.children]
            directions += [self._branch(inner) for inner in ordered]
            self._known[branch] = self._filled(template, directions)
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

    def _frozen_branch(self, label: int, arity: int, labels: Labels) -> Expr:
        """The template at the frozen point, where g reads momentum variables."""
        key = label, arity, labels
        if key not in self._frozen_branches:
            found = self._branch_template(*key)
            reads = self._system.read_by(self._system.channels[label])
            self._frozen_branches[key] = substituted(found, self._frozen) if reads else found
        return self._frozen_branches[key]

    def _branch_template(self, label: int, arity: int, labels: Labels) -> Expr:
        """``D^(p+q) (normaliser g)[slot_0, ..., slot_{p+q-1}]``: p times along theta, then along what g reads."""
        key = label, arity, labels
        if key not in self._branch_templates:
            channel = self._system.channels[label]
            if labels:
                lower = self._branch_template(label, arity, labels[:-1])
                way = {self._system.channels[labels[-1]].symbol: slot(arity + len(labels) - 1)}
                found = derivative(lower, way) if lower != 0 else S.Zero
            elif arity == 0:
                found = self._scalars.tidy(channel.kernel.normaliser) * channel.g
            else:
                lower = self._branch_template(label, arity - 1, ())
                found = derivative(lower, along(slot(arity - 1))) if lower != 0 else S.Zero
            self._branch_templates[key] = found
        return self._branch_templates[key]
