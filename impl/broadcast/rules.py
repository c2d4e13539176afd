"""What the document argues about, each as one pure function, so that a literal rule or a mutant is another function.

Numbers count from 1, times are ns. Sets of processes are integers, process p being bit p.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from scatterproof.impl.broadcast.runs import Run

LEAST_SHARE = 8  # of the first time-out: so much later than usual an acknowledgement may always be
MOST_TIMES = 64  # the first time-out: no time-out is longer
ACK_SHARE = 16  # of the first time-out: so long an acknowledgement may wait for others
FIRST_IN_FLIGHT = 8  # packets in flight before the first acknowledgement, and however many are lost


def next_pseq(towards: int, overall: int) -> int:
    """The next packet's number (BC-PL-PSEQ): the one after the last towards the same destination."""
    return towards + 1


def prefix_with(prefix: int, beyond: Mapping[int, int]) -> int:
    """The prefix once the intervals that follow it without a gap have collapsed into it (BC-PL-MEMORY)."""
    while prefix + 1 in beyond:
        prefix = beyond[prefix + 1]
    return prefix


def acceptable(pseq: int, prefix: int, window: int) -> bool:
    """Whether a sender could have sent this packet: it waits with those a window after the first missing one."""
    return pseq <= prefix + window


def sendable(pseq: int, oldest: int, window: int) -> bool:
    """Whether a packet may be put on a link whose oldest unacknowledged one is `oldest` (the sliding window)."""
    return pseq < oldest + window


def is_sample(resent: bool) -> bool:
    """Whether a packet's acknowledgement tells a round trip's time: of one sent twice, it may be for either."""
    return not resent


def smoothed(mean: int, deviation: int, sample: int) -> tuple[int, int]:
    """Mean and mean deviation of round trips with one more; 0 as the mean stands for none before."""
    if mean == 0:
        return sample, sample // 2
    return mean + (sample - mean) // 8, deviation + (abs(sample - mean) - deviation) // 4


def time_out(mean: int, deviation: int, first: int, tries: int) -> int:
    """How long to wait for an acknowledgement (BC-PL-RESEND): the usual round trip and four deviations, doubled for
    every time-out since the last round trip that could be measured."""
    usual = mean + max(4 * deviation, first // LEAST_SHARE) if mean else first
    return min(usual << min(tries, 32), MOST_TIMES * first)


def resent_at_once(late: int, acknowledges: bool) -> int:
    """How many of the late packets are sent again at a time-out (BC-PL-RESEND): all, but one alone to a peer that has
    acknowledged nothing since the time-out before. It may be gone, or drowning. The next time it is another's turn."""
    return late if acknowledges else 1


def tries_after(tries: int, silence: int, timeout: int) -> int:
    """How often the time-out stays doubled when something comes after a silence: a peer that was silent for long was
    away, and is asked at once; one that goes on sending is slow, and must not be flooded."""
    return 0 if 2 * silence > timeout else tries


def in_flight_next(allowed: int, window: int, acknowledged: int) -> int:
    """How many packets may be in flight after this many acknowledgements, or after a time-out (0 of them)."""
    if acknowledged:
        return min(window, allowed + acknowledged)
    return max(min(window, FIRST_IN_FLIGHT), allowed // 2)


def heard_first(own: int, forwarder: int) -> int:
    """Who is known to have a message at its first reception: its forwarder and oneself (BC-URB-SELF). There is no
    forwarder (0) of a message of one's own."""
    return own | forwarder


def majority(heard: int, processes: int) -> bool:
    """Whether more than half of all processes have the message (BC-URB-MAJ)."""
    return 2 * heard.bit_count() > processes


def forwards_to(peer: int, forwarder: int, creator: int) -> bool:
    """Whether a first reception is forwarded to this peer (BC-URB-MAJ): to all, to creator and forwarder too, who
    count us."""
    return True


def enters_pending(delivered: bool) -> bool:
    """Whether a message that came is pending from now on (BC-URB-GC): not once it was delivered."""
    return not delivered


def may_begin(undelivered: int, most: int) -> bool:
    """Whether a process may begin with a further message (BC-FIFO-FLOW)."""
    return undelivered < most


def in_turn(number: int, delivered: int) -> bool:
    """Whether a message is the next of its creator (BC-FIFO-ORDER)."""
    return number == delivered + 1


def attached(dependency_clock: Sequence[int], own: int, begun: int) -> tuple[int, ...]:
    """The clock of the next message (BC-LCB-CLOCKS): what was delivered of the dependencies, and how many of one's own
    were begun before it, whether one depends on oneself or not."""
    return (*dependency_clock[:own], begun, *dependency_clock[own + 1 :])


def counts_as_dependency(creator: int, dependencies: Collection[int]) -> bool:
    """Whether the delivery of a message of this creator raises the dependency clock (BC-LCB-LOCAL)."""
    return creator in dependencies


def ready(clock: Sequence[int], delivered: Sequence[int]) -> bool:
    """Whether all that a message depends on is delivered (BC-LCB-CAUSAL): entry by entry."""
    return all(map(int.__le__, clock, delivered))


class Heads(Protocol):
    """The messages that have come and wait. blocked: creators whose next message waits for others."""

    blocked: set[int]

    def head(self, creator: int) -> Run | None: ...

    def is_ready(self, run: Run) -> bool: ...

    def lacking(self, run: Run) -> list[int]:
        """The creators of what the run waits for."""
        ...

    def deliver(self, run: Run) -> Run: ...


def look(heads: Heads, received: int) -> list[Run]:
    """Deliver what can be after a reception from `received` (BC-LCB-CHECK): its creator's next messages, and after each
    delivery the next messages of all that wait."""
    found: list[Run] = []
    queue = [received]
    while queue:
        creator = queue.pop()
        run = heads.head(creator)
        if run is None:
            heads.blocked.discard(creator)
        elif not heads.is_ready(run):
            heads.blocked.add(creator)
        else:
            found.append(heads.deliver(run))
            heads.blocked.discard(creator)
            queue += [*sorted(heads.blocked), creator]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules that a core is built with."""

    next_pseq: Callable[[int, int], int] = next_pseq
    prefix_with: Callable[[int, dict[int, int]], int] = prefix_with
    acceptable: Callable[[int, int, int], bool] = acceptable
    sendable: Callable[[int, int, int], bool] = sendable
    is_sample: Callable[[bool], bool] = is_sample
    smoothed: Callable[[int, int, int], tuple[int, int]] = smoothed
    time_out: Callable[[int, int, int, int], int] = time_out
    resent_at_once: Callable[[int, bool], int] = resent_at_once
    tries_after: Callable[[int, int, int], int] = tries_after
    in_flight_next: Callable[[int, int, int], int] = in_flight_next
    heard_first: Callable[[int, int], int] = heard_first
    majority: Callable[[int, int], bool] = majority
    forwards_to: Callable[[int, int, int], bool] = forwards_to
    enters_pending: Callable[[bool], bool] = enters_pending
    may_begin: Callable[[int, int], bool] = may_begin
    in_turn: Callable[[int, int], bool] = in_turn
    attached: Callable[[Sequence[int], int, int], tuple[int, ...]] = attached
    counts_as_dependency: Callable[[int, Collection[int]], bool] = counts_as_dependency
    ready: Callable[[Sequence[int], Sequence[int]], bool] = ready
    look: Callable[[Heads, int], list[Run]] = look


RULES = Rules()
