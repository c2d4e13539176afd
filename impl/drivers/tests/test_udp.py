"""The UDP driver: real processes that exchange datagrams on loopback, without a harness."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scatterproof.impl.drivers.tests.processes import STAR, NodeProcess, Row, config, rows_until
from scatterproof.impl.totalorder.codec import decode, encode
from scatterproof.spec.adapter import Connect, Init, Line, Listening, Payload, Ready, Stop, Stopped, Submit
from scatterproof.spec.topology import Topology
from scatterproof.spec.totalorder.messages import Packet, PacketKind

DATA, BEACON = int(PacketKind.DATA), int(PacketKind.BEACON)


class Cluster:
    """Every node of the star as a process, joined; and the rows that their logs gave so far."""

    def __init__(self, folder: Path, topology: Topology = STAR, environment: str = "C") -> None:
        numbers = range(len(topology.nodes))
        self.nodes = {number: NodeProcess("udp", folder / f"{number}.ndjson") for number in numbers}
        self.rows: dict[int, list[Row]] = {number: [] for number in numbers}
        ports: dict[int, int] = {}
        for number, node in self.nodes.items():
            node.say(Init(config(number, environment=environment), log=str(node.log_path)))
        for node in self.nodes.values():
            listening = node.hear()
            assert isinstance(listening, Listening)
            ports |= listening.ports
        for number, node in self.nodes.items():
            node.say(Connect({link: ports[link] for link in config(number).egress}))
            assert node.hear() == Ready()

    def wait(self, enough: Callable[[], bool]) -> None:
        rows_until(self.nodes, self.rows, enough)

    def of_kind(self, number: int, kind: str) -> list[Row]:
        return [row for row in self.rows[number] if row["kind"] == kind]

    def close(self) -> None:
        for node in self.nodes.values():
            node.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture(params=["B", "C"])
def cluster(folder: Path, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    made = Cluster(folder, environment=request.param)
    yield made
    made.close()


def test_to_order_hosts_on_real_sockets_deliver_all_messages_in_one_order(cluster: Cluster) -> None:
    count = 50
    for index in range(count):
        for host in (0, 1):
            payload = b"%d of host %d" % (index, host)
            cluster.nodes[host].say(Submit((Payload(0, payload), Payload(1, payload))))
    cluster.wait(lambda: all(len(cluster.of_kind(host, "delivered")) == 2 * count for host in (0, 1)))

    def order(host: int) -> list[tuple[int | str, int | str]]:
        return [(row["timestamp"], row["sender"]) for row in cluster.of_kind(host, "delivered")]

    assert order(0) == order(1)
    assert order(0) == sorted(set(order(0)))
    for host in (0, 1):
        submitted = {
            (row["number"], row["digest"]) for row in cluster.of_kind(host, "submitted") if row["receiver"] == 1
        }
        delivered = {(row["number"], row["digest"]) for row in cluster.of_kind(1, "delivered") if row["sender"] == host}
        assert submitted == delivered


def test_a_packet_is_logged_as_sent_before_it_is_logged_as_arrived(cluster: Cluster) -> None:
    cluster.nodes[0].say(Submit((Payload(1, b"x"),)))
    cluster.wait(lambda: bool(cluster.of_kind(1, "delivered")))
    sent = {(row["link"], row["link_seq"]): row for number in (0, 1, 2) for row in cluster.of_kind(number, "sent")}
    arrived = [row for number in (0, 1, 2) for row in cluster.of_kind(number, "arrived")]

    assert any(row["packet"] == DATA for row in arrived)
    assert any(row["packet"] == BEACON for row in arrived)
    for row in arrived:
        cause = sent.get((row["link"], row["link_seq"]))
        # The logs of the others may have been read further than this one's: look only at causes that were read.
        if cause is not None:
            assert int(cause["time_ns"]) < int(row["time_ns"])
            assert cause.get("timestamp") == row.get("timestamp")
            assert cause.get("barrier") == row.get("barrier")


def test_stop_is_answered_when_the_log_is_complete_and_no_process_stays(cluster: Cluster) -> None:
    cluster.nodes[0].say(Submit((Payload(1, b"x"),)))
    cluster.wait(lambda: bool(cluster.of_kind(1, "delivered")))
    for node in cluster.nodes.values():
        node.say(Stop())
    for number, node in cluster.nodes.items():
        assert node.hear() == Stopped()
        cluster.rows[number] += node.rows_now()
        assert node.end() == (0, "")

    sent = {(row["link"], row["link_seq"]) for number in (0, 1, 2) for row in cluster.of_kind(number, "sent")}
    arrived = {(row["link"], row["link_seq"]) for number in (0, 1, 2) for row in cluster.of_kind(number, "arrived")}
    assert arrived <= sent


@pytest.fixture
def alone(folder: Path) -> Iterator[NodeProcess]:
    """Host 0, started and not yet told anything."""
    node = NodeProcess("udp", folder / "log.ndjson")
    yield node
    node.close()


@pytest.fixture
def switch_side() -> Iterator[socket.socket]:
    """The socket with which the test plays the switch."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.settimeout(20)
        opened.bind(("127.0.0.1", 0))
        yield opened


def start(node: NodeProcess, switch_side: socket.socket, offset_ns: int = 0) -> tuple[str, int]:
    """Start host 0; returns the address of its ingress link."""
    node.say(Init(config(0, environment="A"), log=str(node.log_path), clock_offset_ns=offset_ns))
    listening = node.hear()
    assert isinstance(listening, Listening)
    assert list(listening.ports) == [1]
    node.say(Connect({0: switch_side.getsockname()[1]}))
    assert node.hear() == Ready()
    return "127.0.0.1", listening.ports[1]


