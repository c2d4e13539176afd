"""Cores altered from outside, like a faulty implementation with correct rules: effects are changed on their way out, or
some events never reach the core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from scatterproof.spec.core import Core, Deliver, Effect, Event, Send

AnyCore: TypeAlias = Core[Any, Any]
In: TypeAlias = Event[Any]
Out: TypeAlias = Effect[Any, Any]
# What an altered node does in place of the core's effects; it may keep state in its closure.
Alter: TypeAlias = Callable[[In, Sequence[Out]], Sequence[Out]]


class Altered:
    """A core whose effects pass through `alter`."""

    def __init__(self, core: AnyCore, alter: Alter) -> None:
        self._core = core
        self._alter = alter

    def handle(self, event: In) -> Sequence[Out]:
        return self._alter(event, self._core.handle(event))

    def next_deadline(self) -> int | None:
        return self._core.next_deadline()


class Passing:
    """A core that gets only the events for which `instead` returns None. For any other event the effects that `instead`
    returns are the node's."""

    def __init__(self, core: AnyCore, instead: Callable[[In], Sequence[Out] | None]) -> None:
        self._core = core
        self._instead = instead

    def handle(self, event: In) -> Sequence[Out]:
        effects = self._instead(event)
        return self._core.handle(event) if effects is None else effects

    def next_deadline(self) -> int | None:
        return self._core.next_deadline()


def each(change: Callable[[In, Out], Sequence[Out]]) -> Alter:
    """Change, drop or multiply every effect by itself."""
    return lambda event, effects: [out for effect in effects for out in change(event, effect)]


def packets(change: Callable[[In, Any], Sequence[Any]]) -> Alter:
    """Change, drop or multiply every packet that is sent."""
    return each(
        lambda event, effect: (
            [Send(effect.link, packet) for packet in change(event, effect.packet)]
            if isinstance(effect, Send)
            else [effect]
        )
    )


def deliveries(change: Callable[[int, Any], Sequence[Any]]) -> Alter:
    """Change, drop or multiply every message that is delivered; they are counted from 1 at each node."""
    count = 0

    def alter(event: In, effect: Out) -> Sequence[Out]:
        nonlocal count
        if not isinstance(effect, Deliver):
            return [effect]
        count += 1
        return [Deliver(message) for message in change(count, effect.message)]

    return each(alter)
