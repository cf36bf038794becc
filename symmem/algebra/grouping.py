"""Contributions to one formula, grouped as a mathematician writes them.

One term per tensor contraction; before it the entrywise factors; before each of these a coefficient in the
decays, split into its limit and a transient where the denominator depends on n.
"""

from __future__ import annotations

from collections.abc import Iterable

from sympy import Add, Expr, Mul, S

from symmem.algebra.atoms import STEP, Kind, contraction, is_contraction, kind, split_scalar, terms_of
from symmem.algebra.passes import collect, distribute, divide_out
from symmem.algebra.pieces import merge
from symmem.algebra.rational import Quotient
from symmem.algebra.reals import real_product
from symmem.algebra.results import Missing
from symmem.algebra.scalars import Scalars
from symmem.work import checkpoint

Rows = dict[Expr, dict[Expr, list[Expr]]]
"""tensor factor -> entrywise factor -> scalars"""


def group(contributions: Iterable[Expr], scalars: Scalars, *, merge_products: bool = True) -> Expr:
    """The sum of the contributions, grouped; equal in value.

    ``merge_products`` writes several products with the Hessian as one where that is possible.
    """
    rows: Rows = {}
    for contribution in contributions:
        checkpoint("the grouping of the terms")
        for term in terms_of(distribute(collect(contribution, scalars))):
            for part in terms_of(divide_out(term, scalars)):
                scalar, tensor, entrywise = _split(part)
                rows.setdefault(tensor, {}).setdefault(entrywise, []).append(scalar)
    written: dict[Expr, dict[Expr, Expr]] = {}
    for tensor, row in rows.items():
        coefficients = {entrywise: coefficient(parts, scalars) for entrywise, parts in row.items()}
        kept = {entrywise: value for entrywise, value in coefficients.items() if value != 0}
        if kept:
            written[tensor] = kept
    if merge_products:
        written = _fewest_products(written, scalars)
    content = scalars.content([value for row in written.values() for value in row.values()])
    return Mul(content, Add(*_by_coefficient(written, content, scalars)))


def _by_coefficient(rows: dict[Expr, dict[Expr, Expr]], content: Expr, scalars: Scalars) -> list[Expr]:
    """The rows; those that differ by a number in their scalar factor share it: ``c (u + 1/2 v)``."""
    shared: dict[Expr, list[Expr]] = {}
    single = []
    for tensor, row in rows.items():
        if set(row) == {S.One} and tensor != 1:
            number, core = scalars.split_number(row[S.One], content)
            shared.setdefault(core, []).append(number * tensor)
        else:
            single.append(_row(tensor, row, content, scalars))
    return [*single, *(Mul(core, Add(*vectors)) for core, vectors in shared.items())]


def coefficient(parts: Iterable[Expr], scalars: Scalars) -> Expr:
    """The sum of scalars: merged decay by decay, each piece as limit plus transient where that is shorter."""
    elements: list[Quotient] = []
    rest: list[Expr] = []
    for part in parts:
        found = scalars.pieces(part)
        if found is None:
            rest.append(part)
        else:
            elements += found
    pieces = merge(scalars, elements)
    common = _common_factor(pieces, scalars)
    if not common.is_one():
        pieces = [piece / common for piece in pieces]
    written = [_limit_and_transient(piece, scalars) for piece in pieces]
    return Add(Mul(scalars.write(common), Add(*written)), *rest)


def _split(part: Expr) -> tuple[Expr, Expr, Expr]:
    """``(scalar, tensor, entrywise)`` factors of a term."""
    scalar, vector = split_scalar(part)
    factors = Mul.make_args(vector)
    tensor = Mul(*(factor for factor in factors if kind(factor) is Kind.TENSOR))
    entrywise = real_product(factor for factor in factors if kind(factor) is not Kind.TENSOR)
    return scalar, tensor, entrywise


def _row(tensor: Expr, row: dict[Expr, Expr], content: Expr, scalars: Scalars) -> Expr:
    terms = (Mul(scalars.ratio(scalar, content), entrywise) for entrywise, scalar in row.items())
    return Mul(Add(*terms), tensor)


def _fewest_products(rows: dict[Expr, dict[Expr, Expr]], scalars: Scalars) -> dict[Expr, dict[Expr, Expr]]:
    """Merges ``c_1 D2L(u) + c_2 D2L(v)`` into ``D2L(c_1 u + c_2 v)`` where the factors are scalars."""
    linear = [tensor for tensor, row in rows.items() if set(row) == {S.One} and is_contraction(tensor)]
    linear = [tensor for tensor in linear if len(tensor.args) == 1]
    if len(linear) < 2:
        return rows
    direction = collect(Add(*(rows[tensor][S.One] * tensor.args[0] for tensor in linear)), scalars)
    scalar, tensor = split_scalar(contraction(direction))
    kept = {other: row for other, row in rows.items() if other not in linear}
    return {**kept, tensor: {S.One: scalar}}


def _common_factor(pieces: list[Quotient], scalars: Scalars) -> Quotient:
    """The largest monomial, in the parameters that are no decays, that divides every piece."""
    field = scalars.field
    common = field.number(1)
    if not pieces:
        return common
    for position in range(len(field.rationals.names)):
        if field.meaning(position).free_symbols & scalars.decays or field.meaning(position) in field.indices:
            continue
        least = min(min(exponents[position] for exponents in piece.numerator.to_dict()) for piece in pieces)
        common = common * field.rationals.generator(position) ** least
    return common


def _limit_and_transient(piece: Quotient, scalars: Scalars) -> Expr:
    """``lim + (piece - lim)`` where the denominator depends on n, as in beta/(1-beta) - (n+1) beta^(n+1)/(..)."""
    above, below = piece.numerator.degrees(), piece.denominator.degrees()
    positions = scalars.field.positions(STEP)
    if any(above[position] > 0 for position in positions) and any(
        below[position] > 0 for position in positions
    ):
        limit = scalars.limit(piece)
        if not isinstance(limit, Missing) and not limit.is_zero():
            return scalars.write(limit) + scalars.write(piece - limit)
    return scalars.write(piece)
