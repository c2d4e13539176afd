"""Packets and entries drawn for a small program: they depend on the seed alone, and reach what the program does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scatterproof.impl.bmv2.recording import ControlRequest, RecordedPacket, Step, play
from scatterproof.impl.bmv2.vary import Variety
from scatterproof.impl.bmv2.wires import refusal
from scatterproof.impl.v1model import EmbeddedSwitch, load

SOURCES = sorted((Path(__file__).parents[2] / "v1model" / "tests" / "programs").glob("*.p4"))
PROGRAMS = [path.with_suffix(".json") for path in SOURCES]
ROUTER, BRIDGE = (PROGRAMS[0].with_name(f"{name}.json") for name in ("l3_route", "l2_forward"))


def drawn(path: Path, seed: int, packets: int = 200) -> list[Step]:
    return list(Variety(path.read_bytes(), info(path), ports=range(4), cpu_port=None, seed=seed).steps(packets))


def info(path: Path) -> str:
    return path.with_suffix(".p4info.txtpb").read_text()


def packets_of(steps: list[Step]) -> list[bytes]:
    return [bytes.fromhex(step.data) for step in steps if isinstance(step, RecordedPacket)]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_packet_drawn_can_be_carried_and_is_the_seeds(path: Path) -> None:
    first, again, other = drawn(path, 1, 50), drawn(path, 1, 50), drawn(path, 2, 50)
    assert first == again
    assert first != other
    assert [refusal(data) for data in packets_of(first)] == [None] * 50


def test_what_is_drawn_for_a_bridge_is_forwarded_flooded_and_dropped() -> None:
    program = load(BRIDGE)
    steps = list(play(drawn(BRIDGE, 1), lambda: EmbeddedSwitch(program, ports=4), cpu_port=None))
    left = {port for step in steps if isinstance(step, RecordedPacket) for port, _ in step.out}
    copies = {len(step.out) for step in steps if isinstance(step, RecordedPacket)}
    answers = {step.answer for step in steps if isinstance(step, ControlRequest)}
    assert len(left) >= 3
    assert copies == {0, 1, 3}
    assert answers >= {"OK", "ALREADY_EXISTS", "NOT_FOUND"}


def test_checksums_are_mostly_right() -> None:
    right = 0
    for data in (
        whole := [data for data in packets_of(drawn(ROUTER, 3)) if data[12:14] == b"\x08\x00" and len(data) >= 34]
    ):
        words = [int.from_bytes(data[place : place + 2], "big") for place in range(14, 34, 2)]
        right += sum(words) % 0xFFFF == 0
    assert len(whole) >= 20
    assert len(whole) // 3 < right < len(whole)


def test_a_change_of_the_pools_of_values_changes_what_is_drawn() -> None:
    content = json.loads(ROUTER.read_bytes())
    for one in content["header_types"]:
        one["name"] = one["name"] + "_"
    for one in content["headers"]:
        one["header_type"] = one["header_type"] + "_"
    renamed = Variety(json.dumps(content).encode(), info(ROUTER), ports=range(4), cpu_port=None, seed=1).steps(20)
    assert list(renamed) != drawn(ROUTER, 1, 20)
