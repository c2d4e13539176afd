"""The published latencies as a file, and ours beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.figures.published import Published, read
from ci.figures.scale import HEADINGS, ScaleComparison, worst
from scatterproof.spec.errors import BadInput

HEADER = "processes\tbest_effort_chip_us\tbest_effort_host_us\n"


def test_every_published_row_is_read_and_the_host_is_slower_than_the_chip() -> None:
    rows = read()

    assert [row.processes for row in rows] == [2**n for n in range(1, 10)]
    assert all(row.host_us > row.chip_us for row in rows)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the columns are not processes, best_effort_chip_us"),
        ("# only a source\n", "the columns are not"),
        ("processes\tchip\thost\n2\t1\t1\n", "the columns are not"),
        (HEADER + "2\t4.1\n", "line 2 is not a whole number and two latencies"),
        (HEADER + "# why\n2\tfour\t5\n", "line 3 is not a whole number and two latencies"),
        (HEADER + "2\t0\t5\n", "line 2 has a number that is not above 0"),
    ],
)
def test_a_file_that_is_no_table_of_latencies_is_refused_with_its_line(
    tmp_path: Path, text: str, sentence: str
) -> None:
    path = tmp_path / "published.tsv"
    path.write_text(text)

    with pytest.raises(BadInput, match=sentence):
        read(path)


def test_errors_are_relative_to_the_published_figures_and_the_worst_may_be_below() -> None:
    rows = [
        ScaleComparison(published=Published(2, 4.0, 5.0), chip_us=5.0, host_us=4.0, unordered_us=2.0, idle_us=9.0),
        ScaleComparison(published=Published(4, 4.0, 5.0), chip_us=2.0, host_us=5.5, unordered_us=2.0, idle_us=9.0),
    ]

    assert rows[0].cells() == ("2", "4.00", "5.00", "+25%", "5.00", "4.00", "-20%", "2.00", "9.00")
    assert len(HEADINGS) == len(rows[0].cells())
    assert worst(rows) == "largest relative error: chip -50%, host -20%"
