"""A client: a sender or a worker. It asks the store, asks again where no answer comes, and gives up after some tries:
then nobody knows whether the call took effect (Q-CALL-ONCE).

It has one group in hand, and one message: spec/workqueue/trace.toml says which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from scatterproof.spec.core import (
    Called,
    ClientEffect,
    ClientEvent,
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
from scatterproof.spec.trace import ABSENT
from scatterproof.spec.workqueue.messages import ABOUT_GROUPS, COLUMNS, GIVEN, LEASED, NONE, CallName, Handed, Packet

_TAKES = (CallName.OPEN_GROUP, CallName.NEXT_GROUP)
_RESULTS = (*COLUMNS, "sender", "number")


class Client:
    """asking: the request of the call that it is in; sent: how often it was sent. group, token, message: in hand."""

    def __init__(self, config: NodeConfig) -> None:
        parameters = Parameters("workqueue", config.parameters, f"node {config.node}")
        self._retry_ns, self._tries = parameters.number("retry_ns"), parameters.number("tries")
        self._me, self._link = config.node, config.egress[0]
        self._asking: Packet | None = None
        self._sent = 0
        self._deadline: int | None = None
        self._group = self._token = self._message = NONE

    def handle(self, event: ClientEvent[Packet]) -> Sequence[ClientEffect[Packet, Handed]]:
        match event:
            case Called():
                if self._asking is not None:
                    raise LocalProtocolError(f"client {self._me} is in a call; it calls again when that is over")
                return self._call(event)
            case PacketArrived():
                return self._take(event)
            case TimerFired() if self._deadline is not None and event.now >= self._deadline:
                return self._ask(event.now) if self._sent < self._tries else self._return(None)
        return []

    def next_deadline(self) -> int | None:
        return self._deadline

    def _call(self, event: Called) -> list[ClientEffect[Packet, Handed]]:
        if event.call in LEASED:
            raise LocalProtocolError(f"{event.call} is a call of a queue with leases; set leased to 1 for it")
        self._asking, self._sent = self._request(event), 0
        if event.call in ABOUT_GROUPS and self._asking.group == NONE:  # it has none: there is nothing to ask
            return self._return(replace(self._asking, outcome=int(Outcome.REFUSED)))
        return self._ask(event.now)

    def _request(self, event: Called) -> Packet:
        plain = Packet(self._me, event.operation, event.call)
        if event.call in GIVEN:
            given = {name: number_of(event.arguments, name, usual) for name, usual in GIVEN[event.call].items()}
            return replace(plain, **given)
        group = number_of(event.arguments, "group", self._group)
        token = number_of(event.arguments, "token", self._token)
        if event.call == CallName.POP_MESSAGE:
            message = number_of(event.arguments, "message", self._message)
            return replace(plain, group=group, token=token, message=message)
        return replace(plain, group=group, token=token, payload=event.payload)

    def _take(self, event: PacketArrived[Packet]) -> list[ClientEffect[Packet, Handed]]:
        answer = event.packet
        if not answer.is_answer or answer.client != self._me:
            return [Refuse(event.link, f"call {answer.operation} of {answer.client}: no answer for {self._me}")]
        if self._asking is None or answer.operation != self._asking.operation:
            return []  # to a call that is over
        return self._return(answer)

    def _ask(self, now: int) -> list[ClientEffect[Packet, Handed]]:
        assert self._asking is not None
        self._sent += 1
        self._deadline = now + self._retry_ns
        return [Send(self._link, self._asking)]

    def _return(self, answer: Packet | None) -> list[ClientEffect[Packet, Handed]]:
        """answer: None where the call is given up."""
        assert self._asking is not None
        told = answer or self._asking
        outcome = Outcome.UNKNOWN if answer is None else Outcome(answer.outcome)
        if outcome is Outcome.OK:
            self._have(told)
        self._asking = self._deadline = None
        results: dict[str, Parameter] = {name: value for name in _RESULTS if (value := getattr(told, name)) != ABSENT}
        return [Return(told.operation, outcome, results, told.payload if outcome is Outcome.OK else b"")]

    def _have(self, answer: Packet) -> None:
        if answer.call in _TAKES:
            self._group, self._token, self._message = answer.group, max(NONE, answer.token), NONE
        elif answer.call == CallName.READ_MESSAGE:
            self._message = answer.message


def number_of(arguments: Mapping[str, Parameter], name: str, usual: int) -> int:
    """LocalProtocolError for a word."""
    found = arguments.get(name, usual)
    if not isinstance(found, int):
        raise LocalProtocolError(f"argument {name} is {found!r}; give a number")
    return found
