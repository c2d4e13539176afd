"""The access interface, call by call, held to every store."""

from __future__ import annotations

import threading

import pytest

from scatterproof.impl.workqueue.conftest import Stores
from scatterproof.impl.workqueue.stores.access import NAME_BYTES, Access, LockedGroup, Opened, Refused
from scatterproof.spec.errors import BadInput


def send(access: Access, correlation: str = "c", *bodies: bytes, priority: int = 1, type: int = 0) -> int:
    """Send a whole group; returns its number."""
    opened = access.open_group(type=type, priority=priority, correlation=correlation, server="s")
    for body in bodies or (b"x",):
        access.send_message(opened.group, opened.token, body)
    access.close_group(opened.group, opened.token)
    return opened.group


def take(access: Access, server: str = "r") -> LockedGroup:
    taken = access.next_group(server)
    assert taken is not None
    return taken


def finish(access: Access, group: LockedGroup) -> list[bytes]:
    """Process the whole group; returns the bodies."""
    bodies = []
    while (message := access.read_message(group.group, group.token)) is not None:
        bodies.append(message.body)
        access.pop_message(group.group, group.token, message.message)
    access.pop_group(group.group, group.token)
    return bodies


def groups(access: Access) -> list[int]:
    """All that can be taken, in the order in which it is."""
    taken = []
    while (group := access.next_group("r")) is not None:
        taken.append(group.group)
    return taken


def test_q_meta_a_group_has_what_it_was_opened_with_and_messages_count_from_one(stores: Stores) -> None:
    access = stores()
    opened = access.open_group(type=-7, priority=3, correlation="größe", server="s")
    bodies = [b"", bytes(range(256)), b"z" * 100_000]
    assert [access.send_message(opened.group, opened.token, body) for body in bodies] == [1, 2, 3]
    access.close_group(opened.group, opened.token)
    group = take(access)
    assert (group.group, group.type, group.priority, group.correlation) == (opened.group, -7, 3, "größe")
    assert (group.last_message, group.group_retries) == (3, 1)
    assert finish(access, group) == bodies
    assert access.contents().messages == 0


def test_q_lock_send_a_group_that_is_being_sent_is_handed_to_nobody(stores: Stores) -> None:
    access = stores()
    opened = access.open_group(type=0, priority=1, correlation="c", server="s")
    access.send_message(opened.group, opened.token, b"x")
    assert access.next_group("r") is None
    access.close_group(opened.group, opened.token)
    assert take(access).group == opened.group


def test_q_lock_send_a_cancelled_group_goes_whole_and_frees_its_correlation(stores: Stores) -> None:
    access = stores()
    opened = access.open_group(type=0, priority=1, correlation="c", server="s")
    access.send_message(opened.group, opened.token, b"x")
    later = send(access)
    assert access.next_group("r") is None
    access.flush_group(opened.group, opened.token)
    assert groups(access) == [later]
    assert access.contents().messages == 1


def test_an_empty_group_goes_when_it_is_closed(stores: Stores) -> None:
    access = stores()
    opened = access.open_group(type=0, priority=1, correlation="c", server="s")
    later = send(access)
    access.close_group(opened.group, opened.token)
    assert groups(access) == [later]


def test_q_order_corr_groups_of_a_correlation_go_one_by_one_in_the_order_of_their_opens(stores: Stores) -> None:
    access = stores()
    first, second = (access.open_group(type=0, priority=1, correlation="c", server="s") for _ in range(2))
    for opened in (second, first):
        access.send_message(opened.group, opened.token, b"x")
        assert access.next_group("r") is None
        access.close_group(opened.group, opened.token)
    group = take(access)
    assert group.group == first.group
    assert access.next_group("r") is None
    finish(access, group)
    assert take(access).group == second.group


def test_q_order_corr_a_later_group_of_higher_priority_does_not_overtake(stores: Stores) -> None:
    access = stores()
    low, high = send(access, "c", priority=9), send(access, "c", priority=1)
    group = take(access)
    assert group.group == low
    finish(access, group)
    assert take(access).group == high


def test_q_priority_among_correlations_the_highest_comes_first_and_then_the_place(stores: Stores) -> None:
    access = stores()
    sent = [send(access, f"c{n}", priority=priority) for n, priority in enumerate((3, 1, 2, 1))]
    assert groups(access) == [sent[1], sent[3], sent[2], sent[0]]


def test_q_order_msg_only_the_first_message_can_be_popped(stores: Stores) -> None:
    access = stores()
    send(access, "c", b"1", b"2")
    group = take(access)
    for message in (2, 3, 0):
        with pytest.raises(Refused):
            access.pop_message(group.group, group.token, message)
    access.pop_message(group.group, group.token, 1)
    with pytest.raises(Refused):
        access.pop_message(group.group, group.token, 1)
    with pytest.raises(Refused):
        access.pop_group(group.group, group.token)
    read = access.read_message(group.group, group.token)
    assert read is not None
    assert (read.message, read.body) == (2, b"2")


