"""``python -m symmem``."""

from symmem.cli import main

main()
