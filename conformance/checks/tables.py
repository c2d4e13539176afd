"""Tables: what is in flight, by a key of a few integers. One interface in two forms: a Python class for the online
monitor, and one integer array for compiled checks, which then need no memory management at all (counting references
made them ten times slower).

Steps use `find`, `field`, `change`, `put`, `remove`, and to go over all entries `room`, `used`, `field`. A slot is
valid until the next `put` or `remove`.

The array has one row a slot, [used, key ..., fields last first], and one more: [entries, length of a key,
`at_once` - 1]. Slots are found by linear probing. Removing an entry shifts back those behind it, so that no gap is
left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.extending import overload, register_jitable

Key = tuple[int, ...]
Slots = npt.NDArray[np.int64]

# Few: most tables hold a few entries, and each slot slows steps that go over all of them.
FIRST_CAPACITY = 1 << 5
LITTLE = 1 << 9


class PlainTable:
    """The form for the online monitor. keys, fields: by slot; empty where the slot is not used."""

    __slots__ = ("fields", "free", "keys", "places")

    def __init__(self) -> None:
        self.places: dict[Key, int] = {}
        self.keys: list[Key] = []
        self.fields: list[list[int]] = []
        self.free: list[int] = []


def find(table: PlainTable, key: Key) -> int:
    """The slot of the key, or -1."""
    return table.places.get(key, -1)


def field(table: PlainTable, slot: int, number: int) -> int:
    """A field of a used slot, counted from 0."""
    return table.fields[slot][number]


def change(table: PlainTable, slot: int, number: int, value: int) -> None:
    """Give a field of a used slot another value."""
    table.fields[slot][number] = value


def put(table: PlainTable, key: Key, fields: Key) -> None:
    """Enter the fields under the key, in place of those that are there."""
    slot = table.places.get(key, -1)
    if slot < 0:
        if table.free:
            slot = table.free.pop()
            table.keys[slot] = key
        else:
            slot = len(table.keys)
            table.keys.append(key)
            table.fields.append([])
        table.places[key] = slot
    table.fields[slot] = list(fields)


def remove(table: PlainTable, slot: int) -> None:
    """Take out the entry of a used slot."""
    del table.places[table.keys[slot]]
    table.keys[slot], table.fields[slot] = (), []
    table.free.append(slot)


def room(table: PlainTable) -> int:
    """How many slots there are, used or not."""
    return len(table.keys)


def used(table: PlainTable, slot: int) -> bool:
    return table.keys[slot] != ()


# ---------------------------------------------------------------- compiled


def empty_slots(keys: int, fields: int, at_once: int = 1, capacity: int = FIRST_CAPACITY) -> Slots:
    """The array of an empty table. capacity: a power of 2; it becomes larger where more is entered at once."""
    while capacity < 4 * at_once:
        capacity *= 2
    slots = np.zeros((capacity + 1, 1 + keys + fields), dtype=np.int64)
    slots[capacity, 1], slots[capacity, 2] = keys, at_once - 1
    return slots


def is_full(slots: Slots) -> bool:
    """Whether the table must grow before the next `put`."""
    return bool((slots[-1, 0] + slots[-1, 2]) * 2 >= len(slots) - 1)


def grown(slots: Slots) -> Slots:
    """The same entries in twice the room; in four times, where that is little: growing breaks off the pass."""
    capacity = len(slots) - 1
    larger = np.zeros((capacity * (4 if capacity <= LITTLE else 2) + 1, slots.shape[1]), dtype=np.int64)
    _move(slots, larger)
    return larger


# Odd numbers of 64 bits without a pattern (from the digits of pi), for a product that mixes.
_MIX_1, _MIX_2 = 0x243F6A8885A308D3, 0x13198A2E03707345


@register_jitable
def _home(key: Any, keys: int, mask: int) -> int:
    """The slot at which the search for a key begins. Products wrap here, and are meant to."""
    mixed = 0
    for number in range(keys):
        mixed = (mixed ^ key[number]) * _MIX_1
        mixed ^= (mixed >> 29) & 0x7FFFFFFFF
    return int(((mixed * _MIX_2) >> 20) & mask)


@register_jitable
def _home_of_slot(slots: Slots, slot: int, keys: int, mask: int) -> int:
    """The same for the key in a slot: a view of the key would need memory management."""
    mixed = 0
    for number in range(keys):
        mixed = (mixed ^ slots[slot, 1 + number]) * _MIX_1
        mixed ^= (mixed >> 29) & 0x7FFFFFFFF
    return int(((mixed * _MIX_2) >> 20) & mask)


@register_jitable
def _search(slots: Slots, key: Any, keys: int) -> int:
    """The key's slot, or the free slot in which it belongs."""
    mask = slots.shape[0] - 2
    slot = _home(key, keys, mask)
    while slots[slot, 0] != 0:
        same = True
        for number in range(keys):
            if slots[slot, 1 + number] != key[number]:
                same = False
        if same:
            return slot
        slot = (slot + 1) & mask
    return slot


