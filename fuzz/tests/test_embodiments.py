"""The literal forms of switches break the clauses that they are suspected to break, and no right form does."""

from __future__ import annotations

import pytest

from scatterproof.conformance.judge import judge
from scatterproof.conformance.network.run import MakeNode, simulate
from scatterproof.conformance.network.topologies import chain, star
from scatterproof.conformance.totalorder.variants import variants
from scatterproof.conformance.verdict import Verdict
from scatterproof.impl.totalorder import RULES, make_core
from scatterproof.impl.totalorder.literal_embodiments import LITERAL
from scatterproof.spec.schedule import Delay, Fault, FaultKind, Message, Schedule, Submission
from scatterproof.spec.trace import Trace

# By what goes wrong: the variant in which it shows, and a clause that it breaks there.
SHOWN = {
    "beacons overtake data": ("B, slow data", "TO-BAR-LINK"),
    "beacons return out of order": ("B, far proxies", "TO-BAR-RISE"),
    "beacons are aggregated on the way": ("B, far proxies", "TO-BAR-MIN"),
}


def busy() -> Schedule:
    """Four hosts in two pairs, one of which sends to all every 3 ns; the links between the switches lose a little."""
    topology = chain(2, 2)
    messages = tuple(Message(receiver) for receiver in topology.hosts())
    links = len(topology.links)
    return Schedule(
        "totalorder",
        topology,
        tuple(Delay(4, 3) for _ in range(links)),
        tuple(Submission(3 * number, number % 4, messages) for number in range(40)),
        parameters={"environment": "C", "beacon_interval_ns": 10},
        faults=tuple(Fault(link, index, FaultKind.LOSE) for link in (8, 9) for index in range(3, 60, 7)),
    )


def one_loss(environment: str) -> Schedule:
    """Host 0's message is lost on the last link while the switch holds an older beacon, which shows the gap there."""
    return Schedule(
        "totalorder",
        star(3),
        tuple(Delay(1) for _ in range(6)),
        (Submission(20, 0, (Message(2),)), Submission(38, 1, (Message(2),))),
        parameters={
            "environment": environment,
            "beacon_interval_ns": 10,
            "switch": "two",
            "processor_delay_ns": 25,
        },
        faults=(Fault(5, 0, FaultKind.LOSE),),
    )


def broken(trace: Trace) -> set[str]:
    return {result.clause for result in judge(trace) if result.verdict is Verdict.FAIL}


def literally(literal: str) -> MakeNode:
    make = LITERAL[literal]
    return lambda config: make(config, RULES)


@pytest.mark.parametrize("literal", SHOWN)
def test_to_sw_path_a_literal_form_breaks_its_clause(literal: str) -> None:
    variant, clause = SHOWN[literal]
    assert clause in broken(simulate(variants(busy())[variant], literally(literal)))


@pytest.mark.parametrize("environment", ["D7", "D8"])
def test_to_lossctr_a_beacon_that_leaves_as_it_was_made_hides_a_loss_and_the_order_breaks(environment: str) -> None:
    schedule = one_loss(environment)

    assert broken(simulate(schedule, literally("beacons leave as made"))) >= {"TO-ORDER", "TO-LOSS-SAFE"}
    assert broken(simulate(schedule, make_core)) == set()


@pytest.mark.parametrize("variant", sorted({variant for variant, _ in SHOWN.values()}))
def test_to_sw_path_the_right_form_breaks_none(variant: str) -> None:
    assert broken(simulate(variants(busy())[variant], make_core)) == set()
