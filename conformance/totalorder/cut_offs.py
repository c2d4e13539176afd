"""What hosts know of others that have failed (TO-FAIL)."""

from __future__ import annotations

from scatterproof.conformance.checks.step import PerPair, State, derive
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import PacketKind
from scatterproof.spec.trace import Kind

NOTICE = int(PacketKind.NOTICE)


@derive(kinds=(Kind.ARRIVED,), at=Role.HOST, told=PerPair(0), cut=PerPair(-1))
def cut_offs(
    node: int,
    sender: int,
    receiver: int,
    number: int,
    packet: int,
    timestamp: int,
    failure_timeout_ns: int,
    node_count: int,
    told: State,
    cut: State,
) -> None:
    """By host and another, where failures are handled: told, whether a notice of its failure came; cut, the least
    timestamp that notices told the host to discard, -1 for none."""
    if packet != NOTICE or number != 0 or not failure_timeout_ns or receiver != node or not 0 <= sender < node_count:
        return
    pair = node * node_count + sender
    told[pair] = 1
    if timestamp >= 0:
        cut[pair] = timestamp if cut[pair] < 0 else min(cut[pair], timestamp)
