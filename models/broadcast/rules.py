"""The corrected rules of the broadcast stack as the Z3 claims read them: plain Python, run on terms by
`scatterproof.models.symbolic.lift`.

They are stated here a second time on purpose: the models do not import the reference implementation. Any function of
the same name and shape can be handed to a claim in their place. Numbers of messages and packets count from 1.
"""

from __future__ import annotations

from scatterproof.models.claim import stated_in


def enough(having: int, processes: int) -> bool:
    """Whether a message that this many of all processes are known to have may be delivered (BC-URB-MAJ)."""
    return 2 * having > processes


def counted(heard: int) -> int:
    """How many have a message that a process has itself and heard of from this many others (BC-URB-SELF)."""
    return heard + 1


def number(made: int, total: int) -> int:
    """The number of the next packet to a destination: `made` packets were made for it, `total` for all
    (BC-PL-PSEQ)."""
    return made + 1


def known(packet: int, prefix: int, beyond: bool) -> bool:
    """Whether a packet is known to be delivered; beyond: whether it is in the set beyond the prefix
    (BC-PL-ONCE)."""
    return packet <= prefix or beyond


def collapse(prefix: int, following: bool) -> int:
    """One step of collapsing; following: whether the number after the prefix is in the set (BC-PL-MEMORY)."""
    return prefix + 1 if following else prefix


def stays(packet: int, prefix: int) -> bool:
    """Whether a number stays in the set beyond the prefix, the prefix having collapsed (BC-PL-MEMORY)."""
    return packet > prefix


def pauses(undelivered: int, threshold: int) -> bool:
    """Whether a process with this many own messages undelivered begins with no other (BC-FIFO-FLOW)."""
    return undelivered >= threshold


def reached(entry: int, deliveries: int) -> bool:
    """Whether one entry of a message's clock is reached by the receiver's vector clock (BC-LCB-CAUSAL)."""
    return entry <= deliveries


def own_entry(earlier: int) -> int:
    """The creator's entry in a message's clock, from the number of its earlier messages (BC-LCB-CLOCKS)."""
    return earlier


def counts_delivery(named: bool, own: bool) -> bool:
    """Whether the dependency clock counts a delivery; named: of a process that it depends on, own: of its own
    (BC-LCB-CLOCKS)."""
    return named and not own


rules = stated_in(__name__)
