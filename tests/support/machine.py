"""What a test needs of the machine: where it is missing the test is skipped at a desk, and fails under CI.

No other place skips: a machine of continuous integration that lost a tool must not pass by proving less.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest


def needs(*things: str) -> None:
    """Commands by name, files by their absolute path."""
    missing = [
        thing for thing in things if not (Path(thing).exists() if thing[0] == "/" else shutil.which(thing))
    ]
    if not missing:
        return
    message = f"not on this machine: {', '.join(missing)} (tools/install.sh installs the tools of the tests)"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)