def test_q_order_msg_popping_and_reading_go_on_with_the_next_message_and_end_with_none(stores: Stores) -> None:
    access = stores()
    send(access, "c", b"1", b"2")
    group = take(access)
    with pytest.raises(Refused):
        access.pop_and_read(group.group, group.token, 2)
    read = access.read_message(group.group, group.token)
    following = access.pop_and_read(group.group, group.token, 1)
    assert read is not None
    assert following is not None
    assert (read.retries, following.message, following.body, following.retries) == (1, 2, b"2", 1)
    with pytest.raises(Refused):
        access.pop_and_read(group.group, group.token, 1)
    assert access.pop_and_read(group.group, group.token, 2) is None
    access.pop_group(group.group, group.token)


def test_q_atomic_a_group_that_is_sent_whole_is_as_one_that_was_opened_filled_and_closed(stores: Stores) -> None:
    access = stores()
    half = access.open_group(type=0, priority=1, correlation="c", server="s")
    bodies = [b"", b"2", b"3"]
    number = access.send_group(type=7, priority=2, correlation="c", server="s", bodies=bodies)
    assert access.next_group("r") is None  # the earlier group of its correlation is not closed
    access.flush_group(half.group, half.token)
    group = take(access)
    assert (group.group, group.type, group.priority, group.last_message) == (number, 7, 2, 3)
    assert finish(access, group) == bodies
    with pytest.raises(BadInput, match="at least one message"):
        access.send_group(type=7, priority=2, correlation="c", server="s", bodies=[])
    assert access.contents().messages == 0


def test_q_retry_reading_counts_and_a_group_that_comes_back_goes_on_where_it_was(stores: Stores) -> None:
    access = stores()
    send(access, "c", b"1", b"2")
    group = take(access)
    access.pop_message(group.group, group.token, 1)
    reads = [access.read_message(group.group, group.token) for _ in range(2)]
    assert [(read.message, read.retries) for read in reads if read] == [(2, 1), (2, 2)]
    access.release_group(group.group, group.token)
    again = take(access)
    assert (again.group, again.group_retries) == (group.group, 2)
    assert again.token > group.token
    third = access.read_message(again.group, again.token)
    assert third is not None
    assert (third.message, third.retries) == (2, 3)


CALLS_OF_SENDERS = ("send_message", "close_group", "flush_group")
CALLS_OF_WORKERS = ("read_message", "pop_message", "pop_and_read", "pop_group", "release_group", "set_aside_message")
MORE = {"send_message": (b"x",), "pop_message": (1,), "pop_and_read": (1,), "set_aside_message": (1, "why")}


def refuses(access: Access, call: str, group: int, token: int) -> None:
    before = access.contents()
    with pytest.raises(Refused, match=call):
        getattr(access, call)(group, token, *MORE.get(call, ()))
    assert access.contents() == before


@pytest.mark.parametrize("call", CALLS_OF_SENDERS + CALLS_OF_WORKERS)
def test_a_call_without_its_lock_is_refused_and_changes_nothing(stores: Stores, call: str) -> None:
    access = stores()
    opened = access.open_group(type=0, priority=1, correlation="sent", server="s")
    access.send_message(opened.group, opened.token, b"x")
    send(access, "held")
    group = take(access)
    own = opened if call in CALLS_OF_SENDERS else group
    other = group if call in CALLS_OF_SENDERS else opened
    for wrong in (Opened(other.group, other.token), Opened(own.group, own.token + 1), Opened(own.group, 0)):
        refuses(access, call, wrong.group, wrong.token)
    refuses(access, call, 999, own.token)


@pytest.mark.parametrize("call", CALLS_OF_WORKERS)
@pytest.mark.parametrize("is_held_again", [False, True])
def test_q_crash_dead_a_holder_that_was_declared_dead_is_refused(
    stores: Stores, call: str, is_held_again: bool
) -> None:
    access, slow = stores(), stores()
    send(access)
    group = take(slow)
    stores.clock.now += 10
    assert access.clean(0, stores.clock.now).released == 1
    if is_held_again:
        take(access, "other")
    refuses(slow, call, group.group, group.token)


@pytest.mark.parametrize("call", CALLS_OF_SENDERS)
def test_q_crash_send_a_slow_sender_whose_group_was_cleaned_is_refused(stores: Stores, call: str) -> None:
    access, slow = stores(), stores()
    opened = slow.open_group(type=0, priority=1, correlation="c", server="s")
    slow.send_message(opened.group, opened.token, b"x")
    later = send(access)
    stores.clock.now += 10
    assert access.clean(stores.clock.now, 0).removed == 1
    assert access.contents().messages == 1
    refuses(slow, call, opened.group, opened.token)
    assert take(access).group == later


