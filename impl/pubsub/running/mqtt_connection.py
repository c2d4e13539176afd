"""A connection of a client of MQTT 3.1.1, and all such clients of one appliance.

Clauses: PS-TRANSLATE, PS-SESSION, PS-QOS-LEVEL, PS-RETAIN, PS-AUTH.
"""

from __future__ import annotations

from scatterproof.impl.pubsub.running.core import Core
from scatterproof.impl.pubsub.running.ledger import Kept
from scatterproof.impl.pubsub.running.management import Action
from scatterproof.impl.pubsub.running.mqtt_session import Session
from scatterproof.impl.pubsub.running.outbox import Outbox
from scatterproof.impl.pubsub.running.table import Subscription
from scatterproof.impl.pubsub.translation import mqtt_codec as codec
from scatterproof.impl.pubsub.translation.messages import Carried, Message
from scatterproof.impl.pubsub.translation.mqtt_codec import Kind
from scatterproof.spec.errors import BadInput

_REFUSED = 0x80


class Clients:
    """The sessions and connections of an appliance's MQTT clients. most: bytes of the longest packet."""

    def __init__(self, core: Core, kept: Kept | None, most: int = codec.MOST_LENGTH) -> None:
        self.core, self.most = core, most
        self.sessions: dict[str, Session] = {}
        self.connections: dict[str, Connection] = {}
        self._given = 0
        for name, one in kept.sessions.items() if kept else ():
            self.sessions[name] = Session(core, name, one.user, durable=True)
            self.sessions[name].restore(one)

    def new_name(self) -> str:
        self._given += 1
        return f"{self.core.name}-{self.core.incarnation}-{self._given}"


