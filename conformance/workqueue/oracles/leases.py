"""The clauses of a queue with leases, over a whole trace; what was known at a row is worked out anew each time."""

from __future__ import annotations

from scatterproof.conformance.workqueue.oracles.lease_queue import (
    CANCEL,
    EXTEND,
    LEAST,
    MOST,
    PUT,
    RECEIVE,
    RECEIVE_ASIDE,
    HandOut,
    LeaseCall,
    LeaseQueue,
    Name,
    Put,
    Use,
    add_ns,
    look,
)
from scatterproof.spec.core import Outcome
from scatterproof.spec.trace import ABSENT, Trace


def returns_to_its_place(trace: Trace) -> set[int]:
    queue = look(trace)
    return {one.row for one in queue.handed if queue.is_known(one.name, one.row) and _is_early(queue, one)}


def _of_its_group(queue: LeaseQueue, one: HandOut) -> list[Name]:
    """The known messages of its group, itself too, but not those already handed out in the same receive."""
    names = (other for other in queue.known(one.row) if queue.group(other) == queue.group(one.name))
    return [other for other in names if not _came_now(queue, other, one)]


def _came_now(queue: LeaseQueue, name: Name, one: HandOut) -> bool:
    """Whether the message was handed out in the same receive before."""
    return any(before.call is one.call for before in queue.of(name, one.row))


def _is_anothers(queue: LeaseQueue, name: Name, row: int, client: int) -> bool:
    """Whether another consumer had it last, where there is one consumer: left to Q-CONSUMER-ONE."""
    latest = queue.latest(name, row)
    return queue.one_consumer and latest is not None and latest.call.client != client


def _is_of_its_batch(queue: LeaseQueue, name: Name, one: HandOut) -> bool:
    """Whether one call put both, and neither was handed out: left to Q-BATCH, where that applies."""
    handed = queue.of(name, one.row) or queue.of(one.name, one.row)
    return queue.batches > 0 and name[:2] == one.name[:2] and not handed


def _is_early(queue: LeaseQueue, one: HandOut) -> bool:
    """Whether it, or another that hides it, is held, or another comes first."""
    row, begun, aside = one.row, one.call.ns, one.call.call is RECEIVE_ASIDE
    until = max(begun, queue.least(one.call))
    if _came_now(queue, one.name, one):
        return True
    for other in _of_its_group(queue, one):
        if (queue.back_order > 0 and other != one.name) or _is_anothers(queue, other, row, one.call.client):
            continue
        latest = queue.latest(other, row)
        if other != one.name and (queue.first_aside(other, row) is not None) != aside:
            latest = None  # what is set aside does not hide what is not, nor the other way round
        if latest is not None and queue.ends_from(other, row) > one.ns and latest.ns < until:
            return True
        if aside or _is_of_its_batch(queue, other, one) or not queue.is_due(other, row, one.call.client):
            continue
        if queue.is_before(other, one.name):
            return True
    return False


def returned_keep_order(trace: Trace) -> set[int]:
    queue = look(trace)
    known = [one for one in queue.received if queue.is_known(one.name, one.row)]
    return {one.row for one in known if not _others_ask(queue, one.call, one.row) and _overtakes(queue, one)}


def _others_ask(queue: LeaseQueue, me: LeaseCall, row: int) -> bool:
    """Whether another receive may have been handed what is there."""
    return bool(queue.unheard(RECEIVE, row, me.client))


def _overtakes(queue: LeaseQueue, one: HandOut) -> bool:
    row, me = one.row, one.call
    for other in _of_its_group(queue, one):
        if _is_anothers(queue, other, row, me.client) or _is_of_its_batch(queue, other, one):
            continue
        put = queue.puts[other]
        there = queue.is_due(other, row, me.client) and (put.over_ns < me.ns or put.call.client == me.client)
        if not there or queue.ends_by(other, row) >= me.ns:
            continue
        if queue.back_order == 1 and queue.is_before(other, one.name):
            return True
        if queue.back_order == 2 and _came_ahead(queue, other, one.name, row):
            return True
    return False


