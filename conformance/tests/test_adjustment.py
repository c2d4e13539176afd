"""Timestamp adjustment from outside: the worked example of source document 000 (environment F), and what adjustment
gains. Hosts are joined directly, so that every way has a delay of its own."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scatterproof.conformance.judge import judge
from scatterproof.conformance.network.run import simulate
from scatterproof.conformance.tests.runs import change, value
from scatterproof.conformance.totalorder.oracles.adjustment import adjustment
from scatterproof.conformance.totalorder.oracles.whole import Whole
from scatterproof.conformance.verdict import Verdict
from scatterproof.impl.totalorder import make_core
from scatterproof.spec.schedule import Delay, Message, Schedule, Submission, validate
from scatterproof.spec.topology import Link, Node, Role, Topology
from scatterproof.spec.totalorder.messages import PacketKind
from scatterproof.spec.trace import Trace

ROUND_NS = 1_000
SCATTERED_NS = 4_000  # when the first rounds are long over


def run(delays: Sequence[Sequence[int]], times: Sequence[int], *, interval: int = ROUND_NS) -> Trace:
    """delays[s][r] from sender s to receiver r, and as long back. Sender s scatters to all receivers at times[s]."""
    senders, receivers = len(delays), len(delays[0])
    nodes = tuple(Node(f"S{s + 1}", Role.HOST) for s in range(senders))
    nodes += tuple(Node(f"R{r + 1}", Role.HOST) for r in range(receivers))
    ways = [(s, senders + r, delays[s][r]) for s in range(senders) for r in range(receivers)]
    network = Topology(nodes, tuple(Link(*ends) for s, r, _ in ways for ends in ((s, r), (r, s))))
    schedule = Schedule(
        "totalorder",
        network,
        tuple(Delay(delay) for _, _, delay in ways for _ in range(2)),
        tuple(
            Submission(time_ns, s, tuple(Message(senders + r) for r in range(receivers)))
            for s, time_ns in enumerate(times)
        ),
        parameters={"environment": "C", "beacon_interval_ns": 400, "adjustment_interval_ns": interval},
    )
    return simulate(validate(schedule), make_core)


def adjustments(trace: Trace, senders: int) -> list[int]:
    whole = Whole(trace)
    return [adjustment(whole, sender, len(trace.rows)) for sender in range(senders)]


def spreads(delays: Sequence[Sequence[int]], shifts: Sequence[int]) -> list[int]:
    """At each receiver: from the first to the last arrival of messages that bear one timestamp."""
    arrivals = [[row[r] - shift for row, shift in zip(delays, shifts, strict=True)] for r in range(len(delays[0]))]
    return [max(times) - min(times) for times in arrivals]


EXAMPLE = ((10, 10), (1, 5))


def test_to_adj_ex_receivers_return_9_and_5_and_the_senders_adjust_by_5_and_0() -> None:
    trace = run(EXAMPLE, (SCATTERED_NS, SCATTERED_NS))
    whole = Whole(trace)
    begun = next(event.clock_ns for event in whole.sent if event.packet == PacketKind.ADJUST)

    def returned(receiver: int) -> set[int]:
        answers = [
            event
            for event in whole.sent
            if event.packet == PacketKind.ADJUSTED and event.node == receiver and event.time_ns < begun + ROUND_NS
        ]
        return {event.timestamp - begun for event in answers}

    assert (returned(2), returned(3)) == ({9}, {5})
    assert adjustments(trace, 2) == [5, 0]
    assert {result.verdict for result in judge(trace) if result.clause.startswith("TO-ADJ-")} == {Verdict.PASS}


@pytest.mark.parametrize(
    ("interval", "offset", "waits"), [(0, 0, (9, 5)), (ROUND_NS, 5, (4, 0))], ids=["without", "with"]
)
def test_to_adj_ex_waiting_falls_from_9_to_4_and_from_5_to_0(
    interval: int, offset: int, waits: tuple[int, int]
) -> None:
    """S2 scatters so much later that both scatterings bear one timestamp."""
    trace = run(EXAMPLE, (SCATTERED_NS, SCATTERED_NS + offset), interval=interval)
    data = [event for event in Whole(trace).arrived if event.is_data]
    assert len({event.timestamp for event in data}) == 1

    def wait(receiver: int) -> int:
        times = [event.time_ns for event in data if event.node == receiver]
        return max(times) - min(times)

    assert (wait(2), wait(3)) == waits


_DELAYS = st.integers(2, 3).flatmap(
    lambda receivers: st.lists(
        st.lists(st.integers(0, 60), min_size=receivers, max_size=receivers), min_size=2, max_size=3
    )
)


@settings(max_examples=40)
@given(delays=_DELAYS)
def test_to_adj_gain_arrivals_of_equal_timestamps_lie_no_further_apart_than_without(delays: list[list[int]]) -> None:
    trace = run(delays, [SCATTERED_NS] * len(delays))
    before, after = spreads(delays, [0] * len(delays)), spreads(delays, adjustments(trace, len(delays)))
    assert all(later <= earlier for earlier, later in zip(before, after, strict=True))
    assert Verdict.FAIL not in {result.verdict for result in judge(trace)}


def test_to_adj_gain_the_latency_of_one_sender_may_grow() -> None:
    """S3 has to wait 2 instead of 1 at both receivers, though no spread has grown."""
    delays = ((0, 1), (1, 0), (1, 1))
    trace = run(delays, [SCATTERED_NS] * 3)
    assert adjustments(trace, 3) == [0, 0, 1]
    assert spreads(delays, (0, 0, 1)) == spreads(delays, (0, 0, 0)) == [1, 1]


def test_to_adj_2_takes_nothing_of_an_absurd_answer() -> None:
    """The oracle computes as a host does that refuses times that no clock shows."""
    trace = run(EXAMPLE, (SCATTERED_NS, SCATTERED_NS))
    absurd = 1 << 62
    rows = [change(row, timestamp=absurd) if value(row, "packet") == PacketKind.ADJUSTED else row for row in trace.rows]
    assert adjustments(Trace(trace.header, rows), 2) == [0, 0]
