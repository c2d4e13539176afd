"""Recorded calls of a queue with leases as TraceLeasedQueue.tla reads them: with the box of each, until when what it
grants lasts, what it is about, and what came back.

What a client has in hand is not in the rows; it follows from what its receives gave it, as spec/workqueue/trace.toml
says. Times, groups, deduplication ids and receipts are written by their ranks, messages and hand-outs by their numbers.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from scatterproof.models.calls_to_tla import Columns, Words, is_gone, reader_of_calls
from scatterproof.models.validation import Reader, tla_record, tla_sequence, tla_truth
from scatterproof.spec.core import Outcome
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Kind, Trace, schema

_REASONS = {"WasPut": "what is handed out was put before"}


@dataclass(frozen=True, slots=True)
class _Handed:
    """Part of what a receive gives. hand: the number of the hand-out, from 1."""

    hand: int
    row: Columns


@dataclass(slots=True, kw_only=True)
class _Call:
    """about: what it uses of what its client has in hand. last_ns: when it had surely taken effect, if it had."""

    client: NodeId
    name: str
    row: Columns
    about: _Handed | None
    last_ns: int | None = None
    outcome: Outcome = Outcome.UNKNOWN
    parts: list[_Handed] = field(default_factory=list)


class LeaseWords(Words):
    def __init__(self, trace: Trace) -> None:
        given = Parameters("workqueue", trace.header.parameters)
        self._window_ns, self._margin_ns = given.number("window_ns"), given.number("margin_ns")
        calls = list(_calls(trace))
        puts = [(call.client, call.row["operation"]) for call in calls if call.name == "put_message"]
        self._puts = {name: number for number, name in enumerate(puts, 1)}
        self._times = _ranks(time for call in calls for time in self._all_times(call) if time is not None)
        self._ranks = {name: _ranks(call.row[name] for call in calls) for name in ("group", "dedup")}
        self._receipts = _ranks(part.row["receipt"] for call in calls for part in call.parts)
        self._unheard = [(call.row["time_ns"], max(0, call.row["most"])) for call in calls if _is_unheard(call)]
        self._told = {self._message(part.row) for call in calls for part in call.parts}
        self._ids = Counter(call.row["dedup"] for call in calls if call.name == "put_message")
        self._unread: dict[int, deque[_Call]] = defaultdict(deque)
        self._parts: dict[int, deque[_Handed]] = defaultdict(deque)
        number = {client: at for at, client in enumerate(trace.header.topology.clients(), 1)}
        for call in calls:
            self._unread[number[call.client]].append(call)

    def called(self, client: int, call: str, called: Columns, returned: Columns | None) -> str | None:
        one = self._unread[client].popleft()
        if one.outcome is Outcome.UNKNOWN and self._explains_nothing(one):
            return None
        self._parts[client] = deque(one.parts)
        first, last, begins, ends = (self._time(time) for time in self._all_times(one))
        parts = tla_sequence(self._part(part) for part in one.parts)
        fields = {
            "call": f'"{call}"',
            "first": first,
            "last": last,
            "granted": tla_record({"from": begins, "by": ends}),
            "number": self._puts.get((one.client, one.row["operation"]), 0) if call == "put_message" else 0,
            "group": self._ranks["group"][one.row["group"]],
            "dedup": self._ranks["dedup"][one.row["dedup"]] if one.row["dedup"] > 0 else 0,
            "most": self._few(one.row["most"]),
            "unheard": self._few(self._asked_unheard(one)),
            "message": self._message(one.about.row) if one.about else 0,
            "hand": one.about.hand if one.about else 0,
            "told": tla_record({"outcome": f'"{one.outcome.name.lower()}"', "parts": parts}),
        }
        return tla_record(fields)

    def delivered(self, client: int, delivered: Columns) -> str | None:
        return self._part(self._parts[client].popleft()) if self._parts[client] else None

    def returned(self, client: int, call: str, returned: Columns) -> str:
        return tla_record({"outcome": f'"{Outcome(returned["outcome"]).name.lower()}"', "parts": "<<>>"})

    def _all_times(self, call: _Call) -> tuple[int, int | None, int, int | None]:
        """When it took effect at the earliest and at the latest, and when what it grants ends."""
        lasts_ns = max(0, self._window_ns if call.name == "put_message" else call.row["lease_ns"])
        first_ns, last_ns = call.row["time_ns"], call.last_ns
        ends_ns = None if last_ns is None else last_ns + lasts_ns + self._margin_ns
        return first_ns, last_ns, first_ns + lasts_ns - self._margin_ns, ends_ns

    def _explains_nothing(self, call: _Call) -> bool:
        """Of a call of unknown end. What a receive hid is in `unheard` of those that came back with nothing."""
        if call.name == "put_message":
            dedup = call.row["dedup"]
            is_alone = dedup < 1 or self._ids[dedup] == 1
            return is_alone and self._puts[call.client, call.row["operation"]] not in self._told
        return not call.parts if call.name == "receive" else call.about is None

    def _asked_unheard(self, call: _Call) -> int:
        """For how many messages others had asked that did not hear what they were given."""
        return sum(most for time_ns, most in self._unheard if call.last_ns is None or time_ns <= call.last_ns)

    def _few(self, count: int) -> int:
        """As many messages, or more than there are."""
        return max(0, min(count, len(self._puts) + 1))

    def _time(self, time_ns: int | None) -> int:
        """Above all others for never."""
        return len(self._times) + 1 if time_ns is None else self._times[time_ns]

    def _message(self, row: Columns) -> int:
        """0 for one that nobody put."""
        return self._puts.get((row["sender"], row["number"]), 0)

    def _part(self, part: _Handed) -> str:
        receipt = self._receipts[part.row["receipt"]]
        return tla_record({"message": self._message(part.row), "hand": part.hand, "receipt": receipt})


def _calls(trace: Trace) -> Iterator[_Call]:
    """In the order in which they are made, each as it is in the end."""
    names = schema(trace.header.protocol)
    words = {code: name for name, code in names.calls.items()}
    hands: dict[int, deque[_Handed]] = defaultdict(deque)
    in_call: dict[int, _Call] = {}
    made: list[_Call] = []
    handed = 0
    for row in trace.rows:
        columns = dict(zip(names.columns, row, strict=True))
        node, kind, hand = columns["node"], columns["kind"], hands[columns["node"]]
        if kind == Kind.CALLED:
            name = words.get(columns["call"], "")
            in_call[node] = _Call(client=node, name=name, row=columns, about=_used(hand, name, columns))
            made.append(in_call[node])
        elif kind == Kind.DELIVERED and node in in_call and in_call[node].name == "receive":
            handed += 1
            hand.append(_Handed(handed, columns))
            in_call[node].parts.append(hand[-1])
            in_call[node].last_ns = in_call[node].parts[0].row["time_ns"]
        elif kind == Kind.RETURNED and node in in_call:
            call = in_call.pop(node)
            if columns["outcome"] in (Outcome.OK, Outcome.REFUSED):
                call.outcome = Outcome(columns["outcome"])
                call.last_ns = columns["time_ns"] if call.last_ns is None else call.last_ns
        elif is_gone(columns):
            in_call.pop(node, None)
            hand.clear()
    yield from made


def _is_unheard(call: _Call) -> bool:
    return call.name == "receive" and call.outcome is Outcome.UNKNOWN


def _used(hand: deque[_Handed], name: str, called: Columns) -> _Handed | None:
    if not hand or name not in ("delete", "extend", "give_back"):
        return None
    last = called["newest"] == 1
    if name == "extend":
        return hand[-1 if last else 0]
    return hand.pop() if last else hand.popleft()


def _ranks(values: Iterable[int]) -> dict[int, int]:
    return {value: rank for rank, value in enumerate(sorted(set(values)), 1)}


def reader_of_leased(trace: Trace) -> Reader:
    """The run in TLA+; CannotRun for one in which a call returns that was not made."""
    by_group = Parameters("workqueue", trace.header.parameters).number("by_group") == 1
    around = {"by_group": tla_truth(by_group)}
    words = LeaseWords(trace)
    return reader_of_calls(trace, "TraceLeasedQueue", "MCTraceLeasedQueue.cfg", words, around, _REASONS)
