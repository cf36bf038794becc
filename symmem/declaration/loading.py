"""A zoo name, a file or standard input -> the declaration's text and its ``Optimizer``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from symmem.declaration.catalogue import names, text_of
from symmem.declaration.left_out import left_out
from symmem.declaration.names import suggestion
from symmem.declaration.optimizer import Optimizer
from symmem.declaration.toml import read_toml
from symmem.errors import DeclarationError, quote, quote_path

MAX_BYTES = 1_000_000
STANDARD_INPUT = "standard input"


def load(name_or_path: str | os.PathLike[str]) -> Optimizer:
    """The optimizer with this name in the zoo, in this file, or on standard input (``-``)."""
    text, source = _read(name_or_path)
    return read_toml(text, source)


def source_text(name_or_path: str | os.PathLike[str]) -> str:
    """The declaration as it was written, after it was found valid."""
    text, source = _read(name_or_path)
    read_toml(text, source)
    return text


def _read(name_or_path: str | os.PathLike[str]) -> tuple[str, str | None]:
    """The text, and what errors call it; a zoo optimizer is called by its own name."""
    if name_or_path in names():
        return text_of(str(name_or_path)), None
    if name_or_path == "-":
        return _decoded(_standard_input(), STANDARD_INPUT), STANDARD_INPUT
    if isinstance(name_or_path, os.PathLike):
        return _read_file(Path(name_or_path))
    if not isinstance(name_or_path, str):
        raise DeclarationError(
            f"{quote(name_or_path)} is not an optimizer's name or a path; give one of them"
        )
    looks_like_path = "/" in name_or_path or os.sep in name_or_path or name_or_path.endswith(".toml")
    if looks_like_path or _exists(name_or_path):
        return _read_file(Path(name_or_path))
    reason = left_out(name_or_path)
    if reason is not None:
        raise DeclarationError(f"{quote(name_or_path)} is not in the zoo: {reason}")
    # Of a program's path, torch.optim.AdamW, the last part is the name.
    words = (name_or_path, name_or_path.rpartition(".")[2])
    hint = next(filter(None, (suggestion(word, names()) for word in words)), "; see symmem list")
    raise DeclarationError(f"{quote_path(name_or_path)} is neither in the zoo nor a file{hint}")


def _standard_input() -> bytes:
    try:
        if sys.stdin is not None:  # a process may be started without it
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        reason = "it is closed"
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "it is closed"
    raise DeclarationError(f"{STANDARD_INPUT}: cannot be read ({reason}); pipe a declaration to it")


def _exists(path: str) -> bool:
    try:
        return bool(path) and os.path.exists(path)
    except ValueError:  # a null byte
        return False


def _read_file(path: Path) -> tuple[str, str]:
    source = str(path)
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise DeclarationError(
            f"{source}: there is no such file; check the path, or see symmem list"
        ) from None
    except IsADirectoryError:
        raise DeclarationError(f"{source}: is a directory; give a declaration file") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a path"
        raise DeclarationError(
            f"{source}: cannot be read ({reason}); check the path and its permissions"
        ) from None
    return _decoded(content, source), source


def _decoded(content: bytes, source: str) -> str:
    if len(content) > MAX_BYTES:
        raise DeclarationError(f"{source}: larger than {MAX_BYTES} bytes; a declaration is a small file")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise DeclarationError(f"{source}: not UTF-8 at byte {error.start}; save it as UTF-8") from None
