"""Every shape has the hosts it was asked for, and routes between all that should reach one another."""

from __future__ import annotations

import pytest

from scatterproof.conformance.network.topologies import (
    chain,
    diamond,
    example_link,
    fat_tree,
    first_example,
    one_way,
    second_example,
    star,
)
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import NO_LINK, Topology, route


@pytest.mark.parametrize(
    ("topology", "hosts", "switches"),
    [
        (star(3), 3, 1),
        (chain(3, 2), 6, 3),
        (diamond(3, 2), 4, 5),
        (fat_tree(16, 4), 16, 20),
        (fat_tree(5, 4), 5, 7 + 4),
        (fat_tree(2, 4), 2, 1 + 2),
    ],
)
def test_everybody_reaches_everybody_itself_included(topology: Topology, hosts: int, switches: int) -> None:
    routes = route(topology)

    assert (len(topology.hosts()), len(topology.switches())) == (hosts, switches)
    assert all(routes.path(topology, a, b) for a in topology.hosts() for b in topology.hosts())


def test_a_fat_tree_of_256_hosts_uses_more_than_one_core_switch() -> None:
    topology = fat_tree(256, 12)
    used = {topology.nodes[topology.links[link].target].name for link in route(topology).used}

    assert len([name for name in used if name.startswith("c")]) > 12


def test_data_in_a_diamond_take_every_path() -> None:
    topology = diamond(paths=2, hosts_per_side=2)
    routes = route(topology)
    middle = {routes.path(topology, 0, receiver)[1] for receiver in (2, 3)}

    assert len(middle) == 2


def test_one_way_senders_cannot_be_reached() -> None:
    routes = route(one_way(2, 3, 2))

    assert routes.next_link[0][1] == NO_LINK
    assert routes.next_link[2][3] == NO_LINK
    assert all(routes.next_link[sender][receiver] != NO_LINK for sender in (0, 1) for receiver in (2, 3, 4))


def test_to_bar_part_the_second_example_lacks_link_f_and_the_routes_over_it() -> None:
    first, second = first_example(), second_example()
    a, b, c, d, receiver_a, receiver_b = range(6)

    assert [example_link(first, letter) for letter in "abcdefghij"] == list(range(10))
    assert len(second.links) == 9
    assert [route(second).next_link[sender][receiver_b] != NO_LINK for sender in (a, b, c, d)] == [False] * 2 + [
        True
    ] * 2
    assert all(route(second).next_link[sender][receiver_a] != NO_LINK for sender in (a, b, c, d))


def test_impossible_shapes_are_refused_with_a_sentence() -> None:
    with pytest.raises(BadInput, match="radix 4 cannot have 17 hosts"):
        fat_tree(17, 4)
    with pytest.raises(BadInput, match="switches is 0"):
        chain(0, 1)
