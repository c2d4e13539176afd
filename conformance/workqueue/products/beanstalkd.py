"""Drives tubes of beanstalkd with its write-ahead log, in drawn runs. A put puts a job; its group is the tube.

Jobs get priorities that fall in the order of their puts, two jobs the same one. beanstalkd does not promise that jobs
of a tube are worked one at a time, so a consumer watches only tubes without a held job.
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random
from time import sleep
from typing import Any

from scatterproof.conformance.adapters.needs import Needs
from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.serving import LOOPBACK, Served, free_ports, program
from scatterproof.conformance.workqueue.cases.building import deletes, extends, gives_back, puts, receives
from scatterproof.conformance.workqueue.products import polled
from scatterproof.conformance.workqueue.products.history import SECOND_NS, vocabulary
from scatterproof.conformance.workqueue.products.polled import CONSUMERS, FOREVER_NS, GROUPS, SENDER, Held, Taken
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Trace
from scatterproof.spec.workqueue.messages import CallName

RANK, LOG_BYTES = 1000, 4096
NODES = (SENDER, *CONSUMERS)


class Move(StrEnum):
    """Steps that are no calls.

    RELEASED: a job is put with the highest priority, reserved by its number, and released with the one of its place.
    BURY: the job that a consumer has in hand is buried, and kicked.
    BURIED: the same, with a restart between.
    RESTART: the server is killed, and starts from its log.
    WAIT: leases of a second end.
    """

    RELEASED = "released"
    BURY = "bury"
    BURIED = "buried"
    RESTART = "restart"
    WAIT = "wait"


class Step(polled.Step[Move]):
    pass


class Driver(polled.Driver):
    """Carries out steps at one server. ttr_s: the time to run of all jobs, in s."""

    def __init__(self, served: Served, ttr_s: int) -> None:
        super().__init__()
        self._module = importlib.import_module("greenstalk")
        self._served, self._ttr_s = served, ttr_s
        self._clients = self._connected()
        self._priorities: dict[bytes, int] = {}

    def _connected(self) -> dict[NodeId, Any]:
        return {node: self._module.Client((LOOPBACK, self._served.port)) for node in NODES}

    def put(self, call: Call, body: bytes) -> None:
        self._put(body, int(call.arguments["group"]))

    def _put(self, body: bytes, group: int, first: int | None = None) -> None:
        """first: the priority with which it is put, if that is not the one of its place."""
        client = self._clients[SENDER]
        priority = self._priorities[body] = RANK + len(self._priorities) // 2
        client.use(_tube(group))
        number = client.put(body.decode(), priority=priority if first is None else first, ttr=self._ttr_s)
        if first is not None:
            client.release(client.reserve_job(number), priority=priority)

    def can_take(self, node: NodeId) -> bool:
        return self.held_groups() != set(GROUPS)

    def take(self, node: NodeId, lease_ns: int) -> Taken | None:
        client = self._clients[node]
        free = {_tube(group) for group in GROUPS if group not in self.held_groups()}
        for tube in free:
            client.watch(tube)
        for tube in set(client.watching()) - free:
            client.ignore(tube)
        try:
            job = client.reserve(timeout=0)
        except self._module.TimedOutError:
            return None
        return Taken(job.body.encode(), int(client.stats_job(job)["tube"].rpartition("-")[2]), job)

    def end_one(self, call: Call, held: Held) -> bool:
        client = self._clients[call.node]
        try:
            if call.call == CallName.DELETE:
                client.delete(held.handle)
            elif call.call == CallName.EXTEND:
                client.touch(held.handle)
            else:
                client.release(held.handle, priority=self._priorities[held.handed.payload])
        except self._module.NotFoundError:
            return False
        return True

    def move(self, step: Any) -> None:
        if step.move is Move.RELEASED:
            self._put(self.history.called(puts(0, SENDER, step.number)), step.number, 0)
            self.history.returned(SENDER)
        elif step.move is Move.WAIT:
            sleep(1.3)
        elif step.move is Move.RESTART:
            self._restart()
        elif (held := self.live(step.number)) is not None:
            self.history.called(gives_back(0, step.number, newest=1))
            self._clients[step.number].bury(held.handle, priority=self._priorities[held.handed.payload])
            self.drop(step.number)
            if step.move is Move.BURIED:
                self._restart()
            self._clients[step.number].kick_job(held.handle)
            self.history.returned(step.number, about=held.handed)

    def _restart(self) -> None:
        self._served.kill()
        self.end()
        self._served.begin()
        self._clients = self._connected()
        self.lose(CONSUMERS)

    def end(self) -> None:
        for client in self._clients.values():
            client.close()


def _tube(group: int) -> str:
    return f"group-{group}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What runs may contain. The default is everything; less avoids known mistakes.

    released: some jobs are released with another priority than they were put with.
    ends: in some runs the time to run of jobs ends.
    """

    released: bool = True
    ends: bool = True


