"""Recorded runs as other judges read them: histories of Jepsen (EDN) and of Porcupine (JSON).

In a row `called` or `returned`, `:f` is the call and `:value` the row's columns, by name. Clients are processes, from 0
on in the order of the topology. A client that calls again after a call of unknown end is another process, as in Jepsen:
its number grows by the number of clients. A row of no call is an operation of `:nemesis`, so that nothing is lost. The
trace's header stands in a comment on the first line.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import msgspec

from scatterproof.conformance.linear.edn import Edn, Keyword, written
from scatterproof.conformance.linear.jepsen import ENDS, HistoryEvent
from scatterproof.spec.core import Outcome
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import NodeId, Topology
from scatterproof.spec.trace import ABSENT, Header, Kind, Trace, schema
from scatterproof.spec.trace_ndjson import decode_header

# What the import makes rows of.
RowEvent: TypeAlias = dict[str, str | int | float | bool | None]
HEADER = "; scatterproof "
_SAID = ("kind", "node", "time_ns", "call", "outcome")  # what is not said in :value
_TYPES: dict[int, str] = {outcome: name for name, outcome in ENDS.items()}


def jepsen(trace: Trace) -> bytes:
    """A history in EDN, one operation a line. Raises BadInput for a protocol without calls."""
    names = schema(trace.header.protocol)
    lines = [HEADER + msgspec.json.encode(trace.header).decode()]
    processes = _Processes(trace.header.topology)
    for position, row in enumerate(trace.rows):
        of = dict(zip(names.columns, row, strict=True))
        kind, call = names.kind(of["kind"]), _call_of(trace, of)
        value: dict[Edn, Edn] = {
            Keyword(name): number
            for name, number in of.items()
            if number != ABSENT and name not in (_SAID if call else ("kind", "time_ns"))
        }
        operation: dict[Edn, Edn] = {
            Keyword("index"): position,
            Keyword("time"): of["time_ns"],
            Keyword("process"): processes.of(of) if call else Keyword("nemesis"),
            Keyword("type"): Keyword(_type(of) if call else "info"),
            Keyword("f"): Keyword(call or kind),
            Keyword("value"): value,
        }
        lines.append(written(operation))
    return "\n".join(lines).encode() + b"\n"


def porcupine(trace: Trace) -> bytes:
    """A JSON list of porcupine.Operation, in the order of their calls, without rows of no call. A call of unknown end
    returns after all others, and its output says so."""
    names = schema(trace.header.protocol)
    last_ns = max((row[names.index("time_ns")] for row in trace.rows), default=0)
    found: list[dict[str, object]] = []
    within: dict[int, dict[str, object]] = {}
    processes = _Processes(trace.header.topology)
    for row in trace.rows:
        of = dict(zip(names.columns, row, strict=True))
        call = _call_of(trace, of)
        if call is None:
            continue
        value = {name: number for name, number in of.items() if number != ABSENT and name not in _SAID}
        who = processes.of(of)
        if of["kind"] == Kind.CALLED:
            operation = {"ClientId": who, "Input": {"f": call, **value}, "Call": of["time_ns"]}
            found.append({**operation, "Output": {"outcome": "unknown"}, "Return": last_ns + 1})
            within[of["node"]] = found[-1]
        elif of["node"] in within and of["outcome"] in (Outcome.OK, Outcome.REFUSED):
            outcome = Outcome(of["outcome"]).name.lower()
            within[of["node"]] |= {"Output": {"outcome": outcome, **value}, "Return": of["time_ns"]}
    return msgspec.json.encode(found) + b"\n"


def _type(row: Mapping[str, int]) -> str:
    return "invoke" if row["kind"] == Kind.CALLED else _TYPES.get(row["outcome"], "info")


def _call_of(trace: Trace, row: Mapping[str, int]) -> str | None:
    names = schema(trace.header.protocol)
    if not names.calls:
        raise BadInput(f"protocol {trace.header.protocol!r} has no calls, and so no histories; choose one that has")
    if row["kind"] not in (Kind.CALLED, Kind.RETURNED) or row["node"] not in trace.header.topology.clients():
        return None
    return next((name for name, code in names.calls.items() if code == row["call"]), str(row["call"]))


class _Processes:
    """The process that a client is, row by row."""

    def __init__(self, topology: Topology) -> None:
        clients = topology.clients()
        self._more = len(clients)
        self._now = {node: place for place, node in enumerate(clients)}
        self._open: set[NodeId] = set()

    def of(self, row: Mapping[str, int]) -> int:
        node, called = row["node"], row["kind"] == Kind.CALLED
        if called and node in self._open:
            self._now[node] += self._more
        found = self._now[node]
        if called:
            self._open.add(node)
        elif row["outcome"] != Outcome.UNKNOWN:
            self._open.discard(node)
        return found


def header_of(path: Path, first: str) -> Header | None:
    """The header in the comment on the first line; None for a history that another judge wrote. Raises BadInput for a
    comment that is no header."""
    return decode_header(first.removeprefix(HEADER).encode(), str(path)) if first.startswith(HEADER) else None


def as_row(found: HistoryEvent, position: int, topology: Topology, kinds: Mapping[str, int]) -> RowEvent | None:
    """An operation by trace column, for the import; None for one of no client and no event kind. A value that is no map
    is named `value`; a map's other keys keep their names.

    position: of the operation in its history; it stands for the time where there is none.
    topology: has one client or more.
    """
    value = found.value if isinstance(found.value, Mapping) else {"value": found.value}
    said = {
        str(key): one
        for key, one in (*found.more.items(), *value.items())
        if one is None or isinstance(one, bool | int | float | str)
    }
    said = {"time_ns": said.pop("time", position), **said}
    if not isinstance(found.process, int):
        return {**said, "kind": found.call} if found.call in kinds else None
    clients = topology.clients()
    said |= {"node": clients[found.process % len(clients)], "call": found.call}
    if found.type == "invoke":
        return {**said, "kind": "called"}
    return {**said, "kind": "returned", "outcome": ENDS[found.type].name.lower()}
