"""Which action of TraceBroadcast.tla a row is (spec/broadcast/modules/TraceColumns.tla says the same in TLA+)."""

from __future__ import annotations

from scatterproof.conformance.broadcast.packets import has_come, note_arrived
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
from scatterproof.conformance.kinds import ARRIVED, BEGUN, ENDED, SENT
from scatterproof.conformance.measures import NO_ACTION, Actions, by_kind, count_action
from scatterproof.spec.broadcast.messages import PacketKind
from scatterproof.spec.trace import Kind, Order

NAMES = (
    "Submit", "Begin", "Send", "Forward", "Resend", "Answer", "Receive", "ReceiveAgain", "Acknowledge", "Deliver",
    "Lose", "Crash", "Pause", "Resume", "Settle", "Stop",
    "Refuse", "Stray",
)  # fmt: skip
REGULAR = NAMES.index("Refuse")  # those before it are taken where nobody breaks a rule
COUNT = len(NAMES)
ALONE = by_kind(NAMES)
(
    SUBMIT, BEGIN, SEND, FORWARD, RESEND, ANSWER, RECEIVE, RECEIVE_AGAIN, ACKNOWLEDGE, DELIVER, LOSE, CRASH, PAUSE,
    RESUME, SETTLE, STOP, REFUSE, STRAY,
) = range(COUNT)  # fmt: skip
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
        action = BEGIN if is_run else STRAY
    elif kind == SENT:
        if data:
            action = RESEND if flags == 1 else SEND if sender == node else FORWARD
        else:
            action = ANSWER if packet == ACK else STRAY
    elif kind == ARRIVED:
        if data:
            action = RECEIVE_AGAIN if has_come(arrived, arrived_beyond, link, pseq) else RECEIVE
            note_arrived(arrived, arrived_beyond, link, pseq)
        else:
            action = ACKNOWLEDGE if packet == ACK else STRAY
    elif kind == ENDED:
        action = SETTLE if settled(flags) else STOP
    count_action(action, taken, pairs, latest)
    return SILENT


ACTIONS = Actions(names=NAMES, regular=REGULAR, check=actions)
