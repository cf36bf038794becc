"""Frozen records for every room: dataclasses whose methods are shared in place of compiled for each class.

``dataclasses.dataclass`` writes and compiles six functions for a frozen class, 0.6 ms of every start of the command
line; the hundred records that one derivation needs would cost a sixth of what SymPy's own import takes.  ``record``
gives a class that ``fields``, ``replace``, ``match`` and mypy treat as that same dataclass, in a fiftieth of the time:
it reads the annotations once, and what only those functions ask for is made when they ask.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, field, fields, make_dataclass
from inspect import Parameter, Signature, get_annotations
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(*, frozen: bool, eq: bool = True) -> Callable[[type], type]:
        """A decorator as ``dataclass(frozen=True, eq=eq)``; records that can change are plain dataclasses."""
        if not frozen:
            raise TypeError("a record is frozen; what can change is a dataclass")
        return lambda cls: _completed(cls, eq)


__all__ = ["record"]

_ALWAYS = ("__init__", "__repr__", "__setattr__", "__delattr__")
_COMPARING = ("__eq__", "__hash__")


class _Plan(NamedTuple):
    """What the shared methods have to know of a class."""

    every: dict[str, Field[Any]]
    """All fields, those of the bases first; a Field here knows its default and its options, not its name."""
    by_place: tuple[str, ...]
    given: tuple[str, ...]
    computed: tuple[str, ...]
    finished: bool
    compared: Callable[[Any], Any]


class _SignatureOf:
    """The signature of the class, made when ``help`` or ``inspect`` asks for it."""

    def __get__(self, instance: object, owner: Any) -> Signature:
        parameters = [
            Parameter(
                each.name,
                Parameter.KEYWORD_ONLY if each.kw_only else Parameter.POSITIONAL_OR_KEYWORD,
                default=_default(each) if _has_default(each) else Parameter.empty,
                annotation=each.type,
            )
            for each in fields(owner)
            if each.init
        ]
        return Signature(sorted(parameters, key=lambda parameter: parameter.kind))


class _OfDataclass:
    """An attribute that ``dataclass`` gives to a class, given when ``fields``, ``replace`` or ``match`` asks for it.

    A budget that ends, Ctrl-C or another thread may come at any moment.  So everything is made beside the class, which
    then gets each attribute whole; what it did not get is made again.
    """

    NAMES = ("__dataclass_fields__", "__dataclass_params__", "__match_args__")

    def __init__(self, cls: Any, name: str) -> None:
        self._cls = cls
        self._name = name

    def __get__(self, instance: object, owner: Any) -> Any:
        cls = self._cls
        every = [(name, _annotation(cls, name), each) for name, each in cls.__record__.every.items()]
        beside = make_dataclass(cls.__name__, every, init=False, repr=False, eq=False)
        for name in self.NAMES:
            setattr(cls, name, getattr(beside, name))
        return getattr(cls, self._name)


def _annotation(cls: Any, name: str) -> Any:
    """What the class, or the nearest of its bases, says of a field."""
    for each in cls.__mro__:
        known = get_annotations(each)
        if name in known:
            return known[name]
    raise AttributeError(name)  # no field comes without one


def _completed(cls: Any, eq: bool) -> Any:
    """The class with its fields read and the shared methods that it does not define itself."""
    cls.__doc__ = cls.__doc__ or cls.__name__
    every = _every_field(cls)
    compared = [name for name, each in every.items() if each.compare]
    given = [name for name, each in every.items() if each.init]
    by_place = [name for name in given if every[name].kw_only is not True]
    cls.__record__ = _Plan(
        every,
        tuple(by_place),
        (*by_place, *(name for name in given if name not in by_place)),
        tuple(name for name, each in every.items() if not each.init),
        hasattr(cls, "__post_init__"),
        attrgetter(*compared) if compared else type,
    )
    cls.__signature__ = _SignatureOf()
    for name in _OfDataclass.NAMES:
        setattr(cls, name, _OfDataclass(cls, name))
    for name in _ALWAYS + (_COMPARING if eq else ()):
        if cls.__dict__.get(name) is None:
            setattr(cls, name, _Shared.__dict__[name])
    return cls


def _every_field(cls: Any) -> dict[str, Field[Any]]:
    """The fields of the bases, in the order of ``dataclass``, and the class's own."""
    every: dict[str, Field[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        plan = base.__dict__.get("__record__")
        if plan is not None:
            every |= plan.every
    known = cls.__dict__
    for name in known.get("__annotations__", ()):
        value = known.get(name, MISSING)
        if not isinstance(value, Field):
            if type(value).__hash__ is None:  # a list or a dict: all instances would share it
                raise ValueError(f"{cls.__name__}: {name} has a mutable default; give a default_factory")
            every[name] = field(default=value)
            continue
        every[name] = value
        if value.default is MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, value.default)
    return every


class _Shared:
    """The methods, which ask the plan of the class of the instance."""

    def __init__(self: Any, *values: Any, **named: Any) -> None:
        plan = self.__record__
        known = self.__dict__
        known.update(zip(plan.by_place, values, strict=False))
        if named or plan.computed or not len(values) == len(plan.by_place) == len(plan.given):
            _fill_in(self, plan, len(values), named)
        if plan.finished:
            self.__post_init__()

    @recursive_repr()
    def __repr__(self: Any) -> str:
        shown = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def __eq__(self: Any, other: Any) -> Any:
        if type(other) is not type(self):
            return NotImplemented
        read = self.__record__.compared
        return read(self) == read(other)

    def __hash__(self: Any) -> int:
        return hash(self.__record__.compared(self))

    def __setattr__(self: Any, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self: Any, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")


def _fill_in(self: Any, plan: _Plan, count: int, named: dict[str, Any]) -> None:
    """The fields that were given by name or not at all; refuses what Python's own signature would refuse."""
    title = f"{type(self).__qualname__}()"
    if count > len(plan.by_place):
        raise TypeError(f"{title} takes {len(plan.by_place)} positional arguments but {count} were given")
    known = self.__dict__
    absent = []
    for name in plan.given:
        each = plan.every[name]
        if name in known:
            if name in named:
                raise TypeError(f"{title} got multiple values for argument {name!r}")
        elif name in named:
            known[name] = named[name]
        elif _has_default(each):
            known[name] = _default(each)
        else:
            absent.append(repr(name))
    unknown = named.keys() - set(plan.given)
    if unknown:
        raise TypeError(f"{title} got an unexpected keyword argument {min(unknown)!r}")
    if absent:
        raise TypeError(f"{title} missing {len(absent)} required arguments: {', '.join(absent)}")
    known.update(
        (name, _default(plan.every[name])) for name in plan.computed if _has_default(plan.every[name])
    )


def _has_default(each: Field[Any]) -> bool:
    return each.default is not MISSING or each.default_factory is not MISSING


def _default(each: Field[Any]) -> Any:
    return each.default if each.default_factory is MISSING else each.default_factory()
