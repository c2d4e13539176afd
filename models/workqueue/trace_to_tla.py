"""Recorded calls of the work queue as TraceWorkQueue.tla reads them: with what they are about, and what came back.
`leases_to_tla` reads a queue with leases.

What a client has in hand is not in the rows; it follows from what its earlier calls returned, as
spec/workqueue/trace.toml says. Digests, and numbers beyond TLC's integers, are written by their ranks among those of
the trace.
"""

from __future__ import annotations

from dataclasses import dataclass

from scatterproof.models.calls_to_tla import CallWords, Columns, reader_of_calls
from scatterproof.models.validation import Reader, tla_record
from scatterproof.models.workqueue.leases_to_tla import reader_of_leased
from scatterproof.spec.core import Outcome
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.trace import ABSENT, Kind, Trace, schema

_LARGEST = 2**31 - 1  # of TLC's integers
_ALL = 2**63 - 1  # clean: all holders, whenever they called
_RANKED = ("digest", "type", "priority", "correlation", "server")
_GIVEN = ("type", "priority", "correlation", "server", "digest")
_MARKS = {0: "waits", 1: "last"}
_RESULTS: dict[str, tuple[str, ...]] = {
    "open_group": ("group", "token"),
    "send_message": ("message",),
    "next_group": ("group", "token", "type", "priority", "correlation", "retries"),
    "read_message": ("message", "retries", "digest"),
    "unlock_server_groups": ("released",),
    "clean": ("removed", "released"),
}
"""What comes back from a call that returns ok, as columns; of other calls nothing does."""
_ENDS = ("group", "token", "message", "type", "priority", "correlation", "retries", "digest", "removed", "released")


@dataclass(slots=True)
class _Hand:
    group: int = 0
    token: int = 0
    message: int = 0


class GroupWords(CallWords):
    """ranks: what stands for the values of the columns that may be large, by column."""

    def __init__(self, trace: Trace) -> None:
        self._hands: dict[int, _Hand] = {}
        self._ranks = {name: _ranks(trace, name) for name in _RANKED}

    def called(self, client: int, call: str, called: Columns, returned: Columns | None) -> str:
        hand = self._hands.setdefault(client, _Hand())
        fields = {name: str(self._small(called, name)) for name in _GIVEN}
        fields |= {name: str(_named(called, name, getattr(hand, name))) for name in ("group", "token", "message")}
        fields |= {
            "mark": f'"{_MARKS.get(called["last"], "none")}"',
            "senders": f'"{_whose(called["senders_before"])}"',
            "receivers": f'"{_whose(called["receivers_before"])}"',
            "told": tla_record({name: str(self._told(call, returned, name)) for name in _ENDS}),
        }
        return tla_record({"call": f'"{call}"', **fields})

    def returned(self, client: int, call: str, returned: Columns) -> str:
        if returned["outcome"] == Outcome.OK:
            self._take(self._hands.setdefault(client, _Hand()), call, returned)
        fields = {name: str(self._told(call, returned, name)) for name in _ENDS}
        return tla_record({"outcome": f'"{Outcome(returned["outcome"]).name.lower()}"', **fields})

    def gone(self, client: int) -> None:
        self._hands.pop(client, None)

    def _take(self, hand: _Hand, call: str, returned: Columns) -> None:
        if call in ("open_group", "next_group"):
            hand.group, hand.token, hand.message = max(0, returned["group"]), max(0, returned["token"]), 0
        elif call == "read_message":
            hand.message = max(0, returned["message"])

    def _told(self, call: str, returned: Columns | None, name: str) -> int:
        """A result; 0 where the call has none of that name, or none at all."""
        if returned is None or returned["outcome"] != Outcome.OK or name not in _RESULTS.get(call, ()):
            return 0
        if call in ("next_group", "read_message") and returned[_RESULTS[call][0]] <= 0:
            return 0  # none came back
        return self._small(returned, name)

    def _small(self, columns: Columns, name: str) -> int:
        value = columns[name]
        if name in self._ranks:
            return self._ranks[name].get(value, 0)
        return min(max(0, value), _LARGEST)


def _ranks(trace: Trace, name: str) -> dict[int, int]:
    """Ranks, from 1, of the values in a column; absent values have none."""
    at, kind = schema(trace.header.protocol).index(name), schema(trace.header.protocol).index("kind")
    values = {row[at] for row in trace.rows if row[kind] in (Kind.CALLED, Kind.RETURNED)} - {ABSENT}
    return {value: rank for rank, value in enumerate(sorted(values), 1)}


def _named(columns: Columns, name: str, usual: int) -> int:
    return usual if columns[name] == ABSENT else min(columns[name], _LARGEST)


def _whose(before_ns: int) -> str:
    if before_ns <= 0:
        return "nobody"
    return "all" if before_ns == _ALL else "some"


def reader_of(trace: Trace) -> Reader:
    """The run in TLA+; CannotRun for one in which a call returns that was not made."""
    given = Parameters("workqueue", trace.header.parameters)
    if given.number("leased") == 1:
        return reader_of_leased(trace)
    around = {"most_tries": str(given.number("most_tries"))}
    return reader_of_calls(trace, "TraceWorkQueue", "MCTraceWorkQueue.cfg", GroupWords(trace), around)
