"""Logs of nodes, as a user's programs write them, line by line into trace rows; and how those of a run are merged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scatterproof.spark.totalorder
from scatterproof.conformance.broadcast.tests import runs as broadcast
from scatterproof.conformance.judge import judge
from scatterproof.conformance.tests import runs as totalorder
from scatterproof.conformance.verdict import Verdict
from scatterproof.spark.importing.merging import Links, Merge, NodeRows, Numbers
from scatterproof.spark.importing.tests.imported import failed, imported, inconclusive
from scatterproof.spec import trace_ndjson
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import ABSENT, Kind, Order, Row, Trace, digest_of, schema

CONFORMING = {
    "totalorder": totalorder.conforming("star", "D9"),
    "broadcast": broadcast.conforming("lcb", "plain", 3),
}
PROTOCOLS = tuple(CONFORMING)
KNOWN_TO_NODES = (Kind.SUBMITTED, Kind.BEGUN, Kind.SENT, Kind.ARRIVED, Kind.DELIVERED, Kind.REFUSED)
VERBS = {
    Kind.SUBMITTED: "submit",
    Kind.BEGUN: "begin",
    Kind.SENT: "put",
    Kind.ARRIVED: "take",
    Kind.DELIVERED: "give",
    Kind.REFUSED: "no",
}


def events(trace: Trace) -> list[dict[str, int]]:
    """The rows that nodes can know of, by column, without what is absent."""
    names = schema(trace.header.protocol).columns
    found = [dict(zip(names, row, strict=True)) for row in trace.rows]
    return [
        {name: value for name, value in row.items() if value != ABSENT or name == "receiver"}
        for row in found
        if row["kind"] in KNOWN_TO_NODES
    ]


def line_of(trace: Trace, row: dict[str, int]) -> str:
    """A log line of ours: time with a decimal point, a verb, the other end of a link by name, the rest as key=value."""
    nodes, links = trace.header.topology.nodes, trace.header.topology.links
    parts = [f"{row['time_ns'] / 1000:.3f} {VERBS[Kind(row['kind'])]}"]
    if "link" in row:
        link = links[row["link"]]
        parts.append(f"-> {nodes[link.target].name}" if row["kind"] == Kind.SENT else f"<- {nodes[link.source].name}")
    if "packet" in row:
        word = {code: name for name, code in schema(trace.header.protocol).packets.items()}[row["packet"]]
        parts.append(f"({word.upper()})")
    told = {name: value for name, value in row.items() if name not in ("time_ns", "kind", "link", "packet", "node")}
    return " ".join([*parts, *(f"{name}={value}" for name, value in told.items())])


def mapping(tmp_path: Path, trace: Trace, order: str = "link", ended: str = '["clean", "quiescent"]') -> str:
    """One pattern a verb; each key may be there or not."""
    protocol = trace.header.protocol
    trace_ndjson.write(tmp_path / "header.ndjson", Trace(trace.header, []))
    text = (tmp_path / "header.ndjson").read_text().replace('"order":"global"', f'"order":"{order}"')
    (tmp_path / "header.ndjson").write_text(text)
    keys = [name for name in schema(protocol).columns if name not in ("time_ns", "kind", "link", "packet", "node")]
    rest = "".join(rf"(?:.* {key}=(?P<{key}>-?\d+))?" for key in keys)
    lines = "".join(
        f"[[line]]\npattern = '^(?P<time_ns>[0-9.]+) {verb}"
        rf"(?: -> (?P<to>\w+))?(?: <- (?P<from>\w+))?(?: \((?P<packet>\w+)\))?{rest}'"
        f'\nconstants = {{ kind = "{kind.name.lower()}" }}\n'
        for kind, verb in VERBS.items()
    )
    words = "".join(f'{name.upper()} = "{name}"\n' for name in schema(protocol).packets)
    return (
        f'header = "header.ndjson"\nended = {ended}\n[units]\ntime_ns = "us"\n[packets]\n{words}'
        f"[files]\nnode = '^(?P<node>\\w+)\\.log$'\n[[ignore]]\npattern = '^DEBUG'\n{lines}"
    )


def logged(folder: Path, trace: Trace, spoil: Callable[[str], str] = lambda line: line) -> Path:
    """One log a node, with a line of no event here and there."""
    folder.mkdir(parents=True)
    draw = Random(2)
    for number, node in enumerate(trace.header.topology.nodes):
        lines = [spoil(line_of(trace, row)) for row in events(trace) if row["node"] == number]
        lines = [line for each in lines for line in (["DEBUG beat", each] if draw.random() < 0.1 else [each])]
        (folder / f"{node.name}.log").write_text("".join(line + "\n" for line in lines))
    (folder / "README").write_text("what is what")
    return folder


def by_name(trace: Trace, *, without: tuple[str, ...] = ()) -> list[tuple[tuple[str, int], ...]]:
    return [tuple(item for item in row.items() if item[0] not in without) for row in events(trace)]


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_logs_of_all_nodes_are_the_run_and_are_judged_alike(tmp_path: Path, protocol: str) -> None:
    trace = CONFORMING[protocol]
    found = imported(tmp_path, protocol, logged(tmp_path / "in", trace), mapping=mapping(tmp_path, trace))
    (merged,) = found.traces.values()
    assert not found.quarantined
    assert found.made.skipped["a line that the mapping ignores"] > 0
    assert merged.header.order is Order.LINK
    # Logs have one time: each node's own clock is what it was written by.
    without = ("clock_ns",)
    assert sorted(by_name(merged, without=without)) == sorted(by_name(trace, without=without))
    for node in range(len(trace.header.topology.nodes)):
        of = [[row for row in by_name(one, without=without) if ("node", node) in row] for one in (merged, trace)]
        assert of[0] == of[1]
    # What needs no clock of a node is judged as in the trace of the simulator.
    whole = {one.clause: one.verdict for one in judge(trace)}
    for one in judge(merged):
        if one.verdict is Verdict.PASS:
            assert whole[one.clause] is Verdict.PASS
    assert {"totalorder": "TO-COMPLETE", "broadcast": "BC-URB-VALID"}[protocol] not in inconclusive(merged)


def test_packets_that_others_overtook_are_lost(tmp_path: Path) -> None:
    trace = CONFORMING["totalorder"]
    found = imported(tmp_path, "totalorder", logged(tmp_path / "in", trace), mapping=mapping(tmp_path, trace))
    names = schema("totalorder")
    packet = [names.index(name) for name in ("link", "link_seq")]
    lost = [
        {tuple(row[at] for at in packet) for row in one.rows if row[names.index("kind")] == Kind.LOST}
        for one in (trace, found.traces[0])
    ]
    assert lost[1]
    assert lost[1] <= lost[0]


def test_no_packet_is_called_lost_whose_arrival_may_be_in_quarantine(tmp_path: Path) -> None:
    trace = CONFORMING["totalorder"]

    def spoil(line: str) -> str:
        return line.replace("take", "tkae") if " take" in line and "number=2" in line else line

    found = imported(tmp_path, "totalorder", logged(tmp_path / "in", trace, spoil), mapping=mapping(tmp_path, trace))
    assert found.quarantined
    names = schema("totalorder")
    doubted = {kept["node"] for kept in found.quarantined}
    links = trace.header.topology.links
    for row in found.traces[0].rows:
        if row[names.index("kind")] == Kind.LOST:
            assert links[row[names.index("link")]].target not in doubted
    assert doubted.isdisjoint(found.traces[0].header.complete["arrived"])
    assert not failed(found.traces[0])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_logs_in_node_order_are_merged_by_time(tmp_path: Path, protocol: str) -> None:
    trace = CONFORMING[protocol]
    found = imported(tmp_path, protocol, logged(tmp_path / "in", trace), mapping=mapping(tmp_path, trace, "node"))
    times = found.traces[0].column("time_ns")
    assert times == sorted(times)
    assert found.traces[0].header.order is Order.NODE


def test_a_line_that_no_pattern_knows_touches_its_node_alone(tmp_path: Path) -> None:
    trace = CONFORMING["broadcast"]
    folder = logged(tmp_path / "in", trace)
    path = folder / f"{trace.header.topology.nodes[1].name}.log"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:3], "panic: out of memory", *lines[3:]]) + "\n")
    found = imported(tmp_path, "broadcast", folder, mapping=mapping(tmp_path, trace))
    assert [(kept["line"], kept["node"], kept["text"]) for kept in found.quarantined] == [
        (4, 1, "panic: out of memory")
    ]
    # Links are not FIFO: nobody's log tells what was lost.
    known = {kind: () if kind == "lost" else (0, 2) for kind in found.traces[0].header.complete}
    assert found.traces[0].header.complete == known
    assert not failed(found.traces[0])


def test_without_an_end_nothing_is_said_of_what_should_have_come(tmp_path: Path) -> None:
    trace = CONFORMING["broadcast"]
    text = mapping(tmp_path, trace).replace('ended = ["clean", "quiescent"]\n', "")
    found = imported(tmp_path, "broadcast", logged(tmp_path / "in", trace), mapping=text)
    assert "at the end of a run that settled" in inconclusive(found.traces[0])["BC-URB-VALID"]


def test_folders_of_logs_are_runs_by_their_names(tmp_path: Path) -> None:
    trace = CONFORMING["broadcast"]
    for name in ("b", "a"):
        logged(tmp_path / "in" / name, trace)
    found = imported(tmp_path, "broadcast", tmp_path / "in", mapping=mapping(tmp_path, trace))
    assert [(entry.run, Path(entry.source).name) for entry in found.entries] == [(0, "a"), (1, "b")]


def test_logs_of_json_lines_and_counted_submissions(tmp_path: Path) -> None:
    """One log of all nodes; payloads and times as people write them; what a recorder counts is counted."""
    trace = totalorder.conforming("pair", "A")
    trace_ndjson.write(tmp_path / "header.ndjson", Trace(trace.header, []))
    (tmp_path / "a.log").write_text(
        '{"ts":"1970-01-01T00:00:01.000000007Z","ev":"hand","at":"h0","dst":"h1","body":"x"}\n'
        '{"ts":"1970-01-01 01:00:02,5+01:00","ev":"hand","at":"h0","dst":"h1","body":"y"}\n'
        '{"ts":"1970-01-01T00:00:03","ev":"tx","at":"h0","out":"s0","dst":"h1","src":"h0"}\n'
        '{"ts":"1970-01-01T00:00:03","ev":"tx","at":"h0","out":"s0","dst":"h1","src":"h0","x":null}\n'
        '{"ts":"noon","ev":"tx","at":"h0","out":"s0"}\n'
        '{"ts":"1970-01-01T00:00:04","ev":"rx","at":"h1","src":"h0"}\n'
    )
    text = (
        'header = "header.ndjson"\n[columns]\ntime_ns = "ts"\nkind = "ev"\nnode = "at"\nreceiver = "dst"\n'
        'sender = "src"\npayload = "body"\nto = "out"\n[units]\ntime_ns = "iso8601"\n'
        '[kinds]\nhand = "submitted"\ntx = "sent"\n'
        'rx = "delivered"\n[constants]\npacket = "data"\n[files]\njson = true\n'
    )
    names = [node.name for node in trace.header.topology.nodes]
    text = text.replace('"s0"', f'"{names[2]}"')
    log = tmp_path / "a.log"
    log.write_text(log.read_text().replace('"h0"', f'"{names[0]}"').replace('"h1"', f'"{names[1]}"'))
    log.write_text(log.read_text().replace('"s0"', f'"{names[2]}"'))
    found = imported(tmp_path, "totalorder", log, mapping=text)
    (run,) = found.traces.values()
    seconds = [1, 2.5, 3, 3, 4]
    assert run.column("time_ns") == [int(second * 1_000_000_000) + 7 * (second == 1) for second in seconds]
    assert run.column("number")[:2] == run.column("scattering")[:2] == [1, 2]
    assert run.column("digest")[:2] == [digest_of(b"x"), digest_of(b"y")]
    assert run.column("link_seq") == [ABSENT, ABSENT, 0, 1, ABSENT]
    assert run.column("sender") == [0, 0, 0, 0, 0]  # of the first two nobody said so
    assert run.column("receiver") == [1, 1, 1, 1, 1]
    assert [kept["line"] for kept in found.quarantined] == [5]


BAD_MAPPINGS = {
    "no TOML": ("[", "mapping.toml: not TOML"),
    "unknown key": ("headr = 1", "unknown key 'headr'; remove it, or take one of header, ended"),
    "unknown column": ("[columns]\nwhen = 'ts'", "columns: 'when' is no trace column; take one of time_ns"),
    "unknown unit": ("[units]\ntime_ns = 'days'", "time_ns: unknown unit 'days'; take one of ns, us"),
    "unknown kind": ("[kinds]\nfoo = 'vanished'", "'foo' stands for unknown 'vanished'; take one of submitted"),
    "no expression": ("[[line]]\npattern = '('", "line 1: '\\(' is no regular expression"),
    "looking around": ("[[line]]\npattern = 'a(?=b)'", "is no regular expression: .*; write it for RE2"),
    "a group without a name": ("[[ignore]]\npattern = '(a|b)'", "contains unnamed groups; write it for RE2, with"),
    "a name twice": ("[[line]]\npattern = '(?P<digest>a)(?P<digest>b)'", "two groups have the same name"),
    "no group": ("[files]\nnode = 'x'", "'node' has no group named node; write"),
    "no pattern": ("[[line]]\n", "line 1: the key 'pattern' is missing; add it"),
    "an unknown node": ("[nodes]\nq = ['x']", "nodes: there is no node 'q'; the header has none"),
    "no header": ("header = 'gone.json'", "gone.json: no such header file"),
    "a header of nothing": ("[header]\niut = 'x'", "header: Object missing required field `topology`"),
    "unknown end": ("ended = ['soon']", "ended: unknown word 'soon'; take some of clean, quiescent"),
}


@pytest.mark.parametrize("bad", BAD_MAPPINGS)
def test_a_bad_mapping_is_one_sentence(tmp_path: Path, bad: str) -> None:
    text, sentence = BAD_MAPPINGS[bad]
    with pytest.raises(BadInput, match=sentence) as raised:
        imported(tmp_path, "totalorder", tmp_path, mapping=text)
    assert "\n" not in str(raised.value)


def test_bad_sources_are_one_sentence(tmp_path: Path) -> None:
    trace = CONFORMING["broadcast"]
    folder, text = logged(tmp_path / "in", trace), mapping(tmp_path, trace)
    (folder / "stranger.log").write_text("")
    with pytest.raises(BadInput, match=r"stranger.log: is of node 'stranger', which is not in the header; there are"):
        imported(tmp_path / "a", "broadcast", folder, mapping=text.replace("header.ndjson", "../header.ndjson"))
    with pytest.raises(BadInput, match=r"gone: no such file or folder"):
        imported(tmp_path / "b", "broadcast", tmp_path / "gone")
    (tmp_path / "x.doc").write_text("")
    with pytest.raises(BadInput, match=r"x.doc: what it holds is not known by its name; end it with one of .ndjson"):
        imported(tmp_path / "c", "broadcast", tmp_path / "x.doc")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"empty: nothing to import; give traces"):
        imported(tmp_path / "d", "broadcast", tmp_path / "empty")


@given(st.lists(st.integers(0, 40)))
def test_numbers_are_a_set(added: list[int]) -> None:
    numbers = Numbers()
    for number in added:
        numbers.add(number)
    assert [number in numbers for number in range(-1, 42)] == [number in set(added) for number in range(-1, 42)]
    assert numbers.last == max(added, default=-1)


def test_logs_that_contradict_each_other_are_merged_all_the_same(tmp_path: Path) -> None:
    """Two nodes each took the other's packet before they sent theirs."""
    logs = [
        [_row(0, Kind.ARRIVED, 1, 5), _row(0, Kind.SENT, 0, 6)],
        [_row(1, Kind.ARRIVED, 0, 4), _row(1, Kind.SENT, 1, 7)],
    ]
    merge = merge_of(tmp_path, logs)
    assert sorted(merge.rows()) == sorted(logs[0] + logs[1])
    assert merge.contradictory


