"""NDJSON and CSV traces: sound rows come in as they are; others are kept, counted, and considered in verdicts."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from scatterproof.conformance.broadcast.tests import runs as broadcast
from scatterproof.conformance.judge import judge
from scatterproof.conformance.tests import runs as totalorder
from scatterproof.spark.importing.quarantine import TEXT_CHARACTERS
from scatterproof.spark.importing.tests.imported import Imported, failed, imported, inconclusive
from scatterproof.spec import trace_ndjson
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import ABSENT, Kind, Trace, schema

CONFORMING = {
    "totalorder": totalorder.conforming("star", "C"),
    "broadcast": broadcast.conforming("urb", "plain", 3),
}
PROTOCOLS = tuple(CONFORMING)


def lines_of(protocol: str) -> list[bytes]:
    return trace_ndjson.encode(CONFORMING[protocol]).splitlines()


def written(path: Path, lines: list[bytes]) -> Path:
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def row_of(protocol: str, kind: Kind) -> int:
    """The place of the first such row."""
    return CONFORMING[protocol].column("kind").index(kind)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_sound_traces_come_in_as_they_are(tmp_path: Path, protocol: str) -> None:
    for number in range(3):
        written(tmp_path / f"{number}.ndjson", lines_of(protocol))
    found = imported(tmp_path, protocol, tmp_path)
    assert not found.quarantined
    for run, trace in found.traces.items():
        assert trace.header.run == run
        assert trace.rows == CONFORMING[protocol].rows
        assert trace.header.complete == CONFORMING[protocol].header.complete
    assert [(entry.run, entry.events, entry.kind) for entry in found.entries] == [
        (run, len(CONFORMING[protocol].rows), "ndjson") for run in range(3)
    ]


# What is done to a line: the damage, the reason, and whether the row's node and kind are still known.
DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str, bool, bool]] = {
    "cut off": (lambda line: line[: len(line) // 2], "not a JSON object", False, False),
    "no object": (lambda line: b"[1, 2]", "not a JSON object", False, False),
    "strange bytes": (lambda line: b"\xff\x00" + line, "not a JSON object", False, False),
    "another kind": (lambda line: line.replace(b'"kind":"', b'"kind":"un'), "unknown kind", True, False),
    "no such node": (lambda line: line.replace(b'"node":', b'"node":77'), "node is no node", False, False),
    "a text for a number": (lambda line: line.replace(b'"digest":', b'"digest":"x","y":'), "digest is no", True, True),
    "a number too long": (
        lambda line: line.replace(b'"digest":', b'"digest":9' + b"9" * 30),
        "digest is no",
        True,
        True,
    ),
    "half a number": (lambda line: line.replace(b'"digest":', b'"digest":0.5,"y":'), "digest is no", True, True),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_bad_row_is_kept_and_leaves_what_it_touches_inconclusive(tmp_path: Path, protocol: str, damage: str) -> None:
    spoil, reason, node_known, kind_known = DAMAGES[damage]
    lines, at = lines_of(protocol), row_of(protocol, Kind.DELIVERED)
    node = CONFORMING[protocol].column("node")[at]
    spoilt = spoil(lines[at + 1])
    found = imported(tmp_path, protocol, written(tmp_path / "a.ndjson", [*lines[: at + 1], spoilt, *lines[at + 2 :]]))
    (kept,) = found.quarantined
    assert (kept["run"], kept["file"], kept["line"]) == (0, str(tmp_path / "a.ndjson"), at + 2)
    assert kept["node"] == (node if node_known else ABSENT)
    assert next(iter(found.made.reasons.items()))[0].startswith(reason)
    assert kept["text"] == spoilt.decode("utf-8", "backslashreplace")[:TEXT_CHARACTERS]
    trace = found.traces[0]
    assert trace.rows == [row for place, row in enumerate(CONFORMING[protocol].rows) if place != at]
    hosts = set(CONFORMING[protocol].header.complete["delivered"])
    touched = {node} if node_known else hosts
    assert set(trace.header.complete["delivered"]) == hosts - touched
    assert set(trace.header.complete["arrived"]) == (hosts if kind_known else hosts - touched)
    assert found.entries[0].quarantined == 1
    assert "1 rows could not be read" in trace.header.notes[-1]
    # A delivery is missing: no clause that reads deliveries may say pass, or fail.
    undecided = inconclusive(trace)
    assert {"totalorder": "TO-COMPLETE", "broadcast": "BC-URB-VALID"}[protocol] in undecided
    assert not failed(trace)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_lost_submission_refuses_nothing(tmp_path: Path, protocol: str) -> None:
    """The numbers of those behind it have a gap, which a complete trace would be refused for."""
    lines, at = lines_of(protocol), row_of(protocol, Kind.SUBMITTED)
    without = Trace(
        CONFORMING[protocol].header, [*CONFORMING[protocol].rows[:at], *CONFORMING[protocol].rows[at + 1 :]]
    )
    with pytest.raises(BadInput, match="is the next of"):
        judge(without)
    found = imported(tmp_path, protocol, written(tmp_path / "a.ndjson", [*lines[: at + 1], b"?", *lines[at + 2 :]]))
    assert not failed(found.traces[0])
    assert inconclusive(found.traces[0])


def test_rows_behind_the_end_are_kept(tmp_path: Path) -> None:
    lines = lines_of("totalorder")
    found = imported(tmp_path, "totalorder", written(tmp_path / "a.ndjson", [*lines, lines[1]]))
    (kept,) = found.quarantined
    assert (kept["line"], kept["reason"]) == (len(lines) + 1, "it comes after the row 'ended'")


def test_a_file_without_a_header_is_in_quarantine_and_the_others_come_in(tmp_path: Path) -> None:
    written(tmp_path / "a.ndjson", lines_of("totalorder")[1:])
    written(tmp_path / "b.ndjson", lines_of("broadcast"))
    written(tmp_path / "c.ndjson", lines_of("totalorder"))
    (tmp_path / "d.ndjson").write_bytes(b"")
    found = imported(tmp_path, "totalorder", tmp_path)
    assert list(found.traces) == [2]
    assert set(found.traces[2].header.complete["sent"]) == set(CONFORMING["totalorder"].header.complete["sent"])
    assert [(kept["run"], kept["line"]) for kept in found.quarantined] == [(-1, 1)] * 3
    assert "is of protocol 'broadcast'" in found.quarantined[1]["reason"]


def as_csv(protocol: str, runs: list[int], names: dict[str, str] | None = None) -> str:
    """The same run under several numbers; absent values are empty cells. names: a column's name, by ours."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    columns = schema(protocol).columns
    table.writerow(["run", *((names or {}).get(column, column) for column in columns)])
    for run in runs:
        for row in CONFORMING[protocol].rows:
            table.writerow([run, *("" if value == ABSENT else value for value in row)])
    return text.getvalue()


