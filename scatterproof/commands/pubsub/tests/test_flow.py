"""A real client that does not read, and a flood: it gets less, in order, and the newest; nobody else notices, and all
that is guaranteed comes."""

from __future__ import annotations

import os
import re
import signal
import socket
import threading

import pytest

from scatterproof.commands.pubsub.tests.appliances import LIMIT_S, Appliance, Paho, appliance

MESSAGES, SIZE = 6_000, 1_000
_FLOW = ("--room", "50000", "--high-mark", "200", "--low-mark", "100", "--ring", "1000")


class Nats:
    """A client of NATS over a raw socket."""

    def __init__(self, port: int, *, receives: int = 0) -> None:
        self.socket = socket.socket()
        if receives:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
        self.socket.settimeout(LIMIT_S)
        self.socket.connect(("127.0.0.1", port))
        self.got = bytearray()
        self.ask(b'CONNECT {"verbose":false}\r\n')

    def ask(self, data: bytes) -> None:
        """Send a line, and wait until it was carried out."""
        begun = len(self.got)
        self.socket.sendall(data + b"PING\r\n")
        self.read_to(b"PONG\r\n", begun)

    def read_to(self, word: bytes, begun: int = 0) -> None:
        """Read until this word has come, at or behind byte `begun`."""
        while self.got.find(word, begun) < 0:
            begun = max(begun, len(self.got) - len(word))
            part = self.socket.recv(1 << 20)
            assert part
            self.got += part

    def numbers(self, topic: str) -> list[int]:
        """The payloads of messages of a topic, without what fills them."""
        return [int(found) for found in re.findall(rb"MSG %s 1 \d+\r\n(\d+)x*\r\n" % topic.encode(), self.got)]


def _published(topic: str, number: int) -> bytes:
    payload = str(number).encode().ljust(SIZE, b"x")
    return f"PUB {topic} {len(payload)}\r\n".encode() + payload + b"\r\n"


def _told(ended: Appliance, what: str) -> int:
    """What the appliance counted of this, once it has ended."""
    found = re.search(rf"\b{what} (\d+)(,|$)", next(line for line in ended.said if line.startswith("ended: ")))
    return int(found[1]) if found else 0


@pytest.mark.slow
def test_ps_flow_ps_slow_ps_qos_conf_a_client_that_does_not_read_while_a_flood_comes() -> None:
    ports = ("--listen-nats", "127.0.0.1:0", "--listen-mqtt", "127.0.0.1:0")
    with appliance(*ports, *_FLOW, "--conflate", "price.*", "--urgent", "alarm") as one:
        slow, other, source = (Nats(one.ports["nats"], receives=size) for size in (4_096, 0, 0))
        for client in (slow, other):
            client.ask(b"SUB > 1\r\n")
        stops = Paho(one.ports["mqtt"], "stops")
        stops.subscribe(("sure", 1))
        stops.client.loop_stop()  # it reads no more
        sure = Paho(one.ports["mqtt"], "sure")
        for number in range(MESSAGES):
            source.socket.sendall(
                _published("plain", number) + (_published("price.a", number) if number % 4 == 0 else b"")
            )
            if number % 30 == 0:
                sure.client.publish("sure", f"{number // 30}".ljust(SIZE), 1)
            if number % 100 == 0:
                other.ask(b"")  # it keeps up
        source.ask(_published("alarm", 1))
        sure.publish("sure", f"{MESSAGES // 30}".ljust(SIZE), 1)
        stops.client.loop_start()
        stops.wait(lambda: len(stops.got) > MESSAGES // 30)
        slow.read_to(b"\r\n%dx" % (MESSAGES - 4))
        source.ask(_published("plain", MESSAGES))
        slow.read_to(b"\r\n%dx" % MESSAGES)
        other.ask(b"")
        for each in (stops, sure):
            each.end()
        assert one.end() == 0

    assert other.numbers("plain") == list(range(MESSAGES + 1))
    assert other.numbers("price.a") == list(range(0, MESSAGES, 4))
    for topic, most in (("plain", MESSAGES), ("price.a", MESSAGES // 4)):
        got = slow.numbers(topic)
        assert got == sorted(set(got))
        assert len(got) < most
    assert [int(payload) for _, payload, *_ in stops.got] == list(range(MESSAGES // 30 + 1))
    for what in ("dropped", "conflated", "slow consumers", "slow consumers that came back"):
        assert _told(one, what), what
    # What was urgent came ahead of what had waited.
    assert slow.got.rfind(b"MSG alarm") < slow.got.rfind(b"MSG price.a")


@pytest.mark.slow
def test_ps_flow_publishers_wait_for_a_neighbour_that_takes_nothing_and_all_that_is_guaranteed_comes() -> None:
    high, number = 100, 1_000
    words = ("--high-mark", str(high), "--low-mark", "50", "--ring", "1000")
    with (
        appliance("--id", "a", "--listen-mqtt", "127.0.0.1:0", "--listen-neighbours", "127.0.0.1:0", *words) as a,
        appliance(
            "--id", "b", "--listen-mqtt", "127.0.0.1:0", "--neighbour", f"127.0.0.1:{a.ports['neighbours']}"
        ) as b,
    ):
        b.wait_for("linked to a")
        taker, source = Paho(b.ports["mqtt"], "taker"), Paho(a.ports["mqtt"], "source")
        taker.subscribe(("t", 1))
        os.kill(b.process.pid, signal.SIGSTOP)
        try:
            sent = [source.client.publish("t", str(each), 1) for each in range(number)]
            source.wait(lambda: sum(each.is_published() for each in sent) >= high - 50)
            threading.Event().wait(0.5)  # more would come now
            acknowledged = sum(each.is_published() for each in sent)
        finally:
            os.kill(b.process.pid, signal.SIGCONT)
        taker.wait(lambda: len(taker.got) >= number)
        for each in (taker, source):
            each.end()
        assert a.end() == 0

    assert acknowledged < 2 * high
    assert [int(payload) for _, payload, *_ in taker.got] == list(range(number))
    assert _told(a, "times that publishers waited")