def test_cleaning_takes_what_was_last_used_strictly_before(stores: Stores) -> None:
    access = stores()
    opened = access.open_group(type=0, priority=1, correlation="a", server="s")
    send(access, "b")
    group = take(access)
    stores.clock.now = 2_000
    access.send_message(opened.group, opened.token, b"x")
    access.read_message(group.group, group.token)
    assert access.contents().oldest_ns == 2_000
    assert access.now_ns() == 2_000
    done = access.clean(2_000, 2_000)
    assert (done.removed, done.released) == (0, 0)
    done = access.clean(2_001, 2_001)
    assert (done.removed, done.released) == (1, 1)


def test_q_crash_boot_unlocking_releases_the_receive_locks_of_that_server_alone(stores: Stores) -> None:
    access = stores()
    half = access.open_group(type=0, priority=1, correlation="half", server="one")
    access.send_message(half.group, half.token, b"x")
    sent = [send(access, f"c{n}") for n in range(3)]
    for server in ("one", "two", "one"):
        take(access, server)
    assert access.unlock_server_groups("one") == 2
    assert access.unlock_server_groups("one") == 0
    assert groups(access) == [sent[0], sent[2]]
    # A receiver that restarts on the sender's machine frees no half-sent group.
    access.close_group(half.group, half.token)
    assert groups(access) == [half.group]


def test_q_poison_a_message_that_is_set_aside_is_kept_with_its_reason_and_the_next_one_comes(stores: Stores) -> None:
    access = stores()
    send(access, "c", b"bad", b"good", type=5)
    group = take(access)
    access.read_message(group.group, group.token)
    access.set_aside_message(group.group, group.token, 1, "it is bad\0\ud800")
    (aside,) = access.set_aside()
    assert (aside.group, aside.message, aside.correlation, aside.type) == (group.group, 1, "c", 5)
    assert (aside.body, aside.retries) == (b"bad", 1)
    assert aside.reason.startswith("it is bad")
    assert finish(access, group) == [b"good"]
    assert access.contents().set_aside == 1
    assert list(access.set_aside(most=0)) == []


def test_contents_count_groups_by_what_may_happen_to_them(stores: Stores) -> None:
    access = stores()
    assert access.contents().oldest_ns is None
    send(access, "a")
    take(access)
    send(access, "a")
    send(access, "b")
    access.open_group(type=0, priority=1, correlation="b", server="s")
    found = access.contents()
    assert (found.sending, found.waiting, found.ready, found.receiving, found.messages) == (1, 1, 1, 1, 3)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"priority": 0}, "priority is 0"),
        ({"type": 1 << 63}, "type is"),
        ({"correlation": "x" * (NAME_BYTES + 1)}, "correlation has 1001 bytes"),
        ({"correlation": "a\0b"}, "correlation has 3 bytes"),
        ({"server": "\ud800"}, "is no text"),
    ],
)
def test_what_no_group_may_have_is_bad_input(stores: Stores, wrong: dict[str, object], said: str) -> None:
    given = {"type": 0, "priority": 1, "correlation": "c", "server": "s"} | wrong
    with pytest.raises(BadInput, match=said):
        stores().open_group(**given)  # type: ignore[arg-type]


def test_q_once_of_many_that_ask_at_once_each_has_another_correlation(stores: Stores) -> None:
    sending = stores()
    for n in range(40):
        send(sending, f"c{n % 8}", str(n).encode())
    accesses = [stores() for _ in range(4)]
    begin, guard = threading.Barrier(len(accesses)), threading.Lock()
    holding: set[str] = set()
    seen: dict[str, list[int]] = {}
    wrong: list[str] = []

    def work(access: Access) -> None:
        begin.wait()
        while sum(map(len, seen.values())) < 40 and not wrong:
            group = access.next_group("r")
            if group is None:
                continue
            with guard:
                if group.correlation in holding:
                    wrong.append(group.correlation)
                holding.add(group.correlation)
            bodies = [int(body) for body in _read(access, group)]
            with guard:
                seen.setdefault(group.correlation, []).extend(bodies)
                holding.remove(group.correlation)
            access.pop_group(group.group, group.token)

    threads = [threading.Thread(target=work, args=(access,)) for access in accesses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert {name: list(range(int(name[1:]), 40, 8)) for name in seen} == seen


def _read(access: Access, group: LockedGroup) -> list[bytes]:
    bodies = []
    while (message := access.read_message(group.group, group.token)) is not None:
        bodies.append(message.body)
        access.pop_message(group.group, group.token, message.message)
    return bodies
