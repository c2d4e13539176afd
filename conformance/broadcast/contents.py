"""What BC-PL-REAL and BC-URB-REAL share: whether what is delivered came, and what is begun with was handed over."""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.broadcast.knowledge import is_run
from scatterproof.conformance.checks.step import HOLDS, SILENT, Outcome, TableState, violated
from scatterproof.conformance.checks.tables import field, find, remove


@register_jitable
def delivered_wrongly(number: int, digest: int, again: int, same: int, content: int, origin: int) -> Outcome:
    """Ways 0 and 1: no run with the message has come; none with these contents."""
    if again:
        return SILENT
    if origin < 0:
        return violated(0, 0, number, -1)
    return HOLDS if same else violated(1, content, digest, origin)


@register_jitable
def begun_wrongly(
    node: int, receiver: int, number: int, count: int, digest: int, before: int, last_handed: int, handed: TableState
) -> Outcome:
    """Way 2: a run begins with the next message handed over, ends at one that was, and has the contents of all. handed:
    by (node, receiver, number), the digest."""
    if not is_run(number, count) or number != before + 1 or number + count - 1 > last_handed:
        return violated(2, before + 1, number, -1)
    same = True
    for one in range(number, number + count):
        slot = find(handed, (node, receiver, one))
        if slot < 0:
            same = False
        else:
            same = same and field(handed, slot, 0) == digest
            remove(handed, slot)
    return HOLDS if same else violated(2, number, number, -1)
