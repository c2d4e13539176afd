"""Recorded calls of a queue with leases as TraceLeasedQueue.tla reads them: each with the times between which it took
effect, until when its grant lasts, what it is about, and what came back.

What a client has in hand is not in the rows; it follows from what its receives gave it, as spec/workqueue/trace.toml
says. Times, groups, deduplication ids and receipts are written by their ranks, messages and hand-outs by their numbers.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from scatterproof.models.calls_to_tla import CallWords, Columns, is_gone, reader_of_calls
from scatterproof.models.validation import Reader, tla_record, tla_sequence, tla_truth
from scatterproof.spec.core import Outcome
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Kind, Trace, schema
from scatterproof.spec.workqueue.messages import MOST_ENTRIES

# A message: the client that put it, the number of that call, and which of its entries it is.
_Name = tuple[NodeId, int, int]
_RECEIVES = ("receive", "receive_aside")


@dataclass(frozen=True, slots=True)
class _Handed:
    """Part of what a receive gives. hand: the number of the hand-out, from 1."""

    hand: int
    row: Columns


@dataclass(slots=True, kw_only=True)
class _Call:
    """about: the hand-outs in its client's hand that it uses.
    hands: for `cancel`, all hand-outs to its client.
    last_ns: by when it has surely taken effect; None where that is not known.
    """

    client: NodeId
    name: str
    row: Columns
    about: list[_Handed]
    hands: list[int] = field(default_factory=list)
    last_ns: int | None = None
    outcome: Outcome = Outcome.UNKNOWN
    done: int = -1
    parts: list[_Handed] = field(default_factory=list)


class LeaseWords(CallWords):
    def __init__(self, trace: Trace) -> None:
        given = Parameters("workqueue", trace.header.parameters)
        self._window_ns, self._margin_ns = given.number("window_ns"), given.number("margin_ns")
        calls = list(_calls(trace))
        puts = [(call, name) for call in calls for name in _puts(call)]
        self._puts = {name: number for number, (_, name) in enumerate(puts, 1)}
        self._given = {name: call.row for call, name in puts}
        self._denied = {name for call, name in puts if len(_puts(call)) > 1 and _end(call, name[2]) == "refused"}
        self._times = _ranks(time for call in calls for time in self._all_times(call) if time is not None)
        self._groups = _ranks(call.row["group"] for call in calls)
        self._dedups = _ranks(_dedup(call, name[2]) for call, name in puts)
        self._receipts = _ranks(part.row["receipt"] for call in calls for part in call.parts)
        self._unheard = [(call.row["time_ns"], max(0, call.row["most"])) for call in calls if _is_unheard(call)]
        self._told = {self._message(part.row) for call in calls for part in call.parts}
        self._ids = Counter(_dedup(call, name[2]) for call, name in puts)
        self._unread: dict[int, deque[_Call]] = defaultdict(deque)
        self._last: dict[int, _Call] = {}
        self._parts: dict[int, deque[_Handed]] = defaultdict(deque)
        number = {client: at for at, client in enumerate(trace.header.topology.clients(), 1)}
        for call in calls:
            self._unread[number[call.client]].append(call)

    def called(self, client: int, call: str, called: Columns, returned: Columns | None) -> str | None:
        one = self._unread[client].popleft()
        if one.outcome is Outcome.UNKNOWN and self._explains_nothing(one):
            return None
        self._last[client] = one
        self._parts[client] = deque(one.parts)
        first, last, begins, ends = (self._time(time) for time in self._all_times(one))
        parts = tla_sequence(self._part(part) for part in one.parts)
        fields = {
            "call": f'"{call}"',
            "first": first,
            "last": last,
            "granted": tla_record({"from": begins, "by": ends}),
            "entries": tla_sequence(self._entries(one)),
            "hands": f"{{{', '.join(map(str, one.hands))}}}",
            "group": self._groups[one.row["group"]],
            "most": self._few(one.row["most"]) if one.row["most"] >= 0 else -1,
            "unheard": self._few(self._asked_unheard(one)),
            "hand": one.about[0].hand if one.about else 0,
            "told": tla_record({"ends": _ends(one), "parts": parts}),
        }
        return tla_record(fields)

    def delivered(self, client: int, delivered: Columns) -> str | None:
        return self._part(self._parts[client].popleft()) if self._parts[client] else None

    def returned(self, client: int, call: str, returned: Columns) -> str:
        return tla_record({"ends": _ends(self._last[client]), "parts": "<<>>"})

    def _entries(self, call: _Call) -> Iterator[str]:
        """What it puts, or is about."""
        for name in _puts(call):
            dedup = _dedup(call, name[2])
            yield tla_record({"number": self._puts[name], "dedup": self._dedups[dedup] if dedup > 0 else 0})
        for one in call.about:
            yield tla_record({"message": self._message(one.row), "hand": one.hand})

    def _all_times(self, call: _Call) -> tuple[int, int | None, int, int | None]:
        """Earliest and latest time at which it took effect, then earliest and latest end of its grant; in ns, None for
        no bound."""
        lasts_ns = max(0, self._window_ns if call.name == "put_message" else call.row["lease_ns"])
        first_ns, last_ns = call.row["time_ns"], call.last_ns
        ends_ns = None if last_ns is None else last_ns + lasts_ns + self._margin_ns
        return first_ns, last_ns, first_ns + lasts_ns - self._margin_ns, ends_ns

    def _explains_nothing(self, call: _Call) -> bool:
        """Whether a call of unknown end can be left out. What such a receive hid is counted in `unheard` of other
        calls."""
        if call.name == "put_message":
            return all(self._is_alone(call, name) for name in _puts(call))
        if call.name == "cancel":
            return False
        return not call.parts if call.name in _RECEIVES else not call.about

    def _is_alone(self, call: _Call, name: _Name) -> bool:
        """Whether no receive gives the message, and no other put has its deduplication id."""
        dedup = _dedup(call, name[2])
        return (dedup < 1 or self._ids[dedup] == 1) and self._puts[name] not in self._told

    def _asked_unheard(self, call: _Call) -> int:
        """For how many messages others had asked by then without hearing what they were given."""
        return sum(most for time_ns, most in self._unheard if call.last_ns is None or time_ns <= call.last_ns)

    def _few(self, count: int) -> int:
        """The count, but at most one more than there are messages."""
        return max(0, min(count, len(self._puts) + 1))

    def _time(self, time_ns: int | None) -> int:
        """The rank of a time; for never, one above all others."""
        return len(self._times) + 1 if time_ns is None else self._times[time_ns]

    def _message(self, row: Columns) -> int:
        """The number of a message; 0 for one that nobody put, or not with this body and into this group."""
        name = (row["sender"], row["number"], max(1, row["message"]))
        put = self._given.get(name, row)
        differs = name[2] == 1 and -1 != row["digest"] != put["digest"] != -1
        return 0 if differs or -1 != row["group"] != put["group"] != -1 else self._puts.get(name, 0)

    def _part(self, part: _Handed) -> str:
        receipt = self._receipts[part.row["receipt"]]
        denied = (part.row["sender"], part.row["number"], max(1, part.row["message"])) in self._denied
        number = 0 if denied else self._message(part.row)
        return tla_record({"message": number, "hand": part.hand, "receipt": receipt, "denied": tla_truth(denied)})


def _calls(trace: Trace) -> Iterator[_Call]:
    """The calls in the order in which they are made, each with its end."""
    names = schema(trace.header.protocol)
    words = {code: name for name, code in names.calls.items()}
    hands: dict[int, deque[_Handed]] = defaultdict(deque)
    ever: dict[int, list[int]] = defaultdict(list)
    in_call: dict[int, _Call] = {}
    made: list[_Call] = []
    handed = 0
    for row in trace.rows:
        columns = dict(zip(names.columns, row, strict=True))
        node, kind, hand = columns["node"], columns["kind"], hands[columns["node"]]
        if kind == Kind.CALLED:
            name = words.get(columns["call"], "")
            about = _used(hand, name, columns)
            in_call[node] = _Call(client=node, name=name, row=columns, about=about)
            if name == "cancel":
                in_call[node].hands = list(ever[node])
                hand.clear()
            made.append(in_call[node])
        elif kind == Kind.DELIVERED and node in in_call and in_call[node].name in _RECEIVES:
            handed += 1
            hand.append(_Handed(handed, columns))
            ever[node].append(handed)
            in_call[node].parts.append(hand[-1])
            in_call[node].last_ns = in_call[node].parts[0].row["time_ns"]
        elif kind == Kind.RETURNED and node in in_call:
            call = in_call.pop(node)
            if columns["outcome"] in (Outcome.OK, Outcome.REFUSED):
                call.outcome, call.done = Outcome(columns["outcome"]), columns["carried"]
                call.last_ns = columns["time_ns"] if call.last_ns is None else call.last_ns
        elif is_gone(columns):
            in_call.pop(node, None)
            hand.clear()
    yield from made


def _is_unheard(call: _Call) -> bool:
    return call.name in _RECEIVES and call.outcome is Outcome.UNKNOWN


def _used(hand: deque[_Handed], name: str, called: Columns) -> list[_Handed]:
    if not hand or name not in ("delete", "extend", "give_back"):
        return []
    last = called["newest"] == 1
    if name == "extend":
        return [hand[-1 if last else 0]]
    most = min(max(1, called["most"]), MOST_ENTRIES, len(hand)) if name == "delete" else 1
    return [hand.pop() if last else hand.popleft() for _ in range(most)]


def _puts(call: _Call) -> list[_Name]:
    """The names of the messages that it puts."""
    count = min(max(1, call.row["most"]), MOST_ENTRIES) if call.name == "put_message" else 0
    return [(call.client, call.row["operation"], 1 + at) for at in range(count)]


def _dedup(call: _Call, entry: int) -> int:
    return call.row["dedup"] + entry - 1 if call.row["dedup"] > 0 else 0


def _end(call: _Call, entry: int) -> str:
    """How an entry ended, counted from 1."""
    if call.outcome is Outcome.UNKNOWN or call.done < 0:
        return call.outcome.name.lower()
    return "ok" if call.done >> entry - 1 & 1 else "refused"


def _ends(call: _Call) -> str:
    count = max(1, len(call.about), len(_puts(call)))
    return tla_sequence(f'"{_end(call, 1 + at)}"' for at in range(count))


def _ranks(values: Iterable[int]) -> dict[int, int]:
    return {value: rank for rank, value in enumerate(sorted(set(values)), 1)}


def reader_of_leased(trace: Trace) -> Reader:
    """The run in TLA+; CannotRun for one in which a call returns that was not made."""
    given = Parameters("workqueue", trace.header.parameters)
    said = {
        "by_group": given.number("by_group") == 1,
        "apart": given.number("back_order") > 0,
        "in_order": given.number("back_order") < 2,
        "one_consumer": given.number("one_consumer") == 1,
        "whole": given.number("batches") == 1,
        "batches": given.number("batches") > 0,
    }
    around = {name: tla_truth(truth) for name, truth in said.items()}
    around["most_tries"] = str(given.number("most_tries"))
    words = LeaseWords(trace)
    return reader_of_calls(trace, "TraceLeasedQueue", "MCTraceLeasedQueue.cfg", words, around)
