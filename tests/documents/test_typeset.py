r"""What pdflatex says of everything that is emitted for papers: no error, no overfull box, nothing undefined.

Also what a person meets at the command line: the files, the author's own notation, a compiler that is missing or that
rejects the document.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from command import run
from printed import COMPLAINTS, complaints, told
from truth import FIRST, SHOWN, load

import symmem
from symmem.documents.account import Account, account_of
from symmem.documents.paper import compilation as typeset
from symmem.documents.paper.bibliography import bibtex, works_of
from symmem.documents.paper.compilation import typeset_document
from symmem.documents.paper.escaping import typeset as tex_text
from symmem.documents.paper.fragment import latex_fragment
from symmem.documents.paper.macros import MACROS, PAPER
from symmem.documents.paper.paper import Paper, macros_file, standalone
from symmem.documents.paper.section import paper_section
from symmem.notation.declared_latex import declared
from symmem.notation.formula import Atom, Formula, Fraction, Number, Power, Product, Sum, Term
from symmem.notation.latex import lines
from symmem.notation.latex_printer import LatexPrinter
from symmem.notation.latex_symbols import LatexSpeller
from symmem.notation.macros import Macros

PACKAGES = r"\usepackage[T1]{fontenc}\usepackage{lmodern,amsmath,amssymb,amsthm,booktabs,longtable}"
NASTY = r"A&B 100% of #1_{x}^2 ~$\alpha$ <é, Ł, ß, β, 中> \end{document}"


def document(body: str, options: str = "", before: str = "") -> str:
    head = rf"\documentclass{options}{{article}}{PACKAGES}{before}"
    return f"{head}\n{macros_file()}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"


def joined(accounts: list[Account]) -> str:
    """One paper about all of them."""
    return Paper(tuple(accounts)).document()


@pytest.mark.parametrize(
    ("order", "names"),
    [(1, FIRST), (2, SHOWN), (3, ("heavyball", "lion-k")), pytest.param(2, FIRST, marks=pytest.mark.prove)],
)
def test_the_documents_of_the_zoo_compile(order: int, names: tuple[str, ...]) -> None:
    """All in one run of the compiler; where it complains, each by itself, to name the one."""
    accounts = [told(load(name), order) for name in names]
    if complaints(joined(accounts)):
        assert {a.optimizer.name: complaints(standalone(a)) for a in accounts} == {name: [] for name in names}
        pytest.fail("the sections compile one by one, and not together")


@pytest.mark.parametrize(("name", "order"), [("adamw", 2), ("lion-k", 3)])
def test_the_standalone_document_compiles(name: str, order: int) -> None:
    assert complaints(standalone(told(load(name), order))) == []


def test_the_log_is_read_for_complaints() -> None:
    """The test of the test: an overfull line, an undefined reference and an error are seen."""
    wide = r"\begin{align*} " + "+".join([r"\frac{abc}{def}"] * 30) + r" \end{align*}"
    for body in (wide, r"\ref{nowhere}", r"\cite{nobody}", r"\undefined"):
        assert complaints(document(body)) != [], body


@pytest.mark.parametrize("size", ["[10pt]", "[11pt]", "[12pt]"])
def test_the_section_fits_every_size_of_article(size: str) -> None:
    body = Paper((told(load("adamw"), 2), told(load("lion-k")))).body
    works = "".join(rf"\bibitem{{{key}}}" for key in ("loshchilov2019", "chen2024", "cattaneo2025"))
    body += rf"\begin{{thebibliography}}{{9}}{works}\end{{thebibliography}}"
    assert complaints(document(body, size)) == []


def test_the_fragments_fit() -> None:
    body = "\n".join(latex_fragment(account_of(symmem.derive(load(name)))) for name in FIRST)
    assert complaints(document(body)) == []


def test_the_comparison_fits() -> None:
    assert complaints(document(symmem.compare(FIRST).to_latex())) == []


def test_a_long_name_leaves_room_for_the_formulas() -> None:
    """The name is broken between its words: the formulas have as many lines as beside a name of eight ems."""
    counts = []
    for title in ("Decoupled Adam!", "Decoupled Adam with a name that is as long as a sentence"):
        table = symmem.compare([replace(symmem.load("adamw"), title=title)]).to_latex()
        assert complaints(document(table)) == []
        counts.append(table.count(r" \\ &"))
    assert counts[0] == counts[1]


def widths_in_print(sources: list[str]) -> list[float]:
    """The widths that TeX finds, in ems."""
    boxes = [rf"\setbox0\hbox{{$\displaystyle {line}$}}\typeout{{width \the\wd0}}" for line in sources]
    log = typeset_document(document("\n".join(boxes)), {}).log
    measured = [float(found[1]) / 10 for found in re.finditer(r"width (-?[\d.]+)pt", log)]
    assert len(measured) == len(sources)
    return measured


def test_the_model_of_widths_is_that_of_tex() -> None:
    """No line is wider in print than the model says, by more than 2%; on the whole it is within 5%."""
    known = {}
    for name in ("heavyball", "nesterov", "rmsprop", "adam-torch", "adamw", "lion", "lion-k"):
        optimizer = load(name)
        derivation = symmem.derive(optimizer, 2)
        for value in (derivation.F, derivation.M, *derivation.coefficients, *derivation.modified_equation):
            for macros in (Macros(), PAPER):
                speller = LatexSpeller(optimizer.symbols, optimizer.function_symbols, macros=macros)
                known |= {line.source: line.size for line in lines(value, speller, 28) if line.size > 8}
    measured = widths_in_print(list(known))
    ratios = [size / in_print for size, in_print in zip(known.values(), measured, strict=True)]
    assert len(ratios) > 300
    assert min(ratios) > 0.98
    assert 1 < sum(ratios) / len(ratios) < 1.05
    assert max(measured) < 28.2


@pytest.mark.parametrize("fixed", [False, True])
def test_fractions_in_fractions_are_as_wide_as_tex_finds(fixed: bool) -> None:
    """Type grows no smaller than a script's script, and fixed brackets are of one size in all of them."""
    found: Formula = Sum((Term(False, Atom("a")), Term(True, Atom("b"))))
    pieces = []
    for _ in range(4):
        power = Power(Atom("x"), Sum((Term(False, Atom("n")), Term(False, Number(2)))))
        found = Sum(
            (
                Term(False, Number(1)),
                Term(True, Fraction(Product((power, found)), Product((Number(2), found)))),
            )
        )
        pieces.append(LatexPrinter(LatexSpeller({}, {}), fixed=fixed).line(found))
    for piece, in_print in zip(pieces, widths_in_print([piece.text for piece in pieces]), strict=True):
        assert 0.97 * in_print < piece.width < 1.1 * in_print, piece.text