def _came_ahead(queue: LeaseQueue, name: Name, other: Name, row: int) -> bool:
    """Whether one surely came, or came back, before the other."""
    came, other_came = queue.came_back(name, row), queue.came_back(other, row)
    if (queue.of(name, row) and came is None) or (queue.of(other, row) and other_came is None):
        return False
    by_ns = queue.puts[name].over_ns if came is None else came.over_ns
    return by_ns < (queue.puts[other].ns if other_came is None else other_came.ns)


def one_active_consumer(trace: Trace) -> set[int]:
    queue = look(trace)
    handed = {one.row for one in queue.received if _is_not_the_one(queue, one) or _leaves_behind(queue, one)}
    refused = {row for row, c in queue.ended.items() if c.call is CANCEL and c.outcome is Outcome.REFUSED}
    return handed | refused | {row for row, call in _empty(queue).items() if _should_take_over(queue, call, row)}


def _is_not_the_one(queue: LeaseQueue, one: HandOut) -> bool:
    """Whether another client was handed something, and surely still is the one consumer, in either order of the two."""
    me = one.call
    until = max(me.ns, queue.least(me))
    for other in {call.client for call in queue.calls} - {me.client}:
        gone = [call.row for call in queue.calls if call.client == other and call.call is CANCEL and call.row < one.row]
        gone += [row for row, node in queue.crashes if node == other and row < one.row]
        since = max(gone, default=-1)
        given = [h for h in queue.received if h.call.client == other and since < h.row < one.row]
        did: list[tuple[int, int | None, int]] = [(h.row, h.ns, queue.least(h.call)) for h in given]
        did += [
            (use.call.over, None, queue.least(use.call))
            for h in given
            for use in queue.uses(h.name, one.row)
            if use.call.call is EXTEND and use.about is h and use.end(one.row) is Outcome.OK and queue.lasted(use)
        ]
        since_ns, lasts_ns = MOST, LEAST
        for _, ns, until_ns in sorted(did):
            if ns is not None and lasts_ns <= ns:
                since_ns = ns
            lasts_ns = max(lasts_ns, until_ns)
        if lasts_ns > one.ns and since_ns < until:
            return True
    return False


def _leaves_behind(queue: LeaseQueue, one: HandOut) -> bool:
    """Whether it leaves out a message put before it, which another consumer had and did not delete."""
    row = one.row
    if queue.back_order == 2 or not queue.is_known(one.name, row):
        return False
    return any(
        _is_anothers(queue, other, row, one.call.client)
        and queue.is_due(other, row, one.call.client)
        and queue.is_before(other, one.name)
        for other in _of_its_group(queue, one)
    )


def _should_take_over(queue: LeaseQueue, me: LeaseCall, row: int) -> bool:
    if _others_ask(queue, me, row):
        return False
    others = {call.client for call in queue.calls} - {me.client}
    return all(_role_by(queue, other, row) < me.ns for other in others) and _is_available(queue, me, row)


def _role_by(queue: LeaseQueue, client: int, row: int) -> int:
    """Strictly above this, in ns, the client surely is no consumer."""
    found = LEAST
    for call in queue.calls:
        if call.client != client or call.row >= row:
            continue
        end = call.end(row)
        aside = any(queue.first_aside(one.name, call.row) for one in call.about)
        if call.call in (RECEIVE, EXTEND) and not aside and end is not Outcome.REFUSED:
            found = max(found, queue.most(call.over_ns, call)) if end is Outcome.OK else MOST
        elif call.call is CANCEL and end is Outcome.OK and found < MOST:
            found = min(found, call.over_ns)
    return found


