"""The store and a client, driven by hand: one node after the other, without a network."""

from __future__ import annotations

import msgspec
import pytest

from scatterproof.impl.packed import Malformed
from scatterproof.impl.workqueue import RULES, Client, Store, make_core
from scatterproof.impl.workqueue.plugin import PLUGIN
from scatterproof.impl.workqueue.rules import Lock, Standing
from scatterproof.impl.workqueue.selection import selected
from scatterproof.spec.core import (
    Called,
    LocalProtocolError,
    NodeConfig,
    Outcome,
    PacketArrived,
    Refuse,
    Return,
    Send,
    TimerFired,
)
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import Role
from scatterproof.spec.workqueue.messages import COLUMNS, CallName, Packet


def config(node: int, role: Role, **parameters: int) -> NodeConfig:
    """The store is node 0; clients 1 and 2 have links 0 and 2 to it, and it has 1 and 3 to them."""
    store = role is Role.HOST
    return NodeConfig(
        node=node,
        role=role,
        protocol="workqueue",
        ingress=(0, 2) if store else (2 * node - 1,),
        egress=(1, 3) if store else (2 * node - 2,),
        next_link=((1, 1), (2, 3)) if store else ((0, 2 * node - 2),),
        reaching=((), ()) if store else ((),),
        parameters=dict(parameters),
    )


def store() -> Store:
    made = make_core(config(0, Role.HOST))
    assert isinstance(made, Store)
    return made


class Asks:
    """One client's requests, numbered; the answers as they come."""

    def __init__(self, store: Store, client: int) -> None:
        self.store, self.client, self.operation = store, client, 0

    def __call__(self, call: CallName, now: int = 0, **values: int) -> Packet:
        self.operation += 1
        asked = msgspec.structs.replace(Packet(self.client, self.operation, call), **values)
        (sent,) = self.store.handle(PacketArrived(now, 2 * self.client - 2, asked))
        assert isinstance(sent, Send)
        found: Packet = sent.packet
        return found


def test_q_meta_messages_are_numbered_from_1_and_a_group_needs_its_token() -> None:
    asks = Asks(store(), 1)
    group = asks(CallName.OPEN_GROUP, type=0, priority=1, correlation=1, server=1)
    held = {"group": group.group, "token": group.token}
    assert [asks(CallName.SEND_MESSAGE, **held).message for _ in range(3)] == [1, 2, 3]
    assert asks(CallName.SEND_MESSAGE, group=group.group, token=group.token + 1).outcome == Outcome.REFUSED
    assert asks(CallName.READ_MESSAGE, **held).outcome == Outcome.REFUSED  # it is locked for sending


def test_q_call_once_a_request_that_comes_again_gets_the_same_answer_and_does_nothing() -> None:
    made = store()
    asked = Packet(1, 1, CallName.OPEN_GROUP, type=0, priority=1, correlation=1, server=1)
    first, again = (made.handle(PacketArrived(0, 0, asked)) for _ in range(2))
    assert first == again
    assert made.kept.begun == 1
    made.handle(PacketArrived(0, 0, Packet(1, 2, CallName.NEXT_GROUP, server=1)))
    assert made.handle(PacketArrived(0, 0, asked)) == []  # its client has gone on


def test_q_durable_a_new_store_goes_on_with_what_the_old_one_kept() -> None:
    old, new = store(), store()
    asks = Asks(old, 1)
    group = asks(CallName.OPEN_GROUP, type=0, priority=1, correlation=1, server=1)
    new.begin_with(old.kept)
    asks.store = new
    assert asks(CallName.SEND_MESSAGE, group=group.group, token=group.token).message == 1


def test_what_is_no_request_of_a_client_is_refused_and_changes_nothing() -> None:
    made = store()
    for packet in (Packet(9, 1, CallName.OPEN_GROUP), Packet(1, 1, CallName.OPEN_GROUP, outcome=int(Outcome.OK))):
        (refused,) = made.handle(PacketArrived(0, 0, packet))
        assert isinstance(refused, Refuse)
    assert made.kept.begun == 0
    with pytest.raises(LocalProtocolError, match="clients make calls"):
        made.handle(Called(0, 1, CallName.OPEN_GROUP, {}))


def standing(group: int, correlation: int, priority: int, lock: Lock) -> Standing:
    return Standing(group=group, correlation=correlation, priority=priority, place=group, lock=lock)


def test_q_next_a_send_locked_group_takes_its_correlation_off_the_list() -> None:
    slow, behind = standing(1, 1, 1, Lock.SEND), standing(2, 1, 1, Lock.NONE)
    other = standing(3, 2, 9, Lock.NONE)
    assert selected([slow, behind], RULES) is None
    assert selected([slow, behind, other], RULES) == 3
    assert selected([standing(1, 1, 1, Lock.RECEIVE), behind, other], RULES) == 3


def client(**parameters: int) -> Client:
    made = make_core(config(1, Role.CLIENT, retry_ns=10, tries=2, **parameters))
    assert isinstance(made, Client)
    return made


def test_a_client_asks_again_with_the_same_number_and_then_gives_up() -> None:
    made = client()
    (first,) = made.handle(Called(0, 1, CallName.NEXT_GROUP, {"server": 4}))
    assert isinstance(first, Send)
    assert (first.packet.operation, first.packet.server) == (1, 4)
    assert made.handle(TimerFired(10)) == [first]
    assert made.handle(TimerFired(20)) == [Return(1, Outcome.UNKNOWN, {"server": 4})]
    assert made.next_deadline() is None


def test_a_client_with_nothing_in_hand_is_refused_without_asking() -> None:
    (returned,) = client().handle(Called(0, 1, CallName.POP_GROUP, {}))
    assert isinstance(returned, Return)
    assert returned.outcome is Outcome.REFUSED


def test_a_client_is_in_one_call_at_a_time_and_takes_numbers_alone() -> None:
    made = client()
    made.handle(Called(0, 1, CallName.NEXT_GROUP, {}))
    with pytest.raises(LocalProtocolError, match="it calls again when that is over"):
        made.handle(Called(0, 2, CallName.NEXT_GROUP, {}))
    with pytest.raises(LocalProtocolError, match="give a number"):
        client().handle(Called(0, 1, CallName.NEXT_GROUP, {"server": "one"}))


def test_parameters_out_of_range_are_refused() -> None:
    with pytest.raises(BadInput, match="tries"):
        make_core(config(1, Role.CLIENT, tries=0))


def test_packets_come_through_as_they_were_and_others_are_told_apart() -> None:
    packet = Packet(1, 2, CallName.READ_MESSAGE, outcome=1, group=3, message=4, payload=b"body")
    assert PLUGIN.decode(PLUGIN.encode(packet)) == packet
    assert PLUGIN.decode(b"\x00") is Malformed.NO_PACKET
    assert PLUGIN.flaw(Packet(1, 2, "dance")) is Malformed.UNKNOWN_KIND
    assert PLUGIN.flaw(Packet(1, 0, CallName.CLEAN)) is Malformed.OUT_OF_RANGE
    assert set(COLUMNS) < set(Packet.__struct_fields__)