@njit(cache=True)
def _move(slots: Slots, larger: Slots) -> None:
    count, mask = slots.shape[0] - 1, larger.shape[0] - 2
    keys = slots[count, 1]
    for old in range(count):
        if slots[old, 0] != 0:
            slot = _home_of_slot(slots, old, keys, mask)
            while larger[slot, 0] != 0:
                slot = (slot + 1) & mask
            for column in range(slots.shape[1]):
                larger[slot, column] = slots[old, column]
    larger[mask + 1] = slots[count]


@overload(find)
def _find(table: Any, key: Any) -> Any:
    keys = len(key)

    def compiled(table: Any, key: Any) -> Any:
        slot = _search(table, key, keys)
        return slot if table[slot, 0] != 0 else -1

    return compiled


@overload(field)
def _field(table: Any, slot: Any, number: Any) -> Any:
    def compiled(table: Any, slot: Any, number: Any) -> Any:
        return table[slot, table.shape[1] - 1 - number]

    return compiled


@overload(change)
def _change(table: Any, slot: Any, number: Any, value: Any) -> Any:
    def compiled(table: Any, slot: Any, number: Any, value: Any) -> None:
        table[slot, table.shape[1] - 1 - number] = value

    return compiled


@overload(put)
def _put(table: Any, key: Any, fields: Any) -> Any:
    keys, count = len(key), len(fields)

    def compiled(table: Any, key: Any, fields: Any) -> None:
        slot = _search(table, key, keys)
        if table[slot, 0] == 0:
            table[slot, 0] = 1
            table[table.shape[0] - 1, 0] += 1
            for number in range(keys):
                table[slot, 1 + number] = key[number]
        for number in range(count):
            table[slot, table.shape[1] - 1 - number] = fields[number]

    return compiled


@overload(remove)
def _remove(table: Any, slot: Any) -> Any:
    def compiled(table: Any, slot: Any) -> None:
        mask, keys = table.shape[0] - 2, table[table.shape[0] - 1, 1]
        table[mask + 1, 0] -= 1
        gap = slot
        while True:
            slot = (slot + 1) & mask
            if table[slot, 0] == 0:
                break
            # An entry moves into the gap unless its search begins behind the gap.
            if ((slot - _home_of_slot(table, slot, keys, mask)) & mask) >= ((slot - gap) & mask):
                for column in range(table.shape[1]):
                    table[gap, column] = table[slot, column]
                gap = slot
        table[gap, 0] = 0

    return compiled


@overload(room)
def _room(table: Any) -> Any:
    def compiled(table: Any) -> Any:
        return table.shape[0] - 1

    return compiled


@overload(used)
def _used(table: Any, slot: Any) -> Any:
    def compiled(table: Any, slot: Any) -> Any:
        return table[slot, 0] != 0

    return compiled
