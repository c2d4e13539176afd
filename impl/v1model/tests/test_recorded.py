"""What BMv2 was seen to do, replayed on the embedded target: it does the same, to the bit.

`recorded/`: packets and entries drawn by seed, with what BMv2 answered and let out. `p4testgen/`: tests that p4testgen
made from the programs' paths, with what it says must leave; BMv2 passed them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from scatterproof.impl.bmv2 import recording
from scatterproof.impl.bmv2.recording import ControlRequest, RecordedPacket, Recording
from scatterproof.impl.v1model import EmbeddedSwitch, load

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).parent
RECORDED = sorted((HERE / "recorded").glob("*.json"))
PATHS = sorted((HERE / "p4testgen").glob("*.json"))


def made(told: Recording) -> recording.Make:
    program = load(ROOT / told.program)
    return lambda: EmbeddedSwitch(program, ports=told.ports, cpu_port=told.cpu_port)


@pytest.mark.parametrize("path", [*RECORDED, *PATHS], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_embedded_target_does_what_bmv2_did(path: Path) -> None:
    told = recording.read(path)
    program = ROOT / told.program
    assert recording.digest_of(program.read_bytes()) == told.digest, (
        f"{told.program} has changed: record {path.name} anew"
    )
    found = recording.replay(told.steps, made(told), cpu_port=told.cpu_port)
    assert not found, f"{len(found)} differences, the first: {found[0]}"


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_recording_is_not_empty_of_what_it_is_for(path: Path) -> None:
    told = recording.read(path)
    packets = [step for step in told.steps if isinstance(step, RecordedPacket)]
    assert len(packets) >= 100
    assert any(step.out for step in packets)
    assert len({step.data for step in packets}) >= 50
    assert told.source.startswith("BMv2 ")


def test_together_they_have_refused_requests_and_dropped_packets() -> None:
    steps = [step for path in RECORDED for step in recording.read(path).steps]
    assert {step.answer for step in steps if isinstance(step, ControlRequest)} > {"OK", "ALREADY_EXISTS"}
    assert any(not step.out for step in steps if isinstance(step, RecordedPacket))


def test_a_flipped_bit_in_what_left_is_a_difference() -> None:
    told = recording.read(RECORDED[0])
    place = next(i for i, step in enumerate(told.steps) if isinstance(step, RecordedPacket) and step.out)
    packet = told.steps[place]
    assert isinstance(packet, RecordedPacket)
    (port, data), *others = packet.out
    flipped = f"{int(data, 16) ^ 1:0{len(data)}x}"
    damaged = RecordedPacket(port=packet.port, data=packet.data, out=[(port, flipped), *others], masks=packet.masks)
    found = recording.replay([*told.steps[:place], damaged], made(told), cpu_port=told.cpu_port)
    assert [one.step for one in found] == [place]
