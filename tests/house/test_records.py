"""``record`` against ``dataclass``, which it stands for: the same class body, the same behaviour."""

from __future__ import annotations

import copy
import inspect
import pickle
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import pytest

from symmem.records import record


def family(make: Callable[..., Any]) -> tuple[type, type, type, type]:
    """Four classes of every kind that the package has, under one decorator."""

    @make(frozen=True)
    class Base:
        """A base."""

        factor: int = field(default=1, kw_only=True)
        settled: str | None = field(default=None, kw_only=True)

    @make(frozen=True)
    class Child(Base):
        """A child."""

        decay: int
        known: dict[str, int] = field(default_factory=dict, compare=False, repr=False)

        @cached_property
        def double(self) -> int:
            return 2 * self.decay

    @make(frozen=True)
    class Read:
        """Brings its field to a number."""

        value: int
        name: str = "x"

        def __post_init__(self) -> None:
            if self.value == "bad":
                raise ValueError("bad")
            object.__setattr__(self, "value", int(self.value))

        def __repr__(self) -> str:
            return f"<{self.name}>"

    @make(frozen=True, eq=False)
    class Itself:
        """Equal to itself alone."""

        value: int

    return Base, Child, Read, Itself


PAIRS = list(zip(family(record), family(dataclass), strict=True))
BASE, CHILD, READ, ITSELF = PAIRS


@record(frozen=True)
class Point:
    """At the top of a module, so that pickle finds it."""

    x: int
    y: tuple[int, ...] = ()


def outcome(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except Exception as error:
        return type(error)


CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((3,), {}),
    ((3,), {"factor": 5}),
    ((3, {"a": 1}), {"settled": "s"}),
    ((3, {}, 5), {}),
    ((3,), {"decay": 4}),
    ((), {"decay": 4, "known": {"b": 2}}),
    ((), {"value": "7"}),
    (("7", "name"), {}),
    (("bad",), {}),
    ((3,), {"other": 1}),
]


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize(("values", "named"), CALLS)
def test_arguments_fill_the_same_fields_or_are_refused_alike(
    place: int, values: tuple[Any, ...], named: dict[str, Any]
) -> None:
    ours, theirs = PAIRS[place]
    a, b = (outcome(lambda cls=cls: cls(*values, **named)) for cls in (ours, theirs))
    if isinstance(b, type):
        assert a is b
    else:
        assert {x.name: getattr(a, x.name) for x in fields(ours)} == {
            x.name: getattr(b, x.name) for x in fields(theirs)
        }
        assert repr(a).replace("record", "") == repr(b).replace("dataclass", "") or place == 3


@pytest.mark.parametrize("cls", CHILD)
def test_equality_and_hash_read_the_compared_fields(cls: Any) -> None:
    assert cls(3) == cls(3, {"a": 1})
    assert hash(cls(3)) == hash(cls(3, {"a": 1}))
    assert cls(3) != cls(4)
    assert cls(3) != cls(3, factor=2)
    assert cls(3) != 3
    assert len({cls(3), cls(3), cls(4)}) == 2


def test_a_subclass_is_another_kind_of_thing() -> None:
    assert BASE[0]() != type("Other", (BASE[0],), {})()
    assert BASE[0](factor=3) != CHILD[0](3)


@pytest.mark.parametrize("cls", ITSELF)
def test_without_eq_a_record_is_equal_to_itself_alone(cls: Any) -> None:
    one = cls(3)
    assert one in {one}
    assert one not in {cls(3)}
    assert one != cls(3)


@pytest.mark.parametrize("cls", CHILD)
def test_it_is_frozen_and_still_caches(cls: Any) -> None:
    one = cls(3)
    assert (one.double, one.double) == (6, 6)
    for change in (lambda: setattr(one, "decay", 4), lambda: delattr(one, "decay")):
        with pytest.raises(FrozenInstanceError):
            change()
    assert one.decay == 3


def test_a_default_by_name_is_there_where_all_places_are_filled() -> None:
    @record(frozen=True)
    class Scaled:
        place: int
        factor: int = field(default=1, kw_only=True)

    assert Scaled(3).factor == 1
    assert Scaled(3, factor=2).factor == 2


@pytest.mark.parametrize("cls", CHILD)
def test_factories_make_a_new_value_each_time(cls: Any) -> None:
    assert cls(1).known is not cls(1).known


@pytest.mark.parametrize("pair", PAIRS)
def test_fields_match_arguments_and_signature_are_those_of_the_dataclass(pair: tuple[Any, Any]) -> None:
    ours, theirs = pair
    assert [x.name for x in fields(ours)] == [x.name for x in fields(theirs)]
    assert ours.__match_args__ == theirs.__match_args__
    assert [
        (x.name, x.kind, x.default is inspect.Parameter.empty)
        for x in inspect.signature(ours).parameters.values()
    ] == [
        (x.name, x.kind, x.default is inspect.Parameter.empty)
        for x in inspect.signature(theirs).parameters.values()
    ]


def test_replace_copy_and_pickle_give_equal_records() -> None:
    one = Point(1, (2, 3))
    assert replace(one, x=5) == Point(5, (2, 3))
    for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert other == one
        assert other is not one
    match one:
        case Point(x, y):
            assert (x, y) == (1, (2, 3))
    assert repr(one) == "Point(x=1, y=(2, 3))"


def test_what_can_change_is_no_record() -> None:
    with pytest.raises(TypeError, match="dataclass"):
        record(frozen=False)


def interrupted(places: range, used: Callable[[], Any]) -> list[bool]:
    """Whether a use was ended at the k-th line or call inside it, by an exception as that of a timer."""

    class EndedError(Exception):
        pass

    ended = []
    for place in places:
        count = 0

        def tick(*_: Any, place: int = place) -> Any:
            nonlocal count
            count += 1
            if count == place:
                raise EndedError
            return tick

        before = sys.gettrace()
        sys.settrace(tick)
        try:
            used()
            ended.append(False)
        except (EndedError, RuntimeError):  # Python makes the second of the first where a class is made
            ended.append(True)
        finally:
            sys.settrace(before)
    return ended


@pytest.mark.parametrize(
    "used",
    [fields, lambda cls: cls.__match_args__, lambda cls: replace(cls(2), decay=3)],
    ids=["fields", "match", "replace"],
)
def test_a_record_is_whole_after_an_interrupt_at_any_moment(used: Callable[[type], Any]) -> None:
    """A budget's timer or Ctrl-C may end the work at any line; the next use finds what an undisturbed one finds."""
    plain = family(dataclass)[1]
    ended = []
    for place in range(1, 400, 3):
        cls = family(record)[1]
        ended += interrupted(range(place, place + 1), lambda cls=cls: used(cls))
        assert [(each.name, each.type, each.default) for each in fields(cls)] == [
            (each.name, each.type, each.default) for each in fields(plain)
        ]
        assert cls.__match_args__ == plain.__match_args__
        match cls(7):
            case cls(decay):
                assert decay == 7
    assert ended.count(True) > 20


@pytest.mark.parametrize("make", [dataclass, record])
def test_no_default_is_shared_that_can_change(make: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="mutable default"):

        @make(frozen=True)
        class Shared:
            """Every instance would have the same dictionary."""

            names: dict[str, int] = {}  # noqa: RUF012
