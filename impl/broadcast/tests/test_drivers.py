"""The stack behind the shared drivers: over stdin and stdout, and over sockets with a log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from scatterproof.impl.broadcast.codec import decode
from scatterproof.impl.broadcast.records import Records
from scatterproof.impl.drivers.tests.processes import NodeProcess, Row, rows_until
from scatterproof.impl.protocol import load
from scatterproof.spec.adapter import (
    BeginOut,
    Connect,
    DeliverOut,
    Done,
    Init,
    Listening,
    PacketIn,
    Payload,
    Ready,
    RefuseOut,
    SendOut,
    Stop,
    Stopped,
    Submit,
)
from scatterproof.spec.broadcast.messages import Beginning, Delivery, Packet, PacketKind
from scatterproof.spec.core import NodeConfig, node_config
from scatterproof.spec.schedule import EVERYBODY
from scatterproof.spec.topology import Link, Node, Role, Topology, route
from scatterproof.spec.trace import digest_of, schema

DATA, ACK = int(PacketKind.DATA), int(PacketKind.ACK)
PROCESSES = 3
PAIRS = [(source, target) for source in range(PROCESSES) for target in range(PROCESSES) if source != target]
MESH = Topology(
    tuple(Node(f"p{number}", Role.HOST) for number in range(PROCESSES)), tuple(Link(*pair) for pair in PAIRS)
)


def config(node: int) -> NodeConfig:
    return node_config(node, MESH, route(MESH), "broadcast", {"level": "lcb", "dependencies": "1;;0,1"})


def link(source: int, target: int) -> int:
    return PAIRS.index((source, target))


@pytest.fixture
def node() -> Iterator[NodeProcess]:
    process = NodeProcess("stdio")
    yield process
    process.close()


def test_over_stdin_effects_come_in_their_order_and_flawed_packets_are_refused(node: NodeProcess) -> None:
    node.say(Init(config(0)))
    assert node.hear() == Ready(deadline=None)
    node.say(Submit((Payload(EVERYBODY, b"x"),), now=7))
    beginning = node.hear()
    assert isinstance(beginning, BeginOut)
    assert msgspec.json.decode(beginning.message, type=Beginning) == Beginning(1, 1, b"x", EVERYBODY)
    for peer in (1, 2):
        out = node.hear()
        assert isinstance(out, SendOut)
        expected = Packet(DATA, 0, peer, 0, 1, 1, 1, False, b"x", (0, 0, 0))
        assert (out.link, msgspec.json.decode(out.packet, type=Packet)) == (link(0, peer), expected)
    assert isinstance(node.hear(), Done)

    answer = Packet(DATA, 1, 0, 0, 1, 1, 1, False, b"x", (0, 0, 0))
    node.say(PacketIn(9, link(1, 0), msgspec.Raw(msgspec.json.encode(answer))))
    delivery = node.hear()
    assert isinstance(delivery, DeliverOut)
    assert msgspec.json.decode(delivery.message, type=Delivery) == Delivery(0, 1, b"x")
    assert isinstance(node.hear(), Done)

    flawed = msgspec.structs.replace(answer, pseq=0)
    node.say(PacketIn(9, link(1, 0), msgspec.Raw(msgspec.json.encode(flawed))))
    assert node.hear() == RefuseOut(link(1, 0), "number_out_of_range")


def test_over_sockets_a_message_for_everybody_is_begun_and_delivered_everywhere(tmp_path: Path) -> None:
    nodes = {number: NodeProcess("udp", tmp_path / f"{number}.ndjson") for number in range(PROCESSES)}
    rows: dict[int, list[Row]] = {number: [] for number in nodes}
    try:
        ports: dict[int, int] = {}
        for number, process in nodes.items():
            process.say(Init(config(number), log=str(process.log_path)))
        for process in nodes.values():
            listening = process.hear()
            assert isinstance(listening, Listening)
            ports |= listening.ports
        for number, process in nodes.items():
            process.say(Connect({egress: ports[egress] for egress in config(number).egress}))
            assert process.hear() == Ready()
        nodes[0].say(Submit((Payload(EVERYBODY, b"x"), Payload(EVERYBODY, b"y"))))
        rows_until(
            nodes, rows, lambda: all(sum(row["kind"] == "delivered" for row in own) == 2 for own in rows.values())
        )
        for process in nodes.values():
            process.say(Stop())
            assert process.hear() == Stopped()
    finally:
        for process in nodes.values():
            process.close()
    begun = [row for row in rows[0] if row["kind"] == "begun"]

    assert [(row["sender"], row["receiver"], row["number"], row["count"]) for row in begun] == [
        (0, EVERYBODY, 1, 1),
        (0, EVERYBODY, 2, 1),
    ]
    for own in rows.values():
        found = [(row["sender"], row["number"], row["digest"]) for row in own if row["kind"] == "delivered"]
        assert found == [(0, 1, digest_of(b"x")), (0, 2, digest_of(b"y"))]
        assert {name for row in own for name in row} <= {*schema("broadcast").columns, "kind"}


def test_what_drivers_ask_for_is_there() -> None:
    plugin = load("broadcast")

    assert plugin.decode is decode
    assert plugin.make_core(config(0)).next_deadline() is None


def test_a_clock_goes_into_two_sums() -> None:
    columns = Records().packet(Packet(DATA, 0, 1, 0, 3, 1, 9, True, b"", (2, 0, 5)))

    assert (columns["clock_sum"], columns["clock_weighted"]) == (7, 2 + 3 * 5)
    assert (columns["flags"], columns["pseq"], columns["number"], columns["count"]) == (1, 9, 3, 1)
    assert "clock_sum" not in Records().packet(Packet(ACK, 0, 1, 0, 3, 1, 9))


def test_submissions_are_numbered_by_receiver() -> None:
    records = Records()
    found = [row["number"] for row in records.submission(0, ((1, b""), (2, b""), (1, b"")))]

    assert found == [1, 1, 2]
