"""The public face in Python: records that show themselves, and the verbs that take a name, a path or a record.

``symmem.Optimizer`` and ``symmem.Derivation`` are the records of the declaration and of the theory with their
renderings; those rooms know nothing of documents.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from symmem.declaration import loading, optimizer
from symmem.declaration.catalogue import names
from symmem.derivation import derivation as theory
from symmem.derivation.slow_rate import at_slow_rate
from symmem.documents import notebook
from symmem.documents.account import At, account_of
from symmem.documents.columns import Style
from symmem.documents.comparison.data import comparison_data
from symmem.documents.comparison.entry import PARTS as COMPARED
from symmem.documents.comparison.entry import Compared
from symmem.documents.comparison.html import comparison_html
from symmem.documents.comparison.latex import comparison_latex
from symmem.documents.comparison.text import comparison_text
from symmem.documents.json_form import json_text
from symmem.documents.paper.fragment import latex_fragment
from symmem.documents.terminal import terminal_text
from symmem.errors import DeclarationError
from symmem.records import record

Shown = TypeVar("Shown")
Named = str | os.PathLike[str]
"""A name of the zoo, or the path of a declaration."""
Comparable = theory.Derivation | optimizer.Optimizer | Named


class Optimizer(optimizer.Optimizer):
    __doc__ = optimizer.Optimizer.__doc__

    def _repr_html_(self) -> str:
        """Phi and the table of the momentum variables, for a notebook."""
        return notebook.optimizer_html(self)

    def _repr_latex_(self) -> str:
        """Phi and the momentum variables, for a notebook."""
        return notebook.optimizer_latex(self)


class Derivation(theory.Derivation):
    __doc__ = theory.Derivation.__doc__

    def __str__(self) -> str:
        """What the command line shows."""
        return terminal_text(account_of(self), Style()).rstrip("\n")

    def __reduce__(self) -> tuple[Callable[..., Derivation], tuple[optimizer.Optimizer, int]]:
        """A copy is derived again: exact numbers have no bytes, and what was computed is found once more."""
        return derive, (self.optimizer, self.order)

    def to_latex(self, at: At = "n", *, quadratic: bool = False) -> str:
        """The derivation as a LaTeX fragment for amsmath, as ``symmem derive --format latex`` writes it."""
        return latex_fragment(account_of(self, at, quadratic=quadratic))

    def _repr_html_(self) -> str:
        """The iteration at step n and in the limit, and the modified loss, for a notebook."""
        return notebook.account_html(account_of(self, parts=notebook.PARTS))

    def _repr_latex_(self) -> str:
        """The memoryless iteration in the limit, for a notebook."""
        return notebook.account_latex(account_of(self, parts=notebook.PARTS))


@record(frozen=True)
class Comparison:
    """Optimizers side by side: correction, sign of the implicit regularisation, modified loss."""

    entries: tuple[Compared, ...]

    def __str__(self) -> str:
        """What the command line shows."""
        return self.to_text(Style()).rstrip("\n")

    def to_text(self, style: Style) -> str:
        """What ``symmem compare`` shows."""
        return comparison_text(self.entries, style)

    def to_latex(self) -> str:
        """The comparison as a LaTeX table."""
        return comparison_latex(self.entries)

    def to_json(self) -> str:
        """The comparison as data."""
        return json_text(comparison_data(self.entries))

    def _repr_html_(self) -> str:
        return comparison_html(self.entries)


def load(name_or_path: Named) -> Optimizer:
    """The optimizer with this name in the zoo, in this file, or on standard input (``-``)."""
    return _as(Optimizer, loading.load(name_or_path))


def zoo(family: str | None = None) -> tuple[str, ...]:
    """The names of the optimizers that symmem knows, family by family, from the simplest on; or of one family."""
    return names(family)


def derive(declared: optimizer.Optimizer | Named, order: int = 1) -> Derivation:
    """The derivation of an optimizer, a name or a path, to the given order in h; computed part by part on first use."""
    known = declared if isinstance(declared, optimizer.Optimizer) else load(declared)
    return _as(Derivation, theory.derive(known, order))


def compare(several: Sequence[Comparable] | Comparable) -> Comparison:
    """Optimizers side by side, in the limit of many steps, to first order in h."""
    given = list(several) if isinstance(several, Sequence) and not isinstance(several, str) else [several]
    if not given:
        raise DeclarationError("name the optimizers to compare")
    derivations = [each if isinstance(each, theory.Derivation) else derive(each) for each in given]
    return Comparison(tuple(Compared(account_of(at_slow_rate(each), parts=COMPARED)) for each in derivations))


def _as(shown: type[Shown], record: Any) -> Shown:
    """The same record as its subclass that shows itself."""
    return shown(**{field.name: getattr(record, field.name) for field in fields(record)})
