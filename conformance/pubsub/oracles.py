"""The clauses as predicates over a whole trace: each returns the positions of the rows that break it.

Written from the clauses' sentences, plain and slow: for every row each looks at all calls again, and keeps no running
state. They share only the trace and the vocabulary with the checks. They expect a trace that
`scatterproof.conformance.judge.refuse` accepts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf

from scatterproof.conformance.oracles.whole import once_a_trace, says_settled
from scatterproof.conformance.pubsub.vocabulary import Vocabulary
from scatterproof.spec.core import Outcome
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.pubsub.messages import CallName
from scatterproof.spec.trace import Kind, Trace, schema

NAMES = schema("pubsub")
CALLS = {code: CallName(name) for name, code in NAMES.calls.items()}
LEAST, MOST = -(1 << 63), (1 << 63) - 1
KEPT = 1  # in column retain
Row = Mapping[str, int]


@dataclass(slots=True, kw_only=True, eq=False)
class Box:
    """One call.

    given: its row, with its arguments.
    row, ns: the position of that row, and its time in ns.
    over, over_ns, outcome: position and time of its return, and its outcome; None, 0 and None while it is open. One in
        which its client crashes ends there, and its outcome is unknown.
    """

    client: int
    call: CallName
    given: Row
    row: int
    ns: int
    over: int | None = None
    over_ns: int = 0
    outcome: Outcome | None = None

    def end(self, row: int) -> Outcome | None:
        """Its outcome, if it returned before this row; else None."""
        return self.outcome if self.over is not None and self.over < row else None


@dataclass(slots=True, kw_only=True, eq=False)
class Got:
    """A delivery. row: its position. told: the row itself."""

    row: int
    client: int
    told: Row


class Sessions:
    """A client's connections, as the rows before `row` show them. A client that never connects is always connected."""

    def __init__(self, boxes: list[Box], row: int) -> None:
        self._row = row
        self._boxes = [box for box in boxes if box.call in (CallName.CONNECT, CallName.DISCONNECT) and box.row < row]
        self._connects = [box for box in self._boxes if box.call is CallName.CONNECT]

    @property
    def connection(self) -> int:
        """The number of its last connection, from 1; 0 where it never connects."""
        return len(self._connects)

    @property
    def is_present(self) -> bool:
        last = self._boxes[-1] if self._boxes else None
        return last is None or (last.call is CallName.CONNECT and last.end(self._row) is Outcome.OK)

    @property
    def back_ns(self) -> int:
        """When its last connect that succeeded returned, in ns; LEAST where there is none."""
        return max((box.over_ns for box in self._connects if box.end(self._row) is Outcome.OK), default=LEAST)

    def may_end(self) -> list[Box]:
        """The calls that end, or may end, its session with its subscriptions."""
        return [box for box in self._boxes if self._lasts(box.row) is not True or not _is_to_last(box)]

    def end(self) -> list[Box]:
        """The calls that surely end its session, once they have returned ok."""
        return [box for box in self.may_end() if self._lasts(box.row) is False or not _is_to_last(box)]

    @property
    def lasts(self) -> bool | None:
        """Whether its session outlives its last connection; None where that is not known."""
        return self._lasts(self._row)

    def _lasts(self, row: int) -> bool | None:
        """Whether the session before this row outlives its connection; None where that is not known."""
        lasts: bool | None = True
        for box in self._connects:
            if box.end(row) is Outcome.OK:
                lasts = _is_to_last(box)
            elif box.row < row and lasts and not _is_to_last(box):
                lasts = None
        return lasts


def _is_to_last(box: Box) -> bool:
    return box.call is CallName.DISCONNECT or box.given["session"] == 1


