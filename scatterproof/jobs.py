"""Work shared out between processes, with its results in order.

Workers are forked, so that the work may be any function; what it returns is pickled. An error for the user comes back
as if it had been raised here. Workers that are still busy when nobody wants their results are asked to end, by SIGTERM,
and so end what they have started. A worker whose parent has died ends when it has done what it was given.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from types import FrameType
from typing import Any, TypeVar

from spec.errors import CannotRun, ScatterproofError

Result = TypeVar("Result")
_GONE = (EOFError, OSError)  # the other end of a pipe


def in_order(work: Callable[[int], Result], count: int, jobs: int) -> Generator[Result, None, None]:
    """work(0), work(1), ... work(count - 1), done by `jobs` processes at most; in this one when that is 1.

    Close it when no more is wanted. Raises what the work raises for a user, and CannotRun when a worker ends before it
    is done."""
    if min(jobs, count) <= 1:
        yield from map(work, range(count))
        return
    workers = _Workers(work, min(jobs, count))
    try:
        yield from workers.results(count)
    finally:
        workers.end()


class _Workers:
    """`idle` and `busy`: our ends of their pipes; with what a busy one was given."""

    def __init__(self, work: Callable[[int], Any], jobs: int) -> None:
        context = multiprocessing.get_context("fork")
        self._processes: dict[Connection, Any] = {}
        self._busy: dict[Connection, int] = {}
        for _ in range(jobs):
            ours, theirs = context.Pipe()
            # A worker that held our ends would keep the pipes of others open when we are gone.
            unused = (*self._processes, ours)
            process = context.Process(target=_serve, args=(theirs, unused, work), daemon=False)
            process.start()
            theirs.close()
            self._processes[ours] = process
        self._idle = list(self._processes)

    def results(self, count: int) -> Iterator[Any]:
        """One a number from 0, in order: as many as there are workers are under way at once."""
        done: dict[int, Any] = {}
        given = 0
        for number in range(count):
            while number not in done:
                while self._idle and given < count:
                    pipe = self._idle.pop()
                    self._busy[pipe] = given
                    with suppress(*_GONE):  # reading tells
                        pipe.send(given)
                    given += 1
                for ready in wait(list(self._busy)):
                    assert isinstance(ready, Connection)
                    finished = self._busy[ready]
                    done[finished] = self._take(ready)
            result = done.pop(number)
            if isinstance(result, ScatterproofError):
                raise result
            yield result

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
        self._idle.append(pipe)
        return result

    def end(self) -> None:
        """End them all: the idle ones as nothing more comes, the busy ones as they are told to."""
        for pipe in self._busy:
            self._processes[pipe].terminate()
        for pipe in self._processes:
            pipe.close()
        for process in self._processes.values():
            process.join()


def _serve(pipe: Connection, unused: Sequence[Connection], work: Callable[[int], object]) -> None:
    """What a worker does: numbers come in, results go out."""
    # Ctrl-C reaches the whole group; it is for the parent to say what becomes of the work.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    for other in unused:
        other.close()
    while True:
        try:
            number = pipe.recv()
        except _GONE:
            return
        try:
            result = work(number)
        except ScatterproofError as error:
            result = error
        try:
            pipe.send(result)
        except _GONE:
            return


def _leave(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)
