"""Histories of Jepsen: those that were exported come in as they were, and another's by a mapping."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from scatterproof.conformance import judge
from scatterproof.conformance.linear import interchange
from scatterproof.spark.importing.tests.imported import imported
from scatterproof.spec import trace_ndjson
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import Kind, Trace, schema

LABELLED = Path(judge.__file__).parent / "traces"
CALLED = [name for name in ("workqueue", "pubsub") if schema(name).calls]
HEADER = """
[header.topology]
nodes = [{ name = "h0", role = "host" }, { name = "c1", role = "client" }, { name = "c2", role = "client" }]
links = [{ source = 1, target = 0 }, { source = 0, target = 1 }, { source = 2, target = 0 }, { source = 0, target = 2 }]
[header.parameters]
topics = "a"
filters = "a"
[columns]
digest = "value"
[constants]
topic = 1
level = 1
[calls]
send = "publish"
"""


def as_imported(trace: Trace) -> list[dict[str, int]]:
    """Where a row `delivered` does not say so, its receiver is its node: the import adds that."""
    rows = [dict(zip(schema(trace.header.protocol).columns, row, strict=True)) for row in trace.rows]
    return [row | {"receiver": row["node"]} if row["kind"] == Kind.DELIVERED else row for row in rows]


@pytest.mark.parametrize("protocol", CALLED)
def test_what_was_exported_comes_in_as_it_was(protocol: str, tmp_path: Path) -> None:
    # What is refused says what no history can, such as a call that returns without an outcome.
    paths = sorted(path for kind in ("conforming", "violating") for path in (LABELLED / protocol / kind).iterdir())[::7]
    given = {path.stem: trace_ndjson.read(path) for path in paths}
    for name, trace in given.items():
        (tmp_path / f"{name}.edn").write_bytes(interchange.jepsen(trace))
    found = imported(tmp_path, protocol, tmp_path)
    assert not found.quarantined
    assert [entry.kind for entry in found.entries] == ["history"] * len(given)
    wanted = [as_imported(given[name]) for name in sorted(given)]
    assert sorted(map(str, map(as_imported, found.traces.values()))) == sorted(map(str, wanted))
    assert len(found.traces) == len(given) > 5


def test_anothers_history_comes_in_by_a_mapping(tmp_path: Path) -> None:
    """Processes beyond the clients are clients again; what a nemesis does is passed over; what is no row is kept."""
    history = tmp_path / "history.edn"
    history.write_text(
        "[{:process 0, :type :invoke, :f :send, :value 7, :time 5}\n"
        " {:process :nemesis, :type :info, :f :kill, :value {:n1 :killed}, :time 6}\n"
        " {:process 0, :type :info, :f :send, :value 7, :time 7}\n"
        " {:process 3, :type :invoke, :f :send, :value 8, :time 8}\n"
        " {:process 3, :type :ok, :f :send, :value 8, :time 9}\n"
        " {:process 3, :type :invoke, :f :steal, :value 8, :time 10}]\n"
    )
    found = imported(tmp_path, "pubsub", history, mapping=HEADER)
    (trace,) = found.traces.values()
    names = schema("pubsub")
    shown = [
        tuple(row[names.index(column)] for column in ("time_ns", "node", "kind", "digest", "outcome"))
        for row in trace.rows
    ]
    outcomes = names.outcomes
    assert shown == [
        (5, 1, Kind.CALLED, 7, -1),
        (7, 1, Kind.RETURNED, 7, outcomes["unknown"]),
        (8, 2, Kind.CALLED, 8, -1),
        (9, 2, Kind.RETURNED, 8, outcomes["ok"]),
    ]
    (flaw,) = found.quarantined
    assert flaw["line"] == 6
    assert "call is 'steal'" in flaw["reason"]


def test_a_history_without_a_header_needs_a_mapping(tmp_path: Path) -> None:
    history = tmp_path / "history.edn"
    history.write_text("{:process 0, :type :invoke, :f :publish, :value 7}")
    with pytest.raises(BadInput, match="give --mapping with a header"):
        imported(tmp_path, "pubsub", history)


def test_a_network_without_clients_is_refused(tmp_path: Path) -> None:
    history = tmp_path / "history.edn"
    history.write_text("{:process 0, :type :invoke, :f :send, :value 7}")
    with pytest.raises(BadInput, match="the header has no client"):
        imported(tmp_path, "pubsub", history, mapping=HEADER.replace('role = "client"', 'role = "host"'))


def test_a_history_of_another_protocol_is_refused(tmp_path: Path) -> None:
    (path,) = islice((LABELLED / "workqueue").rglob("*.ndjson"), 1)
    history = tmp_path / "history.edn"
    history.write_bytes(interchange.jepsen(trace_ndjson.read(path)))
    with pytest.raises(BadInput, match="the history is of protocol 'workqueue', not of pubsub"):
        imported(tmp_path, "pubsub", history)
