"""Connections of NATS clients, byte by byte: what a server says to each."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scatterproof.impl.pubsub.channels.queue import Marks
from scatterproof.impl.pubsub.running.core import Core
from scatterproof.impl.pubsub.running.management import read
from scatterproof.impl.pubsub.running.nats_session import NatsConnection
from scatterproof.impl.pubsub.running.table import Treatment
from scatterproof.impl.pubsub.running.tests.joined import Taker
from scatterproof.impl.pubsub.translation.messages import Carried, Message
from scatterproof.impl.pubsub.translation.nats_codec import message_of, write_message

QUIET = b'CONNECT {"verbose":false}\r\n'


def connected(core: Core | None = None, first: bytes = QUIET, most: int = 16) -> NatsConnection:
    made = core or Core("one", None, "life")
    connection = NatsConnection(made, made.outbox(), 1, most)
    connection.outbox.parts.clear()
    connection.receive(first)
    return connection


def said(connection: NatsConnection) -> bytes:
    told = b"".join(connection.outbox.parts)
    connection.outbox.parts.clear()
    connection.outbox.size = 0
    return told


def test_info_comes_first_and_says_what_may_be_sent() -> None:
    core = Core("one", None, "life")
    connection = NatsConnection(core, core.outbox(), 7, 1024)
    word, told = said(connection).split(maxsplit=1)
    assert word == b"INFO"
    assert json.loads(told)["max_payload"] == 1024


@given(st.lists(st.integers(1, 70), max_size=6))
def test_what_is_cut_anywhere_says_the_same(cuts: list[int]) -> None:
    data = b"SUB a.> 1\r\nSUB a.* g 2\r\nPUB a.b r 5\r\nh\r\nlo\r\nUNSUB 2\r\npub a.c 0\r\n\r\nPING\r\n"
    connection, at = connected(), 0
    for cut in sorted(cuts):
        connection.receive(data[at:cut])
        at = max(at, cut)
    connection.receive(data[at:])
    expected = b"MSG a.b 1 r 5\r\nh\r\nlo\r\nMSG a.b 2 r 5\r\nh\r\nlo\r\nMSG a.c 1 0\r\n\r\nPONG\r\n"
    assert said(connection) == expected


def test_a_subscription_ends_after_as_many_messages_as_its_client_said() -> None:
    connection = connected()
    connection.receive(b"SUB a 1\r\nPUB a 1\r\nx\r\nUNSUB 1 2\r\n" + b"PUB a 1\r\ny\r\n" * 3)
    assert said(connection).count(b"MSG") == 2
    connection.receive(b"SUB a 1\r\nPUB a 1\r\nz\r\n")  # its number is free again
    assert said(connection) == b"MSG a 1 1\r\nz\r\n"


def test_verbose_clients_hear_that_each_line_was_taken_and_echo_can_be_left_out() -> None:
    connection = connected(first=b'CONNECT {"verbose":true,"echo":false}\r\nSUB a 1\r\nPUB a 1\r\nx\r\nPING\r\n')
    assert said(connection) == b"+OK\r\n+OK\r\n+OK\r\nPONG\r\n"


@pytest.mark.parametrize(
    ("line", "error", "ends"),
    [
        (b"HELLO\r\n", b"Unknown Protocol Operation", True),
        (b"PUB a\r\n", b"Unknown Protocol Operation", True),
        (b"PUB a 17\r\n", b"Maximum Payload Violation", True),
        (b"PUB a 1\r\nxyz\r\n", b"Unknown Protocol Operation", True),
        (b"PUB a..b 1\r\nx\r\n", b"Invalid Publish Subject", False),
        (b"PUB a.* 1\r\nx\r\n", b"Invalid Publish Subject", False),
        (b"SUB a.>.b 1\r\n", b"Invalid Subject", False),
        (b"SUB \xff 1\r\n", b"Invalid Subject", False),
        (b"CONNECT []\r\n", b"Invalid Client Protocol", True),
        (b"x" * 5000, b"Maximum Control Line Exceeded", True),
    ],
)
def test_what_breaks_the_protocol_is_told_and_ends_it_where_nats_ends_it(line: bytes, error: bytes, ends: bool) -> None:
    connection = connected()
    connection.receive(line)
    assert said(connection) == b"-ERR '" + error + b"'\r\n"
    assert (connection.outbox.closing is not None) == ends


def test_a_silent_client_is_asked_and_goes_when_it_never_answers() -> None:
    connection = connected()
    core = connection._core
    told = []
    for _ in range(3):
        core.now_ns += 121_000_000_000
        connection.tick()
        told.append(said(connection))
    assert told == [b"PING\r\n", b"PING\r\n", b"-ERR 'Stale Connection'\r\n"]


def test_pong_waits_until_the_subscriptions_ahead_of_it_are_in_force() -> None:
    from scatterproof.impl.pubsub.running.tests.joined import Joined

    row = Joined("a", "b")
    row.join("a", "b")
    connection = connected(row.cores["a"])
    connection.receive(b"SUB a 1\r\nPING\r\n")
    assert said(connection) == b""
    row.run()
    assert said(connection) == b"PONG\r\n"


def test_a_slow_client_gets_less_of_what_is_best_effort_until_it_has_caught_up() -> None:
    core = Core("one", None, "life", Marks(room=200, high=10, low=5, one_in=2))
    slow, other = connected(core), Taker(core)
    said(slow)
    slow.receive(b"SUB a 1\r\n")
    other.subscribe("a")
    for number in range(40):
        core.publish(Message("a", b"%09d" % number))  # 21 bytes on the wire
    got = list[int]()
    while text := said(slow):
        got += [int(word) for word in text.split(b"\r\n") if word.isdigit()]
        slow.outbox.pump()

    assert got == sorted(set(got))
    assert core.counts["dropped"] == 40 - len(got) == 10
    assert len(other.got) == 40
    for _ in range(4):
        core.publish(Message("a", b"x" * 9))
    assert said(slow).count(b"MSG") == 4
    assert core.counts["slow consumers"] == core.counts["slow consumers that came back"] == 1


def test_ps_qos_conf_and_ps_prio_a_slow_client_gets_the_newest_of_each_topic_and_the_urgent_ahead() -> None:
    treatment = Treatment(urgent=("urgent.>",), conflated=("price.*",))
    core = Core("one", None, "life", Marks(room=1, high=4, low=1), treatment)
    slow = connected(core)
    slow.receive(b"SUB > 1\r\n")
    said(slow)
    for number in range(12):
        core.publish(Message("price.a" if number % 2 else "price.b", b"%d" % number))
    core.publish(Message("urgent.x", b"12"))
    got = list[bytes]()
    while text := said(slow):
        got += [word for word in text.split(b"\r\n") if word.isdigit()]
        slow.outbox.pump()

    assert got == [b"0", b"12", b"1", b"2", b"11", b"10"]
    assert core.counts["conflated"] == 7
    assert core.counts["dropped"] == 0


def test_ps_auth_what_waits_for_a_slow_client_goes_with_what_it_may_get_no_more() -> None:
    core = Core("one", None, "life", Marks(room=1))
    slow = connected(core)
    slow.receive(b"SUB a 1\r\n")
    for _ in range(5):
        core.publish(Message("a", b"x"))
    said(slow)
    core.configure(read('id = "1"', "none.toml"))
    slow.outbox.pump()

    assert b"MSG" not in said(slow)
    slow.outbox.pump()
    assert not slow.outbox.is_slow


@given(st.sampled_from(["a", "a.b c", "%-.x", "T2*x"[:2], "é.ü"]), st.binary(max_size=40), st.sampled_from(["", "r.s"]))
def test_ps_translate_native_to_nats_to_native_is_the_identity(topic: str, payload: bytes, reply: str) -> None:
    message = Message(topic, payload, reply=reply)
    line, _, rest = write_message(Carried(message), "12").partition(b"\r\n")
    words = line.split()
    assert words[0] == b"MSG"
    assert words[2] == b"12"
    again = message_of(words[1], words[3] if len(words) == 5 else b"", rest[: int(words[-1])])
    assert again == message
    assert rest[int(words[-1]) :] == b"\r\n"
