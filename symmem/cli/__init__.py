"""The command line: parsing and exit codes only.  Every room is imported when its command runs."""

from symmem.cli.exits import main
from symmem.cli.group import commands

__all__ = ["commands", "main"]
