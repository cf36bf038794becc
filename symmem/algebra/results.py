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

from collections.abc import Iterator
from enum import Enum
from typing import NoReturn, TypeAlias, TypeVar

from sympy import Expr, Symbol

from symmem.algebra.intervals import Interval
from symmem.algebra.symbols import LR
from symmem.errors import DerivationError
from symmem.records import record


@record(frozen=True)
class Bound:
    """``O(size)``: at most a constant times the size, as it goes to zero."""

    size: Expr

    def __str__(self) -> str:
        base, exponent = self.size.xreplace({LR: Symbol("h")}).as_base_exp()
        return f"O({base})" if exponent == 1 else f"O({base}^{exponent})"


@record(frozen=True, eq=False)
class Regime:
    """Where a claim holds: everywhere, or in the joint limit of the ``small`` symbols, up to ``O(rate)``.

    A regime is its small symbols: it equals another with the same ones, and its own text, ``regime == "eps -> 0"``,
    as programs that read a modified loss compare it.
    """

    small: tuple[Symbol, ...] = ()
    rate: Expr | None = None

    @property
    def is_exact(self) -> bool:
        """Whether the claim holds everywhere, in no limit."""
        return not self.small

    @property
    def bound(self) -> Bound | None:
        """How fast the difference vanishes; None where this is not known, or there is none."""
        return None if self.rate is None else Bound(self.rate)

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, (Regime, str)) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return f"{', '.join(symbol.name for symbol in self.small)} -> 0" if self.small else "exact"


EXACT = Regime()


@record(frozen=True)
class Named:
    """An object of the theory by its letter and index: ``Phi``, ``g_l``, ``theta_0``, ``d_1``."""

    letter: str
    index: str | int | None = None

    def __str__(self) -> str:
        return self.letter if self.index is None else f"{self.letter}_{self.index}"


@record(frozen=True)
class Start:
    """The place where a limit form starts, ``theta_0 + h d_1 + ... + h^shifts d_shifts`` (mathematics.md section 6)."""

    shifts: int = 0

    def __str__(self) -> str:
        powers = [f"h^{j} " if j > 1 else "h " for j in range(1, self.shifts + 1)]
        return " + ".join(["theta_0", *(f"{h}d_{j}" for j, h in enumerate(powers, start=1))])


@record(frozen=True)
class Steps:
    """The steps ``n <= letter/h``, or ``n >= letter log(1/h)`` where they are late ones; the letter is a constant."""

    letter: str
    late: bool = False

    def __str__(self) -> str:
        return f"n >= {self.letter} log(1/h)" if self.late else f"n <= {self.letter}/h"


class Whose(str):
    """The words "name: " in front of a reason: an error says whose it is; a document about one optimizer does not."""

    def __new__(cls, name: str) -> Whose:
        """For the optimizer of this name."""
        return super().__new__(cls, f"{name}: ")


Part: TypeAlias = str | Expr | Bound | Regime | Interval | Named | Start | Steps
"""Of a sentence: words, or mathematics."""


@record(frozen=True)
class Sentence:
    """Words and mathematics in their order, spaces included; each reader spells the mathematics in its alphabet."""

    parts: tuple[Part, ...] = ()

    @classmethod
    def of(cls, *parts: Part) -> Sentence:
        """The sentence of these words and expressions."""
        return cls(parts)

    def __str__(self) -> str:
        """The sentence in ASCII, its mathematics as SymPy prints it."""
        return "".join(map(str, self.parts))

    def __bool__(self) -> bool:
        return bool(self.parts)

    @property
    def own(self) -> tuple[Part, ...]:
        """The parts without the name of the optimizer in front, for a document that is about it."""
        return tuple(part for part in self.parts if not isinstance(part, Whose))


@record(frozen=True)
class Assumption:
    """What a derivation rests on.

    ``is_checked``: it was found to hold, at all parameters in their ranges.  ``is_departure``: it says what the theory
    puts in the place of a function of the optimizer.  ``aside`` is for who derives, and no part of the mathematics.
    ``pole``: where this is 0 a closed form has no value; who does not write that form does not need the assumption.
    """

    sentence: Sentence
    aside: Sentence = Sentence()
    is_checked: bool = False
    is_departure: bool = False
    pole: Expr | None = None

    def __str__(self) -> str:
        return f"{self.sentence} ({self.aside})" if self.aside else str(self.sentence)


@record(frozen=True)
class Conclusion:
    """What follows from the assumptions, with the conditions under which it does."""

    sentence: Sentence

    def __str__(self) -> str:
        return str(self.sentence)


@record(frozen=True)
class Unknown:
    """What is not known; ``warning`` says that an assumption is known to fail somewhere, and the sentence where."""

    sentence: Sentence
    warning: bool = False
    advice: Sentence | None = None
    """What to do about it: for a person at work, not for the reader of a paper."""

    @property
    def advised(self) -> Sentence:
        """The sentence with its advice behind it."""
        return (
            self.sentence
            if self.advice is None
            else Sentence.of(*self.sentence.parts, "; ", *self.advice.parts)
        )

    def __str__(self) -> str:
        return f"warning: {self.advised}" if self.warning else str(self.advised)


class Advice(Enum):
    """What to ask for instead; the command line and the emitted functions spell it each in their own words."""

    LIMIT = "ask for the limit"
    STEP = "ask for a given step"
    FINITE = "use finite n"
    NUMBERS = "put numbers in for the parameters"
    LOWER_ORDER = "ask for a lower order"


@record(frozen=True)
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

    def __iter__(self) -> Iterator[NoReturn]:
        raise DerivationError(str(self))

    def __getitem__(self, _: object) -> NoReturn:
        raise DerivationError(str(self))

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)  # copying, pickling and notebooks ask for what is not there
        raise DerivationError(str(self))


Result = TypeVar("Result")


def present(result: Result | Missing) -> Result:
    """A result that was asked for after its existence; where it is missing all the same, its own error."""
    if isinstance(result, Missing):
        raise DerivationError(str(result))
    return result
