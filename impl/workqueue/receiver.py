"""Receiving groups of messages (Q-RECEIVER, Q-WORKERS; figure 4 of the source).

    receiver = Receiver(factory("sqlite:queue.db"), MyHandler, server="machine-7", service_limit=4)
    receiver.start()
    ...
    receiver.stop()
    receiver.wait()

A thread polls the store while there is room for a worker; each worker is a thread with a handler and an access of its
own, which takes group after group until none is ready. Whoever waits is woken by the store where it can do so.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from scatterproof.impl.workqueue.cleaning import Cleaning, clean
from scatterproof.impl.workqueue.handling import Counters, Handler, HandlerFactory
from scatterproof.impl.workqueue.stores.access import (
    Access,
    Factory,
    OutcomeUnknown,
    Taken,
    Unavailable,
    check_name,
)
from scatterproof.impl.workqueue.worker import Death, Policy, Work
from scatterproof.spec.errors import BadInput, ScatterproofError

POLL_MS = 1000.0


@dataclass(frozen=True, slots=True)
class _Seat:
    """What a worker has while it works; kept for the next one."""

    access: Access
    handler: Handler


class Receiver:
    """Runs workers under a server id. service_limit: the most workers at once; may be set while it runs, as may
    poll_interval_ms. policy: retries. cleaning: what dead senders and receivers left is cleaned away so often; None for
    never. on_death: is told what a handler raised, from the worker's thread."""

    def __init__(
        self,
        factory: Factory,
        handlers: HandlerFactory,
        server: str,
        *,
        service_limit: int = 1,
        poll_interval_ms: float = POLL_MS,
        policy: Policy | None = None,
        cleaning: Cleaning | None = None,
        on_death: Callable[[Exception], None] = lambda _: None,
    ) -> None:
        check_name("server", server)
        self._factory, self._handlers, self._server = factory, handlers, server
        self._policy, self._cleaning, self._on_death = policy or Policy(), cleaning, on_death
        self.counters = Counters()
        self.error: ScatterproofError | None = None  # what ended it in the background
        self._changed = threading.Condition()
        self._woken = False
        self._stopping = threading.Event()
        self._workers = 0
        self._seats: list[_Seat] = []
        self._thread: threading.Thread | None = None
        self._is_running = False
        self.service_limit = service_limit
        self.poll_interval_ms = poll_interval_ms

    @property
    def service_limit(self) -> int:
        """The most workers at once. Where it is lowered, workers that are too many end after their group."""
        return self._limit

    @service_limit.setter
    def service_limit(self, limit: int) -> None:
        if limit < 1:
            raise BadInput(f"the service limit is {limit}; give at least 1")
        self._limit = limit
        self.wake()

    @property
    def poll_interval_ms(self) -> float:
        """How long to wait before the store is asked again."""
        return self._poll_ms

    @poll_interval_ms.setter
    def poll_interval_ms(self, interval: float) -> None:
        if not 0 < interval <= 86_400_000:
            raise BadInput(f"the poll interval is {interval} ms; give more than 0, and a day at most")
        self._poll_ms = interval
        self.wake()

    @property
    def done(self) -> bool:
        """Whether the receiver and all its workers have ended, or have not begun."""
        with self._changed:
            return not self._is_running

    @property
    def workers(self) -> int:
        """How many work now, or are about to."""
        with self._changed:
            return self._workers

    def start(self, background: bool = True) -> None:
        """Release the receive locks that are held under this server id (Q-CRASH-BOOT), and begin to take groups. In the
        background this returns then; otherwise when `stop` was called and all has ended. BadInput while it runs;
        Unavailable where the store is not there now."""
        with self._changed:
            if self._is_running:
                raise BadInput(f"the receiver of server {self._server} is running")
            self._is_running = True
        self._stopping.clear()
        try:
            access = self._factory()
            access.unlock_server_groups(self._server)
        except ScatterproofError:
            self._is_running = False
            raise
        self._thread = threading.Thread(target=self._run, args=(access,), name=f"receiver {self._server}")
        self._thread.start()
        if not background:
            self.wait()

    def stop(self) -> None:
        """End: no group is taken any more, workers end after the message in hand and give their groups back. Returns at
        once; `wait` waits for it."""
        self._stopping.set()
        self.wake()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until it is done; whether it is. Raises what ended it in the background."""
        with self._changed:
            is_done = self._changed.wait_for(lambda: not self._is_running, timeout_s)
        if is_done and self.error is not None:
            error, self.error = self.error, None
            raise error
        return is_done

    def wake(self) -> None:
        """Ask the store now."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def _run(self, access: Access) -> None:
        end_listening = access.listen(self.wake)
        try:
            self._poll(access)
        except ScatterproofError as error:
            self.error = error
        finally:
            self._stopping.set()
            end_listening()
            with self._changed:
                self._changed.wait_for(lambda: not self._workers)
            for seat in self._seats:
                seat.access.close()
            self._seats.clear()
            access.close()
            with self._changed:
                self._is_running = False
                self._changed.notify_all()

    def _poll(self, access: Access) -> None:
        cleaned_ns = 0
        while not self._stopping.is_set():
            taken, seat = None, None
            with self._changed:
                self._woken = False
            try:
                if self._cleaning is not None:
                    cleaned_ns = self._clean(access, self._cleaning, cleaned_ns)
                seat = self._seat()
                taken = seat.access.take(self._server) if seat is not None else None
            except (Unavailable, OutcomeUnknown):
                self.counters.add("store_errors")
            if seat is not None and taken is not None and taken.group is not None:
                threading.Thread(target=self._worker, args=(taken, seat), name=f"worker {self._server}").start()
                continue
            with self._changed:
                if seat is not None:
                    self._leave(seat)
                self._changed.wait_for(lambda: self._woken or self._stopping.is_set(), self._poll_ms / 1000)

    def _seat(self) -> _Seat | None:
        """One for a worker, which counts from now on; None where there are as many as may be."""
        with self._changed:
            if self._workers >= self._limit:
                return None
            self._workers += 1
            if self._seats:
                return self._seats.pop()
        made, making = None, Death()
        try:
            with making:
                handler = self._handlers()
                made = _Seat(self._factory(), handler)
        finally:
            if made is None:
                with self._changed:
                    self._workers -= 1
        if isinstance(making.error, ScatterproofError):
            raise making.error
        if making.error is not None:
            raise BadInput(f"a handler cannot be made: {type(making.error).__name__}: {making.error}")
        return made

    def _leave(self, seat: _Seat) -> None:
        """The worker is none any more."""
        self._workers -= 1
        self._seats.append(seat)

    def _worker(self, taken: Taken, seat: _Seat) -> None:
        """Take this group and those that follow to their ends."""
        work = Work(
            seat.access, seat.handler, self._policy, self.counters, self._server, self._stopping, self._may_go_on
        )
        following: Taken | None = taken
        try:
            while following is not None and following.group is not None:
                self.counters.add("groups_taken")
                error, following = work.group(following.group, following.message)
                if error is not None:
                    self._on_death(error)
                following = following or self._following(seat.access)
        finally:
            with self._changed:
                self._leave(seat)
                self._woken = True
                self._changed.notify_all()

    def _may_go_on(self) -> bool:
        """Whether a worker may take another group."""
        return not self._stopping.is_set() and self.workers <= self._limit

    def _following(self, access: Access) -> Taken | None:
        """Another group for a worker, so long as it may go on."""
        if not self._may_go_on():
            return None
        try:
            return access.take(self._server)
        except (Unavailable, OutcomeUnknown):
            self.counters.add("store_errors")
            return None

    def _clean(self, access: Access, cleaning: Cleaning, cleaned_ns: int) -> int:
        """Clean where it is time; when it was done last, on the store's clock."""
        now = access.now_ns()
        if now - cleaned_ns < cleaning.every_ms * 1_000_000:
            return cleaned_ns
        done = clean(access, cleaning)
        self.counters.add("cleaned_groups", done.removed)
        self.counters.add("cleaned_locks", done.released)
        return now
