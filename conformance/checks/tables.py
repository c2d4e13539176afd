"""Tables: what is in flight, by a key of a few integers. One interface in two forms: a Python class for the online
monitor, and one integer array for compiled checks, which then need no memory management at all (counting references
made them ten times slower).

Steps use `find`, `field`, `change`, `put`, `remove`, and to go over all entries `room`, `used`, `field`, `is_less`. A
slot is valid until the next `put` or `remove`.

The array holds [entries, entries at which it is full, buckets - 1, integers a slot], then the slots, each [digest of
the key, key ..., fields last first], then the buckets. Entries fill the first slots, so that going over all of them
takes no longer than there are; when one is removed, the last one takes its slot. A bucket holds the number of a slot,
from 1, below the upper half of the digest, so that a slot with another key is seldom looked at; or 0. Buckets are found
by linear probing, and removing shifts back those behind, so that no gap is left. Steps are given the array as
`opened` has it: its slots and its buckets as bare memory, buckets - 1, and integers a slot.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, types
from numba.extending import intrinsic, overload, register_jitable

Key = tuple[int, ...]
Slots = npt.NDArray[np.int64]

# Buckets. Few: most tables hold a few entries, and a run has many tables.
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

_HEAD = 4
_ENTRIES, _FULL_AT, _MASK, _WIDTH = range(_HEAD)
_UPPER = -(1 << 32)
_INLINE: Any = {"forceinline": True}
# Odd numbers of 64 bits without a pattern (from the digits of pi), for products that mix.
_MIX_1, _MIX_2, _DOWN = np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707345), np.uint64(29)


def empty_table(keys: int, fields: int, at_once: int = 1, capacity: int = FIRST_CAPACITY) -> Slots:
    """The array of an empty table. capacity: how many buckets, a power of 2; it becomes larger where more is entered at
    once."""
    while capacity < 4 * at_once:
        capacity *= 2
    return _empty(capacity, 1 + keys + fields, at_once)


def _empty(capacity: int, width: int, at_once: int) -> Slots:
    table = np.zeros(_HEAD + capacity // 2 * width + capacity, dtype=np.int64)
    table[:_HEAD] = 0, capacity // 2 - at_once + 1, capacity - 1, width
    return table


def capacity_of(table: Slots) -> int:
    """How many buckets it has; half as many entries have room."""
    return int(table[_MASK]) + 1


def is_full(table: Slots) -> bool:
    """Whether the table must grow before the next `put`."""
    return bool(table[_ENTRIES] >= table[_FULL_AT])


def grown(table: Slots) -> Slots:
    """The same entries in twice the room; in four times, where that is little: growing breaks off the pass."""
    capacity, at_once = capacity_of(table), capacity_of(table) // 2 - int(table[_FULL_AT]) + 1
    larger = _empty(capacity * (4 if capacity <= LITTLE else 2), int(table[_WIDTH]), at_once)
    last = _HEAD + int(table[_ENTRIES] * table[_WIDTH])
    larger[_HEAD:last] = table[_HEAD:last]
    larger[_ENTRIES] = table[_ENTRIES]
    _enter_again(larger)
    return larger


def clear(table: Slots) -> None:
    """Take out all entries."""
    if table[_ENTRIES]:
        table[_ENTRIES] = 0
        table[len(table) - capacity_of(table) :] = 0


def bare(value: Any) -> Any:
    """The memory of a contiguous array of one dimension, and of anything else itself. Reading there asks for no length,
    as an array does to count from its end; compiled steps took a fifth longer with arrays."""
    return value


@intrinsic
def _address(typingctx: Any, address: Any) -> Any:
    """The integers of 64 bits at an address."""

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    pointer: Any = types.CPointer(types.int64)  # type: ignore[no-untyped-call]
    return pointer(types.int64), compiled


@intrinsic
def behind(typingctx: Any, memory: Any, count: Any) -> Any:
    """The memory behind its first `count` integers."""

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]])

    return memory(memory, types.int64), compiled


@register_jitable(**_INLINE)
def _memory_at(address: int) -> Any:
    return _address(address)  # type: ignore[call-arg]


@register_jitable(**_INLINE)
def _behind(memory: Any, count: int) -> Any:
    return behind(memory, count)  # type: ignore[call-arg]


@register_jitable(**_INLINE)
def opened(address: int, width: int) -> Any:
    """The table at this address, as steps are given it. width: as the array says; here a constant, for which machine
    code is shorter."""
    slots = _behind(_memory_at(address), _HEAD)
    mask = slots[_MASK - _HEAD]
    return slots, _behind(slots, ((mask + 1) >> 1) * width), mask, width


@register_jitable(**_INLINE)
def must_grow(table: Any) -> bool:
    """`is_full` of a table that is opened."""
    slots = table[0]
    return bool(slots[_ENTRIES - _HEAD] >= slots[_FULL_AT - _HEAD])


@register_jitable(**_INLINE)
def _digest(key: Any, keys: int) -> Any:
    """Products wrap here, and are meant to: they are of unsigned numbers, as those of signed ones must not wrap in
    machine code, which is optimized as if they never did."""
    mixed = np.uint64(0)
    for number in range(keys):
        mixed = (mixed ^ np.uint64(key[number])) * _MIX_1
        mixed ^= mixed >> _DOWN
    return np.int64(mixed * _MIX_2)


@register_jitable(**_INLINE)
def _bucket(table: Any, digest: int, key: Any, keys: int) -> int:
    """The key's bucket, or the free one in which it belongs."""
    slots, buckets, mask, width = table
    bucket: int = (digest >> 32) & mask
    while True:
        content = buckets[bucket]
        if content == 0:
            return bucket
        if (content ^ digest) & _UPPER == 0:
            at = ((content & 0xFFFFFFFF) - 1) * width + 1
            same = True
            for number in range(keys):
                if slots[at + number] != key[number]:
                    same = False
            if same:
                return bucket
        bucket = (bucket + 1) & mask


