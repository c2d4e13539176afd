"""Recorded calls in the order in which TLC reads them, and what is written of each."""

from __future__ import annotations

import re

import pytest

from scatterproof.models.calls_to_tla import CallWords, Columns, reader_of_calls
from scatterproof.spec.clauses import protocols
from scatterproof.spec.core import Outcome
from scatterproof.spec.errors import CannotRun
from scatterproof.spec.topology import Link, Node, Role, Topology
from scatterproof.spec.trace import ABSENT, Header, Kind, Order, Row, Trace, schema

PROTOCOL = next(protocol for protocol in protocols() if schema(protocol).calls)
NAMES = schema(PROTOCOL)
FIRST, SECOND = list(NAMES.calls)[:2]
SERVED = Topology(
    (Node("h0", Role.HOST), Node("c1", Role.CLIENT), Node("c2", Role.CLIENT)),
    (Link(1, 0), Link(0, 1), Link(2, 0), Link(0, 2)),
)


def row(time_ns: int, kind: Kind, node: int, call: str | None = None, outcome: int = ABSENT, **more: int) -> Row:
    said = {"time_ns": time_ns, "kind": int(kind), "node": node, "outcome": outcome, **more}
    said |= {} if call is None else {"call": NAMES.calls[call]}
    return tuple(said.get(name, ABSENT) for name in NAMES.columns)


def called(time_ns: int, node: int, call: str = FIRST) -> Row:
    return row(time_ns, Kind.CALLED, node, call)


def returned(time_ns: int, node: int, call: str = FIRST, outcome: Outcome = Outcome.OK) -> Row:
    return row(time_ns, Kind.RETURNED, node, call, int(outcome))


def trace_of(*rows: Row, order: Order = Order.GLOBAL) -> Trace:
    header = Header(
        protocol=PROTOCOL, topology=SERVED, parameters={}, complete={"called": (1, 2), "returned": (1, 2)}, order=order
    )
    return Trace(header, list(rows))


def read(*rows: Row, order: Order = Order.GLOBAL, words: CallWords | None = None) -> list[str]:
    """The tuples of the reader, without what is not the kind of row, the client or the call."""
    text = reader_of_calls(trace_of(*rows, order=order), "M", "M.cfg", words).text
    return re.findall(r"<<(\"\w+\", \d.*?)>>", text)


def test_a_call_and_its_end_are_their_names() -> None:
    assert read(called(0, 1), returned(5, 1, outcome=Outcome.REFUSED)) == [
        f'"called", 1, "{FIRST}"',
        '"returned", 1, "refused"',
    ]


def test_calls_at_the_moment_of_another_client_s_return_come_ahead_of_it() -> None:
    told = read(called(0, 1), returned(5, 1), called(5, 2), returned(9, 2))
    assert [one[:11] for one in told] == ['"called", 1', '"called", 2', '"returned",', '"returned",']


def test_a_client_that_returns_and_calls_again_at_one_moment_keeps_its_order() -> None:
    told = read(called(0, 1), returned(5, 1), called(5, 1, SECOND), returned(9, 1, SECOND))
    assert told == [f'"called", 1, "{FIRST}"', '"returned", 1, "ok"', f'"called", 1, "{SECOND}"', '"returned", 1, "ok"']


def test_one_that_returns_and_calls_again_is_between_the_calls_and_the_returns_of_the_others() -> None:
    told = read(
        called(0, 1), called(0, 2), returned(5, 2), returned(5, 1), called(5, 1, SECOND), returned(9, 1, SECOND)
    )
    assert [one.split(", ")[:2] for one in told[2:]] == [
        ['"returned"', "1"],
        ['"called"', "1"],
        ['"returned"', "2"],
        ['"returned"', "1"],
    ]


BOTH_AGAIN = (
    *(called(0, client) for client in (1, 2)),
    *(one for client in (1, 2) for one in (returned(5, client), called(5, client, SECOND))),
    *(returned(9, client, SECOND) for client in (1, 2)),
)


def test_where_two_return_and_call_again_at_one_moment_the_order_of_the_whole_run_is_read() -> None:
    assert [one.split(", ")[:2] for one in read(*BOTH_AGAIN)[2:6]] == [
        ['"returned"', "1"],
        ['"called"', "1"],
        ['"returned"', "2"],
        ['"called"', "2"],
    ]


def test_without_that_order_such_a_run_is_not_read() -> None:
    with pytest.raises(CannotRun, match="two clients return and call again at 5 ns, in no known order"):
        read(*BOTH_AGAIN, order=Order.NODE)


def test_an_unknown_end_is_a_row_of_its_own_and_so_is_that_of_a_client_that_fails() -> None:
    lost = read(called(0, 1), returned(5, 1, outcome=Outcome.UNKNOWN))
    failed = read(called(0, 1), row(5, Kind.CRASHED, 1), row(8, Kind.RESTARTED, 1), called(9, 1))
    assert lost[1] == failed[1] == '"unknown", 1'
    assert len(failed) == 3


def test_a_return_of_a_call_that_was_not_made_is_refused() -> None:
    with pytest.raises(CannotRun, match="row 0: no call of a client, or one that it is not in"):
        read(returned(5, 1))


class _Told(CallWords):
    """What is known of the end of each call when it begins, and which clients failed."""

    def __init__(self) -> None:
        self.known: list[int | None] = []
        self.failed: list[int] = []

    def called(self, client: int, call: str, called: Columns, returned: Columns | None) -> str:
        self.known.append(None if returned is None else returned["outcome"])
        return "1"

    def gone(self, client: int) -> None:
        self.failed.append(client)


def test_a_protocol_s_words_are_told_how_a_call_ends_and_who_fails() -> None:
    words = _Told()
    first = (called(0, 1), returned(1, 1, outcome=Outcome.REFUSED))
    rest = (called(2, 1), returned(3, 1, outcome=Outcome.UNKNOWN), called(4, 1), row(5, Kind.CRASHED, 1))
    assert read(*first, *rest, words=words)[0] == '"called", 1, 1'
    assert words.known == [Outcome.REFUSED, None, None]
    assert words.failed == [1]


class _Chosen(CallWords):
    """Leaves out what does not return, and reads what is given ahead of an end."""

    def called(self, client: int, call: str, called: Columns, returned: Columns | None) -> str | None:
        return None if returned is None else "1"

    def delivered(self, client: int, delivered: Columns) -> str | None:
        return str(delivered["number"]) if delivered["number"] > 0 else None


def test_what_a_protocol_leaves_out_is_not_read_to_its_end() -> None:
    lost = (called(0, 1), returned(1, 1, outcome=Outcome.UNKNOWN), called(2, 1), row(3, Kind.CRASHED, 1))
    assert read(*lost, called(4, 2), returned(5, 2), words=_Chosen()) == ['"called", 2, 1', '"returned", 2, "ok"']


def test_what_is_given_ahead_of_an_end_is_a_row_if_the_protocol_says_so() -> None:
    given = (row(1, Kind.DELIVERED, 2), row(1, Kind.DELIVERED, 2, number=7))
    told = read(called(0, 2), *given, returned(1, 2), *given, words=_Chosen())
    assert told == ['"called", 2, 1', '"delivered", 2, 7', '"returned", 2, "ok"']
    assert read(called(0, 2), *given, returned(1, 2))[1:] == ['"returned", 2, "ok"']


def test_a_link_that_fails_is_no_client_that_does() -> None:
    words = _Told()
    assert len(read(called(0, 1), row(1, Kind.CRASHED, 1, link=0), returned(2, 1), words=words)) == 2
    assert words.failed == []
