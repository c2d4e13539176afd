"""Connections of MQTT clients, packet by packet: levels, repeats, sessions, and breaches of the standard."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scatterproof.impl.pubsub.running.core import Core
from scatterproof.impl.pubsub.running.mqtt_connection import Clients, Connection
from scatterproof.impl.pubsub.running.mqtt_session import WINDOW
from scatterproof.impl.pubsub.running.tests.joined import Joined
from scatterproof.impl.pubsub.translation import mqtt_codec as codec
from scatterproof.impl.pubsub.translation.messages import Carried, Message
from scatterproof.impl.pubsub.translation.mqtt_codec import Kind
from scatterproof.impl.pubsub.translation.names import mqtt_of_topic, topic_of_mqtt


def text(word: str) -> bytes:
    return len(word.encode()).to_bytes(2) + word.encode()


def connect(name: str, *, clean: bool = True, keep_alive_s: int = 0) -> bytes:
    return codec.packet(Kind.CONNECT, text("MQTT") + bytes([4, clean << 1]) + keep_alive_s.to_bytes(2) + text(name))


def publish(topic: str, payload: bytes, level: int = 0, packet_id: int = 0, *, again: bool = False) -> bytes:
    body = text(topic) + (packet_id.to_bytes(2) if level else b"") + payload
    return codec.packet(Kind.PUBLISH, body, again << 3 | level << 1)


def subscribe(packet_id: int, *asked: tuple[str, int]) -> bytes:
    body = b"".join(text(word) + bytes([level]) for word, level in asked)
    return codec.packet(Kind.SUBSCRIBE, packet_id.to_bytes(2) + body, 2)


CONNACK, PINGREQ = codec.connack(False, 0), codec.packet(Kind.PINGREQ, b"")


class Broker:
    """One appliance, and connections to it."""

    def __init__(self, core: Core | None = None) -> None:
        self.core = core or Core("one", None, "life")
        self.clients = Clients(self.core, None)

    def connection(self, *first: bytes) -> Connection:
        made = Connection(self.clients, self.core.outbox())
        for data in first:
            made.receive(data)
        return made


def said(connection: Connection) -> list[tuple[int, int, bytes]]:
    """The packets: kind, flags, body."""
    data = b"".join(connection.outbox.parts)
    connection.outbox.parts.clear()
    found, at = [], 0
    while at < len(data):
        length, size = data[at + 1] & 127, 2
        if data[at + 1] & 128:
            length, size = length | data[at + 2] << 7, 3
        found.append((data[at] >> 4, data[at] & 15, data[at + size : at + size + length]))
        at += size + length
    return found


def kinds(connection: Connection) -> list[int]:
    return [kind for kind, _, _ in said(connection)]


def test_ps_qos_level_2_is_published_once_however_often_it_comes() -> None:
    broker = Broker()
    watcher = broker.connection(connect("watcher"), subscribe(1, ("x", 2)))
    assert kinds(watcher) == [Kind.CONNACK, Kind.SUBACK]
    publisher = broker.connection(connect("publisher"))
    publisher.receive(publish("x", b"m", 2, 5) + publish("x", b"m", 2, 5, again=True))
    assert kinds(publisher) == [Kind.CONNACK, Kind.PUBREC, Kind.PUBREC]
    assert said(watcher) == [(Kind.PUBLISH, 4, text("x") + b"\0\1m")]
    publisher.receive(codec.answer(Kind.PUBREL, 5) + publish("x", b"another", 2, 5))
    assert kinds(publisher) == [Kind.PUBCOMP, Kind.PUBREC]
    assert len(said(watcher)) == 1


def test_ps_session_what_was_in_flight_comes_again_marked_and_first_and_each_of_level_2_once() -> None:
    broker = Broker()
    durable = broker.connection(connect("d", clean=False), subscribe(1, ("x", 2)))
    publisher = broker.connection(connect("p"))
    for number, level in enumerate((1, 2, 2, 1), 1):
        publisher.receive(publish("x", str(number).encode(), level, number))
    durable.receive(codec.answer(Kind.PUBACK, 1) + codec.answer(Kind.PUBREC, 2))
    said(durable)
    durable.lost()
    publisher.receive(publish("x", b"5", 1, 5) + publish("x", b"6"))
    back = broker.connection(connect("d", clean=False))
    assert said(back) == [
        (Kind.CONNACK, 0, b"\1\0"),
        (Kind.PUBREL, 2, b"\0\2"),
        (Kind.PUBLISH, 8 | 4, text("x") + b"\0\0033"),
        (Kind.PUBLISH, 8 | 2, text("x") + b"\0\0044"),
        (Kind.PUBLISH, 2, text("x") + b"\0\0055"),
    ]
    for kind, packet_id in ((Kind.PUBCOMP, 2), (Kind.PUBREC, 3), (Kind.PUBCOMP, 3), (Kind.PUBACK, 4), (Kind.PUBACK, 5)):
        back.receive(codec.answer(kind, packet_id))
    assert kinds(back) == [Kind.PUBREL]
    back.lost()
    assert kinds(broker.connection(connect("d", clean=False))) == [Kind.CONNACK]


@pytest.mark.parametrize("alone", [True, False])
def test_ps_shared_what_a_member_leaves_comes_marked_at_level_1_and_waits_for_it_at_level_2(alone: bool) -> None:
    broker = Broker()
    member = broker.connection(connect("d", clean=False), subscribe(1, ("$share/g/x", 2)))
    broker.connection(connect("p"), publish("x", b"1", 1, 1), publish("x", b"2", 2, 2))
    assert kinds(member) == [Kind.CONNACK, Kind.SUBACK, Kind.PUBLISH, Kind.PUBLISH]
    other = broker.connection(connect("e"), *(() if alone else (subscribe(1, ("$share/g/x", 2)),)))
    said(other)
    member.lost()
    first, second = (Kind.PUBLISH, 8 | 2), (Kind.PUBLISH, 8 | 4)
    assert [one[:2] for one in said(other)] == ([] if alone else [first])
    back = broker.connection(connect("d", clean=False))
    assert [one[:2] for one in said(back)[1:]] == ([second, first] if alone else [second])


def test_ps_shared_what_waits_for_a_member_goes_to_another_when_its_session_is_discarded() -> None:
    broker = Broker()
    member = broker.connection(connect("d", clean=False), subscribe(1, ("$share/g/x", 2)))
    broker.connection(connect("p"), publish("x", b"1", 1, 1), publish("x", b"2", 2, 2))
    member.lost()
    other = broker.connection(connect("e"), subscribe(1, ("$share/g/x", 2)))
    said(other)
    broker.connection(connect("d"))
    assert sorted(body[-1:] for _, _, body in said(other)) == [b"1", b"2"]


def test_no_more_than_a_window_is_on_its_way_to_a_client_that_does_not_acknowledge() -> None:
    broker = Broker()
    slow, publisher = broker.connection(connect("s"), subscribe(1, ("x", 1))), broker.connection(connect("p"))
    said(slow)
    for number in range(WINDOW + 10):
        publisher.receive(publish("x", str(number).encode(), 1, number + 1))
    assert len(said(slow)) == WINDOW
    for packet_id in range(1, 11):
        slow.receive(codec.answer(Kind.PUBACK, packet_id))
    assert [body[5:] for _, _, body in said(slow)] == [str(WINDOW + n).encode() for n in range(10)]


def test_a_client_that_connects_again_ends_its_first_connection() -> None:
    broker = Broker()
    first = broker.connection(connect("c", clean=False))
    second = broker.connection(connect("c", clean=False))
    assert first.outbox.closing == "the client has connected again"
    assert said(second) == [(Kind.CONNACK, 0, b"\1\0")]
    first.lost()
    assert broker.clients.connections["c"] is second


def test_a_client_that_is_silent_for_one_and_a_half_times_what_it_promised_is_ended() -> None:
    broker = Broker()
    client = broker.connection(connect("c", keep_alive_s=10))
    broker.core.now_ns += 14_000_000_000
    client.receive(PINGREQ)
    broker.core.now_ns += 15_000_000_000
    client.tick()
    assert client.outbox.closing is None
    broker.core.now_ns += 1
    client.tick()
    assert client.outbox.closing


@pytest.mark.parametrize(
    "data",
    [
        PINGREQ,
        connect("c") * 2,
        connect("c") + publish("a/+", b"x"),
        connect("c") + publish("a", b"x", 3, 1),
        connect("c") + publish("a", b"x", 1, 0),
        connect("c") + codec.packet(Kind.SUBSCRIBE, b"\0\1" + text("a") + b"\0", 0),
        connect("c") + codec.packet(Kind.SUBSCRIBE, b"\0\1", 2),
        connect("c") + codec.packet(Kind.PUBLISH, b"\0\2\xff\xfe"),
        connect("c") + codec.packet(Kind.PUBACK, b"\0"),
        connect("c") + bytes([0x30, 0xFF, 0xFF, 0xFF, 0xFF, 1]),
        codec.packet(Kind.CONNECT, text("MQTT") + bytes([4, 1]) + b"\0\0" + text("c")),
        b"GET / HTTP/1.1\r\n\r\n",
    ],
)
def test_what_breaks_the_standard_ends_the_connection(data: bytes) -> None:
    assert Broker().connection(data).outbox.closing


def test_another_version_and_a_durable_session_without_a_name_are_refused_by_their_codes() -> None:
    other = codec.packet(Kind.CONNECT, text("MQTT") + bytes([5, 2]) + b"\0\0\0" + text("c"))
    assert said(Broker().connection(other)) == [(Kind.CONNACK, 0, b"\0\1")]
    assert said(Broker().connection(connect("", clean=False))) == [(Kind.CONNACK, 0, b"\0\2")]
    assert said(Broker().connection(connect(""))) == [(Kind.CONNACK, 0, b"\0\0")]


@given(st.lists(st.integers(1, 60), max_size=6))
def test_what_is_cut_anywhere_says_the_same(cuts: list[int]) -> None:
    data = connect("c") + subscribe(1, ("a/+", 1)) + publish("a/b", b"hello", 2, 9) + PINGREQ + publish("a/c", b"")
    made, at = Broker().connection(), 0
    for cut in sorted(cuts):
        made.receive(data[at:cut])
        at = max(at, cut)
    made.receive(data[at:])
    expected = [Kind.CONNACK, Kind.SUBACK, Kind.PUBLISH, Kind.PUBREC, Kind.PINGRESP, Kind.PUBLISH]
    assert kinds(made) == expected


TOKENS = st.lists(st.sampled_from(["a", "%-", "b%20", "x%2By", "$sys", "é"]), min_size=1, max_size=4)


@given(TOKENS, st.binary(max_size=200), st.integers(0, 2), st.booleans())
def test_ps_translate_native_to_mqtt_to_native_is_the_identity(
    tokens: list[str], payload: bytes, level: int, retain: bool
) -> None:
    if tokens == ["%-"]:
        return
    message = Message(".".join(tokens), payload, level, retain)
    data = codec.publish(Carried(message), level, 7, again=False, retained=retain)
    ((kind, flags, body),) = codec.Packets(1 << 20).feed(data)
    assert kind == Kind.PUBLISH
    assert codec.read_publish(flags, body) == (message, 7 if level else 0, False)


def test_ps_translate_a_message_is_translated_once_a_direction_across_two_appliances(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = Joined("a", "b")
    row.join("a", "b")
    here, there = Broker(row.cores["a"]), Broker(row.cores["b"])
    watchers = [there.connection(connect(f"w{n}"), subscribe(1, ("x/#", n % 3))) for n in range(6)]
    row.run()
    publisher = here.connection(connect("p"))
    turns: list[str] = []

    def counted(name: str, real: Callable[[str], str]) -> None:
        def translate(topic: str) -> str:
            turns.append(name)
            return real(topic)

        monkeypatch.setattr(codec, name, translate)

    counted("topic_of_mqtt", topic_of_mqtt)
    counted("mqtt_of_topic", mqtt_of_topic)
    publisher.receive(publish("x/never/before", b"m", 2, 1))
    row.run()

    assert [len([one for one in said(each) if one[0] == Kind.PUBLISH]) for each in watchers] == [1] * 6
    assert turns == ["topic_of_mqtt", "mqtt_of_topic"]
