"""Rules as document 004 has them, or may be read, each wrong in one way that spec/broadcast/clauses.toml names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from scatterproof.impl.broadcast.rules import RULES, Heads, Rules
from scatterproof.impl.broadcast.runs import Run


def _any(pseq: int, edge: int, window: int) -> bool:
    """What a receiver must take, and a sender may send, when the numbers towards one destination have gaps for ever."""
    return True


def _alone(heads: Heads, received: int) -> list[Run]:
    """After each reception only its creator is looked at, its missing dependencies depth first."""
    found: list[Run] = []
    _deliver_depth_first(heads, received, found, {received})
    return found


def _deliver_depth_first(heads: Heads, creator: int, found: list[Run], visited: set[int]) -> None:
    while (run := heads.head(creator)) is not None:
        for lacking in heads.lacking(run):
            # Two creators may lack something of one another: who is being looked at already is not looked at again.
            if lacking not in visited:
                _deliver_depth_first(heads, lacking, found, visited | {lacking})
        if not heads.is_ready(run):
            return
        found.append(heads.deliver(run))


# By clause and literal.
LITERAL: Mapping[str, Rules] = {
    # One counter for all destinations.
    "BC-PL-PSEQ lit-1": replace(RULES, next_pseq=lambda towards, overall: overall + 1, acceptable=_any, sendable=_any),
    # The delivered set is kept, number by number.
    "BC-PL-MEMORY lit-1": replace(RULES, prefix_with=lambda prefix, beyond: prefix, acceptable=_any, sendable=_any),
    # Only those from whom the message was received count.
    "BC-URB-SELF lit-1": replace(RULES, heard_first=lambda own, forwarder: forwarder),
    # Half of the processes suffice.
    "BC-URB-MAJ lit-half": replace(RULES, majority=lambda heard, processes: 2 * heard.bit_count() >= processes),
    # A process stops when more than the threshold are undelivered.
    "BC-FIFO-FLOW lit-1": replace(RULES, may_begin=lambda undelivered, most: undelivered <= most),
    # The vector clock, which counts all deliveries, is attached.
    "BC-LCB-LOCAL lit-1": replace(RULES, counts_as_dependency=lambda creator, dependencies: True),
    # The own entry has risen when the clock is attached.
    "BC-LCB-CLOCKS lit-after": replace(
        RULES, attached=lambda clock, own, begun: (*clock[:own], begun + 1, *clock[own + 1 :])
    ),
    "BC-LCB-CHECK lit-1": replace(RULES, look=_alone),
}