Steps = list[Call | Step]


def drawn(seed: int, shape: Shape = Shape(), steps: int = 50) -> Steps:
    """The steps of a drawn run. In one run of four, the time to run is a second."""
    draw = Random(seed)
    is_short = draw.randrange(4) == 0 and shape.ends
    lease_ns = SECOND_NS if is_short else FOREVER_NS
    found: Steps = [puts(0, SENDER, 1), puts(0, SENDER, 1), puts(0, SENDER, 2)]
    for _ in range(steps):
        node, kind, group = draw.choice(CONSUMERS), draw.randrange(20), draw.choice(GROUPS)
        if kind < 4:
            found.append(puts(0, SENDER, group))
        elif kind == 4:
            found.append(Step(Move.RELEASED, group) if shape.released else puts(0, SENDER, group))
        elif kind < 10:
            found.append(receives(0, node, 1, lease_ns))
        elif kind < 13:
            found.append(deletes(0, node, newest=1))
        elif kind < 15:
            found.append(gives_back(0, node, newest=1))
        elif kind == 15:
            found.append(extends(0, node, lease_ns, newest=1))
        elif kind == 16:
            found.append(Step(Move.BURY, node))
        elif kind == 17:
            found.append(Step(Move.BURIED, node))
        elif kind == 18 and is_short:
            found.append(Step(Move.WAIT))
        else:
            found.append(Step(Move.RESTART))
    # The jobs that are left are done, one after the other.
    found += [Step(Move.RESTART), *(deletes(0, node, newest=1) for node in CONSUMERS)]
    return [*found, *[receives(0, CONSUMERS[0], 1, lease_ns), deletes(0, CONSUMERS[0], newest=1)] * steps]


NEEDS = Needs(pypi=("greenstalk",), debian=("beanstalkd",))


def why_not() -> str | None:
    lacking = [] if program("beanstalkd") else ["beanstalkd"]
    lacking += [] if importlib.util.find_spec("greenstalk") else ["greenstalk"]
    return NEEDS.why_not(lacking)


@contextmanager
def _serve(folder: Path) -> Iterator[Play]:
    done = subprocess.run([program("beanstalkd") or "", "-v"], capture_output=True, text=True, check=False)

    def play(name: str, steps: Sequence[Call | Step], seed: int) -> Trace:
        """Each run has its own server, and so its own log."""
        place, (port,) = folder.resolve() / name, free_ports(1)
        log = place / "log"
        shutil.rmtree(log, ignore_errors=True)
        log.mkdir(parents=True)
        words = ["-l", LOOPBACK, "-p", str(port), "-b", str(log), "-f", "0", "-s", str(LOG_BYTES)]
        served = Served("beanstalkd", [program("beanstalkd") or "", *words], port, place)
        try:
            leases = {int(step.arguments.get("lease_ns", 0)) for step in steps if isinstance(step, Call)} | {SECOND_NS}
            driver = Driver(served, max(leases) // SECOND_NS)
            for step in steps:
                driver.make(step)
            driver.end()
        finally:
            served.end()
        return driver.history.trace(seed, done.stdout.strip())

    yield play


PRODUCT = Product(
    name="beanstalkd",
    text="tubes of beanstalkd with its write-ahead log, by greenstalk",
    profile=Path(__file__).with_name("beanstalkd.toml"),
    why_not=why_not,
    needs=NEEDS,
    serve=_serve,
    # A restart forgets the priority that a release has set; and half of the jobs whose time has ended are not released.
    steps=lambda seed, quiet: drawn(seed, Shape(released=not quiet, ends=not quiet)),
    errors=("greenstalk.Error", "builtins.ConnectionError"),
    vocabulary=vocabulary(Move, Step),
)