class Subscription:
    """A client's subscription to a filter, as the rows before `row` show it. group: of a shared one, else 0; MOST where
    its subscribes name several."""

    def __init__(self, boxes: list[Box], row: int, sessions: Sessions) -> None:
        self._subscribes = [box for box in boxes if box.call is CallName.SUBSCRIBE]
        self._unsubscribes = [box for box in boxes if box.call is CallName.UNSUBSCRIBE]
        self._may_end = [box for box in sessions.may_end() if box.row > boxes[0].row]
        self._end = [box for box in sessions.end() if box.call is CallName.CONNECT]
        self._row = row
        self.filter = boxes[0].given["filter"]
        groups = {box.given["group"] for box in self._subscribes}
        self.group = groups.pop() if len(groups) == 1 else MOST

    def sure_from(self) -> int | None:
        """Since when it is surely in force, in ns; None where that is not sure."""
        if any(box.end(self._row) is Outcome.UNKNOWN for box in self._unsubscribes):
            return None
        connects = [box for box in self._may_end if box.call is CallName.CONNECT]
        if any(box.end(self._row) is Outcome.UNKNOWN for box in connects):
            return None
        leaves = [box for box in self._unsubscribes if box.end(self._row) is not Outcome.REFUSED]
        ended = max((box.row for box in (*leaves, *self._may_end)), default=-1)
        return next(
            (box.over_ns for box in self._subscribes if box.row > ended and box.end(self._row) is Outcome.OK), None
        )

    def may_until(self) -> int:
        """Until when it may have been in force, in ns; LEAST where it never was, MOST where it still may be."""
        tried = [box for box in self._subscribes if box.end(self._row) is not Outcome.REFUSED]
        if not tried:
            return LEAST
        if any(box.end(self._row) is Outcome.UNKNOWN for box in tried):
            return MOST
        last = max(box.row for box in tried)
        over = (*(box for box in self._unsubscribes if self._is_of_one_group(box)), *self._end)
        ends = (box.over_ns for box in over if box.row > last and box.end(self._row) is Outcome.OK)
        return min(ends, default=MOST)

    def _is_of_one_group(self, unsubscribe: Box) -> bool:
        """Whether that is plain which of a client's subscriptions to the filter it ends."""
        return len({box.given["group"] for box in self._subscribes if box.row < unsubscribe.row}) == 1

    def levels(self, since_ns: int) -> tuple[int, int]:
        """The lowest and the highest level that it can have had since that time."""
        asked = [box.given["level"] for box in self._subscribes]
        ended = [box.end(self._row) for box in self._subscribes]
        settled = None not in ended and Outcome.UNKNOWN not in ended and self._subscribes[-1].over_ns < since_ns
        settled = settled and self.group != MOST
        if not settled:
            return min(asked), max(asked)
        granted = [level for level, end in zip(asked, ended, strict=True) if end is Outcome.OK]
        return granted[-1], granted[-1]


