"""Lines of output become rows, in pieces of any size, and what is no line is said to be none."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scatterproof.conformance.broadcast.programs import lines
from scatterproof.conformance.broadcast.programs.lines import BEGUN, DELIVERED, MALFORMED, Output

WORDS = st.text("bd 0123456789\r\tx-\x00\xff", max_size=12).map(lambda text: text.encode("latin-1"))
BLANKS = st.sampled_from([b" ", b"  ", b"\t", b" \r"])
LINES = st.one_of(
    WORDS,
    st.integers(0, 10**9).map(lambda number: b"b %d" % number),
    st.tuples(BLANKS, st.integers(0, 99), BLANKS, st.integers(0, 10**9)).map(lambda words: b"d%b%d%b%d" % words),
)


def read(path: Path) -> list[tuple[int, int, int, int]]:
    """Kind, sender, number and line of each row."""
    output = Output(path)
    found = [tuple(row[:4]) for rows in output.rows() for row in rows.tolist()]
    assert output.flaw == ""
    return found


def expected(content: bytes) -> list[tuple[int, int, int, int]]:
    """The same from the sentence: words b SEQ, or d SENDER SEQ, with blanks around and between them."""
    found = []
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        begun = re.fullmatch(rb"[ \t\r]*b[ \t\r]+(\d+)[ \t\r]*", line)
        delivered = re.fullmatch(rb"[ \t\r]*d[ \t\r]+(\d+)[ \t\r]+(\d+)[ \t\r]*", line)
        if begun:
            found.append((BEGUN, 0, int(begun[1]), number))
        elif delivered:
            found.append((DELIVERED, int(delivered[1]), int(delivered[2]), number))
        else:
            found.append((MALFORMED, 0, 0, number))
    return found


@given(parts=st.lists(LINES, max_size=20), last=WORDS, piece=st.integers(1, 40), room=st.integers(1, 5))
def test_rows_are_what_the_lines_say_however_they_are_cut(
    parts: list[bytes], last: bytes, piece: int, room: int
) -> None:
    content = b"".join(part.replace(b"\n", b"") + b"\n" for part in parts) + last.replace(b"\n", b"")
    state = np.zeros(6, dtype=np.int64)
    state[4] = 1
    rows = np.zeros((room, 5), dtype=np.int64)
    found = []
    for offset in range(0, len(content), piece):
        data = np.frombuffer(content[offset : offset + piece], dtype=np.uint8)
        place = 0
        while place < len(data):
            place, written = lines._parse(data, place, offset, state, rows)
            found += [tuple(row) for row in rows[:written].tolist()]

    assert [row[:4] if row[0] else (MALFORMED, 0, 0, row[3]) for row in found] == expected(content)
    starts = [0, *(place + 1 for place, byte in enumerate(content) if byte == 10)]
    assert [row[4] for row in found] == starts[: len(found)]


def test_what_grows_is_read_on_and_half_a_line_waits(tmp_path: Path) -> None:
    path = tmp_path / "output"
    path.write_bytes(b"b 1\nd 1")
    output = Output(path)
    assert [row.tolist() for rows in output.rows() for row in rows] == [[BEGUN, 0, 1, 1, 0]]
    assert output.rest == (2, 3)
    path.write_bytes(b"b 1\nd 1 7\n")
    assert [row.tolist() for rows in output.rows() for row in rows] == [[DELIVERED, 1, 7, 2, 4]]
    assert output.rest == (3, 0)


def test_numbers_of_any_length_are_read_and_no_workload_has_them(tmp_path: Path) -> None:
    long = b"9" * 100_000
    (tmp_path / "output").write_bytes(b"d 1 %b\nd %b 1\nd 1 2\n" % (long, long))
    first, second, third = read(tmp_path / "output")
    assert first[:2] == (DELIVERED, 1)
    assert first[2] > 1 << 33
    assert second[1] > 1 << 33
    assert third == (DELIVERED, 1, 2, 3)


def test_a_line_without_end_takes_no_memory_and_is_quoted_short(tmp_path: Path) -> None:
    path = tmp_path / "output"
    path.write_bytes(b"x" * 5_000_000 + b"\nb 1\n")
    assert [row[0] for row in read(path)] == [MALFORMED, BEGUN]
    assert Output(path).quote(0) == repr("x" * 60)


@pytest.mark.parametrize(
    ("make", "flaw"),
    [
        (lambda path: None, "was not written"),
        (lambda path: path.mkdir(), "is no regular file"),
        (lambda path: os.mkfifo(path), "is no regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "is no regular file"),
        (lambda path: path.symlink_to(path), "cannot be read: Too many levels of symbolic links"),
    ],
)
def test_what_is_no_file_is_never_waited_for(tmp_path: Path, make: object, flaw: str) -> None:
    path = tmp_path / "output"
    assert callable(make)
    make(path)
    output = Output(path)
    assert list(output.rows()) == []
    assert output.flaw == flaw


def test_a_file_that_becomes_shorter_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "output"
    path.write_bytes(b"b 1\nb 2\n")
    output = Output(path)
    assert sum(len(rows) for rows in output.rows()) == 2
    path.write_bytes(b"b 1\n")
    assert list(output.rows()) == []
    assert output.flaw == "became shorter while it was read"
