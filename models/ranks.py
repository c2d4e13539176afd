"""Times in 64 bits as small integers for TLC, whose integers have 32: a renumbering that keeps order and successors.

Sound for a module that compares times, and first adds 1 to or takes 1 from one of them: for all x and y that are
renumbered, x < y, x = y + 1 and x > y + 1 each hold exactly where they hold of their ranks, as a gap of 2 or more
shrinks to 2 and no further. Sums and differences of two times mean nothing in ranks: where a module needs one, it must
be computed first, and be renumbered with the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

_GAP = 2  # what a gap of 2 or more shrinks to


def ranks(times: Iterable[int]) -> dict[int, int]:
    """Each time's rank. 0 and -1 are always among them, as their own ranks."""
    ordered = sorted({*times, -1, 0})
    rank = {ordered[0]: 0}
    for lower, upper in pairwise(ordered):
        rank[upper] = rank[lower] + min(upper - lower, _GAP)
    zero = rank[0]
    return {time: found - zero for time, found in rank.items()}