def data(link_seq: int, timestamp: int) -> bytes:
    return encode(Packet(DATA, 1, 0, link_seq + 1, link_seq, timestamp, timestamp, b"x"))


def wait_for(node: NodeProcess, kind: str, count: int = 1) -> list[Row]:
    rows: dict[int, list[Row]] = {0: []}
    rows_until({0: node}, rows, lambda: sum(row["kind"] == kind for row in rows[0]) >= count)
    return rows[0]


def test_to_mono_timestamps_come_from_the_clock_with_its_offset(alone: NodeProcess, switch_side: socket.socket) -> None:
    offset = 1 << 50
    start(alone, switch_side, offset)
    alone.say(Submit((Payload(1, b"hello"),)))
    packet = decode(switch_side.recv(1 << 16))
    rows = wait_for(alone, "sent")

    assert isinstance(packet, Packet)
    assert packet.payload == b"hello"
    assert [row["kind"] for row in rows] == ["submitted", "sent"]
    assert {int(row["clock_ns"]) - int(row["time_ns"]) for row in rows} == {offset}
    assert packet.timestamp == rows[1]["timestamp"] == rows[1]["clock_ns"]


def test_malformed_datagrams_are_refused_and_counted_and_the_node_goes_on(
    alone: NodeProcess, switch_side: socket.socket
) -> None:
    address = start(alone, switch_side)
    for datagram in (b"", b"short", b"\x01" * 72, data(0, 10) + b"!", data(0, 10), data(1, 20)):
        switch_side.sendto(datagram, address)
    rows = wait_for(alone, "delivered")

    reasons = [row["reason"] for row in rows if row["kind"] == "refused"]
    assert reasons == ["too_short", "too_short", "wrong_version", "trailing_bytes"]
    assert [row["timestamp"] for row in rows if row["kind"] == "delivered"] == [10]
    alone.say(Stop())
    assert alone.hear() == Stopped()
    assert alone.end() == (0, "node 0 refused 4 datagrams: too_short 2, trailing_bytes 1, wrong_version 1\n")


def test_to_bar_link_a_late_datagram_is_logged_as_arrived_and_as_refused(
    alone: NodeProcess, switch_side: socket.socket
) -> None:
    address = start(alone, switch_side)
    for datagram in (data(0, 10), data(1, 9)):
        switch_side.sendto(datagram, address)
    rows = wait_for(alone, "refused")

    assert [row["kind"] for row in rows] == ["arrived", "arrived", "refused"]
    assert rows[2]["reason"] == "against_protocol"
    assert "TO-BAR-LINK" in str(rows[2]["text"])


def test_a_datagram_from_another_port_than_the_links_first_is_refused(
    alone: NodeProcess, switch_side: socket.socket
) -> None:
    address = start(alone, switch_side)
    switch_side.sendto(data(0, 10), address)
    wait_for(alone, "arrived")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.sendto(data(1, 20), address)
        rows = wait_for(alone, "refused")

    assert [row["reason"] for row in rows] == ["unexpected_source"]
    assert [row["kind"] for row in rows] == ["refused"]


@pytest.mark.parametrize("way", ["stop", "end of stdin", "SIGTERM", "SIGINT"])
def test_every_way_to_end_leaves_a_complete_log_and_code_0(
    alone: NodeProcess, switch_side: socket.socket, way: str
) -> None:
    address = start(alone, switch_side)
    switch_side.sendto(data(0, 10), address)
    wait_for(alone, "arrived")
    alone.say(Submit((Payload(1, b""),)))
    assert isinstance(decode(switch_side.recv(1 << 16)), Packet)
    if way == "stop":
        alone.say(Stop())
    elif way == "end of stdin":
        alone.hang_up()
    else:
        alone.process.send_signal(signal.Signals[way])

    assert alone.end() == (0, "")
    assert [row["kind"] for row in alone.rows_now()] == ["submitted", "sent"]


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([Stop()], "stdin: line 1 has type 'stop'; the first line is an init"),
        ([Init(config(0))], "stdin: line 1: init names no log"),
        ([Init(config(0), log="LOG", clock_offset_ns=(1 << 62) + 1)], "stdin: line 1: clock_offset_ns"),
        (
            [Init(config(0), log="LOG"), Submit((Payload(1, b""),))],
            "stdin: line 2 has type 'submit'; now comes connect",
        ),
        ([Init(config(0), log="LOG"), Connect({})], "stdin: line 2: peers are given for links []; the egress are [0]"),
        ([Init(config(0), log="LOG"), Connect({0: 70_000})], "stdin: line 2: link 0 leads to port 70000"),
        (
            [Init(config(0), log="LOG"), Connect({0: 9}), Submit((Payload(2, b""),))],
            "stdin: line 3: host 0 has no route to host 2",
        ),
    ],
)
def test_a_line_that_does_not_fit_ends_the_node_with_one_sentence_and_code_2(
    alone: NodeProcess, lines: list[Line], sentence: str
) -> None:
    for line in lines:
        if isinstance(line, Init) and line.log is not None:
            alone.say(Init(line.config, log=str(alone.log_path), clock_offset_ns=line.clock_offset_ns))
        else:
            alone.say(line)
    code, said = alone.end()

    assert code == 2
    assert said.startswith(sentence)
    assert said.count("\n") == 1


def test_a_log_that_cannot_be_written_ends_the_node_with_one_sentence_and_code_3(
    alone: NodeProcess, folder: Path
) -> None:
    alone.say(Init(config(0), log=str(folder / "no such folder" / "log")))
    code, said = alone.end()

    assert code == 3
    assert said.endswith("the log cannot be written: No such file or directory; check the folder and the disk\n")
