"""A folder of logs, judged after the run: as the run itself was, and no better where something is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scatterproof.conformance.adapters.log_folder import read_logs, write_run
from scatterproof.conformance.adapters.recorded_run import RecordedRun
from scatterproof.conformance.case import cases
from scatterproof.conformance.judge import judge, refuse
from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.conformance.verdict import Verdict
from scatterproof.impl.totalorder import make_core
from scatterproof.spec import trace_ndjson
from scatterproof.spec.clauses import protocols
from scatterproof.spec.errors import BadInput
from scatterproof.spec.topology import Node, Role
from scatterproof.spec.trace import CLEAN, QUIESCENT, Kind, Order, Trace, schema

NAMES = schema("totalorder")
NODE, KIND, FLAGS = NAMES.index("node"), NAMES.index("kind"), NAMES.index("flags")
TRACES = Path(__file__).parents[1] / "traces"
CASE = next(case for case in cases("totalorder") if case.id == "TO-ORDER/ties")


@pytest.fixture(scope="module")
def trace() -> Trace:
    return SimulatedIut("it", make_core).run(CASE.schedule)


def leave(folder: Path, trace: Trace, **rest: Any) -> Path:
    """What nodes that write logs would have left of the run."""
    header = trace.header
    settings: dict[str, Any] = {"clean": True, **rest}
    folder.mkdir(exist_ok=True)
    write_run(folder, RecordedRun(header.protocol, header.topology, header.parameters, **settings))
    for node, there in enumerate(header.topology.nodes):
        rows = [row for row in trace.rows if row[NODE] == node and row[KIND] not in (Kind.LOST, Kind.ENDED)]
        lines = trace_ndjson.encode(Trace(header, rows)).splitlines(keepends=True)[1:]
        (folder / f"{node}-{there.name}.log.ndjson").write_bytes(b"".join(lines))
    return folder


def verdicts(trace: Trace) -> dict[str, Verdict]:
    return {result.clause: result.verdict for result in judge(trace)}


def test_logs_are_judged_as_the_run_was(tmp_path: Path, trace: Trace) -> None:
    again = read_logs(leave(tmp_path, trace), "logs")

    assert again.rows[-1][FLAGS] == CLEAN | QUIESCENT
    assert (again.header.order, again.header.iut) == (Order.LINK, "logs")
    assert len(again.rows) == len(trace.rows)
    assert verdicts(again)["TO-ORDER"] is verdicts(trace)["TO-ORDER"] is Verdict.PASS
    assert verdicts(again)["TO-COMPLETE"] is Verdict.PASS


def test_a_delivery_that_is_exchanged_with_the_next_breaks_the_order(tmp_path: Path, trace: Trace) -> None:
    at = [number for number, row in enumerate(trace.rows) if row[KIND] == Kind.DELIVERED and row[NODE] == 4]
    rows = list(trace.rows)
    first, second = at[0], at[1]
    columns = slice(NAMES.index("sender"), None)
    rows[first] = rows[first][: columns.start] + trace.rows[second][columns]
    rows[second] = rows[second][: columns.start] + trace.rows[first][columns]

    assert verdicts(read_logs(leave(tmp_path, Trace(trace.header, rows)), "logs"))["TO-ORDER"] is Verdict.FAIL


CALLED = [protocol for protocol in protocols() if schema(protocol).calls]


@pytest.mark.parametrize("protocol", CALLED)
def test_calls_are_judged_by_their_clients_logs_as_the_run_was(tmp_path: Path, protocol: str) -> None:
    for path in sorted(TRACES.glob(f"{protocol}/[cv]*/*.ndjson")):
        run = trace_ndjson.read(path)
        if run.rows[-1][KIND] == Kind.ENDED:  # when, no log has: as the last that happened
            run.rows[-1] = (max(row[0] for row in run.rows[:-1]), *run.rows[-1][1:])
        names = schema(protocol)
        settled = run.rows[-1][names.index("flags")] == CLEAN | QUIESCENT
        known: dict[str, Any] = {} if settled else {"clean": False, "complete": run.header.complete}
        again = read_logs(leave(tmp_path / path.stem, run, order=Order.GLOBAL, **known), "logs")
        broken, found = (
            {clause for clause, verdict in verdicts(each).items() if verdict is Verdict.FAIL} for each in (run, again)
        )
        assert found == broken, path.stem
        if path.parent.name == "conforming":
            assert Verdict.PASS in verdicts(again).values(), path.stem


def test_calls_by_clocks_of_their_own_are_refused(tmp_path: Path) -> None:
    leave(tmp_path, trace_ndjson.read(TRACES / "workqueue/conforming/Q-PRIORITY.two-ask-at-once.ndjson"))
    with pytest.raises(BadInput, match=r'run\.json: calls of several clients .* write "order": "global"'):
        read_logs(tmp_path, "logs")


def test_what_is_called_as_another_returns_overlaps_it(tmp_path: Path) -> None:
    run = trace_ndjson.read(TRACES / "workqueue/conforming/Q-PRIORITY.higher-first.ndjson")
    names = schema("workqueue")
    node, kind, time = (names.index(name) for name in ("node", "kind", "time_ns"))
    ends = [(row[kind], row[node]) for row in run.rows]
    at = next(at for at in range(1, len(ends)) if ends[at - 1 : at + 1] == [(Kind.RETURNED, 1), (Kind.CALLED, 2)])
    rows = [*run.rows]
    rows[at - 1] = (*rows[at - 1][:time], rows[at][time], *rows[at - 1][time + 1 :])
    again = read_logs(leave(tmp_path, Trace(run.header, rows), order=Order.GLOBAL), "logs")
    assert [row[kind] for row in again.rows[at - 1 : at + 1]] == [Kind.CALLED, Kind.RETURNED]


def test_a_run_that_is_not_called_clean_says_nothing_of_what_is_missing(tmp_path: Path, trace: Trace) -> None:
    found = read_logs(leave(tmp_path, trace, clean=False), "logs")
    assert found.rows[-1][FLAGS] == 0
    assert Verdict.PASS not in verdicts(found).values()

    everywhere = tuple(range(len(trace.header.topology.nodes)))
    complete = dict.fromkeys(("submitted", "sent", "arrived", "delivered", "refused"), everywhere)
    known = verdicts(read_logs(leave(tmp_path, trace, clean=False, complete=complete), "logs"))
    assert known["TO-ORDER"] is Verdict.PASS
    assert known["TO-COMPLETE"] is Verdict.INCONCLUSIVE


def test_one_switchs_log_is_judged_alone(tmp_path: Path, trace: Trace) -> None:
    leave(tmp_path, trace)
    switch = trace.header.topology.switches()[0]
    for path in tmp_path.glob("*.log.ndjson"):
        if not path.name.startswith(f"{switch}-"):
            path.unlink()
    found = read_logs(tmp_path, "logs")

    assert {row[NODE] for row in found.rows[:-1]} == {switch}
    assert found.header.complete["sent"] == (switch,)
    assert verdicts(found)["TO-ORDER"] is Verdict.INCONCLUSIVE


def test_a_log_with_a_flaw_cuts_the_run_there(tmp_path: Path, trace: Trace) -> None:
    leave(tmp_path, trace)
    path = tmp_path / f"4-{trace.header.topology.nodes[4].name}.log.ndjson"
    whole = path.read_text().splitlines()
    path.write_text("\n".join([*whole[:2], "oops", *whole[2:]]) + "\n")
    found = read_logs(tmp_path, "logs")

    assert found.rows[-1][FLAGS] == 0
    assert found.notes == (f"{path.name}: line 3 is not a JSON object: JSON is malformed: invalid character (byte 0)",)
    assert set(verdicts(found).values()) <= {Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE}


@pytest.mark.parametrize(("column", "value"), [("sender", 99), ("receiver", -2), ("packet", 1 << 62), ("link", 99)])
def test_a_row_that_names_nothing_is_a_flaw(tmp_path: Path, trace: Trace, column: str, value: int) -> None:
    leave(tmp_path, trace)
    path = tmp_path / f"4-{trace.header.topology.nodes[4].name}.log.ndjson"
    first, second, *rest = path.read_text().splitlines()
    told = json.dumps({**json.loads(second), column: value})
    path.write_text("\n".join([first, told, *rest]) + "\n")
    found = read_logs(tmp_path, "logs")

    (note,) = found.notes
    assert note.startswith(f"{path.name}: line 2 has {column} {value}; ")
    refuse(found)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"protocol": "pigeons"}, "protocol 'pigeons' is unknown"),
        ({"format": 9}, "format is 9, this version reads 1"),
        ({"parameters": {"environment": "Z"}}, "parameter environment is 'Z'; give one of"),
        ({"colour": 3}, "does not describe a run: Object contains unknown field `colour`"),
        ({"complete": {"sent": [99]}}, "complete names 'sent' of nodes [99]; kinds are"),
        ({"complete": {"heard": [0]}}, "complete names 'heard' of nodes [0]; kinds are submitted"),
        ({"topology": {"nodes": [], "links": []}}, "topology: there is no host"),
    ],
)
def test_a_run_file_that_is_wrong_is_refused_by_its_name(
    tmp_path: Path, trace: Trace, change: dict[str, Any], sentence: str
) -> None:
    path = leave(tmp_path, trace) / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(BadInput) as refused:
        read_logs(tmp_path, "logs")

    assert str(refused.value).startswith(f"{path}: ")
    assert sentence in str(refused.value)


def test_a_folder_without_logs_or_with_a_strangers_log_is_refused(tmp_path: Path, trace: Trace) -> None:
    header = trace.header
    with pytest.raises(BadInput, match=r"run\.json: no such run file"):
        read_logs(tmp_path, "logs")
    write_run(tmp_path, RecordedRun(header.protocol, header.topology, header.parameters))
    with pytest.raises(BadInput, match=r"there is no log in it; one of them would be 0-101a.log.ndjson"):
        read_logs(tmp_path, "logs")
    (tmp_path / "77-x.log.ndjson").write_text("")
    with pytest.raises(BadInput, match=r"77-x.log.ndjson: is the log of no node of run.json"):
        read_logs(tmp_path, "logs")


def test_names_of_nodes_are_part_of_the_names_of_their_logs(tmp_path: Path, trace: Trace) -> None:
    assert trace.header.topology.nodes[0] == Node("101a", Role.HOST)
    assert (leave(tmp_path, trace) / "0-101a.log.ndjson").is_file()
