"""etcd, by its own client, etcdctl. Clients put values; those that watch are sent each with its revision, and ask for
their progress: the server then says up to which revision it has sent all. It is a switch here, and each client a host.
What a client of it prints is taken for what it was sent: that is one connection of TCP."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from random import Random

from scatterproof.conformance.adapters.needs import Needs
from scatterproof.conformance.adapters.products import CLIENTS, Play, Product
from scatterproof.conformance.adapters.steps import Vocabulary
from scatterproof.conformance.rows import row_of
from scatterproof.conformance.serving import LOOPBACK, Served, free_ports, program
from scatterproof.conformance.supervisor import Child
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import Link, Node, NodeId, Role, Topology
from scatterproof.spec.totalorder.messages import PacketKind
from scatterproof.spec.trace import CLEAN, QUIESCENT, Header, Kind, Order, Row, Trace, digest_of

PROGRAMS = ("etcd", "etcdctl")
SERVER: NodeId = CLIENTS  # behind the hosts, client 1 being host 0
_HOSTS = tuple(Node(f"h{host}", Role.HOST) for host in range(CLIENTS))
# To put is a call: on links there is only what the server sends.
NETWORK = Topology((*_HOSTS, Node("s0", Role.SWITCH)), tuple(Link(SERVER, host) for host in range(CLIENTS)))
PATIENCE_S = 5.0
PUT, WATCH, PROGRESS = "put", "watch", "progress"


class Move(StrEnum):
    """Steps that are no calls.

    TAKE: the client that watches reads until it has what was put last.
    KILL: kill the server, and start it again.
    """

    TAKE = "take"
    KILL = "kill"


@dataclass(frozen=True, slots=True)
class Step:
    move: Move
    node: NodeId = 0


# first: of which message of the run on it watches, from 1; 0 for those that are put from now on.
VOCABULARY = Vocabulary({PUT: {}, WATCH: {"first": 0}, PROGRESS: {}}, Move, Step)


class Told:
    """What the server has told those that watch, as rows, from what etcdctl has printed."""

    def __init__(self) -> None:
        self._begun_ns = time.monotonic_ns()
        self.seen: dict[int, int] = {}  # by client, the greatest revision that it was sent
        self.progress: dict[int, int] = {}  # by client, how often it was told its progress
        self._rows: list[Row] = []

    def note(self, client: int, line: bytes) -> None:
        """A line of the output. What has no changes tells progress; etcdctl says that in words, too."""
        if not line.startswith(b"{"):
            return
        said = json.loads(line)
        if not said["Events"]:
            self.progress[client] = self.progress.get(client, 0) + 1
            barrier = said["Header"]["revision"] + 1
            self._row(Kind.SENT, client, sender=SERVER, packet=PacketKind.BEACON, barrier=barrier)
        for event in said["Events"]:
            body, revision = base64.b64decode(event["kv"]["value"]), event["kv"]["mod_revision"]
            sender, number = (int(part) for part in body.split(b"."))
            message = {"sender": sender - 1, "receiver": client - 1, "number": number, "digest": digest_of(body)}
            self._row(Kind.SENT, client, packet=PacketKind.DATA, timestamp=revision, **message)
            self._row(Kind.DELIVERED, client, timestamp=revision, **message)
            self.seen[client] = max(self.seen.get(client, 0), revision)

    def _row(self, kind: Kind, client: int, **known: int) -> None:
        sent = {"node": SERVER, "link": client - 1, "flags": 0}
        at = sent if kind is Kind.SENT else {"node": client - 1}
        now = time.monotonic_ns() - self._begun_ns
        self._rows.append(row_of("totalorder", kind, time_ns=now, clock_ns=now, **at, **known))

    def trace(self, seed: int, iut: str) -> Trace:
        now = time.monotonic_ns() - self._begun_ns
        ended = row_of("totalorder", Kind.ENDED, time_ns=now, clock_ns=now, flags=CLEAN | QUIESCENT)
        header = Header(
            protocol="totalorder",
            topology=NETWORK,
            parameters={"environment": "B", "beacon_interval_ns": 1},
            complete={"sent": tuple(range(CLIENTS + 1)), "delivered": tuple(range(CLIENTS))},
            order=Order.NODE,
            iut=iut,
            seed=seed,
        )
        return Trace(header, [*self._rows, ended])


class Run:
    """Puts below a key of the run's name, and watches it. served: the server. folder: of what etcdctl prints."""

    def __init__(self, served: Served, folder: Path, name: str) -> None:
        self._served, self._folder, self._name = served, folder, name
        self._control = [program("etcdctl") or "", "--endpoints", f"http://{LOOPBACK}:{served.port}", "-w", "json"]
        self._control += ["--dial-timeout", "60s", "--command-timeout", "60s"]
        self._revisions: list[int] = []
        self._watching: dict[int, Child] = {}
        self.told = Told()

    def make(self, step: Call | Step) -> None:
        if isinstance(step, Step):
            if step.move is Move.KILL:
                self._served.restart(kill=True)
            elif step.node in self._watching:
                self._take(step.node)
        elif step.call == PUT:
            self._put(step.node)
        elif step.call == WATCH and step.node not in self._watching:
            first = step.arguments["first"]
            self._watch(step.node, first if isinstance(first, int) else 0)
        elif step.call == PROGRESS and step.node in self._watching:
            self._ask(step.node)

    def _put(self, client: int) -> None:
        words = [*self._control, "put", f"{self._name}/{client}", f"{client}.{len(self._revisions) + 1}"]
        told = subprocess.run(words, capture_output=True, text=True, check=False)
        if told.returncode:
            raise CannotRun(f"etcdctl could not put: {told.stderr.strip()}")
        self._revisions.append(json.loads(told.stdout)["header"]["revision"])

    def _watch(self, client: int, first: int) -> None:
        child = self._watching[client] = Child(f"{self._name}-{client}", [*self._control, "watch", "-i"], self._folder)
        since = ["--rev", str(self._revisions[first - 1])] if 0 < first <= len(self._revisions) else []
        child.tell(" ".join(["watch", *since, "--prefix", f"{self._name}/"]).encode())

    def _ask(self, client: int) -> None:
        told = self.told.progress.get(client, 0)
        self._watching[client].tell(b"progress")
        self._read(client, lambda: self.told.progress.get(client, 0) > told)

    def _take(self, client: int) -> None:
        last = self._revisions[-1] if self._revisions else 0
        self._read(client, lambda: self.told.seen.get(client, 0) >= last)

    def _read(self, client: int, is_over: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE_S
        while not is_over() and (left := until - time.monotonic()) > 0:
            line = self._watching[client].line(left)
            if isinstance(line, bytes):
                self.told.note(client, line)

    def settle(self) -> None:
        for client in self._watching:
            self._take(client)

    def end(self) -> None:
        for child in self._watching.values():
            child.reap()


def drawn(seed: int, quiet: bool) -> list[Call | Step]:
    """Quiet: clients ask for their progress when they have all that was put, and the server is not killed."""
    draw = Random(seed)
    found: list[Call | Step] = []
    for _ in range(12):
        client, kind = draw.randint(1, CLIENTS), draw.randrange(10)
        if kind < 5:
            found += [Call(0, draw.randint(1, CLIENTS), PUT, {}) for _ in range(draw.randint(1, 3))]
        elif kind < 7:
            found.append(Call(0, client, WATCH, {"first": draw.randint(0, 4)}))
        else:
            found += [*([Step(Move.TAKE, client)] if quiet else []), Call(0, client, PROGRESS, {})]
    if not quiet and draw.random() < 0.25:
        found.insert(draw.randrange(len(found)), Step(Move.KILL))
    return found


NEEDS = Needs(debian=("etcd-server", "etcd-client"))


def lacks() -> str | None:
    lacking = [name for name in PROGRAMS if program(name) is None]
    return NEEDS.why_not(lacking)


def version() -> str:
    told = subprocess.run([program("etcd") or "", "--version"], capture_output=True, text=True, check=False).stdout
    return told.split()[2]


@contextmanager
def serve(folder: Path) -> Iterator[Play]:
    reason = lacks()
    if reason is not None:
        raise CannotRun(reason)
    folder = folder.resolve() / "server"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    port, peers = free_ports(2)
    address, peer = f"http://{LOOPBACK}:{port}", f"http://{LOOPBACK}:{peers}"
    words = ["--data-dir", str(folder / "data"), "--listen-client-urls", address, "--advertise-client-urls", address]
    served = Served("etcd", [program("etcd") or "", *words, "--listen-peer-urls", peer], port, folder)
    try:
        # One that is killed ahead of its first answer does not come up again.
        Run(served, folder, "begin").make(Call(0, 1, PUT, {}))
        yield partial(_play, served, folder, f"etcd {version()}")
    finally:
        served.end()


def _play(served: Served, folder: Path, iut: str, name: str, steps: Sequence[Call | Step], seed: int) -> Trace:
    run = Run(served, folder, name)
    try:
        for step in steps:
            run.make(step)
        run.settle()
        return run.told.trace(seed, iut)
    finally:
        run.end()


PRODUCT = Product(
    name="etcd",
    text="watches of etcd, killed while it runs, by etcdctl",
    profile=Path(__file__).with_name("etcd.toml"),
    why_not=lacks,
    needs=NEEDS,
    serve=serve,
    steps=drawn,
    vocabulary=VOCABULARY,
)
