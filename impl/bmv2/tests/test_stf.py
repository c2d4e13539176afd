"""STF as steps of a recording. Of the program only its tables matter."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from scatterproof.impl.bmv2 import stf
from scatterproof.impl.bmv2.recording import ControlRequest, Fresh, RecordedPacket
from scatterproof.impl.v1model.tables import Key, MatchKind
from scatterproof.spec.errors import BadInput

TEXT = """# p4testgen seed: 1
# Table t
add "t" 3 "a":0x0A "b":0b0001**** "c":0b1*0* "d":0x7 "go"("port":0x2,"q":0x00)
setdefault "u" "drop"()

mirroring_add 5 4
packet 1 00 0A bc
expect 4 *0B$
expect 2 000Abc$
"""


@dataclass(frozen=True)
class Spec:
    keys: tuple[Key, ...]
    ranked: bool


@dataclass(frozen=True)
class Named:
    tables: dict[str, Spec]


def key(name: str, width: int, kind: MatchKind) -> Key:
    return Key(name, "h", name, width, kind, None)


KEYS = (
    key("a", 8, MatchKind.EXACT),
    key("b", 8, MatchKind.LPM),
    key("c", 4, MatchKind.TERNARY),
    key("d", 4, MatchKind.TERNARY),
)
PROGRAM = Named({"t": Spec(KEYS, True), "u": Spec((), False)})


def test_a_test_is_entries_a_packet_and_what_is_expected() -> None:
    assert stf.parse(TEXT, PROGRAM, "a.stf").steps("a") == [
        Fresh(why="a"),
        ControlRequest(
            verb="add", table="t", match={"a": "0xa", "b": "0x10/4", "c": "0x8&0xa", "d": "0x7"}, action="go",
            params={"port": "0x2", "q": "0x0"}, priority=3,
        ),
        ControlRequest(verb="default", table="u", action="drop"),
        ControlRequest(verb="clone_session", number=5, replicas=[(4, 1)]),
        RecordedPacket(port=1, data="000abc", out=[(2, "000abc"), (4, "00b")], masks=["ffffff", "0ff"]),
    ]  # fmt: skip


def test_a_test_that_expects_nothing_expects_that_nothing_leaves() -> None:
    assert stf.parse("packet 0 00", PROGRAM, "a.stf").steps("a") == [Fresh(why="a"), RecordedPacket(port=0, data="00")]


def test_bits_that_do_not_matter_at_all_are_no_key() -> None:
    text = 'add "t" 1 "b":0b******** "c":0b**** "go"()\npacket 0 00'
    assert stf.parse(text, PROGRAM, "a.stf").controls[0].match == {}


def test_a_table_without_masks_has_no_priorities() -> None:
    assert stf.parse('add "u" 7 "go"()\npacket 0 00', PROGRAM, "a.stf").controls[0].priority == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("add nothing", "a.stf:1: 'add nothing' names no table and action"),
        ('add "v" "go"()', "a.stf:1: there is no table 'v'; there are t, u"),
        ("# well\nremove all", "a.stf:2: 'remove all' is no line of STF"),
        ("expect 1 00", "a.stf: no packet is sent"),
    ],
)
def test_what_is_no_test_is_refused_by_line(text: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        stf.parse(text, PROGRAM, "a.stf")
    assert said in str(caught.value)


def test_a_test_that_any_packet_passes_is_refused() -> None:
    with pytest.raises(BadInput, match="any packet at port 3 will do"):
        stf.parse("packet 0 00\nexpect 3", PROGRAM, "a.stf").steps("a")