@register_jitable(**_INLINE)
def _bucket_of_slot(table: Any, slot: int) -> int:
    slots, buckets, mask, width = table
    bucket: int = (slots[slot * width] >> 32) & mask
    while (buckets[bucket] & 0xFFFFFFFF) != slot + 1:
        bucket = (bucket + 1) & mask
    return bucket


@njit(cache=True)
def _enter_again(table: Slots) -> None:
    """Enter all slots into the buckets, which are empty."""
    mask, width = table[_MASK], table[_WIDTH]
    buckets = table[len(table) - mask - 1 :]
    for slot in range(table[_ENTRIES]):
        digest = table[_HEAD + slot * width]
        bucket = (digest >> 32) & mask
        while buckets[bucket] != 0:
            bucket = (bucket + 1) & mask
        buckets[bucket] = (digest & _UPPER) | (slot + 1)


@overload(find)
def _find(table: Any, key: Any) -> Any:
    keys = len(key)

    def compiled(table: Any, key: Any) -> Any:
        return (table[1][_bucket(table, _digest(key, keys), key, keys)] & 0xFFFFFFFF) - 1

    return compiled


@overload(field, jit_options=_INLINE)
def _field(table: Any, slot: Any, number: Any) -> Any:
    def compiled(table: Any, slot: Any, number: Any) -> Any:
        slots, _, _, width = table
        return slots[(slot + 1) * width - 1 - number]

    return compiled


@overload(change, jit_options=_INLINE)
def _change(table: Any, slot: Any, number: Any, value: Any) -> Any:
    def compiled(table: Any, slot: Any, number: Any, value: Any) -> None:
        slots, _, _, width = table
        slots[(slot + 1) * width - 1 - number] = value

    return compiled


@overload(put)
def _put(table: Any, key: Any, fields: Any) -> Any:
    keys, count = len(key), len(fields)

    def compiled(table: Any, key: Any, fields: Any) -> None:
        slots, buckets, _, width = table
        digest = _digest(key, keys)
        bucket = _bucket(table, digest, key, keys)
        slot = (buckets[bucket] & 0xFFFFFFFF) - 1
        if slot < 0:
            slot = slots[_ENTRIES - _HEAD]
            slots[_ENTRIES - _HEAD] = slot + 1
            buckets[bucket] = (digest & _UPPER) | (slot + 1)
            slots[slot * width] = digest
            for number in range(keys):
                slots[slot * width + 1 + number] = key[number]
        for number in range(count):
            slots[(slot + 1) * width - 1 - number] = fields[number]

    return compiled


@overload(remove)
def _remove(table: Any, slot: Any) -> Any:
    def compiled(table: Any, slot: Any) -> None:
        slots, buckets, mask, width = table
        gap = bucket = _bucket_of_slot(table, slot)
        while True:
            bucket = (bucket + 1) & mask
            content = buckets[bucket]
            if content == 0:
                break
            # What is in a bucket moves into the gap unless its search begins behind the gap.
            if ((bucket - (content >> 32)) & mask) >= ((bucket - gap) & mask):
                buckets[gap] = content
                gap = bucket
        buckets[gap] = 0
        last = slots[_ENTRIES - _HEAD] - 1
        slots[_ENTRIES - _HEAD] = last
        if slot != last:
            bucket = _bucket_of_slot(table, last)
            buckets[bucket] = (buckets[bucket] & _UPPER) | (slot + 1)
            for number in range(width):
                slots[slot * width + number] = slots[last * width + number]

    return compiled


@overload(room, jit_options=_INLINE)
def _room(table: Any) -> Any:
    def compiled(table: Any) -> Any:
        return table[0][_ENTRIES - _HEAD]

    return compiled


@overload(used, jit_options=_INLINE)
def _used(table: Any, slot: Any) -> Any:
    def compiled(table: Any, slot: Any) -> Any:
        return slot < table[0][_ENTRIES - _HEAD]

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
