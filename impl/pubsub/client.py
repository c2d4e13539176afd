"""A client: publishes and subscribes. It asks its appliance, asks again where no answer comes, and gives up after some
tries: then nobody knows whether the call took effect. What comes for it is delivered at once.

Clauses: PS-ROUTE, PS-ORDER, PS-QOS-LEVEL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scatterproof.impl.pubsub.rules import Rules
from scatterproof.impl.pubsub.streams import Stream
from scatterproof.spec.core import (
    Called,
    ClientEffect,
    ClientEvent,
    Deliver,
    LocalProtocolError,
    NodeConfig,
    Outcome,
    PacketArrived,
    Parameter,
    Refuse,
    Return,
    Send,
    TimerFired,
)
from scatterproof.spec.parameters import Parameters
from scatterproof.spec.pubsub.messages import GIVEN, LEVELS, Delivery, Packet, PacketName
from scatterproof.spec.trace import ABSENT

Effects = list[ClientEffect[Packet, Delivery]]


class Client:
    """asking: the request of the call that it is in; sent: how often it was sent."""

    def __init__(self, config: NodeConfig, rules: Rules) -> None:
        given = Parameters("pubsub", config.parameters, f"node {config.node}")
        self._retry_ns, self._tries = given.number("retry_ns"), given.number("tries")
        self._me, self._link = config.node, config.egress[0]
        self._stream = Stream(self._me, (self._link,), rules, self._retry_ns, given.number("resends"))
        self._topics, self._filters = (str(given[name]).count("\n") + 1 for name in ("topics", "filters"))
        self._asking: Packet | None = None
        self._sent = 0
        self._deadline: int | None = None

    def handle(self, event: ClientEvent[Packet]) -> Sequence[ClientEffect[Packet, Delivery]]:
        match event:
            case Called():
                if self._asking is not None:
                    raise LocalProtocolError(f"client {self._me} is in a call; it calls again when that is over")
                self._asking, self._sent = self._request(event), 0
                return self._ask(event.now)
            case PacketArrived():
                return self._take(event)
            case TimerFired() if self._deadline is not None and event.now >= self._deadline:
                return self._ask(event.now) if self._sent < self._tries else self._return(Outcome.UNKNOWN)
        return []

    def next_deadline(self) -> int | None:
        return self._deadline

    def _request(self, event: Called) -> Packet:
        names = GIVEN[event.call]
        topic, filter_, level = (
            number_of(event.arguments, name, usual) if name in names else ABSENT
            for name, usual in (("topic", 1), ("filter", 1), ("level", 0))
        )
        if topic not in (ABSENT, *range(1, self._topics + 1)) or filter_ not in (ABSENT, *range(1, self._filters + 1)):
            raise LocalProtocolError(f"topic {topic} or filter {filter_} is not there; name one by its place, from 1")
        if level not in (ABSENT, *LEVELS):
            raise LocalProtocolError(f"level {level} is not there; give 0, 1 or 2")
        return Packet(
            PacketName.REQUEST,
            self._me,
            self._me,
            event.operation,
            event.call,
            topic=topic,
            filter=filter_,
            level=level,
            payload=event.payload,
        )

    def _ask(self, now: int) -> Effects:
        assert self._asking is not None
        self._sent += 1
        self._deadline = now + self._retry_ns
        return [Send(self._link, self._asking)]

    def _take(self, event: PacketArrived[Packet]) -> Effects:
        packet = event.packet
        if packet.is_answer and packet.sender == self._me:
            if self._asking is None or packet.number != self._asking.number:
                return []  # to a call that is over
            return self._return(Outcome(packet.outcome))
        if packet.kind != PacketName.MESSAGE or packet.topic < 1 or packet.level not in LEVELS:
            return [Refuse(event.link, f"a {packet.kind} is not for client {self._me}")]
        fits, said = self._stream.take(packet)
        got = Delivery(packet.sender, packet.number, packet.topic, packet.level, packet.again, packet.payload)
        return [Deliver(got), *said] if fits else [*said]

    def _return(self, outcome: Outcome) -> Effects:
        assert self._asking is not None
        operation = self._asking.number
        self._asking = self._deadline = None
        return [Return(operation, outcome)]


def number_of(arguments: Mapping[str, Parameter], name: str, usual: int) -> int:
    """LocalProtocolError for a word."""
    found = arguments.get(name, usual)
    if not isinstance(found, int):
        raise LocalProtocolError(f"argument {name} is {found!r}; give a number")
    return found
