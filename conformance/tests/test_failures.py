"""Hosts, switches and links that fail: the reference keeps its word whatever fails when, and the checks notice a core
that does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scatterproof.conformance.case import cases
from scatterproof.conformance.judge import judge, judge_compiled
from scatterproof.conformance.network.run import MakeNode, simulate
from scatterproof.conformance.network.topologies import chain, diamond, star
from scatterproof.conformance.totalorder.cases.building import scatter
from scatterproof.conformance.totalorder.oracles import failures, promises
from scatterproof.conformance.verdict import Verdict
from scatterproof.impl.totalorder import RULES, Rules, make_core
from scatterproof.impl.totalorder.link_state import Combined, LinkStates
from scatterproof.impl.totalorder.notices import GivenUp, Notices
from scatterproof.impl.totalorder.recalls import Recalls
from scatterproof.impl.totalorder.sending import Sender
from scatterproof.spec.core import Parameter
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import Delay, Failure, FailureKind, Fault, FaultKind, Schedule, Submission, validate
from scatterproof.spec.topology import Topology
from scatterproof.spec.trace import Kind, Trace

INTERVAL, TIMEOUT = 10_000, 60_000
NETWORKS = (star(3), star(4), chain(2, 2), chain(3, 1))
CRASH, CUT, RESTART = FailureKind.CRASH, FailureKind.CUT, FailureKind.RESTART


def schedule(
    network: Topology,
    submissions: tuple[Submission, ...],
    failing: tuple[Failure, ...],
    *,
    environment: str = "D8",
    faults: tuple[Fault, ...] = (),
    delays: tuple[Delay, ...] = (),
    **parameters: Parameter,
) -> Schedule:
    uneven = tuple(Delay(500 + 700 * (link % 3), 800) for link in range(len(network.links)))
    return validate(
        Schedule(
            protocol="totalorder",
            topology=network,
            delays=delays or uneven,
            submissions=submissions,
            parameters={
                "environment": environment,
                "beacon_interval_ns": INTERVAL,
                "retransmit_timeout_ns": 3 * INTERVAL,
                "failure_timeout_ns": TIMEOUT,
                **parameters,
            },
            faults=faults,
            failures=failing,
            seed=1,
        )
    )


def verdicts(trace: Trace) -> dict[str, Verdict]:
    """By clause; the oracles about failures must agree with the checks."""
    found = {result.clause: result.verdict for result in judge(trace)}
    for clause, oracle in (
        ("TO-FAIL", failures.failure_stops_nobody),
        ("TO-ATOMIC", failures.scattering_is_all_or_nothing),
        ("TO-RESTART", promises.restart_keeps_barriers),
    ):
        if found[clause] is not Verdict.NOT_APPLICABLE:
            assert bool(oracle(trace)) == (found[clause] is Verdict.FAIL)
    return found


def failed(trace: Trace) -> set[str]:
    return {clause for clause, verdict in verdicts(trace).items() if verdict is Verdict.FAIL}


def everybody(hosts: int, times: range) -> tuple[Submission, ...]:
    return tuple(scatter(time, host, *range(hosts)) for time in times for host in range(hosts))


@cache
def crash_of_a_sender() -> Schedule:
    """Host 0 crashes when one copy of its second scattering is lost, before it could send it again."""
    to_host_2 = next(number for number, link in enumerate(star(3).links) if link.target == 2)
    return schedule(
        star(3),
        (
            scatter(1_000, 0, 1, 2),
            scatter(25_000, 0, 1, 2),
            *(scatter(time, host, 1, 2) for time in range(100_000, 200_000, 20_000) for host in (1, 2)),
        ),
        (
            Failure(24_000, CUT, link=to_host_2),
            Failure(31_000, CRASH, node=0),
            Failure(33_000, FailureKind.MEND, link=to_host_2),
        ),
    )


@pytest.mark.slow
@pytest.mark.parametrize("environment", ["D7", "D9"])
@pytest.mark.parametrize(
    "failure",
    [
        Failure(101_000, CRASH, node=2),
        Failure(101_000, CUT, link=0),
        Failure(101_000, CUT, link=1),
        Failure(101_000, CRASH, node=5),
    ],
)
def test_to_fail_others_go_on_in_a_tree_whatever_fails(environment: str, failure: Failure) -> None:
    submissions = everybody(4, range(20_000, 200_000, 15_000))
    trace = simulate(schedule(chain(2, 2), submissions, (failure,), environment=environment), make_core)
    found = verdicts(trace)
    assert not [clause for clause, verdict in found.items() if verdict is Verdict.FAIL]
    assert found["TO-FAIL"] is found["TO-ATOMIC"] is Verdict.PASS


@pytest.mark.slow
@pytest.mark.parametrize("environment", ["D6", "D7", "D8", "D9"])
@pytest.mark.parametrize("failure_timeout_ns", [0, TIMEOUT])
def test_to_restart_a_switch_that_restarts_under_load_loses_no_message(
    environment: str, failure_timeout_ns: int
) -> None:
    restart = (Failure(101_000, CRASH, node=5), Failure(121_000, RESTART, node=5))
    submissions = everybody(4, range(20_000, 200_000, 15_000))
    run = schedule(chain(2, 2), submissions, restart, environment=environment, failure_timeout_ns=failure_timeout_ns)
    trace = simulate(run, make_core)
    assert verdicts(trace)["TO-RESTART"] is Verdict.PASS
    assert sum(row[3] == 4 for row in trace.rows) == 4 * len(submissions)


def test_a_run_goes_on_until_what_a_stopped_switch_has_lost_is_back_one_by_one() -> None:
    restart = (Failure(101_000, CRASH, node=2), Failure(121_000, RESTART, node=2))
    lost = tuple(scatter(time, 0, 1) for time in range(101_000, 121_000, 500))
    trace = simulate(schedule(star(2), lost, restart), make_core)
    assert sum(row[3] == Kind.DELIVERED for row in trace.rows) == len(lost)
    assert failed(trace) == set()


@st.composite
def failing_runs(draw: st.DrawFn) -> Schedule:
    network = draw(st.sampled_from(NETWORKS))
    hosts, links, nodes = len(network.hosts()), len(network.links), len(network.nodes)
    times = st.integers(0, 300_000)
    submissions = []
    for time in sorted(draw(st.lists(times, min_size=4, max_size=16))):
        receivers = draw(st.sets(st.integers(0, hosts - 1), min_size=1))
        submissions.append(scatter(time, draw(st.integers(0, hosts - 1)), *sorted(receivers)))
    fails = st.one_of(
        st.builds(lambda at, node: Failure(at, CRASH, node=node), times, st.integers(0, nodes - 1)),
        st.builds(lambda at, link: Failure(at, CUT, link=link), times, st.integers(0, links - 1)),
    )
    failing = draw(st.lists(fails, min_size=1, max_size=3, unique_by=lambda failure: (failure.node, failure.link)))
    lost = draw(st.sets(st.tuples(st.integers(0, links - 1), st.integers(0, 40)), max_size=8))
    return schedule(
        network,
        tuple(submissions),
        tuple(sorted(failing, key=lambda failure: failure.time_ns)),
        environment=draw(st.sampled_from(("D6", "D7", "D8", "D9"))),
        faults=tuple(Fault(link, index, FaultKind.LOSE) for link, index in sorted(lost)),
        delays=tuple(Delay(draw(st.integers(100, 8_000)), 500) for _ in range(links)),
    )


@pytest.mark.slow
@settings(max_examples=25)
@given(failing_runs())
def test_to_atomic_whatever_fails_when_those_that_stay_up_agree_and_go_on(run: Schedule) -> None:
    trace = simulate(run, make_core)
    assert not trace.notes
    assert not failed(trace)


def _at_either_barrier(timestamp: int, ack: int, barrier: int) -> bool:
    return timestamp <= ack or timestamp < barrier


@pytest.mark.parametrize(
    ("rules", "clause"),
    [
        (replace(RULES, may_deliver=_at_either_barrier), "TO-ATOMIC"),
        (replace(RULES, removes=lambda unanswered: False), "TO-FAIL"),
        (replace(RULES, cut_off=lambda ack, barrier: 0), "TO-FAIL"),
    ],
    ids=["delivers by the barrier", "never removes", "cuts off at 0"],
)
def test_to_fail_a_core_with_a_damaged_rule_is_noticed(rules: Rules, clause: str) -> None:
    trace = simulate(crash_of_a_sender(), partial(make_core, rules=rules))
    assert clause in failed(trace)
    assert not failed(simulate(crash_of_a_sender(), make_core))


@pytest.mark.slow
def test_to_fail_compiled_checks_notice_it_too() -> None:
    rules = replace(RULES, may_deliver=_at_either_barrier)
    trace = simulate(crash_of_a_sender(), partial(make_core, rules=rules))
    assert {result.clause for result in judge_compiled(trace) if result.verdict is Verdict.FAIL} == failed(trace)


def test_to_restart_a_switch_that_speaks_at_once_is_noticed() -> None:
    restart = (Failure(101_000, CRASH, node=3), Failure(105_000, RESTART, node=3))
    run = schedule(star(3), everybody(3, range(20_000, 200_000, 15_000)), restart)
    rules = replace(RULES, may_tell=lambda restarted, value: True)
    assert "TO-RESTART" in failed(simulate(run, partial(make_core, rules=rules)))
    assert not failed(simulate(run, make_core))


def _on_data_alone(kind: int) -> bool:
    return kind == 1


@pytest.mark.parametrize(
    ("clause", "changed"),
    [
        ("TO-BAR-MIN", {"aggregate": max}),
        ("TO-BAR-PART", {"counted": lambda reaching, ingress: ingress}),
        ("TO-ACK-MIN", {"aggregate_ack": max}),
        ("TO-ACK-MEAN", {"ack_barrier": lambda outstanding, acknowledged, possible: possible - 1}),
        ("TO-ACK-INIT", {"ack_barrier": lambda outstanding, acknowledged, possible: possible - 1}),
        ("TO-ACK-IDLE", {"ack_barrier": lambda outstanding, acknowledged, possible: (outstanding or possible - 1) - 1}),
        ("TO-SWLOSS", {"passed_record": lambda carried, least, largest, greatest: 0}),
        ("TO-LOSSCTR", {"noticed_record": lambda least, largest, greatest: 0}),
        ("TO-FLAG-SW", {"flag_on": _on_data_alone}),
        ("TO-FLAG-BEACON", {"flag_on": _on_data_alone}),
        ("TO-COMPLETE", {"may_deliver": lambda timestamp, ack, barrier: timestamp < ack - 10**9}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_holds_without_failures_holds_of_those_that_go_on(clause: str, changed: dict[str, Any]) -> None:
    assert told(partial(make_core, rules=replace(RULES, **changed)))[clause] is Verdict.FAIL
    assert told(make_core)[clause] is Verdict.PASS


def test_to_fail_a_barrier_that_what_failed_holds_down_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = Combined.leave

    def leave(self: Combined, links: LinkStates, place: int) -> None:
        held = self.barrier
        usual(self, links, place)
        self.barrier = held

    monkeypatch.setattr(Combined, "leave", leave)
    assert told(partial(make_core))["TO-FAIL"] is Verdict.FAIL


def _case(name: str) -> Schedule:
    return next(case.schedule for case in cases("totalorder") if case.id == name)


def test_to_fail_a_link_that_is_left_out_before_all_have_answered_is_noticed() -> None:
    rules = replace(RULES, removes=lambda unanswered: True)
    trace = simulate(_case("TO-FAIL/notice-that-is-lost"), partial(make_core, rules=rules))
    assert {result.clause for result in judge(trace) if result.verdict is Verdict.FAIL} >= {"TO-FAIL", "TO-ATOMIC"}


def test_to_fail_who_waits_for_an_answer_of_the_dead_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    expect = Notices.expect

    def forgetful(self: Notices, fresh: list[GivenUp]) -> None:
        waiting = [(entry, dict(entry.unanswered)) for entry in self.given_up.values() if entry not in fresh]
        expect(self, fresh)
        for entry, unanswered in waiting:
            entry.unanswered |= unanswered

    monkeypatch.setattr(Notices, "expect", forgetful)
    trace = simulate(_case("TO-FAIL/second-before-the-first-is-answered"), make_core)
    assert "TO-FAIL" in {result.clause for result in judge(trace) if result.verdict is Verdict.FAIL}


def test_to_atomic_half_a_recall_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = Recalls.fail

    def half(self: Recalls, *given: Any, **more: Any) -> Sequence[tuple[int, int, int]]:
        first, *others = usual(self, *given, **more) or [(0, 0, 0)]
        for receiver, number, _ in others:
            self.answered(receiver, number)
        return [first] if first[1] else []

    monkeypatch.setattr(Recalls, "fail", half)
    trace = simulate(_case("TO-ATOMIC/recall-before-its-message"), make_core)
    assert "TO-ATOMIC" in {result.clause for result in judge(trace) if result.verdict is Verdict.FAIL}


def test_to_atomic_an_ack_barrier_that_passes_what_is_recalled_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recalls, "least", lambda self, outstanding: outstanding)
    trace = simulate(_case("TO-ATOMIC/recall-that-is-lost"), make_core)
    assert "TO-ATOMIC" in {result.clause for result in judge(trace) if result.verdict is Verdict.FAIL}


def test_to_retx_those_that_go_on_resend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sender, "resend_due", lambda self, now: ())
    monkeypatch.setattr(Sender, "acknowledged", lambda self, now, receiver, number: ())
    monkeypatch.setattr(Sender, "next_deadline", lambda self: None)
    assert told(partial(make_core))["TO-RETX"] is Verdict.FAIL


@cache
def told(make_node: MakeNode) -> dict[str, Verdict]:
    return {result.clause: result.verdict for result in judge(simulate(lossy_crash(), make_node))}


@cache
def lossy_crash() -> Schedule:
    """Host 3 crashes and is given up; before and after that, some packets to and from switch 4 are lost."""
    network = chain(2, 2)
    between = [number for number, link in enumerate(network.links) if link.source > 3 and link.target > 3]
    faults = tuple(Fault(link, index, FaultKind.LOSE) for link in (0, *between) for index in (3, 12, 13, 30, 31, 70))
    submissions = everybody(4, range(20_000, 160_000, 35_000))
    return schedule(network, submissions, (Failure(101_000, CRASH, node=3),), environment="D9", faults=faults)


def test_to_fail_networks_with_several_paths_are_refused() -> None:
    network = diamond(2, 2)
    run = schedule(network, (scatter(0, network.hosts()[0], network.hosts()[-1]),), ())
    with pytest.raises(BadInput, match="trees"):
        simulate(run, make_core)


def test_to_fail_environments_without_ack_barriers_on_beacons_are_refused() -> None:
    run = schedule(star(2), (scatter(0, 0, 1),), (), environment="D5")
    with pytest.raises(BadInput, match="D6, D7, D8 or D9"):
        simulate(run, make_core)


def test_to_atomic_a_scattering_that_is_not_recalled_is_noticed() -> None:
    run = _case("TO-ATOMIC/recall-before-its-message")
    assert "TO-ATOMIC" in failed(simulate(run, partial(make_core, rules=replace(RULES, recalls=lambda: False))))
    assert not failed(simulate(run, make_core))
