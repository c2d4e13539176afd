"""A broker of this file, in memory: the sessions of MQTT in their plainest form, and mutants of it. What comes for a
client is sent at once and read when the driver reads; acknowledgements take effect at once."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from scatterproof.conformance.pubsub.products.driving import Deliver
from scatterproof.spec.core import Outcome
from scatterproof.spec.topology import NodeId


@dataclass(slots=True)
class Message:
    topic: str
    body: bytes
    level: int
    sent: bool = False


@dataclass(slots=True)
class Session:
    """queue: what waits, or was sent and is not acknowledged. wire: what was sent and is not read yet; read: what was
    read, and is not acknowledged, of this connection."""

    lasts: bool = False
    connected: bool = False
    stalled: bool = False
    filters: dict[str, int] = field(default_factory=dict)
    groups: dict[str, int] = field(default_factory=dict)
    queue: list[Message] = field(default_factory=list)
    wire: list[tuple[Message, bool]] = field(default_factory=list)
    read: list[Message] = field(default_factory=list)


class Toy:
    """One broker, of one run, as a port to it. marks: whether all is marked as kept."""

    marks = False

    def __init__(self, deliver: Deliver) -> None:
        self._deliver = deliver
        self._sessions: dict[NodeId, Session] = {}

    # ---------------------------------------------------------------- what mutants change

    def resumed(self, session: Session) -> list[tuple[Message, bool]]:
        """What a client that is back is sent at once, each with whether it is marked."""
        return [(one, one.sent) for one in session.queue]

    def kept_away(self, session: Session) -> None:
        """What becomes of a session whose client goes."""

    def accepts(self, session: Session, message: Message) -> bool:
        """Whether a message is for a session."""
        return session.connected or (session.lasts and message.level > 0)

    def members(self, found: list[Session]) -> list[Session]:
        """Which of those that share a subscription get a message: the one that has least to do."""
        return sorted(found, key=lambda one: (not one.connected, len(one.queue)))[:1]

    def acknowledged(self, session: Session, read: list[Message]) -> list[Message]:
        """What is left in the queue."""
        return [one for one in session.queue if not any(one is other for other in read)]

    def reads_again(self, message: Message) -> bool:
        """Whether a client that has read it delivers it when it comes again."""
        return message.level == 1

    def stored(self, session: Session) -> None:
        """What becomes of a session when the broker is killed."""

    # ---------------------------------------------------------------- the port

    def connect(self, node: NodeId, lasts: bool) -> Outcome:
        old = self._sessions.get(node)
        if old is not None and old.lasts and lasts:
            session = old
        else:
            session = self._sessions[node] = Session()
        session.lasts, session.connected, session.stalled = lasts, True, False
        had, session.read = session.read, []
        session.wire = [
            (one, again)
            for one, again in self.resumed(session)
            if self.reads_again(one) or not any(one is other for other in had)
        ]
        # What is not delivered again was read, and is acknowledged with the rest.
        session.read = [one for one in had if not any(one is other for other, _ in session.wire)]
        for one, _ in session.wire:
            one.sent = True
        return Outcome.OK

    def disconnect(self, node: NodeId) -> Outcome:
        self.drop(node)
        return Outcome.OK

    def drop(self, node: NodeId) -> None:
        session = self._sessions[node]
        session.connected, session.wire = False, []
        session.queue = [one for one in session.queue if one.level > 0]
        self.kept_away(session)

    def is_connected(self, node: NodeId) -> bool:
        return self._sessions[node].connected

    def publish(self, node: NodeId, topic: str, body: bytes, level: int, retain: bool, expiry_s: int) -> Outcome:
        everybody = list(self._sessions.values())
        shared = [one for one in everybody if any(_matches(filter_, topic) for filter_ in one.groups)]
        chosen = self.members([one for one in shared if self.accepts(one, Message(topic, body, level))])
        for session in everybody:
            listed = [
                granted
                for filter_, granted in session.filters.items()
                if _matches(filter_, topic) and (filter_ not in session.groups or session in chosen)
            ]
            message = Message(topic, body, min([level, *listed]))
            if listed and self.accepts(session, message):
                session.queue += [message] if message.level > 0 else []
                if session.connected:
                    session.wire.append((message, False))
                    message.sent = True
        return Outcome.OK

    def subscribe(self, node: NodeId, filter_: str, level: int, group: int) -> Outcome:
        self._sessions[node].filters[filter_] = level
        if group:
            self._sessions[node].groups[filter_] = group
        return Outcome.OK

    def unsubscribe(self, node: NodeId, filter_: str) -> Outcome:
        found = self._sessions[node].filters.pop(filter_, None)
        return Outcome.OK if found is not None else Outcome.REFUSED

    def has_unacknowledged(self, node: NodeId) -> bool:
        return bool(self._sessions[node].read)

    def acknowledge(self, node: NodeId) -> Outcome:
        session = self._sessions[node]
        session.queue, session.read = self.acknowledged(session, session.read), []
        return Outcome.OK

    def stall(self, node: NodeId, stalled: bool) -> None:
        if node in self._sessions:
            self._sessions[node].stalled = stalled

    def pump(self, quiet_s: float) -> None:
        for node, session in self._sessions.items():
            if not session.stalled:
                wire, session.wire = session.wire, []
                for message, again in wire:
                    session.read += [message] if message.level > 0 else []
                    self._deliver(node, message.topic, message.body, message.level, again, self.marks)

    def restart(self, node: NodeId) -> None:
        for node, session in self._sessions.items():
            self.drop(node)
            self.stored(session)

    def end(self) -> None:
        pass


def _matches(filter_: str, topic: str) -> bool:
    return re.fullmatch(re.escape(filter_).replace(r"\+", "[^/]*").replace(r"/\#", "(/.*)?"), topic) is not None


class ForgetsSubscriptions(Toy):
    def kept_away(self, session: Session) -> None:
        session.filters.clear()


class KeepsNothingWaiting(Toy):
    def accepts(self, session: Session, message: Message) -> bool:
        return session.connected


class ForgetsInFlight(Toy):
    def kept_away(self, session: Session) -> None:
        session.queue = [one for one in session.queue if not one.sent]


class MarksNothing(Toy):
    def resumed(self, session: Session) -> list[tuple[Message, bool]]:
        return [(one, False) for one in session.queue]


class SendsBackwards(Toy):
    def resumed(self, session: Session) -> list[tuple[Message, bool]]:
        return super().resumed(session)[::-1]


class SendsWaitingLate(Toy):
    """What waits is sent when the next message comes."""

    def resumed(self, session: Session) -> list[tuple[Message, bool]]:
        self._late = super().resumed(session)
        return []

    def publish(self, node: NodeId, topic: str, body: bytes, level: int, retain: bool, expiry_s: int) -> Outcome:
        outcome = super().publish(node, topic, body, level, retain, expiry_s)
        for session in self._sessions.values():
            late = [one for one in getattr(self, "_late", []) if any(one[0] is other for other in session.queue)]
            if session.connected and late:
                session.wire += late
                self._late = []
        return outcome


class ForgetsAcknowledgements(Toy):
    def acknowledged(self, session: Session, read: list[Message]) -> list[Message]:
        return session.queue


class TwiceAtLevel2(Toy):
    def reads_again(self, message: Message) -> bool:
        return True


class StoresNothing(Toy):
    def stored(self, session: Session) -> None:
        session.queue.clear()


class StoresNoSubscriptions(Toy):
    def stored(self, session: Session) -> None:
        session.filters.clear()


class KeepsCleanSessions(Toy):
    """A session that does not last is there again when its client comes back."""

    def connect(self, node: NodeId, lasts: bool) -> Outcome:
        old = self._sessions.get(node)
        if old is not None:
            old.lasts = lasts = True
        return super().connect(node, lasts)


class MarksAll(Toy):
    marks = True


class SharesWithAll(Toy):
    def members(self, found: list[Session]) -> list[Session]:
        return found


class SharesWithNobody(Toy):
    def members(self, found: list[Session]) -> list[Session]:
        return []


KINDS: dict[str, type[Toy]] = {"Toy": Toy} | {kind.__name__: kind for kind in Toy.__subclasses__()}
# By name: the clause that each mutant breaks.
MUTANTS: dict[str, str] = {
    "ForgetsSubscriptions": "PS-QOS-GD",
    "KeepsNothingWaiting": "PS-QOS-GD",
    "ForgetsInFlight": "PS-SESSION",
    "MarksNothing": "PS-SESSION",
    "SendsBackwards": "PS-PER-PUBLISHER",
    "SendsWaitingLate": "PS-SESSION",
    "ForgetsAcknowledgements": "PS-SESSION",
    "TwiceAtLevel2": "PS-SESSION",
    "StoresNothing": "PS-PERSISTED",
    "StoresNoSubscriptions": "PS-PERSISTED",
    "KeepsCleanSessions": "PS-ROUTE",
    "MarksAll": "PS-RETAIN",
    "SharesWithAll": "PS-SHARED",
    "SharesWithNobody": "PS-SHARED",
}
