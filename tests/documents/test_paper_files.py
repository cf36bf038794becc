r"""A paper about several methods: its files, its parts, an author's own macros, and the classes of journals."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from command import run
from printed import COMPLAINTS, complaints, needs_class, told
from truth import load

import symmem
from symmem.declaration.citation import Citation
from symmem.documents.paper.dealt import dealt
from symmem.documents.paper.displays import Writer
from symmem.documents.paper.example import inside_roots, table
from symmem.documents.paper.glossary import choices, glossary
from symmem.documents.paper.layout import CLASSES, Layout, Share, page_of
from symmem.documents.paper.macros import MACROS, PREFIX
from symmem.documents.paper.paper import COMPARISON, GENERAL, Paper
from symmem.errors import SymmemError
from symmem.notation.statement import N

MINE = """
name = "mine"
phi = "m1 + eta*m2"
[parameters]
beta = { default = 0.9, latex = '\\beta', range = "[0, 1)" }
eta = { default = 0.1, latex = '\\eta' }
[[momentum]]
g = "grad"
beta = "beta"
b = "(1 - beta)/(1 - beta**(n + 1))"
[[momentum]]
g = "theta"
beta = "0"
b = "1"
[citation.loshchilov2019]
type = "inproceedings"
author = "Loshchilov, Ilya and Hutter, Frank"
title = "Decoupled Weight Decay Regularization"
year = "2019"
booktitle = "International Conference on Learning Representations"
url = "https://arxiv.org/abs/1711.05101"
"""


def compiled(folder: Path, name: str) -> str:
    """The log of the last of the runs that an author makes: pdflatex, bibtex, pdflatex twice."""
    commands = [["pdflatex", "-interaction=nonstopmode", "-halt-on-error", name]] * 3
    for command in (commands[0], ["bibtex", name], *commands[1:]):
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=120)
        assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-2000:]
    return (folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")


def test_several_optimizers_in_one_folder(tmp_path: Path) -> None:
    """One preamble, one bibliography, one theorem, one section each, one table; an author compiles it with bibtex."""
    (tmp_path / "mine.toml").write_text(MINE)
    done = run("emit", "adamw", "lion", "mine.toml", "--target", "latex", "-o", "paper/", cwd=tmp_path)
    names = ["paper.tex", "general.tex", "adamw.tex", "lion.tex", "mine.tex", "comparison.tex"]
    expected = [f"paper/{name}" for name in (*names, "paper.bib", "symmem-macros.tex")]
    assert (done.returncode, done.stdout.decode().split(), done.stderr) == (0, expected, b"")
    folder = tmp_path / "paper"
    entries = re.findall(r"^@\w+\{([^,]*),", (folder / "paper.bib").read_text(), re.MULTILINE)
    assert sorted(entries) == ["cattaneo2025", "chen2023", "loshchilov2019"]
    texts = "".join((folder / name).read_text() for name in names)
    assert (texts.count(r"\begin{theorem}"), texts.count(r"\begin{document}")) == (1, 1)
    assert re.findall(r"\\label\{sec:(.*?)\}", texts) == ["memoryless", "adamw", "lion", "mine"]
    assert texts.count(r"\label{tab:comparison}") == 1
    assert COMPLAINTS.findall(compiled(folder, "paper")) == []


def test_a_file_of_the_author_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "paper.bib").write_text("@misc{mine, title = {Mine}}\n")
    done = run("emit", "gd", "heavyball", "--target", "latex", "-o", "paper", cwd=tmp_path)
    assert done.returncode == 2
    assert "paper.bib" in done.stderr.decode()
    assert [path.name for path in (tmp_path / "paper").iterdir()] == ["paper.bib"]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["gd", "heavyball", "--target", "numpy"], "one optimizer"),
        (["gd", "gd", "--target", "latex"], "another name"),
        (["gd", "--target", "latex", "--width", "12"], "--width"), (["gd", "--target", "latex", "--coq"], "-o"),
        (["gd", "--target", "latex", "--part", "appendix"], "--part"),
        (["gd", "--target", "numpy", "--part", "proof"], "latex"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_said(arguments: list[str], word: str, tmp_path: Path) -> None:
    done = run("emit", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert word in done.stderr.decode()


def test_two_works_under_one_key_are_an_error() -> None:
    first, second = (told(load(name)) for name in ("gd", "heavyball"))
    assert len({work.key for work in Paper((first, second)).works}) == 3
    other = Citation(first.optimizer.citations[0].key, "misc", (("title", "Another work"),))
    clash = replace(second, optimizer=replace(second.optimizer, citations=(other,)))
    with pytest.raises(SymmemError, match="two different works"):
        _ = Paper((first, clash)).works


def test_statement_and_proof_stand_apart() -> None:
    """The two together have every environment of the whole once, and compile behind each other."""
    accounts = (told(load("adamw")), told(load("heavyball")))
    texts = {share: Paper(accounts, layout=Layout(share=share)) for share in Share}

    def counted(paper: Paper) -> dict[str, int]:
        found = re.findall(r"\\begin\{(theorem|lemma|corollary|proof|example|table)\}", paper.body)
        return {kind: found.count(kind) for kind in sorted(set(found))}

    whole, statement, proof = (counted(texts[s]) for s in (Share.WHOLE, Share.STATEMENT, Share.PROOF))
    assert {**statement, **proof} == whole
    assert set(proof) == {"proof"}
    together = Paper(accounts).document(texts[Share.STATEMENT].body + texts[Share.PROOF].body)
    assert complaints(together) == []
    assert "lemma" not in counted(texts[Share.LIMIT])
    assert complaints(texts[Share.LIMIT].document()) == []


HOSTILE = r"""\newcommand{\lr}[2]{#1#2}\newcommand{\loss}{\mathrm{mine}}\newcommand{\norm}[1]{\lVert#1\rVert_2}
\newcommand{\abs}[1]{|#1|}\newcommand{\bF}{x}\newcommand{\mom}{y}\newcommand{\update}{z}\newcommand{\gain}{u}
\newtheorem{theorem}{Satz}\newtheorem{lemma}[theorem]{Hilfssatz}\newtheorem{remark}{Bemerkung}"""


def test_the_macros_of_an_author_stay_theirs(tmp_path: Path) -> None:
    """Before and behind ours: nothing of ours is redefined or breaks, for every name of ours has its prefix."""
    assert all(macro.command.startswith(PREFIX) for macro in MACROS)
    done = run("emit", "heavyball", "lion", "--target", "latex", "-o", "x/", cwd=tmp_path)
    assert done.returncode == 0
    source = (tmp_path / "x" / "paper.tex").read_text()
    for place in (r"\input{symmem-macros.tex}", r"\begin{document}"):
        (tmp_path / "x" / "paper.tex").write_text(source.replace(place, HOSTILE + place))
        assert COMPLAINTS.findall(compiled(tmp_path / "x", "paper")) == []


def test_a_pdf_can_be_named(tmp_path: Path) -> None:
    done = run("emit", "gd", "--target", "latex", "--pdf", "-o", "x.pdf", cwd=tmp_path)
    assert (done.returncode, done.stdout.decode().split()[-1]) == (0, "x.pdf")
    assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "x.tex").exists()


def test_a_letter_means_one_thing_in_a_paper() -> None:
    """AdamW's and heavy ball's coefficients have other templates, NAdamW's has AdamW's."""
    accounts = tuple(told(load(name)) for name in ("adamw", "ademamix", "nadamw", "aggmo", "radam", "laprop"))
    whole = dealt(accounts, Layout())
    parts = [part for given in whole for part in (given.lemma, given.settled)]
    blocks = [part.numbering.left(block, N) for part in parts for block in part.blocks]
    assert len(blocks) == len(set(blocks)) > 3
    found = [each for given in whole for each in given.lemma.shorthands]
    assert len(found) > 1
    meanings = {(each.letter, each.template) for each in found}
    assert (
        len({letter for letter, _ in meanings})
        == len(meanings)
        == len({template for _, template in meanings})
    )


@pytest.mark.parametrize("page", [*CLASSES, "235", "397"])
def test_a_paper_fits_its_page(page: str) -> None:
    """No overfull line in the real classes, and in the columns of ICML and NeurIPS by their widths."""
    needs_class(page_of(page).document_class)
    accounts = tuple(told(load(name)) for name in ("adamw", "lion", "heavyball"))
    compared = symmem.compare(["adamw", "lion", "heavyball"]).entries
    paper = Paper(accounts, compared, Layout(page_of(page)))
    assert complaints(paper.document()) == []


def test_a_width_that_is_none_is_refused() -> None:
    for asked in ("llncs", "-3", "nan", "1e9", ""):
        with pytest.raises(SymmemError, match="--width"):
            page_of(asked)


def test_the_parts_of_a_paper_have_their_own_names() -> None:
    accounts = (told(load("gd")),)
    assert list(Paper(accounts).parts) == [GENERAL, "gd"]
    parts = Paper(accounts, symmem.compare(["gd"]).entries).parts
    assert list(parts) == [GENERAL, "gd", COMPARISON]
    # An author reads the first lines: they name every package that a later part asks for.
    packages = [set(re.findall(r"\\usepackage\{(.*?)\}", text)[0].split(",")) for text in parts.values()]
    assert set.union(*packages) == packages[0] >= {"longtable"}


def test_what_stands_inside_a_root_is_said() -> None:
    known = {"adamw": [r"\varepsilon"], "lion": [r"\varepsilon"], "adamw-torch": [], "heavyball": []}
    assert {name: inside_roots(load(name)) for name in known} == known


def test_every_function_of_a_tensor_is_defined_before_it_is_used() -> None:
    """Where the data of an account hold such a function, its definition stands in the example, before the lemma."""
    for name, functions in (
        ("muon", 2),
        ("shampoo-ema", 3),
        ("muon-torch", 1),
        ("adamw", 0),
        ("stable-adamw", 1),
    ):
        account = told(load(name))
        assert len(glossary(account)) == functions, name
        section = Paper((account,)).parts[name]
        places = [section.index(sentence) for sentence in glossary(account)]
        assert all(place < section.index(r"\begin{lemma}") for place in places)


@pytest.mark.parametrize("name", ["radam", "nadam-torch"])
def test_a_choice_between_numbers_is_defined_before_the_lemma(name: str) -> None:
    account = told(load(name))
    section = Paper((account,)).parts[name]
    has_one = name == "radam"
    assert (r"\operatorname{where}(" in section.replace(r"\biggl", "")) == has_one
    assert len(choices(account)) == has_one
    assert all(section.index(sentence) < section.index(r"\begin{lemma}") for sentence in choices(account))


def test_a_column_of_the_table_has_what_the_other_leaves() -> None:
    """A factor that is wider than half of the line stands in one line where the gradients beside it leave the room."""
    optimizer = load("nadam-torch")
    piece = Writer.of(optimizer).piece
    wide_g, wide_b = (
        max(piece(part).width for part in column)
        for column in zip(*((v.g, v.b) for v in optimizer.momentum), strict=True)
    )
    room = wide_g + wide_b + 10
    assert wide_b > room / 2
    for width, breaks in ((room + 0.1, False), (room - 0.1, True)):
        rows = table(optimizer, Writer.of(optimizer, width))
        assert len(rows) == 3
        assert any("aligned" in row[3] for row in rows) == breaks
        assert not any("aligned" in cell for row in rows for cell in row[:3])
