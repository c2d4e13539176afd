"""Mining agrees, row for row, with the online checks and the oracles, however the rows come."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from scatterproof.conformance.checks import compiled
from scatterproof.conformance.judge import all_checks, judge, judge_by_oracles, judge_compiled, kernel
from scatterproof.conformance.protocol import load
from scatterproof.conformance.tests.agreement import beginning, damaged_rows
from scatterproof.conformance.verdict import ClauseResult, Verdict
from scatterproof.spark import incremental
from scatterproof.spark import judge_part as judging
from scatterproof.spark import mine as mining
from scatterproof.spark.configurations import draw_run
from scatterproof.spark.corpus import Plant, make_corpus, simulate_run
from scatterproof.spark.incremental import spread_over
from scatterproof.spark.judge_part import at_stake, is_warm, judge_part, warm
from scatterproof.spark.layout import events_path, runs_path
from scatterproof.spark.measured import Measured
from scatterproof.spark.mine import mine
from scatterproof.spark.mined import MineResult
from scatterproof.spark.protocol import kinds_of
from scatterproof.spark.read import Part, parts_of
from scatterproof.spark.session import MASTER
from scatterproof.spark.tests.agreement import gravest
from scatterproof.spark.tests.material import PROTOCOLS, change, material, value
from scatterproof.spec import clauses
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import Header, Kind, Row, Trace, rows_of_packet, schema
from scatterproof.spec.trace_parquet import write_runs

ANY = PROTOCOLS[0]
EVERY = 1 << 62  # violations to put into words
each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)
OFTEN_ENOUGH, MOST_ROWS = 90, 4000  # runs to look through, and how long they may be
LOOKED_AT = 300  # rows of each of many runs
SHORT = 900  # rows that the oracles can take in a moment


def broken_in(trace: Trace) -> set[str]:
    return {result.clause for result in judge_compiled(trace) if result.broken}


def planted(protocol: str, seed: int) -> dict[int, Plant]:
    """Each of the wrong rules in a run of its own, in which it breaks what it shall."""
    found: dict[int, Plant] = {}
    kinds = [draw_run(protocol, seed, run).kind for run in range(OFTEN_ENOUGH)]
    for plant, word, clause in material(protocol).plants:
        for run in (run for run in range(OFTEN_ENOUGH) if run not in found and word in kinds[run]):
            trace = simulate_run(protocol, seed, run, plant)
            if len(trace.rows) < MOST_ROWS and clause in broken_in(trace):
                found[run] = plant
                break
        else:
            raise AssertionError(f"{plant.name} shows in no run; the corpora are too tame")
    return found


def damaged(trace: Trace, draw: Random) -> Trace:
    """The run after three damages that leave it a trace: what packets, deliveries and ends of calls say changed or
    exchanged, and deliveries dropped. What a packet says is the same wherever it is on its link; a call that ends is
    the one that its client is in."""
    rows, columns = list(trace.rows), schema(trace.header.protocol).columns

    def sort_of(at: int) -> tuple[bool, bool]:
        return value(trace, rows[at], "link_seq") >= 0, value(trace, rows[at], "kind") == Kind.RETURNED

    for _ in range(3):
        kinds = (Kind.SUBMITTED, Kind.ENDED, Kind.CRASHED, Kind.RESTARTED, Kind.CALLED)
        places = [at for at, row in enumerate(rows) if value(trace, row, "kind") not in kinds]
        at = draw.choice(places)
        other = draw.choice([place for place in places if sort_of(place) == sort_of(at)])
        is_packet, is_end = sort_of(at)
        match draw.randrange(3):
            case 0:
                column = draw.choice(material(trace.header.protocol).damaged)
                changed = {column: value(trace, rows[other], column) + draw.choice((-1, 0, 1))}
                for place in rows_of_packet(columns, rows, at):
                    rows[place] = change(trace, rows[place], **changed)
            case 1 if not is_packet and not is_end:
                del rows[at]
            case _:
                said = columns[columns.index("sender") :]
                said = tuple(name for name in said if not is_end or name not in ("call", "operation"))
                first, second = ({name: value(trace, rows[p], name) for name in said} for p in (at, other))
                theirs = rows_of_packet(columns, rows, at), rows_of_packet(columns, rows, other)
                for where, values in zip(theirs, (second, first), strict=True):
                    for place in where:
                        rows[place] = change(trace, rows[place], **values)
    return Trace(trace.header, rows)


def write_part(corpus: Path, file: int, traces: Sequence[Trace]) -> None:
    write_runs(events_path(corpus, file), runs_path(corpus, file), traces)


def numbered(trace: Trace, run: int) -> Trace:
    return Trace(msgspec.structs.replace(trace.header, run=run), trace.rows)


def violations(run: int, results: Sequence[ClauseResult]) -> list[dict[str, Any]]:
    return [
        {"run": run, **{name: getattr(found, name) for name in found.__struct_fields__}}
        for result in results
        for found in result.violations
    ]


def assert_mined_as_online(result: MineResult, traces: Sequence[Trace]) -> None:
    """Every row of the table, and every count, is what the online checks say of these runs, and the oracles too."""
    online = {trace.header.run: judge(trace, shown=EVERY) for trace in traces}
    expected = [found for run, results in online.items() for found in violations(run, results)]
    expected.sort(key=lambda found: (found["run"], found["position"], found["clause"]))
    table = result.table().drop_columns(["replay"])
    assert table.to_pylist() == [{name: found[name] for name in table.schema.names} for found in expected]
    protocol = traces[0].header.protocol
    assert [one.clause for one in result.clauses] == list(dict.fromkeys(one.clause for one in load(protocol).checks))
    for clause in result.clauses:
        # A clause may have several checks, one of which says nothing where it leaves nothing open.
        by_run = [[r for r in results if r.clause == clause.clause] for results in online.values()]
        own = [r for results in by_run for r in results]
        assert clause.name == own[0].name
        assert clause.runs == Counter(gravest(some) for some in by_run)
        assert (clause.held, clause.broken) == (sum(r.held for r in own), sum(r.broken for r in own))
    for trace in (trace for trace in traces if len(trace.rows) < SHORT):
        by_oracles = judge_by_oracles(trace, shown=EVERY)
        assert [(r.clause, r.verdict, [v.position for v in r.violations]) for r in by_oracles] == [
            (r.clause, r.verdict, [v.position for v in r.violations]) for r in online[trace.header.run]
        ]
    assert (result.runs, result.events) == (len(traces), sum(len(trace.rows) for trace in traces))


@pytest.mark.slow
@each_protocol
def test_conforming_runs_hold_and_every_clause_was_at_stake(
    session: SparkSession, tmp_path: Path, protocol: str
) -> None:
    corpus = tmp_path / "corpus"
    make_corpus(protocol, 3 * len(kinds_of(protocol)), 4, corpus)
    result = mine(corpus)
    assert result.holds
    assert result.table().num_rows == 0
    passed = {clause.clause for clause in result.clauses if clause.verdict is Verdict.PASS}
    assert passed == {clause.id for clause in clauses.load(protocol).clauses if clauses.Layer.CHECK in clause.layers}
    assert all(clause.held for clause in result.clauses)


@pytest.mark.slow
@each_protocol
def test_planted_rules_are_found_as_the_online_checks_and_the_oracles_find_them(
    session: SparkSession, tmp_path: Path, protocol: str
) -> None:
    seed = material(protocol).seed
    plants = planted(protocol, seed)
    runs = max(plants) + 1
    make_corpus(protocol, runs, seed, tmp_path, plant=plants, files=3)
    result = mine(tmp_path)
    assert_mined_as_online(result, [simulate_run(protocol, seed, run, plants.get(run)) for run in range(runs)])
    assert set(result.table().column("run").to_pylist()) == set(plants)
    failed = {clause.clause for clause in result.clauses if clause.verdict is Verdict.FAIL}
    assert {clause for _, _, clause in material(protocol).plants} <= failed


@pytest.mark.slow
@each_protocol
def test_damaged_runs_are_found_alike_in_one_file_and_in_four(
    session: SparkSession, tmp_path: Path, protocol: str
) -> None:
    draw = Random(4)
    drawn = [simulate_run(protocol, 4, run) for run in range(len(kinds_of(protocol)))]
    every = [beginning(trace, LOOKED_AT, cut=True) for trace in (*material(protocol).traces(), *drawn)]
    traces = [numbered(damaged(trace, draw), run) for run, trace in enumerate(every)]
    write_part(tmp_path / "one", 0, traces)
    for file in range(4):
        write_part(tmp_path / "four", file, traces[len(traces) * file // 4 : len(traces) * (file + 1) // 4])
    one, four = mine(tmp_path / "one"), mine(tmp_path / "four", MASTER)
    assert one.violations > len(traces) / 2  # what a run does not depend on is damaged in vain
    broken = {clause.clause for clause in one.clauses if clause.broken}
    assert set(material(protocol).by_damage) <= broken
    assert_mined_as_online(one, traces)
    assert (four.clauses, four.events) == (one.clauses, one.events)
    assert four.table().drop_columns("replay").equals(one.table().drop_columns("replay"))


def test_a_run_that_lacks_something_is_not_concluded_as_one_that_lacks_nothing(tmp_path: Path) -> None:
    whole = material(ANY).traces()[0]
    headers = [whole.header, msgspec.structs.replace(whole.header, complete={})]
    traces = [numbered(Trace(header, whole.rows), run) for run, header in enumerate([*headers, *headers])]
    write_part(tmp_path, 0, traces)
    result = mine(tmp_path)
    assert_mined_as_online(result, traces)
    assert {2: 2} in [{len(one.runs): one.runs[Verdict.PASS]} for one in result.clauses if Verdict.PASS in one.runs]


def left(corpus: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (corpus / "mined").rglob("*.*")}


def test_this_process_finds_what_spark_finds_to_the_byte(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")  # the page tells when it was made
    draw, said = Random(2), list[str]()
    for file, trace in enumerate(material(ANY).parted()):
        write_part(tmp_path, file, [numbered(damaged(beginning(trace, LOOKED_AT, cut=True), draw), file)])
    on_spark = mine(tmp_path, MASTER, say=said.append)
    before = left(tmp_path)
    assert mine(tmp_path, again=True, say=said.append) == on_spark
    assert left(tmp_path) == before
    monkeypatch.setattr(mining, "FEW_ROWS", 1)
    monkeypatch.setattr(mining, "FEW_INTERPRETED", 1)
    assert mine(tmp_path, again=True, say=said.append) == on_spark
    assert said == [f"2 files to judge {where}, 0 known" for where in ("on Spark", "in this process", "on Spark")]
    assert on_spark.violations
    assert len(before) == 4


@pytest.mark.slow
@each_protocol
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data(), batch_rows=st.integers(1, 400), most=st.integers(1, 3) | st.just(EVERY), interpret=st.booleans())
def test_any_batching_finds_what_the_online_checks_find(
    protocol: str, data: st.DataObject, batch_rows: int, most: int, interpret: bool
) -> None:
    traces: list[Trace] = []
    for run in range(data.draw(st.integers(1, 4))):
        trace = data.draw(st.sampled_from(material(protocol).traces()))
        rows: list[Row] = data.draw(st.one_of(st.just(trace.rows), damaged_rows(trace)))
        traces.append(numbered(Trace(trace.header, rows), run))
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(judging, "MOST_KEPT", most),
        patch.dict(judging._KNOWN, clear=True),
    ):
        write_part(Path(folder), 0, traces)
        (part,) = parts_of(Path(folder))
        mined = outcome(lambda: [run.results() for run in judge_part(part, batch_rows, interpret=interpret)])
    assert mined == outcome(lambda: [judge(trace, shown=most) for trace in traces])


def outcome(judging: Callable[[], list[list[ClauseResult]]]) -> list[list[ClauseResult]] | str:
    """The results, or that the rows were refused: which row is first depends on who looks in which order."""
    try:
        return judging()
    except BadInput:
        return "refused"


@pytest.mark.slow
@each_protocol
def test_a_run_longer_than_a_batch_keeps_its_state_from_one_to_the_next(tmp_path: Path, protocol: str) -> None:
    trace = damaged(material(protocol).parted()[1], Random(1))
    write_part(tmp_path, 0, [trace])
    (part,) = parts_of(tmp_path)
    for batch_rows in (1, 7, len(trace.rows) - 1, len(trace.rows)):
        assert next(judge_part(part, batch_rows)).results() == judge(trace, shown=EVERY)


def test_networks_that_differ_in_names_alone_share_what_is_derived_from_them() -> None:
    header = material(ANY).traces()[0].header
    names = tuple(msgspec.structs.replace(node, name=f"{node.name}.2") for node in header.topology.nodes)
    topology = msgspec.structs.replace(header.topology, nodes=names)
    other, known = msgspec.structs.replace(header, topology=topology), judging._network(header)
    assert all(one is two for one, two in zip(judging._network(other), known, strict=True))
    fewer = msgspec.structs.replace(topology, links=topology.links[:-1])
    assert judging._network(msgspec.structs.replace(header, topology=fewer)) is not known


def test_tasks_read_the_headers_of_many_runs(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file, trace in enumerate(material(ANY).parted()):
        write_part(tmp_path, file, [trace])
    parts, here = parts_of(tmp_path), os.getpid()
    expected = [at_stake(part) for part in parts]
    assert all(expected)

    def elsewhere(part: Part) -> list[Header]:
        return at_stake(part) if os.getpid() != here else []

    monkeypatch.setattr(incremental, "MANY_RUNS", len(parts))
    assert list(spread_over(session, parts)(elsewhere, parts)) == expected
    assert not any(spread_over(session, parts[1:])(elsewhere, parts[1:]))  # fewer are read here
    assert list(spread_over(None, parts)(at_stake, parts)) == expected


@pytest.mark.slow
@each_protocol
def test_all_that_the_runs_need_is_compiled_before_the_tasks_begin(
    tmp_path: Path, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    traces = material(protocol).parted()
    for file, trace in enumerate(traces):
        write_part(tmp_path, file, [trace])
    kernel.cache_clear()
    (marks := tmp_path / "marks").mkdir()
    monkeypatch.setattr(compiled.CompiledPart, "_mark", property(lambda part: marks / part._path.name))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert not is_warm(parts_of(tmp_path))
    warm(parts_of(tmp_path))
    assert is_warm(parts_of(tmp_path))
    plugin = load(protocol)
    needed = {check.part for trace in traces for check in (*plugin.applicable(trace.header), *plugin.premises)}
    parts = {all_checks(plugin)[part.numbers[0]].part: part.is_compiled for part in kernel(protocol).parts}
    assert {name for name, is_compiled in parts.items() if is_compiled} == needed < set(parts)
    assert not any("module" in vars(part) for part in kernel(protocol).parts)  # other processes have


@pytest.mark.slow
@each_protocol
def test_threads_find_what_one_finds_in_its_order(
    tmp_path: Path, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "SPREAD_ROWS", 1)
    feed, by_others = compiled._PartRun.feed, set[bool]()

    def watched(self: compiled._PartRun, *rows: Any) -> list[Any]:
        by_others.add(threading.current_thread() is not threading.main_thread())
        return feed(self, *rows)

    monkeypatch.setattr(compiled._PartRun, "feed", watched)
    traces = [numbered(damaged(trace, Random(1)), run) for run, trace in enumerate(material(protocol).parted())]
    write_part(tmp_path, 0, traces)
    (part,) = parts_of(tmp_path)
    alone, at_once = Measured(protocol), Measured(protocol)
    found = [run.results() for run in judge_part(part, 500, alone)]
    assert by_others == {False}
    by_others.clear()
    assert [run.results() for run in judge_part(part, 500, at_once, threads=3)] == found
    assert by_others == {True}
    assert at_once.packed() == alone.packed()


@pytest.mark.slow
@each_protocol
def test_what_is_interpreted_is_measured_alike(tmp_path: Path, protocol: str) -> None:
    """Parameters, networks and lacking clauses differ from run to run."""
    write_part(tmp_path, 0, [numbered(trace, run) for run, trace in enumerate(material(protocol).traces())])
    (part,) = parts_of(tmp_path)
    by_kernel, in_python = Measured(protocol), Measured(protocol)
    compiled_runs = judge_part(part, measured=by_kernel)
    plain_runs = judge_part(part, measured=in_python, interpret=True)
    assert [run.results() for run in compiled_runs] == [run.results() for run in plain_runs]
    assert by_kernel.packed() == in_python.packed()


@pytest.mark.parametrize(
    ("few", "is_warm", "interprets"),
    [
        (True, False, True),
        # These compile, which takes minutes where nobody else does.
        pytest.param(True, True, False, marks=pytest.mark.slow),
        pytest.param(False, False, False, marks=pytest.mark.slow),
    ],
)
def test_few_rows_are_interpreted_where_nothing_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: bool, is_warm: bool, interprets: bool
) -> None:
    write_part(tmp_path, 0, material(ANY).parted()[:1])
    (part,) = parts_of(tmp_path)
    warmed: list[object] = []
    monkeypatch.setattr(judging, "INTERPRETED_ROWS", part.rows if few else part.rows - 1)
    monkeypatch.setattr(judging, "is_warm", lambda parts: is_warm)
    monkeypatch.setattr(incremental, "warm", lambda parts, _: warmed.append(parts))
    assert mine(tmp_path).events == part.rows
    assert warmed == ([] if interprets else [[part]])


def test_a_failed_mining_leaves_the_last_one_as_it_was(tmp_path: Path) -> None:
    trace = material(ANY).parted()[0]
    write_part(tmp_path, 0, [trace])
    mine(tmp_path)
    before = (tmp_path / "mined" / "summary.json").read_bytes()
    last = len(trace.header.topology.nodes) - 1
    broken = [*trace.rows[:5], change(trace, trace.rows[5], node=99), *trace.rows[6:]]
    write_part(tmp_path, 0, [Trace(trace.header, broken)])
    with pytest.raises(BadInput, match=rf"part-00000.parquet: run 0: row 5 has node 99; nodes are 0 to {last}$"):
        mine(tmp_path)
    assert (tmp_path / "mined" / "summary.json").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["events", "mined", "runs"]


def rewritten(path: Path, edit: Callable[[pa.Table], pa.Table]) -> None:
    pq.write_table(edit(pq.read_table(path)), path)


def swapped(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table.slice(10), table.slice(0, 10)])


def of_another_protocol(table: pa.Table) -> pa.Table:
    for name in ("header", "protocol"):
        texts = [text.replace(ANY, "carrier_pigeon") for text in table.column(name).to_pylist()]
        table = table.set_column(table.schema.get_field_index(name), table.schema.field(name), [texts])
    return table


def saying(column: str, value: int, row: int) -> Callable[[pa.Table], pa.Table]:
    def edit(table: pa.Table) -> pa.Table:
        values = table.column(column).to_pylist()
        values[row] = value
        return table.set_column(table.schema.get_field_index(column), table.schema.field(column), [values])

    return edit


def with_header(change: Callable[[dict[str, Any]], object]) -> Callable[[pa.Table], pa.Table]:
    def edit(table: pa.Table) -> pa.Table:
        headers = [msgspec.json.decode(text) for text in table.column("header").to_pylist()]
        change(headers[0])
        texts = [msgspec.json.encode(header).decode() for header in headers]
        return table.set_column(table.schema.get_field_index("header"), table.schema.field("header"), [texts])

    return edit


BAD_CORPORA: dict[str, tuple[Callable[[Path], object], str]] = {
    "no folder": (shutil.rmtree, "no such folder"),
    "no files": (lambda corpus: shutil.rmtree(corpus / "events"), "holds no traces"),
    "no headers": (lambda corpus: runs_path(corpus, 1).unlink(), "part-00001.parquet: missing; it holds the headers"),
}
BAD_FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a sender of another world": (
        lambda corpus: rewritten(events_path(corpus, 0), saying("sender", 1 << 62, 3)),
        rf"events/part-00000.parquet: run 0: row 3 has sender {1 << 62}; nodes are 0 to ",
    ),
    "a receiver below nobody": (
        lambda corpus: rewritten(events_path(corpus, 1), saying("receiver", -(1 << 63), 4)),
        rf"events/part-00001.parquet: run 2: row 4 has receiver {-(1 << 63)}; nodes are 0 to ",
    ),
    "two nodes of one name": (
        lambda corpus: rewritten(
            runs_path(corpus, 0), with_header(lambda one: [node.update(name="x") for node in one["topology"]["nodes"]])
        ),
        r"events/part-00000.parquet: run 0: topology: \d+ nodes are named 'x'",
    ),
    "a link to nowhere": (
        lambda corpus: rewritten(
            runs_path(corpus, 1), with_header(lambda one: one["topology"]["links"][0].update(target=99))
        ),
        r"events/part-00001.parquet: run 2: topology: link 0 joins 0 and 99",
    ),
    "a header that lacks a node": (
        lambda corpus: rewritten(runs_path(corpus, 0), with_header(lambda one: one["topology"]["nodes"].pop())),
        r"events/part-00000.parquet: run 0: topology: link \d joins \d and \d; nodes are 0 to ",
    ),
    "a header that knows of a node too many": (
        lambda corpus: rewritten(runs_path(corpus, 1), with_header(lambda one: one["complete"]["sent"].append(99))),
        r"events/part-00001.parquet: run 2: header: complete names node 99 of 'sent'; nodes are 0 to ",
    ),
    "no parameters": (
        lambda corpus: rewritten(runs_path(corpus, 1), with_header(lambda one: one["parameters"].clear())),
        r"events/part-00001.parquet: run 2: parameter ",
    ),
    "no column": (
        lambda corpus: rewritten(events_path(corpus, 0), lambda table: table.drop_columns(["digest"])),
        "events/part-00000.parquet: row group 0: column digest is missing",
    ),
    "a column twice": (
        lambda corpus: rewritten(
            events_path(corpus, 0), lambda table: table.append_column("clock_ns", table.column("clock_ns"))
        ),
        "events/part-00000.parquet: row group 0: column clock_ns is there twice; keep one of them",
    ),
    "a clock that falls": (
        lambda corpus: rewritten(events_path(corpus, 0), saying("clock_ns", -5_000_000, 9)),
        r"events/part-00000.parquet: run 0: PREMISE, row 9 at \d+ ns: clock_ns of \w+ is -5000000 behind a row of ",
    ),
    "a column of another type": (
        lambda corpus: rewritten(
            events_path(corpus, 0), lambda table: table.set_column(0, "run", table.column("run").cast(pa.int32()))
        ),
        "column run is int32; make it int64",
    ),
    "truncated": (
        lambda corpus: events_path(corpus, 1).write_bytes(events_path(corpus, 1).read_bytes()[:-100]),
        "events/part-00001.parquet: cannot be read as Parquet",
    ),
    "damaged within": (
        lambda corpus: events_path(corpus, 1).write_bytes(
            events_path(corpus, 1).read_bytes()[:4] + bytes(400) + events_path(corpus, 1).read_bytes()[404:]
        ),
        "events/part-00001.parquet: cannot be read as Parquet",
    ),
    "header of another protocol": (
        lambda corpus: rewritten(runs_path(corpus, 1), with_header(lambda one: one.update(protocol="carrier_pigeon"))),
        f"runs/part-00001.parquet: the header of run 2 is of carrier_pigeon, not of {ANY}; make it again",
    ),
    "rows missing": (
        lambda corpus: rewritten(events_path(corpus, 0), lambda table: table.slice(1)),
        "rows, .*runs/part-00000.parquet tells of",
    ),
    "runs mixed": (lambda corpus: rewritten(events_path(corpus, 0), swapped), "run 0 is mixed with others"),
    "two protocols": (
        lambda corpus: rewritten(runs_path(corpus, 1), of_another_protocol),
        f"runs/part-00001.parquet: run 2 is of carrier_pigeon, .* of {ANY}; mine each",
    ),
}


def two_files(tmp_path: Path) -> Path:
    corpus = tmp_path / "corpus"
    for file in range(2):
        write_part(corpus, file, [numbered(material(ANY).parted()[0], 2 * file + run) for run in range(2)])
    return corpus


@pytest.mark.parametrize("bad", BAD_FILES)
def test_a_bad_file_costs_itself_alone(tmp_path: Path, bad: str) -> None:
    spoil, sentence = BAD_FILES[bad]
    corpus = two_files(tmp_path)
    spoil(corpus)
    result = mine(corpus)
    (said,) = result.left_out
    assert re.search(sentence, said)
    assert "\n" not in said
    assert (result.files, result.runs) == (1, 2)
    page = (corpus / "mined" / "report.html").read_text()
    assert "Left out, as not sound" in page


@pytest.mark.parametrize("bad", BAD_CORPORA)
def test_a_bad_corpus_is_one_sentence(tmp_path: Path, bad: str) -> None:
    spoil, sentence = BAD_CORPORA[bad]
    corpus = two_files(tmp_path)
    spoil(corpus)
    with pytest.raises(BadInput, match=sentence) as raised:
        mine(corpus)
    assert "\n" not in str(raised.value)
    assert not (corpus / "mined" / "summary.json").exists()
