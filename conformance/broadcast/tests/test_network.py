"""Links that are not FIFO, duplicates that come later, and processes that stand still."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from scatterproof.conformance.network.run import simulate
from scatterproof.conformance.network.topologies import mesh
from scatterproof.conformance.report.space_time import as_text, diagram
from scatterproof.spec.broadcast.messages import Beginning, Delivery, Packet
from scatterproof.spec.core import Began, Deliver, Effect, Event, NodeConfig, PacketArrived, Send, Submitted
from scatterproof.spec.errors import BadInput
from scatterproof.spec.schedule import (
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
from scatterproof.spec.topology import LinkId
from scatterproof.spec.trace import QUIESCENT, Kind, Trace, schema

COLUMNS = schema("broadcast").columns
TIME, NODE, KIND, NUMBER = (COLUMNS.index(name) for name in ("time_ns", "node", "kind", "number"))


class Direct:
    """Sends every message once, and delivers what arrives; asks for a tick at 200, and notes when one came."""

    ticks: list[int] = []  # noqa: RUF012

    def __init__(self, config: NodeConfig) -> None:
        self.towards: dict[int, LinkId] = dict(config.next_link)
        self.node = config.node
        self.sent = 0
        self.deadline: int | None = 201  # clocks begin at 1

    def handle(self, event: Event[Packet]) -> Sequence[Effect[Packet, Delivery]]:
        if isinstance(event, PacketArrived):
            return [Deliver(Delivery(event.packet.creator, event.packet.first, b""))]
        if isinstance(event, Submitted):
            effects: list[Effect[Packet, Delivery]] = []
            for receiver, _ in event.messages:
                self.sent += 1
                effects.append(Began(Beginning(self.sent, 1, b"", receiver)))
                packet = Packet(1, self.node, receiver, self.node, self.sent, 1, self.sent)
                effects.append(Send(self.towards[receiver], packet))
            return effects
        self.ticks.append(event.now - 1)
        self.deadline = None
        return []

    def next_deadline(self) -> int | None:
        return self.deadline


def sent(times: Sequence[int], **rest: Any) -> Trace:
    """Process 0 sends process 1 a packet at each of these times, over a link of 10 ns."""
    schedule = Schedule(
        protocol="broadcast",
        topology=mesh(2),
        delays=(Delay(10), Delay(10)),
        submissions=tuple(Submission(at, 0, (Message(1),)) for at in times),
        parameters={"level": "pl", "resend_ns": 50},
        **rest,
    )
    Direct.ticks.clear()
    return simulate(validate(schedule), Direct)


def told(trace: Trace, kind: Kind) -> list[tuple[int, int]]:
    """Time and message number of the rows of this kind."""
    return [(row[TIME], row[NUMBER]) for row in trace.rows if row[KIND] == kind]


def test_a_delayed_packet_is_overtaken() -> None:
    trace = sent([0, 5], faults=(Fault(0, 0, FaultKind.DELAY, 30),))

    assert told(trace, Kind.ARRIVED) == [(15, 2), (40, 1)]


def test_the_second_copy_of_a_duplicate_comes_later() -> None:
    trace = sent([0, 5], faults=(Fault(0, 0, FaultKind.DUPLICATE, 30),))

    assert told(trace, Kind.ARRIVED) == [(10, 1), (15, 2), (40, 1)]


def test_beginnings_are_recorded_with_their_columns() -> None:
    assert told(sent([0, 5]), Kind.BEGUN) == [(0, 1), (5, 2)]


PAUSE, RESUME, CRASH = FailureKind.PAUSE, FailureKind.RESUME, FailureKind.CRASH


def test_what_comes_to_a_paused_process_waits_in_its_order_and_timers_are_late() -> None:
    faults = (Fault(0, 0, FaultKind.DELAY, 30),)
    failures = (Failure(12, PAUSE, node=1), Failure(300, RESUME, node=1))
    trace = sent([0, 5, 295], faults=faults, failures=failures)

    assert told(trace, Kind.ARRIVED) == [(300, 2), (300, 1), (305, 3)]
    assert Direct.ticks == [200, 300]
    assert [row[NODE] for row in trace.rows if row[KIND] in (Kind.PAUSED, Kind.RESUMED)] == [1, 1]


def test_a_paused_process_hands_over_nothing_until_it_goes_on() -> None:
    trace = sent([0, 20, 10], failures=(Failure(5, PAUSE, node=0), Failure(50, RESUME, node=0)))

    assert told(trace, Kind.SUBMITTED) == [(0, 1), (50, 2), (50, 3)]


def test_what_waits_at_a_paused_process_is_lost_when_it_crashes() -> None:
    trace = sent([0], failures=(Failure(5, PAUSE, node=1), Failure(50, CRASH, node=1)))

    assert told(trace, Kind.LOST) == [(50, 1)]
    assert told(trace, Kind.ARRIVED) == []


def test_a_run_is_not_over_while_packets_wait_at_a_process_that_never_goes_on() -> None:
    trace = sent([0], failures=(Failure(5, PAUSE, node=1),))

    assert not trace.rows[-1][COLUMNS.index("flags")] & QUIESCENT


def test_a_diagram_shows_beginnings_and_pauses() -> None:
    trace = sent([0], failures=(Failure(5, PAUSE, node=1), Failure(50, RESUME, node=1)))
    text = as_text(diagram(trace))

    assert all(words in text for words in ("begins with 0.1", "is paused", "goes on", "DELIVERS 0.1"))


@pytest.mark.parametrize(
    ("failures", "said"),
    [
        ((Failure(5, RESUME, node=1),), "a resume of node 1, which is up then"),
        ((Failure(5, PAUSE, node=1), Failure(6, PAUSE, node=1)), "a pause of node 1, which is paused then"),
        ((Failure(5, FailureKind.CUT, link=0),), "a cut, which broadcast does not provide for"),
        ((Failure(5, CRASH, node=1), Failure(6, FailureKind.RESTART, node=1)), "a restart, which broadcast does not"),
    ],
)
def test_failures_that_cannot_be_are_refused(failures: tuple[Failure, ...], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        sent([0], failures=failures)
