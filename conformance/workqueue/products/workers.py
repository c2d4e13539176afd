"""What drivers share for products whose workers are processes of their own, and report the jobs that they are handed.

Client 1 adds jobs. Clients 2 and 3 are workers with one job at a time each. A job ends (`delete`), or fails and is
tried again at once (`give_back`).
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic, TypeVar

from scatterproof.conformance.workqueue.cases.building import deletes, gives_back, receives
from scatterproof.conformance.workqueue.products.history import SECOND_NS, History
from scatterproof.spec.schedule import Call
from scatterproof.spec.topology import NodeId
from scatterproof.spec.workqueue.messages import CallName, Handed

SENDER, WORKERS, GROUPS = 1, (2, 3), (1, 2)
LEASE_NS = 1_000_000 * SECOND_NS  # for as long as the worker lives and works, or until it is found stalled

MoveT = TypeVar("MoveT", bound=Enum)


@dataclass(frozen=True, slots=True)
class Step(Generic[MoveT]):
    """A step that is no call."""

    move: MoveT
    node: NodeId = 0


@dataclass(slots=True)
class Job:
    """A job. name: the product's. holder: the worker that began it last, and has not ended it."""

    name: Any
    group: int
    holder: NodeId | None = None
    done: bool = False


@dataclass(slots=True)
class Worker:
    """A worker's place.

    process: None while there is none.
    paused: whether it was stopped, and may go on.
    job: the one that the worker has begun.
    stale: whether that job was taken from it since.
    lost: the jobs of workers that were killed at this place, and have not come back.
    """

    process: Any = None
    paused: bool = False
    job: Handed | None = None
    stale: bool = False
    lost: list[Handed] = field(default_factory=list)

    @property
    def is_idle(self) -> bool:
        return self.process is not None and not self.paused and self.job is None


class Driver(ABC):
    """Carries out steps at one queue.

    patience_s: how long to wait for a job that is due.
    glance_s: how long to wait where none is.
    tells_stale: whether to record what a worker does to a job that was taken from it.
    """

    patience_s = 10.0
    glance_s = 0.1
    tells_stale = True

    def __init__(self) -> None:
        self.history = History()
        self._stands = False  # a job that is due was not begun in time; each further step would take as long
        self._workers = {node: Worker() for node in WORKERS}
        self._jobs: dict[bytes, Job] = {}
        self._receipts, self._since_ns = 0, 0

    # ---------------------------------------------------------------- of the product

    @abstractmethod
    def put(self, call: Call) -> None: ...

    @abstractmethod
    def move(self, step: Any) -> None: ...

    @abstractmethod
    def end_one(self, worker: Worker, job: Job, *, fails: bool) -> None:
        """Let the worker end its job, and wait until that is done."""

    @abstractmethod
    def reported(self, node: NodeId, worker: Worker) -> Sequence[bytes]:
        """The jobs that it has begun, by their bodies, which were not reported before."""

    def all_told(self) -> bool:
        """Whether workers have reported all jobs that they have begun."""
        return True

    @abstractmethod
    def end(self) -> None:
        """End all that was started."""

    # ---------------------------------------------------------------- for all

    def play(self, steps: Iterable[Any]) -> History:
        """Carry out these steps, end what they have started, whatever comes, and return what was seen."""
        try:
            for step in steps:
                self.make(step)
        finally:
            self.end()
        return self.history

    def make(self, step: Any) -> None:
        if self._stands:
            return
        self.look()
        if not isinstance(step, Call):
            self.move(step)
        elif step.call == CallName.PUT_MESSAGE:
            self.put(step)
        else:
            self._end_job(step)
        self._since_ns = self.history.now_ns()
        self._settle()

    def _end_job(self, call: Call) -> None:
        node, worker, fails = call.node, self._workers[call.node], call.call == CallName.GIVE_BACK
        if worker.job is None or worker.process is None or worker.paused:
            return
        handed, job = worker.job, self._jobs[worker.job.payload]
        ends = gives_back(0, node, newest=1) if fails else deletes(0, node, newest=1)
        if self.tells_stale or not worker.stale:
            self.history.called(ends)
        self.end_one(worker, job, fails=fails)
        if self.tells_stale or not worker.stale:
            self.history.returned(node, about=handed)
        if job.holder in (node, None):
            job.holder, job.done = None, job.done or not fails
        worker.job, worker.stale = None, False

    def note(self, call: Call, handed: Handed) -> None:
        """Record a call by which a worker loses its job."""
        self.history.called(call)
        self.history.returned(call.node, about=handed)

    def look(self) -> None:
        """Record the jobs that workers have begun."""
        for node in WORKERS:
            for body in self.reported(node, self._workers[node]):
                job, worker = self._jobs[body], self._workers[node]
                self._receipts += 1
                self.history.called(receives(0, node, 1, LEASE_NS), self._since_ns)
                worker.job = self.history.handed(node, body, self._receipts, job.group)
                worker.stale, job.holder = False, node
                self.history.returned(node)
                self._since_ns = self.history.now_ns()

    def _settle(self) -> None:
        """Wait until workers have begun the jobs that are due; record a receive without a job if they leave one."""
        begun = time.monotonic()
        while (idle := next((node for node, worker in self._workers.items() if worker.is_idle), None)) is not None:
            due, passed_s = self._is_due(), time.monotonic() - begun
            if due and passed_s > self.patience_s:
                self.history.called(receives(0, idle, 1, LEASE_NS))
                self.history.returned(idle)
                self._stands = True
                return
            if not due and passed_s > self.glance_s and (passed_s > self.patience_s or self.all_told()):
                return
            time.sleep(0.01)
            self.look()

    def _is_due(self) -> bool:
        """Whether some job is not done, and no job of its group is in progress."""
        busy = {job.group for job in self._jobs.values() if job.holder is not None}
        return any(not job.done and job.group not in busy for job in self._jobs.values())
