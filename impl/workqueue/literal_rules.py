"""Rules as document 002 has them, each wrong in one way that spec/workqueue/clauses.toml names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scatterproof.impl.workqueue.rules import RULES, Lock, Rules, Standing

_NEVER = 1 << 62


def by_end(begun: int, closed: int) -> int:
    """Q-ORDER-CORR lit-end: groups come in the order in which they end; those that have not, last."""
    return closed or _NEVER + begun


def by_position(priority: int, place: int) -> tuple[int, int]:
    """Q-PRIORITY lit-position: position first, then priority."""
    return (place, priority)


def by_priority_within(groups: Sequence[Standing]) -> Standing:
    """Q-NEXT lit-priority: all groups in one list by priority, then position."""
    return min(groups, key=lambda group: (group.priority, group.place))


def latest_passes(waits: bool, last_came: bool) -> bool:
    """Q-CORR-LAST lit-1: without a mark, the latest group that has come passes for the last."""
    return True


def for_sending(usual: Lock) -> Lock:
    """Q-NEXT lit-send: box 370 locks the group for sending."""
    return Lock.SEND


def own_send_locks(receiving: bool, own: bool) -> bool:
    """Q-CRASH-BOOT lit-1: a start releases the send locks of the server. What is not locked at all stays so."""
    return own and not receiving


def anybody(token: int, present: int) -> bool:
    """Q-CRASH-DEAD lit-1: nothing tells a holder from one whose lock was released."""
    return True


def one_twice(last: int) -> int:
    """Q-META lit-1: the first message has the id 1, and the second as well."""
    return max(1, last)


LITERAL: dict[str, Rules] = {
    "Q-ORDER-CORR-lit-end": replace(RULES, place_of=by_end),
    "Q-PRIORITY-lit-position": replace(RULES, rank=by_position),
    "Q-NEXT-lit-priority": replace(RULES, head_of=by_priority_within),
    "Q-NEXT-lit-send": replace(RULES, lock_when_handed=for_sending),
    "Q-CORR-LAST-lit-1": replace(RULES, is_complete=latest_passes),
    "Q-CRASH-BOOT-lit-1": replace(RULES, is_freed=own_send_locks),
    "Q-CRASH-DEAD-lit-1": replace(RULES, is_current=anybody),
    "Q-META-lit-1": replace(RULES, next_message=one_twice),
}
"""The literal rules that the reference can be given, by clause and id."""
