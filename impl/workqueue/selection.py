"""The selection procedure: which group next_group locks (document 002, figure 3; Q-NEXT, Q-PRIORITY, Q-ORDER-CORR,
Q-CORR-LAST)."""

from __future__ import annotations

from collections.abc import Iterable

from scatterproof.impl.workqueue.rules import Lock, Rules, Standing


def selected(groups: Iterable[Standing], rules: Rules) -> int | None:
    """The number of the group to be handed out, or None."""
    first = min(ready(groups, rules), key=lambda head: rules.rank(head.priority, head.place), default=None)
    return None if first is None else first.group


def ready(groups: Iterable[Standing], rules: Rules) -> list[Standing]:
    """The groups that can be handed out. Of each correlation that may be looked at the first group alone counts; one
    that is send-locked, or waits for the last, takes its whole correlation off the list."""
    correlations: dict[int, list[Standing]] = {}
    for group in groups:
        correlations.setdefault(group.correlation, []).append(group)
    listed = [alike for alike in correlations.values() if rules.is_listed(any(map(_is_received, alike)))]
    heads = [(rules.head_of(alike), any(map(_is_last, alike))) for alike in listed]
    return [
        head
        for head, last_came in heads
        if rules.is_ready(head.lock is Lock.SEND) and rules.is_complete(head.waits, last_came)
    ]


def _is_received(group: Standing) -> bool:
    return group.lock is Lock.RECEIVE


def _is_last(group: Standing) -> bool:
    """Whether it is marked as the last of its correlation, and closed."""
    return group.last and group.lock is not Lock.SEND
