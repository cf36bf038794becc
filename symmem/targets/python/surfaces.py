"""The functions that every emitted Python module has: their signatures, their claims, and what opens their bodies."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sympy import Expr, Symbol, oo

from symmem.algebra.atoms import GRAD, LOSS
from symmem.algebra.symbols import VARIANCE, derivative_name
from symmem.declaration.optimizer import Optimizer
from symmem.declaration.records import Parameter
from symmem.notation.decimals import decimal
from symmem.program.noise import CORRECTION, MEMORYLESS, ORDER, RHO
from symmem.program.program import Program, Routine
from symmem.program.scope import Scope
from symmem.program.statements import Contract, Evaluate
from symmem.targets.python.layout import INDENT, WIDTH, call, indented, signature

OF_STEP = ("memoryless", "correction", "step", "straight", MEMORYLESS, CORRECTION)
"""The functions of a step n."""
OF_VECTORS = (*OF_STEP, ORDER)
"""Those that write into a given array, where the target has them."""


def contractions(order: int) -> list[str]:
    """What a module of this order is given of the loss beyond its gradient: hvp, d3, d4, ..."""
    return ["hvp", *(f"d{k}" for k in range(3, order + 2))]


def opaque_names(program: Program) -> list[str]:
    """The opaque functions that a module calls, with their derivatives."""
    return names_of_opaque(program.optimizer, program.order)


def names_of_opaque(optimizer: Optimizer, order: int) -> list[str]:
    """``gradK, gradK_jvp, gradK_jvp2, ...`` up to this order, for every opaque function."""
    return [derivative_name(f.name, k) for f in optimizer.functions for k in range(order + 1)]


def potentials(program: Program) -> dict[str, str]:
    """The name of the potential of every opaque function that has one: ``K`` for gradK."""
    return {each.name: each.potential for each in program.optimizer.functions if each.potential}


def momentum(program: Program) -> str:
    """The name of the argument for the momentum, ``m`` unless that is a name of the user's."""
    taken = {*program.parameters, *opaque_names(program), *potentials(program).values()}
    name = "m"
    while name in taken:
        name += "_"
    return name


def defaults(program: Program) -> list[str]:
    """``beta=0.9`` for every parameter, in the order of the declaration."""
    return [f"{each.name}={decimal(each.default)}" for each in program.optimizer.parameters]


@dataclass(frozen=True)
class Surface:
    """One public function: what it takes, by position (name and default) and by name, and what it claims."""

    name: str
    positional: tuple[tuple[str, str], ...]
    keywords: tuple[str, ...]
    claim: str

    @property
    def required(self) -> list[str]:
        """The names of what it must be given by position."""
        return [name for name, default in self.positional if not default]

    @property
    def head(self) -> list[str]:
        """The lines of its signature."""
        marker = ["*"] if self.keywords else []
        positional = [name + default for name, default in self.positional]
        return signature(self.name, [*positional, *marker, *self.keywords])

    def lines(self, body: list[str]) -> list[str]:
        """The function with this body."""
        return [*self.head, f'{INDENT}"""{self.claim}"""', *indented(body)]


def surface(program: Program, name: str, *, has_out: bool) -> Surface:
    """The surface of a routine, as other people's code relies on it."""
    parameters, higher, calls = defaults(program), contractions(program.order), opaque_names(program)
    out = ["out=None"] if has_out else []
    functions_in_order = [function.name for function in program.optimizer.functions]
    # The derivatives are taken for symmetry with the other functions; the update itself needs none.  Python has no
    # argument without a default behind one with it: those of the last function can be left out.
    spared = set(calls[-program.order :]) if name == "memoryless" and calls else set()
    step = (["theta", "grad", *higher, *calls], ["n=None", "lr", *parameters, *out])
    loss_terms = higher if program.order > 1 else []
    given: dict[str, tuple[list[str], list[str]]] = {
        "memoryless": (["theta", "grad", *calls], ["n=None", *parameters, *out]),
        "correction": step,
        "step": step,
        "straight": step,
        "modified_loss": (["theta", "loss", "grad", *loss_terms, *calls], ["lr", *parameters]),
        "preconditioner": (["theta", "grad", *calls], parameters),
        "decay": ([], ["lr", *parameters]),
        "gradient_map_loss": (
            ["theta", "loss", "grad", *loss_terms, *calls, *potentials(program).values()],
            ["lr", *parameters],
        ),
        "running_loss": (
            ["previous", "loss", momentum(program), *functions_in_order, *potentials(program).values()],
            ["lr", *parameters],
        ),
        MEMORYLESS: (["theta", "grads"], ["n=None", "batches=None", *parameters, *out]),
        CORRECTION: (["theta", "grads", "hvps"], ["n=None", "lr", "batches=None", *parameters, *out]),
        ORDER: (["theta", "grads"], ["batches", "lr", *parameters, *out]),
    }
    positional, keywords = given[name]
    given_by_position = tuple((each, "=None" if each in spared else "") for each in positional)
    return Surface(name, given_by_position, tuple(keywords), claims(program)[name])


