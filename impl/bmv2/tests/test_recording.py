"""Recordings as data: their text forms, what is refused, and that a difference is seen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from scatterproof.impl.bmv2 import recording
from scatterproof.impl.bmv2.recording import ControlRequest, Fresh, RecordedPacket, Recording
from scatterproof.impl.v1model import (
    Code,
    ControlEntry,
    ControlError,
    Lpm,
    Match,
    Member,
    Range,
    SelectorGroup,
    Ternary,
)
from scatterproof.spec.errors import BadInput

HEAD = "00" * 12
STEPS: list[recording.Step] = [
    ControlRequest(verb="multicast", number=1, replicas=[(1, 1), (2, 2)]),
    ControlRequest(verb="add", table="t", match={"k": "0xa/8"}, action="go", params={"port": "0x3"}, priority=2),
    ControlRequest(verb="delete", table="t", match={"k": "0xb"}, answer="NOT_FOUND"),
    RecordedPacket(port=1, data=HEAD + "0102", out=[(2, HEAD + "0103"), (3, "")]),
]


@dataclass
class Hub:
    """A target that adds one to the last byte, and refuses to delete."""

    known: list[object] = field(default_factory=list)

    @property
    def tables(self) -> Mapping[str, Hub]:
        return {"t": self}

    @property
    def profiles(self) -> Mapping[str, Hub]:
        return {"p": self}

    @property
    def multicast(self) -> Hub:
        return self

    @property
    def clone_sessions(self) -> Hub:
        return self

    def add(self, entry: ControlEntry) -> None:
        self.known.append(entry)

    modify = add

    def delete(self, match: Mapping[str, Match] | int, priority: int = 0) -> None:
        raise ControlError(Code.NOT_FOUND, "nothing there")

    def default(self, action: str, params: Mapping[str, int] | None = None) -> None:
        self.known.append((action, params))

    def reset_default(self) -> None:
        self.known.append("reset")

    def add_member(self, number: int, action: str, params: Mapping[str, int] | None = None) -> None:
        self.known.append((number, action, params))

    modify_member = add_member

    def delete_member(self, number: int) -> None:
        self.known.append(number)

    def set_group(self, number: int, members: Iterable[int]) -> None:
        self.known.append((number, list(members)))

    delete_group = delete_member

    def set(self, number: int, replicas: Iterable[tuple[int, int]]) -> None:
        self.known.append((number, list(replicas)))

    def process(self, port: int, data: bytes) -> list[tuple[int, bytes]]:
        return [(3, b""), (2, data[:-1] + bytes([data[-1] + 1]))]


def made(steps: list[recording.Step]) -> Recording:
    return Recording(
        format=1, program="p.json", digest="0", source="BMv2 1.0.0", ports=[1, 2, 3], cpu_port=None, steps=steps
    )


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("0xa", 10),
        ("0x0/1", Lpm(0, 1)),
        ("0xffffffffffffffffffffffffffffffff&0xf", Ternary((1 << 128) - 1, 15)),
        ("0x1-0x20", Range(1, 32)),
    ],
)
def test_a_match_is_its_text(text: str, match: Match) -> None:
    assert recording.match_of(text) == match
    assert recording.text_of(match) == text


@pytest.mark.parametrize("text", ["", "10", "0x", "0x1/", "0x1/0x8", "0x1&", "0x1-2", "-0x1"])
def test_what_is_no_match_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="is no match; write"):
        recording.match_of(text)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.json"
    recording.write(path, made(STEPS))
    assert recording.read(path) == made(STEPS)
    assert len(path.read_text().splitlines()) == len(STEPS) + 2
    assert json.loads(path.read_text())["program"] == "p.json"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "no recording"),
        ("{}", "no recording: .*format"),
        (json.dumps({"format": 1, "program": 3}), "no recording"),
        (None, "No such file"),
    ],
)
def test_a_file_that_is_no_recording_is_refused_by_name(content: str | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(BadInput, match=said) as caught:
        recording.read(path)
    assert str(path) in str(caught.value)


def test_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    recording.write(path, msgspec.structs.replace(made([]), format=2))
    with pytest.raises(BadInput, match="format 2, and this reads 1"):
        recording.read(path)


def test_a_target_that_does_the_same_has_no_difference() -> None:
    hub = Hub()
    assert recording.replay(STEPS, lambda: hub, cpu_port=3) == []
    assert hub.known == [(1, [(1, 1), (2, 2)]), ControlEntry({"k": Lpm(10, 8)}, "go", {"port": 3}, 2)]


@pytest.mark.parametrize(
    "step",
    [
        ControlRequest(verb="delete", table="t", match={"k": "0xb"}),
        ControlRequest(verb="add", table="t", match={"k": "0xb"}, action="go", answer="ALREADY_EXISTS"),
        RecordedPacket(port=1, data=HEAD + "0102", out=[(2, HEAD + "0103")]),
        RecordedPacket(port=1, data=HEAD + "0102", out=[(2, HEAD + "0103"), (3, "00")]),
        RecordedPacket(port=1, data=HEAD + "0102", out=[(2, HEAD + "0103"), (4, "")]),
        RecordedPacket(port=1, data=HEAD + "0102"),
        RecordedPacket(port=1, data=HEAD + "0102", out=[(2, HEAD + "0104"), (3, "")], masks=[HEAD + "0001", ""]),
        RecordedPacket(port=1, data=HEAD + "0102", out=[(2, HEAD + "010300"), (3, "")], masks=[HEAD + "000000", ""]),
    ],
)
def test_a_target_that_does_something_else_is_found(step: recording.Step) -> None:
    found = recording.replay([*STEPS, step], Hub, cpu_port=3)
    assert [one.step for one in found] == [len(STEPS)]
    assert str(step) in str(found[0])


def test_bits_that_the_target_may_choose_are_not_compared() -> None:
    assert (
        recording.replay(
            [RecordedPacket(port=1, data=HEAD + "0102", out=[(2, HEAD + "0183"), (3, "")], masks=[HEAD + "ff0f", ""])],
            Hub,
            cpu_port=3,
        )
        == []
    )


def test_what_a_veth_does_not_carry_is_not_compared() -> None:
    assert recording.replay([RecordedPacket(port=1, data="0102", out=[(3, "")])], Hub, cpu_port=3) == []
    assert len(recording.replay([RecordedPacket(port=1, data="0102")], Hub, cpu_port=3)) == 1


def test_what_is_asked_of_a_profile_is_asked() -> None:
    steps: list[recording.Step] = [
        ControlRequest(verb="add_member", table="p", number=1, action="go", params={"port": "0x3"}),
        ControlRequest(verb="modify_member", table="p", number=1, action="go", params={"port": "0x4"}),
        ControlRequest(verb="set_group", table="p", number=2, members=[1]),
        ControlRequest(verb="add", table="t", match={"k": "0x1"}, action="group 2"),
        ControlRequest(verb="add", table="t", match={"k": "0x2"}, action="member 1"),
        ControlRequest(verb="delete_group", table="p", number=2),
        ControlRequest(verb="delete_member", table="p", number=1),
    ]
    hub = Hub()
    assert recording.replay(steps, lambda: hub, cpu_port=None) == []
    assert hub.known == [
        (1, "go", {"port": 3}), (1, "go", {"port": 4}), (2, [1]),
        ControlEntry({"k": 1}, SelectorGroup(2)), ControlEntry({"k": 2}, Member(1)), 2, 1,
    ]  # fmt: skip


def test_a_fresh_step_begins_with_a_target_that_knows_nothing() -> None:
    made: list[Hub] = []

    def make() -> Hub:
        made.append(Hub())
        return made[-1]

    assert recording.replay([STEPS[0], Fresh(why="second"), *STEPS], make, cpu_port=3) == []
    assert [len(hub.known) for hub in made] == [1, 2]


def test_packets_are_put_in_order_by_port_and_at_the_controller_by_content() -> None:
    left = [(9, "b"), (2, "b"), (9, "a"), (1, "c"), (2, "a")]
    assert recording.by_port(left, 9) == [(1, "c"), (2, "b"), (2, "a"), (9, "a"), (9, "b")]
    assert recording.by_port(left, None) == [(1, "c"), (2, "b"), (2, "a"), (9, "b"), (9, "a")]


def test_play_puts_what_the_target_did() -> None:
    wrong = RecordedPacket(port=1, data=HEAD + "0102", out=[(9, "ff")])
    assert list(recording.play([wrong], Hub, cpu_port=None)) == [
        RecordedPacket(port=1, data=HEAD + "0102", out=[(2, HEAD + "0103"), (3, "")])
    ]
