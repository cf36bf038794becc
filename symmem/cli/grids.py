"""``--grid PARAMETER=NUMBER,NUMBER...``: values of parameters over which a sweep goes."""

# ruff: noqa: PLC0415  # a room is imported when its command runs: symmem -h needs no SymPy

from __future__ import annotations

from symmem.errors import DeclarationError, SymmemError, quote


def parameters(name: str) -> list[str]:
    """The names of the parameters of an optimizer."""
    from symmem.declaration.loading import load

    return [parameter.name for parameter in load(name).parameters]


def checked(grid: dict[str, list[str]]) -> dict[str, list[str]]:
    """The grid, once its numbers are numbers and an optimizer of the zoo has each parameter."""
    if not grid:
        return grid
    from symmem.declaration.catalogue import names
    from symmem.declaration.exact import exact_number
    from symmem.declaration.names import suggestion

    known = {parameter for name in names() for parameter in parameters(name)}
    for parameter, values in grid.items():
        if parameter not in known:
            hint = suggestion(parameter, sorted(known)) or "; symmem show NAME has the parameters of one"
            raise SymmemError(f"--grid {quote(parameter)}: no optimizer of the zoo has it{hint}")
        for value in values:
            try:
                exact_number(value)
            except DeclarationError as error:
                raise error.within(f"--grid {parameter}") from None
    return grid


def grid_of(axes: tuple[str, ...]) -> dict[str, list[str]]:
    """The numbers, as text, by the names of their parameters."""
    grid: dict[str, list[str]] = {}
    for axis in axes:
        name, equals, values = (part.strip() for part in axis.partition("="))
        numbers = [value.strip() for value in values.split(",")]
        if not (name and equals and all(numbers)):
            raise SymmemError(
                f"--grid {quote(axis)}: write PARAMETER=NUMBER,NUMBER, for example beta1=0.8,0.9"
            )
        if name in grid:
            raise SymmemError(f"--grid {quote(name)} is given twice; give all its numbers at once")
        grid[name] = numbers
    return grid
