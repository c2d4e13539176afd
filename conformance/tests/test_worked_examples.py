"""The two worked examples of source document 000 (paragraphs on figures 1 and 2), with the document's numbers."""

from __future__ import annotations

from collections.abc import Mapping

from scatterproof.conformance.network.run import simulate
from scatterproof.conformance.network.topologies import example_link, first_example, second_example
from scatterproof.impl.totalorder import make_core
from scatterproof.spec.schedule import Clock, Delay, Message, Schedule, Submission, validate
from scatterproof.spec.topology import NodeId, Topology
from scatterproof.spec.trace import Kind, Trace

RECEIVER_A, RECEIVER_B = 4, 5


def scattered(
    network: Topology, timestamps: Mapping[NodeId, int], receivers: Mapping[NodeId, tuple[int, ...]]
) -> Trace:
    """Each sender scatters once, its clock reading the given timestamp, over links of equal delay (environment A).

    Later senders' messages come last, so that every switch knows all its ingress links when the last one arrives.
    """
    clocks = tuple(Clock(timestamps.get(node, 1) - 1) for node in range(len(network.nodes)))
    submissions = tuple(
        Submission(0, sender, tuple(Message(receiver) for receiver in receivers[sender])) for sender in timestamps
    )
    parameters: dict[str, int | str] = {"environment": "A", "beacon_interval_ns": 1000}
    delays = tuple(Delay(100) for _ in network.links)
    return simulate(
        validate(Schedule("totalorder", network, delays, submissions, clocks, parameters)), make_core, iut="reference"
    )


def barriers(trace: Trace, letter: str, kind: Kind) -> list[int]:
    """The barriers on the document's link 107<letter>, in order."""
    link = example_link(trace.header.topology, letter)
    columns = zip(trace.column("link"), trace.column("kind"), trace.column("barrier"), strict=True)
    return [barrier for at, what, barrier in columns if at == link and what == kind]


BOTH = (RECEIVER_A, RECEIVER_B)


def test_to_bar_min_ingress_barriers_1_and_4_leave_as_1_on_both_egress_links() -> None:
    # 101a's barrier is 1, 101b's is 4; the numbers of 101c and 101d do not matter to switch 102a.
    trace = scattered(first_example(), {0: 1, 1: 4, 2: 2, 3: 3}, dict.fromkeys(range(4), BOTH))

    assert set(barriers(trace, "a", Kind.ARRIVED)) == {1}
    assert set(barriers(trace, "b", Kind.ARRIVED)) == {4}
    # 0 until both links have spoken, then the minimum.
    assert barriers(trace, "e", Kind.SENT) == [0, 1]
    assert barriers(trace, "f", Kind.SENT) == [0, 1]


def test_to_bar_part_in_the_first_example_both_receivers_end_at_the_minimum_of_all_senders() -> None:
    trace = scattered(first_example(), {0: 1, 1: 4, 2: 2, 3: 3}, dict.fromkeys(range(4), BOTH))

    assert max(barriers(trace, "i", Kind.ARRIVED)) == 1
    assert max(barriers(trace, "j", Kind.ARRIVED)) == 1


def test_to_bar_part_in_the_second_example_receiver_b_ends_at_2_while_receiver_a_ends_at_1() -> None:
    # 101a and 101b do not reach 103b, so that its minimum is that of 101c and 101d.
    reach = {0: (RECEIVER_A,), 1: (RECEIVER_A,), 2: BOTH, 3: BOTH}
    trace = scattered(second_example(), {0: 1, 1: 4, 2: 2, 3: 3}, reach)

    assert max(barriers(trace, "i", Kind.ARRIVED)) == 1
    assert max(barriers(trace, "j", Kind.ARRIVED)) == 2
