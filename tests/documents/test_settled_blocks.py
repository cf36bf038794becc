"""What follows from a lemma, in blocks: put back they are the formula; each is defined once, before it is read."""

from __future__ import annotations

import re

import pytest
from printed import told
from truth import load

import symmem
from symmem.documents.account import account_of
from symmem.documents.paper.blocks import MOST_LINES, Numbering, height
from symmem.documents.paper.displays import Writer
from symmem.documents.paper.layout import Layout, Share
from symmem.documents.paper.paper import Paper
from symmem.documents.paper.section import PARTS
from symmem.documents.paper.settled import Settled, settled, settled_noise
from symmem.method.sampling import Sampling
from symmem.notation.block_places import NUMBER, VECTOR, canonical

USED = re.compile(r"\\smmbu_\{\d+\}|\\smmnum_\{\d+\}")
DEFINED = re.compile(r"(\\smm(?:bu|num)_\{\d+\})(?:\^\{\(n\)\})? (?:&= |\\\\)")


def put_back(formula, blocks):
    """By this test's own substitution, the last block first."""
    for block in reversed(blocks):
        head = VECTOR if block.is_vector else NUMBER
        formula = formula.xreplace({head(block.number): block.template})
    return canonical(formula)


def holds(found: Settled, writer: Writer) -> None:
    assert found.blocks
    for formula, written in found.written.items():
        assert height(formula, (), writer) > MOST_LINES
        assert (put_back(written, found.blocks) - canonical(formula)).expand() == 0
        assert height(written, found.blocks, writer) <= MOST_LINES
    for block in found.blocks:
        assert height(block.template, found.blocks, writer) <= MOST_LINES


@pytest.mark.parametrize("name", ["adam-l2", "lamb", "shampoo-ema"])
def test_long_formulas_are_read_in_blocks(name: str) -> None:
    account = told(load(name))
    writer = Writer.of(account.optimizer)
    holds(settled(account, writer, Numbering()), writer)


@pytest.mark.prove
@pytest.mark.parametrize("name", symmem.zoo())
def test_nothing_that_follows_is_longer_than_a_person_reads(name: str) -> None:
    account = told(load(name))
    writer = Writer.of(account.optimizer)
    found = settled(account, writer, Numbering())
    if found.blocks:
        holds(found, writer)


@pytest.mark.prove
def test_what_batches_add_is_read_in_blocks() -> None:
    """Adam's M_xi: two pages without them."""
    account = account_of(symmem.derive("adam"), sampling=Sampling(), parts=PARTS)
    writer = Writer.of(account.optimizer)
    holds(settled_noise(account, writer, Numbering()), writer)


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
