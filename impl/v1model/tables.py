"""Match tables at run time: what the control plane put in, arranged so that the data plane finds it by dictionary
look-ups.

An exact table is one dictionary. Longest-prefix and ternary tables have one dictionary for each mask in use, tried
from the best rank down; a range table is a list in that order. The data plane gets *rows*: (branch, parameters...,
attached), where `branch` numbers the action within its table, and `attached` holds what belongs to this one entry
(counter, meter).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scatterproof.impl.v1model.control import Code, ControlEntry, ControlError, Lpm, Match, Params, Range, Ternary, fits
from scatterproof.impl.v1model.profiles import ProfileState
from scatterproof.impl.v1model.rows import NO_ACTION, ActionSpec, BoundAction, RecordedRow, call
from scatterproof.impl.v1model.state import Attached, CounterValue, Meter, MeterConfig


class MatchKind(StrEnum):
    """How a key, or a whole table, is matched."""

    EXACT = "exact"
    LPM = "lpm"
    TERNARY = "ternary"
    RANGE = "range"


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a table; `width` in bits, `mask` is applied to the field before it is looked up."""

    name: str
    header: str
    field: str
    width: int
    kind: MatchKind
    mask: int | None


@dataclass(frozen=True, slots=True)
class ConstEntry:
    """An entry that the program gives, with its priority as in P4Runtime: the greater wins."""

    match: Mapping[str, Match]
    call: BoundAction
    priority: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """What a program says about a table; where it gives entries, these cannot be changed."""

    name: str
    kind: MatchKind
    keys: tuple[Key, ...]
    actions: tuple[ActionSpec, ...]
    size: int
    counted: bool
    meter: str | None
    meter_bytes: bool
    default: BoundAction | None
    default_const: bool
    const_entries: tuple[ConstEntry, ...] | None
    profile: str | None = None

    @property
    def ranked(self) -> bool:
        """Whether its entries have priorities."""
        return any(key.kind in {MatchKind.TERNARY, MatchKind.RANGE} for key in self.keys)


# A field's part of an entry: (value, mask) where masks decide, (low, high) where bounds do.
KeyPart = tuple[int, int]
Parts = tuple[KeyPart, ...]
# Rows by masked key, each with its rank.
Group = dict[int, tuple[int, RecordedRow]]


@dataclass(slots=True)
class Stored:
    """An entry as it was given, with what the data plane needs of it; `order` breaks ties, the earlier wins."""

    entry: ControlEntry
    parts: Parts
    priority: int
    order: int
    attached: Attached
    row: RecordedRow


