"""What the source's rules do on a real store, taken to the letter: each is put into the SQL store, a client hits on it,
and the store as it is does not have it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from scatterproof.impl.workqueue.conftest import Stores
from scatterproof.impl.workqueue.stores import joined
from scatterproof.impl.workqueue.stores.access import Access, LockedGroup, Refused, Unavailable
from scatterproof.impl.workqueue.stores.sql import SqlStore

Damage = tuple[str, str, str]


def half_group(access: Access, correlation: str = "c") -> tuple[int, int]:
    opened = access.open_group(type=0, priority=1, correlation=correlation, server="machine")
    access.send_message(opened.group, opened.token, b"1")
    return opened.group, opened.token


def send(access: Access, correlation: str = "c", priority: int = 1) -> int:
    opened = access.open_group(type=0, priority=priority, correlation=correlation, server="machine")
    access.send_message(opened.group, opened.token, b"x")
    access.close_group(opened.group, opened.token)
    return opened.group


def boot_frees_a_half_group(access: Access) -> bool:
    """Q-CRASH-BOOT: a receiver starts on the machine of a sender that is in the middle of a group."""
    group, _ = half_group(access)
    access.unlock_server_groups("machine")
    taken = access.next_group("machine")
    return taken is not None and taken.group == group


def priority_overtakes(access: Access) -> bool:
    """Q-NEXT: by priority first, a later group of a correlation is handed out before an earlier one."""
    send(access, priority=9)
    later = send(access, priority=1)
    taken = access.next_group("machine")
    return taken is not None and taken.group == later


def slow_worker_dequeues(access: Access) -> bool:
    """Q-CRASH-DEAD: a worker that was declared dead goes on, and dequeues what another one holds."""
    send(access)
    slow = access.next_group("slow")
    assert slow is not None
    access.clean(0, 1 << 62)
    other = access.next_group("other")
    assert other is not None
    try:
        access.pop_message(slow.group, slow.token, 1)
    except Refused:
        return False
    return access.read_message(other.group, other.token) is None


def slow_sender_adds_to_a_held_group(access: Access) -> bool:
    """Q-CRASH-SEND, Q-ATOMIC: a sender goes on with a group that is not locked for sending any more."""
    opened = access.open_group(type=0, priority=1, correlation="c", server="machine")
    access.send_message(opened.group, opened.token, b"1")
    access.close_group(opened.group, opened.token)
    try:
        access.send_message(opened.group, opened.token, b"2")
    except Refused:
        return False
    taken = access.next_group("r")
    return taken is not None and taken.last_message == 2


LITERAL: dict[Callable[[Access], bool], list[Damage]] = {
    boot_frees_a_half_group: [
        ("UNLOCK", "WHERE state = 4 AND group_id", "WHERE group_id"),
        ("UNLOCK", "WHERE state = 4 AND {whose}", "WHERE state IN (1, 4) AND {whose}"),
    ],
    # The first by priority is made the ready one: the close of a group makes it so, whatever waits before it.
    priority_overtakes: [
        ("PROMOTE", "WHERE state = 2 AND group_id =", "WHERE state IN (2, 3) AND group_id ="),
        ("PROMOTE", "ORDER BY group_id", "ORDER BY priority, group_id"),
        ("CLOSE_WHOLE", "THEN 2", "THEN 3"),
    ],
    slow_worker_dequeues: [("POP", " AND token = :token", "")],
    slow_sender_adds_to_a_held_group: [
        (name, " AND state = 1", "") for name in ("COUNT_MESSAGE", "ADD_MESSAGE", "SEND")
    ],
}


@contextmanager
def damaged(store: Access, damage: list[Damage]) -> Iterator[None]:
    assert isinstance(store, SqlStore)
    for statement, part, instead in damage:
        if statement in vars(joined) and statement not in store.sql:
            continue
        assert part in store.sql[statement], store.sql[statement]
        store.sql[statement] = store.sql[statement].replace(part, instead)
    yield


@pytest.fixture
def store(stores: Stores) -> Access:
    return stores()


@pytest.mark.parametrize("stores", ["sqlite", "postgresql"], indirect=True)
@pytest.mark.parametrize("happens", LITERAL, ids=lambda happens: happens.__name__)
def test_what_the_letter_allows_happens_by_it_and_not_here(stores: Stores, happens: Callable[[Access], bool]) -> None:
    access = stores()
    assert not happens(access)
    _empty(access)
    if happens is priority_overtakes:
        # At most one group of a correlation is ready or held: an index says so, and is in the letter's way.
        assert isinstance(access, SqlStore)
        with access.database.transaction() as execute:
            execute("DROP INDEX scatterproof_first")
    with damaged(access, LITERAL[happens]):
        assert happens(access)


def _empty(access: Access) -> None:
    access.clean(1 << 62, 1 << 62)
    while (group := access.next_group("r")) is not None:
        while (message := access.read_message(group.group, group.token)) is not None:
            access.pop_message(group.group, group.token, message.message)
        access.pop_group(group.group, group.token)


SNAPSHOT = """
SELECT group_id FROM scatterproof_groups g WHERE state <> 1 AND NOT EXISTS
  (SELECT 1 FROM scatterproof_groups h WHERE h.correlation = g.correlation AND h.state = 4)
ORDER BY priority, group_id"""
LOCK = "UPDATE scatterproof_groups SET state = 4, token = token + 1 WHERE group_id = :group AND state <> 4 RETURNING 1"


@pytest.mark.parametrize("is_guarded", [False, True])
@pytest.mark.parametrize("stores", ["sqlite", "postgresql"], indirect=True)
def test_q_next_selecting_and_locking_in_two_steps_hands_out_two_groups_of_a_correlation(
    stores: Stores, is_guarded: bool
) -> None:
    """Figure 3 makes a list (310), and locks a group of it later (370). Two receivers make theirs at one time; the
    first group is locked when the second one comes to it, which then takes the next one of its list."""
    one, other = stores(), stores()
    assert isinstance(one, SqlStore)
    assert isinstance(other, SqlStore)
    send(one)
    send(one)
    if not is_guarded:
        with one.database.transaction() as execute:
            execute("DROP INDEX scatterproof_first")
    lists, taken = [], []
    for store in (one, other):
        with store.database.transaction() as execute:
            lists.append([row[0] for row in execute(SNAPSHOT)])

    def take(store: SqlStore, groups: list[int]) -> None:
        for group in groups:
            with store.database.transaction() as execute:
                if execute(LOCK, group=group):
                    taken.append(group)
                    return

    take(one, lists[0])
    if is_guarded:
        # The tables refuse it.
        with pytest.raises(Unavailable):
            take(other, lists[1])
    else:
        take(other, lists[1])
    assert len(taken) == (1 if is_guarded else 2)


def test_q_poison_a_message_that_no_worker_can_process_blocks_its_correlation(stores: Stores) -> None:
    """The source tries it for ever (figure 5), and suggests a check without saying what becomes of the message."""
    access = stores()
    send(access)
    behind = send(access)
    for _ in range(20):
        group: LockedGroup | None = access.next_group("r")
        assert group is not None
        assert group.group != behind
        access.read_message(group.group, group.token)
        access.release_group(group.group, group.token)
