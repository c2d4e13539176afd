"""Which action of TraceBroadcast.tla a row is (spec/broadcast/modules/TraceColumns.tla says the same in TLA+)."""

from __future__ import annotations

from scatterproof.conformance.broadcast.packets import has_come, note_arrived
from scatterproof.conformance.checks.kinds import ARRIVED, BEGUN, ENDED, SENT
from scatterproof.conformance.checks.step import (
    SILENT,
    Bins,
    Cell,
    Outcome,
    PerLink,
    State,
    Table,
    TableState,
    check,
    settled,
)
from scatterproof.conformance.measures import NO_ACTION, Actions, by_kind, count_action
from scatterproof.spec.broadcast.messages import REGULAR, Action, PacketKind
from scatterproof.spec.trace import Kind, Order

COUNT = len(Action)
ALONE = by_kind(tuple(Action.__members__))
DATA, ACK = int(PacketKind.DATA), int(PacketKind.ACK)


@check(
    "ACTIONS",
    kinds=tuple(Kind),
    order=Order.LINK,
    ways=(),
    taken=Bins(COUNT),
    pairs=Bins(COUNT * COUNT),
    latest=Cell(NO_ACTION),
    arrived=PerLink(0),
    arrived_beyond=Table(2, 2),
)
def actions(
    kind: int,
    node: int,
    link: int,
    sender: int,
    number: int,
    flags: int,
    packet: int,
    pseq: int,
    count: int,
    node_count: int,
    taken: State,
    pairs: State,
    latest: State,
    arrived: State,
    arrived_beyond: TableState,
) -> Outcome:
    """arrived, arrived_beyond: the numbers of data packets that have come over each link."""
    action = ALONE[kind]
    is_run = 0 <= sender < node_count and number >= 1 and count >= 1
    data = packet == DATA and is_run and pseq >= 1
    if kind == BEGUN:
        action = Action.Begin if is_run else Action.Stray
    elif kind == SENT:
        if data:
            action = Action.Resend if flags == 1 else Action.Send if sender == node else Action.Forward
        else:
            action = Action.Answer if packet == ACK else Action.Stray
    elif kind == ARRIVED:
        if data:
            action = Action.ReceiveAgain if has_come(arrived, arrived_beyond, link, pseq) else Action.Receive
            note_arrived(arrived, arrived_beyond, link, pseq)
        else:
            action = Action.Acknowledge if packet == ACK else Action.Stray
    elif kind == ENDED:
        action = Action.Settle if settled(flags) else Action.Stop
    count_action(action, taken, pairs, latest)
    return SILENT


ACTIONS = Actions(names=tuple(Action.__members__), regular=len(REGULAR), check=actions)
