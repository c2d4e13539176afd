"""What a trace of any protocol must be before it can be judged, by the meaning of its columns (spec/common_trace.toml).
All of this is the recorder's own doing: no clause speaks of it, and no clause can be judged by a trace that breaks it.

- `time_ns` never falls where all rows have one time, nor `clock_ns` at a node between two of its restarts;
- calls are in the order of their times; a client's are numbered 1, 2, ... as they are made, and return once at most;
- the packets of a link are numbered 0, 1, 2, ... as they are sent;
- a packet that arrives was sent under its number, and is the same in every column;
- a packet that later ones of a FIFO link overtook, or that carries a message in a run that settled, arrived or was
  lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from numba.extending import register_jitable

from scatterproof.conformance.checks.calls import calls_return_once
from scatterproof.conformance.checks.kinds import ENDED, LOST, RESTARTED, SENT
from scatterproof.conformance.checks.step import (
    HOLDS,
    SILENT,
    Cell,
    Check,
    Ints,
    Outcome,
    PerLink,
    PerNode,
    State,
    Table,
    TableState,
    check,
    settled,
    violated,
)
from scatterproof.conformance.checks.tables import field, find, is_less, put, remove, room, used
from scatterproof.spec.trace import ABSENT, Kind, Order, schema

_LEAST = -(1 << 63)
ALL: tuple[int, ...] = ()  # stands for every kind of the protocol, which `with_common` puts in


@check(
    "PREMISE",
    kinds=ALL,
    order=Order.GLOBAL,
    despite_gaps=True,
    ways=("time_ns is {found} behind a row of {expected}; record rows of one time in its order",),
    latest=Cell(_LEAST),
    latest_at=Cell(-1),
)
def time_does_not_fall(position: int, time_ns: int, latest: State, latest_at: State) -> Outcome:
    """Rows in global order have one time, which never falls."""
    if time_ns < latest[0]:
        return violated(0, latest[0], time_ns, latest_at[0])
    latest[0], latest_at[0] = time_ns, position
    return HOLDS


@check(
    "PREMISE",
    kinds=ALL,
    order=Order.NODE,
    despite_gaps=True,
    ways=("clock_ns of {node} is {found} behind a row of {expected}; record clocks that fall in restarts alone",),
    reading=PerNode(_LEAST),
    read_at=PerNode(-1),
)
def clocks_do_not_fall(
    position: int, kind: int, node: int, link: int, clock_ns: int, reading: State, read_at: State
) -> Outcome:
    """A node's local clock never falls until the node begins anew. Rows without a reading are passed over."""
    if kind == ENDED:
        return SILENT
    if kind == RESTARTED and link == ABSENT:
        reading[node] = _LEAST
    elif clock_ns != ABSENT:
        if clock_ns < reading[node]:
            return violated(0, reading[node], clock_ns, read_at[node])
        reading[node], read_at[node] = clock_ns, position
    return HOLDS


# The first fields of a packet on its link; its contents follow.
_LINK, _NUMBER, _OWED, _POSITION, _CONTENTS = range(5)


class Passage(NamedTuple):
    """A packet's row, or the last row of the run."""

    position: int
    kind: int
    link: int
    link_seq: int
    packet: int
    flags: int


class EndsRecorded(NamedTuple):
    """How completely the trace records each link (`scatterproof.conformance.checks.surroundings`)."""

    link_count: int
    both_ends_recorded: Ints
    losses_recorded: Ints


class Followed(NamedTuple):
    """Packets on their way.

    sent: by link, how many were sent.
    latest: by link, the greatest number that arrived, where links are FIFO.
    missing: by link, how many were overtaken and have neither arrived nor been lost.
    on_link: packets in flight, (link, number) -> (link, number, whether a run with it in flight has not settled,
        position, contents).
    """

    sent: State
    latest: State
    missing: State
    on_link: TableState


def premise_of_packets(protocol: str) -> Callable[[Callable[..., Outcome]], Check]:
    """As `check`, for a step that calls `follow`. Its `contents` are a packet's columns from `sender` on."""
    columns = schema(protocol).columns
    contents = columns[columns.index("sender") :]
    return check(
        "PREMISE",
        kinds=(Kind.SENT, Kind.ARRIVED, Kind.LOST, Kind.ENDED),
        order=Order.LINK,
        despite_gaps=True,
        ways=packet_ways(contents),
        tuples={"contents": contents},
        sent=PerLink(0),
        latest=PerLink(-1),
        missing=PerLink(0),
        on_link=Table(2, _CONTENTS + len(contents)),
    )


