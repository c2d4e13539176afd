"""The sender, over every store."""

from __future__ import annotations

import json

import pytest

from scatterproof.impl.workqueue.conftest import Stores
from scatterproof.impl.workqueue.sender import Sender
from scatterproof.impl.workqueue.stores.access import Access, Refused
from scatterproof.spec.errors import BadInput


def bodies(access: Access) -> list[list[bytes]]:
    """Of each group that can be taken."""
    found: list[list[bytes]] = []
    while (group := access.next_group("r")) is not None:
        found.append([])
        while (message := access.read_message(group.group, group.token)) is not None:
            found[-1].append(message.body)
            access.pop_message(group.group, group.token, message.message)
        access.pop_group(group.group, group.token)
    return found


def test_q_sender_one_sender_sends_group_after_group(stores: Stores) -> None:
    sender = Sender(stores, "s")
    for group in range(3):
        sender.begin_group(type=group, priority=1, correlation="c")
        assert [sender.send(b"%d%d" % (group, n)) for n in range(2)] == [1, 2]
        sender.end_group()
    assert bodies(stores()) == [[b"00", b"01"], [b"10", b"11"], [b"20", b"21"]]


def test_q_sender_a_group_is_sent_whole_and_only_between_others(stores: Stores) -> None:
    sender = Sender(stores, "s", encode=lambda body: json.dumps(body).encode())
    sender.send_group(0, 1, "c", iter([b"1", {"two": 2}]))
    sender.begin_group(0, 1, "c")
    with pytest.raises(BadInput, match="still open"):
        sender.send_group(0, 1, "c", [b"x"])
    sender.send(b"3")
    sender.end_group()
    with pytest.raises(BadInput, match="at least one message"):
        sender.send_group(0, 1, "c", [])
    assert bodies(stores()) == [[b"1", b'{"two": 2}'], [b"3"]]


def test_q_sender_what_is_cancelled_or_empty_is_not_there(stores: Stores) -> None:
    sender = Sender(stores, "s")
    sender.begin_group(1, 1, "c")
    sender.send(b"x")
    sender.cancel_group()
    sender.begin_group(1, 1, "c")
    sender.end_group()
    found = stores().contents()
    assert (found.sending, found.waiting, found.ready, found.messages) == (0, 0, 0, 0)


def test_a_group_as_a_context_ends_and_is_cancelled_where_its_block_raises(stores: Stores) -> None:
    sender = Sender(stores, "s")
    with sender.group(1, 1, "c") as send:
        send(b"whole")
    with pytest.raises(BadInput), sender.group(1, 1, "c") as send:
        send(send(b"half"))
    assert bodies(stores()) == [[b"whole"]]
    assert stores().contents().sending == 0


def test_bodies_that_are_no_bytes_need_an_encoder(stores: Stores) -> None:
    plain, encoding = Sender(stores, "s"), Sender(stores, "s", encode=lambda body: json.dumps(body).encode())
    plain.begin_group(1, 1, "c")
    with pytest.raises(BadInput, match="type dict"):
        plain.send({})
    plain.send(bytearray(b"\0a"))
    plain.end_group()
    with encoding.group(1, 1, "c") as send:
        send({"a": 1})
        send(b"as it is")
    assert bodies(stores()) == [[b"\0a"], [b'{"a": 1}', b"as it is"]]


def test_q_crash_send_a_sender_whose_group_was_cleaned_hears_of_it_and_can_begin_anew(stores: Stores) -> None:
    sender = Sender(stores, "s")
    sender.begin_group(1, 1, "c")
    sender.send(b"lost")
    stores.clock.now += 1
    stores().clean(stores.clock.now, 0)
    with pytest.raises(Refused):
        sender.send(b"more")
    with sender.group(1, 1, "c") as send:
        send(b"again")
    assert bodies(stores()) == [[b"again"]]


def test_calls_out_of_turn_are_sentences(stores: Stores) -> None:
    sender = Sender(stores, "s")
    for call in (lambda: sender.send(b""), sender.end_group, sender.cancel_group):
        with pytest.raises(BadInput, match="no group is open"):
            call()
    sender.begin_group(1, 1, "c")
    with pytest.raises(BadInput, match="still open"):
        sender.begin_group(1, 1, "c")
