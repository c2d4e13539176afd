"""The reference rules in the terms of the Z3 claims, whose rules are about numbers where the core has sets: by rule,
what a rule or a mutant of it puts in the place of the claims' own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scatterproof.fuzz.mutations import Rule


class _OfSize:
    """A set of processes of which nothing is known but how many they are."""

    def __init__(self, size: Any) -> None:
        self._size = size

    def bit_count(self) -> Any:
        return self._size


class _Next:
    """The numbers beyond a prefix, by interval, of which nothing is known but whether the next one is among them."""

    def __init__(self, prefix: Any, following: Any) -> None:
        self._next = prefix + 1
        self._following = following

    def __contains__(self, number: Any) -> bool:
        return bool(self._following) and bool(number == self._next)

    def __getitem__(self, number: Any) -> Any:
        if number != self._next:
            raise IndexError("no interval begins there")
        return self._next


ON_CLAIMS: dict[str, Callable[[Rule], Mapping[str, Rule]]] = {
    "next_pseq": lambda rule: {"number": rule},
    "prefix_with": lambda rule: {"collapse": lambda prefix, following: rule(prefix, _Next(prefix, following))},
    "majority": lambda rule: {"enough": lambda having, processes: rule(_OfSize(having), processes)},
    "may_begin": lambda rule: {"pauses": lambda undelivered, threshold: not rule(undelivered, threshold)},
    "attached": lambda rule: {"own_entry": lambda earlier: rule((0,), 0, earlier)[0]},
}
