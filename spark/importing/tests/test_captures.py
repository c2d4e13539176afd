"""Captures of the wire format: the packets of a run, out of files that another program's library wrote."""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from struct import pack
from typing import Any

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.utils import PcapNgWriter, PcapWriter, wrpcap

from scatterproof.conformance.broadcast.tests import runs as broadcast
from scatterproof.conformance.network.run import simulate
from scatterproof.conformance.tests import runs as totalorder
from scatterproof.spark.importing.captures import records
from scatterproof.spark.importing.tests.imported import Imported, failed, imported, inconclusive
from scatterproof.spec.core import NodeConfig, Send
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import Schedule
from scatterproof.spec.trace import Kind, Order, Row, Trace, schema

SCHEDULES: dict[str, Schedule] = {
    "totalorder": totalorder.schedule(totalorder.NETWORKS["star"], "C"),
    "broadcast": broadcast.schedule("urb", "plain", 3),
}
PROTOCOLS = tuple(SCHEDULES)


class Sent:
    """The reference core of a protocol; `datagrams` are those that each node sends, in order."""

    def __init__(self, protocol: str) -> None:
        self._make = importlib.import_module(f"scatterproof.impl.{protocol}").make_core
        self._encode = importlib.import_module(f"scatterproof.impl.{protocol}.codec").encode
        self.datagrams: dict[int, list[bytes]] = defaultdict(list)

    def make(self, config: NodeConfig) -> Any:
        core, datagrams, encode = self._make(config), self.datagrams[config.node], self._encode
        handle = core.handle

        class Told:
            next_deadline = core.next_deadline

            def handle(self, event: Any) -> Any:
                effects = handle(event)
                datagrams.extend(encode(effect.packet) for effect in effects if isinstance(effect, Send))
                return effects

        return Told()


def simulated(protocol: str) -> tuple[Trace, dict[tuple[int, int], bytes]]:
    """The trace, and the datagram of each packet, by link and number."""
    sent = Sent(protocol)
    trace = simulate(SCHEDULES[protocol], sent.make)
    left = {node: iter(datagrams) for node, datagrams in sent.datagrams.items()}
    rows = [dict(zip(schema(protocol).columns, row, strict=True)) for row in trace.rows]
    return trace, {(row["link"], row["link_seq"]): next(left[row["node"]]) for row in rows if row["kind"] == Kind.SENT}


def frame(source: int, target: int, datagram: bytes) -> Any:
    ends = IP(src=f"10.0.0.{source}", dst=f"10.0.0.{target}") / UDP(sport=7000 + source, dport=7000 + target)
    return Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / ends / datagram


def frames(protocol: str, kinds: dict[Kind, int | None]) -> Iterator[Any]:
    """A frame for each row of these kinds at that node (None: at any), with its time."""
    trace, datagrams = simulated(protocol)
    for row in (dict(zip(schema(protocol).columns, row, strict=True)) for row in trace.rows):
        for kind, node in kinds.items():
            if row["kind"] == kind and node in (None, row["node"]):
                link = trace.header.topology.links[row["link"]]
                found = frame(link.source, link.target, datagrams[row["link"], row["link_seq"]])
                found.time = row["time_ns"] / 1_000_000_000
                yield found


def mapping(folder: Path, protocol: str, more: str = "", complete: str = '{ sent = "all", delivered = "all" }') -> str:
    """Every node at its address, everything said to be recorded."""
    trace, _ = simulated(protocol)
    names = [node.name for node in trace.header.topology.nodes]
    nodes = "".join(f'{name} = ["10.0.0.{number}"]\n' for number, name in enumerate(names))
    links = ", ".join(f"{{source = {link.source}, target = {link.target}}}" for link in trace.header.topology.links)
    roles = ", ".join(f'{{name = "{node.name}", role = "{node.role}"}}' for node in trace.header.topology.nodes)
    parameters = ", ".join(
        f'{name} = "{value}"' if isinstance(value, str) else f"{name} = {value}"
        for name, value in trace.header.parameters.items()
    )
    header = f"[header]\nparameters = {{ {parameters} }}\ncomplete = {complete}\n"
    return f"{header}topology = {{ nodes = [{roles}], links = [{links}] }}\n[nodes]\n{nodes}{more}"


