"""What the checks of timestamp adjustment share: the adjustment in force at each host, computed again from the messages
of its rounds."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import SENT
from scatterproof.conformance.checks.step import PerNode, PerPair, State, derive
from scatterproof.conformance.totalorder.packets import is_node
from scatterproof.conformance.totalorder.rows import Net, Row
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import PacketKind
from scatterproof.spec.trace import Kind

ADJUST, ADJUSTED = int(PacketKind.ADJUST), int(PacketKind.ADJUSTED)
GREATEST = (1 << 63) - 1
# Times of adjustment above this, in ns, are absurd; sums of a few below it do not wrap.
LATEST = 1 << 61


@register_jitable
def adjusted(clock: int, adjustment: int) -> int:
    """clock + adjustment, held at the greatest of 64 bits. No clock that is known is below 0."""
    return GREATEST if adjustment > 0 and clock > GREATEST - adjustment else clock + adjustment


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
    row: Row,
    net: Net,
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
    """What each host adds to its clock: the least difference of the last round in which all that were asked answered.
    The difference is the returned maximum plus the round trip less the local time. That is the maximum, less the time
    of asking, less the time for which the answer was held (its digest).

    By host; times in ns:
    adjustment: what it adds.
    concluded, begun: how many rounds were whole, and how many began.
    number_now, begun_ns: number and beginning of the present round, on the local clock.
    asked, answered: how many hosts were asked in it, and answered.
    least: the least difference in it.
    asked_in, answered_in: by asking and asked host, the last such round, counted as `begun` does.
    """
    if net.adjustment_interval_ns == 0:
        return
    if row.kind == SENT:
        if row.packet != ADJUST or row.node != row.sender or not is_node(row.receiver, net):
            return
        if begun[row.node] == 0 or row.number != number_now[row.node]:
            begun[row.node] += 1
            number_now[row.node], begun_ns[row.node] = row.number, row.clock_ns
            asked[row.node], answered[row.node] = 0, 0
        pair = row.node * net.node_count + row.receiver
        if asked_in[pair] != begun[row.node]:
            asked_in[pair] = begun[row.node]
            asked[row.node] += 1
        return
    if row.packet != ADJUSTED or row.node != row.receiver or not is_node(row.sender, net):
        return
    pair = row.node * net.node_count + row.sender
    if row.number != number_now[row.node] or asked_in[pair] != begun[row.node] or answered_in[pair] == begun[row.node]:
        return
    if not (is_time(row.timestamp) and is_time(row.digest) and is_time(begun_ns[row.node])):
        return
    answered_in[pair] = begun[row.node]
    difference = row.timestamp - begun_ns[row.node] - row.digest
    if answered[row.node] == 0 or difference < least[row.node]:
        least[row.node] = difference
    answered[row.node] += 1
    if answered[row.node] == asked[row.node]:
        adjustment[row.node] = least[row.node]
        concluded[row.node] += 1