def with_header(tmp_path: Path, protocol: str, more: str = "") -> str:
    """The text of a mapping that names a header of its own."""
    written(tmp_path / "header.ndjson", lines_of(protocol)[:1])
    return 'header = "header.ndjson"\n' + more


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_csv_gives_the_same_rows(tmp_path: Path, protocol: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text(as_csv(protocol, [7, 3], {"time_ns": "when", "sender": "who"}))
    mapping = with_header(tmp_path, protocol, '[columns]\ntime_ns = "when"\nsender = "who"\n')
    found = imported(tmp_path, protocol, tmp_path / "in", mapping=mapping)
    assert not found.quarantined
    assert list(found.traces) == [7, 3]
    assert found.traces[7].rows == found.traces[3].rows == CONFORMING[protocol].rows


def test_bad_csv_rows_are_kept_with_their_lines(tmp_path: Path) -> None:
    lines = as_csv("totalorder", [0, 1]).splitlines()
    draw, count = Random(3), len(CONFORMING["totalorder"].rows)
    bad = [*sorted(draw.sample(range(1, count), 3)), count + 5, len(lines) - 2]
    texts = [lines[bad[0]] + ",1", '"unclosed', "x" + lines[bad[2]], lines[bad[3]][:4], lines[bad[4]].replace(",", ";")]
    for at, text in zip(bad, texts, strict=True):
        lines[at] = text
    (tmp_path / "a.csv").write_text("\n".join(lines))
    found = imported(tmp_path, "totalorder", tmp_path / "a.csv", mapping=with_header(tmp_path, "totalorder"))
    assert [kept["line"] for kept in found.quarantined] == [at + 1 for at in bad]
    assert [kept["text"] for kept in found.quarantined] == [text[:TEXT_CHARACTERS] for text in texts]
    assert sum(len(trace.rows) for trace in found.traces.values()) == 2 * count - len(bad)
    # A row whose run is unknown may be of the run before it, or of the one behind it.
    assert not any(found.traces[run].header.complete["sent"] for run in (0, 1))


BAD_CSV: dict[str, tuple[Callable[[str], str], str]] = {
    "no column": (lambda text: text.replace("time_ns", "when", 1), "a.csv: line 1: column time_ns is missing; there"),
    "runs mixed": (lambda text: text + text.split("\n", 1)[1], "run 0 comes again after another; sort the file by run"),
    "empty": (lambda text: "", "line 1: column kind is missing; there are none"),
}


@pytest.mark.parametrize("bad", BAD_CSV)
def test_a_csv_of_which_nothing_can_be_read_is_one_sentence(tmp_path: Path, bad: str) -> None:
    spoil, sentence = BAD_CSV[bad]
    (tmp_path / "a.csv").write_text(spoil(as_csv("totalorder", [0, 1])))
    with pytest.raises(BadInput, match=sentence):
        imported(tmp_path, "totalorder", tmp_path / "a.csv", mapping=with_header(tmp_path, "totalorder"))


def counted(found: Imported) -> int:
    return sum(entry.events for entry in found.entries) + len(found.quarantined)


def test_nothing_vanishes_whatever_bytes_come(tmp_path: Path) -> None:
    draw = Random(11)
    for number in range(30):
        lines = lines_of("broadcast")[:60]
        for _ in range(4):
            at = draw.randrange(1, len(lines))
            line = bytearray(lines[at])
            line[draw.randrange(len(line))] = draw.choice(b'\x00"{}9,\xff-')
            lines[at] = bytes(line)
        written(tmp_path / f"{number}.ndjson", lines)
    found = imported(tmp_path, "broadcast", tmp_path)
    assert len(found.traces) == 30
    assert counted(found) == 30 * 59
    for trace in found.traces.values():
        judge(trace)


def test_a_row_between_two_runs_may_be_of_either(tmp_path: Path) -> None:
    lines = as_csv("totalorder", [0, 1, 2]).splitlines()
    lines[1 + len(CONFORMING["totalorder"].rows)] = "?"
    (tmp_path / "a.csv").write_text("\n".join(lines))
    found = imported(tmp_path, "totalorder", tmp_path / "a.csv", mapping=with_header(tmp_path, "totalorder"))
    assert [bool(found.traces[run].header.complete["sent"]) for run in range(3)] == [False, False, True]
