"""What other nodes may get wrong under loss: refused with a reason, and nothing else changes; and what looks wrong and
is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scatterproof.impl.totalorder import AnyCore, make_core
from scatterproof.impl.totalorder.tests.nodes import (
    ACK,
    BEACON,
    DATA,
    arrival,
    deliveries,
    host_config,
    refusal,
    scatter,
    sends,
    switch_config,
)
from scatterproof.spec.core import Deliver, Event, LocalProtocolError, PacketArrived, TimerFired
from scatterproof.spec.totalorder.messages import NO_BARRIER, Packet, PacketKind

ADJUST = int(PacketKind.ADJUST)


def message(
    timestamp: int,
    link_seq: int,
    *,
    number: int = 1,
    barrier: int | None = None,
    ack: int = 0,
    record: int = 0,
    greatest: int | None = None,
    resent: bool = False,
    sender: int = 2,
    receiver: int = 0,
) -> Packet:
    """A data message as in D9; barrier and greatest are its timestamp, unless given."""
    return Packet(
        DATA,
        sender,
        receiver,
        number,
        link_seq,
        timestamp,
        timestamp if barrier is None else barrier,
        b"payload",
        ack,
        record,
        timestamp if greatest is None else greatest,
        resent,
    )


def beacon(barrier: int, ack: int, link_seq: int, *, record: int = 0, greatest: int = 0, sender: int = 9) -> Packet:
    return Packet(BEACON, sender, 0, 0, link_seq, 0, barrier, b"", ack, record, greatest)


def acknowledgement(number: int, link_seq: int, *, sender: int = 1, receiver: int = 0) -> Packet:
    return Packet(ACK, sender, receiver, number, link_seq, 0, NO_BARRIER, b"")


def reliable_host(environment: str = "D9") -> AnyCore:
    """Host 0, which has sent messages 1 and 2 to host 1; link 100 has brought message 1 of host 2, stamped 30, and
    then a beacon with barrier 40 and ack barrier 35, from node 9."""
    core = make_core(host_config(environment=environment, ingress=(100,)))
    core.handle(scatter(10, 1))
    core.handle(scatter(20, 1))
    core.handle(arrival(100, message(30, 0, ack=20), 21))
    core.handle(arrival(100, beacon(40, 35, 1, greatest=30), 22))
    return core


def reliable_switch() -> AnyCore:
    """Links 1, 2 and 3 come in, 20 leads to host 0 and 21 to host 1; host 1 is at the other end of link 2, which
    brought barrier 40 and ack barrier 35."""
    core = make_core(switch_config(environment="D9"))
    core.handle(arrival(2, beacon(40, 35, 0, sender=1), 5))
    return core


# Whom it reaches, over which link, what, and a word of the reason.
WRONG: dict[str, tuple[Callable[[], AnyCore], int, Packet, str]] = {
    "an acknowledgement of what was never sent": (reliable_host, 100, acknowledgement(3, 2), "TO-SEQ"),
    "an acknowledgement below none": (reliable_host, 100, acknowledgement(-1, 2), "TO-SEQ"),
    "an acknowledgement by a host that got nothing": (reliable_host, 100, acknowledgement(1, 2, sender=2), "TO-SEQ"),
    "an acknowledgement by a host that is not there": (reliable_host, 100, acknowledgement(0, 2, sender=77), "TO-SEQ"),
    "an acknowledgement for somebody else": (reliable_host, 100, acknowledgement(1, 2, receiver=2), "not this host"),
    "an acknowledgement with a barrier": (
        reliable_host,
        100,
        Packet(ACK, 1, 0, 1, 2, 0, 50, b""),
        "are not what packets of kind 3 carry",
    ),
    "a barrier that falls": (reliable_host, 100, beacon(39, 35, 2), "TO-BAR-RISE"),
    "a barrier of new data that falls": (
        reliable_host,
        100,
        message(50, 2, number=2, barrier=39, ack=35),
        "TO-BAR-RISE",
    ),
    "new data below the barrier": (reliable_host, 100, message(39, 2, number=2, ack=35), "TO-BAR-LINK"),
    "an ack barrier that falls": (reliable_host, 100, beacon(41, 34, 2), "ack barrier 34"),
    "an ack barrier at new data": (reliable_host, 100, message(50, 2, number=2, ack=50), "TO-ACK-MEAN"),
    "a record above what is greatest": (reliable_host, 100, beacon(41, 35, 2, record=60, greatest=59), "loss record"),
    "a record of nothing": (reliable_host, 100, beacon(41, 35, 2, record=60), "loss record"),
    "a record below zero": (reliable_host, 100, beacon(41, 35, 2, record=-1), "loss record"),
    "a link number again": (reliable_host, 100, beacon(41, 36, 1), "came again"),
    "a link that is not there": (reliable_host, 7, beacon(41, 36, 2), "no ingress link"),
    "data without a barrier": (reliable_host, 100, message(50, 2, barrier=NO_BARRIER, ack=35), "are not what packets"),
    "data without an ack barrier": (reliable_host, 100, message(50, 2, ack=NO_BARRIER), "are not what packets"),
    "a beacon without a barrier": (reliable_host, 100, beacon(NO_BARRIER, 36, 2), "are not what packets"),
    "a beacon of somebody else": (reliable_host, 100, beacon(41, 36, 2, sender=8), "node 8 beacons on the link"),
    "a kind that is not there": (reliable_host, 100, Packet(ADJUST, 1, 0, 1, 2, 50, -1, b""), "does not exist"),
    "a failure notice": (reliable_host, 100, Packet(int(PacketKind.NOTICE), 1, 0, 1, 2, 50, -1, b""), "does not exist"),
    "message number zero": (reliable_host, 100, message(50, 2, number=0, ack=35), "below 1"),
    "data by a forged sender": (reliable_switch, 2, message(50, 1, ack=35, sender=5), "came from host 1"),
    "an acknowledgement by a forged sender": (
        reliable_switch,
        2,
        acknowledgement(1, 1, sender=5),
        "came from host 1",
    ),
    "data for where there is no route": (reliable_switch, 2, message(50, 1, ack=35, sender=1, receiver=6), "no route"),
    "data that come from where they cannot": (reliable_switch, 1, message(50, 0, receiver=1), "no route"),
}


def afterwards() -> list[Event[Packet]]:
    """What shows most of what a core keeps."""
    return [
        PacketArrived(60, 100, acknowledgement(1, 3)),
        PacketArrived(61, 100, message(70, 4, number=2, ack=50)),
        PacketArrived(61, 2, message(70, 4, number=2, ack=50, sender=1)),
        PacketArrived(62, 100, beacon(90, 80, 5, greatest=70)),
        *(PacketArrived(62, link, beacon(90, 80, 5, greatest=70, sender=1)) for link in (1, 2, 3)),
        TimerFired(500),
    ]


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_of_a_peer_is_refused_and_changes_nothing(name: str) -> None:
    make, link, packet, word = WRONG[name]
    core, twin = make(), make()
    before = core.next_deadline()
    assert word in refusal(core.handle(arrival(link, packet, 50)))
    assert core.next_deadline() == before
    for event in afterwards():
        assert core.handle(event) == twin.handle(event)


def test_the_events_afterwards_show_what_a_core_keeps() -> None:
    for make, most in ((reliable_host, 4), (reliable_switch, 1)):
        core = make()
        assert sum(len(core.handle(event)) for event in afterwards()) > most


def test_a_message_of_one_sender_comes_over_one_link() -> None:
    core = make_core(host_config(environment="D9"))
    core.handle(arrival(100, message(30, 0)))
    assert "its route ends with 100" in refusal(core.handle(arrival(101, message(31, 0, number=2))))


@pytest.mark.parametrize(
    ("environment", "packet"),
    [
        ("D6", beacon(41, 36, 0)),
        ("D6", message(50, 0, ack=3)),
        ("D7", message(50, 0)),
        ("D7", beacon(41, 36, 0)),
        ("D8", beacon(41, NO_BARRIER, 0)),
        ("D5", beacon(41, 36, 0)),
    ],
)
def test_to_fmt_a_barrier_where_there_is_none_is_refused(environment: str, packet: Packet) -> None:
    core = make_core(host_config(environment=environment, ingress=(100,)))
    refusal(core.handle(arrival(100, packet)))


def test_to_dupack_an_acknowledgement_that_falls_came_late_and_is_ignored() -> None:
    core = reliable_host()
    assert sends(core.handle(arrival(100, acknowledgement(2, 2), 50))) == []
    assert sends(core.handle(arrival(100, acknowledgement(1, 3), 51))) == []
    ((_, packet),) = sends(core.handle(TimerFired(60)))[:1]
    assert packet.ack_barrier == 59, "all is acknowledged"


def test_to_retx_the_resent_mark_on_something_new_is_no_mistake() -> None:
    core = reliable_host()
    effects = core.handle(arrival(100, message(50, 2, number=2, ack=35, resent=True), 50))
    assert [packet.number for _, packet in sends(effects)] == [2], "it is acknowledged"


def test_to_retx_bar_a_resent_message_with_a_low_barrier_lowers_nothing() -> None:
    core = reliable_host()
    resent = message(25, 2, number=2, barrier=25, ack=35, greatest=50, resent=True)
    assert [effect.message.timestamp for effect in core.handle(arrival(100, resent, 50)) if isinstance(effect, Deliver)]
    core.handle(arrival(100, message(50, 3, number=3, barrier=45, ack=35), 51))
    assert "TO-BAR-LINK" in refusal(core.handle(arrival(100, message(44, 4, number=4, ack=35), 52)))


def test_a_clock_that_jumps_back_makes_timestamps_neither_fall_nor_break_a_promise() -> None:
    core = make_core(host_config(environment="D8"))
    ((_, first),) = sends(core.handle(scatter(100, 1)))
    sent = [packet for _, packet in sends(core.handle(TimerFired(110)))]
    ((_, second),) = sends(core.handle(scatter(5, 1)))
    assert first.timestamp == 100
    assert second.timestamp >= max(max(packet.barrier, packet.ack_barrier + 1) for packet in sent)


def test_a_local_call_that_breaks_the_contract_raises_and_sends_nothing() -> None:
    core = reliable_host()
    for wrong in (scatter(50), scatter(50, 1, 1), scatter(50, 9)):
        with pytest.raises(LocalProtocolError):
            core.handle(wrong)
    with pytest.raises(LocalProtocolError):
        reliable_switch().handle(scatter(50, 1))
    ((_, packet),) = sends(core.handle(scatter(60, 1)))
    assert (packet.number, packet.link_seq) == (3, 2)


def test_to_deliver_outside_of_the_loss_state_a_message_at_the_barrier_waits() -> None:
    core = make_core(host_config(environment="D9", ingress=(100,)))
    core.handle(arrival(100, message(30, 0)))
    assert deliveries(core.handle(arrival(100, beacon(30, 29, 1, greatest=30)))) == []
    assert deliveries(core.handle(arrival(100, beacon(31, 29, 2, greatest=30)))) == [(30, 2)]


def test_to_deliver_at_the_ack_barrier_is_delivered_and_at_the_barrier_waits() -> None:
    core = make_core(host_config(environment="D9", ingress=(100,)))
    core.handle(arrival(100, message(30, 0)))
    core.handle(arrival(100, message(40, 1, number=2, record=45, greatest=45)))
    assert deliveries(core.handle(arrival(100, beacon(40, 30, 2, record=45, greatest=45)))) == [(30, 2)]
    assert deliveries(core.handle(arrival(100, beacon(50, 39, 3, record=45, greatest=45)))) == []
    assert deliveries(core.handle(arrival(100, beacon(50, 45, 4, greatest=45)))) == [(40, 2)]
