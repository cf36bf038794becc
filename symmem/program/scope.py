"""Scope: gives out every name that stands in emitted code, so that no two things have one name.

The user's names are kept as they are, in every language that can carry them; all other names yield, by underscores.

    >>> scope = Scope(["beta", "v1", "np", "double"], words=["double"], outer=["np", "float"])
    >>> scope.kept("v1"), scope.name(Internal("v1")), scope.name(Internal("v2")), scope.kept("double")
    ('v1', 'v1_', 'v2', 'double_')
    >>> scope.outer("float"), scope.outer("np"), scope.aliases
    ('float', 'np_', (('np_', 'np'),))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sympy import Symbol

from symmem.program.statements import Internal


class Scope:
    """The names of one emitted file; it remembers what it has given out.

    kept     the user's parameters and functions, and the arguments beside them
    words    what can be no name at all: keywords of the language, macros; a kept name that is one gets an underscore
    outer    modules, built-in and helper functions that code beside the user's names calls
    """

    def __init__(
        self,
        kept: Iterable[str],
        *,
        words: Iterable[str] = (),
        outer: Iterable[str] = (),
        preferred: Mapping[Symbol, str] | None = None,
    ) -> None:
        """``preferred`` spells symbols otherwise than by their own names, where that is free."""
        self._preferred = dict(preferred or {})
        self._words = frozenset(words)
        names = tuple(dict.fromkeys(kept))
        self._taken = {name for name in names if name not in self._words}
        self._kept = {name: name for name in self._taken}
        for name in names:
            if name not in self._kept:
                self._kept[name] = self._free(name)
        self._outer = {name: self._free(name) for name in outer}
        self._given: dict[Symbol, str] = {}

    def kept(self, name: str) -> str:
        """A name of the user's, or an argument beside it."""
        return self._kept[name]

    def outer(self, name: str) -> str:
        """A module or a function from outside, by a name that no parameter hides."""
        return self._outer[name]

    @property
    def aliases(self) -> tuple[tuple[str, str], ...]:
        """``(new, old)`` for all that must be called otherwise, because a parameter has its name."""
        return tuple((new, old) for old, new in self._outer.items() if new != old)

    def name(self, symbol: Symbol) -> str:
        """The identifier of a symbol; a plain symbol that is kept keeps its name."""
        if symbol not in self._given:
            stem = self._preferred.get(symbol, symbol.name)
            plain = not isinstance(symbol, Internal) and symbol not in self._preferred
            self._given[symbol] = self._kept[stem] if plain and stem in self._kept else self._free(stem)
        return self._given[symbol]

    def fresh(self, stem: str) -> str:
        """A name that nobody else gets."""
        return self._free(stem)

    def _free(self, stem: str) -> str:
        while stem in self._taken or stem in self._words:
            stem += "_"
        self._taken.add(stem)
        return stem
