"""Steps at a product as words, one step a line: `publish 1 level=2`, `receive 2 lease_ns=30s`, `kill`, `sleep 1.3`. The
number behind a call is its client; behind a move that of what it is about. `3 * publish 1` is that three times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from itertools import groupby
from typing import Any

from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import Call

SLEEP, SECOND_NS = "sleep", 1_000_000_000
_TIMES = re.compile(r"(\d+) \* (.*)")
_SECONDS = re.compile(r"(\d+)s")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a product can be told.

    calls: by name, with their arguments as they are when left out.
    move, step: what is no call, and what is made of one, the move first; None where there is none.
    """

    calls: Mapping[str, Mapping[str, int]]
    move: type[Enum] | None = None
    step: type[Any] | None = None

    def read(self, lines: Iterable[str]) -> list[Any]:
        """The steps that a text says, line by line; BadInput for a line that says none."""
        found: list[Any] = []
        for line in lines:
            times = _TIMES.fullmatch(line.strip())
            found += [self._step(times[2] if times else line)] * (int(times[1]) if times else 1)
        return found

    def _step(self, line: str) -> Any:
        name, *rest = line.split()
        try:
            if name == SLEEP:
                (seconds,) = rest
                return float(seconds)
            given = dict(word.split("=") for word in rest if "=" in word)
            numbers = [int(word) for word in rest if "=" not in word]
            if name in self.calls:
                (node,) = numbers
                asked = {key: _integer(value) for key, value in given.items()}
                if strange := asked.keys() - self.calls[name].keys():
                    raise ValueError(f"{name} has no {min(strange)}; it has {', '.join(self.calls[name])}")
                return Call(0, node, name, {**self.calls[name], **asked})
            return self._move(name, numbers, given)
        except (ValueError, KeyError) as error:
            raise BadInput(f"step {line!r}: {error}") from None

    def _move(self, name: str, numbers: list[int], given: dict[str, str]) -> Any:
        moves = {one.name.lower(): one for one in self.move or ()}
        if name not in moves or self.step is None:
            raise ValueError(f"{name!r} is unknown; choose of {', '.join([*sorted(self.calls), *moves, SLEEP])}")
        kinds = {field.name: type(field.default) for field in fields(self.step)}
        values = {key: _value(kinds[key], value) for key, value in given.items()}
        return self.step(moves[name], *numbers, **values)

    def words(self, steps: Sequence[Any]) -> list[str]:
        """The text of which `read` makes these steps."""
        found = []
        for line, same in groupby(map(self._line, steps)):
            count = len(list(same))
            found.append(f"{count} * {line}" if count > 1 else line)
        return found

    def _line(self, step: Any) -> str:
        if isinstance(step, float):
            return f"{SLEEP} {step:g}"
        if isinstance(step, Call):
            usual = self.calls[step.call]
            said = [f"{key}={_told(key, one)}" for key, one in sorted(step.arguments.items()) if one != usual.get(key)]
            return " ".join([step.call, str(step.node), *said])
        move, *others = fields(step)
        values = [(field, getattr(step, field.name)) for field in others]
        said = [
            str(value)
            if field is others[0]
            else f"{field.name}={','.join(value) if isinstance(value, tuple) else value}"
            for field, value in values
            if value != field.default
        ]
        return " ".join([getattr(step, move.name).name.lower(), *said])


NOTHING = Vocabulary({})


def _integer(value: str) -> int:
    seconds = _SECONDS.fullmatch(value)
    return int(seconds[1]) * SECOND_NS if seconds else int(value)


def _told(key: str, value: Any) -> str:
    is_whole = key.endswith("_ns") and value and value % SECOND_NS == 0
    return f"{value // SECOND_NS}s" if is_whole else str(value)


def _value(kind: type[Any], value: str) -> Any:
    return tuple(value.split(",")) if kind is tuple else kind(value)
