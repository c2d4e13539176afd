"""What packets, submissions and deliveries are called in a diagram.

s@t is the message of host s with timestamp t, in ns; a packet's barrier b, ack barrier a and loss record r follow it.
"""

from __future__ import annotations

from collections.abc import Mapping

from scatterproof.spec.totalorder.messages import NO_BARRIER, NO_LOSS, PacketKind
from scatterproof.spec.trace import Kind


def label(row: Mapping[str, int]) -> str:
    """A few words for a row, given by column."""
    if row["kind"] == Kind.SUBMITTED:
        return f"no. {row['number']} to {row['receiver']}"
    if row["kind"] == Kind.DELIVERED:
        return f"{row['sender']}@{row['timestamp']}"
    return " ".join([_packet(row), *_promises(row)])


def _packet(row: Mapping[str, int]) -> str:
    match row["packet"]:
        case PacketKind.DATA:
            again = " again" if row["flags"] & 1 else ""
            return f"{row['sender']}@{row['timestamp']}{again}"
        case PacketKind.BEACON:
            return "beacon"
        case PacketKind.ACK:
            return f"ack {row['number']} of {row['receiver']}"
        case PacketKind.ADJUST | PacketKind.ADJUSTED:
            return f"{'adjust' if row['packet'] == PacketKind.ADJUST else 'adjusted'} {row['timestamp']}"
        case _:
            return f"{row['sender']} failed at {row['timestamp']}"


def _promises(row: Mapping[str, int]) -> list[str]:
    told = []
    if row["barrier"] != NO_BARRIER:
        told.append(f"b{row['barrier']}")
    if row["ack_barrier"] != NO_BARRIER:
        told.append(f"a{row['ack_barrier']}")
    if row["loss_record"] > NO_LOSS:
        told.append(f"r{row['loss_record']}")
    return told
