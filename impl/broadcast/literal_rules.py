"""Rules as document 004 has them, or may be read, each wrong in one way that spec/broadcast/clauses.toml names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from scatterproof.impl.broadcast.rules import RULES, Heads, Rules
from scatterproof.impl.broadcast.runs import Run


def one_counter(towards: int, overall: int) -> int:
    """BC-PL-PSEQ lit-1: one counter for all destinations."""
    return overall + 1


def any_number(pseq: int, prefix: int, window: int) -> bool:
    """What a receiver must take when the numbers that it sees have gaps for ever."""
    return True


def whatever_is_in_flight(pseq: int, oldest: int, window: int) -> bool:
    """What a sender must allow when its numbers towards one destination have gaps."""
    return True


def all_numbers_stay(prefix: int, beyond: Mapping[int, int]) -> int:
    """BC-PL-MEMORY lit-1: the delivered set is kept, number by number."""
    return prefix


def forwarder_alone(own: int, forwarder: int) -> int:
    """BC-URB-SELF lit-1: only those from whom the message was received count."""
    return forwarder


def half(heard: int, processes: int) -> bool:
    """BC-URB-MAJ lit-half: half of the processes suffice."""
    return 2 * heard.bit_count() >= processes


def not_above(undelivered: int, most: int) -> bool:
    """BC-FIFO-FLOW lit-1: a process stops when more than the threshold are undelivered."""
    return undelivered <= most


def all_deliveries_count(creator: int, dependencies: Collection[int]) -> bool:
    """BC-LCB-LOCAL lit-1: the vector clock, which counts all deliveries, is attached."""
    return True


def after_itself(dependency_clock: Sequence[int], own: int, begun: int) -> tuple[int, ...]:
    """BC-LCB-CLOCKS lit-after: the own entry has risen when the clock is attached."""
    return (*dependency_clock[:own], begun + 1, *dependency_clock[own + 1 :])


def creator_alone(heads: Heads, received: int) -> list[Run]:
    """BC-LCB-CHECK lit-1: after each reception only its creator is looked at, its missing dependencies depth first."""
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
LITERAL: dict[str, Rules] = {
    "BC-PL-PSEQ lit-1": replace(RULES, next_pseq=one_counter, acceptable=any_number, sendable=whatever_is_in_flight),
    "BC-PL-MEMORY lit-1": replace(
        RULES, prefix_with=all_numbers_stay, acceptable=any_number, sendable=whatever_is_in_flight
    ),
    "BC-URB-SELF lit-1": replace(RULES, heard_first=forwarder_alone),
    "BC-URB-MAJ lit-half": replace(RULES, majority=half),
    "BC-FIFO-FLOW lit-1": replace(RULES, may_begin=not_above),
    "BC-LCB-LOCAL lit-1": replace(RULES, counts_as_dependency=all_deliveries_count),
    "BC-LCB-CLOCKS lit-after": replace(RULES, attached=after_itself),
    "BC-LCB-CHECK lit-1": replace(RULES, look=creator_alone),
}
