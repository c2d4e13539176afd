"""Which action of TraceOrder.tla, TraceLoss.tla or TraceFailures.tla a row is.

As in these modules, a second arrival of a message is an action of its own under loss alone, and where nodes fail no
packet arrives again.
"""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.kinds import ARRIVED, ENDED, SENT
from scatterproof.conformance.checks.step import Ints, Outcome, PerLink, State, Table, TableState, settled
from scatterproof.conformance.checks.tables import find, put, remove
from scatterproof.conformance.measures import Counted, actions_of, by_kind, count_action
from scatterproof.spec.totalorder.messages import REGULAR, Action, PacketKind
from scatterproof.spec.trace import ABSENT

NAMES = tuple(Action.__members__)
ALONE = by_kind(NAMES)
DATA, BEACON = int(PacketKind.DATA), int(PacketKind.BEACON)
ACK, NOTICE = int(PacketKind.ACK), int(PacketKind.NOTICE)
ADJUST_1, ADJUST_2 = int(PacketKind.ADJUST), int(PacketKind.ADJUSTED)


@register_jitable
def is_control(packet: int) -> bool:
    return packet in (ACK, ADJUST_1, ADJUST_2)


@register_jitable
def is_known(packet: int, loses: int, adjustment_interval_ns: int) -> bool:
    """Whether there are such packets in the run's environment."""
    if is_control(packet):
        return loses > 0 if packet == ACK else adjustment_interval_ns > 0
    return packet in (ABSENT, DATA, BEACON)


@register_jitable
def sent_action(host: bool, packet: int, flags: int) -> int:
    if host:
        if packet == BEACON:
            return Action.HostBeacon
        if is_control(packet):
            return Action.Acknowledge if packet == ACK else Action.Adjust
        return Action.Resend if packet == DATA and flags & 1 else Action.Scatter
    if packet == BEACON:
        return Action.SwitchBeacon
    return Action.ForwardControl if is_control(packet) else Action.ForwardData


@register_jitable
def arrived_action(host: bool, packet: int) -> int:
    if packet == BEACON:
        return Action.ArriveBeacon if host else Action.TakeBeacon
    if is_control(packet):
        return Action.ArriveControl if host else Action.TakeControl
    return Action.Arrive if host else Action.TakeData


@actions_of(NAMES, len(REGULAR), expected=PerLink(0), missing=Table(5, 1))
def actions(
    kind: int,
    node: int,
    link: int,
    link_seq: int,
    sender: int,
    receiver: int,
    number: int,
    digest: int,
    flags: int,
    packet: int,
    timestamp: int,
    loses: int,
    adjustment_interval_ns: int,
    failure_timeout_ns: int,
    node_is_host: Ints,
    counted: Counted,
    expected: State,
    missing: TableState,
) -> Outcome:
    """Count the row as the action that it is.

    expected: by link, the number of the packet that comes next.
    missing: messages that were sent and have not come.
    """
    action = ALONE[kind]
    host = node_is_host[node] == 1 if kind in (SENT, ARRIVED) else False
    key = (sender, receiver, number, digest, timestamp)
    tells = loses > 0 and failure_timeout_ns == 0
    if packet == NOTICE and failure_timeout_ns > 0 and kind in (SENT, ARRIVED):
        action = Action.Tell if kind == SENT else Action.ArriveControl
    elif not is_known(packet, loses, adjustment_interval_ns):
        action = Action.Stray
    elif kind == SENT:
        action = sent_action(host, packet, flags)
        if tells and action == Action.Scatter:
            put(missing, key, (1,))
    elif kind == ARRIVED and failure_timeout_ns == 0 and link_seq < expected[link]:
        action = Action.ArriveAgain
    elif kind == ARRIVED:
        action = arrived_action(host, packet)
        expected[link] = link_seq
        expected[link] += 1
        if tells and action == Action.Arrive:
            slot = find(missing, key)
            if slot < 0:
                action = Action.ArriveDuplicate
            else:
                remove(missing, slot)
    elif kind == ENDED:
        action = Action.Settle if settled(flags) else Action.Stop
    return count_action(action, counted)
