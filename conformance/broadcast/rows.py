"""A row of a trace of the broadcast stack, and what it is a row of, as the steps of checks are called with them."""

from __future__ import annotations

from typing import NamedTuple

from scatterproof.conformance.broadcast.parameters import MAX_NUMBER, MAX_RUN
from scatterproof.conformance.checks.step import Ints, derive
from scatterproof.spec.broadcast.messages import PacketKind
from scatterproof.spec.topology import Role
from scatterproof.spec.trace import Kind

DATA, ACK = int(PacketKind.DATA), int(PacketKind.ACK)


class Row(NamedTuple):
    """Where it is in its run, its columns (spec/broadcast/trace.toml), and whether it is `well_formed`."""

    position: int
    kind: int
    node: int
    link: int
    sender: int
    receiver: int
    number: int
    digest: int
    flags: int
    packet: int
    pseq: int
    count: int  # type: ignore[assignment]  # instead of the method that tuples have
    clock_sum: int
    clock_weighted: int
    is_run: int
    is_data: int
    is_ack: int


class Net(NamedTuple):
    """The network (`scatterproof.conformance.checks.surroundings`), and what all its processes are set to."""

    level: int
    node_count: int
    link_count: int
    link_source: Ints
    link_target: Ints
    next_link: Ints
    depends: Ints


@derive("is_run", "is_data", "is_ack", kinds=(Kind.BEGUN, Kind.SENT, Kind.ARRIVED), at=Role.HOST)
def well_formed(sender: int, number: int, packet: int, pseq: int, count: int, node_count: int) -> tuple[int, int, int]:
    """Whether the row names a run of messages; whether it is a possible data packet; whether it is a possible
    acknowledgement."""
    is_run = 1 <= number <= MAX_NUMBER and 1 <= count <= MAX_RUN
    if not 1 <= pseq <= MAX_NUMBER:
        return int(is_run), 0, 0
    is_data = packet == DATA and 0 <= sender < node_count and is_run
    is_ack = packet == ACK and 0 <= number <= MAX_NUMBER and 1 <= count <= MAX_NUMBER
    return int(is_run), int(is_data), int(is_ack)
