"""Corpora for Spark against fuzzing: neither draws what the other has never heard of."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import islice

import pytest

from fuzz.corpus import drawn_schedules
from spark.configurations import draw_run
from spark.kinds import kinds_of
from spec import clauses
from spec.schedule import Schedule

ENOUGH = 400
WITH_CORPORA = [protocol for protocol in clauses.protocols() if find_spec(f"spark.{protocol}") is not None]


def settings_of(schedules: list[Schedule]) -> set[tuple[str, str]]:
    """Each environment with each parameter that was drawn there."""
    return {(str(schedule.parameters["environment"]), name) for schedule in schedules for name in schedule.parameters}


@pytest.mark.parametrize("protocol", WITH_CORPORA)
def test_corpora_have_what_fuzzing_draws(protocol: str) -> None:
    fuzzed = settings_of(list(islice(drawn_schedules(protocol, 1), ENOUGH)))
    mined = settings_of([draw_run(protocol, 1, run).schedule for run in range(8 * len(kinds_of(protocol)))])
    assert len(fuzzed) > 1
    assert fuzzed <= mined
