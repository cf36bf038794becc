r"""Texts that try to leave their place, for every language, and what of an output must not change with them."""

from __future__ import annotations

import ast
import re

HARMLESS = "Plain words 2020"
PAYLOADS = {
    "tex": r"\immediate\pdfobj stream file{/etc/passwd}\input{/etc/passwd}\write18{id} ^^5cinput $\def\x{$",
    "tex end": r"} \end{document} ] \catcode`\%=12 % \csname end\endcsname ~",
    "bibtex": r'x}, note = {y}} @misc{evil, title = {z}} @string{a = "b"} {{{ " # "',
    "closing": r"}}}}",
    "python": '""" + __import__("os").system("id") + """ \\',
    "python quotes": "''' \" \\N{DIGIT ONE} {__class__} %s \\",
    "c": r'*/ int evil(void) { return 1; } /* " ??/ // \ ',
    "c slash": r"*\ int evil(void) { return 1; } /\* *??/ **\\ *//*",
    "cmake": r'${EVIL} $ENV{HOME} ") execute_process(COMMAND id) [[ ]] #[[ ; \${x}',
    "pkg-config": r"${prefix} Libs: -levil # \$(id) `id`",
    "html": "</strong><script>alert(1)</script><img src=x onerror=alert(1)> &lt; $\\href{javascript:alert(1)}{x}$",
    "jinja": "<< evil >> <% raise %> {{ 7*7 }} {% x %} <# y #>",
    "octave": "%{ ... ' system('id') \" end # %} #{",
    "names": "Kärlein, Łukasz Erdős–Ñandú 中文 «β»",
}

NAMED = re.compile(r"Memoryless|WithMemory")


def shape(source: str) -> str:
    """The syntax tree of a Python module without its texts and the name of its class."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
        for field in ("name", "id"):
            if NAMED.search(str(getattr(node, field, ""))):
                setattr(node, field, "named")
    return ast.dump(tree)


def control_words(source: str) -> set[str]:
    return set(re.findall(r"\\[A-Za-z@]+", source))


ACCENTS = (
    r"\textbackslash \textbraceleft \textbraceright \textasciitilde \textasciicircum \ensuremath \H \L \beta"
)
LAYOUT = r"\times \quad \smmtight \lVert \rVert"  # where a long title leaves less room for a formula
WRITTEN = {*ACCENTS.split(), *LAYOUT.split()}
"""What plain text is written with."""
