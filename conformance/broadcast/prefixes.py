"""Sets of numbers from 1 on that fill up nearly in order, one for each of several places: `upto`, by place, the number
up to which all are in; and `beyond`, the numbers beyond it, by place and number, each with the row that it came with.
"""

from __future__ import annotations

from numba.extending import register_jitable

from scatterproof.conformance.checks.step import Ints, State, Table, TableState
from scatterproof.conformance.checks.tables import find, put, remove

# The fields of a number beyond.
PLACE, NUMBER, SINCE = range(3)
BEYOND = Table(2, 3)


@register_jitable
def is_in(upto: Ints, beyond: TableState, place: int, number: int) -> bool:
    return number <= upto[place] or find(beyond, (place, number)) >= 0


@register_jitable
def enter(upto: State, beyond: TableState, place: int, number: int, position: int) -> bool:
    """Enter a number that is not in yet; whether one below it is missing."""
    if number != upto[place] + 1:
        put(beyond, (place, number), (place, number, position))
        return True
    upto[place] = number
    slot = find(beyond, (place, number + 1))
    while slot >= 0:
        remove(beyond, slot)
        upto[place] += 1
        slot = find(beyond, (place, upto[place] + 1))
    return False
