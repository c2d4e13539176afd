"""The corrected rules of the work queue as the Z3 claims read them: plain Python, run on terms by
`scatterproof.models.symbolic.lift`.

They are stated here a second time on purpose: the models do not import the reference implementation. Any function of
the same name and shape can be handed to a claim in their place. A place is a position in the queue, from 1 in the order
in which groups were begun; priority 1 is the highest.
"""

from __future__ import annotations

from scatterproof.models.claim import stated_in


def is_first(place: int, other: int) -> bool:
    """Whether a group is ahead of another one of its correlation, or is that one: only a group of which that holds for
    all in the table may be handed out (Q-ORDER-CORR)."""
    return place <= other


def is_ready(send_locked: bool, receive_locked: bool) -> bool:
    """Whether the first group of a correlation may be handed out; receive_locked: a group of the correlation is
    (Q-NEXT)."""
    return not send_locked and not receive_locked


def is_complete(waits: bool, last_came: bool) -> bool:
    """Whether the first group of a correlation need not wait for the last one; last_came: one that is marked so is in
    the table, and ended (Q-CORR-LAST)."""
    return last_came or not waits


def precedes(priority: int, place: int, other_priority: int, other_place: int) -> bool:
    """Whether a group that is ready goes before another one that is ready (Q-PRIORITY)."""
    return priority < other_priority or (priority == other_priority and place < other_place)


def next_token(token: int) -> int:
    """The token of a group's next lock, from that of the lock before (Q-CRASH-DEAD)."""
    return token + 1


def is_accepted(there: bool, of_its_kind: bool, token: int, present: int, server: int, present_server: int) -> bool:
    """Whether a call for a group is carried out: from its token and server, and those of the group's latest lock.

    there: the group is in the table. of_its_kind: it has a lock, and of the kind that the call needs (Q-CRASH-DEAD).
    """
    return there and of_its_kind and token == present


rules = stated_in(__name__)
