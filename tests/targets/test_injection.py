r"""A stranger's words stay words: every text field, with payloads for every language, through every target.

What is emitted is read by the parser of its own language and compared with what a harmless text gives.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from command import run
from payloads import HARMLESS, PAYLOADS, WRITTEN, control_words, shape

import symmem
from symmem.declaration.citation import ADDRESSES, FIELDS
from symmem.declaration.tex import CONTROL_WORDS, check_latex
from symmem.declaration.toml import read_toml
from symmem.derivation.derivation import derive
from symmem.documents.account import account_of
from symmem.documents.notebook import account_html, optimizer_html
from symmem.documents.paper.compilation import typeset_document
from symmem.documents.paper.fragment import latex_fragment
from symmem.documents.paper.paper import Paper, standalone
from symmem.documents.paper.section import PARTS
from symmem.errors import DeclarationError
from symmem.program.lowering import lower
from symmem.targets.c.layout import c_files
from symmem.targets.c.wrapper import kernel_module
from symmem.targets.registry import TARGETS
from symmem.targets.torch.with_runtime import runtime_module

SECRET = "SECRETWORD"
DECLARATION = r"""
name = "probe-one"
title = {title}
reference = {reference}
phi = "eps*m1 + gradient(m1)"

[parameters]
beta = {{ default = 0.9, range = "[0, 1)" }}
eps = {{ default = 1e-8, range = "(0, inf)" }}

[functions]
gradient = {{ potential = "potential" }}