class History:
    def __init__(self, trace: Trace) -> None:
        given = Parameters("pubsub", trace.header.parameters)
        topics, filters = str(given["topics"]).split("\n"), str(given["filters"]).split("\n")
        self._appliances = given.number("appliances")
        self._words, self._topics, self._filters = Vocabulary(str(given["grammar"]), topics, filters), topics, filters
        self.boxes: list[Box] = []
        self.got: list[Got] = []
        self.rows = [dict(zip(NAMES.columns, row, strict=True)) for row in trace.rows]
        inside: dict[int, Box] = {}
        for position, row in enumerate(self.rows):
            node = row["node"]
            if row["kind"] == Kind.CALLED:
                box = Box(client=node, call=CALLS[row["call"]], given=row, row=position, ns=row["time_ns"])
                inside[node] = box
                self.boxes.append(box)
            elif row["kind"] == Kind.RETURNED or (row["kind"] == Kind.CRASHED and row["link"] < 0 and node in inside):
                box, ended = inside.pop(node), row["kind"] == Kind.RETURNED
                box.over, box.over_ns = position, row["time_ns"]
                box.outcome = Outcome(row["outcome"]) if ended else Outcome.UNKNOWN
            elif row["kind"] == Kind.DELIVERED:
                self.got.append(Got(row=position, client=node, told=row))

    def matches(self, filter_: int, topic: int) -> bool:
        there = 1 <= filter_ <= len(self._filters) and 1 <= topic <= len(self._topics)
        return there and self._words.matches(filter_ - 1, topic - 1)

    def covers(self, wide: int, narrow: int) -> bool:
        return self._words.covers(wide - 1, narrow - 1)

    def has(self, filter_: int) -> bool:
        return 1 <= filter_ <= len(self._filters)

    def publish(self, sender: int, number: int, row: int) -> Box | None:
        """The call that published the message, if it was made before the row."""
        made = (box for box in self.boxes if box.call is CallName.PUBLISH and box.row < row)
        return next((box for box in made if (box.client, box.given["operation"]) == (sender, number)), None)

    def of(self, got: Got) -> Box | None:
        return self.publish(got.told["sender"], got.told["number"], got.row)

    def subscriptions(self, row: int, topic: int) -> Iterator[tuple[int, Subscription]]:
        """Each client and its subscription that matches the topic, where a subscribe was called before the row."""
        boxes: dict[tuple[int, int], list[Box]] = {}
        for box in self.boxes:
            if box.row < row and box.call in (CallName.SUBSCRIBE, CallName.UNSUBSCRIBE):
                boxes.setdefault((box.client, box.given["filter"]), []).append(box)
        for (client, filter_), made in boxes.items():
            if self.matches(filter_, topic) and any(box.call is CallName.SUBSCRIBE for box in made):
                yield client, Subscription(made, row, self.sessions(client, row))

    def sessions(self, client: int, row: int) -> Sessions:
        return Sessions([box for box in self.boxes if box.client == client], row)

    def crash_ns(self, row: int) -> int:
        """When a broker was killed last ahead of this row, in ns; LEAST where it never was."""
        crashed = (one for one in self.rows[:row] if one["kind"] == Kind.CRASHED and one["link"] < 0)
        return max((one["time_ns"] for one in crashed if one["node"] < self._appliances), default=LEAST)

    def sure_level(self, publish: Box, one: Subscription, row: int) -> int:
        """The lowest level at which the message must come for the subscription, which matches; -1 where it need not
        come."""
        sure, given = one.sure_from(), publish.given
        if publish.end(row) is not Outcome.OK or given["retain"] > 0 or given["expiry_ns"] > 0 or one.group > 0:
            return -1
        if sure is None or sure >= publish.ns:
            return -1
        return min(given["level"], one.levels(publish.ns)[0])

    def owed(self, row: int) -> Iterator[tuple[Box, int, Subscription]]:
        """Each publish that must have been delivered by this row, with the client and the subscription."""
        for publish in self.boxes:
            if publish.call is not CallName.PUBLISH:
                continue
            for client, one in self.subscriptions(row, publish.given["topic"]):
                if self.sessions(client, row).is_present and self.sure_level(publish, one, row) >= 1:
                    yield publish, client, one

    def in_force(self, client: int, topic: int, since_ns: int, row: int) -> list[Subscription]:
        """The client's subscriptions that match the topic, and may have been in force at that time or later."""
        found = self.subscriptions(row, topic)
        return [one for node, one in found if node == client and one.may_until() >= since_ns]

    def copies(self, client: int, publish: Box, row: int) -> list[Got]:
        """The client's deliveries of the message before the row, without those of retained messages."""
        name = publish.client, publish.given["operation"]
        return [
            got
            for got in self.got
            if got.client == client and got.row < row and (got.told["sender"], got.told["number"]) == name
            if self.of(got) is not None and not self.is_kept(got)
        ]

    def is_kept(self, got: Got) -> bool:
        """Whether it is of a retained message: it is marked so, and the message was published to be kept."""
        publish = self.of(got)
        return publish is not None and got.told["retain"] == 1 and publish.given["retain"] == KEPT

    def is_shared(self, got: Got) -> bool:
        """Whether a shared subscription of the client matches it: the message may have gone to another member first."""
        found = self.subscriptions(got.row, got.told["topic"])
        return any(client == got.client and one.group > 0 for client, one in found)

    def came_before(self, client: int, publish: Box, row: int) -> bool:
        return bool(self.copies(client, publish, row))

    def settled_end(self) -> int | None:
        """The position of the last row, if the run ended as planned with nothing in flight; else None."""
        last = self.rows[-1]
        return len(self.rows) - 1 if last["kind"] == Kind.ENDED and says_settled(last["flags"]) else None


