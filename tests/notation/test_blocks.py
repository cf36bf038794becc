"""Blocks of a long formula: with every block put back it is the formula, and what stands in it is short."""

from __future__ import annotations

import pytest
from sympy import Abs, Function, Integer, Sum, Symbol, sqrt

import symmem
from symmem.algebra.atoms import GRAD, LR, PAST, STEP, Kind
from symmem.algebra.where import where
from symmem.derivation.past.correction import finite_correction
from symmem.method.reading import method_of
from symmem.notation.block_places import NUMBER, VECTOR, canonical, kind_of, uses
from symmem.notation.blocks import blocked
from symmem.verification.evaluation import evaluate

D2L = Function("D2L")
BETA, EPS = Symbol("beta"), Symbol("eps")


def size(part) -> float:
    return float(part.count_ops())


def is_long(part) -> bool:
    return part.count_ops() > 40


def put_back(formula, blocks):
    """By this test's own substitution, the last block first; the sums inside a block get indices of their own."""
    for count, block in enumerate(reversed(blocks)):
        indices = {index for found in block.template.atoms(Sum) for index in found.variables}
        fresh = {index: Symbol(f"{index.name}_{count}") for index in indices}
        head = VECTOR if block.is_vector else NUMBER
        for use in [found for found in formula.atoms(head) if found.args[0] == block.number]:
            inside = block.template.xreplace(fresh)
            step = {STEP: use.args[1]} if len(use.args) > 1 else {}
            formula = formula.xreplace({use: inside.xreplace(step)})
    return canonical(formula)


@pytest.mark.parametrize("name", ["rmsprop-momentum", "laprop", "adapnm"])
def test_with_its_blocks_put_back_it_is_the_formula(name: str) -> None:
    formula = finite_correction(method_of(symmem.load(name)))
    found = blocked(formula, size, is_long, 20.0)
    assert found.blocks
    assert put_back(found.formula, found.blocks) - canonical(formula) == 0
    assert not is_long(found.formula)


def test_each_block_reads_only_those_before_it() -> None:
    found = blocked(finite_correction(method_of(symmem.load("rmsprop-momentum"))), size, is_long, 20.0)
    known = set()
    for block in found.blocks:
        assert {(use.func == VECTOR, int(use.args[0])) for use in uses(block.template)} <= known
        known.add((block.is_vector, block.number))


def test_one_block_serves_every_step() -> None:
    """The same root at n and at the index of a sum is one block, at two steps."""
    root = sqrt((1 - BETA ** (STEP + 1)) * GRAD**2 + EPS) + EPS / (1 - BETA ** (STEP + 1))
    past = root.xreplace({STEP: PAST})
    formula = LR * (
        D2L(Abs(GRAD) / root) + Sum(BETA ** (STEP - PAST) * D2L(GRAD / past), (PAST, 0, STEP - 1))
    )
    found = blocked(formula, size, is_long, 20.0)
    (block,) = found.blocks
    assert put_back(found.formula, found.blocks) - canonical(formula) == 0
    assert {use.args for use in uses(found.formula)} == {(1, STEP), (1, PAST)}
    assert block.is_vector


def test_a_new_name_of_an_index_takes_no_other_index() -> None:
    """sum_{r<3} sum_{s<=r} 2^(r-s), its indices called as those of the canonical form, but in the other order."""
    inner, outer = Symbol("s1"), PAST
    total = Sum(2 ** (outer - inner), (inner, 0, outer), (outer, 0, 2))
    assert canonical(total).doit() == total.doit() == 11
    nested = Sum(outer * Sum(inner + outer, (inner, 0, outer)), (outer, 0, 3))
    assert canonical(nested).doit() == nested.doit()


def test_what_is_made_of_blocks_is_a_vector_where_one_of_them_is() -> None:
    """Their letters differ: u_1 - u_2 is no zero, which would be a number."""
    first, second = VECTOR(1), VECTOR(2)
    assert kind_of(first - second) is kind_of(NUMBER(1) * first - NUMBER(2) * first) is Kind.ENTRYWISE
    assert kind_of(NUMBER(1) - NUMBER(2)) is Kind.SCALAR


def test_a_condition_follows_the_index_of_its_sum() -> None:
    """sum_{r<4} (1 where r > 1, else 5), under another name of the index: 5 + 5 + 1 + 1."""
    r = Symbol("r")
    found = canonical(Sum(where(r > 1, Integer(1), Integer(5)), (r, 0, 3)))
    assert found.free_symbols == set()
    assert evaluate(found, {}, {}) == 12
