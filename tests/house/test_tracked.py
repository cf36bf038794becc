"""What is in the repository was written by somebody: nothing that a tool leaves behind, and that git has to ignore."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from machine import needs

REPOSITORY = Path(__file__).parents[2]
DEBRIS = (".lia.cache", ".nia.cache", ".nra.cache", "proof.vo", "proof.vok", "proof.glob", ".proof.aux")
"""What coqc leaves where it runs."""


def git(*arguments: str) -> list[str]:
    needs("git")
    if not (REPOSITORY / ".git").exists():
        pytest.skip("not a repository")
    done = subprocess.run(["git", *arguments], cwd=REPOSITORY, capture_output=True, check=False, text=True)
    return done.stdout.splitlines()


def test_nothing_that_is_ignored_is_tracked() -> None:
    assert git("ls-files", "--cached", "--ignored", "--exclude-standard") == []


@pytest.mark.parametrize("name", DEBRIS)
def test_what_coqc_leaves_is_ignored(name: str) -> None:
    for folder in ("", "symmem/targets/coq/"):
        assert git("check-ignore", folder + name) == [folder + name]
