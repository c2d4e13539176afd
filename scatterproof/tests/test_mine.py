"""A corpus with a bad file, as a user mines it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from scatterproof.commands.mine import exercised
from scatterproof.conformance.tests.runs import WITHOUT_LOSS, conforming
from scatterproof.console import BAD_INPUT, INCONCLUSIVE, VIOLATIONS
from scatterproof.spark.coverage import CoveragePart
from scatterproof.spark.layout import events_path, runs_path
from scatterproof.spark.report import NOT_MEASURED
from scatterproof.spec.trace import Kind, Trace, schema
from scatterproof.spec.trace_parquet import write_runs
from scatterproof.tests.test_console import Console, console

__all__ = ["console"]  # the fixture
NAMES = schema("totalorder")
KIND, SENDER = NAMES.index("kind"), NAMES.index("sender")


def write(corpus: Path, file: int, *, twice: bool = False, sender: int | None = None) -> None:
    """A run: as it should be, with a message that is delivered twice, or with such a sender in its row 3."""
    trace = conforming(*WITHOUT_LOSS[0])
    rows = list(trace.rows)
    if twice:
        at = next(at for at, row in enumerate(rows) if row[KIND] == Kind.DELIVERED)
        rows.insert(at, rows[at])
    if sender is not None:
        rows[3] = (*rows[3][:SENDER], sender, *rows[3][SENDER + 1 :])
    write_runs(
        events_path(corpus, file),
        runs_path(corpus, file),
        [Trace(msgspec.structs.replace(trace.header, run=file), rows)],
    )


def test_what_nobody_measures_is_not_said_to_be_nothing() -> None:
    assert exercised(CoveragePart({}, ())) == NOT_MEASURED
    assert exercised(CoveragePart({}, ("a", "b"))) == "0; never: a, b"
    assert exercised(CoveragePart({"a": 3}, ())) == "1"


@pytest.mark.parametrize(
    ("twice", "sender", "code"),
    [(False, None, INCONCLUSIVE), (False, 1 << 40, BAD_INPUT), (True, 1 << 40, VIOLATIONS)],
    ids=["nothing at stake for some clauses", "a bad file", "a bad file and a violation"],
)
def test_exit_code_tells_of_violations_then_of_files_left_out(
    twice: bool, sender: int | None, code: int, console: Console, tmp_path: Path
) -> None:
    write(tmp_path, 0, twice=twice)
    write(tmp_path, 1, sender=sender)
    ended, said, _ = console("mine", str(tmp_path))
    assert ended == code
    left_out = [line for line in said.splitlines() if line.startswith("left out: ")]
    if sender is None:
        assert left_out == []
    else:
        (sentence,) = left_out
        assert f"{events_path(tmp_path, 1)}: run 1: row 3 has sender {sender}; nodes are 0 to " in sentence
