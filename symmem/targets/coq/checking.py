"""The check of a file by coqc.  The only caller of coqc."""

from __future__ import annotations

import shutil
import subprocess
import time

from symmem.derivation.derivation import Derivation
from symmem.errors import BudgetError, CompilerError, SymmemError
from symmem.output.scratch import scratch_folder
from symmem.records import record
from symmem.targets.coq.module import proved_file

PATIENCE = 5
"""Seconds on the clock for one of CPU time, which the system counts: a busy machine is no failure."""
MORE = "allow more with --timeout"
GET_IT = "install Coq 8.16 or later, on Debian: apt-get install coq"


@record(frozen=True)
class Certificate:
    """What coqc accepted, by its own clock."""

    name: str
    theorems: int
    missing: tuple[str, ...]
    seconds: float

    @property
    def line(self) -> str:
        """One line for a person."""
        left_out = f"; not stated: {'; '.join(self.missing)}" if self.missing else ""
        return f"{self.name}: coqc accepts {self.theorems} theorems in {self.seconds:.1f} s{left_out}\n"


def certify(derivation: Derivation, seconds: float) -> Certificate:
    """Writes the file to a temporary place and runs coqc on it; the system ends it at the bounds of this process."""
    coqc = shutil.which("coqc")
    if coqc is None:
        raise SymmemError(f"there is no coqc; {GET_IT}")
    name, made = derivation.optimizer.name, proved_file(derivation)
    start = time.monotonic()
    with scratch_folder() as folder:
        (folder / "proof.v").write_text(made.text, encoding="utf-8")
        try:
            subprocess.run(
                [coqc, "-q", "proof.v"], cwd=folder, check=True, text=True, errors="replace",
                timeout=PATIENCE * seconds, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise BudgetError(f"{name}: coqc did not end in time; {MORE}") from None
        except subprocess.CalledProcessError as error:
            if error.returncode < 0:
                raise BudgetError(f"{name}: coqc was ended by the system; {MORE}") from None
            raise CompilerError(f"{name}: coqc rejects the file: {' '.join(error.stdout.split())}") from None
    return Certificate(name, made.theorems, made.missing, time.monotonic() - start)
