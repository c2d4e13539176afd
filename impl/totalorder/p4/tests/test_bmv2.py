"""The P4 switch on BMv2: what was recorded of it, replayed on the embedded target; and, where BMv2 is found, live."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from scatterproof.impl.bmv2 import recording
from scatterproof.impl.bmv2.recording import ControlRequest, Fresh, RecordedPacket
from scatterproof.impl.totalorder.p4.bmv2 import NOTHING, Bmv2Target, Idle, Noting, changes, with_bmv2_switches
from scatterproof.impl.totalorder.p4.builds import FRAME_CLOCK, compiled
from scatterproof.impl.totalorder.p4.embedded import EmbeddedTarget
from scatterproof.impl.totalorder.p4.entries import EGRESS_LINK, Entries, MulticastGroup, TableEntry
from scatterproof.impl.totalorder.p4.frames import CPU_PORT
from scatterproof.impl.v1model import EmbeddedSwitch, load
from scatterproof.spec.errors import BadInput, CannotRun

RECORDED = Path(__file__).parents[1] / "recorded" / "switch.json"
# p4testgen's: all of them end in silence, since it knows neither `truncate` nor multicast groups.
PATHS = RECORDED.with_name("switch_paths.json")
SIZE = 8


def entry(port: int, action: str = "link") -> TableEntry:
    return TableEntry(table=EGRESS_LINK, match={"standard.egress_port": port}, action=action, params={})


@pytest.mark.parametrize("path", [RECORDED, PATHS], ids=lambda path: path.stem)
def test_the_embedded_target_does_what_bmv2_did_with_the_switch(path: Path) -> None:
    told = recording.read(path)
    content = compiled(FRAME_CLOCK, SIZE)
    program = load(content, place=told.program)
    found = recording.replay(
        told.steps, lambda: EmbeddedSwitch(program, ports=told.ports, cpu_port=told.cpu_port), cpu_port=told.cpu_port
    )
    hint = "" if recording.digest_of(content) == told.digest else "; the program has changed: ci/record_switch.py"
    assert not found, f"{len(found)} differences{hint}, the first: {found[0]}"


def test_the_recording_has_data_beacons_the_controller_and_silence() -> None:
    packets = [step for step in recording.read(RECORDED).steps if isinstance(step, RecordedPacket)]
    ports = {port for step in packets for port, _ in step.out}
    assert len(packets) >= 300
    assert {step.port for step in packets} >= {0, 1, CPU_PORT}
    assert ports >= {0, 1, CPU_PORT}
    assert {len(step.out) for step in packets} >= {0, 1, 2, 3}


def test_a_recording_of_the_switch_with_one_bit_changed_is_seen() -> None:
    told = recording.read(RECORDED)
    place = next(i for i, step in enumerate(told.steps) if isinstance(step, RecordedPacket) and step.out)
    packet = told.steps[place]
    assert isinstance(packet, RecordedPacket)
    (port, data), *others = packet.out
    damaged = RecordedPacket(
        port=packet.port, data=packet.data, out=[(port, f"{int(data, 16) ^ 2:0{len(data)}x}"), *others]
    )
    program = load(compiled(FRAME_CLOCK, SIZE), place="switch")
    found = recording.replay(
        [*told.steps[:place], damaged],
        lambda: EmbeddedSwitch(program, ports=SIZE, cpu_port=CPU_PORT),
        cpu_port=CPU_PORT,
    )
    assert [one.step for one in found] == [place]


def test_only_what_changes_is_written_and_what_goes_away_goes_first() -> None:
    before = Entries(tables=(entry(1), entry(2)), groups=(MulticastGroup(number=3, replicas=((1, 0),)),))
    after = Entries(tables=(entry(2), entry(1, "other")), groups=(MulticastGroup(number=3, replicas=((2, 0),)),))
    assert [(step.verb, step.match, step.action, step.replicas) for step in changes(before, after)] == [
        ("delete", {"standard.egress_port": "0x1"}, "", []),
        ("add", {"standard.egress_port": "0x1"}, "SwitchEgress.egress_link.other", []),
        ("multicast", {}, "", []),
        ("multicast", {}, "", [(2, 0)]),
    ]
    assert list(changes(after, after)) == []


def test_a_group_without_replicas_is_neither_made_nor_deleted() -> None:
    full, empty = (
        Entries(tables=(), groups=(MulticastGroup(number=3, replicas=replicas),)) for replicas in (((1, 0),), ())
    )
    none = Entries(tables=(), groups=())
    assert list(changes(empty, none)) == list(changes(none, empty)) == []
    assert [step.replicas for step in changes(full, empty)] == [[]]
    assert [step.replicas for step in changes(empty, full)] == [[(1, 0)]]


def test_what_is_noted_is_what_was_asked() -> None:
    noting = Noting(EmbeddedTarget(FRAME_CLOCK, SIZE), "a run")
    noting.write(Entries(tables=(), groups=()))
    noting.process(0, b"\x01\x02", 0)
    assert noting.steps == [
        Fresh(why="a run"),
        ControlRequest(verb="clone_session", number=1, replicas=[(CPU_PORT, 0)]),
        RecordedPacket(port=0, data="0102"),
    ]
    assert sum(noting.refusals()) == 1


def test_without_bmv2_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", _nowhere)
    with pytest.raises(CannotRun, match="simple_switch_grpc is not on PATH: install BMv2"):
        with_bmv2_switches()


def test_an_unknown_build_is_refused_before_bmv2_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", _nowhere)
    with pytest.raises(BadInput, match="no build of the P4 program is named 'frame_clok'"):
        with_bmv2_switches("frame_clok")


def test_a_build_on_the_clock_of_bmv2_is_refused_before_bmv2_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", _nowhere)
    with pytest.raises(BadInput, match="build default takes the time from BMv2's own clock"):
        with_bmv2_switches("default")


def test_a_switch_that_is_used_again_knows_nothing(bmv2: Callable[..., object]) -> None:
    idle = Idle(FRAME_CLOCK)
    first = Bmv2Target(idle, SIZE)
    steps = recording.read(RECORDED).steps
    for step in steps[1 : next(i for i, step in enumerate(steps) if i and isinstance(step, Fresh))]:
        assert not isinstance(step, Fresh)
        recording.play_one(step, first.switch, cpu_port=CPU_PORT)
    first.close()
    second = Bmv2Target(idle, SIZE)
    try:
        assert second.switch is first.switch
        assert sum(second.refusals()) == 0
        second.write(NOTHING)
        second.process(0, bytes(60), 0)
        assert sum(second.refusals()) == 1
    finally:
        second.switch.close()


def _nowhere(_: str) -> None:
    return None
