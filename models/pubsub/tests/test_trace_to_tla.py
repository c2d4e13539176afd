"""Runs that TracePubSub cannot read. What it says of others is compared with all other judges in
spark/tests/test_agreement.py and fuzz/tests/test_trace_validation.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from scatterproof.models import trace_validation
from scatterproof.models.pubsub.trace_to_tla import reader_of
from scatterproof.spec import trace_ndjson
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.trace import Order, Trace

LABELLED = Path(trace_validation.__file__).parents[1] / "conformance/traces/pubsub/conforming"
TRACE = trace_ndjson.read(LABELLED / "PS-ROUTE.one-copy.ndjson")
SHARED = LABELLED / "PS-ROUTE.plain-and-shared-bring-a-copy-each.ndjson"
COVER = trace_ndjson.read(LABELLED / "PS-COVER.ahead-of-the-withdrawal.ndjson")


def with_header(trace: Trace, **changed: object) -> Trace:
    return Trace(msgspec.structs.replace(trace.header, **changed), trace.rows)


def without(kind: str) -> dict[str, tuple[int, ...]]:
    return {name: nodes for name, nodes in TRACE.header.complete.items() if name != kind}


UNREAD: dict[str, tuple[Callable[[], Trace], str]] = {
    "nobody records calls": (lambda: with_header(TRACE, complete=without("called")), "called at each client"),
    "nobody records deliveries": (lambda: with_header(TRACE, complete=without("delivered")), "delivered at each"),
    "rows of nodes are in no order": (lambda: with_header(TRACE, order=Order.NODE), "in that of links"),
    "a call is made within another": (lambda: Trace(TRACE.header, [TRACE.rows[0], *TRACE.rows]), "row 1: no call"),
    "a subscription is shared": (lambda: trace_ndjson.read(SHARED), "row 2: a shared subscription"),
    "a call returns twice": (lambda: Trace(TRACE.header, [*TRACE.rows[:2], *TRACE.rows[1:]]), "row 2: a call returns"),
}


@pytest.mark.parametrize("flaw", UNREAD)
def test_what_the_module_does_not_describe_is_said(flaw: str) -> None:
    make, words = UNREAD[flaw]
    with pytest.raises(CannotRun, match=words):
        reader_of(make())


def test_packets_are_read_where_all_that_are_sent_are_recorded() -> None:
    assert '"want"' in reader_of(COVER).text
    assert '"want"' not in reader_of(with_header(COVER, complete=TRACE.header.complete)).text