def claims(program: Program) -> dict[str, str]:
    """What every function returns, for its documentation."""
    last = program.order
    series = f"lr F_1 + ... + lr^{last} F_{last}" if last > 1 else "lr F_1"
    decay = " + decay * theta" if "decay" in program else ""
    return {
        "memoryless": "F^(n)(theta): the update on a constant history.",
        "correction": f"{series}: what memory adds to the update.",
        "step": "theta - lr * (memoryless + correction).",
        "straight": "The update on a straight-line history: the step is theta - lr * straight.",
        "modified_loss": "The loss whose preconditioned gradient step this is.",
        "preconditioner": f"P of theta - lr * (P * gradient of modified_loss{decay}).",
        "decay": "The decay beside the preconditioned gradient.",
        "gradient_map_loss": "The loss inside the gradient map: theta - lr * map(its gradient), less decay.",
        "running_loss": "The same from its previous value, the loss now and the last step's momentum.",
        MEMORYLESS: "F_xi: what the noise of a batch adds to the mean of memoryless.",
        CORRECTION: "M_xi: what it adds to the mean of correction, through memory.",
        ORDER: "The variance of theta after an epoch over the order of its batches.",
    }


def opening(program: Program, name: str, scope: Scope) -> list[str]:
    """The lines before the formula: checks, and the values at theta that it reads."""
    step = "n" if name in OF_STEP else "None"
    lines = call("", "_check", [step, *program.parameters], WIDTH - len(INDENT))
    if name == "decay":
        return lines
    if name == "running_loss":
        return [*lines, f"theta = _array({momentum(program)})", f"{scope.name(LOSS)} = loss"]
    lines.append("theta = _array(theta)")
    if name == ORDER:
        read = {symbol for routine in program[name].existing for symbol in routine.inputs}
        return [*lines, "noise = _Noise(theta, grads)", *_values(read, scope)]
    if name in (MEMORYLESS, CORRECTION):
        return [*lines, *_averages(program[name].existing, name, scope)]
    read = {symbol for routine in program[name].existing for symbol in routine.inputs}
    if LOSS in read:
        lines.append(f"{scope.name(LOSS)} = loss(theta)")
    return [*lines, f"{scope.name(GRAD)} = _like(theta, grad(theta))"] if GRAD in read else lines


def _averages(routines: Iterable[Routine], name: str, scope: Scope) -> list[str]:
    """The averages over the batches that the formulas read, each from the gradients of all batches."""
    every = [statement for routine in routines for statement in routine.statements]
    read = {symbol for routine in routines for symbol in routine.inputs}
    functions = {each.function for each in every if isinstance(each, Evaluate)}
    found = _values(read, scope)
    if any(isinstance(each, Contract) for each in every):
        functions.add("hvp")
    found += [f"{each} = noise.{each}" for each in sorted(functions)]
    hvps = ", hvps" if name == CORRECTION else ""
    drawn = ["_between(batches, n)" if RHO not in read else f"{scope.name(RHO)} = _between(batches, n)"]
    return [*drawn, f"noise = _Noise(theta, grads{hvps})", *found] if found else drawn


def _values(read: Collection[Symbol], scope: Scope) -> list[str]:
    """The mean gradient and the variance, where they are read."""
    values = [(symbol, own) for symbol, own in ((GRAD, "mean"), (VARIANCE, "variance")) if symbol in read]
    return [f"{scope.name(symbol)} = noise.{own}" for symbol, own in values]


def check(program: Program, guard: str) -> list[str]:
    """The function that refuses what is no step, and parameters out of their ranges.

    ``guard`` stands before a condition, with ``{}`` for the name; a condition fails for NaN.
    """
    lines = [*signature("_check", ["n", *program.parameters]), f"{INDENT}_check_step(n)"]
    for parameter in program.optimizer.parameters:
        name = parameter.name
        lines += [
            f"{INDENT}if {guard.format(name)}not {_condition(parameter)}:",
            f'{INDENT * 2}raise _outside("{name}", {name}, "{parameter.range}")',
        ]
    return lines


def _condition(parameter: Parameter) -> str:
    """An open end at infinity leaves infinity out."""
    interval = parameter.range
    lower, upper = (_end(each) for each in (interval.lower, interval.upper))
    below, above = ("<" if is_open else "<=" for is_open in (interval.lower_open, interval.upper_open))
    return f"{lower} {below} {parameter.name} {above} {upper}"


def _end(end: Expr) -> str:
    """Infinity as a number, which no parameter by the name of a function can hide: 1e999 is float("inf")."""
    return {oo: "1e999", -oo: "-1e999"}.get(end) or decimal(end)
