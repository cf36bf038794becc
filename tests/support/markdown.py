"""A Markdown document taken apart: its examples, its commands, its links, the files it names, its formulas."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FOLDERS = ("symmem", "tests", "templates", "docs", "examples", "tools", "benchmarks")


@dataclass(frozen=True)
class Document:
    """One document of the repository, by its path."""

    path: str

    @cached_property
    def text(self) -> str:
        return (REPOSITORY / self.path).read_text(encoding="utf-8")

    def blocks(self, language: str) -> list[str]:
        """The fenced blocks of a language, in order."""
        return [body for label, body in FENCE.findall(self.text) if label == language]

    @cached_property
    def prose(self) -> str:
        """The text without its fenced blocks."""
        return FENCE.sub("", self.text)

    @cached_property
    def files(self) -> dict[str, str]:
        """Files that the document shows whole: blocks whose first line is a comment with their name."""
        shown = {}
        for block in self.blocks("toml"):
            name = re.match(r"# (\S+\.toml)\n", block)
            if name:
                shown[name[1]] = block
        return shown

    @cached_property
    def sessions(self) -> list[tuple[str, str]]:
        """Commands at a prompt, each with the output that is shown below it."""
        examples = "".join(self.blocks("console"))
        return [
            (command, expected)
            for command, _, expected in (
                e.partition("\n") for e in re.split(r"^\$ ", examples, flags=re.M)[1:]
            )
        ]

    @cached_property
    def commands(self) -> list[str]:
        """Commands without output: the lines of shell blocks, and indented ``symmem`` lines."""
        lines = [line for block in self.blocks("sh") for line in block.splitlines()]
        lines += re.findall(r"^    (symmem .*)$", self.prose, re.MULTILINE)
        bare = (re.split(r"  |\s#", line, maxsplit=1)[0].strip() for line in lines)
        return [line for line in bare if line]

    @cached_property
    def links(self) -> list[str]:
        """The targets of links inside the repository, and anchors of this document."""
        return [target for target in re.findall(r"\]\(([^)\s]+)\)", self.prose) if "://" not in target]

    @cached_property
    def paths(self) -> list[str]:
        """Files and folders of the repository that stand in backquotes; ``*`` and ``<name>`` match anything."""
        spoken = re.findall(r"`([^`\s]+)`", self.prose)
        return [word for word in spoken if word.split("/")[0] in FOLDERS and "/" in word]

    @cached_property
    def anchors(self) -> set[str]:
        """The anchors that GitHub gives to the headings."""
        titles = re.findall(r"^#+ (.*)$", self.prose, re.MULTILINE)
        return {"#" + re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}

    @cached_property
    def formulas(self) -> list[str]:
        """The formulas inside the text, between dollar signs."""
        return re.findall(r"\$([^$]+)\$", re.sub(r"`[^`\n]*`", "", self.prose))
