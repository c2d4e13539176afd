"""Tables: what is in flight, by a key of a few integers. One interface in two forms: a Python class for the online
monitor, and one integer array for compiled checks, which then need no memory management at all (counting references
made them ten times slower).

Steps use `find`, `field`, `change`, `put`, `remove`, and to go over all entries `room`, `used`, `field`, `is_less`. A
slot is valid until the next `put` or `remove`.

The array has one row a slot, [bucket, key ..., fields last first], and one more: [entries, length of a key,
`at_once` - 1]. Entries fill the first slots, so that going over all of them takes no longer than there are; when one is
removed, the last one takes its slot. A bucket holds the number of a slot, from 1, or 0. Buckets are found by linear
probing, and removing shifts back those behind, so that no gap is left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, types
from numba.extending import intrinsic, overload, register_jitable

Key = tuple[int, ...]
Slots = npt.NDArray[np.int64]

# Few: most tables hold a few entries, and a run has many tables.
FIRST_CAPACITY = 1 << 6
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


@register_jitable
def is_less(table: Any, slot: int, other: int, number: int) -> bool:
    """Whether a used slot is less in this field than another one, or there is no other (-1)."""
    return other < 0 or bool(field(table, slot, number) < field(table, other, number))


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


def bare(value: Any) -> Any:
    """The memory of a contiguous array of one dimension, and of anything else itself. Reading there asks for no length,
    as an array does to count from its end; compiled steps took a fifth longer with arrays."""
    return value


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
def _bucket(slots: Slots, key: Any, keys: int) -> int:
    """The key's bucket, or the free one in which it belongs."""
    mask = slots.shape[0] - 2
    bucket = _home(key, keys, mask)
    while slots[bucket, 0] != 0:
        slot = slots[bucket, 0] - 1
        same = True
        for number in range(keys):
            if slots[slot, 1 + number] != key[number]:
                same = False
        if same:
            return bucket
        bucket = (bucket + 1) & mask
    return bucket


@register_jitable
def _bucket_of_slot(slots: Slots, slot: int, keys: int, mask: int) -> int:
    bucket = _home_of_slot(slots, slot, keys, mask)
    while slots[bucket, 0] != slot + 1:
        bucket = (bucket + 1) & mask
    return bucket


@njit(cache=True)
def _move(slots: Slots, larger: Slots) -> None:
    capacity, mask = slots.shape[0] - 1, larger.shape[0] - 2
    count, keys = slots[capacity, 0], slots[capacity, 1]
    for slot in range(count):
        bucket = _home_of_slot(slots, slot, keys, mask)
        while larger[bucket, 0] != 0:
            bucket = (bucket + 1) & mask
        larger[bucket, 0] = slot + 1
        for column in range(1, slots.shape[1]):
            larger[slot, column] = slots[slot, column]
    larger[mask + 1] = slots[capacity]


@overload(find)
def _find(table: Any, key: Any) -> Any:
    keys = len(key)

    def compiled(table: Any, key: Any) -> Any:
        return table[_bucket(table, key, keys), 0] - 1

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
        bucket, last = _bucket(table, key, keys), table.shape[0] - 1
        slot = table[bucket, 0] - 1
        if slot < 0:
            slot = table[last, 0]
            table[last, 0] = table[bucket, 0] = slot + 1
            for number in range(keys):
                table[slot, 1 + number] = key[number]
        for number in range(count):
            table[slot, table.shape[1] - 1 - number] = fields[number]

    return compiled


@overload(remove)
def _remove(table: Any, slot: Any) -> Any:
    def compiled(table: Any, slot: Any) -> None:
        mask, keys = table.shape[0] - 2, table[table.shape[0] - 1, 1]
        gap = bucket = _bucket_of_slot(table, slot, keys, mask)
        while True:
            bucket = (bucket + 1) & mask
            if table[bucket, 0] == 0:
                break
            # What is in a bucket moves into the gap unless its search begins behind the gap.
            home = _home_of_slot(table, table[bucket, 0] - 1, keys, mask)
            if ((bucket - home) & mask) >= ((bucket - gap) & mask):
                table[gap, 0] = table[bucket, 0]
                gap = bucket
        table[gap, 0] = 0
        last = table[mask + 1, 0] - 1
        table[mask + 1, 0] = last
        if slot != last:
            table[_bucket_of_slot(table, last, keys, mask), 0] = slot + 1
            for column in range(1, table.shape[1]):
                table[slot, column] = table[last, column]

    return compiled


@overload(room)
def _room(table: Any) -> Any:
    def compiled(table: Any) -> Any:
        return table[table.shape[0] - 1, 0]

    return compiled


@overload(used)
def _used(table: Any, slot: Any) -> Any:
    def compiled(table: Any, slot: Any) -> Any:
        return slot < table[table.shape[0] - 1, 0]

    return compiled


@intrinsic
def _memory(typingctx: Any, array: Any) -> Any:
    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(array)(context, builder, arguments[0]).data

    pointer: Any = types.CPointer(array.dtype)  # type: ignore[no-untyped-call]
    return pointer(array), compiled


@overload(bare)
def _bare(value: Any) -> Any:
    def of_array(value: Any) -> Any:
        return _memory(value)  # type: ignore[call-arg]

    def of_anything(value: Any) -> Any:
        return value

    return of_array if isinstance(value, types.Array) and value.ndim == 1 and value.layout == "C" else of_anything
