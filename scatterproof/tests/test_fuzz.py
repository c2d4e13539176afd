"""`fuzz --master` as users meet it: what Spark tasks find is what is found without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fuzz.spread import fuzz_spread
from scatterproof import iuts
from scatterproof.tests.test_console import Console
from scatterproof.tests.test_console import console as console  # a fixture
from spec import schedule as schedules

IUT = "mutant:precedence/drop-sender"


def in_turn(items: Sequence[Any], work: Callable[[Any], Any], **_: Any) -> Sequence[Any]:
    return [work(item) for item in items]


@pytest.mark.slow
def test_spark_tasks_find_what_is_found_in_turn(console: Console, tmp_path: Path) -> None:
    alone = fuzz_spread(
        "totalorder",
        partial(iuts.find, IUT, "totalorder", tmp_path),
        in_turn,
        examples=12,
        seed=1,
        folder=tmp_path / "alone",
        per_clause=1,
    )
    assert alone.failures
    results = ("--results", str(tmp_path / "results"))
    words = ("--protocol", "totalorder", "--iut", IUT, "--examples", "12", "--per-clause", "1", *results)
    code, told = console.json("fuzz", *words, "--master", "local[1]")
    assert code == 1
    assert (told["rows"], told["at_stake"], told["failing"]) == (alone.rows, alone.at_stake, alone.failing)
    assert [Path(one["file"]).name for one in told["failures"]] == [Path(one.file).name for one in alone.failures]
    assert [schedules.read(Path(one["file"])) for one in told["failures"]] == [one.schedule for one in alone.failures]
    assert console("replay", told["failures"][0]["file"], "--iut", IUT, *results)[0] == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--mutants", "--master", "local"), "--mutants is tried on this machine alone; leave --master out"),
        (("--master", "there"), "--master is 'there'; give local[*] or local[N]"),
        (("--master", "local", "--iut", "mutant:none"), "--iut mutant:none is unknown"),
    ],
)
def test_what_cannot_be_is_one_sentence_before_spark_starts(
    console: Console, words: tuple[str, ...], sentence: str
) -> None:
    code, _, said = console("fuzz", *words)
    assert code == 2
    assert f"scatterproof: {sentence}" in said
