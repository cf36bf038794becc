"""The JAX target: pure functions of pytrees that can be compiled and mapped, and an optax transformation."""

from __future__ import annotations

from symmem.derivation.derivation import Derivation
from symmem.program.lowering import lower
from symmem.program.program import Loop
from symmem.targets.python.code import INDENT, NAMES, PythonWriter, Spelling
from symmem.targets.python.module import PythonTarget, python_module, taken_names
from symmem.targets.python.printing import Dialect

_FUNCTIONS = {
    "Abs": "jnp.abs({})",
    "atan": "jnp.arctan({})",
    **{name: f"jnp.{name}({{}})" for name in ("sqrt", "sign", "exp", "log", "sin", "cos", "tan")},
    **{name: f"jnp.{name}({{}})" for name in ("sinh", "cosh", "tanh")},
}
_DIALECT = Dialect(_FUNCTIONS, "jax.lax.rsqrt({})", NAMES)
_NUMBERS = Dialect(_FUNCTIONS, "1.0 / jnp.sqrt({})", NAMES)

SPELLING = Spelling(vectors=_DIALECT, scalars=_NUMBERS, ranges=_NUMBERS)
TARGET = PythonTarget("jax/module.py.jinja", has_out=False)


class JaxWriter(PythonWriter):
    """Sums over past steps are loops that the compiler sees; their bounds may be traced."""

    def loop(self, loop: Loop) -> list[str]:
        start = "0.0" if loop.is_scalar else "_zeros(theta)"
        name = f"add_{loop.result}"
        added = f"{loop.result} + {loop.term}" if loop.is_scalar else f"_add({loop.result}, {loop.term})"
        body = [*self.block(loop.body), f"return {added}"]
        first, stop = self.bounds(loop)
        return [
            "",
            f"def {name}({loop.index}, {loop.result}):",
            *(INDENT + line if line else line for line in body),
            "",
            *self.call(f"{loop.result} = ", "jax.lax.fori_loop", [first, stop, name, start]),
        ]


def jax_module(derivation: Derivation) -> str:
    """The JAX module of a derivation."""
    program = lower(derivation)
    return python_module(derivation, program, TARGET, JaxWriter(SPELLING, taken_names(program)))
