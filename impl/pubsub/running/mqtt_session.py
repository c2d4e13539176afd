"""The session of a client of MQTT 3.1.1, also while the client is away.

Clauses: PS-SESSION, PS-QOS-GD, PS-QOS-LEVEL, PS-RETAIN, PS-SHARED, PS-PERSISTED, PS-TRANSLATE.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from scatterproof.impl.pubsub.running.core import Core
from scatterproof.impl.pubsub.running.ledger import KeptSession
from scatterproof.impl.pubsub.running.management import Action
from scatterproof.impl.pubsub.running.outbox import Outbox
from scatterproof.impl.pubsub.running.table import Subscription
from scatterproof.impl.pubsub.translation import mqtt_codec as codec
from scatterproof.impl.pubsub.translation.messages import Carried
from scatterproof.impl.pubsub.translation.mqtt_codec import Kind
from scatterproof.impl.pubsub.translation.names import filter_of_mqtt
from scatterproof.spec.errors import BadInput

WINDOW = 256  # messages on their way to one client that it has not acknowledged
_LAST_ID = 65_535
_SHARED = "$share/"


class Item:
    """A guaranteed message in a session.

    place: in the order of the session.
    packet_id: 0 until it is sent.
    again: whether it may have been sent before.
    released: whether the client has it (level 2).
    retained: whether it is sent as a retained message.
    """

    __slots__ = ("again", "carried", "group", "level", "packet_id", "place", "released", "retained")

    def __init__(self, place: int, carried: Carried, level: int, *, retained: bool = False, group: str = "") -> None:
        self.place, self.carried, self.level, self.retained, self.group = place, carried, level, retained, group
        self.packet_id, self.released, self.again = 0, False, False


class Session:
    """A session in the sense of the standard.

    outbox: None while the client is away.
    received: the packet ids of level 2 that came from the client and that it has not released.
    """

    def __init__(self, core: Core, name: str, user: str, durable: bool) -> None:
        self.core, self.name, self.user, self.durable = core, name, user, durable
        self.outbox: Outbox | None = None
        self.subscribed: dict[tuple[str, str], Subscription] = {}
        self.received: set[int] = set()
        self._waiting: deque[Item] = deque()
        self._sent: dict[int, Item] = {}
        self._last_place = self._last_id = 0

    @property
    def is_there(self) -> bool:
        return self.outbox is not None

    def note(self, statement: str, *values: str | int) -> None:
        """Write a change into the ledger, if the session is durable."""
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
            way = codec.publish_retained if retained else codec.publish_once
            if self.outbox is None:
                return
            if self.outbox.keeps_up():
                self.outbox.write(way(carried))
            elif not self.outbox.wait(carried, retained, way):
                return
            self.core.counts["delivered"] += 1
            return
        self._last_place += 1
        item = Item(self._last_place, carried, level, retained=retained, group=group)
        item.again = carried.was_sent and level == 1
        if self._may_send():
            self._number(item)
        else:
            self._waiting.append(item)
        if self.durable:
            number = self.core.ledger.hold(carried)
            self.note("put_waiting", item.place, level, item.packet_id, retained, group, number)
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
            self.note("sent", item.place, item.packet_id)
            self._send(item)

    def acknowledged(self, packet_id: int, *, level: int) -> None:
        """The client has sent PUBACK, or PUBCOMP at level 2. An id that no message has is ignored."""
        item = self._sent.get(packet_id)
        if item is None or item.level != level or (level == 2 and not item.released):
            return
        del self._sent[packet_id]
        self._drop(item)
        self._pump()

    def _drop(self, item: Item) -> None:
        if self.durable:
            self.note("drop_waiting", item.place)
            self.core.ledger.release(item.carried)

    def has_it(self, packet_id: int) -> None:
        """PUBREC: the client has a message of level 2."""
        item = self._sent.get(packet_id)
        if item is not None and item.level == 2 and not item.released:
            item.released = True
            self.note("released", item.place)
        if self.outbox is not None:
            self.outbox.write(codec.answer(Kind.PUBREL, packet_id))

    # ---------------------------------------------------------------- connections

    def begin(self, outbox: Outbox) -> None:
        """The client has connected: send what was in flight, then what waits (PS-SESSION)."""
        self.outbox = outbox
        for item in sorted(self._sent.values(), key=lambda item: item.place):
            if item.released:
                outbox.write(codec.answer(Kind.PUBREL, item.packet_id))
            else:
                self._send(item)
        self._pump()

    def end(self) -> None:
        """The client has gone. What it was to get for a group goes to another member."""
        self.outbox = None
        for item in self._sent.values():
            item.again = True
        if not self.durable:
            self.discard()
            return
        # At level 2 the client may have it: only this session knows not to give it a second time.
        leaving = [item for item in self._of_groups() if item.level != 2 or not item.packet_id]
        self._sent = {key: item for key, item in self._sent.items() if item not in leaving}
        self._waiting = deque(item for item in self._waiting if item not in leaving)
        for item in leaving:
            self._drop(item)
        self._hand_on(leaving)

    def _of_groups(self) -> list[Item]:
        """What another member of a group may get instead, in its order."""
        found = (item for item in (*self._sent.values(), *self._waiting) if item.group and not item.released)
        return sorted(found, key=lambda item: item.place)

    def _hand_on(self, leaving: list[Item]) -> None:
        for item in leaving:
            item.carried.was_sent = item.carried.was_sent or item.packet_id > 0
            self.core.hand_on(item.carried, item.group)

    def discard(self) -> None:
        """Remove the session, its subscriptions and its messages. What it was to get for a group goes to another
        member."""
        leaving = self._of_groups()
        for one in list(self.subscribed.values()):
            self.core.unsubscribe(one)
        self.subscribed.clear()
        for item in (*self._sent.values(), *self._waiting):
            self._drop(item)
        self._sent.clear()
        self._waiting.clear()
        self.note("drop_session")
        self._hand_on(leaving)

    # ---------------------------------------------------------------- subscriptions

    def subscribe(self, text: str, level: int, done: Callable[[], None]) -> tuple[Subscription, bool]:
        """Add a subscription; returns it, and whether it is in force at once. Otherwise `done` is called when it is.
        Raises BadInput for a filter that cannot be, or is not allowed."""
        group, filter_text = "", text
        if text.startswith(_SHARED):
            _, group, filter_text = (*text.split("/", 2), "", "")[:3]
            if not group or set(group) & set("+# "):
                raise BadInput(f"filter {text!r} has no group between its first two slashes")
            if self.core.paths is not None:
                raise BadInput(f"filter {text!r}: nothing is shared where messages take all paths")
        native = filter_of_mqtt(filter_text)
        hides = filter_text[:1] in ("+", "#")
        one = Subscription(self, "", native, level, group, hides=hides)
        if not self.core.allows(self.user, Action.SUBSCRIBE, native):
            raise BadInput(f"user {self.user!r} is not entitled to subscribe to {native}")
        self.note("put_subscription", native, group, level, hides)
        return one, self._put(one, done)

    def revoked(self, one: Subscription) -> None:
        """End a subscription that is no longer allowed, and drop the waiting messages that the client may no longer
        get."""
        del self.subscribed[one.filter, one.group]
        self.note("drop_subscription", one.filter, one.group)
        self.core.unsubscribe(one)
        if self.outbox is not None:
            self.outbox.forget()
        for item in list(self._waiting):
            if not self.core.allows(self.user, Action.SUBSCRIBE, item.carried.message.topic):
                self._waiting.remove(item)
                self._drop(item)

    def _put(self, one: Subscription, done: Callable[[], None] = lambda: None) -> bool:
        old = self.subscribed.get((one.filter, one.group))
        self.subscribed[one.filter, one.group] = one
        if old is not None:
            return self.core.subscribe_again(one, old, done)
        return self.core.subscribe(one, done)

    def unsubscribe(self, text: str) -> None:
        group, filter_text = "", text
        if text.startswith(_SHARED):
            _, group, filter_text = (*text.split("/", 2), "", "")[:3]
        one = self.subscribed.pop((filter_of_mqtt(filter_text), group), None)
        if one is not None:
            self.note("drop_subscription", one.filter, group)
            self.core.unsubscribe(one)
