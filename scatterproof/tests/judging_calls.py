"""Judges histories of calls, as JSON on stdin, in a project that has the protocol `mutex`; run by test_calls.py.

A history is a list of rows: time in ns, client (1 and 2), kind, call, and of a return the outcome. Printed is, for
each, what TLC says of it (its judgement, the row, the clauses), and a list of clause, verdict and reason by check, or
the sentence that refuses it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from scatterproof.conformance.explorer.sources import NdjsonSource
from scatterproof.conformance.explorer.timeline import Timeline
from scatterproof.conformance.judge import judge, judge_by_oracles, judge_compiled
from scatterproof.conformance.network.topologies import served
from scatterproof.conformance.verdict import ClauseResult
from scatterproof.models.trace_validation import validate_all
from scatterproof.spec import trace_ndjson
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import ABSENT, CLEAN, QUIESCENT, Header, Order, Trace, schema

NAMES = schema("mutex")
NETWORK = served(2)


def trace_of(history: list[list[int | str]]) -> Trace:
    operations = Counter[int]()
    rows = []
    for time_ns, client, kind, call, *outcome in history:
        operations[int(client)] += kind == "called"
        told = {"time_ns": time_ns, "clock_ns": time_ns, "node": client, "kind": NAMES.kinds[str(kind)]}
        told |= {"call": NAMES.calls[str(call)], "operation": operations[int(client)]}
        if outcome:
            told["outcome"] = NAMES.outcomes[str(outcome[0])]
        rows.append(told)
    rows.append({"time_ns": 99, "kind": NAMES.kinds["ended"], "flags": CLEAN | QUIESCENT})
    everywhere = {kind: tuple(range(len(NETWORK.nodes))) for kind in NAMES.kinds}
    header = Header(protocol="mutex", topology=NETWORK, parameters={}, complete=everywhere, order=Order.LINK)
    return Trace(header, [tuple(int(row.get(name, ABSENT)) for name in NAMES.columns) for row in rows])


def told(results: list[ClauseResult]) -> list[tuple[str, str, str]]:
    return [
        (one.clause, one.verdict.value, one.violations[0].sentence if one.violations else one.reason) for one in results
    ]


def explored(trace: Trace) -> int:
    """How many violations the explorer counts."""
    path = Path("explored.ndjson")
    trace_ndjson.write(path, trace)
    timeline = Timeline(NdjsonSource(path))
    timeline.scan()
    return timeline.broken


def main() -> None:
    answers: list[object] = []
    traces = [trace_of(history) for history in json.load(sys.stdin)]
    for trace, found in zip(traces, validate_all(traces), strict=True):
        by_tlc = (found.judgement, found.position, found.clauses)
        try:
            results = judge(trace)
        except BadInput as error:
            answers.append((by_tlc, str(error)))
            continue
        assert told(judge_compiled(trace)) == told(results)
        by_oracles = judge_by_oracles(trace)
        assert [(one.verdict, one.broken) for one in by_oracles] == [(one.verdict, one.broken) for one in results]
        assert explored(trace) == sum(one.broken for one in results)
        answers.append((by_tlc, told(results)))
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