DECLARED = [
    r"\beta_1", r"\hat{\beta}^{2}", r"\mathrm{weight\_decay}", r"\nabla\mathcal{K}", r"\rho_{12}^{3}",
    r"\frac{a + b}{c}", r"\sqrt{x_1}",
    r"\lVert w \rVert_{2}^{2}", r"\max(a, b)", r"\boldsymbol{W}_{ij}", r"\overline{m}'",
    r"a^{x + y - z}", r"\text{warm up}",
]  # fmt: skip


def test_declared_symbols_are_as_wide_as_tex_finds() -> None:
    for latex, in_print in zip(DECLARED, widths_in_print(DECLARED), strict=True):
        assert 0.97 * in_print < declared(latex, 0).width < 1.4 * in_print + 0.2, latex


def declaration(**changes: str) -> str:
    lines = {"name": "mine", "title": "Mine", "reference": "", "phi": "m1"} | changes
    head = "\n".join(f"{key} = '{value}'" for key, value in lines.items())
    return head + "\n[[momentum]]\ng = 'grad'\nbeta = '0.9'\nb = '1 - 0.9'\n"


ODD = {
    "symbols and functions": r"""
name = "odd"
phi = "m1 + f(m2) + m3 + m4 + m5 + tanh(m6)"
[parameters]
beta = { default = 0.5, latex = '\\hat{\\beta}^{2}', range = "[0, 1)" }
kappa = { default = 0.5, latex = '\\kappa' }
some_name = { default = 0.5 }
[functions]
f = { latex = 'f' }
""".replace("\\\\", "\\")
    + "".join(f"[[momentum]]\ng = '{g}'\nbeta = '{beta}'\nb = '{b}'\n" for g, beta, b in (
        ("grad", "beta", "1"), ("grad*theta**2", "0", "kappa"), ("theta", "0.9", "some_name"), ("grad", "1/3", "1"),
        ("sin(theta)", "beta**2", "1"), ("grad", "0", "1"),
    )),
    "no limit": "name = 'odd'\nphi = 'm1'\n[[momentum]]\ng = 'grad'\nbeta = '1/2'\nb = 'n + 1'\n",
    "no shift": "name = 'odd'\nphi = 'm1'\n[[momentum]]\ng = 'grad'\nbeta = '1/2'\nb = '1 + 1/(n + 1)'\n",
}  # fmt: skip


