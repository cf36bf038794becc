"""The optimizer itself, for a paper: the example, the table of its momentum variables, its parameters."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Add, Expr, Mul, Pow, Sum, Symbol

from symmem.algebra.atoms import AGO, STEP, momentum_symbol
from symmem.algebra.results import Part
from symmem.declaration.optimizer import Momentum, Optimizer
from symmem.declaration.records import VectorFunction
from symmem.documents.paper.displays import Row, Writer
from symmem.documents.paper.escaping import typeset
from symmem.documents.program_named import Code, program_sentences
from symmem.documents.scheduled import front, rate
from symmem.documents.update import remembered
from symmem.notation.declared_latex import potential_of
from symmem.notation.formula import Atom, Formula, Number
from symmem.notation.statement import (
    ONE,
    Applied,
    AtStep,
    Equality,
    Indexed,
    Iterate,
    Letter,
    N,
    added,
    difference,
    times,
)

MOST_ARGUMENTS = 5
"""More momentum variables than this are not all written as arguments."""
_NEXT = added(N, ONE)


def example(optimizer: Optimizer, writer: Writer) -> str:
    """Phi and the momentum variables, as the paper writes its examples."""
    momenta = [Indexed(Letter("m"), Number(k)) for k in range(1, len(optimizer.momentum) + 1)]
    settled = [AtStep(momentum, _NEXT) for momentum in momenta]
    update = Applied(Letter("Phi"), _shortened(settled, writer))
    rows = [
        Row(Iterate(_NEXT), (difference(Iterate(N), times(front(optimizer), update)),)),
        Row(Applied(Letter("Phi"), _shortened(momenta, writer)), (optimizer.phi,)),
    ]
    if optimizer.schedule is not None:
        rows.insert(1, Row(rate(N), (optimizer.schedule,)))
    names: dict[str, Formula] = {}
    for left, variable in zip(settled, optimizer.momentum, strict=True):
        value, moment = _momentum(variable)
        value, read = _with_steps(value, variable, momenta, len(names))
        names |= read
        rows.append(Row(left, (value,), theta=Iterate(moment), arguments=True))
    return writer.naming(names).display(rows)


def _with_steps(
    value: Expr, variable: Momentum, momenta: Sequence[Formula], known: int
) -> tuple[Expr, dict[str, Formula]]:
    """The value with the variables that it reads at the step at which g is taken, by symbols that come after all."""
    symbols = [momentum_symbol(position) for position in range(1, len(momenta) + 1)]
    read = [symbol for symbol in symbols if symbol in variable.g.free_symbols]
    others = {
        symbol: momentum_symbol(len(momenta) + known + place) for place, symbol in enumerate(read, start=1)
    }
    step = read_at(variable)
    names: dict[str, Formula] = {}
    for symbol in read:
        names[others[symbol].name] = AtStep(momenta[symbols.index(symbol)], step)
    return value.xreplace(others), names


def read_at(variable: Momentum) -> Formula:
    """The step of the variables that a g reads: they have seen the iterate at which g is taken."""
    if variable.beta != 0:
        return added(difference(N, Atom(AGO.name)), ONE)
    late = variable.delay - 1
    return _NEXT if late < 0 else difference(N, Number(late)) if late else N


def _shortened(formulas: Sequence[Formula], writer: Writer) -> tuple[Formula, ...]:
    """Of many formulas, or of more than half a line of them, the first and the last."""
    wide = sum(writer.piece(formula).width for formula in formulas) > writer.width / 2
    if len(formulas) <= MOST_ARGUMENTS and not wide:
        return tuple(formulas)
    return formulas[0], Letter("dots"), formulas[-1]


def _momentum(variable: Momentum) -> tuple[Expr, Formula]:
    """``b sum_k beta^k g`` with the index of the iterate at which g is taken; ``0^0 = 1``."""
    if variable.beta == 0:
        at = difference(N, Number(variable.delay)) if variable.delay else N
        return variable.b * variable.g, at
    number, rest = variable.g.as_coeff_Mul()
    kernel = Sum(variable.beta**AGO * rest, (AGO, 0, STEP))
    return Mul(number, variable.b, kernel), difference(N, Atom(AGO.name))


def parameters(optimizer: Optimizer, writer: Writer) -> list[dict[str, str]]:
    """Symbol and range of each parameter."""
    return [
        {"symbol": parameter.latex, "range": writer.inline(parameter.range)}
        for parameter in optimizer.parameters
    ]


def functions(optimizer: Optimizer, writer: Writer) -> list[dict[str, str]]:
    """Symbol and kind of each open function."""
    return [{"symbol": each.latex, "kind": _kind(each, writer)} for each in optimizer.functions]


def _kind(function: VectorFunction, writer: Writer) -> str:
    """What is known of an open function; the letter of its potential, which the results are written with."""
    if function.potential is None:
        return "a vector function"
    letter = potential_of(function.latex) or writer.inline(Symbol(function.potential))
    return f"the gradient of a potential ${letter}$"


def remarks(optimizer: Optimizer, writer: Writer) -> list[str]:
    """Which program this is, and where it departs from it; nothing where none is named."""
    named = optimizer.implementation
    sentences = program_sentences(optimizer) if named is not None and named.is_named else ()
    return ["".join(_program(part, writer) for part in sentence) for sentence in sentences]


def _program(part: Part | Formula, writer: Writer) -> str:
    """Words of a program in its type."""
    if isinstance(part, Code):
        return rf"\texttt{{{' '.join(map(_breakable, part.split(' ')))}}}"
    return writer.sentence((part,))


def inside_roots(optimizer: Optimizer) -> list[str]:
    """The parameters that the update adds under a root; many methods are cited with them added to the root."""
    roots = [part.base for part in optimizer.phi.atoms(Pow) if part.exp.is_Rational and part.exp.q == 2]
    added_to = {term for base in roots if isinstance(base, Add) for term in base.args if term.is_Symbol}
    return [parameter.latex for parameter in optimizer.parameters if Symbol(parameter.name) in added_to]


def _breakable(word: str) -> str:
    """The dotted name of a program may be broken behind its dots, and behind a low line."""
    dotted = r".\allowbreak{}".join(map(typeset, word[:-1].split("."))) + typeset(word[-1:])
    return dotted.replace(r"\_", r"\_\allowbreak{}")


def update(optimizer: Optimizer, writer: Writer) -> str:
    """Phi for the last line of the table; broken into lines where it is too wide."""
    phi = Letter("Phi")
    whole = writer.piece(Equality(phi, writer.spelling.formula(optimizer.phi)))
    if whole.width <= writer.width - 2:
        return whole.text
    lines = writer.lines(Row(phi, (optimizer.phi,)), optimizer.phi, writer.width - 4)
    head = writer.inline(phi)
    return rf"\begin{{aligned}} {head} &= " + r" \\ &".join(lines) + r" \end{aligned}"


def table(optimizer: Optimizer, writer: Writer) -> list[list[str]]:
    """The cells of the table: number, g, beta, b; a cell that is too wide is broken into lines.

    A column of g or b has half of the line, and what the other leaves of its half.  Nothing where a broken cell would
    still be too wide: the display of the example has the same in full.
    """
    half = writer.width / 2 - 5
    wide_g, wide_b = (
        max(writer.piece(part).width for part in column)
        for column in zip(*((v.g, v.b) for v in optimizer.momentum), strict=True)
    )
    shares = [2 * half - min(wide_b, half), half, 2 * half - min(wide_g, half)]
    rows = []
    for position, variable in enumerate(optimizer.momentum, start=1):
        cells = [str(position)]
        for part, share in zip((variable.g, remembered(variable), variable.b), shares, strict=True):
            inline = writer.piece(part)
            if inline.width > 2 * share:
                return []
            if inline.width <= share:
                cells.append(inline.text)
            else:
                lines = writer.lines(Row(part, (part,)), part, share)
                cells.append(r"\begin{aligned} & " + r" \\ & ".join(lines) + r" \end{aligned}")
        rows.append(cells)
    return rows
