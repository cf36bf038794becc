"""The C target, as the registry knows it."""

from __future__ import annotations

from symmem.derivation.derivation import Derivation
from symmem.targets.c.layout import write_c
from symmem.targets.registry import Options


def emit(derivation: Derivation, output: str | None, _options: Options) -> str:
    """Writes a header and a source file into a folder; lists them."""
    assert output is not None, "the registry asks for a folder"
    return "".join(f"{path}\n" for path in write_c(derivation, output))
