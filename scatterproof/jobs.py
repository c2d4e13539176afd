"""Work shared out between processes, with its results in order, or as they come.

Workers are forked, so that the work may be any function; what it returns is pickled. An error for the user comes back
as if it had been raised here. Workers that are still busy when nobody wants their results get SIGTERM, and end what
they have started. A worker whose parent has died ends when it has done what it was given.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from types import FrameType
from typing import Any, TypeVar

from scatterproof.spec.errors import CannotRun, ScatterproofError
from scatterproof.spec.plugins import lacking

Result = TypeVar("Result")
_GONE = (EOFError, OSError)  # the other end of a pipe


@dataclass(frozen=True, slots=True)
class JobQueue:
    """What some of the workers take from.

    numbers: the pieces of work, in the order in which they are begun.
    jobs: how many processes take from it at the most.
    niceness: what is added to that of these processes.
    at_end: called in each of these processes when there is nothing more for it to do.
    then: another queue, from which the last of these processes takes when its own is done.
    """

    numbers: Sequence[int]
    jobs: int
    niceness: int = 0
    at_end: Callable[[], None] = lambda: None
    then: JobQueue | None = None


def in_order(work: Callable[[int], Result], count: int, jobs: int) -> Generator[Result, None, None]:
    """work(0), work(1), ... work(count - 1), done by `jobs` processes at most; in this one when that is 1.

    Close it when no more is wanted. Raises what the work raises for a user, and CannotRun when a worker ends before it
    is done."""
    if min(jobs, count) <= 1:
        yield from map(work, range(count))
        return
    early: dict[int, Result | ScatterproofError] = {}
    with closing(as_done(work, [JobQueue(range(count), jobs)])) as found:
        for number in range(count):
            while number not in early:
                done, result = next(found)
                early[done] = result
            yield _raised(early.pop(number))


def as_done(
    work: Callable[[int], Result], queues: Sequence[JobQueue]
) -> Generator[tuple[int, Result | ScatterproofError], None, None]:
    """(number, work(number)) of all that is in the queues, in the order in which they are done. An error for the user
    is a result like any other.

    Close it when no more is wanted. Raises CannotRun when a worker ends before it is done.
    """
    workers = _Workers(work, queues)
    try:
        yield from workers.results()
    finally:
        workers.end()


def _raised(result: Result | ScatterproofError) -> Result:
    if isinstance(result, ScatterproofError):
        raise result
    return result


@dataclass(slots=True)
class _Line:
    """A queue at work. workers: how many take from it."""

    queue: JobQueue
    waiting: deque[int]
    workers: int = 0


class _Workers:
    """_line_of: what each worker takes from, by our end of its pipe.
    _busy: what each busy worker was given.
    """

    def __init__(self, work: Callable[[int], Any], queues: Sequence[JobQueue]) -> None:
        context = multiprocessing.get_context("fork")
        self._processes: dict[Connection, Any] = {}
        self._lines = [_Line(queue, deque(queue.numbers)) for queue in queues]
        self._line_of: dict[Connection, _Line] = {}
        self._busy: dict[Connection, int] = {}
        for line in self._lines:
            queue = line.queue
            line.workers = min(queue.jobs, len(line.waiting))
            for _ in range(line.workers):
                ours, theirs = context.Pipe()
                # A worker that held our ends would keep the pipes of others open when we are gone.
                unused = (*self._processes, ours)
                process = context.Process(target=_serve, args=(theirs, unused, work, queue), daemon=False)
                process.start()
                theirs.close()
                self._processes[ours] = process
                self._line_of[ours] = line

    def results(self) -> Iterator[tuple[int, Any]]:
        """The result of each number, as they are done; each worker has one number at a time."""
        for pipe in self._processes:
            self._give(pipe)
        while self._busy:
            for ready in wait(list(self._busy)):
                assert isinstance(ready, Connection)
                number = self._busy[ready]
                result = self._take(ready)
                self._give(ready)
                yield number, result

    def _give(self, pipe: Connection) -> None:
        """Give the worker the next piece of work of its queue, or, if it is the last one there, of the queue that comes
        then; without one it ends."""
        line = self._line_of[pipe]
        if not line.waiting:
            line.workers -= 1
            then = next((other for other in self._lines if other.queue is line.queue.then), None)
            if line.workers or then is None or not then.waiting:
                pipe.close()
                return
            self._line_of[pipe] = line = then
            line.workers += 1
        number = line.waiting.popleft()
        self._busy[pipe] = number
        with suppress(*_GONE):  # `_take` notices it
            pipe.send(number)

    def _take(self, pipe: Connection) -> Any:
        try:
            result = pipe.recv()
        except _GONE:
            process = self._processes[pipe]
            process.join()
            raise CannotRun(
                f"a process of --jobs ended with exit code {process.exitcode} before it was done; take --jobs 1"
            ) from None
        del self._busy[pipe]
        return result

    def end(self) -> None:
        """End all workers: the idle ones as nothing more comes, the busy ones by SIGTERM."""
        for pipe in self._busy:
            self._processes[pipe].terminate()
        for pipe in self._processes:
            pipe.close()
        for process in self._processes.values():
            process.join()


def _serve(pipe: Connection, unused: Sequence[Connection], work: Callable[[int], object], queue: JobQueue) -> None:
    """What a worker does: numbers come in, results go out."""
    # Ctrl-C reaches the whole group; it is for the parent to say what becomes of the work.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    os.nice(queue.niceness)
    for other in unused:
        other.close()
    try:
        with suppress(*_GONE):
            while True:
                number = pipe.recv()
                pipe.send(_result(work, number))
    finally:
        queue.at_end()


def _result(work: Callable[[int], object], number: int) -> object:
    try:
        return work(number)
    except ScatterproofError as error:
        return error
    except ImportError as error:
        told = lacking(error)
        if told is None:
            raise
        return told


def _leave(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)
