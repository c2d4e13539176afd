"""Which action of TraceOrder.tla or TraceLoss.tla a row is (spec/totalorder/TraceColumns.tla says the same in TLA+).

Rows of failures, which those modules do not describe, are no action, and no pair goes over them. A second arrival of
one message is told apart under loss alone, as there.
"""

from __future__ import annotations

from conformance.checks.step import SILENT, Bins, Cell, Ints, Outcome, PerLink, State, Table, TableState, check
from conformance.checks.tables import find, put, remove
from conformance.measures import Actions
from spec.totalorder.messages import PacketKind
from spec.trace import ABSENT, Kind, Order

NAMES = (
    "Submit", "Scatter", "HostBeacon", "TakeData", "ForwardData", "TakeBeacon", "SwitchBeacon", "Arrive",
    "ArriveBeacon", "Deliver", "Lose", "Settle", "Stop",
    "Resend", "Acknowledge", "Adjust", "TakeControl", "ForwardControl", "ArriveControl", "ArriveDuplicate",
    "ArriveAgain", "Refuse", "Stray",
)  # fmt: skip
REGULAR = NAMES.index("ArriveAgain")  # those before it are taken where nobody breaks a rule
COUNT = len(NAMES)
(
    SUBMIT, SCATTER, HOST_BEACON, TAKE_DATA, FORWARD_DATA, TAKE_BEACON, SWITCH_BEACON, ARRIVE, ARRIVE_BEACON, DELIVER,
    LOSE, SETTLE, STOP, RESEND, ACKNOWLEDGE, ADJUST, TAKE_CONTROL, FORWARD_CONTROL, ARRIVE_CONTROL, ARRIVE_DUPLICATE,
    ARRIVE_AGAIN, REFUSE, STRAY,
) = range(COUNT)  # fmt: skip
NONE = -1
SUBMITTED, SENT, ARRIVED, DELIVERED, REFUSED, LOST, ENDED, CRASHED, RESTARTED = (
    int(kind)
    for kind in (
        *(Kind.SUBMITTED, Kind.SENT, Kind.ARRIVED, Kind.DELIVERED, Kind.REFUSED, Kind.LOST, Kind.ENDED),
        *(Kind.CRASHED, Kind.RESTARTED),
    )
)
DATA, BEACON, ACK = int(PacketKind.DATA), int(PacketKind.BEACON), int(PacketKind.ACK)
ADJUST_1, ADJUST_2 = int(PacketKind.ADJUST), int(PacketKind.ADJUSTED)


@check(
    "ACTIONS",
    kinds=tuple(Kind),
    order=Order.LINK,
    ways=(),
    taken=Bins(COUNT),
    pairs=Bins(COUNT * COUNT),
    latest=Cell(NONE),
    expected=PerLink(0),
    missing=Table(5, 1),
)
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
    node_is_host: Ints,
    taken: State,
    pairs: State,
    latest: State,
    expected: State,
    missing: TableState,
) -> Outcome:
    """expected: by link, the number of the packet that comes next. missing: messages that were sent and have not
    come."""
    action = NONE
    control = packet in (ACK, ADJUST_1, ADJUST_2)
    resent = packet == DATA and flags == 1
    known = packet in (ABSENT, DATA, BEACON)
    known = known or (packet == ACK and loses > 0) or (packet != ACK and control and adjustment_interval_ns > 0)
    key = (sender, receiver, number, digest, timestamp)
    if kind in (CRASHED, RESTARTED):
        action = NONE
    elif not known:
        action = STRAY
    elif kind == SUBMITTED:
        action = SUBMIT
    elif kind == DELIVERED:
        action = DELIVER
    elif kind == REFUSED:
        action = REFUSE
    elif kind == LOST:
        action = LOSE
    elif kind == ENDED:
        action = SETTLE if flags > 0 and flags & 3 == 3 else STOP
    elif kind == SENT and node_is_host[node]:
        if packet == BEACON:
            action = HOST_BEACON
        elif packet == ACK:
            action = ACKNOWLEDGE
        elif control:
            action = ADJUST
        else:
            action = RESEND if resent else SCATTER
            if loses and action == SCATTER:
                put(missing, key, (1,))
    elif kind == SENT:
        action = SWITCH_BEACON if packet == BEACON else FORWARD_CONTROL if control else FORWARD_DATA
    elif kind == ARRIVED:
        if link_seq < expected[link]:
            action = ARRIVE_AGAIN
        elif not node_is_host[node]:
            action = TAKE_BEACON if packet == BEACON else TAKE_CONTROL if control else TAKE_DATA
        elif packet == BEACON or control:
            action = ARRIVE_BEACON if packet == BEACON else ARRIVE_CONTROL
        else:
            action = ARRIVE
            if loses:
                slot = find(missing, key)
                if slot < 0:
                    action = ARRIVE_DUPLICATE
                else:
                    remove(missing, slot)
        if action != ARRIVE_AGAIN:
            expected[link] = link_seq
            expected[link] += 1
    if action != NONE:
        taken[action] += 1
        if latest[0] != NONE:
            pairs[latest[0] * COUNT + action] += 1
    latest[0] = action
    return SILENT


ACTIONS = Actions(names=NAMES, regular=REGULAR, check=actions)
