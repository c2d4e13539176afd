"""What many checks ask of the packet in a row. A packet may say anything: it may name nodes that there are not."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.totalorder.rows import Net, Row
from scatterproof.spec.totalorder.messages import ANSWER, PacketKind

DATA, NOTICE = int(PacketKind.DATA), int(PacketKind.NOTICE)


@register_jitable
def is_node(number: int, net: Net) -> bool:
    return 0 <= number < net.node_count


@register_jitable
def is_resent(flags: int) -> bool:
    """Whether a packet's flags say that it was put on its first link before."""
    return max(flags, 0) & 1 == 1


@register_jitable
def is_own_data(row: Row) -> bool:
    """Whether the sender of a data message puts it on a link."""
    return row.packet == DATA and row.node == row.sender


@register_jitable
def is_given(row: Row) -> bool:
    """Whether it does so for the first time, by what the message says."""
    return is_own_data(row) and not is_resent(row.flags)


@register_jitable
def names_failed(row: Row, net: Net) -> bool:
    """Whether the packet tells that its sender has failed (TO-FAIL)."""
    return net.failure_timeout_ns > 0 and row.packet == NOTICE and row.number == 0 and is_node(row.sender, net)


@register_jitable
def is_recall(row: Row, net: Net) -> bool:
    """Whether the packet recalls a message of its sender (TO-ATOMIC)."""
    return net.failure_timeout_ns > 0 and row.packet == NOTICE and 0 < row.number < ANSWER