class SwitchTable:
    """One table of one switch."""

    def __init__(self, spec: TableSpec, profile: ProfileState | None = None) -> None:
        self.spec = spec
        self._profile = profile
        self._stored: dict[tuple[Parts, int], Stored] = {}
        self._orders = 0
        self._shifts = self._key_shifts()
        # The data plane holds on to these containers: they are changed, never replaced.
        self.exact: dict[object, RecordedRow] = {}
        self.default_row: list[RecordedRow] = [(NO_ACTION, None)]
        # Best rank, mask and rows; the best ranks first.
        self._groups: list[tuple[int, int, Group]] = []
        self._ranged: list[tuple[int, int, int, Parts, RecordedRow]] = []
        self.reset_default()
        for given in spec.const_entries or ():
            action = spec.actions[given.call.branch].name
            self._store(ControlEntry(given.match, action, given.call.arguments, given.priority))

    def __len__(self) -> int:
        return len(self._stored)

    # -- the control plane ------------------------------------------------------------------------------------------

    def add(self, entry: ControlEntry) -> None:
        """Insert an entry. ALREADY_EXISTS when its match (and priority) is taken, RESOURCE_EXHAUSTED when full."""
        self._writable()
        self._store(entry)

    def modify(self, entry: ControlEntry) -> None:
        """Give the entry with this match (and priority) another action; its counter goes on counting."""
        self._writable()
        identity = self._identity(entry.match, entry.priority)
        stored = self._found(identity)
        row = self._row_of(entry, stored.attached)
        self._refer(stored.entry, -1)
        self._refer(entry, 1)
        stored.entry, stored.row = entry, row
        self._arrange()

    def delete(self, match: Mapping[str, Match], priority: int = 0) -> None:
        """Remove the entry with this match (and priority)."""
        self._writable()
        identity = self._identity(match, priority)
        self._refer(self._found(identity).entry, -1)
        del self._stored[identity]
        self._arrange()

    def clear(self) -> None:
        """Remove all entries."""
        self._writable()
        for stored in self._stored.values():
            self._refer(stored.entry, -1)
        self._stored.clear()
        self._arrange()

    def default(self, action: str, params: Params = ()) -> None:
        """Set what happens to packets that no entry matches."""
        if self.spec.default_const:
            raise ControlError(Code.PERMISSION_DENIED, f"the default action of {self.spec.name} is const; leave it")
        if self._profile is not None:
            raise ControlError(Code.INVALID_ARGUMENT, f"{self.spec.name} has a profile, and no default; add entries")
        self.default_row[0] = self._row(call(self.spec.name, self.spec.actions, action, params), None)

    def reset_default(self) -> None:
        """Go back to the default action that the program gives."""
        default = self.spec.default
        self.default_row[0] = (NO_ACTION, None) if default is None else self._row(default, None)

    def entries(self) -> tuple[ControlEntry, ...]:
        """All entries, in the order in which they were added."""
        return tuple(stored.entry for stored in self._stored.values())

    def counter(self, match: Mapping[str, Match], priority: int = 0) -> CounterValue:
        """The direct counter of an entry."""
        if not self.spec.counted:
            raise ControlError(Code.INVALID_ARGUMENT, f"{self.spec.name} has no direct counter; ask another table")
        attached = self._found(self._identity(match, priority)).attached
        return CounterValue(attached.packets, attached.bytes)

    def set_meter(self, match: Mapping[str, Match], config: MeterConfig, priority: int = 0) -> None:
        """Configure the direct meter of an entry."""
        if self.spec.meter is None:
            raise ControlError(Code.INVALID_ARGUMENT, f"{self.spec.name} has no direct meter; configure another table")
        meter = self._found(self._identity(match, priority)).attached.meter
        assert meter is not None
        meter.configure(config)

    # -- the data plane ---------------------------------------------------------------------------------------------

    def find(self, key: int) -> RecordedRow | None:
        """The row of the longest prefix, or of the greatest priority, that matches a packed key."""
        best, found = -1, None
        for greatest, mask, group in self._groups:
            if greatest < best:
                break
            hit = group.get(key & mask)
            if hit is not None and hit[0] > best:
                best, found = hit
        return found

    def find_prefix(self, key: int) -> RecordedRow | None:
        """As `find`, where all rows of a mask have one rank: the first hit is the best."""
        for _, mask, group in self._groups:
            hit = group.get(key & mask)
            if hit is not None:
                return hit[1]
        return None

    def find_range(self, key: int, *values: int) -> RecordedRow | None:
        """The row of the greatest priority that matches a packed key and, one by one, the ranged values."""
        for _, mask, value, bounds, row in self._ranged:
            if key & mask == value:
                for given, (low, high) in zip(values, bounds, strict=True):
                    if not low <= given <= high:
                        break
                else:
                    return row
        return None

    # -- inside -----------------------------------------------------------------------------------------------------

    def _key_shifts(self) -> list[int]:
        """Where each key stands in a packed key, the first one highest; ranged keys are not packed."""
        shifts, shift = [], 0
        for key in reversed(self.spec.keys):
            shifts.append(shift)
            shift += 0 if key.kind is MatchKind.RANGE else key.width
        return shifts[::-1]

    def _writable(self) -> None:
        if self.spec.const_entries is not None:
            raise ControlError(Code.PERMISSION_DENIED, f"the entries of {self.spec.name} are const; leave them")
        if not self.spec.keys:
            raise ControlError(Code.INVALID_ARGUMENT, f"{self.spec.name} has no key; set its default action")

    def _found(self, identity: tuple[Parts, int]) -> Stored:
        stored = self._stored.get(identity)
        if stored is None:
            raise ControlError(Code.NOT_FOUND, f"{self.spec.name} has no such entry; look at its entries()")
        return stored

    def _store(self, entry: ControlEntry) -> None:
        identity = self._identity(entry.match, entry.priority)
        name = self.spec.name
        attached = Attached(None if self.spec.meter is None else Meter(self.spec.meter_bytes))
        row = self._row_of(entry, attached)
        if identity in self._stored:
            raise ControlError(Code.ALREADY_EXISTS, f"{name} has an entry with this match already; modify it")
        if self.spec.const_entries is None and len(self._stored) >= self.spec.size:
            raise ControlError(Code.RESOURCE_EXHAUSTED, f"{name} is full with {self.spec.size} entries; delete some")
        parts, priority = identity
        self._orders += 1
        stored = Stored(entry, parts, priority, self._orders, attached, row)
        self._stored[identity] = stored
        self._refer(entry, 1)
        self._place(stored)

    def _identity(self, match: Mapping[str, Match], priority: int) -> tuple[Parts, int]:
        """What makes an entry the same as another: its match, and its priority where the table has priorities."""
        name = self.spec.name
        known = {key.name for key in self.spec.keys}
        for unknown in match.keys() - known:
            keys = ", ".join(sorted(known))
            raise ControlError(Code.INVALID_ARGUMENT, f"{name} has no key {unknown!r}; its keys are {keys}")
        if self.spec.ranked and priority <= 0:
            raise ControlError(
                Code.INVALID_ARGUMENT, f"{name} needs priorities, this one is {priority}; make it positive"
            )
        if not self.spec.ranked and priority != 0:
            raise ControlError(Code.INVALID_ARGUMENT, f"{name} has no priorities, this one is {priority}; leave it out")
        return tuple(_part(key, match.get(key.name), name) for key in self.spec.keys), priority

    def _row_of(self, entry: ControlEntry, attached: Attached) -> RecordedRow:
        """What the data plane finds: an action, or what is to be asked for one."""
        if self._profile is not None:
            if isinstance(entry.action, str):
                raise ControlError(Code.INVALID_ARGUMENT, f"{self.spec.name} has a profile; give a Member or a Group")
            return (self._profile.chosen(entry.action), attached)
        if not isinstance(entry.action, str):
            raise ControlError(Code.INVALID_ARGUMENT, f"{self.spec.name} has no profile; give an action")
        return self._row(call(self.spec.name, self.spec.actions, entry.action, entry.params), attached)

    def _refer(self, entry: ControlEntry, by: int) -> None:
        if self._profile is not None and not isinstance(entry.action, str):
            self._profile.uses[entry.action] = self._profile.uses.get(entry.action, 0) + by

    def _row(self, made: BoundAction, attached: Attached | None) -> RecordedRow:
        return (made.branch, *made.arguments, attached)

    def _rank(self, stored: Stored) -> int:
        """Greater is better: priority or prefix length, then age."""
        if self.spec.kind is MatchKind.LPM:
            return sum(mask.bit_count() for _, mask in stored.parts)
        return (stored.priority << 40) - stored.order

    def _packed(self, parts: Sequence[KeyPart]) -> tuple[int, int]:
        value = mask = 0
        for key, shift, (part, part_mask) in zip(self.spec.keys, self._shifts, parts, strict=True):
            if key.kind is not MatchKind.RANGE:
                value |= part << shift
                mask |= part_mask << shift
        return value, mask

    def _place(self, stored: Stored) -> None:
        """Let the data plane find one more entry."""
        if self.spec.kind is MatchKind.EXACT:
            values = tuple(value for value, _ in stored.parts)
            self.exact[values[0] if len(values) == 1 else values] = stored.row
            return
        rank = self._rank(stored)
        value, mask = self._packed(stored.parts)
        if self.spec.kind is MatchKind.RANGE:
            bounds = tuple(
                part for key, part in zip(self.spec.keys, stored.parts, strict=True) if key.kind is MatchKind.RANGE
            )
            self._ranged.append((rank, mask, value, bounds, stored.row))
            self._ranged.sort(key=lambda row: row[0], reverse=True)
            return
        place = next((place for place, (_, known, _) in enumerate(self._groups) if known == mask), None)
        greatest, _, group = (rank, mask, {}) if place is None else self._groups.pop(place)
        if value not in group or group[value][0] < rank:
            group[value] = (rank, stored.row)
        self._groups.append((max(greatest, rank), mask, group))
        self._groups.sort(key=lambda row: row[0], reverse=True)

    def _arrange(self) -> None:
        """Start the data plane's view anew, after something was taken away."""
        self.exact.clear()
        self._groups.clear()
        self._ranged.clear()
        for stored in self._stored.values():
            self._place(stored)


