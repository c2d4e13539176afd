"""What the checks of timestamp adjustment share: the adjustment that is in force at a host, computed again from the
messages of its rounds."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import SENT
from scatterproof.conformance.checks.step import PerNode, PerPair, State, derive
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import PacketKind
from scatterproof.spec.trace import Kind

ADJUST, ADJUSTED = int(PacketKind.ADJUST), int(PacketKind.ADJUSTED)
GREATEST = (1 << 63) - 1
# Times of adjustment above this are absurd; sums of a few below it do not wrap.
LATEST = 1 << 61


@register_jitable
def adjusted(clock: int, adjustment: int) -> int:
    """clock + adjustment, held at the edges of 64 bits."""
    if adjustment > 0 and clock > GREATEST - adjustment:
        return GREATEST
    if adjustment < 0 and clock < -GREATEST - adjustment:
        return -GREATEST
    return clock + adjustment


@register_jitable
def is_time(time: int) -> bool:
    return 0 <= time <= LATEST


@derive(
    kinds=(Kind.SENT, Kind.ARRIVED),
    at=Role.HOST,
    adjustment=PerNode(0),
    concluded=PerNode(0),
    begun=PerNode(0),
    number_now=PerNode(0),
    begun_ns=PerNode(-1),
    asked=PerNode(0),
    answered=PerNode(0),
    least=PerNode(0),
    asked_in=PerPair(0),
    answered_in=PerPair(0),
)
def adjustments(
    kind: int,
    clock_ns: int,
    node: int,
    sender: int,
    receiver: int,
    number: int,
    digest: int,
    packet: int,
    timestamp: int,
    adjustment_interval_ns: int,
    node_count: int,
    adjustment: State,
    concluded: State,
    begun: State,
    number_now: State,
    begun_ns: State,
    asked: State,
    answered: State,
    least: State,
    asked_in: State,
    answered_in: State,
) -> None:
    """What each host adds to its clock: the least difference of its last round in which all answered that were asked.
    The difference is the returned maximum plus the round trip less the local time, that is, the maximum less the time
    of asking and less the time for which the answer was held, which is its digest.

    concluded, begun: rounds; number_now, begun_ns: of the round that goes on. asked, answered: how many, in that round.
    asked_in, answered_in: by asking and asked host, the last round, counted as `begun` does.
    """
    if adjustment_interval_ns == 0 or (packet != ADJUST and packet != ADJUSTED):
        return
    if kind == SENT:
        if packet != ADJUST or node != sender or not 0 <= receiver < node_count:
            return
        if begun[node] == 0 or number != number_now[node]:
            begun[node] += 1
            number_now[node], begun_ns[node] = number, clock_ns
            asked[node], answered[node] = 0, 0
        pair = node * node_count + receiver
        if asked_in[pair] != begun[node]:
            asked_in[pair] = begun[node]
            asked[node] += 1
        return
    if packet != ADJUSTED or node != receiver or not 0 <= sender < node_count or begun[node] == 0:
        return
    pair = node * node_count + sender
    if number != number_now[node] or asked_in[pair] != begun[node] or answered_in[pair] == begun[node]:
        return
    if not (is_time(timestamp) and is_time(digest) and is_time(begun_ns[node])):
        return
    answered_in[pair] = begun[node]
    difference = timestamp - begun_ns[node] - digest
    if answered[node] == 0 or difference < least[node]:
        least[node] = difference
    answered[node] += 1
    if answered[node] == asked[node]:
        adjustment[node] = least[node]
        concluded[node] += 1
