"""Recall and precision are counted clause by clause, and an alarm too many or too few is always seen."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from scatterproof.spark.judge_part import MOST_KEPT
from scatterproof.spark.layout import Expected, Manifest, RunEntry, write_manifest
from scatterproof.spark.recall import Recall, recall

Violation = tuple[str, int, int]  # clause, run, position

MANY = MOST_KEPT + 7
EXPECTED = {
    2: ("wrong/most", (Expected("X-1", 2, 10), Expected("X-2", 1, 12))),
    5: ("wrong/most", (Expected("X-1", 1, 4),)),
    7: ("row/X-3", (Expected("X-3", 1, 9),)),
    8: ("wrong/always", (Expected("X-1", MANY, 0),)),
}
FOUND: list[Violation] = [
    *(("X-1", 2, 10), ("X-2", 2, 12), ("X-1", 2, 30)),
    ("X-1", 5, 4),
    ("X-3", 7, 9),
    *(("X-1", 8, position) for position in range(MOST_KEPT)),
]


def entry(run: int, planted: str = "", expected: tuple[Expected, ...] = ()) -> RunEntry:
    return RunEntry(
        run=run,
        seed=run,
        family="star",
        hosts=2,
        switches=1,
        links=4,
        parameters={},
        submissions=1,
        events=MANY,
        file=0,
        planted=planted,
        expected=expected,
    )


def table(found: list[Violation]) -> pa.Table:
    clauses, runs, positions = zip(*found, strict=True) if found else ((), (), ())
    return pa.table(
        {
            "clause": pa.array(clauses, pa.string()),
            "run": pa.array(runs, pa.int64()),
            "position": pa.array(positions, pa.int64()),
        }
    )


def written(corpus: Path, entries: list[RunEntry]) -> Path:
    manifest = Manifest(protocol="any", seed=1, files=1, events=len(entries) * MANY, runs=tuple(entries))
    write_manifest(corpus, manifest)
    return corpus


def compared(corpus: Path, found: list[Violation]) -> Recall:
    made = recall(written(corpus, [entry(run, *EXPECTED.get(run, ())) for run in range(9)]), [table(found)])
    assert made is not None
    return made


def test_all_that_was_planted_and_nothing_else_is_exact(tmp_path: Path) -> None:
    made = compared(tmp_path, FOUND)
    assert made.exact
    assert [(one.name, one.runs, one.found, one.recall, one.precision) for one in made.plants] == [
        ("row/X-3", 1, 1, 1.0, 1.0),
        ("wrong/always", 1, 1, 1.0, 1.0),
        ("wrong/most", 2, 2, 1.0, 1.0),
    ]
    assert str(made) == "planted: 4 runs, 4 found under the right clauses; nothing elsewhere"


def test_a_clause_that_is_missed_lowers_recall(tmp_path: Path) -> None:
    made = compared(tmp_path, [one for one in FOUND if one[0] != "X-2"])
    (most,) = (one for one in made.plants if one.name == "wrong/most")
    assert not made.exact
    assert (most.found, most.missed, most.clauses_expected, most.clauses_found) == (1, (2,), 3, 2)
    assert (most.recall, most.precision) == (2 / 3, 1.0)
    assert str(made).startswith("planted: 4 runs, 3 found under the right clauses; 1 not, or not wholly: run 2;")


def test_a_run_in_which_nothing_is_found_is_missed(tmp_path: Path) -> None:
    made = compared(tmp_path, [])
    assert [one.missed for one in made.plants] == [(7,), (8,), (2, 5)]
    assert {one.recall for one in made.plants} == {0.0}
    assert not made.exact


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param([*FOUND, ("X-9", 7, 9)], id="another clause, too"),
        pytest.param([*FOUND, ("X-3", 7, 11)], id="the same clause at another row, too"),
        pytest.param([one if one[1] != 7 else ("X-3", 7, 8) for one in FOUND], id="at another row"),
        pytest.param([one if one[1] != 7 else ("X-4", 7, 9) for one in FOUND], id="under another clause"),
    ],
)
def test_what_should_not_be_found_in_a_planted_run_lowers_precision(tmp_path: Path, wrong: list[Violation]) -> None:
    made = compared(tmp_path, wrong)
    (row,) = (one for one in made.plants if one.name == "row/X-3")
    assert not made.exact
    assert row.clauses_wrong == 1
    assert row.precision < 1
    assert "1 clauses in them that hold there" in str(made)


def test_an_alarm_in_another_run_is_told(tmp_path: Path) -> None:
    made = compared(tmp_path, [*FOUND, ("X-1", 3, 0)])
    assert not made.exact
    assert made.elsewhere == (3,)
    assert all(one.precision == one.recall == 1 for one in made.plants)
    assert str(made).endswith("; run 3 elsewhere")


def test_a_corpus_without_labels_has_no_recall(tmp_path: Path) -> None:
    assert recall(tmp_path / "none", [table(FOUND)]) is None
    assert recall(written(tmp_path, [entry(0), entry(1)]), [table([])]) is None
    assert recall(written(tmp_path, [entry(0), entry(1, "by hand")]), [table([("X-1", 1, 0)])]) is None


def test_runs_that_nobody_has_labelled_count_neither_way(tmp_path: Path) -> None:
    entries = [entry(0), entry(1, "by hand"), entry(7, *EXPECTED[7])]
    made = recall(written(tmp_path, entries), [table([("X-1", 1, 0)]), table([("X-3", 7, 9)])])
    assert made is not None
    assert made.exact
