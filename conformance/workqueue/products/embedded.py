"""Drives libraries that are queues over SQLite, in drawn runs: localqueue, SimpleBroker and the SQLiteAckQueue of
persist-queue.

A group is a named queue, or a file. Where a library does not promise that messages of a queue are worked one at a time,
a consumer asks only queues without a held message.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random
from time import sleep
from typing import Any

from scatterproof.conformance.adapters.needs import Needs
from scatterproof.conformance.adapters.products import Play, Product
from scatterproof.conformance.workqueue.cases.building import deletes, extends, gives_back, puts, receives
from scatterproof.conformance.workqueue.products import polled
from scatterproof.conformance.workqueue.products.history import SECOND_NS, vocabulary
from scatterproof.conformance.workqueue.products.polled import CONSUMERS, FOREVER_NS, GROUPS, SENDER, Held, Taken
from scatterproof.spec.core import Outcome
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.trace import Trace
from scatterproof.spec.workqueue.messages import CallName


class Move(StrEnum):
    """Steps that are no calls.

    OPEN: the queues are opened anew, as by another process after a crash.
    WAIT: leases of a second end.
    LATE: a consumer deletes the message that it had, though its lease may be over.
    """

    OPEN = "open"
    WAIT = "wait"
    LATE = "late"


class Step(polled.Step[Move]):
    pass


class Library(ABC):
    """The queues of a run, in a folder. Calls about a message return whether they were carried out.

    lease_s: the lease of all messages, in s.
    keeps: whether consumers keep what they hold when the queues are opened anew.
    has_leases: whether leases end.
    is_serial: whether the library itself hands out one message of a group at a time.
    """

    module: str
    keeps = True
    has_leases = False
    is_serial = False

    def __init__(self, folder: Path, lease_s: float) -> None:
        self.folder, self.lease_s = folder, lease_s
        self.imported = importlib.import_module(self.module)
        self.opened: list[Any] = []
        self.queues = self.open_all()

    def open_all(self) -> dict[int, Any]:
        found = {group: self.open(group) for group in GROUPS}
        self.opened += found.values()
        return found

    @abstractmethod
    def open(self, group: int) -> Any: ...

    @abstractmethod
    def put(self, group: int, body: str) -> None: ...

    @abstractmethod
    def take(self, group: int, node: NodeId) -> tuple[str, Any] | None: ...

    @abstractmethod
    def delete(self, group: int, handle: Any) -> bool: ...

    @abstractmethod
    def give_back(self, group: int, handle: Any) -> bool: ...

    def extend(self, group: int, handle: Any) -> bool:
        raise NotImplementedError

    def close(self) -> None:
        for queue in self.opened:
            queue.close()


class LocalQueue(Library):
    module, has_leases = "localqueue", True

    def open(self, group: int) -> Any:
        delivery = self.imported.DeliveryPolicy(lease_seconds=self.lease_s, max_retries=1_000_000)
        return self.imported.SimpleQueue(str(self.folder), f"group-{group}", delivery=delivery)

    def put(self, group: int, body: str) -> None:
        self.queues[group].put(body)

    def take(self, group: int, node: NodeId) -> tuple[str, Any] | None:
        try:
            job = self.queues[group].get(block=False)
        except self.imported.Empty:
            return None
        return job.data, job

    def delete(self, group: int, handle: Any) -> bool:
        return self._about(self.queues[group].ack, handle)

    def give_back(self, group: int, handle: Any) -> bool:
        return self._about(self.queues[group].nack, handle)

    def extend(self, group: int, handle: Any) -> bool:
        return self._about(self.queues[group].extend_lease, handle, self.lease_s)

    def _about(self, call: Callable[..., None], *given: Any) -> bool:
        try:
            call(*given)
        except self.imported.LeaseExpired:
            return False
        return True


class SimpleBroker(Library):
    """Taking a message moves it to a second queue, of messages in hand; there it is deleted, or it is moved back."""

    module = "simplebroker"

    def open(self, group: int) -> Any:
        return self.imported.Queue(f"group-{group}", db_path=str(self.folder / "broker.db"))

    def put(self, group: int, body: str) -> None:
        self.queues[group].write(body)

    def take(self, group: int, node: NodeId) -> tuple[str, Any] | None:
        found: tuple[str, Any] | None = self.queues[group].move_one(self._hand(group), with_timestamps=True)
        return found

    def delete(self, group: int, handle: Any) -> bool:
        return bool(self._in_hand(group).delete(message_id=handle))

    def give_back(self, group: int, handle: Any) -> bool:
        moved = self._in_hand(group).move_one(f"group-{group}", exact_timestamp=handle)
        return moved is not None

    def _hand(self, group: int) -> str:
        return f"in-hand-{group}"

    def _in_hand(self, group: int) -> Any:
        queue = self.imported.Queue(self._hand(group), db_path=str(self.folder / "broker.db"))
        self.opened.append(queue)
        return queue


class PersistQueue(Library):
    module, keeps = "persistqueue", False

    def open(self, group: int) -> Any:
        return self.imported.FIFOSQLiteAckQueue(str(self.folder / f"group-{group}"), multithreading=True)

    def put(self, group: int, body: str) -> None:
        self.queues[group].put(body)

    def take(self, group: int, node: NodeId) -> tuple[str, Any] | None:
        try:
            found = self.queues[group].get(block=False, raw=True)
        except self.imported.Empty:
            return None
        return found["data"], found

    def delete(self, group: int, handle: Any) -> bool:
        return self.queues[group].ack(handle) is not None

    def give_back(self, group: int, handle: Any) -> bool:
        return self.queues[group].nack(handle) is not None


class Driver(polled.Driver):
    def __init__(self, library: Library) -> None:
        super().__init__()
        self._library = library

    def put(self, call: Call, body: bytes) -> None:
        self._library.put(int(call.arguments["group"]), body.decode())

    def _free(self) -> set[int]:
        """The groups to ask for."""
        return set(GROUPS) if self._library.is_serial else set(GROUPS) - self.held_groups()

    def can_take(self, node: NodeId) -> bool:
        return bool(self._free())

    def take(self, node: NodeId, lease_ns: int) -> Taken | None:
        for group in sorted(self._free()):
            if (found := self._library.take(group, node)) is not None:
                return Taken(found[0].encode(), group, found[1])
        return None

    def end_one(self, call: Call, held: Held) -> bool:
        group = held.handed.group
        if call.call == CallName.EXTEND:
            return self._library.extend(group, held.handle)
        ends = self._library.delete if call.call == CallName.DELETE else self._library.give_back
        return ends(group, held.handle)

    def move(self, step: Any) -> None:
        if step.move is Move.OPEN:
            self._library.queues = self._library.open_all()
            if not self._library.keeps:
                self.lose(CONSUMERS)
        elif step.move is Move.WAIT:
            sleep(1.3)
        elif (held := self._hands.get(step.number)) is not None:
            self.history.called(deletes(0, step.number, newest=1))
            done = self.end_one(deletes(0, step.number), held)
            self.history.returned(step.number, Outcome.OK if done else Outcome.REFUSED, held.handed)
            self.drop(step.number)


Steps = list[Call | Step]


def playing(opened: Callable[[str, float], Library], version: str) -> Play:
    """Plays runs. opened: opens the library for a run of this name, with leases of this many s."""

    def play(name: str, steps: Sequence[Call | Step], seed: int) -> Trace:
        leases = [int(step.arguments.get("lease_ns", 0)) for step in steps if isinstance(step, Call)]
        library = opened(name, max([SECOND_NS, *leases]) / SECOND_NS)
        try:
            driver = Driver(library)
            for step in steps:
                driver.make(step)
        finally:
            library.close()
        return driver.history.trace(seed, version)

    return play


def drawn(seed: int, has_leases: bool, is_fenced: bool = True, steps: int = 50) -> Steps:
    """The steps of a drawn run. In one of four, leases that end last 1 s. is_fenced: whether late calls are refused."""
    draw = Random(seed)
    is_short = has_leases and draw.randrange(4) == 0
    lease_ns = SECOND_NS if is_short else FOREVER_NS
    found: Steps = [puts(0, SENDER, 1), puts(0, SENDER, 1), puts(0, SENDER, 2)]
    for _ in range(steps):
        node, kind, group = draw.choice(CONSUMERS), draw.randrange(20), draw.choice(GROUPS)
        if kind < 5:
            found.append(puts(0, SENDER, group))
        elif kind < 11:
            found.append(receives(0, node, 1, lease_ns))
        elif kind < 13:
            found.append(deletes(0, node, newest=1))
        elif kind < 16:
            found.append(gives_back(0, node, newest=1))
        elif kind == 16 and has_leases:
            found.append(extends(0, node, lease_ns, newest=1))
        elif kind == 17 and is_short:
            found += [Step(Move.WAIT), receives(0, draw.choice(CONSUMERS), 1, lease_ns)]
        elif kind == 18 and has_leases and is_fenced:
            if is_short:
                found += [Step(Move.WAIT), receives(0, draw.choice(CONSUMERS), 1, lease_ns)]
            found += [Step(Move.LATE, node), receives(0, node, 1, lease_ns)]
        else:
            found.append(Step(Move.OPEN))
    # The messages that are left are done, one after the other.
    found += [deletes(0, node, newest=1) for node in CONSUMERS]
    return [*found, *[receives(0, CONSUMERS[0], 1, lease_ns), deletes(0, CONSUMERS[0], newest=1)] * steps]


@dataclass(frozen=True, slots=True)
class Package:
    """A library of PyPI. name: its name there. errors: as of a product, beside those of SQLite."""

    name: str
    text: str
    library: type[Library]
    errors: tuple[str, ...] = ()

    @property
    def needs(self) -> Needs:
        return Needs(pypi=(self.name,))

    def why_not(self) -> str | None:
        is_here = importlib.util.find_spec(self.library.module) is not None
        return self.needs.why_not([] if is_here else [self.name])

    @contextmanager
    def serve(self, folder: Path) -> Iterator[Play]:
        def opened(name: str, seconds: float) -> Library:
            place = folder.resolve() / name
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            return self.library(place, seconds)

        yield playing(opened, f"{self.name} {importlib.metadata.version(self.name)}")


PACKAGES = (
    Package("localqueue", "queues of localqueue, over SQLite", LocalQueue, ("localqueue.LocalQueueError",)),
    Package("simplebroker", "queues of SimpleBroker, over SQLite", SimpleBroker, ("simplebroker.ext.BrokerError",)),
    Package("persist-queue", "the queues with acknowledgements of persist-queue, over SQLite", PersistQueue),
)


def product(package: Package) -> Product:
    return Product(
        name=package.name,
        text=package.text,
        profile=Path(__file__).with_name(f"{package.name}.toml"),
        why_not=package.why_not,
        needs=package.needs,
        serve=package.serve,
        # Nothing is known to be wrong with them.
        steps=lambda seed, quiet: drawn(seed, package.library.has_leases),
        errors=(*package.errors, "sqlite3.Error"),
        vocabulary=vocabulary(Move, Step),
    )


PRODUCTS = tuple(map(product, PACKAGES))
