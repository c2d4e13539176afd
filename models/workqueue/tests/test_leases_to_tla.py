"""TLC on small runs of a queue with leases: what is left to a store, and what no labelled trace has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from scatterproof.models.trace_validation import Judgement, Validation, uncovered, validate_all
from scatterproof.spec.core import Outcome
from scatterproof.spec.topology import Link, Node, Role, Topology
from scatterproof.spec.trace import ABSENT, Header, Kind, Order, Row, Trace, schema

pytestmark = pytest.mark.slow  # one TLC reads them all

NAMES = schema("workqueue")
SERVED = Topology(
    (Node("h0", Role.HOST), Node("c1", Role.CLIENT), Node("c2", Role.CLIENT)),
    (Link(1, 0), Link(0, 1), Link(2, 0), Link(0, 2)),
)
LEASE_NS, WINDOW_NS = 100, 1000
OK, REFUSED, UNKNOWN = Outcome.OK, Outcome.REFUSED, Outcome.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Did:
    """A call in the box [from_ns, from_ns + 10]. gets: numbers of the messages of client 1 that it is given, each with
    a receipt of its own, or with `receipt`. crashes: ends by a crash."""

    from_ns: int
    client: int
    call: str
    outcome: Outcome = OK
    dedup: int = 0
    gets: Sequence[int] = ()
    receipt: int | None = None
    crashes: bool = False


def put(from_ns: int, outcome: Outcome = OK, dedup: int = 0) -> Did:
    return Did(from_ns=from_ns, client=1, call="put_message", outcome=outcome, dedup=dedup)


def receive(
    from_ns: int, *gets: int, client: int = 2, outcome: Outcome = OK, receipt: int | None = None, crashes: bool = False
) -> Did:
    return Did(
        from_ns=from_ns,
        client=client,
        call="receive",
        outcome=outcome,
        gets=gets,
        receipt=receipt,
        crashes=crashes,
    )


def delete(from_ns: int, outcome: Outcome = OK, client: int = 2) -> Did:
    return Did(from_ns=from_ns, client=client, call="delete", outcome=outcome)


def trace_of(calls: Sequence[Did]) -> Trace:
    rows: list[dict[str, int]] = []
    made = {1: 0, 2: 0}
    for one in calls:
        made[one.client] += 1
        about = {"node": one.client, "call": NAMES.calls[one.call], "operation": made[one.client]}
        given = {"group": 1, "dedup": one.dedup, "most": 1, "lease_ns": LEASE_NS, "newest": 0}
        rows.append({"time_ns": one.from_ns, "kind": Kind.CALLED, **about, **given})
        over = {"time_ns": one.from_ns + 10, "node": one.client}
        for number in one.gets:
            receipt = len(rows) if one.receipt is None else one.receipt
            rows.append({**over, "kind": Kind.DELIVERED, "sender": 1, "number": number, "receipt": receipt})
        if one.crashes:
            rows += [{**over, "kind": Kind.CRASHED}, {**over, "kind": Kind.RESTARTED}]
        else:
            rows.append({**over, "kind": Kind.RETURNED, **about, "outcome": int(one.outcome)})
    header = Header(
        protocol="workqueue",
        topology=SERVED,
        parameters={"leased": 1, "window_ns": WINDOW_NS},
        complete={"called": (1, 2), "returned": (1, 2), "delivered": (1, 2)},
        order=Order.LINK,
    )
    return Trace(header, [_row(row) for row in rows])


def _row(values: dict[str, int]) -> Row:
    return tuple(int(values.get(name, ABSENT)) for name in NAMES.columns)


ACCEPTED: dict[str, list[Did]] = {
    "a put of unknown outcome was taken": [put(0, UNKNOWN), receive(20, 1)],
    "a put of unknown outcome was not": [put(0, UNKNOWN), receive(20)],
    "a put is refused, which is no copy": [put(0, REFUSED), receive(20)],
    "a late delete is carried out": [put(0), receive(20, 1), delete(200), receive(220)],
    "a late delete is not": [put(0), receive(20, 1), delete(200), receive(220, 1)],
    "a late delete is refused": [put(0), receive(20, 1), delete(200, REFUSED), receive(220, 1)],
    "a delete of unknown outcome was carried out": [put(0), receive(20, 1), delete(40, UNKNOWN), receive(220)],
    "or was not": [put(0), receive(20, 1), delete(40, UNKNOWN), receive(220, 1)],
    "who begins anew has nothing in hand": [
        *(put(0), receive(20, 1), receive(40, crashes=True), delete(60, REFUSED), receive(220, 1)),
    ],
    "nobody hears what is hidden": [put(0), receive(20, outcome=UNKNOWN), receive(40)],
    "a window may be over, or not": [*(put(0, dedup=7), receive(20, 1), delete(40), put(1000, dedup=7), receive(1020))],
    "and then the next is none": [*(put(0, dedup=7), receive(20, 1), delete(40), put(1000, dedup=7), receive(1020, 2))],
    "a put that was refused made nothing a copy": [put(0, REFUSED, 7), put(20, dedup=7), receive(40, 2)],
}  # fmt: skip
REJECTED: dict[str, tuple[list[Did], int, str]] = {
    "nobody put it": ([put(0), receive(20, 2)], 3, "HandedOutAsPut"),
    "its put was refused": ([put(0, REFUSED), receive(20, 1)], 3, "HandedOutAsPut"),
    "an old receipt comes again": (
        [put(0), receive(20, 1, receipt=1), receive(200, 1, receipt=2), receive(400, 1, receipt=1)],
        9,
        "EndedLeaseIsFenced",
    ),
    "it was deleted, and comes back": ([put(0), receive(20, 1), delete(40), receive(60, 1)], 8, "EndedLeaseIsFenced"),
    "it was not deleted, and is gone": (
        [put(0), receive(20, 1), delete(40, REFUSED)], 6, "EndedLeaseIsFenced",
    ),
    "one of two is hidden, and neither comes": (
        [put(0), receive(20, outcome=UNKNOWN), put(40), receive(60, 2)], 7, "ReturnsToItsPlace",
    ),
    "nothing comes": ([put(0), receive(20)], 3, "AvailableIsHandedOut"),
    "a copy comes in place of the first": (
        [put(0, dedup=7), put(20, dedup=7), receive(40, 2)], 5, "DuplicatesDeliverOnce",
    ),
    "a copy is refused": ([put(0, dedup=7), put(20, REFUSED, 7)], 3, "DuplicatesDeliverOnce"),
}  # fmt: skip


@pytest.fixture(scope="module")
def judged() -> dict[str, Validation]:
    runs = ACCEPTED | {name: calls for name, (calls, _, _) in REJECTED.items()}
    return dict(zip(runs, validate_all([trace_of(calls) for calls in runs.values()]), strict=True))


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_a_store_may_do_is_accepted(judged: dict[str, Validation], name: str) -> None:
    assert judged[name].judgement is Judgement.ACCEPTED, judged[name].reason


@pytest.mark.parametrize("name", REJECTED)
def test_what_it_may_not_do_is_rejected_in_its_row(judged: dict[str, Validation], name: str) -> None:
    _, position, broken = REJECTED[name]
    assert judged[name].position == position, judged[name].reason or "accepted"
    assert broken in judged[name].broken


def test_parts_are_an_action(judged: dict[str, Validation]) -> None:
    assert uncovered("workqueue", [judged["a late delete is not"]]) == ["GiveUp"]