[[momentum]]
g = "grad"
beta = "beta"
b = "1 - beta"
"""


@cache
def derived(text: str, *, cited: bool, opaque: bool = True) -> symmem.Derivation:
    """An optimizer whose every text field is the text, behind a letter."""
    said = json.dumps(f"T {text}")
    given = DECLARATION.format(title=said, reference=said)
    if not opaque:
        given = given.replace(" + gradient(m1)", "")
        given = re.sub(r"\[functions\].*\n.*\n", "", given)
    if cited:
        fields = "".join(f"{name} = {said}\n" for name in FIELDS if name not in ADDRESSES)
        given += f"\n[citation.one]\ntype = 'article'\n{fields}"
    return derive(read_toml(given))


PYTHON = {
    "numpy": TARGETS["numpy"].source,
    "torch": TARGETS["torch"].source,
    "runtime": runtime_module,
    "jax": TARGETS["jax"].source,
}


@pytest.mark.parametrize("target", PYTHON)
def test_python_modules_keep_their_shape(target: str) -> None:
    expected = shape(PYTHON[target](derived(HARMLESS, cited=False)))
    for name, payload in PAYLOADS.items():
        assert shape(PYTHON[target](derived(payload, cited=False))) == expected, name


def test_the_wrapper_of_kernels_keeps_its_shape() -> None:
    expected = shape(kernel_module(lower(derived(HARMLESS, cited=False, opaque=False)), "symmem_probe"))
    for name, payload in PAYLOADS.items():
        found = kernel_module(lower(derived(payload, cited=False, opaque=False)), "symmem_probe")
        assert shape(found) == expected, name


def test_triton_modules_keep_their_shape() -> None:
    expected = shape(TARGETS["triton"].source(derived(HARMLESS, cited=False, opaque=False)))
    for name, payload in PAYLOADS.items():
        found = TARGETS["triton"].source(derived(payload, cited=False, opaque=False))
        assert shape(found) == expected, name


def without_coq_comments(source: str) -> str:
    """Comments nest, and text in quotes inside one is skipped; what is left, without blank space."""
    depth, quoted, kept, at = 0, False, [], 0
    while at < len(source):
        quoted ^= depth > 0 and source[at] == '"'
        step = 1
        if not quoted and source.startswith("(*", at):
            depth, step = depth + 1, 2
        elif not quoted and depth and source.startswith("*)", at):
            depth, step = depth - 1, 2
        elif depth == 0:
            kept.append(source[at])
        at += step
    assert depth == 0
    assert not quoted
    return "".join("".join(kept).split())


def test_coq_comments_stay_comments() -> None:
    def sentences(text: str) -> str:
        return without_coq_comments(TARGETS["coq"].source(derived(text, cited=False, opaque=False)))

    expected = sentences(HARMLESS)
    for payload in (
        *PAYLOADS.values(),
        "*) Axiom boom : False. (*",
        "(* open",
        'a " quote',
        "ends with (",
        "*",
    ):
        assert sentences(payload) == expected, payload


def without_c_comments(source: str) -> str:
    """Trigraphs, continued lines, comments and blank space removed in the order of the standard."""
    source = source.replace("??/", "\\").replace("\\\n", "")
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|("(?:\\.|[^"\\\n])*")', re.DOTALL)
    return "".join(pattern.sub(lambda found: found[1] or " ", source).split())


def test_c_comments_stay_comments(tmp_path: Path) -> None:
    plain = c_files(derived(HARMLESS, cited=False, opaque=False))
    expected = without_c_comments(plain.header), without_c_comments(plain.source)
    for name, payload in PAYLOADS.items():
        made = c_files(derived(payload, cited=False, opaque=False))
        assert (without_c_comments(made.header), without_c_comments(made.source)) == expected, name
        if "c" not in name and name != "tex":
            continue
        (tmp_path / made.header_name).write_text(made.header, encoding="utf-8")
        (tmp_path / made.source_name).write_text(made.source, encoding="utf-8")
        command = ["cc", "-std=c11", "-trigraphs", "-Wall", "-Werror", "-fsyntax-only", made.source_name]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, text=True, timeout=60)
        assert done.returncode == 0, (name, done.stderr)


def test_octave_comments_stay_comments() -> None:
    def code(text: str) -> list[str]:
        lines = TARGETS["octave"].source(derived(text, cited=False)).splitlines()
        assert not [line for line in lines if line.strip() in ("%{", "#{")]
        return [line for line in lines if not line.lstrip().startswith("%")]

    expected = code(HARMLESS)
    for name, payload in PAYLOADS.items():
        assert code(payload) == expected, name


def test_json_holds_the_words_as_they_are() -> None:
    for payload in PAYLOADS.values():
        json.loads(TARGETS["json"].source(derived(payload, cited=True)))


class Tags(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[object] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def pages(text: str) -> list[Tags]:
    derivation = derived(text, cited=True)
    account = account_of(derivation)
    made = [
        account_html(account),
        optimizer_html(derivation.optimizer),
        symmem.compare([derivation])._repr_html_(),
    ]
    return [Tags(page) for page in made]


def test_notebooks_have_no_new_tags_and_no_new_mathematics() -> None:
    plain = pages(HARMLESS)
    for name, payload in PAYLOADS.items():
        for expected, found in zip(plain, pages(payload), strict=True):
            assert found.tags == expected.tags, name
            assert found.text.count("$") == expected.text.count("$"), name
            assert found.text.count("\\(") == expected.text.count("\\("), name
            assert "\\href" not in found.text, name


# TeX and BibTeX


@pytest.mark.parametrize("name", PAYLOADS)
def test_tex_has_no_new_control_words(name: str) -> None:
    def texts(text: str) -> list[str]:
        derivation = derived(text, cited=True)
        account = account_of(derivation, parts=PARTS)
        fragment = latex_fragment(account_of(derivation))
        table = symmem.compare([derivation]).to_latex()
        return [standalone(account), Paper((account,)).bibliography, fragment, table]

    for expected, found in zip(texts(HARMLESS), texts(PAYLOADS[name]), strict=True):
        assert control_words(found) - control_words(expected) <= WRITTEN
        plain, given = (re.sub(r"\\[^A-Za-z]", "", each) for each in (expected, found))
        assert given.count("$") == plain.count("$")
        assert given.count("\n") == plain.count("\n")


def test_the_documents_compile_and_the_pdf_has_no_secret() -> None:
    for name in ("tex", "tex end", "bibtex", "c", "names"):
        account = account_of(derived(PAYLOADS[name], cited=True), parts=PARTS)
        result = typeset_document(standalone(account), {})
        assert result.pdf is not None, (name, result.log[-2000:])
        assert "\n!" not in result.log


@pytest.mark.parametrize("cited", [True, False])
def test_bibtex_reads_the_right_entries(cited: bool, tmp_path: Path) -> None:
    for name, payload in PAYLOADS.items():
        text = Paper((account_of(derived(payload, cited=cited), parts=PARTS),)).bibliography
        (tmp_path / "all.bib").write_text(text, encoding="utf-8")
        (tmp_path / "all.aux").write_text("\\citation{*}\n\\bibstyle{plain}\n\\bibdata{all}\n")
        done = subprocess.run(
            ["bibtex", "all"], cwd=tmp_path, capture_output=True, check=False, text=True, timeout=60
        )
        read = (tmp_path / "all.bbl").read_text(encoding="utf-8", errors="replace")
        found = re.findall(r"\\bibitem\{(.*?)\}", read)
        assert sorted(found) == ["cattaneo2025", "one" if cited else "probe-one"], (name, done.stdout)
        assert done.returncode == 0, (name, done.stdout)
        shutil.rmtree(tmp_path / "all.bbl", ignore_errors=True)


# What is refused


@pytest.mark.parametrize("field", ADDRESSES)
def test_an_address_that_is_none_is_refused(field: str) -> None:
    good = {"doi": "10.1000/182(a)_b;c", "url": "https://a.org/x?y=1&z=%7B#w"}[field]
    entry = "\n[citation.one]\ntype = 'misc'\ntitle = 'x'\n"
    base = DECLARATION.format(title='"T"', reference='"r"') + entry
    derivation = derive(read_toml(f"{base}{field} = {json.dumps(good)}"))
    assert good.replace("%", r"\%") in Paper((account_of(derivation, parts=PARTS),)).bibliography
    for payload in (*PAYLOADS.values(), "a}", "{", "a b", "a\\b", "a%zz", "$x$", "x^y"):
        with pytest.raises(DeclarationError, match=field):
            read_toml(f"{base}{field} = {json.dumps(payload)}")


FORBIDDEN = r"""
    \input \write \immediate \catcode \def \edef \let \csname \endcsname \end \begin \href \url \openin \read \special
    \pdfobj \directlua \loop \expandafter \futurelet \relax \par \mathchoice \hbox \vbox \rule \hskip \kern \left
    \right \mathscr \unicode \require \cite \label \newcommand
