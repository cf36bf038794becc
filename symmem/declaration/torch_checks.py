"""How PyTorch spells an optimizer, checked against its parameters and momentum variables; see :mod:`.validation`."""

from __future__ import annotations

import keyword
from typing import TYPE_CHECKING

from symmem.algebra.atoms import STEP, momentum_symbol
from symmem.declaration.names import suggestion
from symmem.errors import DeclarationError, quote

if TYPE_CHECKING:
    from symmem.declaration.optimizer import Optimizer

MAX_WORD = 64


def check_torch(optimizer: Optimizer) -> None:
    """Every argument names a parameter, every state a momentum variable, and all are words of Python."""
    if optimizer.torch is None:
        return
    parameters = [parameter.name for parameter in optimizer.parameters]
    spelled = [name for value in optimizer.torch.arguments.values() for name in _listed(value)]
    for key, value in optimizer.torch.arguments.items():
        _check_identifier("arguments", key)
        for name in _listed(value):
            if spelled.count(name) > 1:
                raise DeclarationError(f"torch: arguments: {key}: {quote(name)} stands twice; name it once")
            if name not in parameters:
                hint = f"{', '.join(parameters)}{suggestion(name, parameters)}"
                raise DeclarationError(
                    f"torch: arguments: {key}: {quote(name)} is not a parameter; known are {hint}"
                )
        if key == "lr" or (key in parameters and key not in spelled):
            taken = "the learning rate" if key == "lr" else f"the parameter {key}"
            raise DeclarationError(f"torch: arguments: {key} is {taken}; use another name")
    variables = [momentum_symbol(position).name for position in range(1, len(optimizer.momentum) + 1)]
    for key, value in optimizer.torch.state.items():
        if key not in variables:
            raise DeclarationError(
                f"torch: state: {quote(key)} is not a momentum variable; known are {', '.join(variables)}"
            )
        _check_identifier(f"state: {key}", value)
    for key, number in optimizer.torch.numbers.items():
        _check_identifier("numbers", key)
        for name in sorted(symbol.name for symbol in number.free_symbols if symbol != STEP):
            if name not in parameters:
                hint = f"{', '.join((*parameters, STEP.name))}{suggestion(name, parameters)}"
                raise DeclarationError(
                    f"torch: numbers: {key}: {quote(name)} is not a parameter; known are {hint}"
                )
    names = [*optimizer.torch.state.values(), *optimizer.torch.numbers]
    if len({*names, "step"}) <= len(names):
        raise DeclarationError(
            'torch: state and numbers: two entries have the same name, or one is "step"; rename one'
        )
    for key in optimizer.torch.options:
        _check_identifier("options", key)


def _listed(names: tuple[str, ...] | str) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names


def _check_identifier(entry: str, word: object) -> None:
    if not isinstance(word, str) or not word.isascii() or not word.isidentifier() or len(word) > MAX_WORD:
        raise DeclarationError(
            f"torch: {entry}: {quote(word)} is not a Python name; write it as in torch.optim"
        )
    if keyword.iskeyword(word):
        raise DeclarationError(f"torch: {entry}: {quote(word)} is a keyword of Python; choose another name")
