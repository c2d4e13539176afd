"""The simulated network: determinism, FIFO, faults, timers, and an end to runs that do not get on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scatterproof.conformance.network import simulator
from scatterproof.conformance.network.run import SimulatedIut, simulate
from scatterproof.conformance.network.topologies import chain, fat_tree, one_way, star
from scatterproof.conformance.protocol import load
from scatterproof.conformance.totalorder.recording import Recorder
from scatterproof.impl.totalorder import make_core
from scatterproof.spec import core, trace_ndjson
from scatterproof.spec.core import Deliver, Effect, Event, NodeConfig, PacketArrived, Send, Submitted, TimerFired
from scatterproof.spec.errors import BadInput
from scatterproof.spec.files import IMPORTED_FROM
from scatterproof.spec.schedule import (
    Clock,
    Delay,
    Failure,
    FailureKind,
    Fault,
    FaultKind,
    Message,
    Schedule,
    Submission,
    validate,
)
from scatterproof.spec.topology import Role, Topology, route
from scatterproof.spec.totalorder.messages import Delivery, Packet, PacketKind
from scatterproof.spec.trace import CLEAN, QUIESCENT, Kind, Row, Trace, schema

NAMES = schema("totalorder").columns
TIME, NODE, KIND, LINK, SEQ, FLAGS = (NAMES.index(n) for n in ("time_ns", "node", "kind", "link", "link_seq", "flags"))


def busy(network: Topology, environment: str = "C", *, seed: int = 3, **rest: Any) -> Schedule:
    hosts = network.hosts()
    submissions = tuple(
        Submission(400 * (at // 2), hosts[at % len(hosts)], tuple(Message(host, bytes([at])) for host in hosts))
        for at in range(20)
    )
    schedule = Schedule(
        protocol="totalorder",
        topology=network,
        delays=tuple(Delay(1000, 700) for _ in network.links),
        submissions=submissions,
        parameters={"environment": environment, "beacon_interval_ns": 3000},
        seed=seed,
    )
    return validate(msgspec.structs.replace(schedule, **rest))


SKEWED = tuple(
    Clock(offset, drift) for offset, drift in ((0, 0), (5000, 90_000), (-700, -90_000), (1, 0), (0, 0), (9, 9))
)


def arrivals(rows: Sequence[Row], link: int) -> list[int]:
    return [row[SEQ] for row in rows if row[KIND] == Kind.ARRIVED and row[LINK] == link]


class Relay:
    """A node without a protocol: sends every message as a packet on its own, delivers what is its own."""

    def __init__(self, config: NodeConfig) -> None:
        self.config = config
        self.towards = dict(config.next_link)
        self.sent = 0

    def handle(self, event: Event[Packet]) -> Sequence[Effect[Packet, Delivery]]:
        if isinstance(event, PacketArrived):
            packet = event.packet
            if packet.receiver == self.config.node:
                return [Deliver(Delivery(packet.sender, packet.number, packet.timestamp, packet.payload))]
            return [Send(self.towards[packet.receiver], packet)]
        if isinstance(event, Submitted):
            self.sent += 1
            return [
                Send(
                    self.towards[receiver],
                    Packet(1, self.config.node, receiver, self.sent, self.sent, self.sent, self.sent, payload),
                )
                for receiver, payload in event.messages
            ]
        return []

    def next_deadline(self) -> int | None:
        return None


def test_the_same_schedule_gives_the_same_bytes_in_processes_with_different_hash_seeds(tmp_path: Path) -> None:
    schedule = busy(chain(2, 2), clocks=SKEWED, faults=(Fault(0, 3, FaultKind.LOSE),))
    program = (
        "import sys, msgspec;"
        "from scatterproof.spec import trace_ndjson; from scatterproof.spec.schedule import Schedule;"
        "from scatterproof.conformance.network.run import simulate; from scatterproof.impl.totalorder import make_core;"
        "schedule = msgspec.json.decode(sys.stdin.buffer.read(), type=Schedule);"
        "sys.stdout.buffer.write(trace_ndjson.encode(simulate(schedule, make_core)))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            input=msgspec.json.encode(schedule),
            capture_output=True,
            check=True,
            cwd=IMPORTED_FROM,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "4242")
    }

    assert outputs == {trace_ndjson.encode(simulate(schedule, make_core))}


def test_another_seed_gives_another_trace() -> None:
    assert simulate(busy(star(3), seed=3), make_core).rows != simulate(busy(star(3), seed=4), make_core).rows


def test_removing_a_submission_leaves_the_delays_of_all_others_alone() -> None:
    # One-way, a packet a message: host 0's packets are its submissions in their order.
    network = one_way(2, 2)
    schedule = msgspec.structs.replace(
        busy(star(1)), topology=network, delays=tuple(Delay(9, 5000) for _ in network.links)
    )

    def link_delays(kept: Sequence[int]) -> dict[tuple[int, int], int]:
        submissions = tuple(Submission(100_000 * at, at % 2, (Message(2),)) for at in kept)
        rows = simulate(validate(msgspec.structs.replace(schedule, submissions=submissions)), Relay).rows
        sent = {(row[LINK], row[SEQ]): row[TIME] for row in rows if row[KIND] == Kind.SENT}
        return {
            key: row[TIME] - sent[key]
            for row in rows
            if row[KIND] == Kind.ARRIVED and (key := (row[LINK], row[SEQ])) in sent
        }

    every, without = link_delays(range(6)), link_delays([0, 1, 2, 4, 5])

    assert len(without) == len(every) - 2
    assert without == {key: delay for key, delay in every.items() if key in without}


@pytest.mark.parametrize("network", [star(3), chain(3, 1), fat_tree(5, 4)])
def test_links_are_fifo_and_every_packet_arrives_once_after_it_was_sent(network: Topology) -> None:
    trace = simulate(busy(network), make_core)
    sent: dict[tuple[int, int], int] = {}
    for position, row in enumerate(trace.rows):
        if row[KIND] == Kind.SENT:
            sent[row[LINK], row[SEQ]] = position
        elif row[KIND] == Kind.ARRIVED:
            assert sent[row[LINK], row[SEQ]] < position

    for link in range(len(network.links)):
        seqs = arrivals(trace.rows, link)
        assert seqs == list(range(len(seqs)))
    times = trace.column("time_ns")
    assert times == sorted(times)


def test_a_run_ends_clean_and_quiescent_with_all_delivered() -> None:
    trace = simulate(busy(chain(2, 2), clocks=SKEWED), make_core)

    assert trace.rows[-1][FLAGS] == CLEAN | QUIESCENT
    assert trace.column("kind").count(Kind.DELIVERED) == trace.column("kind").count(Kind.SUBMITTED) == 80
    assert trace.notes == ()


def test_a_run_that_is_ended_early_is_neither_clean_nor_quiescent() -> None:
    trace = simulate(busy(star(3), end_ns=2500), make_core)

    assert trace.rows[-1][FLAGS] == 0
    assert trace.rows[-1][TIME] == 2500


def test_an_idle_sender_s_beacons_let_the_others_deliver() -> None:
    schedule = busy(star(3), submissions=(Submission(10, 0, (Message(1, b"x"),)),))

    assert simulate(schedule, make_core).column("kind").count(Kind.DELIVERED) == 1


def test_a_lost_packet_is_recorded_behind_its_sending_and_never_arrives() -> None:
    rows = simulate(busy(star(3), faults=(Fault(0, 2, FaultKind.LOSE),)), make_core).rows
    (at,) = [position for position, row in enumerate(rows) if row[KIND] == Kind.LOST]

    assert rows[at - 1][KIND] == Kind.SENT
    assert rows[at][:KIND] + rows[at][KIND + 1 :] == rows[at - 1][:KIND] + rows[at - 1][KIND + 1 :]
    assert 2 not in arrivals(rows, 0)
    assert 3 in arrivals(rows, 0)


def test_a_delayed_packet_holds_up_those_behind_it() -> None:
    late = simulate(busy(star(3), faults=(Fault(0, 2, FaultKind.DELAY, 50_000),)), make_core).rows
    seqs = arrivals(late, 0)
    (time,) = [row[TIME] for row in late if row[KIND] == Kind.ARRIVED and row[LINK] == 0 and row[SEQ] == 2]

    assert seqs == list(range(len(seqs)))
    assert time > 50_000


def test_a_less_delayed_packet_stays_behind_a_more_delayed_one() -> None:
    faults = (Fault(0, 2, FaultKind.DELAY, 50_000), Fault(0, 3, FaultKind.DELAY, 10))
    seqs = arrivals(simulate(busy(star(3), faults=faults), make_core).rows, 0)

    assert seqs == list(range(len(seqs)))


def test_to_once_links_of_total_order_never_duplicate_so_the_fault_is_refused() -> None:
    with pytest.raises(BadInput, match=r"faults\[0\] is duplicate, which links of totalorder never do"):
        simulate(busy(star(3), faults=(Fault(0, 2, FaultKind.DUPLICATE),)), make_core)


def test_a_duplicated_packet_arrives_twice() -> None:

    schedule = busy(one_way(1, 1), submissions=(), faults=(Fault(0, 0, FaultKind.DUPLICATE),))
    schedule = msgspec.structs.replace(schedule, submissions=(Submission(5, 0, (Message(1, b"x"),)),))

    configs = [core.node_config(n, schedule.topology, route(schedule.topology), "totalorder", {}) for n in range(3)]
    plugin = load("totalorder")
    run = simulator.Simulation(schedule, [Relay(config) for config in configs], plugin.recorder(), 100_000)
    rows = run.run()

    assert arrivals(rows, 0) == [0, 0]
    assert [row[KIND] for row in rows].count(Kind.DELIVERED) == 2


class Restless(Relay):
    """Asks for the past, always."""

    def next_deadline(self) -> int | None:
        return 0


class Hurried(Relay):
    """Asks for the next instant, always."""

    now = 0

    def handle(self, event: Event[Packet]) -> Sequence[Effect[Packet, Delivery]]:
        self.now = event.now
        return super().handle(event)

    def next_deadline(self) -> int | None:
        return self.now + 1


def test_a_node_that_asks_for_the_past_for_ever_cuts_the_run_and_is_named() -> None:
    trace = simulate(busy(star(2), submissions=()), Restless)

    assert trace.rows[-1][FLAGS] == 0
    (note,) = trace.notes
    assert note.startswith("the run does not get past 0 ns: it was cut after 5400 events. Of 100 more, node ")
    assert note.endswith(" in which it did nothing; it asked for a tick at 0 ns of its clock, which shows 1")


class Talkative(Restless):
    """Host 1 sends whenever it is called; the others hold still."""

    def handle(self, event: Event[Packet]) -> Sequence[Effect[Packet, Delivery]]:
        packets = [Packet(1, 1, 0, 1, 1, 1, 1, b"")] * 2
        return [Send(self.towards[0], packet) for packet in packets] if self.config.node == 1 else []

    def next_deadline(self) -> int | None:
        return -5 if self.config.node == 1 else None


def test_a_node_that_sends_at_one_instant_for_ever_is_named_with_its_deadline_and_its_effects() -> None:
    clocks = (Clock(), Clock(400), Clock())
    trace = simulate(busy(star(2), clocks=clocks, submissions=(Submission(700, 0, (Message(1, b""),)),)), Talkative)

    assert trace.notes == (
        "the run does not get past 0 ns: it was cut after 5600 events. Of 100 more, node 1 (h1) had 100, in which it "
        "sent 200; it asked for a tick at -5 ns of its clock, which shows 401",
    )
    assert len(trace.rows) < 3 * 6000


def test_a_run_of_too_many_events_is_cut() -> None:
    schedule = busy(star(2), submissions=(), end_ns=1 << 50)
    nodes = [Hurried(NodeConfig(n, Role.HOST, "totalorder", (), (), (), (), {})) for n in range(3)]

    run = simulator.Simulation(schedule, nodes, Recorder(), 1 << 50, max_events=2000)

    assert run.run()[-1][FLAGS] == 0
    assert run.handled == 2000
    assert "was cut at" in run.notes[0]


class Crashing(Relay):
    def handle(self, event: Event[Packet]) -> Sequence[Effect[Packet, Delivery]]:
        if isinstance(event, PacketArrived):
            raise KeyError("gone")
        return super().handle(event)


class Trespassing(Relay):
    def handle(self, event: Event[Packet]) -> Sequence[Effect[Packet, Delivery]]:
        effects = super().handle(event)
        return [Send(-1, effect.packet) if isinstance(effect, Send) else effect for effect in effects]


@pytest.mark.parametrize(
    ("make_node", "sentence"),
    [
        (Crashing, "ns: KeyError: 'gone' (test_simulator.py:"),
        (Trespassing, "sent on link -1, which is no egress link of it"),
    ],
)
def test_a_node_that_crashes_or_trespasses_cuts_the_run_with_a_note(make_node: Any, sentence: str) -> None:
    trace = simulate(busy(star(3)), make_node)

    assert trace.rows[-1][FLAGS] == 0
    assert sentence in trace.notes[0]


class Closing(Relay):
    closed: list[int] = []  # noqa: RUF012

    def close(self) -> None:
        self.closed.append(self.config.node)


class ClosingCrash(Closing, Crashing):
    pass


@pytest.mark.parametrize("make_node", [Closing, ClosingCrash])
def test_nodes_are_closed_however_the_run_ends(make_node: Any) -> None:
    Closing.closed.clear()
    simulate(busy(star(3)), make_node)

    assert Closing.closed == [0, 1, 2, 3]


class Ticking(Relay):
    """Wants a tick at 100 of its own clock; notes what it got."""

    heard: list[tuple[int, int, str]] = []  # noqa: RUF012

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self.deadline: int | None = 100

    def handle(self, event: Event[Packet]) -> Sequence[Effect[Packet, Delivery]]:
        self.heard.append((self.config.node, event.now, type(event).__name__))
        if isinstance(event, TimerFired):
            self.deadline = None
        return super().handle(event)

    def next_deadline(self) -> int | None:
        return self.deadline


def test_a_timer_fires_once_at_its_reading_of_the_local_clock_and_behind_a_submission_of_that_instant() -> None:
    Ticking.heard.clear()
    clocks = (Clock(0), Clock(40), Clock(0, 100_000_000))
    schedule = busy(one_way(1, 1), clocks=clocks, submissions=(Submission(99, 0, (Message(1),)),), end_ns=500)
    simulate(schedule, Ticking)

    assert [heard for heard in Ticking.heard if heard[2] == "TimerFired"] == [
        (1, 100, "TimerFired"),
        (2, 100, "TimerFired"),
        (0, 100, "TimerFired"),
    ]
    assert [heard for heard in Ticking.heard if heard[0] == 0] == [(0, 100, "Submitted"), (0, 100, "TimerFired")]


class Postponing(Ticking):
    """Puts its tick off to 300 when something is submitted; when that has come, asks for one that was due long ago."""

    heard: list[tuple[int, int, str]] = []  # noqa: RUF012
    overdue = False

    def handle(self, event: Event[Packet]) -> Sequence[Effect[Packet, Delivery]]:
        effects = super().handle(event)
        if isinstance(event, Submitted):
            self.deadline = 300
        elif isinstance(event, TimerFired) and not self.overdue:
            self.deadline, self.overdue = 7, True
        return effects


def test_a_timer_that_was_put_off_does_not_fire_at_its_old_time_and_one_that_is_overdue_fires_at_once() -> None:
    Postponing.heard.clear()
    schedule = busy(one_way(1, 1), submissions=(Submission(50, 0, (Message(1),)),), end_ns=500)
    trace = simulate(schedule, Postponing)
    ticks = [now for node, now, what in Postponing.heard if node == 0 and what == "TimerFired"]

    assert ticks == [300, 300]
    assert trace.column("time_ns") == sorted(trace.column("time_ns"))


def test_the_header_says_that_all_is_recorded_in_one_global_order() -> None:
    trace: Trace = SimulatedIut("mine", make_core).run(busy(star(2)))

    assert trace.header.iut == "mine"
    assert trace.header.complete == dict.fromkeys(schema("totalorder").kinds, (0, 1, 2))
    assert trace.header.catalogue


def relayed(submitted: Sequence[int], failures: Sequence[Failure], **rest: Any) -> Trace:
    """Host 0 sends host 1 a packet at each of these times over a switch, 2; every link takes 10 ns, 0 leads to it."""
    schedule = msgspec.structs.replace(
        busy(star(1)),
        topology=one_way(1, 1),
        delays=(Delay(10), Delay(10)),
        submissions=tuple(Submission(at, 0, (Message(1, b"x"),)) for at in submitted),
        failures=tuple(failures),
        end_ns=1000,
    )
    return simulate(validate(msgspec.structs.replace(schedule, **rest)), Relay)


def told(trace: Trace, *kinds: Kind) -> list[tuple[int, Kind, int, int, int]]:
    """Time, kind, node, link and number on the link of the rows of these kinds."""
    return [(row[TIME], Kind(row[KIND]), row[NODE], row[LINK], row[SEQ]) for row in trace.rows if row[KIND] in kinds]


CRASH, RESTART, CUT, MEND = list(FailureKind)[:4]


def test_what_arrives_at_a_crashed_node_is_lost_then_and_what_it_sent_earlier_goes_on() -> None:
    trace = relayed([0, 5, 20, 25], [Failure(12, CRASH, node=2), Failure(32, RESTART, node=2)])

    assert told(trace, Kind.CRASHED, Kind.LOST, Kind.RESTARTED) == [
        (12, Kind.CRASHED, 2, -1, -1),
        (15, Kind.LOST, 0, 0, 1),
        (30, Kind.LOST, 0, 0, 2),
        (32, Kind.RESTARTED, 2, -1, -1),
    ]
    assert [row[TIME] for row in trace.rows if row[KIND] == Kind.DELIVERED] == [20, 45]


def test_a_failure_comes_first_at_its_instant() -> None:
    crashed = relayed([0, 20], [Failure(10, CRASH, node=2), Failure(30, RESTART, node=2)])
    cut = relayed([0, 10, 20], [Failure(10, CUT, link=0), Failure(20, MEND, link=0)])

    assert told(crashed, Kind.LOST) == [(10, Kind.LOST, 0, 0, 0)]
    assert told(cut, Kind.LOST) == [(10, Kind.LOST, 0, 0, 0), (10, Kind.LOST, 0, 0, 1)]
    assert [told(trace, Kind.DELIVERED)[0][0] for trace in (crashed, cut)] == [40, 40]


def test_a_cut_link_loses_what_is_on_it_and_what_is_put_on_it_and_goes_on_counting() -> None:
    trace = relayed([0, 9, 15, 30], [Failure(12, CUT, link=0), Failure(20, MEND, link=0)])

    assert told(trace, Kind.CRASHED, Kind.LOST, Kind.RESTARTED) == [
        (12, Kind.CRASHED, 0, 0, -1),
        (12, Kind.LOST, 0, 0, 1),
        (15, Kind.LOST, 0, 0, 2),
        (20, Kind.RESTARTED, 0, 0, -1),
    ]
    assert arrivals(trace.rows, 0) == [0, 3]


def test_a_lost_packet_does_not_hold_up_those_behind_it() -> None:
    faults = (Fault(0, 0, FaultKind.DELAY, 500),)
    failures = [Failure(5, CUT, link=0), Failure(6, MEND, link=0)]

    assert told(relayed([0, 50], failures, faults=faults), Kind.DELIVERED)[0][0] == 70


class LastWord(Relay):
    """Host 0 puts one more packet on its link, 5 ns before the end."""

    kind = PacketKind.DATA

    def handle(self, event: Event[Packet]) -> Sequence[Effect[Packet, Delivery]]:
        self.sent += 1
        return [Send(0, Packet(self.kind, 0, 1, 1, 1, 1, 1, b"x"))]

    def next_deadline(self) -> int | None:
        return END - 4 if self.config.node == 0 and not self.sent else None  # clocks begin at 1


class LastBeacon(LastWord):
    kind = PacketKind.BEACON


END = 1_000_000


@pytest.mark.parametrize(
    ("make_node", "failures", "flags"),
    [
        (LastWord, [], CLEAN),
        (LastWord, [Failure(12, CRASH, node=2)], CLEAN),
        (LastWord, [Failure(12, CUT, link=0)], CLEAN | QUIESCENT),  # lost at once
        (LastBeacon, [Failure(12, CRASH, node=2)], CLEAN | QUIESCENT),
    ],
)
def test_a_message_is_in_flight_at_the_end_though_nobody_is_there_to_take_it(
    make_node: Any, failures: list[Failure], flags: int
) -> None:
    schedule = busy(one_way(1, 1), delays=(Delay(10), Delay(10)), submissions=(), failures=tuple(failures), end_ns=END)
    trace = simulate(schedule, make_node)

    assert told(trace, Kind.SENT) == [(END - 5, Kind.SENT, 0, 0, 0)]
    assert trace.rows[-1][FLAGS] == flags


def test_a_crashed_host_submits_nothing_and_its_timer_is_gone() -> None:
    Ticking.heard.clear()
    failures = (Failure(50, CRASH, node=0),)
    schedule = busy(one_way(1, 1), submissions=(Submission(60, 0, (Message(1),)),), failures=failures, end_ns=500)
    trace = simulate(schedule, Ticking)

    assert told(trace, Kind.SUBMITTED, Kind.SENT) == []
    assert {heard[0] for heard in Ticking.heard} == {1, 2}


def test_a_restarted_node_is_a_new_core_that_knows_its_incarnation_and_sets_its_own_timer() -> None:
    Ticking.heard.clear()
    made: list[tuple[int, object]] = []

    def make(config: NodeConfig) -> Relay:
        made.append((config.node, config.parameters.get("incarnation")))
        return Ticking(config)

    failures = tuple(
        Failure(at, kind, node=1) for at, kind in ((50, CRASH), (60, RESTART), (70, CRASH), (170, RESTART))
    )
    simulate(busy(one_way(1, 1), submissions=(), failures=failures, end_ns=500), make)

    assert made == [(0, None), (1, None), (2, None), (1, 1), (1, 2)]
    assert [heard for heard in Ticking.heard if heard[0] == 1] == [(1, 171, "TimerFired")]


class Mortal(Closing):
    crashed: list[int] = []  # noqa: RUF012

    def crash(self) -> None:
        self.crashed.append(self.config.node)


def test_a_node_is_told_of_its_crash_and_all_that_were_ever_made_are_closed() -> None:
    Closing.closed.clear()
    Mortal.crashed.clear()
    failures = (Failure(50, CRASH, node=1), Failure(60, RESTART, node=1), Failure(70, CUT, link=0))
    simulate(busy(one_way(1, 1), submissions=(), failures=failures, end_ns=500), Mortal)

    assert Mortal.crashed == [1]
    assert Closing.closed == [0, 1, 2, 1]


def test_a_restarted_node_that_fails_at_once_cuts_the_run() -> None:
    class Spent(Relay):
        def next_deadline(self) -> int | None:
            if "incarnation" in self.config.parameters:
                raise ValueError("spent")
            return None

    failures = (Failure(50, CRASH, node=1), Failure(60, RESTART, node=1))
    trace = simulate(busy(one_way(1, 1), submissions=(), failures=failures, end_ns=500), Spent)

    assert trace.rows[-1][: TIME + 1] == (60,)
    assert "failed at 60 ns: ValueError: spent" in trace.notes[0]


@given(
    times=st.lists(st.integers(0, 60), max_size=8),
    spans=st.lists(st.integers(0, 90), min_size=4, max_size=4, unique=True).map(sorted),
    broken=st.sampled_from([{"link": 0}, {"link": 1}, {"node": 1}, {"node": 2}]),
)
def test_every_packet_sent_is_lost_once_or_arrives_once_and_never_at_a_node_or_over_a_link_that_is_down(
    times: list[int], spans: list[int], broken: dict[str, int]
) -> None:
    kinds = (CUT, MEND) if "link" in broken else (CRASH, RESTART)
    trace = relayed(sorted(times), [Failure(at, kinds[n % 2], **broken) for n, at in enumerate(spans)])
    ends = [row for row in trace.rows if row[KIND] in (Kind.ARRIVED, Kind.LOST)]
    sent = {(row[LINK], row[SEQ]): row[TIME] for row in trace.rows if row[KIND] == Kind.SENT}

    assert sorted((row[LINK], row[SEQ]) for row in ends) == sorted(sent)
    for row in ends:
        start, end = sent[row[LINK], row[SEQ]], row[TIME]
        down = [(first, last) for first, last in zip(spans[::2], spans[1::2], strict=True)]
        if "link" in broken:
            hit = row[LINK] == broken["link"] and any(first <= start + 10 and start < last for first, last in down)
        else:
            at_it = (1, 2)[row[LINK] == 0] == broken["node"]
            hit = at_it and any(first <= start + 10 < last for first, last in down)
        assert (row[KIND] == Kind.LOST) == hit
        assert row[NODE] == ((0, 2) if row[KIND] == Kind.LOST else (2, 1))[row[LINK]]
        assert start <= end <= start + 10