look = once_a_trace(History)


def matching_get_one_copy(trace: Trace) -> set[int]:
    history = look(trace)
    broken = {got.row for got in history.got if not _is_right(history, got)}
    end = history.settled_end()
    return broken if end is None or not _is_missing(history, end) else broken | {end}


def _is_right(history: History, got: Got) -> bool:
    publish = history.of(got)
    if publish is None or publish.end(got.row) is Outcome.REFUSED:
        return False
    if any(publish.given[name] != got.told[name] for name in ("topic", "digest")):
        return False
    mine = history.in_force(got.client, publish.given["topic"], publish.ns, got.row)
    if got.told["again"] == 1 or history.is_kept(got):
        return bool(mine)
    connection = history.sessions(got.client, got.row).connection
    before = history.copies(got.client, publish, got.row)
    before = [one for one in before if history.sessions(got.client, one.row).connection == connection]
    came = [one for one in before if one is before[0] or one.told["again"] != 1]
    return len(came) < of_its_own(mine)


def of_its_own(mine: list[Subscription]) -> float:
    """How many copies a client may get for these subscriptions: all plain ones bring one, each shared one its own."""
    if any(one.group == MOST for one in mine):
        return inf
    return len([one for one in mine if one.group > 0]) + any(one.group <= 0 for one in mine)


def _is_missing(history: History, end: int) -> bool:
    """Whether a guaranteed message never came for a subscription whose client stayed connected since it subscribed."""
    return any(
        not history.came_before(client, publish, end)
        for publish, client, one in history.owed(end)
        if (one.sure_from() or LEAST) >= history.sessions(client, end).back_ns
    )


def delivered_in_sequence(trace: Trace) -> set[int]:
    history = look(trace)
    return {got.row for got in history.got if _is_overtaken(history, got)}


def _is_overtaken(history: History, got: Got) -> bool:
    publish = history.of(got)
    if publish is None or publish.end(got.row) is not Outcome.OK or history.is_kept(got) or history.is_shared(got):
        return False
    if history.came_before(got.client, publish, got.row):
        return False
    alike = ("sender", "topic", "level")
    for other in history.got:
        if other.row >= got.row or other.client != got.client or any(other.told[a] != got.told[a] for a in alike):
            continue
        later = history.of(other)
        first = (
            later is not None and not history.is_kept(other) and not history.came_before(other.client, later, other.row)
        )
        if first and other.told["number"] > got.told["number"]:
            return True
    return False


def lower_level_holds(trace: Trace) -> set[int]:
    history = look(trace)
    return {got.row for got in history.got if not _is_at_its_level(history, got)}


def _is_at_its_level(history: History, got: Got) -> bool:
    publish = history.of(got)
    if publish is None:
        return True
    may = history.in_force(got.client, got.told["topic"], publish.ns, got.row)
    if not may:
        return True
    published, level = publish.given["level"], got.told["level"]
    most = min(published, max(one.levels(publish.ns)[1] for one in may))
    plain = [_surely(one, publish) for one in may if one.group <= 0]
    shared = [_surely(one, publish) for one in may if one.group > 0]
    least = min([published, *shared, *([max(plain)] if plain else [])])
    over_again = level == 2 and publish.ns < history.sessions(got.client, got.row).back_ns
    return least <= level <= most and (got.told["again"] != 1 or level == 1 or over_again)


def _surely(one: Subscription, publish: Box) -> int:
    """The level at which a copy of this subscription comes at least."""
    since = one.sure_from()
    return 0 if since is None or since >= publish.ns else max(0, one.levels(publish.ns)[0])


_HERE = (matching_get_one_copy, delivered_in_sequence, lower_level_holds)
ORACLES = {oracle.__name__: oracle for oracle in _HERE}