def written(path: Path, packets: list[Any], **options: Any) -> Path:
    writer = PcapNgWriter(str(path)) if path.suffix == ".pcapng" else PcapWriter(str(path), nano=True, **options)
    with writer:
        for packet in packets:
            writer.write(packet)
    return path


def rows_of(trace: Trace, *kinds: Kind, without: tuple[str, ...]) -> list[Row]:
    """What is recorded of these kinds, less some columns."""
    names = schema(trace.header.protocol).columns
    keep = [at for at, name in enumerate(names) if name not in without]
    return [tuple(row[at] for at in keep) for row in trace.rows if row[names.index("kind")] in kinds]


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", ["a.pcap", "a.pcapng"])
def test_a_capture_beside_the_network_shows_all_that_is_sent(tmp_path: Path, protocol: str, name: str) -> None:
    trace, _ = simulated(protocol)
    path = written(tmp_path / name, list(frames(protocol, {Kind.SENT: None})))
    found = imported(tmp_path, protocol, path, mapping=mapping(tmp_path, protocol))
    assert not found.quarantined
    # pcapng counts microseconds there.
    without = ("clock_ns", "time_ns") if name == "a.pcapng" else ("clock_ns",)
    assert rows_of(found.traces[0], Kind.SENT, without=without) == rows_of(trace, Kind.SENT, without=without)
    header = found.traces[0].header
    assert list(header.complete) == ["sent"]
    assert "a capture does not show what is delivered" in header.notes
    assert not failed(found.traces[0])
    undecided = inconclusive(found.traces[0])
    assert "does not record" in undecided[{"totalorder": "TO-ORDER", "broadcast": "BC-URB-ONCE"}[protocol]]


def per_node(tmp_path: Path, protocol: str) -> Imported:
    folder = tmp_path / "in"
    folder.mkdir()
    for number, node in enumerate(SCHEDULES[protocol].topology.nodes):
        written(folder / f"{node.name}.pcap", list(frames(protocol, {Kind.SENT: number, Kind.ARRIVED: number})))
    more = '[files]\nnode = "^(?P<node>[^.]+)"\n'
    text = mapping(tmp_path, protocol, more, '{ sent = "all", arrived = "all" }').replace(
        "[header]\n", '[header]\norder = "link"\n'
    )
    return imported(tmp_path, protocol, folder, mapping=text)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_captures_at_all_nodes_are_one_run(tmp_path: Path, protocol: str) -> None:
    trace, _ = simulated(protocol)
    found = per_node(tmp_path, protocol)
    assert not found.quarantined
    without = ("clock_ns",) if protocol == "totalorder" else ("clock_ns", "link_seq")
    kinds = (Kind.SENT, Kind.ARRIVED)
    (merged,) = found.traces.values()
    assert sorted(rows_of(merged, *kinds, without=without)) == sorted(rows_of(trace, *kinds, without=without))
    # Only total order numbers packets on the wire; without numbers nothing tells which packet it was that arrived.
    assert merged.header.order is (Order.LINK if protocol == "totalorder" else Order.NODE)
    assert not failed(merged)


def test_a_file_of_a_node_that_is_missing_leaves_it_open_what_the_node_did(tmp_path: Path) -> None:
    per_node(tmp_path, "totalorder")
    (tmp_path / "in" / f"{SCHEDULES['totalorder'].topology.nodes[1].name}.pcap").unlink()
    (tmp_path / "again").mkdir()
    text = (tmp_path / "mapping.toml").read_text()
    (trace,) = imported(tmp_path / "again", "totalorder", tmp_path / "in", mapping=text).traces.values()
    assert 1 not in trace.header.complete["sent"]
    assert 0 in trace.header.complete["sent"]
    assert any("there is no file of node" in note for note in trace.header.notes)


def test_packets_that_the_capture_has_missed_leave_their_sender_open(tmp_path: Path) -> None:
    packets = list(frames("totalorder", {Kind.SENT: None}))
    trace, _ = simulated("totalorder")
    sender = next(row for row in trace.rows if row[schema("totalorder").index("kind")] == Kind.SENT)[2]
    path = written(tmp_path / "a.pcap", packets[1:])
    (found,) = imported(tmp_path, "totalorder", path, mapping=mapping(tmp_path, "totalorder")).traces.values()
    assert sender not in found.header.complete["sent"]
    assert len(found.header.complete["sent"]) == len(trace.header.topology.nodes) - 1
    assert any("packets before number 1 are not in the capture" in note for note in found.header.notes)


