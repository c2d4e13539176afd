"""What is asked of P4Runtime, without a switch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scatterproof.impl.bmv2.switch import Bmv2Switch, RuntimeGroups, encode
from scatterproof.impl.v1model import ControlEntry, Lpm, Match, Member, Range, SelectorGroup, Ternary
from scatterproof.spec.errors import BadInput

Asked = list[tuple[Any, ...]]


@pytest.fixture
def asked() -> Asked:
    return []


@pytest.fixture
def groups(asked: Asked) -> RuntimeGroups:
    def ask(*request: Any) -> None:
        asked.append(request)

    return RuntimeGroups("multicast", ask)


def test_replicas_for_different_ports_join_at_once(groups: RuntimeGroups, asked: Asked) -> None:
    groups.set(1, [(3, 2), (1, 1), (2, 1)])
    assert asked == [("multicast", "INSERT", 1, [(1, 1), (2, 1), (3, 2)])]


def test_a_second_replica_for_a_port_joins_after_the_first(groups: RuntimeGroups, asked: Asked) -> None:
    groups.set(1, [(2, 9), (1, 0), (2, 5), (1, 5), (3, 7), (1, 9)])
    assert asked == [
        ("multicast", "INSERT", 1, [(1, 0)]),
        ("multicast", "MODIFY", 1, [(1, 0), (1, 5), (2, 5), (3, 7)]),
        ("multicast", "MODIFY", 1, [(1, 0), (1, 5), (2, 5), (3, 7), (1, 9), (2, 9)]),
    ]


def test_a_group_that_is_set_again_is_made_anew(groups: RuntimeGroups, asked: Asked) -> None:
    groups.set(1, [(1, 0)])
    groups.set(1, [(2, 0)])
    groups.clear()
    assert [request[1:] for request in asked] == [
        ("INSERT", 1, [(1, 0)]), ("DELETE", 1, []), ("INSERT", 1, [(2, 0)]), ("DELETE", 1, []),
    ]  # fmt: skip


def test_an_entry_in_the_lines_of_the_agent() -> None:
    match: dict[str, Match] = {"a": 1, "b": Lpm(2, 3), "c": Ternary(4, 5), "d": Range(6, 7)}
    assert encode(ControlEntry(match, "go", {"x": 8}, 9)) == {
        "match": {"a": 1, "b": ["lpm", 2, 3], "c": ["ternary", 4, 5], "d": ["range", 6, 7]},
        "action": "go",
        "params": {"x": 8},
        "priority": 9,
    }
    assert encode(ControlEntry({}, Member(3)))["action"] == ("member", 3)
    assert encode(ControlEntry({}, SelectorGroup(4), (1, 2)))["params"] == [1, 2]


@pytest.mark.parametrize("ports", [[0, 0], [0, 255], range(300)])
def test_ports_that_cannot_be_are_refused(ports: list[int]) -> None:
    with pytest.raises(BadInput, match="give at most 256, each once, the CPU port not among them"):
        Bmv2Switch(PROGRAM, ports=ports, cpu_port=255)


def test_a_program_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.json: No such file or directory; compile the program with p4c-bm2-ss"):
        Bmv2Switch(tmp_path / "none.json", ports=1)
    with pytest.raises(BadInput, match="has no p4info beside it"):
        Bmv2Switch(b"{}", ports=1)


PROGRAM = Path(__file__).parents[2] / "v1model" / "tests" / "programs" / "l2_forward.json"
