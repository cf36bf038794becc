"""The JAX target: pure functions of pytrees that can be compiled and mapped, and an optax transformation."""

from __future__ import annotations

import keyword
from pathlib import Path

from symmem.derivation.derivation import Derivation
from symmem.notation.decimals import decimal
from symmem.program.lowering import lower
from symmem.program.program import Need, Program, Routine
from symmem.program.scope import Scope
from symmem.program.statements import Choice, Internal, Loop
from symmem.targets.printing import Dialect
from symmem.targets.python.copied import Helpers
from symmem.targets.python.layout import INDENT, WIDTH, Argument, Group, call, indented, signature
from symmem.targets.python.module import (
    CHECKS,
    MATRICES,
    OF_TENSOR,
    PythonTarget,
    python_module,
    python_scope,
)
from symmem.targets.python.surfaces import contractions
from symmem.targets.python.writer import PythonWriter, Spelling

_FUNCTIONS = {
    "Abs": "abs",
    "atan": "arctan",
    **{name: name for name in ("sqrt", "sign", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
}
"""The names that jax.numpy has for the functions of the language."""
OUTER = ("jnp", "jax", "ValueError")
HELPERS = Helpers(
    Path(__file__).with_name("helpers.py"),
    always=(
        "MemorylessState",
        "_transformation",
        "_with_derivatives",
        "_check_step",
        "_is_known",
        "_array",
        "_like",
        "_entrywise",
    ),
    needed={
        Need.ZEROS: ("_zeros", "_add"),
        Need.TOTAL: ("_total",),
        Need.OLDEST: ("_oldest",),
        Need.COMPLETE: ("_complete",),
        Need.PRODUCT: ("_Product",),
        Need.SHORTFALL: ("_shortfall",),
        Need.SHORTFALLS: ("_shortfall",),
        Need.CHOICE: ("_chosen",),
        Need.SHAPED: ("_shaped",),
        Need.SUM_TENSORS: ("_sum_tensors",),
        **dict.fromkeys(OF_TENSOR, ("_of_tensor",)),
    },
)
TARGET = PythonTarget(
    "jax/module.py.jinja",
    has_out=False,
    helpers=(Helpers(CHECKS.file, ("_outside",), CHECKS.needed), HELPERS, MATRICES),
    # What is traced has no value before the function runs.
    guard="_is_known({}) and ",
)


def spelling(scope: Scope) -> Spelling:
    """How JAX spells functions of arrays, and of numbers, which may be traced."""
    jnp = scope.outer("jnp")
    functions = {name: f"{jnp}.{own}({{}})" for name, own in _FUNCTIONS.items()}
    functions["Shortfall"] = "_shortfall({}, {})"
    functions |= {"Min": f"{jnp}.minimum({{}}, {{}})", "Max": f"{jnp}.maximum({{}}, {{}})"}
    words = {"both": f"{jnp}.logical_and({{}}, {{}})", "either": f"{jnp}.logical_or({{}}, {{}})"}
    numbers = Dialect(functions, f"1.0 / {jnp}.sqrt({{}})", both=words["both"], either=words["either"])
    return Spelling(Dialect(functions, f"{scope.outer('jax')}.lax.rsqrt({{}})"), numbers, numbers)


class JaxWriter(PythonWriter):
    """Sums over past steps are loops that the compiler sees; their bounds may be traced."""

    def loop(self, loop: Loop) -> list[str]:
        """The loop as a function of the index and of what was added so far, run by ``lax.fori_loop``."""
        start = "1.0" if loop.is_product else "0.0" if loop.is_scalar else "_zeros(theta)"
        result, term = self._name(loop.result), self._name(loop.term)
        name = self._name(Internal(f"add_{loop.result}"))
        added = f"{result} + {term}" if loop.is_scalar else f"_add({result}, {term})"
        added = f"{result} * {term}" if loop.is_product else added
        first, stop = self.bounds(loop)
        if loop.has_own_shape:  # the first term tells the shape
            start, added = f"_zeros({name}({first}, None))", f"{term} if {result} is None else {added}"
        body = [*self.block(loop.body), f"return {added}"]
        function = f"{self.scope.outer('jax')}.lax.fori_loop"
        return [
            "",
            f"def {name}({self._name(loop.index)}, {result}):",
            *indented(body),
            "",
            *self.call(f"{result} = ", function, [first, stop, name, start]),
        ]

    def choice(self, choice: Choice) -> list[str]:
        """Both branches as functions: where the condition is traced, both are computed and one is taken."""
        result, lines, names = self._name(choice.result), [], []
        for stem, branch in zip(("then", "else"), choice.branches, strict=True):
            names.append(self._name(Internal(f"{stem}_{choice.result}")))
            body = [*self.block(branch.body), f"return {self._name(branch.value)}"]
            lines += ["", f"def {names[-1]}():", *indented(body)]
        condition = self._scalars.condition(choice.condition)
        return [*lines, "", *self.call(f"{result} = ", "_chosen", [condition, *names])]


def jax_module(derivation: Derivation) -> str:
    """The JAX module of a derivation."""
    program = lower(derivation)
    scope = python_scope(program, OUTER)
    values = {
        "transformation": _transformation(program),
        "scheduled": program.optimizer.schedule is not None,
    }
    return python_module(derivation, program, TARGET, JaxWriter(spelling(scope), scope), values)


_CLAIM = (
    '"""The iteration as an optax transformation.',
    "",
    "Its update takes params and value_fn, the loss as a function of params; the gradients",
    "that it is given are the loss's. learning_rate is a number or a schedule; its current",
    "value stands for the past steps. limit=True takes the coefficients of n -> infinity.",
    '"""',
)


def _transformation(program: Program) -> list[str]:
    """The function that makes an optax transformation of the parameters; here they yield to optax's own words."""
    given = [function.name for function in program.optimizer.functions]
    scope = Scope([*program.parameters, *given], words=("learning_rate", "limit", *keyword.kwlist))
    functions = tuple(map(scope.kept, given))
    limit = not isinstance(program["correction"].finite, Routine)
    positional = [*functions, "learning_rate=1e-3"]
    name = f"memoryless_{program.optimizer.name.replace('-', '_')}"
    settings = [f"{scope.kept(each.name)}={decimal(each.default)}" for each in program.optimizer.parameters]
    head = signature(name, [*positional, "*", *settings, f"limit={limit}"])
    order = f"{len(contractions(program.order))}"
    values = Group(tuple(f'"{each}": {scope.kept(each)}' for each in program.parameters), "{}")
    arguments: list[Argument] = ["_UPDATE", order, "learning_rate", "limit", Group(functions), values]
    body = call("return ", "_transformation", arguments, WIDTH - len(INDENT))
    return [*head, *indented([*_CLAIM, *body])]
