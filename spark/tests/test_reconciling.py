"""Damage to a trace that no clause speaks of is found in every run in which it can be seen: numbers on links, times,
clocks, and arrivals that are missing or that say something else than what was sent."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import TypeAlias

import numpy as np
import pytest

from scatterproof.conformance.checks.online import Broken, Monitor
from scatterproof.conformance.judge import all_checks, columns_of, kernel
from scatterproof.conformance.protocol import load
from scatterproof.spark.corpus import simulate_run
from scatterproof.spark.tests.material import PROTOCOLS, change, material, value
from scatterproof.spec.trace import ABSENT, CLEAN, QUIESCENT, Kind, Row, Trace, schema

COUNTED = "submissions_are_counted"
RUNS, SEED = 60, 1
LONGEST = 600
MILLISECOND = 1_000_000
each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)
# The trace after one damage, and whether that can be seen; None where there is nothing to damage.
Damage: TypeAlias = Callable[[Random, Trace], "tuple[Trace, bool] | None"]


@cache
def runs(protocol: str) -> tuple[Trace, ...]:
    """Drawn as those of a corpus, with faults, failures and all; long ones as if they had been cut."""
    drawn = [simulate_run(protocol, SEED, number) for number in range(RUNS)]
    return tuple(trace if len(trace.rows) <= LONGEST else _cut(trace) for trace in drawn)


def _cut(trace: Trace) -> Trace:
    time_ns = value(trace, trace.rows[LONGEST - 1], "time_ns")
    return Trace(trace.header, [*trace.rows[:LONGEST], change(trace, trace.rows[-1], time_ns=time_ns, flags=0)])


def found_in(trace: Trace) -> list[Broken]:
    """What the premises say, row by row and compiled: with all checks, as others need that kernel, too."""
    protocol, plugin = trace.header.protocol, load(trace.header.protocol)
    around = plugin.surroundings(trace.header)
    numbers = [at for at, one in enumerate(all_checks(plugin)) if one in plugin.premises and one.name != COUNTED]
    monitor = Monitor([all_checks(plugin)[number] for number in numbers], plugin.columns, around)
    for position, row in enumerate(trace.rows):
        monitor.observe(position, row)
    applies = np.zeros(len(all_checks(plugin)), dtype=np.int64)
    applies[numbers] = 1
    run, columns = kernel(protocol).run({**around, "applies": applies}), columns_of(trace)
    for start in range(0, len(trace.rows), 999):
        run.feed({name: np.ascontiguousarray(column[start : start + 999]) for name, column in columns.items()})
    assert [found._replace(check=numbers.index(found.check)) for found in run.broken] == monitor.broken
    return monitor.broken


def places(trace: Trace, *kinds: Kind) -> list[int]:
    return [at for at, row in enumerate(trace.rows) if value(trace, row, "kind") in kinds]


def with_row(trace: Trace, at: int, **values: int) -> Trace:
    return Trace(trace.header, [*trace.rows[:at], change(trace, trace.rows[at], **values), *trace.rows[at + 1 :]])


def packet_of(trace: Trace, row: Row) -> tuple[int, int]:
    return value(trace, row, "link"), value(trace, row, "link_seq")


def settled(trace: Trace) -> bool:
    last = trace.rows[-1]
    return value(trace, last, "kind") == Kind.ENDED and value(trace, last, "flags") == CLEAN | QUIESCENT


def is_missed(trace: Trace, at: int) -> bool:
    """Whether the packet of this arrival must have come: a run that has settled waits for data sent for the first time;
    and links that are FIFO bring nothing that was sent after what is still to come."""
    link, number = packet_of(trace, trace.rows[at])
    plugin = load(trace.header.protocol)
    same = [
        other
        for other, row in enumerate(trace.rows)
        if other != at
        and packet_of(trace, row) == (link, number)
        and value(trace, row, "kind") in (Kind.ARRIVED, Kind.LOST)
    ]
    if same:
        return False
    overtaken = plugin.fifo_links and any(
        value(trace, row, "kind") == Kind.ARRIVED and value(trace, row, "link") == link for row in trace.rows[at + 1 :]
    )
    is_owed = value(trace, trace.rows[at], "packet") in material(trace.header.protocol).owed
    is_new = plugin.fifo_links or max(0, value(trace, trace.rows[at], "flags")) & 1 == 0
    return overtaken or (settled(trace) and is_owed and is_new)


def number_of_a_sending(draw: Random, trace: Trace) -> tuple[Trace, bool] | None:
    sendings = places(trace, Kind.SENT)
    if not sendings:
        return None
    at = draw.choice(sendings)
    return with_row(trace, at, link_seq=value(trace, trace.rows[at], "link_seq") + 1), True


def number_of_an_arrival(draw: Random, trace: Trace) -> tuple[Trace, bool] | None:
    """Where links are not FIFO it may be taken for a second copy of the next packet, or for the first where that says
    the same; but then its own is missed."""
    arrivals = places(trace, Kind.ARRIVED)
    if not arrivals:
        return None
    at = draw.choice(arrivals)
    link, number = packet_of(trace, trace.rows[at])
    before = [row for row in trace.rows[:at] if packet_of(trace, row) == (link, number + 1)]
    first = schema(trace.header.protocol).index("sender")
    is_alike = len(before) > 1 or any(row[first:] == trace.rows[at][first:] for row in before)
    may_be = is_alike and not load(trace.header.protocol).fifo_links
    return with_row(trace, at, link_seq=number + 1), not may_be or is_missed(trace, at)


def clock_set_back(draw: Random, trace: Trace) -> tuple[Trace, bool] | None:
    told = places(trace, Kind.SENT, Kind.ARRIVED, Kind.SUBMITTED, Kind.DELIVERED)
    if not told:
        return None
    at = draw.choice(told)
    back = value(trace, trace.rows[at], "clock_ns") - MILLISECOND
    own = [row for row in trace.rows[:at] if value(trace, row, "node") == value(trace, trace.rows[at], "node")]
    restarts = [
        place
        for place, row in enumerate(own)
        if value(trace, row, "kind") == Kind.RESTARTED and value(trace, row, "link") == ABSENT
    ]
    since = own[restarts[-1] + 1 :] if restarts else own
    readings = [value(trace, row, "clock_ns") for row in since]
    return with_row(trace, at, clock_ns=back), any(reading not in (ABSENT,) and reading > back for reading in readings)


def time_set_back(draw: Random, trace: Trace) -> tuple[Trace, bool] | None:
    at = draw.randrange(1, len(trace.rows))
    back = value(trace, trace.rows[at], "time_ns") - MILLISECOND
    return with_row(trace, at, time_ns=back), value(trace, trace.rows[at - 1], "time_ns") > back


def arrival_dropped(draw: Random, trace: Trace) -> tuple[Trace, bool] | None:
    arrivals = places(trace, Kind.ARRIVED)
    if not arrivals:
        return None
    at = draw.choice(arrivals)
    return Trace(trace.header, [*trace.rows[:at], *trace.rows[at + 1 :]]), is_missed(trace, at)


def lowered_on_arrival(column: str) -> Damage:
    def damage(draw: Random, trace: Trace) -> tuple[Trace, bool] | None:
        arrivals = [at for at in places(trace, Kind.ARRIVED) if value(trace, trace.rows[at], column) != ABSENT]
        if not arrivals:
            return None
        at = draw.choice(arrivals)
        copies = [row for row in trace.rows[:at] if packet_of(trace, row) == packet_of(trace, trace.rows[at])]
        return with_row(trace, at, **{column: value(trace, trace.rows[at], column) - 1}), len(copies) == 1

    return damage


def sending_dropped(draw: Random, trace: Trace) -> tuple[Trace, bool] | None:
    """Whatever comes next on its link, or arrives from it, tells."""
    sendings = places(trace, Kind.SENT)
    if not sendings:
        return None
    at = draw.choice(sendings)
    link = value(trace, trace.rows[at], "link")
    later = any(
        value(trace, row, "link") == link and value(trace, row, "kind") in (Kind.SENT, Kind.ARRIVED, Kind.LOST)
        for row in trace.rows[at + 1 :]
        if value(trace, row, "kind") == Kind.SENT or packet_of(trace, row) == packet_of(trace, trace.rows[at])
    )
    return Trace(trace.header, [*trace.rows[:at], *trace.rows[at + 1 :]]), later


DAMAGES: dict[str, Damage] = {
    "number of a sending": number_of_a_sending,
    "number of an arrival": number_of_an_arrival,
    "clock set back": clock_set_back,
    "time set back": time_set_back,
    "arrival dropped": arrival_dropped,
    "sending dropped": sending_dropped,
    "digest on arrival": lowered_on_arrival("digest"),
}
EACH = [
    *((protocol, name, damage) for protocol in PROTOCOLS for name, damage in DAMAGES.items()),
    *(
        (protocol, f"{name} on arrival", lowered_on_arrival(name))
        for protocol in PROTOCOLS
        for name in material(protocol).reconciled
    ),
]


@pytest.mark.slow
@each_protocol
def test_no_run_of_the_reference_is_accused(protocol: str) -> None:
    assert [found_in(trace) for trace in runs(protocol)] == [[]] * RUNS
    assert sum(len(places(trace, Kind.LOST)) for trace in runs(protocol)) > 100
    assert any(places(trace, Kind.CRASHED) for trace in runs(protocol))


@pytest.mark.parametrize(("protocol", "damage"), [pytest.param(p, d, id=f"{p}: {name}") for p, name, d in EACH])
def test_damage_is_found_in_every_run_in_which_it_can_be_seen(protocol: str, damage: Damage) -> None:
    wrong = [damage(Random(f"{SEED} {number}"), trace) for number, trace in enumerate(runs(protocol))]
    seen = [found_in(one[0]) != [] for one in wrong if one is not None]
    assert seen == [one[1] for one in wrong if one is not None]
    assert sum(seen) >= 8  # few runs of broadcast are both short and settled
