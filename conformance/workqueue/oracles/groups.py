"""Q-LOCK-SEND, Q-ORDER-CORR, Q-CORR-LAST, Q-PRIORITY, Q-NEXT, Q-ONCE, and what is in a group: Q-ATOMIC, Q-META,
Q-ORDER-MSG, Q-POISON, Q-RETRY."""

from __future__ import annotations

from collections.abc import Iterator

from scatterproof.conformance.workqueue.oracles.boxes import Box
from scatterproof.conformance.workqueue.oracles.queue import (
    ALL,
    CLEAN,
    CLOSE,
    FLUSH,
    NEXT,
    POP,
    POP_GROUP,
    READ,
    SEND,
    UNLOCK,
    Queue,
    look,
)
from scatterproof.spec.core import Outcome
from scatterproof.spec.trace import Trace
from scatterproof.spec.workqueue.messages import CallName


def _ok(queue: Queue, *calls: CallName) -> Iterator[tuple[int, Box]]:
    """The rows at which one of these calls returned ok, and the calls."""
    for row, box in queue.boxes.returned.items():
        if box.outcome is Outcome.OK and box.call in calls:
            yield row, box


def _handed(queue: Queue) -> Iterator[tuple[int, Box, int]]:
    """The rows at which a group was handed out, with the call and the group."""
    for row, box in _ok(queue, NEXT):
        if box.told["group"] >= 1:
            yield row, box, box.told["group"]


def send_locked_is_hidden(trace: Trace) -> set[int]:
    queue, broken = look(trace), set[int]()
    for row, _, group in _handed(queue):
        gone = queue.gone(group, row)
        if gone is None:
            broken |= set() if queue.may(group, row, CLOSE) and not queue.is_empty(group, row) else {row}
        elif gone.how is not POP_GROUP:
            broken.add(row)
    for row, box in _ok(queue, SEND):
        gone = queue.gone(box.group, row)
        ended_ns = queue.closed_ns(box.group, row) if gone is None else gone.since_ns
        if ended_ns < box.begun_ns:
            broken.add(row)
    cancelled = [(row, box.group) for row, box in _ok(queue, FLUSH) if queue.is_there(box.group, row)]
    return broken | {row for row, group in cancelled if queue.handed(group, row)}


def correlation_in_order(trace: Trace) -> set[int]:
    queue, broken = look(trace), set[int]()
    for row, _, group in _handed(queue):
        opened = queue.opened(group, row)
        if opened is None or queue.gone(group, row) is not None:
            continue
        for other in queue.groups(row):
            if other == group or queue.correlation(other, row) != queue.correlation(group, row):
                continue
            if queue.lock(other, row).sure and not queue.may(other, row, POP_GROUP):
                broken.add(row)
            its = queue.opened(other, row)
            if its is not None and _stays(queue, other, row) and its.over_ns < opened.begun_ns:
                broken.add(row)
    return broken


def last_group_frees_correlation(trace: Trace) -> set[int]:
    queue, broken = look(trace), set[int]()
    for row, _, group in _handed(queue):
        opened = queue.opened(group, row)
        if opened is None or opened.given["last"] != 0 or queue.gone(group, row) is not None:
            continue
        after = [other for other, its in queue.marked(group, row) if its.over_ns >= opened.begun_ns]
        broken |= set() if any(_may_have_come(queue, other, row) for other in after) else {row}
    return broken


def _may_have_come(queue: Queue, group: int, row: int) -> bool:
    """Whether the group may have been closed with messages; it may be gone since."""
    gone = queue.gone(group, row)
    if gone is None and queue.removed_ns(group, row) is not None:
        return False
    if gone is not None and gone.how is not POP_GROUP:
        return False
    until = row if gone is None else gone.row
    return bool(queue.may(group, until, CLOSE)) and not queue.is_empty(group, until)


def highest_priority_first(trace: Trace) -> set[int]:
    queue, broken = look(trace), set[int]()
    for row, box, group in _handed(queue):
        opened, ready = queue.opened(group, row), queue.ready(box, row)
        better = queue.opened(ready, row)
        if opened is None or better is None or queue.gone(group, row) is not None:
            continue
        if better.given["correlation"] == opened.given["correlation"]:
            continue
        first, second = better.given["priority"], opened.given["priority"]
        if first < second or (first == second and better.over_ns < opened.begun_ns):
            broken.add(row)
    return broken


def ready_is_handed_out(trace: Trace) -> set[int]:
    queue = look(trace)
    return {row for row, box in _ok(queue, NEXT) if box.told["group"] == 0 and queue.ready(box, row)}


def ready_without_doubt(trace: Trace) -> set[int]:
    queue = look(trace)
    none = [(row, box) for row, box in _ok(queue, NEXT) if box.told["group"] == 0 and not queue.ready(box, row)]
    return {row for row, _ in none if any(_may_be_ready(queue, group, row) for group in queue.groups(row))}


