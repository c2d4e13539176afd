"""What is asked of switches that may be late, with two processors or a proxy host: TLC reads no such traces, so that
these are labelled traces of other switches with other parameters."""

from __future__ import annotations

import json
from pathlib import Path

from scatterproof.conformance.judge import judge
from scatterproof.conformance.totalorder.oracles.best_effort import arrived_is_delivered
from scatterproof.conformance.totalorder.oracles.loss import loss_counter_spans_link
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec import trace_ndjson
from scatterproof.spec.trace import Trace

TRACES = Path(__file__).parents[1] / "traces" / "totalorder" / "violating"


def with_late_switches(name: str, folder: Path, *more: str) -> Trace:
    """The labelled trace with switches of two processors; `more` rows come ahead of the others."""
    header, *rows = (TRACES / f"{name}.ndjson").read_text().splitlines()
    changed = json.loads(header)
    changed["parameters"]["switch"] = "two"
    changed["complete"]["crashed"] = [0, 1, 2]
    path = folder / "trace.ndjson"
    path.write_text("\n".join([json.dumps(changed), *more, *rows]) + "\n")
    return trace_ndjson.read(path)


def verdict(trace: Trace, clause: str) -> Verdict:
    return next(result.verdict for result in judge(trace) if result.clause == clause)


def test_to_lossctr_what_is_greatest_is_written_as_a_packet_leaves(tmp_path: Path) -> None:
    trace = with_late_switches("TO-LOSSCTR.greatest-is-not", tmp_path)
    assert verdict(trace, "TO-LOSSCTR") is Verdict.FAIL
    assert loss_counter_spans_link(trace)


def test_to_complete_a_late_switch_that_keeps_a_message_is_told(tmp_path: Path) -> None:
    trace = with_late_switches("TO-COMPLETE.switch-keeps-it", tmp_path)
    assert verdict(trace, "TO-COMPLETE") is Verdict.FAIL
    assert arrived_is_delivered(trace)


def test_to_complete_to_who_crashed_messages_are_sent_for_ever(tmp_path: Path) -> None:
    """A switch that may be late has one of them at any end."""
    crash = json.dumps({"time_ns": 0, "kind": "crashed", "node": 1})
    trace = with_late_switches("TO-COMPLETE.switch-keeps-it", tmp_path, crash)
    assert verdict(trace, "TO-COMPLETE") is not Verdict.FAIL
    assert not arrived_is_delivered(trace)