class Connection:
    """A connection of one client. limit_ns: when it ends if nothing more comes, Unix time; None for never."""

    def __init__(self, clients: Clients, outbox: Outbox) -> None:
        self._clients, self._core, self.outbox = clients, clients.core, outbox
        self._packets = codec.Packets(clients.most)
        self._session: Session | None = None
        self._will: Message | None = None
        self._silence_ns: int | None = 10_000_000_000  # until CONNECT comes
        self.limit_ns: int | None = self._core.now_ns + self._silence_ns

    def receive(self, data: bytes) -> None:
        if self._silence_ns is not None:
            self.limit_ns = self._core.now_ns + self._silence_ns
        try:
            for kind, flags, body in self._packets.feed(data):
                if self.outbox.closing is not None:
                    return
                self._take(kind, flags, body)
        except BadInput as error:
            self.outbox.close(str(error))

    def tick(self) -> None:
        """End a connection whose client was silent for one and a half times its keep-alive (section 3.1.2.10)."""
        if self.limit_ns is not None and self._core.now_ns > self.limit_ns:
            self.outbox.close("the client was silent for too long")

    def lost(self) -> None:
        """The connection has ended. A will that is still there is published: the client did not disconnect (section
        3.1.2.5)."""
        session, self._session = self._session, None
        if session is None:
            return
        del self._clients.connections[session.name]
        will, self._will = self._will, None
        session.end()
        if not session.durable:
            del self._clients.sessions[session.name]
        if will is not None:
            self._core.publish(will)

    def _take(self, kind: int, flags: int, body: bytes) -> None:
        session = self._session
        if session is None:
            if kind != Kind.CONNECT:
                raise BadInput(f"a packet of kind {kind} ahead of connect")
            self._connect(codec.read_connect(body))
        elif kind == Kind.PUBLISH:
            self._publish(session, *codec.read_publish(flags, body))
        elif kind == Kind.PUBACK:
            session.acknowledged(codec.read_id(body), level=1)
        elif kind == Kind.PUBREC:
            session.has_it(codec.read_id(body))
        elif kind == Kind.PUBCOMP:
            session.acknowledged(codec.read_id(body), level=2)
        elif kind == Kind.PUBREL:
            self._release(session, codec.read_id(body))
        elif kind == Kind.SUBSCRIBE:
            self._subscribe(session, *codec.read_subscribe(body))
        elif kind == Kind.UNSUBSCRIBE:
            packet_id, texts = codec.read_unsubscribe(body)
            for text in texts:
                session.unsubscribe(text)
            self.outbox.write(codec.answer(Kind.UNSUBACK, packet_id))
        elif kind == Kind.PINGREQ:
            self.outbox.write(codec.PINGRESP)
        elif kind == Kind.DISCONNECT:
            self._will = None
            self.outbox.close("the client has disconnected")
        else:
            raise BadInput(f"a packet of kind {kind}, which clients do not send here")

    def _connect(self, asked: codec.Connect) -> None:
        if asked.version != 4:
            self._refuse(1, "another version of MQTT than 3.1.1")
            return
        if not asked.client and not asked.clean:
            self._refuse(2, "a durable session needs a client id")
            return
        name, user = asked.client or self._clients.new_name(), asked.user or ""
        will, session = asked.will, self._clients.sessions.get(name)
        if session is not None and session.user != user:
            self._refuse(5, f"the session {name!r} is of another user")
            return
        if will is not None and not self._core.allows(user, Action.PUBLISH, will.topic):
            self._refuse(5, f"user {user!r} is not entitled to publish on {will.topic}")
            return
        before = self._clients.connections.get(name)
        if before is not None:  # section 3.1.4
            before.outbox.close("the client has connected again")
            before.lost()
        session = self._clients.sessions.get(name)
        if session is not None and (asked.clean or not session.durable):
            session.discard()
            session = None
        present = session is not None
        if session is None:
            session = self._clients.sessions[name] = Session(self._core, name, user, not asked.clean)
            if session.durable:
                self._core.ledger.note("put_session", name, user)
        self._session, self._will = session, asked.will
        self._clients.connections[name] = self
        self._silence_ns = asked.keep_alive_s * 1_500_000_000 or None
        self.limit_ns = self._core.now_ns + self._silence_ns if self._silence_ns is not None else None
        self.outbox.write(codec.connack(present, 0))
        session.begin(self.outbox)

    def _refuse(self, code: int, reason: str) -> None:
        self.outbox.write(codec.connack(False, code))
        self.outbox.close(reason)

    def _publish(self, session: Session, message: Message, packet_id: int, again: bool) -> None:
        if not self._core.allows(session.user, Action.PUBLISH, message.topic):
            # There is no other way to say so in MQTT 3.1.1 (section 3.3.5).
            raise BadInput(f"user {session.user!r} is not entitled to publish on {message.topic}")
        if message.level == 2:
            if packet_id not in session.received:
                session.received.add(packet_id)
                session.note("put_received", packet_id)
                self._core.publish(message)
            self.outbox.write(codec.answer(Kind.PUBREC, packet_id))
            return
        self._core.publish(message)
        if message.level == 1:
            self.outbox.write(codec.answer(Kind.PUBACK, packet_id))

    def _release(self, session: Session, packet_id: int) -> None:
        if packet_id in session.received:
            session.received.remove(packet_id)
            session.note("drop_received", packet_id)
        self.outbox.write(codec.answer(Kind.PUBCOMP, packet_id))

    def _subscribe(self, session: Session, packet_id: int, asked: list[tuple[str, int]]) -> None:
        codes: list[int] = []
        new: list[Subscription] = []
        left = 1  # until all have been looked at

        def done() -> None:
            nonlocal left
            left -= 1
            if not left:
                self.outbox.write(codec.suback(packet_id, codes))

        for text, level in asked:
            try:
                one, at_once = session.subscribe(text, level, done)
            except BadInput:
                codes.append(_REFUSED)
                continue
            left += not at_once
            codes.append(level)
            new.append(one)
        done()
        for one in new:
            for message in self._core.retained.matching(one):
                level = self._core.rules.delivered_level(message.level, one.level)
                session.give(Carried(message), level, "", retained=True)
