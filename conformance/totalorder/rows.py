"""A row of a trace of total order, the network that it is of, and the registers of ingress links, as the steps of
checks are called with them."""

from __future__ import annotations

from typing import NamedTuple

from scatterproof.conformance.checks.step import Ints


class Row(NamedTuple):
    """Where it is in its run, and its columns (spec/totalorder/trace.toml)."""

    position: int
    time_ns: int
    clock_ns: int
    kind: int
    node: int
    link: int
    link_seq: int
    sender: int
    receiver: int
    number: int
    digest: int
    flags: int
    packet: int
    scattering: int
    timestamp: int
    barrier: int
    ack_barrier: int
    loss_record: int
    greatest: int


class Net(NamedTuple):
    """The network (`scatterproof.conformance.checks.surroundings`), whose barriers nodes and links wait for
    (`scatterproof.conformance.totalorder.surroundings`), and what all nodes are set to
    (`scatterproof.conformance.totalorder.parameters`)."""

    node_count: int
    link_count: int
    node_is_host: Ints
    link_source: Ints
    link_target: Ints
    next_link: Ints
    feeds_first: Ints
    feeds_links: Ints
    feeds_group: Ints
    ingress_first: Ints
    ingress_links: Ints
    environment: int
    loses: int
    late: int
    fill_barrier: int
    beacon_interval_ns: int
    adjustment_interval_ns: int
    failure_timeout_ns: int
    causal: int


class NewestBarriers(NamedTuple):
    """By link, as `newest_barriers` has them.

    newest: the greatest barrier that arrived, in ns.
    newest_at: the row in which it did, or -1.
    """

    newest: Ints
    newest_at: Ints


class LossRegisters(NamedTuple):
    """By link, as `loss_registers` has them; times in ns.

    newest_ack, newest_ack_at: the greatest ack barrier that arrived, and the row in which it did, or -1.
    record, record_at: the loss record, and the row that raised it, or -1.
    gap_record: that part of the record which gaps in the link's numbers made.
    most: the record that covers what a node said before it began anew.
    gaps: in all, how many packets showed a gap (one number).
    """

    newest_ack: Ints
    newest_ack_at: Ints
    record: Ints
    record_at: Ints
    gap_record: Ints
    most: Ints
    gaps: Ints


class SilentLinks(NamedTuple):
    """By ingress link, as `silences` has them.

    live: whether the switch cannot have given the link up.
    low_barrier, low_ack: the newest ones that came before it may have done so, in ns.
    """

    live: Ints
    low_barrier: Ints
    low_ack: Ints
