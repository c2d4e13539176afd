"""Q-CRASH-SEND, Q-CRASH-BOOT, Q-CRASH-DEAD, Q-DURABLE, Q-CALL-ONCE."""

from __future__ import annotations

from scatterproof.conformance.workqueue.oracles.boxes import Box
from scatterproof.conformance.workqueue.oracles.queue import (
    ALL,
    CLEAN,
    CLOSE,
    FLUSH,
    NEXT,
    OPEN,
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


def _is_miscounted(count: int, there: int, known: bool, before_ns: int) -> bool:
    """Whether cleaning cannot have counted this many dead of those `there`: by its limit none, all, or at most all."""
    if before_ns <= 0:
        return count != 0
    return count > there or (before_ns == ALL and known and count < there)


def _token(queue: Queue, group: int, row: int) -> int:
    """The highest token of its locks before this row."""
    first = queue.first(group, row)
    assert first is not None
    return max(first.told["token"], *(box.told["token"] for box in [first, *queue.handed(group, row)]))


def incomplete_is_removed(trace: Trace) -> set[int]:
    queue, broken = look(trace), set[int]()
    for row, box in queue.boxes.returned.items():
        if box.outcome is not Outcome.OK:
            continue
        if box.call is CLEAN:
            sending, _, known = queue.counted(box, row)
            wrong = _is_miscounted(box.told["removed"], len(sending), known, box.given["senders_before"])
            broken |= {row} if wrong and queue.undisturbed(box, row) else set()
        group = box.told["group"] if box.call is NEXT else box.group
        removed = queue.removed_ns(group, row) if queue.is_there(group, row) else None
        if removed is not None and removed < box.begun_ns:
            broken.add(row)
    return broken


def boot_frees_receive_locks(trace: Trace) -> set[int]:
    queue, broken = look(trace), set[int]()
    for row, box in queue.boxes.returned.items():
        if box.outcome is not Outcome.OK:
            continue
        if box.call is UNLOCK:
            _, held, known = queue.counted(box, row)
            own = [group for group in held if queue.handed(group, row)[-1].given["server"] == box.given["server"]]
            wrong = known and queue.undisturbed(box, row) and box.told["released"] != len(own)
            broken |= {row} if wrong else set()
        elif box.call is NEXT:
            broken |= {row} if _is_half_sent(queue, box, row) or _is_kept_from(queue, box, row, UNLOCK) else set()
        elif box.call in (READ, POP, POP_GROUP) and queue.is_there(box.group, row):
            freed, handed = queue.lock(box.group, row).freed, queue.handed(box.group, row)
            released = freed is not None and freed[0] is UNLOCK and freed[1] < box.begun_ns
            if released and handed[-1].client == box.client:
                broken.add(row)
    return broken


def _is_half_sent(queue: Queue, box: Box, row: int) -> bool:
    """Whether a group is handed out that nobody closed, after a release under its sender's server id."""
    group = box.told["group"]
    opened = queue.opened(group, row)
    if opened is None or not queue.is_there(group, row) or queue.may(group, row, CLOSE):
        return False
    releases = [one for one in queue.boxes.asked(row, UNLOCK) if one.begun > opened.over]
    own = [one for one in releases if one.given["server"] == opened.given["server"]]
    return any(not queue.may(group, one.begun, CLOSE) for one in own)


def _is_kept_from(queue: Queue, box: Box, row: int, by: CallName) -> bool:
    """Whether nothing is handed out, though a group is ready that a call of this kind released."""
    ready = queue.ready(box, row) if box.told["group"] == 0 else 0
    freed = queue.lock(ready, row).freed if ready else None
    return freed is not None and freed[0] is by


def dead_holder_is_fenced(trace: Trace) -> set[int]:
    queue, broken = look(trace), set[int]()
    for row, box in queue.boxes.returned.items():
        if box.outcome is not Outcome.OK:
            continue
        if box.call is CLEAN:
            _, held, known = queue.counted(box, row)
            wrong = _is_miscounted(box.told["released"], len(held), known, box.given["receivers_before"])
            broken |= {row} if wrong and queue.undisturbed(box, row) else set()
        if box.call is NEXT and _is_kept_from(queue, box, row, CLEAN):
            broken.add(row)
        group = box.told["group"] if box.call is NEXT else box.group
        if not queue.is_there(group, row):
            continue
        overlaps = any(one.over_ns >= box.begun_ns for one in queue.handed(group, row)[-1:])
        if box.call is NEXT:
            known = queue.opened(group, row) is not None
            falls = box.told["token"] <= _token(queue, group, row)
            broken |= {row} if known and falls and not overlaps else set()
        elif not overlaps and box.token < _token(queue, group, row):
            broken.add(row)
    return broken


def _for_nothing(queue: Queue, box: Box, row: int) -> bool:
    """Whether the call was refused though nothing forbade it at any moment from its beginning to its return."""
    if box.outcome is not Outcome.REFUSED:
        return False
    if box.call in (OPEN, NEXT, UNLOCK, CLEAN):
        return True
    group = box.group
    if not queue.is_there(group, row) or (box.hand, box.hand_token) != (group, box.token):
        return False
    lock, handed = queue.lock(group, row), queue.handed(group, row)
    others = [one for one in queue.may(group, row, CLOSE, FLUSH, POP_GROUP) if one is not box]
    if box.call in (SEND, CLOSE, FLUSH):
        opened = queue.opened(group, row)
        ending = [one for one in others if one.call is not POP_GROUP]
        alone = not ending and not queue.risk(group, row) and not lock.sure
        return opened is not None and opened.client == box.client and alone
    if not lock.sure or handed[-1].client != box.client:
        return False
    if box.call is POP:
        pops = queue.pops(group, box.message, row)
        since = [one for one in queue.about(group, row, READ) if one.over > handed[-1].over]
        others_read = queue.unheard(box, row) or any(one.client != box.client for one in since)
        is_there = not queue.most_tries or not others_read
        return pops == [box] and is_there and box.left == box.message
    finishing = [one for one in others if one.call is POP_GROUP]
    return not finishing and (box.call is READ or box.left == 0)


def _on_nothing(queue: Queue, box: Box, row: int) -> bool:
    """Whether the call returned ok though its group was not there, or not locked for such calls, all the while. A
    message to a group that was there once is left to Q-LOCK-SEND."""
    if box.outcome is not Outcome.OK or box.call not in (SEND, CLOSE, FLUSH, READ, POP, POP_GROUP):
        return False
    group = box.group
    if group < 1:
        return True
    if queue.first(group, row) is None:
        return not queue.boxes.loose(row, OPEN) and not queue.boxes.others(row, box, OPEN)
    gone = queue.gone(group, row)
    if gone is not None:
        return box.call is not SEND and gone.since_ns < box.begun_ns
    if box.call is POP and queue.opened(group, row) and not queue.may_be_in(box, box.message, row):
        return True
    if box.call in (CLOSE, FLUSH):
        return queue.closed_ns(group, row) < box.begun_ns
    taken = queue.handed(group, row) or queue.boxes.loose(row, NEXT) or queue.boxes.others(row, box, NEXT)
    return box.call is not SEND and not taken


def acknowledged_is_kept(trace: Trace) -> set[int]:
    queue, broken = look(trace), set[int]()
    for row, box in queue.boxes.returned.items():
        down = [time_ns for at, time_ns in queue.boxes.store_down if at < row]
        if not down:
            continue
        ready = (
            queue.ready(box, row) if box.call is NEXT and box.outcome is Outcome.OK and box.told["group"] == 0 else 0
        )
        if queue.closed_ns(ready, row) < down[-1] or _for_nothing(queue, box, row):
            broken.add(row)
    return broken


def calls_take_effect_once(trace: Trace) -> set[int]:
    queue, broken = look(trace), set[int]()
    for row, box in queue.boxes.returned.items():
        if _for_nothing(queue, box, row):
            broken.add(row)
        if box.call is OPEN and box.outcome is Outcome.OK:
            known = queue.first(box.told["group"], row) is not None
            broken |= {row} if known or min(box.told["group"], box.told["token"]) < 1 else set()
        if _on_nothing(queue, box, row):
            broken.add(row)
    return broken
