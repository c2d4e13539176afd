"""Proxy hosts in parameters: which there can be, over which links, and what is refused."""

from __future__ import annotations

import pytest

from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import Link, Node, Role, Topology, route
from scatterproof.spec.totalorder import proxies

# Hosts 0 and 1 at switch 2, host 4 at switch 3, joined both ways; host 5 at switch 3, which only receives.
ROW = Topology(
    tuple(Node(f"n{number}", Role.SWITCH if number in (2, 3) else Role.HOST) for number in range(6)),
    tuple(Link(*ends) for ends in [(0, 2), (2, 0), (1, 2), (2, 1), (2, 3), (3, 2), (4, 3), (3, 4), (3, 5)]),
)


def test_to_sw_6_any_host_with_links_both_ways_can_be_a_proxy_and_the_nearest_comes_first() -> None:
    assert proxies.choices(ROW) == {2: (0, 1, 4), 3: (4, 0, 1)}
    assert proxies.nearest(ROW) == {2: 0, 3: 4}


def test_to_sw_6_a_proxy_is_told_its_links_and_those_of_its_switch() -> None:
    (found,) = proxies.read({"proxies": proxies.parameter(ROW, {2: 4})})

    assert (found.switch, found.host, found.there, found.back) == (2, 4, (4, 7), (6, 5))
    assert (found.ingress, found.egress) == ((0, 2, 5), (1, 3, 4))
    assert found.reaching == tuple(route(ROW).reaching[link] for link in found.egress)


def test_a_host_that_only_receives_is_no_proxy() -> None:
    with pytest.raises(BadInput, match="choose another proxy"):
        proxies.parameter(ROW, {3: 5})


def test_without_the_parameter_there_are_none() -> None:
    assert proxies.read({}) == ()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "no list of proxies"),
        ("3:7", "no list of proxies"),
        ('[{"switch": 2}]', "no list of proxies"),
        (proxies.parameter(ROW, {2: 4}).replace('"there":[4,7]', '"there":[]'), "needs links to its proxy"),
        (proxies.parameter(ROW, {2: 4}).replace('"egress":[1,3,4]', '"egress":[1]'), "as many entries"),
        ("[" + ",".join([proxies.parameter(ROW, {2: 4})[1:-1]] * 2) + "]", "two proxies"),
    ],
)
def test_a_text_that_means_no_proxies_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        proxies.read({"proxies": text})