def packet_ways(contents: tuple[str, ...]) -> tuple[str, ...]:
    """The ways in which `follow` finds a trace wrong. contents: the columns that are a packet's contents."""
    return (
        "packet {found} was put on {link} where {expected} is the next; number the packets of a link from 0 as they "
        "are sent",
        "packet {found} came off {link}, which was never put on it; record all that is sent, before it arrives",
        "packet {found} arrived from {link} behind packet {expected}; links are FIFO: record arrivals in their order",
        "packet {found} of {link} arrived or was lost before; record once what became of a packet",
        "{found} packets of link {expected} were overtaken, and neither arrived nor were lost; record what became of "
        "them",
        "packet {found} of link {expected} carries a message, and neither arrived nor was lost in a run in which "
        "nothing is in flight any more; record what became of it",
        *(
            f"packet {{link_seq}} of {{link}} has {column} {{found}}, and was sent with {{expected}}; record what was "
            "on the link"
            for column in contents
        ),
    )


# Places of sentences in `packet_ways`.
_UNCOUNTED, _FROM_NOWHERE, _BEHIND, _TWICE, _OVERTAKEN, _IN_FLIGHT, _SAID = range(7)


@register_jitable
def _still_on_links(flags: int, recorded: EndsRecorded, missing: Ints, on_link: TableState) -> Outcome:
    """At a run's end: a packet that neither arrived nor was lost, though one or the other must be recorded."""
    losses_recorded = recorded.losses_recorded
    for link in range(recorded.link_count):
        if losses_recorded[link] and missing[link] > 0:
            return violated(_OVERTAKEN, link, missing[link])
    first = -1
    if settled(flags):
        for slot in range(room(on_link)):
            if used(on_link, slot) and field(on_link, slot, _OWED) and losses_recorded[field(on_link, slot, _LINK)]:
                first = slot if is_less(on_link, slot, first, _POSITION) else first
    if first >= 0:
        link, number = field(on_link, first, _LINK), field(on_link, first, _NUMBER)
        return violated(_IN_FLIGHT, link, number, field(on_link, first, _POSITION))
    return HOLDS


@register_jitable
def _overtaken(link: int, first: int, end: int, on_link: TableState) -> int:
    """How many packets of the link with these numbers are in flight. They count as in flight no longer."""
    count = 0
    for number in range(first, end):
        slot = find(on_link, (link, number))
        if slot >= 0:
            remove(on_link, slot)
            count += 1
    return count


@register_jitable
def follow(
    row: Passage, contents: tuple[int, ...], is_owed: bool, is_fifo: bool, recorded: EndsRecorded, so_far: Followed
) -> Outcome:
    """Follow the packets of every link with both ends recorded, as they are sent, arrive or are lost. Where links are
    not FIFO a packet may be there twice: only the first copy is followed.

    contents: the packet's, in the order of the columns in `packet_ways`.
    is_owed: whether a run with the packet in flight has not settled.
    """
    kind, link, link_seq = row.kind, row.link, row.link_seq
    sent, latest, missing, on_link = so_far.sent, so_far.latest, so_far.missing, so_far.on_link
    if kind == ENDED:
        return _still_on_links(row.flags, recorded, missing, on_link)
    if recorded.both_ends_recorded[link] == 0:
        return SILENT
    if kind == SENT:
        if link_seq != sent[link]:
            return violated(_UNCOUNTED, sent[link], link_seq)
        sent[link] += 1
        put(on_link, (link, link_seq), (link, link_seq, int(is_owed), row.position) + contents)  # noqa: RUF005
        return HOLDS
    if not 0 <= link_seq < sent[link]:
        return violated(_FROM_NOWHERE, sent[link], link_seq)
    slot = find(on_link, (link, link_seq))
    if kind == LOST:
        if slot >= 0:
            remove(on_link, slot)
        elif is_fifo:
            if link_seq >= latest[link] or missing[link] == 0:
                return violated(_TWICE, -1, link_seq)
            missing[link] -= 1
        return HOLDS
    if is_fifo and link_seq < latest[link]:
        return violated(_BEHIND, latest[link], link_seq)
    if slot >= 0:
        for at in range(len(contents)):
            said = field(on_link, slot, _CONTENTS + at)
            if said != contents[at]:
                return violated(_SAID + at, said, contents[at], field(on_link, slot, _POSITION))
        remove(on_link, slot)
    elif is_fifo:
        return violated(_TWICE, -1, link_seq)
    if is_fifo:
        missing[link] += _overtaken(link, latest[link] + 1, link_seq, on_link)
        latest[link] = link_seq
    return HOLDS


def with_common(protocol: str, *own: Check) -> tuple[Check, ...]:
    """The premises of all protocols, those of calls where this one has calls, and the given ones of its own. They share
    a pass with the clauses that always apply: of their own, one takes half as long again."""
    names = schema(protocol)
    common = tuple(replace(premise, kinds=tuple(names.events)) for premise in (time_does_not_fall, clocks_do_not_fall))
    calls = (calls_return_once,) if names.calls else ()
    return (*common, *calls, *own)
