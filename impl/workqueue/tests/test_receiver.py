"""Receiver and workers, over every store."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from scatterproof.impl.workqueue.cleaning import Cleaning
from scatterproof.impl.workqueue.conftest import Clock, Stores, make_stores
from scatterproof.impl.workqueue.handling import Context
from scatterproof.impl.workqueue.receiver import Receiver
from scatterproof.impl.workqueue.sender import Sender
from scatterproof.impl.workqueue.stores.access import GroupMessage, LockedGroup
from scatterproof.impl.workqueue.stores.memory import MemoryStore
from scatterproof.impl.workqueue.stores.tests.cluster import Cluster
from scatterproof.impl.workqueue.worker import Policy
from scatterproof.spec.errors import BadInput

LIMIT_S = 60.0
QUICK = Policy(retry_ms=0)


class Recording:
    """Handlers of one receiver: what they were told, in order. act: what `process` does."""

    def __init__(
        self, act: Callable[[GroupMessage, LockedGroup, Context], bool] = lambda message, group, context: True
    ) -> None:
        self.act, self.made = act, 0
        self.said: list[tuple[Any, ...]] = []
        self.changed = threading.Condition()

    def __call__(self) -> Recording:
        self.made += 1
        return self

    def start_group(self, group: LockedGroup, context: Context) -> None:
        self._say("start", group.group, context.group_retries)

    def process(self, message: GroupMessage, group: LockedGroup, context: Context) -> bool:
        self._say(message.body, context.retries)
        return self.act(message, group, context)

    def end_group(self, group: LockedGroup) -> None:
        self._say("end", group.group)

    def until(self, *wanted: Any) -> None:
        """Wait until this was said."""
        with self.changed:
            assert self.changed.wait_for(lambda: wanted in self.said, LIMIT_S), self.said

    def _say(self, *what: Any) -> None:
        with self.changed:
            self.said.append(what)
            self.changed.notify_all()


@contextmanager
def running(stores: Stores, handlers: Any, server: str = "r", **options: Any) -> Iterator[Receiver]:
    receiver = Receiver(stores, handlers, server, **{"poll_interval_ms": 5.0, "policy": QUICK, **options})
    receiver.start()
    try:
        yield receiver
    finally:
        receiver.stop()
        assert receiver.wait(LIMIT_S)


def send(stores: Stores, correlation: str, *bodies: bytes) -> int:
    sender = Sender(stores, "s")
    with sender.group(1, 1, correlation) as put:
        for body in bodies:
            put(body)
    return 0


def test_q_handler_a_group_goes_through_start_its_messages_and_end(stores: Stores) -> None:
    handlers = Recording()
    send(stores, "c", b"1", b"2")
    send(stores, "c", b"3")
    with running(stores, handlers) as receiver:
        handlers.until("end", 2)
    assert handlers.said == [
        *(("start", 1, 1), (b"1", 1), (b"2", 1), ("end", 1)),
        *(("start", 2, 1), (b"3", 1), ("end", 2)),
    ]
    told = receiver.counters.told()
    assert (told["groups_taken"], told["groups_finished"], told["processed"], told["refused"]) == (2, 2, 3, 0)
    assert handlers.made == 1
    assert stores().contents().messages == 0


def test_q_context_a_group_whose_start_fails_has_not_tried_its_message(stores: Stores) -> None:
    class Failing(Recording):
        def start_group(self, group: LockedGroup, context: Context) -> None:
            super().start_group(group, context)
            if context.group_retries < 3:
                raise ValueError("not yet")

    handlers = Failing()
    send(stores, "c", b"1")
    with running(stores, handlers, policy=Policy(retry_ms=0, tries=1)):
        handlers.until(b"1", 1)
        handlers.until("end", 1)
    assert handlers.said[:4] == [("start", 1, 1), ("end", 1), ("start", 1, 2), ("end", 1)]
    assert stores().contents().set_aside == 0


def test_q_retry_a_message_that_fails_is_tried_again_and_the_next_one_waits(stores: Stores) -> None:
    handlers = Recording(lambda message, group, context: message.body != b"1" or context.retries == 3)
    send(stores, "c", b"1", b"2")
    with running(stores, handlers) as receiver:
        handlers.until("end", 1)
    assert handlers.said[1:-1] == [(b"1", 1), (b"1", 2), (b"1", 3), (b"2", 1)]
    assert receiver.counters.failed == 2


def test_q_retry_a_worker_that_dies_has_its_group_tried_again_from_where_it_was(stores: Stores) -> None:
    def act(message: GroupMessage, group: LockedGroup, context: Context) -> bool:
        if message.body == b"2" and context.retries == 1:
            raise ZeroDivisionError("of the handler")
        return True

    deaths: list[Exception] = []
    handlers = Recording(act)
    send(stores, "c", b"1", b"2")
    with running(stores, handlers, on_death=deaths.append) as receiver:
        handlers.until("start", 1, 2)
        handlers.until(b"2", 2)
    assert [said for said in handlers.said if said != ("end", 1)] == [
        *(("start", 1, 1), (b"1", 1), (b"2", 1)),
        *(("start", 1, 2), (b"2", 2)),
    ]
    assert [str(death) for death in deaths] == ["of the handler"]
    assert receiver.counters.died == 1


@pytest.mark.parametrize("raises", [False, True])
def test_q_poison_after_the_tries_a_message_is_set_aside_and_the_group_goes_on(stores: Stores, raises: bool) -> None:
    def act(message: GroupMessage, group: LockedGroup, context: Context) -> bool:
        if raises and message.body == b"bad":
            raise ValueError("no such thing")
        return message.body != b"bad"

    handlers = Recording(act)
    send(stores, "c", b"bad", b"good")
    with running(stores, handlers, policy=Policy(retry_ms=0, tries=3)):
        handlers.until(b"good", 1)
    assert [said for said in handlers.said if said[0] == b"bad"] == [(b"bad", 1), (b"bad", 2), (b"bad", 3)]
    (aside,) = stores().set_aside()
    assert (aside.body, aside.retries) == (b"bad", 3)
    assert ("no such thing" if raises else "returned false") in aside.reason


def test_q_poison_a_message_that_kills_its_process_is_set_aside_too(stores: Stores) -> None:
    send(stores, "c", b"bad", b"good")
    access = stores()
    for _ in range(2):
        group = access.next_group("r")
        assert group is not None
        access.read_message(group.group, group.token)
        access.unlock_server_groups("r")
    handlers = Recording()
    with running(stores, handlers, policy=Policy(retry_ms=0, tries=2)):
        handlers.until(b"good", 1)
    assert (b"bad", 3) not in handlers.said
    (aside,) = stores().set_aside()
    assert "its worker died" in aside.reason


def test_q_poison_by_default_a_message_blocks_its_correlation_and_no_other(stores: Stores) -> None:
    handlers = Recording(lambda message, group, context: message.body != b"bad")
    send(stores, "c", b"bad")
    send(stores, "c", b"behind")
    send(stores, "d", b"other")
    with running(stores, handlers, service_limit=2):
        handlers.until(b"other", 1)
        handlers.until(b"bad", 50)
    assert (b"behind", 1) not in handlers.said


def test_q_workers_as_many_as_the_limit_work_at_once_and_no_more(stores: Stores) -> None:
    gate, lock, at_once = threading.Barrier(3), threading.Lock(), [0, 0]

    def act(message: GroupMessage, group: LockedGroup, context: Context) -> bool:
        with lock:
            at_once[0] += 1
            at_once[1] = max(at_once)
        gate.wait(LIMIT_S)  # passes when three are here
        with lock:
            at_once[0] -= 1
        return True

    handlers = Recording(act)
    for n in range(9):
        send(stores, f"c{n}", b"x")
    with running(stores, handlers, service_limit=3) as receiver:
        for n in range(9):
            handlers.until("end", n + 1)
        assert receiver.workers <= 3
    assert at_once == [0, 3]


def test_q_receiver_the_service_limit_is_changed_while_it_runs(stores: Stores) -> None:
    both = threading.Barrier(2)

    def act(message: GroupMessage, group: LockedGroup, context: Context) -> bool:
        if message.body == b"both":
            both.wait(LIMIT_S)
        return True

    handlers = Recording(act)
    send(stores, "a", b"both")
    send(stores, "b", b"both")
    with running(stores, handlers, poll_interval_ms=86_400_000.0) as receiver:
        handlers.until("start", 1, 1)
        assert ("start", 2, 1) not in handlers.said
        receiver.service_limit = 2
        handlers.until("end", 1)
        handlers.until("end", 2)
        receiver.service_limit = 1
        send(stores, "c", b"one")
        receiver.wake()
        handlers.until("end", 3)


def test_q_receiver_stop_ends_workers_after_the_message_in_hand_and_gives_their_groups_back(stores: Stores) -> None:
    holding, go = threading.Event(), threading.Event()

    def act(message: GroupMessage, group: LockedGroup, context: Context) -> bool:
        holding.set()
        return go.wait(LIMIT_S)

    handlers = Recording(act)
    send(stores, "c", b"1", b"2")
    receiver = Receiver(stores, handlers, "r", poll_interval_ms=5.0)
    seen = [receiver.done]
    receiver.start()
    assert holding.wait(LIMIT_S)
    receiver.stop()
    seen.append(receiver.done)
    go.set()
    assert receiver.wait(LIMIT_S)
    seen.append(receiver.done)
    assert seen == [True, False, True]
    assert handlers.said == [("start", 1, 1), (b"1", 1), ("end", 1)]
    found = stores().contents()
    assert (found.ready, found.receiving, found.messages) == (1, 0, 1)
    receiver.start()
    handlers.until(b"2", 1)
    receiver.stop()
    assert receiver.wait(LIMIT_S)


def test_q_receiver_in_the_foreground_start_returns_when_it_is_done(stores: Stores) -> None:
    handlers = Recording()
    send(stores, "c", b"1")
    receiver = Receiver(stores, handlers, "r", poll_interval_ms=5.0)

    def end() -> None:
        handlers.until("end", 1)
        receiver.stop()

    ending = threading.Thread(target=end)
    ending.start()
    receiver.start(background=False)
    assert receiver.done
    ending.join()


def test_q_crash_boot_two_receivers_with_one_server_id_do_no_harm(stores: Stores) -> None:
    holding, go = threading.Event(), threading.Event()

    def hold(message: GroupMessage, group: LockedGroup, context: Context) -> bool:
        holding.set()
        return go.wait(LIMIT_S)

    first, second = Recording(hold), Recording()
    send(stores, "c", b"1", b"2")
    with running(stores, first, "same") as slow:
        assert holding.wait(LIMIT_S)
        with running(stores, second, "same"):
            second.until("end", 1)
        go.set()
        first.until("end", 1)
    # The first one's lock was released under it: its pop was refused, and it began nothing more.
    assert first.said == [("start", 1, 1), (b"1", 1), ("end", 1)]
    assert second.said == [("start", 1, 2), (b"1", 2), (b"2", 1), ("end", 1)]
    assert (slow.counters.refused, slow.counters.processed) == (1, 0)


def test_q_crash_dead_a_receiver_cleans_away_what_dead_ones_left(stores: Stores) -> None:
    access = stores()
    opened = access.open_group(type=1, priority=1, correlation="half", server="gone")
    access.send_message(opened.group, opened.token, b"half")
    send(stores, "c", b"held")
    assert access.next_group("gone") is not None
    send(stores, "half", b"behind")
    stores.clock.now += 10_000_000_000
    handlers = Recording()
    cleaning = Cleaning(senders_ms=1_000, receivers_ms=1_000, every_ms=1)
    with running(stores, handlers, cleaning=cleaning) as receiver:
        handlers.until(b"held", 1)
        handlers.until(b"behind", 1)
    assert (receiver.counters.cleaned_groups, receiver.counters.cleaned_locks) == (1, 1)


def test_a_receiver_is_woken_long_before_it_polls() -> None:
    queue = MemoryStore()
    handlers = Recording()
    stores = Stores("memory", Clock(), "", lambda: queue)
    with running(stores, handlers, poll_interval_ms=86_400_000.0):
        send(stores, "c", b"1")
        handlers.until("end", 1)


def test_a_receiver_on_postgresql_is_woken_by_the_server(postgres_server: Cluster, tmp_path: Path) -> None:
    stores = make_stores("postgresql", tmp_path, postgres_server)
    handlers = Recording()
    with running(stores, handlers, poll_interval_ms=86_400_000.0):
        for n in range(5):
            send(stores, "c", b"%d" % n)
            handlers.until("end", n + 1)
    stores.close()


def test_a_handler_that_cannot_be_made_ends_the_receiver_with_a_sentence(stores: Stores) -> None:
    def broken() -> Recording:
        raise ZeroDivisionError("no")

    receiver = Receiver(stores, broken, "r")
    receiver.start()
    with pytest.raises(BadInput, match="a handler cannot be made: ZeroDivisionError: no"):
        receiver.wait(LIMIT_S)
    assert receiver.done


def test_limits_are_said() -> None:
    with pytest.raises(BadInput, match="service limit is 0"):
        Receiver(MemoryStore, Recording(), "r", service_limit=0)
    with pytest.raises(BadInput, match="poll interval is 0"):
        Receiver(MemoryStore, Recording(), "r", poll_interval_ms=0)
    with pytest.raises(BadInput, match="senders_ms"):
        Cleaning(senders_ms=-1)
