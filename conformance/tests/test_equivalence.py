"""The table that compares runs: it finds the first difference, and no other."""

from __future__ import annotations

from dataclasses import replace

from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.conformance.network.topologies import star
from scatterproof.conformance.protocol import load
from scatterproof.conformance.report.equivalence import Comparison, EquivalenceRow, compare
from scatterproof.impl.totalorder import RULES, make_core
from scatterproof.spec.trace import ABSENT, Header, Kind, Order, Row, Trace, schema


def run(*deliveries: tuple[int, int, int]) -> Trace:
    """A trace of deliveries: (host, sender, number)."""
    columns = schema("totalorder").columns

    def row(host: int, sender: int, number: int) -> Row:
        known = {"kind": int(Kind.DELIVERED), "node": host, "sender": sender, "number": number}
        return tuple(known.get(name, ABSENT) for name in columns)

    header = Header("totalorder", star(3), {}, {}, Order.GLOBAL)
    return Trace(header, [row(*delivery) for delivery in deliveries])


def differences(other: Trace, prefixes: tuple[str, ...] = ()) -> list[str]:
    runs = {"B": run((0, 1, 1), (0, 2, 1), (2, 1, 1)), "other": other}
    return [row.difference for row in compare(runs, "B", prefixes)]


def test_runs_that_deliver_alike_are_alike_whatever_happens_at_other_hosts_in_between() -> None:
    assert differences(run((2, 1, 1), (0, 1, 1), (0, 2, 1))) == ["", ""]


def test_an_exchanged_order_is_a_difference() -> None:
    assert differences(run((0, 2, 1), (0, 1, 1), (2, 1, 1))) == [
        "",
        "host 0, delivery 1: message 1 of host 2; B: message 1 of host 1",
    ]


def test_a_missing_delivery_is_a_difference_but_for_a_prefix() -> None:
    shorter = run((0, 1, 1), (2, 1, 1))
    assert differences(shorter) == ["", "host 0, delivery 2: none; B: message 1 of host 2"]
    assert differences(shorter, ("other",)) == ["", ""]


def test_a_delivery_too_many_is_a_difference_even_for_a_prefix() -> None:
    longer = run((0, 1, 1), (0, 2, 1), (2, 1, 1), (2, 1, 2))
    assert differences(longer, ("other",)) == ["", "host 2, delivery 2: message 2 of host 1; B: none"]


def test_a_gap_is_no_prefix() -> None:
    assert differences(run((0, 2, 1), (2, 1, 1)), ("other",))[1] != ""


def test_a_row_counts_the_deliveries_of_all_hosts() -> None:
    runs = {"B": run((0, 1, 1), (2, 1, 1))}
    assert compare(runs, "B") == (EquivalenceRow(name="B", deliveries=2, difference=""),)


def test_a_row_says_whether_the_beginning_is_enough() -> None:
    runs = {"B": run((0, 1, 1)), "A": run()}
    assert [row.whole for row in compare(runs, "B", ("A",))] == [True, False]


def same() -> Comparison:
    made = load("totalorder").comparison
    assert made is not None
    return made()


def test_all_carriers_and_forms_of_a_switch_deliver_the_same_and_links_lose_something() -> None:
    rows = same().rows(SimulatedIut("reference", make_core))
    assert [row.difference for row in rows if row.difference] == []
    assert {row.deliveries for row in rows if row.whole} == {max(row.deliveries for row in rows)}
    assert all(row.deliveries for row in rows)
    assert {bool(schedule.faults) for schedule in same().variants.values()} == {True, False}


def test_another_order_of_equal_timestamps_in_one_variant_is_a_difference() -> None:
    other = replace(RULES, precedence=lambda timestamp, sender: (timestamp, -sender))
    chosen = same()
    runs = {"C": "C", "B": "B"}
    made = {
        name: SimulatedIut(name, make_core if name == "C" else lambda config: make_core(config, other)).run(
            chosen.variants[variant]
        )
        for name, variant in runs.items()
    }
    assert [bool(row.difference) for row in compare(made, "C")] == [False, True]


def test_a_protocol_without_variants_has_nothing_to_compare() -> None:
    assert load("broadcast").comparison is None
