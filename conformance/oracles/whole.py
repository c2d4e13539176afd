"""A trace, looked at as a whole: what the oracles of every protocol ask of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from copy import copy
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Concatenate, Generic, ParamSpec, Self, TypeVar

from scatterproof.spec.trace import CLEAN, QUIESCENT, Kind, Trace, schema

KeyT = TypeVar("KeyT", bound=Hashable)
OwnerT = TypeVar("OwnerT")
AnswerT = TypeVar("AnswerT")
Asked = ParamSpec("Asked")


def says_settled(flags: int) -> bool:
    """Whether the flags of a last row say that the run ended as planned with nothing in flight."""
    return flags >= 0 and bool(flags & CLEAN) and bool(flags & QUIESCENT)


class AnyEvent:
    """A row, by name: its position, and each column of its protocol's schema. Protocols add what they ask of a row."""

    def __init__(self, columns: Sequence[str], position: int, row: Iterable[int]) -> None:
        self.position = position
        self.__dict__.update(zip(columns, row, strict=True))

    if TYPE_CHECKING:

        def __getattr__(self, column: str) -> int: ...

    @property
    def settled(self) -> bool:
        return says_settled(self.flags)

    def moved(self, position: int) -> Self:
        """The same row, at another position."""
        other = copy(self)
        other.position = position
        return other


EventT = TypeVar("EventT", bound=AnyEvent)
WholeT = TypeVar("WholeT")


class AnyWhole(Generic[EventT]):
    """The rows of a trace, and those of a kind."""

    def __init__(self, trace: Trace, make_event: Callable[[Sequence[str], int, Iterable[int]], EventT]) -> None:
        columns = schema(trace.header.protocol).columns
        self.events = [make_event(columns, position, row) for position, row in enumerate(trace.rows)]

    def of(self, kind: Kind) -> list[EventT]:
        return self._by_kind.get(kind, [])

    @cached_property
    def _by_kind(self) -> dict[int, list[EventT]]:
        return grouped(self.events, lambda event: event.kind)

    def at(self, kind: Kind, node: int) -> list[EventT]:
        return self._by_place.get((kind, node), [])

    @cached_property
    def _by_place(self) -> dict[tuple[int, int], list[EventT]]:
        return grouped(self.events, lambda event: (event.kind, event.node))

    @cached_property
    def crashes(self) -> list[EventT]:
        """The rows in which nodes, not links, stopped."""
        return [event for event in self.of(Kind.CRASHED) if event.link < 0]


def once_a_trace(make: Callable[[Trace], WholeT]) -> Callable[[Trace], WholeT]:
    """A function that makes a trace whole, and keeps the latest: all oracles look at one trace one after another."""
    latest: list[tuple[Trace, WholeT]] = []

    def look(trace: Trace) -> WholeT:
        if not latest or latest[0][0] is not trace:
            latest[:] = [(trace, make(trace))]
        return latest[0][1]

    return look


def once_asked(
    method: Callable[Concatenate[OwnerT, Asked], AnswerT],
) -> Callable[Concatenate[OwnerT, Asked], AnswerT]:
    """A method that keeps its answers for as long as its object lives; its arguments are given by position."""
    place = f"answers of {method.__name__}"

    @wraps(method)
    def ask(owner: OwnerT, /, *given: Asked.args, **named: Asked.kwargs) -> AnswerT:
        answers: dict[tuple[object, ...], AnswerT] = owner.__dict__.setdefault(place, {})
        if given not in answers:
            answers[given] = method(owner, *given, **named)
        return answers[given]

    return ask


def grouped(events: Iterable[EventT], key: Callable[[EventT], KeyT]) -> dict[KeyT, list[EventT]]:
    found: dict[KeyT, list[EventT]] = {}
    for event in events:
        found.setdefault(key(event), []).append(event)
    return found


def before(events: Iterable[EventT], position: int) -> list[EventT]:
    return [event for event in events if event.position < position]


def positions(events: Iterable[AnyEvent]) -> set[int]:
    return {event.position for event in events}
