"""What the kinds of runs of publish and subscribe are there for."""

from __future__ import annotations

from scatterproof.conformance.judge import judge
from scatterproof.conformance.verdict import Verdict
from scatterproof.spark.configurations import draw_run
from scatterproof.spark.corpus import simulate_run
from scatterproof.spark.protocol import kinds_of
from scatterproof.spec.schedule import FailureKind

RUNS = 20  # about half of them will do


def test_messages_change_the_link_where_there_are_several_and_some_are_cut() -> None:
    names = [kind.name for kind in kinds_of("pubsub")]
    runs = [names.index("several-links") + len(names) * turn for turn in range(RUNS)]
    cut = [
        run for run in runs if any(one.kind is FailureKind.CUT for one in draw_run("pubsub", 1, run).schedule.failures)
    ]
    assert 0 < len(cut) < RUNS
    assert any(_verdict(run) is Verdict.PASS for run in cut)


def _verdict(run: int) -> Verdict:
    (found,) = (one for one in judge(simulate_run("pubsub", 1, run)) if one.clause == "PS-NEIGHBOUR")
    return found.verdict
