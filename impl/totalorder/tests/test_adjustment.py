"""Timestamp adjustment: worked example 2 of the document, rounds, and adjustments that fall."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scatterproof.impl.totalorder.adjustment import MOST_INTERVALS, MOST_TIMES_AS_FAST, Adjuster
from scatterproof.impl.totalorder.ingress import Refusal
from scatterproof.impl.totalorder.rules import RULES, Rules
from scatterproof.impl.totalorder.tests.lossy import Run, Scenario, broken, play, random_scenario
from scatterproof.impl.totalorder.tests.network import Arrived, Sent
from scatterproof.spec.core import Parameter
from scatterproof.spec.topology import Link, Node, Role, Topology
from scatterproof.spec.totalorder.messages import NO_BARRIER, Packet, PacketKind

ADJUST, ADJUSTED, DATA = int(PacketKind.ADJUST), int(PacketKind.ADJUSTED), int(PacketKind.DATA)
INTERVAL = 100
ROUND = 120  # between the rounds of random runs
S1, S2, R1, R2 = range(4)
PAIRS = ((S1, R1), (S1, R2), (S2, R1), (S2, R2))
ONE_WAY = (10, 10, 1, 5)
# Two senders and two receivers, joined directly; the ways back take as long as the ways there.
EXAMPLE = Topology(
    tuple(Node(name, Role.HOST) for name in ("S1", "S2", "R1", "R2")),
    tuple(Link(s, r) for s, r in PAIRS) + tuple(Link(r, s) for s, r in PAIRS),
)


def example(environment: str = "C", rules: Rules = RULES, ends: int = 700) -> Run:
    """Rounds begin when the clocks, which are at true time + 1, read multiples of 100. S1 and S2 scatter so that the
    timestamps are equal once S1 is ahead by 5."""
    scatterings: list[tuple[int, int, tuple[int, ...]]] = [(494, S1, (R1, R2)), (499, S2, (R1, R2))]
    parameters: dict[str, Parameter] = {
        "environment": environment,
        "beacon_interval_ns": 10,
        "adjustment_interval_ns": INTERVAL,
    }
    return play(
        Scenario(
            topology=EXAMPLE,
            parameters=parameters,
            scatterings=scatterings,
            ends=ends,
            delays=ONE_WAY * 2,
            rules=rules,
        )
    )


def packets(run: Run, kind: int) -> list[Packet]:
    return [entry.packet for entry in run.log if isinstance(entry, Sent) and entry.packet.kind == kind]


def arrivals(run: Run, receiver: int) -> list[int]:
    """When data arrived at the receiver, true time."""
    timed = zip(run.times, run.log, strict=True)
    return [
        time
        for time, entry in timed
        if isinstance(entry, Arrived) and entry.node == receiver and entry.packet.kind == DATA
    ]


@pytest.mark.parametrize("environment", ["A", "B", "C", "D7", "D9"])
def test_to_adj_ex_receivers_return_9_and_5_and_the_adjustments_are_5_and_0(environment: str) -> None:
    run = example(environment)
    first_round = [packet for packet in packets(run, ADJUSTED) if packet.number == 1 and packet.receiver in (S1, S2)]
    returned = {(packet.sender, packet.receiver): packet.timestamp - INTERVAL for packet in first_round}
    held = {(packet.sender, packet.receiver): int.from_bytes(packet.payload, "big") for packet in first_round}
    stamps = {packet.sender: packet.timestamp for packet in packets(run, DATA)}

    assert returned == {(R1, S1): 9, (R1, S2): 9, (R2, S1): 5, (R2, S2): 5}
    assert held == {(R1, S1): 0, (R1, S2): 9, (R2, S1): 0, (R2, S2): 5}
    assert stamps == {S1: 495 + 5, S2: 500 + 0}
    assert run.refused == []


def test_to_adj_ex_waits_fall_from_9_to_4_and_from_5_to_0() -> None:
    run = example("D9")
    spread = {receiver: max(arrivals(run, receiver)) - min(arrivals(run, receiver)) for receiver in (R1, R2)}
    assert spread == {R1: 4, R2: 0}


def test_to_adj_2_rounds_do_not_add_up() -> None:
    run = example("D9", ends=1500)
    assert max(packet.number for packet in packets(run, ADJUST)) > 12
    assert {packet.timestamp for packet in packets(run, DATA)} == {500}
    adding = example("D9", replace(RULES, in_force_next=lambda in_force, measured: in_force + measured))
    assert {packet.timestamp for packet in packets(adding, DATA) if packet.sender == S1} == {495 + 4 * 5}


def test_to_adj_rounds_an_incomplete_round_changes_nothing() -> None:
    """Message 1 of S1 to R2 is lost in every round but the first: links 0 and 1 are those of S1."""
    whole = example("D9")
    later = frozenset((1, p.link_seq) for p in packets(whole, ADJUST) if p.sender == S1 and p.receiver == R2)
    some = sorted(later)[1:]
    run = play(replace(whole.scenario, lost=frozenset(some)))
    assert {packet.timestamp for packet in packets(run, DATA) if packet.sender == S1} == {500}
    none = play(replace(whole.scenario, lost=frozenset(later)))
    assert {packet.timestamp for packet in packets(none, DATA) if packet.sender == S1} == {495}


@pytest.mark.parametrize("environment", ["B", "C", "D6", "D7", "D8", "D9"])
@pytest.mark.parametrize("shape", ["star", "row"])
def test_to_adj_safe_adjustments_that_rise_and_fall_break_no_clause(shape: str, environment: str) -> None:
    falls = 0
    for seed in range(4):
        scenario = random_scenario(shape, environment, seed, adjustment_interval_ns=ROUND)
        run = play(replace(scenario, jitter=10, loss=min(scenario.loss, 0.05)))
        assert broken(run) == set(), f"seed {seed}"
        assert run.refused == [], f"seed {seed}"
        falls += sum(before > after for before, after in run.adjustments)
    assert falls > 0, "no adjustment fell"


def test_to_adj_safe_without_promises_a_falling_adjustment_breaks_the_order_or_a_promise() -> None:
    """The document is silent: timestamps that only rise are not enough."""
    rules = replace(RULES, stamp=lambda clock, last, promised: max(clock, last + 1))
    scenarios = (random_scenario("star", "B", seed, rules, adjustment_interval_ns=ROUND) for seed in range(30))
    assert any("TO-BAR-LINK" in broken(play(replace(each, jitter=10))) for each in scenarios)


def test_to_adj_safe_beacons_from_the_local_clock_are_no_danger_while_promises_count() -> None:
    """They only say less than they could, and later."""
    rules = replace(RULES, beacon_reading=lambda local, adjusted: local)
    for seed in range(4):
        scenario = random_scenario("star", "B", seed, rules, adjustment_interval_ns=ROUND)
        assert broken(play(replace(scenario, jitter=10))) == set()


def adjuster() -> Adjuster:
    """Host 0 among 1 and 2, in round 3 since 300."""
    made = Adjuster(0, (0, 1, 2), INTERVAL, RULES)
    made.wake(250)
    assert [packet.receiver for packet in made.wake(300)] == [1, 2]
    return made


def answer(timestamp: int, *, sender: int = 1, number: int = 3, held: int = 0, payload: bytes | None = None) -> Packet:
    return Packet(
        ADJUSTED, sender, 0, number, 0, timestamp, NO_BARRIER, held.to_bytes(8, "big") if payload is None else payload
    )


def first(timestamp: int, number: int) -> Packet:
    return Packet(ADJUST, 1, 0, number, 0, timestamp, NO_BARRIER, b"")


ABSURD = {
    "a return below what was sent": answer(299),
    "a return of zero": answer(0),
    "a return at the end of time": answer((1 << 63) - 1),
    "a lag of more than some intervals": answer(300 + MOST_INTERVALS * INTERVAL + 1),
    "held for longer than any clock could say": answer(700, held=MOST_TIMES_AS_FAST * 51 + 1),
    "less held than nothing": answer(300, payload=(-1).to_bytes(8, "big", signed=True)),
    "seven bytes": answer(300, payload=bytes(7)),
    "a round to come": answer(300, number=4),
    "a host that was not asked": answer(300, sender=7),
    "the host itself": answer(300, sender=0),
}


@pytest.mark.parametrize("name", ABSURD)
def test_to_adj_2_an_absurd_answer_is_refused(name: str) -> None:
    made = adjuster()
    with pytest.raises(Refusal):
        made.check(350, ABSURD[name])


def test_to_adj_2_a_faster_clock_may_have_held_a_message_for_longer_than_this_one_waited() -> None:
    adjuster().check(350, answer(700, held=MOST_TIMES_AS_FAST * 51))


def test_to_adj_2_answers_count_once_each_and_those_of_earlier_rounds_not_at_all() -> None:
    made = adjuster()
    for packet in (answer(305, number=2), answer(307), answer(303, sender=2)):
        made.check(350, packet)
        made.conclude(350, packet)
    assert made.in_force == 3
    with pytest.raises(Refusal, match="has answered it"):
        made.check(350, answer(307))


def test_to_adj_1_a_round_that_came_before_and_a_time_out_of_range_are_refused() -> None:
    made = adjuster()
    made.check(310, first(20, 5))
    made.collect(310, first(20, 5))
    for absurd in (first(20, 5), first(20, 4), first(0, 6), first(-5, 6), first((1 << 62) + 1, 6)):
        with pytest.raises(Refusal):
            made.check(311, absurd)


def test_to_adj_1_the_first_message_opens_half_an_interval() -> None:
    made = adjuster()
    made.collect(310, first(20, 5))
    assert made.next_deadline() == 360
    assert made.wake(359) == []
    (packet,) = made.wake(360)
    assert (packet.receiver, packet.number, packet.timestamp, packet.payload) == (1, 5, 20, bytes(8))


def test_to_adj_2_a_host_alone_never_asks() -> None:
    assert Adjuster(0, (0,), INTERVAL, RULES).next_deadline() is None