@pytest.mark.parametrize("which", ODD)
def test_what_the_zoo_does_not_have_compiles_too(which: str, tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_text(ODD[which], encoding="utf-8")
    assert complaints(standalone(told(load(str(tmp_path / "odd.toml"))))) == []


def test_special_characters_are_harmless(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(declaration(title=NASTY, reference=NASTY), encoding="utf-8")
    optimizer = load(str(tmp_path / "mine.toml"))
    source = standalone(told(optimizer))
    assert source.isascii()
    assert complaints(source) == []
    assert r"A\&B 100\% of \#1\_\{x\}\textasciicircum{}2" in source
    assert r"\'{e}" in source
    assert "{[}U+4E2D{]}" in source
    assert optimizer.reference not in bibtex(works_of(optimizer))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Méthode", r"M\'{e}thode"), ("naïve", r"na\"{\i}ve"), ("Erdős", r"Erd\H{o}s"), ("ﬁ", "fi"),
        ("a–b", "a--b"), ("α", r"\ensuremath{\alpha}"), ("x_1 & y", r"x\_1 \& y"), ("\\", r"\textbackslash{}"),
    ],
)  # fmt: skip
def test_letters_beyond_ascii(words: str, expected: str) -> None:
    assert tex_text(words) == expected


def test_the_bibliography_is_read_by_bibtex(tmp_path: Path) -> None:
    works = {work.key: work for name in FIRST for work in works_of(load(name))}
    (tmp_path / "all.bib").write_text(bibtex(list(works.values())), encoding="utf-8")
    commands = "\n".join([r"\citation{*}", r"\bibstyle{plain}", r"\bibdata{all}"])
    (tmp_path / "all.aux").write_text(commands, encoding="utf-8")
    done = subprocess.run(
        ["bibtex", "all"], cwd=tmp_path, capture_output=True, check=False, text=True, timeout=60
    )
    assert (done.returncode, "Warning" in done.stdout, "error" in done.stdout) == (0, False, False), (
        done.stdout
    )
    assert (tmp_path / "all.bbl").read_text().count(r"\bibitem") == len(works) == 11


# the command line


def test_the_files_are_written_and_listed(tmp_path: Path) -> None:
    done = run("emit", "adamw", "--target", "latex", "-o", "x.tex", cwd=tmp_path)
    assert (done.returncode, done.stdout.split()) == (0, [b"x.tex", b"x.bib", b"symmem-macros.tex"])
    body = (tmp_path / "x.tex").read_text()
    assert body == Paper((told(load("adamw")),)).body
    assert "@inproceedings{loshchilov2019," in (tmp_path / "x.bib").read_text()
    author = rf"\documentclass{{article}}{PACKAGES}\input{{symmem-macros}}\begin{{document}}\input{{x}}\end{{document}}"
    beside = {path.name: path.read_text() for path in tmp_path.iterdir()}
    found = COMPLAINTS.findall(typeset_document(author, beside).log)
    assert [line for line in found if "Citation" not in line and "undefined references" not in line] == []


