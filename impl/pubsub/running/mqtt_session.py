"""A client of MQTT 3.1.1: its session, which may outlive its connections, and the connection.

Clauses: PS-SESSION, PS-QOS-GD, PS-QOS-LEVEL, PS-RETAIN, PS-SHARED, PS-PERSISTED, PS-TRANSLATE.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from scatterproof.impl.pubsub.running.core import Core
from scatterproof.impl.pubsub.running.ledger import Kept, KeptSession
from scatterproof.impl.pubsub.running.outbox import Outbox
from scatterproof.impl.pubsub.running.table import Subscription
from scatterproof.impl.pubsub.translation import mqtt_codec as codec
from scatterproof.impl.pubsub.translation.messages import Carried, Message
from scatterproof.impl.pubsub.translation.mqtt_codec import Kind
from scatterproof.impl.pubsub.translation.names import filter_of_mqtt
from scatterproof.spec.errors import BadInput

WINDOW = 256  # messages on their way to one client that it has not acknowledged
_LAST_ID = 65_535
_REFUSED = 0x80
_SHARED = "$share/"


class Item:
    """A guaranteed message in a session. place: in the order of the session. packet_id: 0 while it was not sent;
    again: whether it may have been sent before; released: level 2, the client has it; retained: it is sent as such."""

    __slots__ = ("again", "carried", "group", "level", "packet_id", "place", "released", "retained")

    def __init__(self, place: int, carried: Carried, level: int, *, retained: bool = False, group: str = "") -> None:
        self.place, self.carried, self.level, self.retained, self.group = place, carried, level, retained, group
        self.packet_id, self.released, self.again = 0, False, False


class Session:
    """What the standard calls so. outbox: None while the client is away. received: packet ids of level 2 that came from
    it and that it has not released."""

    def __init__(self, core: Core, name: str, durable: bool) -> None:
        self.core, self.name, self.durable = core, name, durable
        self.outbox: Outbox | None = None
        self.subscribed: dict[tuple[str, str], Subscription] = {}
        self.received: set[int] = set()
        self._waiting: deque[Item] = deque()
        self._sent: dict[int, Item] = {}
        self._last_place = self._last_id = 0

    @property
    def is_there(self) -> bool:
        return self.outbox is not None

    def _note(self, statement: str, *values: str | int) -> None:
        if self.durable:
            self.core.ledger.note(statement, self.name, *values)

    def restore(self, kept: KeptSession) -> None:
        for text, group, level, hides in kept.subscribed:
            self._put(Subscription(self, "", text, level, group, hides=hides))
        self.received = set(kept.received)
        for place, level, packet_id, released, retained, group, number in sorted(kept.waiting):
            carried = self.core.held[number]
            carried.queues += 1
            item = Item(place, carried, level, retained=retained, group=group)
            item.packet_id, item.released, item.again = packet_id, released, packet_id > 0
            self._last_place = place
            if packet_id:
                self._sent[packet_id] = item
                self._last_id = packet_id
            else:
                self._waiting.append(item)

    # ---------------------------------------------------------------- to the client

    def give(self, carried: Carried, level: int, key: str, group: str = "", *, retained: bool = False) -> None:
        if not codec.fits(carried):
            self.core.counts["topics too long"] += 1
            return
        if not self.core.rules.is_guaranteed(level):
            if self.outbox is not None and self.outbox.admits(False):
                self.core.counts["delivered"] += 1
                if retained:
                    self.outbox.write(codec.publish(carried, 0, 0, again=False, retained=True))
                else:
                    self.outbox.write(codec.publish_once(carried))
            return
        self._last_place += 1
        item = Item(self._last_place, carried, level, retained=retained, group=group)
        if self._may_send():
            self._number(item)
        else:
            self._waiting.append(item)
        if self.durable:
            number = self.core.ledger.hold(carried)
            self._note("put_waiting", item.place, level, item.packet_id, retained, group, number)
        if item.packet_id:
            self._send(item)

    def _may_send(self) -> bool:
        return self.outbox is not None and not self._waiting and len(self._sent) < WINDOW

    def _number(self, item: Item) -> None:
        while True:
            self._last_id = self._last_id % _LAST_ID + 1
            if self._last_id not in self._sent:
                break
        item.packet_id = self._last_id
        self._sent[item.packet_id] = item

    def _send(self, item: Item) -> None:
        assert self.outbox is not None
        self.core.counts["delivered"] += 1
        self.outbox.write(
            codec.publish(item.carried, item.level, item.packet_id, again=item.again, retained=item.retained)
        )

    def _pump(self) -> None:
        while self.outbox is not None and self._waiting and len(self._sent) < WINDOW:
            item = self._waiting.popleft()
            self._number(item)
            self._note("sent", item.place, item.packet_id)
            self._send(item)

    def acknowledged(self, packet_id: int, *, level: int) -> None:
        """PUBACK, or PUBCOMP at level 2. One that nothing is sent with means nothing."""
        item = self._sent.get(packet_id)
        if item is None or item.level != level or (level == 2 and not item.released):
            return
        del self._sent[packet_id]
        self._drop(item)
        self._pump()

    def _drop(self, item: Item) -> None:
        if self.durable:
            self._note("drop_waiting", item.place)
            self.core.ledger.release(item.carried)

    def has_it(self, packet_id: int) -> None:
        """PUBREC: the client has a message of level 2."""
        item = self._sent.get(packet_id)
        if item is not None and item.level == 2 and not item.released:
            item.released = True
            self._note("released", item.place)
        if self.outbox is not None:
            self.outbox.write(codec.answer(Kind.PUBREL, packet_id))

    # ---------------------------------------------------------------- connections

    def begin(self, outbox: Outbox) -> None:
        """The client is there: what was in flight first, then what waits (PS-SESSION)."""
        self.outbox = outbox
        for item in sorted(self._sent.values(), key=lambda item: item.place):
            if item.released:
                outbox.write(codec.answer(Kind.PUBREL, item.packet_id))
            else:
                self._send(item)
        self._pump()

    def end(self) -> None:
        """It has gone."""
        self.outbox = None
        for item in self._sent.values():
            item.again = True
        if self.durable:
            leaving = [item for item in (*self._sent.values(), *self._waiting) if item.group and not item.released]
            self._sent = {key: item for key, item in self._sent.items() if item not in leaving}
            self._waiting = deque(item for item in self._waiting if item not in leaving)
            for item in leaving:
                self._drop(item)
        else:
            leaving = [item for item in (*self._sent.values(), *self._waiting) if item.group and not item.released]
            self.discard()
        for item in sorted(leaving, key=lambda item: item.place):
            self.core.hand_on(item.carried, item.group)

    def discard(self) -> None:
        """Nothing of it stays."""
        for one in list(self.subscribed.values()):
            self.core.unsubscribe(one)
        self.subscribed.clear()
        for item in (*self._sent.values(), *self._waiting):
            self._drop(item)
        self._sent.clear()
        self._waiting.clear()
        self._note("drop_session")

    # ---------------------------------------------------------------- subscriptions

    def subscribe(self, text: str, level: int, done: Callable[[], None]) -> tuple[Subscription, bool]:
        """And whether it is in force at once; BadInput for a filter that cannot be."""
        group, filter_text = "", text
        if text.startswith(_SHARED):
            _, group, filter_text = (*text.split("/", 2), "", "")[:3]
            if not group or set(group) & set("+# "):
                raise BadInput(f"filter {text!r} has no group between its first two slashes")
        native = filter_of_mqtt(filter_text)
        hides = filter_text[:1] in ("+", "#")
        one = Subscription(self, "", native, level, group, hides=hides)
        self._note("put_subscription", native, group, level, hides)
        return one, self._put(one, done)

    def _put(self, one: Subscription, done: Callable[[], None] = lambda: None) -> bool:
        old = self.subscribed.get((one.filter, one.group))
        self.subscribed[one.filter, one.group] = one
        if old is not None:
            return self.core.subscribe_again(one, done)
        return self.core.subscribe(one, done)

    def unsubscribe(self, text: str) -> None:
        group, filter_text = "", text
        if text.startswith(_SHARED):
            _, group, filter_text = (*text.split("/", 2), "", "")[:3]
        one = self.subscribed.pop((filter_of_mqtt(filter_text), group), None)
        if one is not None:
            self._note("drop_subscription", one.filter, group)
            self.core.unsubscribe(one)


class Clients:
    """The sessions, and who may connect. most: bytes of the longest packet."""

    def __init__(self, core: Core, kept: Kept | None, most: int = codec.MOST_LENGTH) -> None:
        self.core, self.most = core, most
        self.sessions: dict[str, Session] = {}
        self.connections: dict[str, Connection] = {}
        self._given = 0
        for name, one in kept.sessions.items() if kept else ():
            self.sessions[name] = Session(core, name, durable=True)
            self.sessions[name].restore(one)

    def new_name(self) -> str:
        self._given += 1
        return f"{self.core.name}-{self.core.incarnation}-{self._given}"


class Connection:
    """One of a client. limit_ns: when it ends, where nothing more comes; None for never."""

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
        """End it where its client was silent for one and a half times what it promised (section 3.1.2.10)."""
        if self.limit_ns is not None and self._core.now_ns > self.limit_ns:
            self.outbox.close("the client was silent for too long")

    def lost(self) -> None:
        """The connection has ended; without a word where the will is still there (section 3.1.2.5)."""
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
        name = asked.client or self._clients.new_name()
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
            session = self._clients.sessions[name] = Session(self._core, name, durable=not asked.clean)
            if session.durable:
                self._core.ledger.note("put_session", name)
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
        if message.level == 2:
            if packet_id not in session.received:
                session.received.add(packet_id)
                session._note("put_received", packet_id)
                self._core.publish(message)
            self.outbox.write(codec.answer(Kind.PUBREC, packet_id))
            return
        self._core.publish(message)
        if message.level == 1:
            self.outbox.write(codec.answer(Kind.PUBACK, packet_id))

    def _release(self, session: Session, packet_id: int) -> None:
        if packet_id in session.received:
            session.received.remove(packet_id)
            session._note("drop_received", packet_id)
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
            for message in self._core.retained_for(one):
                level = self._core.rules.delivered_level(message.level, one.level)
                session.give(Carried(message), level, "", retained=True)
