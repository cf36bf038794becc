"""Results that are not formulas, as data: sentences, limits of small parameters, and what does not exist.

Every room above makes and reads these records; nobody parses a text that this program wrote.

    >>> from sympy import Symbol
    >>> beta, eps = Symbol("beta"), Symbol("eps")
    >>> str(Sentence.of(beta, " is not 0"))
    'beta is not 0'
    >>> str(Regime((eps,), eps)), str(EXACT)
    ('eps -> 0', 'exact')
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NoReturn, TypeAlias

from sympy import Expr, Symbol

from symmem.errors import DerivationError


@dataclass(frozen=True)
class Bound:
    """``O(size)``: at most a constant times the size, as it goes to zero."""

    size: Expr

    def __str__(self) -> str:
        return f"O({self.size})".replace("**", "^").replace("lr", "h")


@dataclass(frozen=True)
class Regime:
    """Where a claim holds: everywhere, or in the joint limit of the ``small`` symbols, up to ``O(rate)``."""

    small: tuple[Symbol, ...] = ()
    rate: Expr | None = None

    @property
    def is_exact(self) -> bool:
        return not self.small

    def __str__(self) -> str:
        return f"{', '.join(symbol.name for symbol in self.small)} -> 0" if self.small else "exact"


EXACT = Regime()

Part: TypeAlias = str | Expr | Bound | Regime
"""Of a sentence: words, or mathematics."""


@dataclass(frozen=True)
class Sentence:
    """Words and mathematics in their order, spaces included; each reader spells the mathematics in its alphabet."""

    parts: tuple[Part, ...] = ()

    @classmethod
    def of(cls, *parts: Part) -> Sentence:
        return cls(parts)

    def __str__(self) -> str:
        """The sentence in ASCII, its mathematics as SymPy prints it."""
        return "".join(map(str, self.parts))

    def __bool__(self) -> bool:
        return bool(self.parts)


class Advice(Enum):
    """What to ask for instead; the command line and the emitted functions spell it each in their own words."""

    LIMIT = "ask for the limit"
    STEP = "ask for a given step"
    FINITE = "use finite n"
    NUMBERS = "put numbers in for the parameters"
    LOWER_ORDER = "ask for a lower order"


@dataclass(frozen=True)
class Missing:
    """In the place of a result that does not exist, or is not known: why, and what can be asked instead.

    It is false in a condition.  Who takes a part of it all the same is told the reason by a DerivationError.
    """

    reason: Sentence
    advice: tuple[Advice | Sentence, ...] = ()

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        ways = [way.value if isinstance(way, Advice) else str(way) for way in self.advice]
        return f"{self.reason}; {', or '.join(ways)}" if ways else str(self.reason)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)  # copying, pickling and notebooks ask for what is not there
        raise DerivationError(str(self))
