"""What a core holds, as a value that can be compared: tests alone look into a core."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

State: TypeAlias = object


def state(core: object) -> State:
    """All that is reachable from the core, but for its functions; equal for cores that hold equal things."""
    return _state(core, {})


def _state(value: Any, known: dict[int, int]) -> State:
    if value is None or isinstance(value, int | str | bytes | float | msgspec.Struct):
        return value
    if callable(value) and not hasattr(value, "__dict__"):
        return "function"
    if id(value) in known:
        return ("seen before", known[id(value)])
    known[id(value)] = len(known)
    if isinstance(value, dict):
        return [(_state(key, known), _state(held, known)) for key, held in value.items()]
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    if isinstance(value, list | tuple):
        return [_state(held, known) for held in value]
    names = [*getattr(value, "__dict__", ())]
    names += [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    if not names:
        return "function" if callable(value) else repr(value)
    return (type(value).__name__, [(name, _state(getattr(value, name, None), known)) for name in sorted(names)])
