"""Literal rules and mutants in P4: each fails where it must, by a clause that is named, and by a comparison with the
reference, byte for byte."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from scatterproof.conformance.case import cases, run_case
from scatterproof.conformance.judge import judge
from scatterproof.conformance.network.run import SimulatedIut, simulate
from scatterproof.conformance.protocol import Case
from scatterproof.conformance.verdict import Verdict
from scatterproof.fuzz.findings import SPEC_FOLDER
from scatterproof.fuzz.totalorder.loss_mutants import (
    data_alone,
    last_arrived,
    least_noticed,
    least_passed,
    own_timestamp,
)
from scatterproof.fuzz.totalorder.mutants import least_ever, spoken_only
from scatterproof.impl.totalorder import RULES, make_core
from scatterproof.impl.totalorder.literal_embodiments import LITERAL
from scatterproof.impl.totalorder.p4.builds import FRAME_CLOCK, LITERALS, MUTANTS
from scatterproof.impl.totalorder.p4.core import MakeCore, with_p4_switches
from scatterproof.impl.totalorder.p4.tests.test_hostile import bombard
from scatterproof.impl.totalorder.p4.tests.test_links_out_and_in import out_and_in
from scatterproof.impl.totalorder.p4.tests.twins import Twins
from scatterproof.impl.totalorder.tests.nodes import switch_config
from scatterproof.models.finding import findings_of
from scatterproof.spec import schedule as schedules
from scatterproof.spec.schedule import Schedule

Functions = Mapping[str, Callable[..., Any]]

# The same rules on the reference core. The hosts' half of the document's rule on resent messages goes with it.
RULES_OF: dict[str, Functions] = {
    "running_minimum": {"register": least_ever},
    "one_minimum_a_switch": {"counted": lambda reaching, ingress: ingress},
    "silent_link_left_out": {"aggregate": spoken_only},
    "record_of_the_minimum": {"noticed_record": least_noticed, "passed_record": least_passed},
    "record_of_the_losing_link": {"noticed_record": lambda least, largest, greatest: largest},
    "flag_without_record": {"passed_record": least_passed},
    "beacons_without_flag": {"flag_on": data_alone},
    "counter_of_data_alone": {"counts": data_alone},
    "resent_with_its_old_barrier": {"register_under_loss": last_arrived, "resent_barrier": own_timestamp},
}
FORMS_OF = {"beacon_overtakes_data": "beacons overtake data", "beacons_leave_as_made": "beacons leave as made"}
FOUND = {finding.name: finding for finding in findings_of("totalorder") if finding.mutant}
CASES = {case.id: case for case in cases("totalorder")}


def literally(name: str) -> MakeCore:
    """The reference core with the rule."""
    if name in FORMS_OF:
        make = LITERAL[FORMS_OF[name]]
        return lambda config: make(config, RULES)
    rules = replace(RULES, **RULES_OF.get(name, {}))
    return lambda config: make_core(config, rules)


def shown_on(name: str) -> Schedule:
    return schedules.read(SPEC_FOLDER / "totalorder" / "findings" / f"{name}.json")


def broken(schedule: Schedule, make: MakeCore) -> set[str]:
    return {result.clause for result in judge(simulate(schedule, make)) if result.verdict is Verdict.FAIL}


def broken_in(case: Case, name: str) -> set[str]:
    found = run_case(case, SimulatedIut(name, with_p4_switches(name)))
    return {result.clause for result in found.results if result.verdict is Verdict.FAIL}


def differences(schedule: Schedule, name: str, reference: MakeCore = make_core) -> list[str]:
    twins = Twins(name, reference)
    simulate(schedule, twins)
    return twins.differences


WITH_SCHEDULE = [literal.name for literal in LITERALS if literal.name in FOUND]


@pytest.mark.parametrize("name", WITH_SCHEDULE)
def test_a_literal_rule_fails_on_its_finding_and_the_corrected_one_passes(name: str) -> None:
    schedule = shown_on(name)
    # Hosts have the same rule, as in the finding.
    assert FOUND[name].shows in broken(schedule, with_p4_switches(name, literally(name)))
    assert broken(schedule, with_p4_switches()) == set()


@pytest.mark.parametrize("name", [*RULES_OF, *FORMS_OF])
def test_a_literal_rule_leaves_the_bytes_of_the_reference_with_that_rule(name: str) -> None:
    schedule = shown_on(name) if name in FOUND else CASES[KILLED[name][0]].schedule
    assert differences(schedule, name, literally(name))[:2] == []


# The case that shows a build, and a clause that is broken there, with reference hosts.
KILLED = {
    "running_minimum": ("TO-SCATTER/everyone-itself-included", "TO-BAR-MIN"),
    "one_minimum_a_switch": ("TO-BAR-MIN/chain-of-switches", "TO-BAR-PART"),
    "silent_link_left_out": ("TO-SCATTER/everyone-itself-included", "TO-BAR-MIN"),
    "record_of_the_minimum": ("TO-SWLOSS/first-link", "TO-SWLOSS"),
    "record_of_the_losing_link": ("TO-LOSSCTR/beacons-reveal-it", "TO-SWLOSS"),
    "flag_without_record": ("TO-SWLOSS/passed-on-along-a-row", "TO-SWLOSS"),
    "beacons_without_flag": ("TO-SWLOSS/first-link", "TO-FLAG-BEACON"),
    "counter_of_data_alone": ("TO-LOSSCTR/beacons-reveal-it", "TO-LOSSCTR"),
    "beacons_judged_by_what_came": ("TO-ADJ-1/three-hosts", "TO-COMPLETE"),
    "beacon_overtakes_data": ("TO-SW-PATH/two-processors", "TO-SW-PATH"),
    "beacons_leave_as_made": ("TO-SW-PATH/beacon-made-before-a-loss", "TO-LOSS-SAFE"),
    "wrong_register_index": ("TO-SCATTER/everyone-itself-included", "TO-BAR-MIN"),
    "at_for_below": ("TO-SCATTER/everyone-itself-included", "TO-COMPLETE"),
    "max_for_min": ("TO-SCATTER/everyone-itself-included", "TO-BAR-MIN"),
    "max_for_min_of_acks": ("TO-SWLOSS/first-link", "TO-ACK-MIN"),
    "forgotten_port": ("TO-SCATTER/everyone-itself-included", "TO-BAR-MIN"),
    "first_barrier_kept": ("TO-SCATTER/everyone-itself-included", "TO-BAR-MIN"),
    "stale_snapshot": ("TO-SWLOSS/passed-on-along-a-row", "TO-LOSSCTR"),
    "reachability_ignored": ("TO-SCATTER/everyone-itself-included", "TO-COMPLETE"),
    "barrier_kept_on_data": ("TO-SCATTER/everyone-itself-included", "TO-BAR-MIN"),
    "fill_forgotten": ("TO-BAR-FILL/under-loss", "TO-BAR-MIN"),
    "nothing_new": ("TO-BEACON-MIN/under-loss", "TO-BEACON-MIN"),
    "interval_halved": ("TO-ENV-C/one-busy-receiver", "TO-ENV-C"),
    "never_busy": ("TO-SCATTER/everyone-itself-included", "TO-ENV-C"),
    "number_not_rewritten": ("TO-SCATTER/everyone-itself-included", "TO-COMPLETE"),
    "record_not_kept": ("TO-SWLOSS/first-link", "TO-SWLOSS"),
    "record_not_passed": ("TO-SWLOSS/passed-on-along-a-row", "TO-SWLOSS"),
    "record_one_below": ("TO-SWLOSS/first-link", "TO-LOSS-SAFE"),
    "greatest_not_raised": ("TO-SWLOSS/first-link", "TO-LOSS-SAFE"),
    "ack_from_data_barrier": ("TO-SWLOSS/first-link", "TO-ACK-MIN"),
    "speaks_at_once": ("TO-RESTART/switch", "TO-RESTART"),
    "earlier_life_returns": ("TO-RESTART/switch-with-a-proxy-host", "TO-BAR-MIN"),
    "incarnation_not_kept": ("TO-RESTART/one-of-two-switches", "TO-SWLOSS"),
    "sent_back": ("TO-BAR-MIN/example-1", "TO-COMPLETE"),
}
# What no clause tells, for it is in the frame around a packet; in these cases the bytes do.
BY_BYTES = {
    "payload_on_beacons": "TO-BAR-PART/two-way-traffic",
    "checksum_kept": "TO-SCATTER/everyone-itself-included",
}
# What only a hostile neighbour, or a controller that lets links in again, can show; and the hosts' half of a rule.
ELSEWHERE = {"late_is_taken", "no_monotone_guard", "resent_with_its_old_barrier"}


def test_every_build_is_shown_somewhere() -> None:
    assert KILLED.keys() | BY_BYTES.keys() | ELSEWHERE == {one.name for one in (*LITERALS, *MUTANTS)}


@pytest.mark.parametrize("name", KILLED)
def test_a_build_is_killed_by_a_clause_and_by_its_bytes(name: str) -> None:
    case, clause = KILLED[name]
    assert clause in broken_in(CASES[case], name)
    assert differences(CASES[case].schedule, name) != []


@pytest.mark.parametrize("name", BY_BYTES)
def test_a_mutant_of_frames_is_killed_by_its_bytes(name: str) -> None:
    schedule = CASES[BY_BYTES[name]].schedule
    assert differences(schedule, name) != []
    assert differences(schedule, "default") == []


def test_a_switch_that_takes_what_is_late_is_told_by_a_hostile_neighbour() -> None:
    assert bombard(switch_config(), 1, Counter(), "late_is_taken") != []
    assert bombard(switch_config(), 1, Counter(), "default") == []


def test_a_switch_without_a_guard_is_told_by_a_link_that_is_let_in_again() -> None:
    assert out_and_in("no_monotone_guard") != out_and_in("default")


def test_the_cases_pass_on_the_build_with_the_clock_in_the_frame() -> None:
    for case in ("TO-BAR-MIN/example-1", "TO-SWLOSS/first-link", "TO-SW-PATH/two-processors"):
        assert broken_in(CASES[case], FRAME_CLOCK) == set()
