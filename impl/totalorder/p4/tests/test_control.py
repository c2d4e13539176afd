"""What a controller tells a P4 switch, from the switch's configuration."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from scatterproof.impl.totalorder.p4 import __main__ as command
from scatterproof.impl.totalorder.p4 import entries as to
from scatterproof.impl.totalorder.p4.chip import until
from scatterproof.impl.totalorder.p4.control import Controlled, SwitchControl, by_cable, in_order
from scatterproof.impl.totalorder.p4.core import with_p4_switches
from scatterproof.impl.totalorder.p4.entries import Entries, TableEntry
from scatterproof.impl.totalorder.p4.frames import TICK_LIMIT
from scatterproof.impl.totalorder.tests.nodes import switch_config
from scatterproof.spec import schedule as schedules
from scatterproof.spec.core import NodeConfig, Parameter, node_config
from scatterproof.spec.errors import BadInput, CannotRun
from scatterproof.spec.topology import Link, Node, Role, Topology, route

CONFIG = switch_config()


def entries(config: NodeConfig = CONFIG, controlled: Controlled | None = None) -> Entries:
    return SwitchControl(config, in_order(config)).entries(controlled)


def of(table: str, told: Entries) -> list[TableEntry]:
    return [entry for entry in told.tables if entry.table == table]


def parameter(**chosen: Parameter) -> NodeConfig:
    return replace(CONFIG, parameters={**CONFIG.parameters, **chosen})


def test_to_bar_part_an_egress_link_counts_the_links_that_reach_it() -> None:
    counted = {entry.match["standard.egress_port"]: entry.params["counted"] for entry in of(to.EGRESS_LINK, entries())}
    assert counted == {0: 0b111, 1: 0b110}


def test_to_fail_a_link_that_is_left_out_is_not_counted_and_what_it_brought_stays_told() -> None:
    told = of(to.EGRESS_LINK, entries(controlled=Controlled(left_out=frozenset({2}))))
    assert [(entry.params["counted"], entry.params["told"]) for entry in told] == [(0b101, 0b111), (0b100, 0b110)]


def test_packets_go_onward_from_links_that_reach_alone() -> None:
    leads = {tuple(entry.match.values()): entry.params["port"] for entry in of(to.ONWARD, entries())}
    # Link 1, at port 0, does not reach link 21, which leads to host 1.
    assert leads == {(0, 0): 0, (1, 0): 0, (2, 0): 0, (1, 1): 1, (2, 1): 1}


def test_a_message_leaves_before_the_beacons_that_it_causes() -> None:
    told = entries()
    group = next(entry.params["group"] for entry in of(to.ONWARD, told) if tuple(entry.match.values()) == (1, 1))
    replicas = next(one.replicas for one in told.groups if one.number == group)
    assert [port for port, _ in replicas] == [1, 0, 1]
    assert [instance & 3 for _, instance in replicas] == [0, 1, 1]
    assert list(replicas) == sorted(replicas, key=lambda replica: replica[1])


def test_no_two_multicast_groups_have_one_number() -> None:
    numbers = [group.number for group in entries().groups]
    assert len(set(numbers)) == len(numbers)
    assert 0 not in numbers


def test_links_both_ways_share_a_port_as_on_a_cable() -> None:
    topology = Topology(
        tuple(Node(name, role) for name, role in (("a", Role.HOST), ("b", Role.HOST), ("s", Role.SWITCH))),
        (Link(0, 2), Link(1, 2), Link(2, 1), Link(2, 0)),
    )
    config = node_config(2, topology, route(topology), "totalorder", CONFIG.parameters)
    ports = by_cable(topology, config)
    assert (ports.ingress[0], ports.ingress[1]) == (ports.egress[3], ports.egress[2])
    assert {*ports.ingress.values()} == {0, 1}


def test_a_switch_of_more_than_sixteen_ports_cannot_run() -> None:
    config = replace(CONFIG, ingress=tuple(range(100, 117)), egress=(20,), reaching=((100,),), next_link=((0, 20),))
    with pytest.raises(CannotRun, match="17 ports; the P4 program is compiled for 16"):
        with_p4_switches()(config)


@pytest.mark.parametrize(
    ("config", "named"),
    [
        (parameter(beacon_interval_ns=TICK_LIMIT), "beacon_interval_ns"),
        (parameter(environment="D9", incarnation=1 << 16), "incarnation"),
        (parameter(environment="E"), "environment"),
    ],
)
def test_what_the_program_has_no_place_for_is_bad_input(config: NodeConfig, named: str) -> None:
    with pytest.raises(BadInput, match=named):
        with_p4_switches()(config)


def test_a_tick_is_found_again_where_the_clock_of_48_bits_goes_round() -> None:
    for now in (0, 5, TICK_LIMIT - 3, 7 * TICK_LIMIT - 1):
        assert until(now, (now + 9) % TICK_LIMIT) == now + 9


FINDING = Path(schedules.__file__).parent / "totalorder" / "findings" / "running_minimum.json"


def test_the_commands_for_the_shell_insert_every_entry(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    name = next(node.name for node in schedules.read(FINDING).topology.nodes if node.role is Role.SWITCH)
    assert command.main(["entries", str(FINDING), name]) == 0
    told = capsys.readouterr().out
    compile(told, "entries", "exec")
    assert told.count("te = table_entry[") == told.count("te.insert()") > 5
    assert command.main(["entries", str(FINDING), "nobody"]) == 2
    assert "'nobody' is no switch of this network" in capsys.readouterr().err

    assert command.main(["program", "default", "16", str(tmp_path / "switch.json")]) == 0
    assert (tmp_path / "switch.json").read_bytes().startswith(b"{")
    assert command.main(["program", "max_for_min", "16", str(tmp_path / "switch.json")]) == 3
    assert command.main(["program"]) == 2
