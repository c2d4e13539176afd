"""Which action of TraceBroadcast.tla a row is (spec/broadcast/modules/TraceColumns.tla says the same in TLA+)."""

from __future__ import annotations

from scatterproof.conformance.broadcast.prefixes import BEYOND, enter, is_in
from scatterproof.conformance.broadcast.rows import ACK, DATA, Net, Row, well_formed
from scatterproof.conformance.checks.kinds import ARRIVED, BEGUN, ENDED, SENT
from scatterproof.conformance.checks.step import Outcome, PerLink, State, TableState, settled
from scatterproof.conformance.measures import Counted, actions_of, by_kind, count_action
from scatterproof.spec.broadcast.messages import REGULAR, Action

NAMES = tuple(Action.__members__)
ALONE = by_kind(NAMES)


@actions_of(NAMES, len(REGULAR), derived=(well_formed,), arrived=PerLink(0), arrived_beyond=BEYOND)
def actions(row: Row, net: Net, counted: Counted, arrived: State, arrived_beyond: TableState) -> Outcome:
    """arrived, arrived_beyond: the numbers of data packets that have come over each link."""
    action = ALONE[row.kind]
    is_run = 0 <= row.sender < net.node_count and row.number >= 1 and row.count >= 1
    data = row.packet == DATA and is_run and row.pseq >= 1
    if row.kind == BEGUN:
        action = Action.Begin if is_run else Action.Stray
    elif row.kind == SENT:
        if data:
            action = Action.Resend if row.flags == 1 else Action.Send if row.sender == row.node else Action.Forward
        else:
            action = Action.Answer if row.packet == ACK else Action.Stray
    elif row.kind == ARRIVED:
        if data:
            action = Action.ReceiveAgain
            if not is_in(arrived, arrived_beyond, row.link, row.pseq):
                enter(arrived, arrived_beyond, row.link, row.pseq, row.position)
                action = Action.Receive
        else:
            action = Action.Acknowledge if row.packet == ACK else Action.Stray
    elif row.kind == ENDED:
        action = Action.Settle if settled(row.flags) else Action.Stop
    return count_action(action, counted)
