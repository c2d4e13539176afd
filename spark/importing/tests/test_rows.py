"""Rows of users' files name what there is, or are kept apart with the reason."""

from __future__ import annotations

import pytest

from scatterproof.conformance.tests.runs import WITHOUT_LOSS, conforming
from scatterproof.spark.importing.quarantine import Flaw
from scatterproof.spark.importing.rows import Event, Rows
from scatterproof.spark.mapping import no_mapping
from scatterproof.spec.trace import Domain, schema

HEADER = conforming(*WITHOUT_LOSS[0]).header
SENT: Event = {"kind": "sent", "node": HEADER.topology.links[0].source, "link": 0, "time_ns": 5}
REFUSED: Event = {"kind": "refused", "node": HEADER.topology.links[0].target, "link": 0, "time_ns": 5}


@pytest.mark.parametrize("column", schema("totalorder").naming(*set(Domain) - {Domain.NUMBER}))
@pytest.mark.parametrize("value", [-(1 << 63), -2, 99, (1 << 63) - 1])
@pytest.mark.parametrize("event", [SENT, REFUSED], ids=["sent", "refused"])
def test_a_row_that_names_nothing_is_kept_apart(event: Event, column: str, value: int) -> None:
    rows = Rows(no_mapping("totalorder"), HEADER)
    found = rows.make({**event, column: value})
    assert isinstance(found, Flaw)
    assert str(value) in found.reason
    assert not isinstance(rows.make(event), Flaw)
