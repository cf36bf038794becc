"""The JAX target: pure functions of pytrees that can be compiled and mapped, and an optax transformation."""

from __future__ import annotations

from symmem.derivation.derivation import Derivation
from symmem.program.lowering import lower
from symmem.program.scope import Scope
from symmem.program.statements import Internal, Loop
from symmem.targets.python.code import INDENT, PythonWriter, Spelling
from symmem.targets.python.module import PythonTarget, python_module, python_scope
from symmem.targets.python.printing import Dialect

_FUNCTIONS = {
    "Abs": "abs",
    "atan": "arctan",
    **{name: name for name in ("sqrt", "sign", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
}
"""The names that jax.numpy has for the functions of the language."""
OUTER = ("jnp", "jax", "ValueError")
TARGET = PythonTarget("jax/module.py.jinja", has_out=False)


def spelling(scope: Scope) -> Spelling:
    """How JAX spells functions of arrays, and of numbers, which may be traced."""
    jnp = scope.outer("jnp")
    functions = {name: f"{jnp}.{own}({{}})" for name, own in _FUNCTIONS.items()}
    numbers = Dialect(functions, f"1.0 / {jnp}.sqrt({{}})")
    return Spelling(Dialect(functions, f"{scope.outer('jax')}.lax.rsqrt({{}})"), numbers, numbers)


class JaxWriter(PythonWriter):
    """Sums over past steps are loops that the compiler sees; their bounds may be traced."""

    def loop(self, loop: Loop) -> list[str]:
        start = "0.0" if loop.is_scalar else "_zeros(theta)"
        result, term = self._name(loop.result), self._name(loop.term)
        name = self._name(Internal(f"add_{loop.result}"))
        added = f"{result} + {term}" if loop.is_scalar else f"_add({result}, {term})"
        body = [*self.block(loop.body), f"return {added}"]
        first, stop = self.bounds(loop)
        function = f"{self.scope.outer('jax')}.lax.fori_loop"
        return [
            "",
            f"def {name}({self._name(loop.index)}, {result}):",
            *(INDENT + line if line else line for line in body),
            "",
            *self.call(f"{result} = ", function, [first, stop, name, start]),
        ]


def jax_module(derivation: Derivation) -> str:
    """The JAX module of a derivation."""
    program = lower(derivation)
    scope = python_scope(program, OUTER)
    return python_module(derivation, program, TARGET, JaxWriter(spelling(scope), scope))
