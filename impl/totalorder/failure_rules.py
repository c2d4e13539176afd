"""The rules about failures, each as one pure function, so that another rule or a mutant is another function.

They have operator constants of the same names in CamelCase in Failures.tla. Times and barriers are ns.
"""

from __future__ import annotations


def cut_off(ack: int, barrier: int) -> int:
    """The cut-off of the hosts behind a link that is given up, from its newest ack barrier and barrier (TO-FAIL)."""
    return ack


def may_deliver(timestamp: int, ack: int, barrier: int) -> bool:
    """Whether reliable delivery lets a message pass (TO-ATOMIC): at or below the ack barrier, every receiver has it."""
    return timestamp <= ack


def closes_back() -> bool:
    """Whether a node that gives a link up puts nothing on the link back any more (TO-ATOMIC)."""
    return True


def removes(unanswered: int) -> bool:
    """Whether a link that was given up may be left out of minimums, with that many notices unanswered (TO-FAIL)."""
    return unanswered == 0


def recalls() -> bool:
    """Whether a scattering is recalled that a failed host had not acknowledged (TO-ATOMIC)."""
    return True


def may_tell(restarted: bool, value: int) -> bool:
    """Whether a switch may put a minimum on a link (TO-RESTART): where it has restarted, once every counted link has
    spoken to it."""
    return not restarted or value > 0