def test_at_one_time_calls_and_submissions_come_first(tmp_path: Path) -> None:
    """Else something would be handed out ahead of its put, by a clock that is too coarse for both."""
    begins = [_row(1, Kind.CALLED, ABSENT, 5), _row(2, Kind.SUBMITTED, ABSENT, 5)]
    given = [_row(0, Kind.CALLED, ABSENT, 4), _row(0, Kind.DELIVERED, ABSENT, 5)]
    merge = merge_of(tmp_path, [given, begins[:1], begins[1:]])
    assert list(merge.rows()) == [given[0], *begins, given[1]]


def _row(node: int, kind: Kind, link: int, time_ns: int) -> Row:
    known = {"time_ns": time_ns, "node": node, "kind": int(kind), "link": link, "link_seq": 0}
    return tuple(known.get(name, ABSENT) for name in schema("broadcast").columns)


def merge_of(folder: Path, logs: list[list[Row]]) -> Merge:
    names = schema("broadcast")
    links, nodes = Links(names), []
    for number, rows in enumerate(logs):
        nodes.append(NodeRows(folder / str(number), names))
        for one in rows:
            nodes[-1].add(one)
            links.note(one)
    return Merge(nodes, names, links, lambda link: True)


def test_the_example_has_a_row_that_cannot_be_read_and_a_run_out_of_order(tmp_path: Path) -> None:
    example = Path(str(scatterproof.spark.totalorder.__file__)).parent / "example"
    found = imported(tmp_path, "totalorder", example / "logs", mapping=(example / "mapping.toml").read_text())
    assert [(Path(kept["file"]).name, kept["line"], kept["text"]) for kept in found.quarantined] == [
        ("anna.log", 4, "panic: disk full")
    ]
    assert [Path(entry.source).name for entry in found.entries] == ["monday", "tuesday"]
    assert "TO-ORDER" in inconclusive(found.traces[0])
    assert failed(found.traces[1]) == {"TO-ORDER"}
