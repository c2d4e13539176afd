"""What clients and appliances put on links, and what is delivered (clauses.toml, trace.toml and RULES.md say what they
do)."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from scatterproof.spec.core import Outcome
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import ABSENT


class CallName(StrEnum):
    """The calls, as [calls] of trace.toml has them."""

    PUBLISH = "publish"
    SUBSCRIBE = "subscribe"
    UNSUBSCRIBE = "unsubscribe"
    CONNECT = "connect"
    DISCONNECT = "disconnect"
    ACKNOWLEDGE = "acknowledge"


class PacketName(StrEnum):
    """What a packet is, as [packets] of trace.toml has it.

    request, answer: of a client's call.
    want, drop: an appliance wants what a filter matches, or does so no more; had: all beyond know that it does.
    message: one on its way; ack: what came with a serial number.
    probe: one of a link, where there are several between two appliances; echo: the answer to it, on the same link.
    """

    REQUEST = "request"
    ANSWER = "answer"
    WANT = "want"
    DROP = "drop"
    HAD = "had"
    MESSAGE = "message"
    ACK = "ack"
    PROBE = "probe"
    ECHO = "echo"


class Packet(msgspec.Struct, frozen=True, gc=False):
    """One on a link.

    hop: the node that put it on the link.
    sender, number: the client whose call a request or answer is of, and the number of the call; the client that
        published a message, and the number of that call. number of a probe or echo: of the probe, from 1.
    outcome: of an answer, ok or refused.
    serial: among what its sender puts on the link until it is acknowledged, from 1; 0 for what is sent once. Of an ack:
        up to which all have come. Of a probe or echo: the place of its link among those between the two, from 1.
    again: whether a message may have come before.
    The rest: columns of trace.toml, -1 where there is none.
    """

    kind: str
    hop: NodeId
    sender: NodeId = ABSENT
    number: int = ABSENT
    call: str = ""
    outcome: int = 0
    topic: int = ABSENT
    filter: int = ABSENT
    level: int = ABSENT
    serial: int = 0
    again: bool = False
    payload: bytes = b""

    @property
    def is_answer(self) -> bool:
        return self.kind == PacketName.ANSWER and self.outcome in (Outcome.OK, Outcome.REFUSED)


class Delivery(msgspec.Struct, frozen=True, gc=False):
    """A message as a subscriber gets it; level: at which it is delivered. again: whether it may have come before.
    retain: whether it is marked as one that was kept."""

    sender: NodeId
    number: int
    topic: int
    level: int
    again: bool
    payload: bytes
    retain: bool = False


LEVELS = range(3)
"""Best effort, at least once, exactly once."""
GIVEN: dict[str, tuple[str, ...]] = {
    CallName.PUBLISH: ("topic", "level", "retain", "expiry_ns"),
    CallName.SUBSCRIBE: ("filter", "level", "group"),
    CallName.UNSUBSCRIBE: ("filter",),
    CallName.CONNECT: ("session",),
    CallName.DISCONNECT: (),
    CallName.ACKNOWLEDGE: (),
}
"""The arguments of each call. A topic or filter that is left out is the first, all else 0."""
