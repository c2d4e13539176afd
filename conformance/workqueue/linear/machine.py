"""The queue as a machine that carries calls out one at a time, from the sentences of spec/workqueue alone.

Where they leave a queue free, several states may follow. Numbers of groups may be any that do not come again; tokens
any that rise with each lock of a group. Cleaning whose limit is neither 0 nor 2^63 - 1 may take anybody for dead, as
many as it says. A holder whose lock cleaning released may be heard until the next one holds the group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain, combinations

from scatterproof.conformance.workqueue.linear.history import TimedCall
from scatterproof.spec.trace import ABSENT
from scatterproof.spec.workqueue.messages import CallName

_EVERYBODY = (1 << 63) - 1


class MachineLock(Enum):
    """LOOSE: cleaning released it, and its holder may still be heard."""

    OPEN = "for anybody"
    SENDING = "for sending"
    RECEIVING = "for receiving"
    LOOSE = "for anybody, or its last holder"


_SENDERS = (CallName.SEND_MESSAGE, CallName.CLOSE_GROUP, CallName.FLUSH_GROUP)
_HEARD_IN = {
    name: (MachineLock.SENDING,) if name in _SENDERS else (MachineLock.RECEIVING, MachineLock.LOOSE)
    for name in CallName
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineGroup:
    """A group in the store.

    number: 0 where nobody learned it from the call that began it.
    sent: how many messages were sent to it.
    left: (id, digest, times read) of those that were not popped.
    handed: how often it was handed out.
    last: 1 for the last of its correlation, 0 for one that waits for the last.
    """

    number: int
    type: int
    priority: int
    correlation: int
    lock: MachineLock
    server: int
    token: int
    sent: int = 0
    left: tuple[tuple[int, int, int], ...] = ()
    handed: int = 0
    last: int = ABSENT


@dataclass(frozen=True, slots=True)
class MachineState:
    """The store.

    groups: those that are there, in the order in which they were begun.
    used: the numbers that were ever given.
    most_tries: how often a message is handed out; 0 for ever.
    """

    groups: tuple[MachineGroup, ...] = ()
    used: frozenset[int] = frozenset()
    most_tries: int = 0

    def having(self, old: MachineGroup, new: MachineGroup | None) -> MachineState:
        """The new group, or none, in the place of the old one."""
        kept = (new if group is old else group for group in self.groups)
        return replace(self, groups=tuple(group for group in kept if group is not None))


def carried_out(state: MachineState, call: TimedCall) -> Iterator[MachineState]:
    """The states that may follow when the call is carried out and returns what the box has; an unknown result fits
    anything."""
    match call.name:
        case CallName.OPEN_GROUP:
            yield from _open(state, call)
        case CallName.NEXT_GROUP:
            yield from _next(state, call)
        case CallName.UNLOCK_SERVER_GROUPS:
            own = [one for one in _locked(state, MachineLock.RECEIVING) if one.server == call.given["server"]]
            if _tells(call, released=len(own)):
                yield _unlocked(state, own, MachineLock.OPEN)
        case CallName.CLEAN:
            yield from _clean(state, call)
        case _:
            group = _heard_of(state, call)
            if group is not None:
                yield from _about(state, group, call)


def may_refuse(state: MachineState, call: TimedCall) -> bool:
    """Whether this state gives a cause to refuse the call."""
    if call.name in (CallName.OPEN_GROUP, CallName.NEXT_GROUP, CallName.UNLOCK_SERVER_GROUPS, CallName.CLEAN):
        return False
    group = _heard_of(state, call)
    if group is None or group.lock is MachineLock.LOOSE:
        return True
    first = group.left[0][0] if group.left else 0
    if call.name is CallName.POP_MESSAGE:
        return first == 0 or call.message != first
    return call.name is CallName.POP_GROUP and first != 0


def _tells(call: TimedCall, **results: int) -> bool:
    """Whether the call may have returned these results, for all that is known."""
    return not call.told or all(call.told[name] == value for name, value in results.items())


def _locked(state: MachineState, *locks: MachineLock) -> list[MachineGroup]:
    return [group for group in state.groups if group.lock in locks]


def _open(state: MachineState, call: TimedCall) -> Iterator[MachineState]:
    number, token = (call.told["group"], call.told["token"]) if call.told else (0, 1)
    if call.told and (number < 1 or token < 1 or number in state.used):
        return
    begun = MachineGroup(
        number=number,
        type=call.given["type"],
        priority=call.given["priority"],
        correlation=call.given["correlation"],
        lock=MachineLock.SENDING,
        server=call.given["server"],
        token=token,
        last=call.given["last"],
    )
    yield replace(state, groups=(*state.groups, begun), used=state.used | {number})


def _next(state: MachineState, call: TimedCall) -> Iterator[MachineState]:
    """Q-ORDER-CORR, Q-LOCK-SEND, Q-CORR-LAST, Q-PRIORITY, Q-NEXT: of each correlation the oldest group, if nobody has
    locked it, no other of them is locked for receiving, and it does not wait; of these the one of the highest priority,
    then the oldest."""
    last = {one.correlation for one in state.groups if one.last == 1 and one.lock is not MachineLock.SENDING}
    held = {group.correlation for group in _locked(state, MachineLock.RECEIVING)}
    heads: dict[int, MachineGroup] = {}
    for group in state.groups:
        heads.setdefault(group.correlation, group)
    ready = [
        one
        for one in heads.values()
        if one.lock in (MachineLock.OPEN, MachineLock.LOOSE) and one.correlation not in held
        if one.last != 0 or one.correlation in last
    ]
    taken = min(ready, key=lambda group: (group.priority, state.groups.index(group)), default=None)
    if taken is None:
        if _tells(call, group=0):
            yield state
        return
    token, handed = (call.told["token"] if call.told else taken.token + 1), taken.handed + 1
    named = {"type": taken.type, "priority": taken.priority, "correlation": taken.correlation}
    if token > taken.token and _tells(call, group=taken.number, retries=handed, **named):
        held_now = replace(taken, lock=MachineLock.RECEIVING, server=call.given["server"], token=token, handed=handed)
        yield state.having(taken, held_now)


def _unlocked(state: MachineState, released: Iterable[MachineGroup], lock: MachineLock) -> MachineState:
    for group in released:
        state = state.having(group, replace(group, lock=lock))
    return state


def _clean(state: MachineState, call: TimedCall) -> Iterator[MachineState]:
    """Q-CRASH-SEND, Q-CRASH-DEAD."""
    for dead in _choices(_locked(state, MachineLock.SENDING), call.given["senders_before"]):
        left = state
        for group in dead:
            left = left.having(group, None)
        for late in _choices(_locked(state, MachineLock.RECEIVING), call.given["receivers_before"]):
            if _tells(call, removed=len(dead), released=len(late)):
                yield _unlocked(left, late, MachineLock.LOOSE)


def _choices(locked: list[MachineGroup], before_ns: int) -> Iterable[tuple[MachineGroup, ...]]:
    """Who may be taken for dead: nobody, everybody, or any of them, by a clock that nobody sees."""
    if before_ns <= 0:
        return [()]
    if before_ns == _EVERYBODY:
        return [tuple(locked)]
    return chain.from_iterable(combinations(locked, count) for count in range(len(locked) + 1))


def _heard_of(state: MachineState, call: TimedCall) -> MachineGroup | None:
    """The group that a call is about, if it is there with the lock and the token that the call needs; else None."""
    for group in state.groups:
        if group.number == call.group > 0 and group.token == call.token and group.lock in _HEARD_IN[call.name]:
            return group
    return None


def _about(state: MachineState, group: MachineGroup, call: TimedCall) -> Iterator[MachineState]:
    first, digest, tries = group.left[0] if group.left else (0, 0, 0)
    match call.name:
        case CallName.SEND_MESSAGE:
            number = group.sent + 1
            if _tells(call, message=number):
                left = (*group.left, (number, call.given["digest"], 0))
                yield state.having(group, replace(group, sent=number, left=left))
        case CallName.CLOSE_GROUP:  # an empty group is removed
            yield state.having(group, replace(group, lock=MachineLock.OPEN) if group.sent else None)
        case CallName.FLUSH_GROUP:
            yield state.having(group, None)
        case CallName.READ_MESSAGE if 0 < state.most_tries <= tries:  # it is set aside
            without = replace(group, left=group.left[1:])
            yield from _about(state.having(group, without), without, call)
        case CallName.READ_MESSAGE if first == 0:
            if _tells(call, message=0):
                yield state
        case CallName.READ_MESSAGE:
            if _tells(call, message=first, digest=digest, retries=tries + 1):
                yield state.having(group, replace(group, left=((first, digest, tries + 1), *group.left[1:])))
        case CallName.POP_MESSAGE:
            if first == call.message > 0:
                yield state.having(group, replace(group, left=group.left[1:]))
        case _:
            if first == 0:
                yield state.having(group, None)
