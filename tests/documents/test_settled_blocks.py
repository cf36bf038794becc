"""What follows from a lemma, in blocks: put back they are the formula; each is defined once, before it is read."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from printed import told
from sympy import Expr, Integer, Rational, Sum, oo
from sympy.core.function import AppliedUndef
from truth import load

import symmem
from symmem import Optimizer
from symmem.algebra.atoms import STEP
from symmem.documents.account import account_of
from symmem.documents.paper.blocks import MOST_LINES, Numbering, height
from symmem.documents.paper.displays import Writer
from symmem.documents.paper.layout import Layout, Share
from symmem.documents.paper.paper import Paper
from symmem.documents.paper.section import PARTS
from symmem.documents.paper.settled import Settled, settled, settled_noise
from symmem.method.sampling import Sampling
from symmem.notation.block_places import NUMBER, VECTOR, canonical
from symmem.notation.blocks import Block
from symmem.verification.evaluation import evaluate
from symmem.verification.losses import coupled_loss, probe_point
from symmem.verification.vectors import relative_error

USED = re.compile(r"\\smmbu_\{\d+\}|\\smmnum_\{\d+\}")
DEFINED = re.compile(r"(\\smm(?:bu|num)_\{\d+\})(?:\^\{\(n\)\})? (?:&= |\\\\)")


SHAPE = (2, 3)
THETA, CHANGE = probe_point(6), [Rational(k, 7) for k in (3, -2, 5, 1, -4, 2)]
VALUES = {"beta1": Rational(7, 10), "beta2": Rational(9, 10), "eps": Rational(1, 50)}


def put_back(formula: Expr, blocks: Sequence[Block]) -> Expr:
    """By this test's own substitution, the last block first; a use at a step s has s in the place of n."""
    for block in reversed(blocks):
        head = VECTOR if block.is_vector else NUMBER
        # The index of a sum in it is no step of the formula.
        own = {sum_: sum_.as_dummy() for sum_ in block.template.atoms(Sum)}
        template = block.template.xreplace(own)
        formula = formula.xreplace(
            {
                use: template.xreplace(dict(zip([STEP], use.args[1:], strict=False)))
                for use in formula.atoms(AppliedUndef)
                if use.func == head and use.args[0] == block.number
            }
        )
    return canonical(formula)


def agree(one: Expr, other: Expr, optimizer: Optimizer) -> bool:
    """A symbolic zero, or numbers on a matrix: sums of what is spelled in two ways have no zero to be seen.

    Of an endless sum the first terms are compared.
    """
    if (one - other).expand() == 0:
        return True
    one, other = (each.xreplace({oo: Integer(4)}) for each in (one, other))
    scalars = {p.name: VALUES.get(p.name, p.default) for p in optimizer.parameters} | {
        "n": 3,
        "lr": Rational(1, 10),
    }
    vectors = {"theta": THETA, "gradient_change": CHANGE}
    layouts = dict.fromkeys((*vectors, "grad"), (SHAPE,))
    found = [
        evaluate(each, scalars, vectors, coupled_loss(6), layouts=layouts, digits=20) for each in (one, other)
    ]
    return bool(relative_error(*found) < 1e-15)


def holds(found: Settled, writer: Writer, optimizer: Optimizer) -> None:
    assert found.blocks
    for formula, written in found.written.items():
        assert height(formula, (), writer) > MOST_LINES
        assert agree(put_back(written, found.blocks), canonical(formula), optimizer)
        assert height(written, found.blocks, writer) <= MOST_LINES
    for block in found.blocks:
        assert height(block.template, found.blocks, writer) <= MOST_LINES


@pytest.mark.parametrize("name", ["adam-l2", "lamb", "shampoo-ema"])
def test_long_formulas_are_read_in_blocks(name: str) -> None:
    account = told(load(name))
    writer = Writer.of(account.optimizer)
    holds(settled(account, writer, Numbering()), writer, load(name))


@pytest.mark.prove
@pytest.mark.parametrize("name", symmem.zoo())
def test_nothing_that_follows_is_longer_than_a_person_reads(name: str) -> None:
    account = told(load(name))
    writer = Writer.of(account.optimizer)
    found = settled(account, writer, Numbering())
    if found.blocks:
        holds(found, writer, load(name))


@pytest.mark.prove
def test_what_batches_add_is_read_in_blocks() -> None:
    """Adam's M_xi: two pages without them."""
    account = account_of(symmem.derive("adam"), sampling=Sampling(), parts=PARTS)
    writer = Writer.of(account.optimizer)
    holds(settled_noise(account, writer, Numbering()), writer, load("adam"))


@pytest.mark.parametrize("share", [Share.WHOLE, Share.LIMIT])
def test_every_letter_is_defined_once_and_before_it_is_read(share: Share) -> None:
    """In a paper of two methods, whichever of its parts are written."""
    paper = Paper(tuple(told(load(name)) for name in ("adam-l2", "lamb")), layout=Layout(share=share))
    known: list[str] = []
    for part in paper.parts.values():
        for line in part.splitlines():
            new = DEFINED.match(line.strip())
            read = USED.findall(line[new.end() if new else 0 :])
            assert set(read) <= set(known), line
            known += [new[1]] if new else []
    assert len(known) == len(set(known)) > 5
    assert sorted(known, key=lambda use: int(use.strip("}").rpartition("{")[2]))[0].endswith("{1}")
