"""Histories as Jepsen writes them: a map of EDN an operation (history.edn), or the lines of its log.

    {:process 0, :type :invoke, :f :write, :value 3}
    {:process 0, :type :ok, :f :write, :value 3}

A process is a client that makes one call at a time. `:ok` says that the call took effect, `:fail` that it did not, and
`:info`, or nothing, that nobody knows (https://github.com/jepsen-io/history). Operations of processes that are no
clients, such as `:nemesis`, are no calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from scatterproof.conformance.linear.edn import Edn, read, read_one
from scatterproof.spec.core import Outcome
from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import read_bytes

ENDS: Final = {"ok": Outcome.OK, "fail": Outcome.REFUSED, "info": Outcome.UNKNOWN}
_LINE = re.compile(r"(?:^|\s)(?P<process>\d+)\s+:(?P<type>invoke|ok|fail|info)\s+:(?P<f>\S+)\s+(?P<value>.*)$")


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """One operation.

    line: its line in the file.
    process: a number, or a name such as `nemesis`.
    more: the map's other keys.
    """

    line: int
    process: int | str
    type: str
    call: str
    value: Edn
    more: Mapping[Edn, Edn] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class HistoryCall:
    """One call.

    line: its first line in the file.
    client: the process.
    key: what the call is about, where the history has `:key`.
    given, told: the value with which it was called, and with which it ended ok.
    called, returned: positions in the history; `returned` is None where the end is not known.
    """

    line: int
    client: int | str
    name: str
    key: Edn = None
    given: Edn
    told: Edn = None
    outcome: Outcome = Outcome.UNKNOWN
    called: int
    returned: int | None = None

    def __str__(self) -> str:
        ends = {Outcome.OK: f"ok: {self.told!r}", Outcome.REFUSED: "refused", Outcome.UNKNOWN: "nobody knows its end"}
        return f"line {self.line}, process {self.client}, {self.name} {self.given!r} ({ends[self.outcome]})"


def events(path: Path) -> Iterator[HistoryEvent]:
    """The operations of a history, or of a log: the first line that is an operation decides which. Raises BadInput for
    a file that is neither."""
    text = read_bytes(path, "history").decode("utf-8", "replace")
    is_log = "{:" not in text and any(map(_LINE.search, text.split("\n")))
    return _of_log(text, path) if is_log else _of_maps(text, path)


def _of_log(text: str, path: Path) -> Iterator[HistoryEvent]:
    for number, line in enumerate(text.split("\n"), 1):
        found = _LINE.search(line)
        if found is not None:
            value = read_one(found["value"], f"{path}: line {number}")
            yield HistoryEvent(number, int(found["process"]), found["type"], found["f"], value)


def _of_maps(text: str, path: Path) -> Iterator[HistoryEvent]:
    for line, value in read(text, str(path)):
        yield _event(value, line, path)


def _event(one: Edn, line: int, path: Path) -> HistoryEvent:
    if not isinstance(one, Mapping):
        raise BadInput(f"{path}: line {line}: {one!r} is no operation; give maps with :process, :type, :f and :value")
    process, kind, call = one.get("process"), one.get("type"), one.get("f")
    if not isinstance(process, int | str) or kind not in ("invoke", *ENDS) or not isinstance(call, str):
        raise BadInput(
            f"{path}: line {line}: an operation needs a :process, a :f, and a :type of :invoke, :ok, :fail, :info"
        )
    more = {key: found for key, found in one.items() if key not in ("process", "type", "f", "value")}
    return HistoryEvent(line, process, str(kind), call, one.get("value"), more)


def calls(path: Path) -> list[HistoryCall]:
    """The calls of a file, in the order of their beginnings. Raises BadInput for a process that begins a call within
    another, or ends one that it has not begun."""
    found: list[HistoryCall] = []
    within: dict[int | str, HistoryCall] = {}
    for position, event in enumerate(events(path)):
        if not isinstance(event.process, int):
            continue
        place = f"{path}: line {event.line}: process {event.process}"
        if event.type == "invoke":
            if event.process in within:
                other = within[event.process]
                raise BadInput(f"{place} begins {event.call} within {other}; give each client a process of its own")
            call = HistoryCall(
                line=event.line,
                client=event.process,
                name=event.call,
                key=event.more.get("key"),
                given=event.value,
                called=position,
            )
            within[event.process] = call
            found.append(call)
        elif event.process in within:
            call = within.pop(event.process)
            call.outcome = ENDS[event.type]
            call.returned = None if call.outcome is Outcome.UNKNOWN else position
            # The value of another end may be an error's.
            call.told = event.value if call.outcome is Outcome.OK else None
        elif event.type != "info":
            raise BadInput(f"{place} ends {event.call}, which it has not begun; the history may be a part of another")
    return found