def _may_be_ready(queue: Queue, group: int, row: int) -> bool:
    """Whether the group is ready in some order of the overlapping calls."""
    messages = len(queue.sent(group, row)) + queue.loose(group, row, SEND)
    if not queue.may(group, row, CLOSE) or not messages:
        return False
    alike, opened = queue.correlation(group, row), queue.opened(group, row)
    if opened is not None and opened.given["last"] == 0:
        after = [other for other, its in queue.marked(group, row) if its.over_ns >= opened.begun_ns]
        if not any(_may_have_come(queue, other, row) for other in after):
            return False
    return not any(
        _is_in_the_way(queue, other, group, row)
        for other in queue.groups(row)
        if queue.correlation(other, row) == alike
    )


def _is_in_the_way(queue: Queue, other: int, group: int, row: int) -> bool:
    """Whether the other is surely held, or surely there and begun first."""
    if queue.lock(other, row).sure and not queue.may(other, row, POP_GROUP):
        return True
    its, opened = queue.opened(other, row), queue.opened(group, row)
    first = its is not None and opened is not None and its.over_ns < opened.begun_ns
    return first and _stays(queue, other, row)


def _stays(queue: Queue, group: int, row: int) -> bool:
    """Whether nothing was called that may have removed it."""
    if queue.may(group, row, FLUSH, POP_GROUP) or queue.risk(group, row):
        return False
    return bool(queue.sent(group, row)) or not queue.may(group, row, CLOSE)


def held_without_doubt(trace: Trace) -> set[int]:
    queue = look(trace)
    there = [(row, box, group) for row, box, group in _handed(queue) if queue.is_there(group, row)]
    locks = [(row, queue.lock(group, row), _is_released(queue, box, row)) for row, box, group in there]
    return {row for row, lock, released in locks if lock.may and (released or not lock.sure)}


def _is_released(queue: Queue, box: Box, row: int) -> bool:
    """Whether a release may have come after the call took effect."""
    return any(release.over_ns >= box.begun_ns for release in queue.boxes.done(row, UNLOCK, CLEAN))


def processed_once(trace: Trace) -> set[int]:
    queue, broken = look(trace), set[int]()
    for row, box in _ok(queue, READ, POP):
        message = box.told["message"] if box.call is READ else box.message
        popped = queue.popped(box.group, message, row) if queue.is_there(box.group, row) else []
        broken |= {row} if any(pop.over_ns < box.begun_ns for pop in popped) else set()
    for row, box, group in _handed(queue):
        gone = queue.gone(group, row)
        if gone is not None:
            broken |= {row} if gone.how is POP_GROUP and gone.since_ns < box.begun_ns else set()
        elif queue.lock(group, row).sure and not queue.may(group, row, POP_GROUP):
            broken |= set() if _is_released(queue, box, row) else {row}
    return broken


def visible_together(trace: Trace) -> set[int]:
    queue, broken = look(trace), set[int]()
    for row, box in _ok(queue, READ, POP_GROUP):
        if not queue.is_there(box.group, row) or queue.opened(box.group, row) is None:
            continue
        sent = queue.sent(box.group, row)
        if box.call is POP_GROUP or box.told["message"] == 0:
            broken |= {row} if queue.is_left(box, ALL, row) else set()
        elif box.told["message"] in sent:
            if sent[box.told["message"]].given["digest"] != box.told["digest"]:
                broken.add(row)
        elif not queue.may_be_in(box, box.told["message"], row):
            broken.add(row)
    return broken


def messages_are_numbered(trace: Trace) -> set[int]:
    queue, broken = look(trace), set[int]()
    for row, box in _ok(queue, SEND):
        if not queue.is_there(box.group, row):
            continue
        broken |= set() if queue.may_get(box, queue.sent(box.group, row)) else {row}
    for row, box, group in _handed(queue):
        opened = queue.opened(group, row)
        if opened is not None and queue.gone(group, row) is None:
            names = ("type", "priority", "correlation")
            if any(opened.given[name] != box.told[name] for name in names):
                broken.add(row)
    return broken


def messages_in_order(trace: Trace) -> set[int]:
    queue, broken = look(trace), set[int]()
    for row, box in _ok(queue, READ, POP):
        message = box.told["message"] if box.call is READ else box.message
        if queue.is_there(box.group, row) and queue.is_left(box, message, row):
            broken.add(row)
    return broken


def poison_is_set_aside(trace: Trace) -> set[int]:
    queue, broken = look(trace), set[int]()
    for row, box in _ok(queue, READ):
        message = box.told["message"]
        if not queue.is_there(box.group, row):
            continue
        tries = len(queue.reads(box.group, message, row))
        if tries >= queue.most_tries and not queue.pops(box.group, message, row):
            broken.add(row)
    return broken


def retries_are_counted(trace: Trace) -> set[int]:
    queue, broken = look(trace), set[int]()
    for row, box, group in _handed(queue):
        before = queue.handed(group, row)
        overlaps = any(one.over_ns >= box.begun_ns for one in before)
        unknown = queue.boxes.loose(row, NEXT) or queue.boxes.others(row, box, NEXT)
        if queue.is_there(group, row) and not overlaps and not unknown and box.told["retries"] != len(before) + 1:
            broken.add(row)
    for row, box in _ok(queue, READ):
        if box.told["message"] < 1 or not queue.is_there(box.group, row) or queue.unheard(box, row):
            continue
        before = queue.reads(box.group, box.told["message"], row)
        overlaps = any(one.over_ns >= box.begun_ns for one in before)
        if not overlaps and box.told["retries"] != len(before) + 1:
            broken.add(row)
    return broken
