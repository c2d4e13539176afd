"""A core whose effects are changed on their way out: how nodes are spoilt whose rules are right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from spec.core import Core, Effect, Event

AnyCore: TypeAlias = Core[Any, Any]
# What an altered node does in place of the core's effects; it may keep state in its closure.
Alter: TypeAlias = Callable[[Event[Any], Sequence[Effect[Any, Any]]], Sequence[Effect[Any, Any]]]


class Altered:
    """A core whose effects pass through `alter`."""

    def __init__(self, core: AnyCore, alter: Alter) -> None:
        self._core = core
        self._alter = alter

    def handle(self, event: Event[Any]) -> Sequence[Effect[Any, Any]]:
        return self._alter(event, self._core.handle(event))

    def next_deadline(self) -> int | None:
        return self._core.next_deadline()
