"""No check reaches outside of its arrays and tables, whatever the rows are that may be judged: labelled, damaged or
drawn, or refused by a premise, as checks look at these like any others."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from scatterproof.conformance.judge import refuse
from scatterproof.conformance.protocol import load as judges_of
from scatterproof.conformance.tests.strict import strict_monitor
from scatterproof.fuzz.damages import damaged, draw_edit, kept, labelled
from scatterproof.fuzz.protocol import load
from scatterproof.spec.clauses import protocols
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import Trace

HISTORIES, EACH_DAMAGED = 500, 4


def traces(protocol: str) -> Iterator[tuple[str, Trace]]:
    yield from labelled(protocol).items()
    yield from kept(protocol)
    history = load(protocol).history
    assert history is not None
    for number in range(HISTORIES):
        yield f"history {number}", history(number)
    for title, trace in labelled(protocol).items():
        draw = Random(title)
        for _ in range(EACH_DAMAGED):
            how = draw_edit(trace, draw)
            yield f"{title}: {how}", damaged(trace, how)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", sorted(protocols()))
def test_no_check_reaches_outside_of_its_tables(protocol: str) -> None:
    judged = 0
    for title, trace in traces(protocol):
        try:
            refuse(trace)
            judges_of(protocol).surroundings(trace.header)
        except BadInput:
            continue
        observe = strict_monitor(trace.header)
        for position, row in enumerate(trace.rows):
            try:
                observe(position, row)
            except AssertionError as error:
                pytest.fail(f"{title}, row {position}: {error}")
        judged += 1
    assert judged > HISTORIES
