"""Whole networks of cores under random interleavings, with clocks that stand still and step back: correct rules break
no clause, and each damaged rule is seen to break the clause that it is about."""

from __future__ import annotations

import pytest

from scatterproof.impl.totalorder.rules import RULES, Rules
from scatterproof.impl.totalorder.tests.network import TOPOLOGIES, Delivered, Network, Sent, broken
from scatterproof.impl.totalorder.tests.nodes import BEACON

ENVIRONMENTS = ("A", "B", "C")
SEEDS = range(8)
STEPS = 400


def played(topology: str, environment: str, seed: int, rules: Rules = RULES) -> Network:
    network = Network(TOPOLOGIES[topology], environment, rules, seed)
    network.run(STEPS)
    return network


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_correct_rules_break_no_clause_and_refuse_nothing(topology: str, environment: str) -> None:
    for seed in SEEDS:
        network = played(topology, environment, seed)
        assert broken(network) == set(), f"seed {seed}"
        assert network.refused == [], f"seed {seed}"


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_the_runs_are_not_empty_of_what_is_checked(topology: str, environment: str) -> None:
    networks = [played(topology, environment, seed) for seed in SEEDS]
    stamps = [{(e.delivery.timestamp, e.delivery.sender) for e in n.log if isinstance(e, Delivered)} for n in networks]

    assert sum(map(len, stamps)) > 50
    assert any(len({timestamp for timestamp, _ in run}) < len(run) for run in stamps), "no tie was delivered"
    beacons = sum(isinstance(e, Sent) and e.packet.kind == BEACON for n in networks for e in n.log)
    assert (beacons > 50) == (environment != "A")


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_to_bar_min_a_minimum_that_is_always_computed_again_is_the_same(topology: str, environment: str) -> None:
    always = Rules(aggregate=lambda barriers: min(barriers))
    assert RULES.only_the_least_counts
    assert not always.only_the_least_counts
    for seed in SEEDS:
        assert played(topology, environment, seed, always).log == played(topology, environment, seed).log


MUTANTS = {
    "the timestamp is the clock": ("TO-MONO", Rules(stamp=lambda clock, last, promised: max(clock, 1))),
    "timestamps may repeat": ("TO-MONO", Rules(stamp=lambda clock, last, promised: max(clock, last, promised, 1))),
    "timestamps forget what was promised": (
        "TO-BAR-LINK",
        Rules(stamp=lambda clock, last, promised: max(clock, last + 1)),
    ),
    "data promise one too much": ("TO-BAR-HOST", Rules(data_barrier=lambda timestamp: timestamp + 1)),
    "beacons carry the clock alone": ("TO-BAR-HOST", Rules(beacon_barrier=lambda clock, last: clock)),
    "beacons carry the last timestamp": ("TO-COMPLETE", Rules(beacon_barrier=lambda clock, last: last)),
    "beacons promise one too much": ("TO-BAR-HOST", Rules(beacon_barrier=lambda clock, last: max(clock, last) + 1)),
    "the register keeps what it held": ("TO-COMPLETE", Rules(register=lambda held, arrived: held)),
    "the register takes one more": ("TO-BAR-MIN", Rules(register=lambda held, arrived: arrived + 1)),
    "the aggregate is the maximum": ("TO-BAR-LINK", Rules(aggregate=max)),
    "the aggregate is the first": ("TO-BAR-MIN", Rules(aggregate=lambda barriers: barriers[0])),
    "a link that has not spoken is left out": (
        "TO-BAR-MIN",
        Rules(aggregate=lambda barriers: min((barrier for barrier in barriers if barrier), default=0)),
    ),
    "every ingress link counts": ("TO-BAR-PART", Rules(counted=lambda reaching, ingress: ingress)),
    "one ingress link is forgotten": ("TO-BAR-MIN", Rules(counted=lambda reaching, ingress: reaching[1:])),
    "messages at the barrier are delivered": ("TO-DELIVER", Rules(deliverable=lambda stamp, barrier: stamp <= barrier)),
    "everything is delivered on arrival": ("TO-ORDER", Rules(deliverable=lambda stamp, barrier: True)),
    "messages wait one longer": ("TO-COMPLETE", Rules(deliverable=lambda stamp, barrier: stamp < barrier - 500)),
    "ties fall to arrival": ("TO-ORDER", Rules(precedence=lambda timestamp, sender: (timestamp,))),
    "the sender comes first": ("TO-ORDER", Rules(precedence=lambda timestamp, sender: (sender, timestamp))),
    "beacons leave busy links": ("TO-ENV-C", Rules(beacon_due=lambda clock, last_carried, interval: True)),
    "beacons are due one early": (
        "TO-ENV-C",
        Rules(beacon_due=lambda clock, last_carried, interval: clock - last_carried >= interval - 1),
    ),
    "beacons are never due": ("TO-COMPLETE", Rules(beacon_due=lambda clock, last_carried, interval: False)),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_damaged_rule_breaks_its_clause(name: str) -> None:
    clause, rules = MUTANTS[name]
    for seed in range(20):
        for topology in TOPOLOGIES:
            for environment in ("B", "C"):
                if clause in broken(played(topology, environment, seed, rules)):
                    return
    pytest.fail(f"no run of {name!r} broke {clause}")
