"""The stdio driver, as a real process."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator

import msgspec
import pytest

from scatterproof.impl.drivers.tests.processes import NodeProcess, config
from scatterproof.spec.adapter import (
    Connect,
    DeliverOut,
    Done,
    Init,
    Line,
    PacketIn,
    Payload,
    Ready,
    RefuseOut,
    SendOut,
    Stop,
    Submit,
    Tick,
)
from scatterproof.spec.totalorder.messages import NO_BARRIER, Delivery, Packet, PacketKind

DATA, BEACON = int(PacketKind.DATA), int(PacketKind.BEACON)
INTERVAL = 1_000_000


@pytest.fixture
def node() -> Iterator[NodeProcess]:
    process = NodeProcess("stdio")
    yield process
    process.close()


@pytest.fixture
def host(node: NodeProcess) -> NodeProcess:
    """Host 0 of two, started."""
    node.say(Init(config(0)))
    assert node.hear() == Ready(deadline=0)
    return node


def packet(**fields: object) -> msgspec.Raw:
    plain: dict[str, object] = {
        "kind": DATA,
        "sender": 1,
        "receiver": 0,
        "number": 1,
        "link_seq": 0,
        "timestamp": 5,
        "barrier": 5,
        "payload": "",
    }
    return msgspec.Raw(msgspec.json.encode(plain | fields))


def test_to_scatter_a_submission_is_answered_with_its_packets_and_done(host: NodeProcess) -> None:
    host.say(Submit((Payload(0, b"x"), Payload(1, b"y")), now=7))
    sends = [host.hear(), host.hear()]

    found = []
    for send in sends:
        assert isinstance(send, SendOut)
        assert send.link == 0
        found.append(msgspec.json.decode(send.packet, type=Packet))
    assert found == [Packet(DATA, 0, 0, 1, 0, 7, 7, b"x"), Packet(DATA, 0, 1, 1, 1, 7, 7, b"y")]
    assert host.hear() == Done(deadline=0)


def test_to_env_c_a_tick_is_answered_with_a_beacon_and_the_next_deadline(host: NodeProcess) -> None:
    host.say(Tick(3))
    send = host.hear()

    assert isinstance(send, SendOut)
    assert msgspec.json.decode(send.packet, type=Packet) == Packet(BEACON, 0, 0, 0, 0, 0, 3, b"")
    assert host.hear() == Done(deadline=INTERVAL)


def test_to_deliver_a_message_below_the_barrier_is_delivered(host: NodeProcess) -> None:
    host.say(PacketIn(10, 1, packet(payload="aGVsbG8=")))
    assert host.hear() == Done(deadline=0)
    host.say(
        PacketIn(11, 1, packet(kind=BEACON, sender=2, number=0, link_seq=1, timestamp=0, barrier=6)),
    )
    delivery = host.hear()

    assert isinstance(delivery, DeliverOut)
    assert msgspec.json.decode(delivery.message, type=Delivery) == Delivery(1, 1, 5, b"hello")
    assert host.hear() == Done(deadline=0)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"kind": 9}, "unknown_kind"),
        ({"timestamp": 0}, "data_without_timestamp"),
        ({"barrier": -2}, "value_out_of_range"),
        ({"barrier": NO_BARRIER}, "absent"),
        ({"receiver": 1}, "not this host"),
    ],
)
def test_a_packet_that_breaks_the_protocol_is_refused_and_the_node_goes_on(
    host: NodeProcess, fields: dict[str, object], reason: str
) -> None:
    host.say(PacketIn(10, 1, packet(**fields)))
    refusal = host.hear()

    assert isinstance(refusal, RefuseOut)
    assert refusal.link == 1
    assert reason in refusal.reason
    assert host.hear() == Done(deadline=0)
    host.say(PacketIn(11, 1, packet()))
    assert host.hear() == Done(deadline=0)


def test_a_stop_line_ends_the_node(host: NodeProcess) -> None:
    host.say(Stop())
    assert host.end() == (0, "")


def test_the_end_of_stdin_ends_the_node(host: NodeProcess) -> None:
    host.hang_up()
    assert host.end() == (0, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_node(host: NodeProcess, number: signal.Signals) -> None:
    host.process.send_signal(number)
    assert host.end() == (0, "")


def _say(line: Line) -> Callable[[NodeProcess], None]:
    return lambda node: node.say(line)


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (lambda node: node.say_bytes(b"{\n"), "stdin: line 2 is no line of the adapter contract"),
        (lambda node: node.say_bytes(b"\xff\n"), "stdin: line 2 is no line of the adapter contract"),
        (lambda node: node.say_bytes(b'{"type":"dance"}\n'), "stdin: line 2 is no line of the adapter contract"),
        (_say(Init(config(0))), "stdin: line 2 has type 'init'"),
        (_say(Connect({0: 1})), "stdin: line 2 has type 'connect'"),
        (_say(Submit((Payload(1, b""),))), "stdin: line 2: submit has no `now`"),
        (_say(Submit((Payload(2, b""),), now=1)), "stdin: line 2: host 0 has no route to host 2"),
        (_say(PacketIn(1, 1, msgspec.Raw(b'{"kind":1}'))), "stdin: line 2: packet is none of this protocol"),
    ],
)
def test_a_line_that_does_not_fit_ends_the_node_with_one_sentence_and_code_2(
    host: NodeProcess, bad: Callable[[NodeProcess], None], sentence: str
) -> None:
    bad(host)
    code, said = host.end()

    assert code == 2
    assert said.startswith(sentence)
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("first", "sentence"),
    [
        (Stop(), "stdin: line 1 has type 'stop'; the first line is an init"),
        (Init(config(0), contract=2), "stdin: line 1: contract version 2"),
        (Init(config(0, environment="Z")), "node 0: parameter environment is 'Z'"),
        (Init(msgspec.structs.replace(config(0), protocol="poker")), "protocol 'poker' is unknown"),
    ],
)
def test_a_first_line_that_cannot_be_used_ends_the_node_with_one_sentence_and_code_2(
    node: NodeProcess, first: Line, sentence: str
) -> None:
    node.say(first)
    code, said = node.end()

    assert code == 2
    assert said.startswith(sentence)
    assert said.count("\n") == 1
