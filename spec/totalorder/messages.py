"""Packets and deliveries of the total-order protocol, as cores and judges exchange them.

The wire layout of a packet is `wire.toml`; each side has a codec of its own for it.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum

import msgspec

from scatterproof.spec.topology import NodeId

NOT_SPOKEN = 0  # the barrier of a link before anything came over it: promises nothing
NO_BARRIER = -1  # a packet that carries no barrier (data in environment B), or no ack barrier
NO_LOSS = 0  # the loss record of a packet or link without loss
# A notice with the number of a message recalls it. With this bit set in the number, it answers a notice or a recall.
ANSWER = 1 << 62


class PacketKind(IntEnum):
    """Beacons go over one link. HANDED and RETURNED go between a switch and its proxy host, over the links that
    parameter `proxies` names. All others go from host to host, and switches forward them alike."""

    DATA = 1
    BEACON = 2
    ACK = 3  # sender has all messages of receiver up to number
    ADJUST = 4  # the first message of timestamp adjustment: timestamp is the sender's clock, number the round
    ADJUSTED = 5  # the second one: timestamp is the returned maximum, payload how long the first was held
    NOTICE = 6  # number 0: sender has failed, its messages at or above timestamp are delivered nowhere; see ANSWER
    HANDED = 7  # a switch's beacon on its way to the proxy host (TO-SW-6): payload, from ingress link number of sender
    RETURNED = 8  # a proxy host's beacon on its way back to the switch: payload, for egress link number of receiver


class Environment(StrEnum):
    """What carries barriers. Without loss: A data messages, B beacons at an interval, C data messages, and beacons
    when idle. Under loss (environment D), by message structure:

        data message          beacon                          second beacon
    D5  barrier, ack barrier  none
    D6  barrier               ack barrier
    D7  -                     barrier                         ack barrier
    D8  -                     barrier, ack barrier
    D9  barrier, ack barrier  barrier, ack barrier, when idle
    """

    A = "A"
    B = "B"
    C = "C"
    D5 = "D5"
    D6 = "D6"
    D7 = "D7"
    D8 = "D8"
    D9 = "D9"

    @property
    def loses(self) -> bool:
        """Whether links may lose packets: packets carry a loss record then, and what is greatest."""
        return self not in WITHOUT_LOSS

    @property
    def data_carry_barriers(self) -> bool:
        return self in _BARRIER_ON_DATA

    @property
    def data_carry_ack_barriers(self) -> bool:
        return self in _ACK_BARRIER_ON_DATA

    @property
    def beacons(self) -> tuple[tuple[bool, bool], ...]:
        """For each kind of beacon, whether it carries the barrier, and whether the ack barrier."""
        return _BEACONS[self]

    @property
    def beacons_when_idle(self) -> bool:
        """Whether a beacon leaves a link only when no data message did for the interval."""
        return self in (Environment.C, Environment.D9)


WITHOUT_LOSS = (Environment.A, Environment.B, Environment.C)
_BARRIER_ON_DATA = frozenset({Environment.A, Environment.C, Environment.D5, Environment.D6, Environment.D9})
_ACK_BARRIER_ON_DATA = frozenset({Environment.D5, Environment.D9})
_BEACONS = {
    Environment.A: (),
    Environment.B: ((True, False),),
    Environment.C: ((True, False),),
    Environment.D5: (),
    Environment.D6: ((False, True),),
    Environment.D7: ((True, False), (False, True)),
    Environment.D8: ((True, True),),
    Environment.D9: ((True, True),),
}


class Packet(msgspec.Struct, frozen=True, gc=False):
    """One packet on one link. Times in ns. On beacons receiver, number and timestamp are 0, payload is empty and sender
    is the node that made the beacon (TO-BEACON: each hop makes its own).

    loss_record: no message lost on the way to this link, and not made good, is strictly above it.
    greatest: nor was any message put on this link earlier.
    resent: a data message that was put on its first link before.
    incarnation: how often the node that put the packet on this link had begun anew.
    """

    kind: int
    sender: NodeId
    receiver: NodeId
    number: int
    link_seq: int
    timestamp: int
    barrier: int
    payload: bytes
    ack_barrier: int = NO_BARRIER
    loss_record: int = NO_LOSS
    greatest: int = NOT_SPOKEN
    resent: bool = False
    incarnation: int = 0


class Delivery(msgspec.Struct, frozen=True, gc=False):
    """A message as the application gets it. number counts the messages of this sender and receiver, from 1."""

    sender: NodeId
    number: int
    timestamp: int
    payload: bytes


# What a row is in the modules for traces: the actions that are taken where nobody breaks a rule, then the others.
Action = IntEnum(
    "Action",
    "Submit Scatter HostBeacon TakeData ForwardData TakeBeacon SwitchBeacon Arrive ArriveBeacon Deliver Lose "
    "Settle Stop Resend Acknowledge Adjust TakeControl ForwardControl ArriveControl ArriveDuplicate Crash "
    "Restart Tell ArriveAgain Refuse Stray",
    start=0,
)
REGULAR = tuple(Action.__members__)[: Action.ArriveAgain]
