"""The selection procedure: which group next_group locks (document 002, figure 3; Q-NEXT, Q-PRIORITY, Q-ORDER-CORR)."""

from __future__ import annotations

from collections.abc import Iterable

from scatterproof.impl.workqueue.rules import Lock, Rules, Standing


def selected(groups: Iterable[Standing], rules: Rules) -> int | None:
    """The number of the group to be handed out, or None. Of each correlation that may be looked at the first group
    alone counts; a send-locked one takes its whole correlation off the list."""
    correlations: dict[int, list[Standing]] = {}
    for group in groups:
        correlations.setdefault(group.correlation, []).append(group)
    listed = [alike for alike in correlations.values() if rules.is_listed(any(map(_is_received, alike)))]
    heads = [rules.head_of(alike) for alike in listed]
    ready = [head for head in heads if rules.is_ready(head.lock is Lock.SEND)]
    if not ready:
        return None
    return min(ready, key=lambda head: rules.rank(head.priority, head.place)).group


def _is_received(group: Standing) -> bool:
    return group.lock is Lock.RECEIVE
