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


def settings_of(protocol: str, schedules: list[Schedule]) -> set[tuple[str, str]]:
    """Each environment of the catalogue with each parameter, fault and failure that was drawn there."""
    known = tuple(clauses.load(protocol).environments)
    found: set[tuple[str, str]] = set()
    for schedule in schedules:
        faults, failures = ({str(one.kind) for one in several} for several in (schedule.faults, schedule.failures))
        # An environment of the catalogue may have several structures: D5, D6.
        here = [text for text in map(str, schedule.parameters.values()) if text.startswith(known)]
        found |= {(text, what) for text in here for what in faults | failures | set(schedule.parameters)}
    return found


@pytest.mark.parametrize("protocol", WITH_CORPORA)
def test_corpora_have_what_fuzzing_draws(protocol: str) -> None:
    fuzzed = settings_of(protocol, list(islice(drawn_schedules(protocol, 1), ENOUGH)))
    mined = settings_of(protocol, [draw_run(protocol, 1, run).schedule for run in range(8 * len(kinds_of(protocol)))])
    assert len(fuzzed) > 1
    assert fuzzed <= mined
