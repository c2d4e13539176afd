"""What BC-PL-REAL and BC-URB-REAL share: whether what is delivered came, and what is begun with was handed over."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.broadcast.knowledge import Learnt
from scatterproof.conformance.broadcast.rows import Row
from scatterproof.conformance.checks.step import HOLDS, SILENT, Outcome, TableState, violated
from scatterproof.conformance.checks.tables import field, find, remove


@register_jitable
def delivered_wrongly(row: Row, learnt: Learnt) -> Outcome:
    """Ways 0 and 1: no run with the message has come; none with these contents."""
    if learnt.again:
        return SILENT
    if learnt.origin < 0:
        return violated(0, 0, row.number, -1)
    return HOLDS if learnt.same else violated(1, learnt.content, row.digest, learnt.origin)


@register_jitable
def is_begun(row: Row, last: int) -> bool:
    """Whether the run of a packet is among the messages 1 to `last`."""
    return 1 <= row.number <= last and row.count <= last - row.number + 1


@register_jitable
def begun_wrongly(row: Row, learnt: Learnt, last_handed: int, handed: TableState) -> Outcome:
    """Way 2: a run begins with the next message handed over, ends at one that was, and has the contents of all. handed:
    by (node, receiver, number), the digest."""
    if not row.is_run or row.number != learnt.begun_before + 1 or row.number + row.count - 1 > last_handed:
        return violated(2, learnt.begun_before + 1, row.number, -1)
    same = True
    for one in range(row.number, row.number + row.count):
        slot = find(handed, (row.node, row.receiver, one))
        if slot < 0:
            same = False
        else:
            same = same and field(handed, slot, 0) == row.digest
            remove(handed, slot)
    return HOLDS if same else violated(2, row.number, row.number, -1)
