"""Which ingress links a switch may have given up (TO-FAIL), and the registers of all others.

A trace does not show which links a switch has given up, but which it may have: a link that was silent for the failure
time-out on the switch's clock, or over which a host spoke that has begun anew (TO-RESTART). Such a link may count as it
did then, as it does now, or not at all. All others count as if nothing ever failed.
"""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import ARRIVED, CRASHED, SENT
from scatterproof.conformance.checks.step import Ints, PerLink, PerNode, State, derive, elapsed
from scatterproof.conformance.totalorder.ingress_barriers import told_barrier
from scatterproof.conformance.totalorder.rows import Net, Row
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import NO_BARRIER, NO_LOSS, NOT_SPOKEN
from scatterproof.spec.trace import ABSENT, Kind

NOT_HEARD = -1


@derive(
    kinds=(Kind.SENT, Kind.ARRIVED, Kind.RESTARTED),
    at=Role.SWITCH,
    live=PerLink(1),
    suspect=PerLink(0),
    heard_ns=PerLink(NOT_HEARD),
    begun_ns=PerNode(0),
    low_barrier=PerLink(NOT_SPOKEN),
    low_ack=PerLink(NOT_SPOKEN),
)
def silences(
    row: Row,
    net: Net,
    live: State,
    suspect: State,
    heard_ns: State,
    begun_ns: State,
    low_barrier: State,
    low_ack: State,
) -> None:
    """By ingress link; times in ns:

    live: whether the switch, which sends in this row, cannot have given the link up.
    low_barrier, low_ack: the greatest barrier and ack barrier that came until it may have been given up.
    suspect: whether it may have been given up by the time of its last packet.
    heard_ns: when that packet came, on the local clock.
    begun_ns: by node, when it began, in true time.
    """
    if not net.failure_timeout_ns or net.node_is_host[row.node]:
        return
    if row.kind == ARRIVED:
        from_host = net.node_is_host[net.link_source[row.link]]
        silent = is_silent(heard_ns[row.link], begun_ns[row.node], row.time_ns, row.clock_ns, net.failure_timeout_ns)
        if silent or (from_host and row.flags > 1):
            suspect[row.link] = 1
        heard_ns[row.link] = row.clock_ns
        if suspect[row.link]:
            return
        low_barrier[row.link] = max(low_barrier[row.link], told_barrier(row, net))
        low_ack[row.link] = max(low_ack[row.link], row.ack_barrier)
        return
    if row.kind != SENT:
        if row.link != ABSENT:
            return
        begun_ns[row.node] = row.time_ns
    for at in range(net.ingress_first[row.node], net.ingress_first[row.node + 1]):
        its = net.ingress_links[at]
        if row.kind != SENT:
            suspect[its], heard_ns[its] = 0, NOT_HEARD
            low_barrier[its], low_ack[its] = NOT_SPOKEN, NOT_SPOKEN
        elif suspect[its] or is_silent(
            heard_ns[its], begun_ns[row.node], row.time_ns, row.clock_ns, net.failure_timeout_ns
        ):
            live[its] = 0
        else:
            live[its] = 1


@register_jitable
def is_silent(heard: int, begun: int, time_ns: int, clock_ns: int, timeout: int) -> bool:
    """Whether a link may have been silent for the time-out, in ns. Where nothing was heard yet, or the clock is not
    known, true time since the node began decides: no clock runs twice as fast, so that half the time-out is enough."""
    if heard < 0 or clock_ns < 0:
        return elapsed(begun, time_ns, timeout // 2)
    return elapsed(heard, clock_ns, timeout)


@register_jitable
def live_lowest(newest: Ints, live: Ints, links: Ints, first: int, last: int) -> int:
    """The least of `newest` over those of links[first:last] that are live; NO_BARRIER for none."""
    lowest = NO_BARRIER
    for at in range(first, last):
        if live[links[at]] and (lowest == NO_BARRIER or newest[links[at]] < lowest):
            lowest = newest[links[at]]
    return lowest


@register_jitable
def live_highest(record: Ints, live: Ints, links: Ints, first: int, last: int) -> int:
    """The greatest of `record` over those of links[first:last] that are live; NO_LOSS for none."""
    highest = NO_LOSS
    for at in range(first, last):
        if live[links[at]]:
            highest = max(highest, record[links[at]])
    return highest


@derive(kinds=(Kind.SENT, Kind.CRASHED, Kind.ENDED), stopped=PerNode(0), spoke_ns=PerNode(0))
def stoppages(row: Row, net: Net, stopped: State, spoke_ns: State) -> None:
    """Which nodes have stopped: they crashed or, where failures are handled, sent nothing for the time-out before the
    end (TO-FAIL).

    stopped: by node, whether it has.
    spoke_ns: by node, when it sent last, in ns of true time.
    """
    if row.kind == SENT:
        spoke_ns[row.node] = max(spoke_ns[row.node], row.time_ns)
    elif row.kind == CRASHED:
        stopped[row.node] = 1 if row.link == ABSENT else stopped[row.node]
    elif net.failure_timeout_ns > 0:
        for each in range(net.node_count):
            if elapsed(spoke_ns[each], row.time_ns, net.failure_timeout_ns):
                stopped[each] = 1