def _part(key: Key, match: Match | None, table: str) -> KeyPart:
    """One key's part of an entry, checked as P4Runtime wants it: (value, mask), or (low, high) for a range."""
    what, full = f"{key.name} of {table}", (1 << key.width) - 1

    def refuse(fault: str) -> ControlError:
        return ControlError(Code.INVALID_ARGUMENT, f"{what} {fault}")

    match key.kind, match:
        case MatchKind.EXACT, int(value):
            return fits(value, key.width, what), full
        case MatchKind.EXACT, None:
            raise refuse("is exact and must be given; add it to the match")
        case MatchKind.LPM, Lpm(value, prefix):
            if not 0 < prefix <= key.width:
                raise refuse(f"has prefix length {prefix}; give 1 to {key.width}, or leave the key out")
            mask = full ^ (full >> prefix)
        case MatchKind.TERNARY, int(value):
            mask = full
        case MatchKind.TERNARY, Ternary(value, mask):
            if fits(mask, key.width, f"the mask of {what}") == 0:
                raise refuse("has mask 0; leave the key out instead")
        case MatchKind.RANGE, Range(low, high):
            if fits(low, key.width, what) > fits(high, key.width, what):
                raise refuse(f"has low {low} above high {high}; exchange them")
            return low, high
        case MatchKind.RANGE, None:
            return 0, full
        case _, None:
            return 0, 0
        case _:
            raise refuse(f"is matched by {key.kind} and cannot be given as {type(match).__name__}; give it as such")
    if fits(value, key.width, what) & ~mask:
        raise refuse(f"has bits set where its mask {mask:#x} is 0; clear them")
    return value, mask
