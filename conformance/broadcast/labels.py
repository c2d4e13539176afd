"""What packets, submissions, beginnings and deliveries are called in a diagram: c.k is message k of process c."""

from __future__ import annotations

from collections.abc import Mapping

from scatterproof.spec.broadcast.messages import PacketKind
from scatterproof.spec.trace import Kind


def label(row: Mapping[str, int]) -> str:
    """A few words for a row, given by column."""
    first, count = row["number"], row["count"]
    run = f"{row['sender']}.{first}" + (f"-{first + count - 1}" if count > 1 else "")
    match row["kind"]:
        case Kind.SUBMITTED:
            return f"no. {first}" + (f" to {row['receiver']}" if row["receiver"] >= 0 else "")
        case Kind.BEGUN | Kind.DELIVERED:
            return run
    if row["packet"] == PacketKind.DATA:
        return f"{run} #{row['pseq']}" + (" again" if row["flags"] == 1 else "")
    last = f"-{row['pseq'] + count - 1}" if count > 1 else ""
    return f"ack #{row['pseq']}{last}, all to #{first}"
