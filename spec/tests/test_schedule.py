"""Schedules: read back as written, and refused with a sentence that names the place."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from scatterproof.spec import schedule
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import (
    EVERYBODY,
    Clock,
    Delay,
    Fault,
    FaultKind,
    Message,
    Redraw,
    Schedule,
    Submission,
    validate,
)
from scatterproof.spec.topology import Link, Node, Role, Topology

NETWORK = Topology(
    (Node("a", Role.HOST), Node("b", Role.HOST), Node("s", Role.SWITCH)), (Link(0, 2), Link(2, 1), Link(1, 2))
)
GOOD = Schedule(
    "totalorder",
    NETWORK,
    (Delay(5), Delay(5, 3), Delay(0)),
    (Submission(7, 0, (Message(1, b"\x00\xff"),)),),
    clocks=(Clock(-3), Clock(0, 100), Clock()),
    parameters={"environment": "A"},
    faults=(Fault(0, 0, FaultKind.LOSE),),
    seed=1 << 63,
)


def test_a_schedule_is_read_back_as_written(tmp_path: Path) -> None:
    schedule.write(tmp_path / "s.json", GOOD)

    assert schedule.read(tmp_path / "s.json") == GOOD
    assert b"redraw" not in (tmp_path / "s.json").read_bytes()
    drawn_anew = msgspec.structs.replace(GOOD, redraw=Redraw((0, 1, 2), 7))
    schedule.write(tmp_path / "s.json", drawn_anew)
    assert schedule.read(tmp_path / "s.json") == drawn_anew


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"delays": ()}, "delays has 0 entries for 3 links"),
        ({"delays": (Delay(1), Delay(1), Delay(-1))}, r"delays\[2\] is negative"),
        ({"delays": (Delay(1), Delay(1), Delay(1 << 60, 1))}, r"delays\[2\] is over"),
        ({"clocks": (Clock(),)}, "clocks has 1 entries for 3 nodes"),
        ({"clocks": (Clock(), Clock(), Clock(0, 500_000_000))}, r"clocks\[2\] is out of range"),
        ({"end_ns": -1}, "end_ns is -1"),
        ({"format": 2}, "format is 2"),
        ({"redraw": Redraw((1, 1), 7)}, r"redraw.kept is \(1, 1\); give for each of 3 links"),
        ({"redraw": Redraw((1, 1, -1), 7)}, "redraw.kept is"),
        ({"redraw": Redraw((1, 1, 1 << 64), 7)}, "redraw.kept is"),
        ({"faults": (Fault(3, 0, FaultKind.LOSE),)}, r"faults\[0\] names link 3"),
        ({"faults": (Fault(0, 0, FaultKind.LOSE), Fault(0, 0, FaultKind.DELAY, 5))}, r"faults\[1\] is the second"),
        ({"submissions": (Submission(-1, 0, (Message(1),)),)}, r"submissions\[0\] is at -1 ns"),
        ({"submissions": (Submission(0, 2, (Message(1),)),)}, r"submissions\[0\] names node 2, which is no host"),
        ({"submissions": (Submission(0, 0, ()),)}, r"submissions\[0\] has no message"),
        ({"submissions": (Submission(0, 0, (Message(1), Message(1))),)}, "sends to one receiver twice"),
        ({"submissions": (Submission(0, 0, (Message(-2),)),)}, r"submissions\[0\] names node -2, which is no host"),
        ({"submissions": (Submission(0, -1, (Message(1),)),)}, r"submissions\[0\] names node -1, which is no host"),
        ({"submissions": (Submission(0, 1, (Message(0),)),)}, "host 0 cannot be reached from host 1"),
        ({"topology": Topology(NETWORK.nodes, ())}, "delays has 3 entries for 0 links"),
    ],
)
def test_an_unsound_schedule_is_refused_with_its_place(change: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadInput, match=f"^x.json: .*{sentence}|^x.json: {sentence}"):
        validate(msgspec.structs.replace(GOOD, **change), "x.json")


def test_messages_for_everybody_need_no_route_and_may_follow_one_another() -> None:
    lonely = Topology((Node("a", Role.HOST), Node("b", Role.HOST)), ())
    messages = (Message(EVERYBODY, b"1"), Message(EVERYBODY, b"2"))
    whole = Schedule("totalorder", lonely, (), (Submission(7, 0, messages),))

    assert validate(whole) is whole


@pytest.mark.parametrize("text", [b"", b"{}", b'{"protocol": 3}', b"\xff"])
def test_a_file_that_is_no_schedule_is_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "s.json").write_bytes(text)

    with pytest.raises(BadInput, match=r"s\.json: not a schedule"):
        schedule.read(tmp_path / "s.json")