def batch_as_entries(trace: Trace) -> set[int]:
    queue, found = look(trace), set()
    for row, call in queue.ended.items():
        ends = {call.end(row + 1, entry) for entry in range(call.entries())}
        if queue.batches == 1 and ends == {Outcome.OK, Outcome.REFUSED}:
            found.add(row)
    for call in queue.calls:
        if call.given["most"] >= 0:
            found.update(one.row for one in call.got[call.given["most"] :])
    for one in queue.received:
        put = queue.puts.get(one.name)
        if put is None:
            continue
        if put.end(one.row) is Outcome.REFUSED:
            if put.call.given["most"] > 1:
                found.add(one.row)
        elif any(
            _is_of_its_batch(queue, other, one) and other < one.name and queue.is_due(other, one.row, one.call.client)
            for other in _of_its_group(queue, one)
        ):
            found.add(one.row)
    return found


def handed_out_as_put(trace: Trace) -> set[int]:
    queue, found = look(trace), set()
    for one in queue.handed:
        put = queue.puts.get(one.name)
        if put is None or put.call.row >= one.row:
            found.add(one.row)
        elif put.end(one.row) is Outcome.REFUSED:
            found.update({one.row} if put.call.given["most"] <= 1 else ())
        elif (put.entry == 1 and _differs(put, one, "digest")) or _differs(put, one, "group"):
            found.add(one.row)
    for name, put in queue.puts.items():
        row = put.call.over
        if put.end(row + 1) is Outcome.REFUSED and queue.of(name, row):
            found.add(row)
    return found


def _differs(put: Put, one: HandOut, column: str) -> bool:
    """Whether a hand-out says another value than the put; where one says none, it does not."""
    return len({put.call.given[column], one.given[column]} - {ABSENT}) > 1


def _empty(queue: LeaseQueue) -> dict[int, LeaseCall]:
    """By the row of their return, the receives that returned ok without a message."""
    return {row: call for row, call in queue.ended.items() if call.call is RECEIVE and call.is_nothing()}


def available_is_handed_out(trace: Trace) -> set[int]:
    queue = look(trace)
    return {
        row
        for row, call in _empty(queue).items()
        if not _others_ask(queue, call, row) and _is_available(queue, call, row)
    }


def _is_available(queue: LeaseQueue, me: LeaseCall, row: int) -> bool:
    for name in queue.known(row):
        put = queue.puts[name]
        if queue.is_due(name, row, me.client) and (put.over_ns < me.ns or put.call.client == me.client):
            held = queue.held_in_group(name, row, me.ns)
            if not held or (queue.back_order > 0 and name not in held):
                return True
    return False


def ended_lease_is_fenced(trace: Trace) -> set[int]:
    queue, found = look(trace), set()
    for one in queue.handed:
        latest = queue.latest(one.name, one.row)
        if not queue.is_known(one.name, one.row) or latest is None:
            continue
        if queue.deleted_ns(one.name, one.row) < one.call.ns or latest.receipt == one.receipt:
            found.add(one.row)
    for row, call in queue.ended.items():
        uses = [Use(call=call, entry=entry, about=about) for entry, about in enumerate(call.about)]
        known = [use for use in uses if queue.is_known(use.about.name, row)]
        if call.call is CANCEL:
            continue
        lasting = [use for use in known if queue.lasted(use)]
        if queue.batches == 1 and len(lasting) < len(uses):
            continue  # one of its entries could not be carried out
        if any(use.end(row + 1) is Outcome.REFUSED for use in lasting):
            found.add(row)
    return found


def set_aside_in_order(trace: Trace) -> set[int]:
    queue = look(trace)
    handed = {one.row for one in queue.handed if queue.is_known(one.name, one.row) and _is_misplaced(queue, one)}
    return handed | {row for row, call in queue.ended.items() if _is_left_aside(queue, call, row)}


