"""Trying a program at the command line, with packets in pcap files."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from scapy.utils import RawPcapReader

from scatterproof.impl.v1model import Lpm, Range, Ternary
from scatterproof.impl.v1model.__main__ import main
from scatterproof.impl.v1model.capture import match_of, read, write
from scatterproof.impl.v1model.tests.samples import PROGRAMS, pack
from scatterproof.spec.errors import BadInput

ROUTER = str(PROGRAMS / "l2_forward.json")


def frame(destination: int) -> bytes:
    return pack((destination, 48), (1, 48), (0x0800, 16)) + b"payload"


def test_packets_go_through_a_switch_in_order_of_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "a.pcap", [(1_000_000, frame(7)), (3_000_000, frame(8))])
    write(tmp_path / "b.pcap", [(2_000_000, frame(7))])
    entry = {
        "table": "Enter.addresses",
        "match": {"hdr.ethernet.destination": "0x7"},
        "action": "Enter.forward",
        "params": {"port": 2},
    }
    control = {"tables": [entry], "multicast": {"1": [[0, 0], [1, 0], [2, 0]]}}
    (tmp_path / "control.json").write_text(json.dumps(control))
    given = ["--in", f"0={tmp_path / 'a.pcap'}", "--in", f"1={tmp_path / 'b.pcap'}", "--ports", "4"]
    out = tmp_path / "out"
    assert main([ROUTER, *given, "--out", str(out), "--control", str(tmp_path / "control.json")]) == 0
    assert capsys.readouterr().out == "port 1: 1 packets left\nport 2: 3 packets left\n"
    assert read(out / "2.pcap") == [(1_000_000, frame(7)), (2_000_000, frame(7)), (3_000_000, frame(8))]
    assert read(out / "1.pcap") == [(3_000_000, frame(8))]


def test_the_files_are_those_that_others_read(tmp_path: Path) -> None:
    write(tmp_path / "a.pcap", [(1_500_007, b"\1" * 20), (2_000_000, b"")])
    with RawPcapReader(str(tmp_path / "a.pcap")) as reader:
        found = [(meta.sec, meta.usec, bytes(data)) for data, meta in reader]
    assert found == [(1, 500_007, b"\1" * 20), (2, 0, b"")]


@pytest.mark.parametrize("order", "<>")
def test_captures_of_either_byte_order_and_with_nanoseconds_are_read(tmp_path: Path, order: str) -> None:
    head = struct.pack(order + "IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    (tmp_path / "n.pcap").write_bytes(head + struct.pack(order + "4I", 3, 5_000, 2, 60) + b"ab")
    assert read(tmp_path / "n.pcap") == [(3_000_005, b"ab")]


@pytest.mark.parametrize("cut", [0, 10, 23, 30, 41])
def test_a_capture_that_is_cut_off_is_told(tmp_path: Path, cut: int) -> None:
    write(tmp_path / "whole.pcap", [(0, b"abc")])
    (tmp_path / "cut.pcap").write_bytes((tmp_path / "whole.pcap").read_bytes()[:cut])
    with pytest.raises(BadInput, match=r"cut\.pcap: "):
        read(tmp_path / "cut.pcap")


def test_matches_are_written_as_in_p4() -> None:
    assert match_of(5) == match_of("0x5") == match_of("5") == 5
    assert match_of("0x0a000000/8") == Lpm(0x0A000000, 8)
    assert match_of("0x10 &&& 0xf0") == Ternary(0x10, 0xF0)
    assert match_of("100..200") == Range(100, 200)
    with pytest.raises(BadInput, match="no such form"):
        match_of("ten")


@pytest.mark.parametrize(
    ("control", "told"),
    [
        ("{", "see the top of"),
        ('{"table": []}', "see the top of"),
        ('{"tables": [{"table": "x", "match": {}, "action": "y"}]}', "entry 1: NOT_FOUND"),
        ('{"multicast": {"0": []}}', "INVALID_ARGUMENT"),
    ],
)
def test_what_the_control_plane_may_not_write_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], control: str, told: str
) -> None:
    (tmp_path / "control.json").write_text(control)
    assert main([ROUTER, "--out", str(tmp_path), "--control", str(tmp_path / "control.json")]) == 2
    assert told in capsys.readouterr().err


def test_an_input_without_a_port_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([ROUTER, "--in", "a.pcap", "--out", str(tmp_path)]) == 2
    assert "write PORT=FILE" in capsys.readouterr().err
