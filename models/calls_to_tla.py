"""The calls of a recorded run as CallReplay.tla reads them: one tuple a row, in an order that the recorded times allow.

Calls at one moment are not known to be in any order: there, rows `called` come ahead of rows `returned` of other
clients. A call is written as its name and its end as its outcome, or as a protocol's `CallWords` write them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from types import MappingProxyType

from scatterproof.models.validation import Reader
from scatterproof.spec.core import Outcome
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.topology import Role
from scatterproof.spec.trace import ABSENT, Kind, Order, Trace, schema

ACTIONS = ("Call", "GiveUp", "Return")
PART = "Deliver"  # an action, too, where calls deliver something ahead of their end

Columns = Mapping[str, int]
"""A row of the trace by the names of its columns."""


class CallWords:
    """Writes calls and ends in TLA+, by their names alone. A protocol with arguments and results has a class of its
    own. One object serves one trace, and is asked in the order of its rows. Clients count from 1."""

    def called(self, client: int, call: str, called: Columns, returned: Columns | None) -> str | None:
        """The call in TLA+. None leaves it out: its end is not known, and it explains nothing. returned: the row in
        which it returns ok or refused, if it does."""
        return f'"{call}"'

    def returned(self, client: int, call: str, returned: Columns) -> str:
        """How it ended, in TLA+; ok or refused."""
        return f'"{Outcome(returned["outcome"]).name.lower()}"'

    def delivered(self, client: int, delivered: Columns) -> str | None:
        """What the client's call delivers ahead of its end, in TLA+; None leaves the row out."""
        return None

    def gone(self, client: int) -> None:
        """The client fails, or begins anew."""


@dataclass(frozen=True, slots=True)
class _Line:
    time_ns: int
    client: int
    begins: bool
    position: int
    text: str


def reader_of_calls(
    trace: Trace,
    module: str,
    configuration: str,
    words: CallWords | None = None,
    around: Mapping[str, str] = MappingProxyType({}),
) -> Reader:
    """The run in TLA+. CannotRun where a call returns that was not made, or where the order of calls is not known.

    around: further fields of the run, by name, in TLA+.
    """
    lines = _in_reading_order(_lines(trace, words or CallWords()), is_global=trace.header.order is Order.GLOBAL)
    rows = ",\n  ".join(line.text for line in lines)
    more = "".join(f"{name} |-> {value}, " for name, value in around.items())
    return Reader(
        module=module,
        configuration=configuration,
        text=f"[clients |-> {len(trace.header.topology.clients())}, {more}\n  rows |-> <<\n  {rows}>>]",
        times={},
        reasons={},
        rules=(),
        positions=tuple(line.position for line in lines),
    )


def _lines(trace: Trace, words: CallWords) -> Iterator[_Line]:
    """In the order of the trace. A client that fails in a call leaves it with an unknown end."""
    names = schema(trace.header.protocol)
    number = {client: at for at, client in enumerate(trace.header.topology.clients(), 1)}
    calls = {code: name for name, code in names.calls.items()}
    ends = _ends(trace)
    in_call: dict[int, str] = {}
    unread: set[int] = set()
    for position, row in enumerate(trace.rows):
        columns = dict(zip(names.columns, row, strict=True))
        kind, node, time_ns = columns["kind"], columns["node"], columns["time_ns"]
        if is_gone(columns) and trace.header.topology.nodes[node].role is Role.CLIENT:
            words.gone(number[node])
            if in_call.pop(node, None) is not None and node not in unread:
                yield _Line(time_ns, node, False, position, f'<<"unknown", {number[node]}>>')
        if kind == Kind.DELIVERED and node in in_call:
            part = words.delivered(number[node], columns)
            if part is not None:
                yield _Line(time_ns, node, False, position, f'<<"delivered", {number[node]}, {part}>>')
        if kind not in (Kind.CALLED, Kind.RETURNED):
            continue
        call = calls.get(columns["call"])
        if (kind == Kind.CALLED) == (node in in_call) or call is None or in_call.pop(node, call) != call:
            raise CannotRun(f"row {position}: no call of a client, or one that it is not in; record each call once")
        if kind == Kind.CALLED:
            in_call[node] = call
            told = words.called(number[node], call, columns, ends.get(position))
            (unread.add if told is None else unread.discard)(node)
            if told is not None:
                yield _Line(time_ns, node, True, position, f'<<"called", {number[node]}, {told}>>')
        elif columns["outcome"] not in tuple(Outcome):
            raise CannotRun(f"row {position}: a call returns without an outcome")
        elif columns["outcome"] != Outcome.UNKNOWN:
            told = words.returned(number[node], call, columns)
            yield _Line(time_ns, node, False, position, f'<<"returned", {number[node]}, {told}>>')
        elif node not in unread:
            yield _Line(time_ns, node, False, position, f'<<"unknown", {number[node]}>>')


def is_gone(columns: Columns) -> bool:
    """Whether a node itself, not one of its links, fails or restarts."""
    return columns["kind"] in (Kind.CRASHED, Kind.RESTARTED) and columns["link"] == ABSENT


def _ends(trace: Trace) -> dict[int, Columns]:
    """By position of each row `called`, the row in which that call returns ok or refused."""
    names = schema(trace.header.protocol).columns
    found: dict[int, Columns] = {}
    begun: dict[int, int] = {}
    for position, row in enumerate(trace.rows):
        columns = dict(zip(names, row, strict=True))
        if columns["kind"] == Kind.CALLED:
            begun[columns["node"]] = position
        elif columns["kind"] == Kind.RETURNED and columns["node"] in begun:
            at = begun.pop(columns["node"])
            if columns["outcome"] in (Outcome.OK, Outcome.REFUSED):
                found[at] = columns
        elif is_gone(columns):
            begun.pop(columns["node"], None)
    return found


def _in_reading_order(lines: Iterable[_Line], *, is_global: bool) -> list[_Line]:
    """The rows of one client keep their order. Of different clients, a row is ahead of a call only where it returned
    strictly below the call's time. Where two clients return and call again at one moment, no single order says that:
    the trace must then be in global order, else CannotRun."""
    ordered: list[_Line] = []
    for time_ns, alike in groupby(sorted(lines, key=lambda line: line.time_ns), key=lambda line: line.time_ns):
        group = list(alike)
        waiting: dict[int, deque[_Line]] = defaultdict(deque)
        for line in group:
            waiting[line.client].append(line)
        if sum(_returns_and_calls(its) for its in waiting.values()) <= 1:
            ordered += _calls_first(waiting)
        elif is_global:
            ordered += group
        else:
            raise CannotRun(f"two clients return and call again at {time_ns} ns, in no known order; record finer times")
    return ordered


def _returns_and_calls(its: Iterable[_Line]) -> bool:
    begins = [line.begins for line in its]
    return any(not before and after for before, after in pairwise(begins))


def _calls_first(waiting: Mapping[int, deque[_Line]]) -> Iterator[_Line]:
    """As many calls as can be ahead of all returns but those of the one client that returns and calls again."""
    clients = sorted(waiting.values(), key=_returns_and_calls, reverse=True)
    for its in clients[1:]:
        while its and its[0].begins:
            yield its.popleft()
    last = max((at for at, line in enumerate(clients[0]) if line.begins), default=-1)
    for _ in range(last + 1):
        yield clients[0].popleft()
    for its in clients:
        yield from its