def _is_misplaced(queue: LeaseQueue, one: HandOut) -> bool:
    """Whether it was tried too often or too rarely, or is out of order with a set-aside message of its group."""
    row, me = one.row, one.call
    first = queue.first_aside(one.name, row)
    if me.call is RECEIVE:
        return queue.tried(one.name, row) >= queue.most_tries or (first is not None and first.ns < me.ns)
    is_first, is_taken = first is None, queue.puts[one.name].end(row) is Outcome.OK
    if is_first and queue.tries(one.name, row, me.client) < queue.most_tries:
        return True
    for other in queue.known(row):
        shown = queue.first_aside(other, row)
        if shown is None or queue.group(other) != queue.group(one.name):
            continue
        now = _came_now(queue, other, one)
        if is_first and is_taken and queue.is_before(one.name, other) and (now or shown.ns < me.ns):
            return True
        if queue.is_before(other, one.name) and queue.is_owed(other, row) and not now:
            return True
    return False


def _is_left_aside(queue: LeaseQueue, call: LeaseCall, row: int) -> bool:
    """Whether a receive of set-aside messages returns none though one is there."""
    if call.call is not RECEIVE_ASIDE or not call.is_nothing() or queue.unheard(RECEIVE_ASIDE, row, call.client):
        return False
    return any(
        queue.is_owed(name, row)
        and queue.aside_ns(name, row) < call.ns
        and not queue.held_aside(name, row, call.ns, call.over_ns)
        for name in queue.known(row)
    )


def duplicates_deliver_once(trace: Trace) -> set[int]:
    queue = look(trace)
    handed = {one.row for one in queue.received if queue.is_known(one.name, one.row) and _is_second(queue, one)}
    refused = {row for row, call in queue.ended.items() if call.call is PUT and _is_refused_copy(queue, call, row)}
    return handed | refused


def _is_second(queue: LeaseQueue, one: HandOut) -> bool:
    """Whether another message with its id was handed out, or was surely put before it."""
    others = [name for name in queue.known(one.row) if name != one.name and queue.same_id(name, one.name)]
    put = queue.puts[one.name]
    by_ns = min(one.ns, put.over_ns) if put.end(one.row) is Outcome.OK else one.ns
    return any(
        (queue.of(other, one.row) and _are_near(queue, other, one)) or _is_copy(queue, one.name, other, one.row, by_ns)
        for other in others
    )


def _is_refused_copy(queue: LeaseQueue, call: LeaseCall, row: int) -> bool:
    for entry in range(1, call.entries() + 1):
        name = (call.client, call.given["operation"], entry)
        copies = (_is_copy(queue, name, other, row, call.over_ns) for other in queue.known(row))
        if call.end(row + 1, entry - 1) is Outcome.REFUSED and any(copies):
            return True
    return False


def _is_copy(queue: LeaseQueue, name: Name, other: Name, row: int, by_ns: int) -> bool:
    """Whether the message, put by `by_ns`, surely came within the window of `other`, which came before it, and of any
    that `other` may be a copy of."""
    puts = queue.puts
    if not queue.same_id(name, other) or puts[other].end(row) is not Outcome.OK:
        return False
    return queue.is_before(other, name) and all(
        add_ns(puts[first].ns, queue.window) - queue.margin > by_ns
        for first in queue.known(row)
        if queue.same_id(first, other) and _may_be_first(queue, first, other, row)
    )


def _may_be_first(queue: LeaseQueue, first: Name, other: Name, row: int) -> bool:
    """Whether `other` is the first message, or may have been taken for a copy of it. One that was put after it has a
    later window."""
    put = queue.puts[first]
    over = add_ns(add_ns(put.over_ns, queue.window), queue.margin)
    return put.end(row) is not Outcome.OK or over >= queue.puts[other].ns


def _are_near(queue: LeaseQueue, other: Name, one: HandOut) -> bool:
    puts = queue.puts[other], queue.puts[one.name]
    if any(put.end(one.row) is not Outcome.OK for put in puts):
        return False
    one_put, other_put = puts
    until = [add_ns(put.ns, queue.window) - queue.margin for put in puts]
    return until[0] > other_put.over_ns and until[1] > one_put.over_ns