def test_the_notation_is_changed_in_one_place(tmp_path: Path) -> None:
    """An author's symmem-macros.tex stays; what a newer version needs is added; the standalone document reads it."""
    mine = "\\newcommand{\\smmloss}{\\ell}\\newcommand{\\smmlr}{\\eta}\n"
    (tmp_path / "symmem-macros.tex").write_text(mine)
    done = run("emit", "adamw", "--target", "latex", "--pdf", "-o", "x.tex", cwd=tmp_path)
    assert done.returncode == 0
    kept = (tmp_path / "symmem-macros.tex").read_text()
    assert kept.startswith(mine)
    assert [kept.count(rf"command{{\smm{name}}}") for name in ("loss", "btheta", "norm")] == [1, 1, 1]
    again = run("emit", "adamw", "--target", "latex", "-o", "x2.tex", cwd=tmp_path)
    assert (again.returncode, (tmp_path / "symmem-macros.tex").read_text()) == (0, kept)
    shown = (
        (tmp_path / "x.tex")
        .read_text()
        .replace(r"\end{document}", r"\typeout{\meaning\smmloss}\end{document}")
    )
    assert r"macro:->\ell" in typeset_document(shown, {"symmem-macros.tex": kept}).log
    assert r"macro:->\mathcal {L}" in typeset_document(shown, {}).log


def test_no_symbol_is_written_without_its_macro() -> None:
    section = paper_section(told(load("adamw"), 2))
    for macro in MACROS:
        if len(macro.definition) > 1 and not macro.arguments and macro.definition != r"^{\top}":
            assert macro.definition not in section, macro
    assert not re.search(
        r"(?<![A-Za-z\\])h(?![A-Za-z])", "".join(re.findall(r"\\begin\{align.*?\\end", section, re.S))
    )


def test_standard_output_without_a_file() -> None:
    section = run("emit", "heavyball", "--target", "latex").stdout.decode()
    assert r"\section{HeavyBall}" in section
    whole = run("emit", "heavyball", "--target", "latex", "--standalone").stdout.decode()
    assert whole.startswith(r"\documentclass")
    assert complaints(whole) == []


def test_a_pdf_is_written(tmp_path: Path) -> None:
    done = run(
        "emit", "heavyball", "--target", "latex", "--order", "3", "--pdf", "-o", "hb.tex", cwd=tmp_path
    )
    assert (done.returncode, done.stdout.split()[-1]) == (0, b"hb.pdf")
    assert (tmp_path / "hb.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--pdf"], "-o"), (["-o", "x.bib"], ".tex"), (["-o", "symmem-macros.tex"], ".tex"),
        (["-o", "nowhere/x.tex"], "nowhere"), (["--order", "0"], "order"),
    ],
)  # fmt: skip
def test_an_error_of_emit_is_one_line(arguments: list[str], word: str, tmp_path: Path) -> None:
    done = run("emit", "adamw", "--target", "latex", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert word in done.stderr.decode()
    assert list(tmp_path.iterdir()) == []


def test_a_missing_compiler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    done = run("emit", "adamw", "--target", "latex", "--pdf", "-o", "x.tex", cwd=tmp_path)
    assert done.returncode == 2
    assert typeset.PACKAGES in done.stderr.decode()
    assert list(tmp_path.iterdir()) == []


def test_a_rejected_document_keeps_its_log(tmp_path: Path) -> None:
    (tmp_path / "symmem-macros.tex").write_text("\\newcommand{\\smmloss}{\\nosuchmacro}\n")
    done = run("emit", "adamw", "--target", "latex", "--pdf", "-o", "x.tex", cwd=tmp_path)
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert "x.log" in done.stderr.decode()
    assert "nosuchmacro" in (tmp_path / "x.log").read_text()
    assert not (tmp_path / "x.pdf").exists()