def spoilt(number: int) -> tuple[Any, str]:
    """A frame, and why it is no event; an empty reason for what is none of ours."""
    first = next(frames("totalorder", {Kind.SENT: None}))
    payload = bytes(first[UDP].payload)
    fragment = first.copy()
    fragment[IP].flags = "MF"
    short = first.copy()
    short[UDP].len = 4
    tagged = first.copy()
    tagged = Ether(src=first.src, dst=first.dst) / Dot1Q(vlan=3) / first[IP]
    return [
        (frame(0, 3, b"\xff" + payload[1:]), "wrong_version"),
        (frame(0, 3, payload[:20]), "too_short"),
        (fragment, "fragment"),
        (short, "shorter than it says"),
        (frame(0, 99, payload), ""),
        (Ether() / ARP(), ""),
        (Ether() / IP(src="10.0.0.0", dst="10.0.0.3") / TCP(), ""),
        (frame(0, 1, payload), "no link from node 0 to node 1"),
        (tagged, "sound"),
    ][number]


@pytest.mark.parametrize("number", range(9))
def test_frames_that_are_no_packets(tmp_path: Path, number: int) -> None:
    packet, reason = spoilt(number)
    path = written(tmp_path / "a.pcap", [packet, *frames("totalorder", {Kind.SENT: None})])
    found = imported(tmp_path, "totalorder", path, mapping=mapping(tmp_path, "totalorder"))
    if reason in ("", "sound"):
        assert not found.quarantined
        assert sum(found.made.skipped.values()) == (reason == "")
        assert bool(found.traces[0].header.complete["sent"])
    else:
        assert [(kept["line"], reason in kept["reason"]) for kept in found.quarantined] == [(1, True)]
        assert 0 not in found.traces[0].header.complete["sent"]


def test_a_capture_that_is_cut_off_says_so(tmp_path: Path) -> None:
    path = written(tmp_path / "a.pcap", list(frames("totalorder", {Kind.SENT: None})))
    path.write_bytes(path.read_bytes()[:-3])
    found = imported(tmp_path, "totalorder", path, mapping=mapping(tmp_path, "totalorder"))
    assert "mid-record" in found.quarantined[0]["reason"]
    assert found.traces[0].header.complete["sent"] == ()


def test_a_capture_with_a_limit_on_its_frames_says_so(tmp_path: Path) -> None:
    path = written(tmp_path / "a.pcap", [])
    whole = bytes(next(frames("totalorder", {Kind.SENT: None})))
    path.write_bytes(pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 96, 1) + pack("<IIII", 1, 2, 96, len(whole)) + whole[:96])
    found = imported(tmp_path, "totalorder", path, mapping=mapping(tmp_path, "totalorder"))
    assert found.quarantined[0]["reason"] == f"only 96 of {len(whole)} bytes were captured"


def test_records_are_those_of_scapy(tmp_path: Path) -> None:
    """Of both byte orders and both units of time."""
    packets = list(frames("totalorder", {Kind.SENT: None}))[:5]
    for number, packet in enumerate(packets):
        packet.time = 1_700_000_000 + number / 8
    for endianness in "<>":
        for nano in (False, True):
            wrpcap(str(tmp_path / "a.pcap"), packets, endianness=endianness, nano=nano)
            found = list(records(tmp_path / "a.pcap"))
            assert [record.frame for record in found] == [bytes(packet) for packet in packets]
            assert [record.time_ns for record in found] == [
                1_700_000_000_000_000_000 + number * 125_000_000 for number in range(5)
            ]


def test_what_is_no_capture_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.pcap").write_bytes(b"GIF89a")
    with pytest.raises(BadInput, match=r"a.pcap: neither pcap nor pcapng; give a capture"):
        imported(tmp_path, "totalorder", tmp_path / "a.pcap", mapping=mapping(tmp_path, "totalorder"))
    with pytest.raises(BadInput, match=r"a.pcap: does not say which network it is of; give --mapping"):
        imported(tmp_path / "other", "totalorder", tmp_path / "a.pcap")