"""


@pytest.mark.parametrize(
    "latex",
    [
        *PAYLOADS.values(), *FORBIDDEN.split(),
        r"\frac", r"\hat", r"x_", "_x", "x^", "x_1_2", r"\text", r"\text{\alpha}", r"\text{x_1}", "~", "#1", "&", "$",
        "%",
        "\\", "\\\\", "a\nb", "a\tb", "^^M", "é", "`", '"', "@", "}{", "{", "}", r"\{x",
    ],
)  # fmt: skip
def test_a_symbol_that_is_more_is_refused(latex: str) -> None:
    if latex == r"\{x":  # an escaped brace is a sign, and no brace
        assert check_latex(latex) == latex
        return
    with pytest.raises(DeclarationError, match="latex"):
        check_latex(latex)


@pytest.mark.parametrize(
    "latex", [r"\mathrm{<img src=x onerror=alert(1)>}", "<script>alert(1)</script>", "<", "a>b"]
)
def test_a_symbol_opens_no_tag(latex: str) -> None:
    """The LaTeX of a notebook's output goes into a page as it is, where a program exports it so."""
    with pytest.raises(DeclarationError, match="is not allowed"):
        check_latex(latex)


def test_every_control_word_is_known_to_a_document() -> None:
    """With the arguments that it takes; where the check passes, the compiler does."""
    symbols = []
    for word in sorted(CONTROL_WORDS):
        for latex in (rf"\{word}", rf"\{word}{{a}}", rf"\{word}{{a}}{{b}}"):
            try:
                symbols.append(check_latex(latex))
                break
            except DeclarationError:
                continue
    assert len(symbols) == len(CONTROL_WORDS)
    account = account_of(derived(HARMLESS, cited=False), parts=PARTS)
    body = "".join(f"${symbol}^{{2}}$, ${{{symbol}}} + 1$\n\n" for symbol in symbols)
    source = standalone(account).replace(r"\end{document}", body + r"\end{document}")
    result = typeset_document(source, {})
    assert result.pdf is not None, result.log[-1500:]
    assert "\n!" not in result.log


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ('lambda = "beta"', "keyword"), ('None = "beta"', "keyword"), ('a = "beta", b = "beta"', "twice"),
        ('betas = ["beta", "beta"]', "twice"), ('eps = "beta"', "the parameter eps"), ('lr = "beta"', "learning rate"),
        ('"x): pass #" = "beta"', "not a Python name"), ('"é" = "beta"', "not a Python name"),
    ],
)  # fmt: skip
def test_arguments_of_torch_are_names_once_each(arguments: str, word: str) -> None:
    text = DECLARATION.format(title='"T"', reference='"r"') + f"\n[torch]\narguments = {{ {arguments} }}\n"
    with pytest.raises(DeclarationError, match=word):
        read_toml(text)


