"""What is drawn for total order alone."""

from __future__ import annotations

from random import Random

from scatterproof.conformance.network.topologies import chain, diamond, one_way
from scatterproof.spark.configurations import draw_run
from scatterproof.spark.networks import FAMILIES, all_answered, in_a_tree
from scatterproof.spark.protocol import kinds_of
from scatterproof.spec.schedule import Submission

PROTOCOL = "totalorder"


def test_something_is_sent_to_a_crashed_host_alone() -> None:
    crashing = [kind for kind in kinds_of(PROTOCOL) if kind.name.endswith("a host crashes")]
    after = [
        [message.receiver for message in submission.messages]
        for kind in crashing
        for run in range(40)
        for schedule in [draw_run(PROTOCOL, 5, run, kind).schedule]
        for submission in schedule.submissions
        if submission.time_ns > schedule.failures[0].time_ns and schedule.failures[0].node in _receivers(submission)
    ]
    assert any(len(receivers) == 1 for receivers in after)


def _receivers(submission: Submission) -> set[int]:
    return {message.receiver for message in submission.messages}


def test_networks_without_an_answer_and_with_several_ways_are_told_apart() -> None:
    answered = {"star", "chain", "fat_tree", "diamond"}
    assert {name for name, make in FAMILIES.items() if all_answered(make(Random(1)))} == answered
    assert in_a_tree(chain(3, 2))
    assert not in_a_tree(diamond(2, 1))
    assert not in_a_tree(one_way(2, 2, 1))
