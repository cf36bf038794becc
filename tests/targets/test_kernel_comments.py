"""The header of a built library, read as Doxygen reads it: every function, argument and result is told."""

from __future__ import annotations

import re

import pytest

from symmem import derive
from symmem.targets.c.layout import c_files

DECLARED = re.compile(
    r"/\*\*((?:(?!\*/).)*)\*/\s*((?:int|void|size_t|const char \*)\s*(\w+)\(([^)]*)\));", re.DOTALL
)


@pytest.mark.parametrize("name", ["adamw", "gd", "rmsprop", "lamb"])
def test_every_argument_and_result_is_told(name: str) -> None:
    header = c_files(derive(name)).header
    found = {match[3]: match for match in DECLARED.finditer(header)}
    bare = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    assert [*found] == re.findall(r"^[a-z].*\b(\w+)\(", bare, re.MULTILINE)
    for match in found.values():
        comment, head, _, arguments = match.groups()
        copied = re.search(r"@copydoc (\w+)", comment)
        told = found[copied[1]][1] if copied else comment
        names = [] if arguments == "void" else [re.findall(r"\w+", each)[-1] for each in arguments.split(",")]
        assert re.findall(r"@param (\w+) \S", told) == names
        assert ("@return" in told) != head.startswith("void")
