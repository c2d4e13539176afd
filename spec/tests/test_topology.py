"""Routes: shortest, through switches alone, one path a pair, and refused where barriers would wait for themselves."""

from __future__ import annotations

import pytest

from scatterproof.spec.errors import BadInput
from scatterproof.spec.protocol import refuse_network
from scatterproof.spec.topology import NO_LINK, Link, Node, Role, Topology, route, validate


def topology(hosts: int, switches: int, *pairs: tuple[int, int]) -> Topology:
    nodes = [Node(f"h{n}", Role.HOST) for n in range(hosts)] + [Node(f"s{n}", Role.SWITCH) for n in range(switches)]
    return Topology(tuple(nodes), tuple(Link(source, target) for source, target in pairs))


def test_a_host_between_two_switches_is_no_way_between_them() -> None:
    # 0 -> 3 -> 1 and 1 -> 4 -> 2: host 1 is on both switches, and the only way from 0 to 2.
    both = topology(3, 2, (0, 3), (3, 1), (1, 4), (4, 2))

    assert route(both).next_link[0][2] == NO_LINK
    assert route(both).next_link[1][2] == 2


def test_a_host_next_door_does_not_shorten_the_way() -> None:
    # From switch 3 to host 2: over host 1, which is on switch 6 as well, or over three switches.
    around = topology(3, 4, (0, 3), (3, 1), (1, 6), (3, 4), (4, 5), (5, 6), (6, 2))

    assert route(around).path(around, 0, 2) == (0, 3, 4, 5, 6)


def test_to_bar_part_reaching_holds_only_the_ingress_links_that_data_come_from() -> None:
    # 0 enters at switch 4, 1 at switch 5; receivers 2 and 3 are behind them, and 4 leads on to 5.
    fan = topology(4, 2, (0, 4), (1, 5), (4, 2), (4, 5), (5, 3))

    assert route(fan).reaching[3] == (0,)
    assert route(fan).reaching[4] == (1, 3)
    assert route(fan).reaching[2] == (0,)


def test_data_between_one_pair_take_one_path() -> None:
    two_ways = topology(2, 3, (0, 2), (2, 3), (2, 4), (3, 1), (4, 1))

    assert len(route(two_ways).path(two_ways, 0, 1)) == 3


def test_to_bar_min_a_ring_whose_barriers_wait_for_one_another_is_refused() -> None:
    # Three switches in a one-way ring, a host at each: every ring link's barrier waits for the one behind it.
    ring = topology(3, 3, *((n, n + 3) for n in range(3)), *((n + 3, n) for n in range(3)), (3, 4), (4, 5), (5, 3))

    with pytest.raises(BadInput, match="wait for one another"):
        refuse_network("totalorder", ring)
    refuse_network("broadcast", ring)  # it has no barriers


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (topology(1, 1, (0, 2)), "link 0 joins 0 and 2; nodes are 0 to 1"),
        (topology(1, 1, (1, 1)), "link 0 leads from node 1 to itself"),
        (topology(0, 1), "there is no host"),
        (Topology((Node("x", Role.HOST), Node("x", Role.HOST)), ()), "2 nodes are named 'x'"),
    ],
)
def test_a_broken_topology_is_refused_with_a_sentence(broken: Topology, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        validate(broken)


def test_a_full_mesh_has_one_link_from_each_host_to_each_other() -> None:
    both = (0, 1), (1, 0)

    assert topology(2, 0, *both).is_full_mesh
    assert not topology(2, 0, *both, (0, 1)).is_full_mesh
    assert not topology(2, 0, (0, 1)).is_full_mesh
    assert not topology(2, 1, *both).is_full_mesh