@pytest.mark.parametrize("payload", PAYLOADS.values())
def test_names_and_keys_are_refused(payload: str) -> None:
    text = DECLARATION.format(title='"T"', reference='"r"')
    said = json.dumps(payload)
    for changed in (
        text.replace('"probe-one"', said),
        text.replace("eps =", f"{said} ="),
        text.replace("gradient =", f"{said} ="),
        text.replace('potential = "potential"', f"potential = {said}"),
        f"{text}\n[citation.{said}]\ntitle = 'x'\n",
        f"{text}\n[citation.one]\ntype = {said}\ntitle = 'x'\n",
        f"{text}\n[citation.one]\n{said} = 'x'\ntitle = 'x'\n",
        f"{text}\n[torch]\nstate = {{ m1 = {said} }}\n",
        f"{text}\n[torch]\noptions = {{ {said} = true }}\n",
    ):
        with pytest.raises(DeclarationError):
            read_toml(changed)


def test_keys_are_distinct_for_bibtex() -> None:
    text = DECLARATION.format(title='"T"', reference='"r"')
    for keys in (("one", "One"), ("Cattaneo2025",)):
        entries = "".join(f"\n[citation.{key}]\ntitle = 'x'\n" for key in keys)
        with pytest.raises(DeclarationError, match="taken"):
            read_toml(text + entries)


# What the language gained: schedules, smoothing, implementations, families, ranges

GAINED = r"""
name = "probe-two"
title = "T"
family = "adam"
phi = "sign(m1) + eps*m1"

[parameters]
beta = { default = 0.9, range = "[0, 1)" }
eps = { default = 1e-8, range = "(0, inf)" }

[schedule]
rate = "min(1, (n + 1)/10)"

[smooth]
sign = "x/sqrt(x**2 + eps)"

[implementation]
name = "torch.optim.SGD"
arguments = { momentum = "beta" }
options = { nesterov = true }
departures = ["DEPARTURE"]

[[momentum]]
g = "grad"
beta = "beta"
b = "1 - beta"
"""


@cache
def departed(text: str) -> symmem.Derivation:
    return derive(read_toml(GAINED.replace('"DEPARTURE"', json.dumps(f"T {text}"))))


def test_a_departure_stays_words_in_every_target() -> None:
    plain = departed(HARMLESS)
    shapes = {target: shape(write(plain)) for target, write in PYTHON.items()}
    for name in ("tex end", "python", "c", "html"):
        derivation = departed(PAYLOADS[name])
        assert {target: shape(write(derivation)) for target, write in PYTHON.items()} == shapes, name
        expected, found = (c_files(each) for each in (plain, derivation))
        assert without_c_comments(found.source) == without_c_comments(expected.source), name
        account = account_of(derivation, parts=PARTS)
        words = control_words(standalone(account)) - control_words(standalone(account_of(plain, parts=PARTS)))
        assert words <= WRITTEN, name
        assert Tags(account_html(account_of(derivation))).tags == Tags(account_html(account_of(plain))).tags
        json.loads(TARGETS["json"].source(derivation))


@pytest.mark.parametrize("payload", PAYLOADS.values())
def test_what_the_language_gained_takes_no_payload(payload: str) -> None:
    said = json.dumps(payload)
    for changed in (
        GAINED.replace('"min(1, (n + 1)/10)"', said),
        GAINED.replace('"x/sqrt(x**2 + eps)"', said),
        GAINED.replace("sign = ", f"{said} = "),
        GAINED.replace('"torch.optim.SGD"', said),
        GAINED.replace('momentum = "beta"', f"momentum = {said}"),
        GAINED.replace('"adam"', said),
        GAINED.replace('"[0, 1)"', said),
        GAINED.replace("[schedule]", f"[schedule]\n{said} = 1"),
        GAINED.replace('g = "grad"\nbeta = "beta"', f'g = "grad"\ndelay = {said}'),
        GAINED.replace('beta = "beta"\n', f'beta = "beta"\nstart = {said}\n'),
    ):
        assert changed != GAINED
        with pytest.raises(DeclarationError):
            read_toml(changed)


def test_no_command_runs_what_a_declaration_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evil.py").write_text(
        "import pathlib\npathlib.Path('ran').touch()\ndef optimizer(*_, **__): raise ValueError\n"
    )
    simple = 'name = "mine"\nphi = "m1"\n[[momentum]]\ng = "grad"\nbeta = 0\nb = 1\n'
    (tmp_path / "mine.toml").write_text(f'{simple}[implementation]\nname = "evil.optimizer"\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for words in (
        ["derive"],
        ["verify"],
        ["verify", "--against", "torch.optim.SGD"],
        ["emit", "--target", "torch"],
    ):
        run(words[0], "mine.toml", *words[1:], "--timeout", "40")
        assert not (tmp_path / "ran").exists(), words
    assert run("verify", "mine.toml", "--against", "evil.optimizer").returncode == 2
    assert (tmp_path / "ran").exists()  # the test of the test: who names it himself wants it
