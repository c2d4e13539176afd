"""The clauses of a queue with leases, over a whole trace; what was known at a row is looked up anew each time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from scatterproof.conformance.workqueue.oracles.boxes import CALLS, NAMES
from scatterproof.spec.core import Outcome
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.trace import ABSENT, Kind, Trace
from scatterproof.spec.workqueue.messages import CallName

PUT, RECEIVE, DELETE = CallName.PUT_MESSAGE, CallName.RECEIVE, CallName.DELETE
EXTEND, GIVE_BACK = CallName.EXTEND, CallName.GIVE_BACK
LEAST, MOST = -(1 << 63), (1 << 63) - 1
Name = tuple[int, int]


@dataclass(slots=True, kw_only=True, eq=False)
class Call:
    """about: of one about a message, the hand-out whose receipt it has. got: what a receive is given."""

    client: int
    call: CallName | None
    row: int
    ns: int
    given: dict[str, int]
    about: HandOut | None = None
    over: int | None = None
    over_ns: int = 0
    outcome: Outcome | None = None
    got: list[HandOut] = field(default_factory=list)

    def end(self, row: int) -> Outcome | None:
        """As far as the rows before this one tell."""
        return self.outcome if self.over is not None and self.over < row else None


@dataclass(slots=True, kw_only=True, eq=False)
class HandOut:
    name: Name
    receipt: int
    row: int
    ns: int
    call: Call


class Queue:
    def __init__(self, trace: Trace) -> None:
        given = Parameters("workqueue", trace.header.parameters)
        self.window, self.by_group = given.number("window_ns"), given.number("by_group") == 1
        self.margin = given.number("margin_ns")
        self.calls: list[Call] = []
        self.handed: list[HandOut] = []
        self.ended: dict[int, Call] = {}
        self._hands: dict[int, list[HandOut]] = {}
        self._in: dict[int, Call] = {}
        for position, row in enumerate(trace.rows):
            columns = dict(zip(NAMES.columns, row, strict=True))
            self._take(position, columns)
        self.puts = {(one.client, one.given["operation"]): one for one in reversed(self.calls) if one.call is PUT}

    def _take(self, position: int, row: dict[str, int]) -> None:
        node, kind, now = row["node"], row["kind"], row["time_ns"]
        if kind == Kind.CALLED:
            call = Call(client=node, call=CALLS.get(row["call"]), row=position, ns=now, given=row)
            hand = self._hands.setdefault(node, [])
            if call.call in (DELETE, EXTEND, GIVE_BACK) and hand:
                at = -1 if row["newest"] == 1 else 0
                call.about = hand[at] if call.call is EXTEND else hand.pop(at)
            self._in[node] = call
            self.calls.append(call)
        elif kind == Kind.RETURNED and node in self._in:
            call = self._in.pop(node)
            call.over, call.over_ns, call.outcome = position, now, Outcome(row["outcome"])
            self.ended[position] = call
        elif kind == Kind.DELIVERED and node in self._in and self._in[node].call is RECEIVE:
            name = (row["sender"], row["number"])
            one = HandOut(name=name, receipt=row["receipt"], row=position, ns=now, call=self._in[node])
            self._hands[node].append(one)
            self._in[node].got.append(one)
            self.handed.append(one)
        elif kind == Kind.CRASHED and row["link"] == ABSENT and node in self._hands:
            self._hands[node] = []
            if node in self._in:
                call = self._in.pop(node)
                call.over, call.over_ns, call.outcome = position, now, Outcome.UNKNOWN

    # ---------------------------------------------------------------- messages

    def is_known(self, name: Name, row: int) -> bool:
        """Whether its put was called, and not refused."""
        put = self.puts.get(name)
        return put is not None and put.row < row and put.end(row) is not Outcome.REFUSED

    def known(self, row: int) -> list[Name]:
        """In the order in which a witness is chosen."""
        names = [name for name in self.puts if self.is_known(name, row)]
        return sorted(names, key=lambda name: (self.puts[name].ns, name))

    def group(self, name: Name) -> int:
        return self.puts[name].given["group"]

    def same_id(self, name: Name, other: Name) -> bool:
        one, two = self.puts[name].given, self.puts[other].given
        return one["dedup"] == two["dedup"] > 0 and (not self.by_group or one["group"] == two["group"])

    def is_taken(self, name: Name, row: int) -> bool:
        """Whether it surely was, as itself and as no copy."""
        put = self.puts[name]
        if put.end(row) is not Outcome.OK or put.over is None:
            return False
        others = (other for other in self.known(put.over) if other != name and self.same_id(name, other))
        return all(self._is_past(self.puts[other], put) for other in others)

    def _is_past(self, earlier: Call, put: Call) -> bool:
        assert put.over is not None
        return earlier.end(put.over) is Outcome.OK and _sum(_sum(earlier.over_ns, self.window), self.margin) < put.ns

    def of(self, name: Name, row: int) -> list[HandOut]:
        """Those of a message that was known then."""
        return [one for one in self.handed if one.name == name and one.row < row and self.is_known(name, one.row)]

    def latest(self, name: Name, row: int) -> HandOut | None:
        return next(reversed(self.of(name, row)), None)

    def uses(self, name: Name, row: int) -> Iterator[Call]:
        """The calls about it, while it was known, that were made before the row."""
        for call in self.calls:
            if call.row < row and call.about is not None and call.about.name == name and self.is_known(name, call.row):
                yield call

    # ---------------------------------------------------------------- leases

    def ends_from(self, name: Name, row: int) -> int:
        """Strictly below this the lease of the latest hand-out surely lasts."""
        latest = self.latest(name, row)
        if latest is None:
            return LEAST
        found = self._least(latest.call)
        for use in self.uses(name, row):
            if use.about is not latest or use.end(row) is Outcome.REFUSED:
                continue
            if use.call is not EXTEND:
                found = LEAST
            elif use.end(row) is Outcome.OK and found > use.over_ns:
                found = self._least(use)
            else:
                found = min(found, self._least(use))
        return found

    def _least(self, call: Call) -> int:
        return max(LEAST, _sum(call.ns, call.given["lease_ns"]) - self.margin)

    def _most(self, ns: int, call: Call) -> int:
        return _sum(_sum(ns, call.given["lease_ns"]), self.margin)

    def lasted(self, use: Call) -> bool:
        """Whether the lease of its receipt surely did, from its beginning to its end."""
        assert use.about is not None
        assert use.over is not None
        name = use.about.name
        return self.latest(name, use.over) is use.about and self.ends_from(name, use.row) > use.over_ns

    def is_fenced(self, use: Call) -> bool:
        """Whether another surely held the message all the while."""
        assert use.about is not None
        assert use.over is not None
        name = use.about.name
        holds = self.latest(name, use.row)
        if holds is None or holds is use.about or holds is not self.latest(name, use.over):
            return False
        return self.ends_from(name, use.over) > use.over_ns

    def ends_by(self, name: Name, row: int) -> int:
        """Strictly above this nobody surely holds it; LEAST where nobody ever did."""
        found, before = LEAST, None
        ended = [use for use in self.uses(name, row) if use.end(row) is Outcome.OK]
        if any(use.call is EXTEND and use.end(row) in (None, Outcome.UNKNOWN) for use in self.uses(name, row)):
            return MOST
        for _, one in sorted(
            [(use.over or 0, use) for use in ended] + [(h.row, h) for h in self.of(name, row)], key=_at
        ):
            if isinstance(one, HandOut):
                overlaps = before is not None and before.ns >= one.call.ns
                found, before = max(found if overlaps else LEAST, self._most(one.ns, one.call)), one
            elif one.call is EXTEND:
                if self.lasted(one):
                    found = self._most(one.over_ns, one)
                elif not self.is_fenced(one):
                    found = max(found, self._most(one.over_ns, one))
            elif self.lasted(one):
                found = min(found, one.over_ns)
        return found

    def may_be_deleted(self, name: Name, row: int) -> bool:
        deletes = [use for use in self.uses(name, row) if use.call is DELETE and use.end(row) is not Outcome.REFUSED]
        return any(use.end(row) is not Outcome.OK or self.lasted(use) or not self.is_fenced(use) for use in deletes)

    def deleted_ns(self, name: Name, row: int) -> int:
        """Since when it surely is; MOST where it is not."""
        deletes = (use for use in self.uses(name, row) if use.call is DELETE and use.end(row) is Outcome.OK)
        return min((use.over_ns for use in deletes if self.lasted(use)), default=MOST)

    def is_before(self, name: Name, other: Name) -> bool:
        """Whether the put of one, as it returned ok, surely took effect before that of the other."""
        one, two = self.puts[name], self.puts[other]
        return one.over_ns < two.ns or (one.client == two.client and one.row < two.row)

    def is_due(self, name: Name, row: int) -> bool:
        return self.is_taken(name, row) and not self.may_be_deleted(name, row)

    def receives(self, row: int) -> list[Call]:
        """Those that clients are in."""
        last = {call.client: call for call in self.calls if call.row < row}
        return [call for call in last.values() if call.call is RECEIVE and (call.over is None or call.over >= row)]


def _at(pair: tuple[int, object]) -> int:
    return pair[0]


def _sum(time_ns: int, by_ns: int) -> int:
    return min(MOST, time_ns + max(0, by_ns))


def returns_to_its_place(trace: Trace) -> set[int]:
    queue = Queue(trace)
    return {one.row for one in queue.handed if queue.is_known(one.name, one.row) and _is_early(queue, one)}


def _is_early(queue: Queue, one: HandOut) -> bool:
    """Whether another is held, or comes first."""
    row, begun = one.row, one.call.ns
    until = max(begun, queue._least(one.call))
    for other in queue.known(row):
        if queue.group(other) != queue.group(one.name):
            continue
        latest = queue.latest(other, row)
        if latest is not None and latest.call is one.call:
            if other == one.name:
                return True
        elif (latest is not None and queue.ends_from(other, row) > one.ns and latest.ns < until) or (
            queue.is_due(other, row) and queue.is_before(other, one.name)
        ):
            return True
    return False


def available_is_handed_out(trace: Trace) -> set[int]:
    queue = Queue(trace)
    empty = {
        row: call
        for row, call in queue.ended.items()
        if call.call is RECEIVE and call.outcome is Outcome.OK and call.given["most"] >= 1 and not call.got
    }
    return {row for row, call in empty.items() if _was_available(queue, call, row)}


def _was_available(queue: Queue, me: Call, row: int) -> bool:
    if any(call.call is RECEIVE and call.end(row) is Outcome.UNKNOWN for call in queue.calls):
        return False
    if any(call is not me for call in queue.receives(row)):
        return False
    for name in queue.known(row):
        put = queue.puts[name]
        if queue.is_due(name, row) and (put.over_ns < me.ns or put.client == me.client):
            group = [other for other in queue.known(row) if queue.group(other) == queue.group(name)]
            held = [other for other in group if queue.of(other, row) and queue.ends_by(other, row) >= me.ns]
            if not held:
                return True
    return False


def ended_lease_is_fenced(trace: Trace) -> set[int]:
    queue, found = Queue(trace), set()
    for one in queue.handed:
        latest = queue.latest(one.name, one.row)
        if not queue.is_known(one.name, one.row) or latest is None:
            continue
        if queue.deleted_ns(one.name, one.row) < one.call.ns or latest.receipt == one.receipt:
            found.add(one.row)
    for row, call in queue.ended.items():
        if call.about is None or call.outcome is not Outcome.REFUSED:
            continue
        known = queue.is_known(call.about.name, call.row) and queue.is_known(call.about.name, row)
        if known and queue.lasted(call):
            found.add(row)
    return found


def duplicates_deliver_once(trace: Trace) -> set[int]:
    queue = Queue(trace)
    handed = {one.row for one in queue.handed if queue.is_known(one.name, one.row) and _is_second(queue, one)}
    refused = {
        row
        for row, call in queue.ended.items()
        if call.call is PUT and call.outcome is Outcome.REFUSED and _is_refused_copy(queue, call, row)
    }
    return handed | refused


def _is_second(queue: Queue, one: HandOut) -> bool:
    """Whether another with its id was handed out, or was surely put before it."""
    others = [name for name in queue.known(one.row) if name != one.name and queue.same_id(name, one.name)]
    put = queue.puts[one.name]
    by_ns = min(one.ns, put.over_ns) if put.end(one.row) is Outcome.OK else one.ns
    return any(
        (queue.of(other, one.row) and _are_near(queue, other, one)) or _is_copy(queue, one.name, other, one.row, by_ns)
        for other in others
    )


def _is_refused_copy(queue: Queue, call: Call, row: int) -> bool:
    name = (call.client, call.given["operation"])
    return queue.puts[name] is call and any(
        _is_copy(queue, name, other, row, call.over_ns) for other in queue.known(row)
    )


def _is_copy(queue: Queue, name: Name, other: Name, row: int, by_ns: int) -> bool:
    """Whether the message, which was put by then, surely came within the window of another that came before it, or of
    any that this may be a copy of."""
    puts = queue.puts
    if name == other or not queue.same_id(name, other) or puts[other].end(row) is not Outcome.OK:
        return False
    return queue.is_before(other, name) and all(
        _sum(puts[first].ns, queue.window) - queue.margin > by_ns
        for first in queue.known(row)
        if first != name and queue.same_id(first, other) and _may_be_first(queue, first, other, row)
    )


def _may_be_first(queue: Queue, first: Name, other: Name, row: int) -> bool:
    """Whether one message may have been taken for a copy of the first, or is it."""
    if first == other:
        return True
    put = queue.puts[first]
    is_over = put.end(row) is Outcome.OK and _sum(_sum(put.over_ns, queue.window), queue.margin) < queue.puts[other].ns
    return not is_over and not queue.is_before(other, first)


def _are_near(queue: Queue, other: Name, one: HandOut) -> bool:
    puts = queue.puts[other], queue.puts[one.name]
    if any(put.end(one.row) is not Outcome.OK for put in puts):
        return False
    one_put, other_put = puts
    until = [_sum(put.ns, queue.window) - queue.margin for put in puts]
    return until[0] > other_put.over_ns and until[1] > one_put.over_ns
