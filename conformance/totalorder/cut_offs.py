"""What hosts know of others that have failed (TO-FAIL)."""

from __future__ import annotations

from scatterproof.conformance.checks.step import PerPair, State, derive
from scatterproof.conformance.totalorder.packets import names_failed
from scatterproof.conformance.totalorder.rows import Net, Row
from scatterproof.spec.topology import Role
from scatterproof.spec.trace import Kind


@derive(kinds=(Kind.ARRIVED,), at=Role.HOST, told=PerPair(0), cut=PerPair(-1))
def cut_offs(row: Row, net: Net, told: State, cut: State) -> None:
    """By host and other host, where failures are handled.

    told: whether a notice came that the other has failed.
    cut: the least timestamp of the other's that notices told the host to discard, in ns; below 0 for none.
    """
    if not names_failed(row, net) or row.receiver != row.node:
        return
    pair = row.node * net.node_count + row.sender
    told[pair] = 1
    if cut[pair] < 0 or 0 <= row.timestamp < cut[pair]:
        cut[pair] = row.timestamp
