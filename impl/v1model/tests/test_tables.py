"""Tables against an oracle that scans all entries, and the answers of the control plane."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scatterproof.impl.v1model import Code, ControlEntry, ControlError, Lpm, Match, MeterConfig, Range, Ternary
from scatterproof.impl.v1model.rows import ActionSpec, BoundAction, Parameter
from scatterproof.impl.v1model.state import CounterArray, Meter, RegisterArray, Replication, ValueSet
from scatterproof.impl.v1model.tables import Key, MatchKind, SwitchTable, TableSpec

WIDTH = 6
KINDS = [MatchKind.EXACT, MatchKind.LPM, MatchKind.TERNARY, MatchKind.RANGE]


def spec(*kinds: MatchKind, size: int = 64, const: bool = False) -> TableSpec:
    order = [MatchKind.EXACT, MatchKind.LPM, MatchKind.TERNARY, MatchKind.RANGE]
    return TableSpec(
        name="t",
        kind=max(kinds, key=order.index) if kinds else MatchKind.EXACT,
        keys=tuple(Key(f"k{index}", "h", f"k{index}", WIDTH, kind, None) for index, kind in enumerate(kinds)),
        actions=(ActionSpec("set", (Parameter("number", 9),)), ActionSpec("none", ())),
        size=size,
        counted=True,
        meter=None,
        meter_bytes=False,
        default=BoundAction(1, ()),
        default_const=const,
        const_entries=None,
    )


def look_up(table: SwitchTable, keys: tuple[int, ...]) -> object:
    """What the generated source does: the first parameter of the row, or None."""
    kind = table.spec.kind
    if kind is MatchKind.EXACT:
        row = table.exact.get(keys[0] if len(keys) == 1 else keys)
    else:
        packed = 0
        ranged = []
        for key, number in zip(table.spec.keys, keys, strict=True):
            if key.kind is MatchKind.RANGE:
                ranged.append(number)
            else:
                packed = packed << WIDTH | number
        if kind is MatchKind.RANGE:
            row = table.find_range(packed, *ranged)
        else:
            row = table.find_prefix(packed) if kind is MatchKind.LPM else table.find(packed)
    return None if row is None else row[1]


def covers(match: Match | None, key: int) -> bool:
    match match:
        case None:
            return True
        case int(number):
            return key == number
        case Lpm(number, prefix):
            return f"{key:0{WIDTH}b}"[:prefix] == f"{number:0{WIDTH}b}"[:prefix]
        case Ternary(number, mask):
            return all(not mask >> bit & 1 or key >> bit & 1 == number >> bit & 1 for bit in range(WIDTH))
        case Range(low, high):
            return key in range(low, high + 1)


def oracle(entries: list[ControlEntry], keys: tuple[int, ...]) -> object:
    """The parameter of the best entry that covers the keys: longest prefix, then priority, then age."""
    hits = [entry for entry in entries if all(covers(entry.match.get(f"k{at}"), key) for at, key in enumerate(keys))]

    def rank(entry: ControlEntry) -> tuple[int, int]:
        prefixes = [match.prefix for match in entry.match.values() if isinstance(match, Lpm)]
        return (entry.priority or sum(prefixes), -entries.index(entry))

    return next(iter(max(hits, key=rank).params)) if hits else None


@st.composite
def tables(draw: st.DrawFn) -> tuple[tuple[MatchKind, ...], list[ControlEntry]]:
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=3))
    while kinds.count(MatchKind.LPM) > 1:
        kinds.remove(MatchKind.LPM)
    number = st.integers(0, 2**WIDTH - 1)
    ranked = MatchKind.TERNARY in kinds or MatchKind.RANGE in kinds
    entries = []
    for _ in range(draw(st.integers(0, 8))):
        match: dict[str, Match] = {}
        for at, kind in enumerate(kinds):
            if kind is not MatchKind.EXACT and draw(st.integers(0, 5)) == 0:
                continue
            given_number = draw(number)
            if kind is MatchKind.EXACT:
                match[f"k{at}"] = given_number
            elif kind is MatchKind.LPM:
                prefix = draw(st.integers(1, WIDTH))
                match[f"k{at}"] = Lpm(given_number >> (WIDTH - prefix) << (WIDTH - prefix), prefix)
            elif kind is MatchKind.TERNARY:
                mask = draw(st.integers(1, 2**WIDTH - 1))
                match[f"k{at}"] = given_number if draw(st.booleans()) else Ternary(given_number & mask, mask)
            else:
                other = draw(number)
                match[f"k{at}"] = Range(min(given_number, other), max(given_number, other))
        priority = draw(st.integers(1, 4)) if ranked else 0
        entries.append(ControlEntry(match, "set", [draw(st.integers(0, 511))], priority))
    return tuple(kinds), entries


def same(one: ControlEntry, other: ControlEntry) -> bool:
    """Whether two entries have one match: they cover the same keys by masks, or by bounds."""

    def said(match: Match) -> Match:
        return Ternary(match, 2**WIDTH - 1) if isinstance(match, int) else match

    def all_of(entry: ControlEntry) -> dict[str, Match]:
        return {name: said(match) for name, match in entry.match.items() if match != Range(0, 2**WIDTH - 1)}

    return all_of(one) == all_of(other) and one.priority == other.priority


@settings(max_examples=200)
@given(given_tables=tables(), data=st.data())
def test_every_look_up_finds_what_a_scan_of_all_entries_finds(
    given_tables: tuple[tuple[MatchKind, ...], list[ControlEntry]], data: st.DataObject
) -> None:
    kinds, entries = given_tables
    table = SwitchTable(spec(*kinds))
    kept: list[ControlEntry] = []
    for entry in entries:
        if any(same(one, entry) for one in kept):
            # An int and the full mask are one match, said in two ways.
            refused(Code.ALREADY_EXISTS, partial(table.add, entry))
        else:
            table.add(entry)
            kept.append(entry)
    keys = tuple(data.draw(st.integers(0, 2**WIDTH - 1)) for _ in kinds)
    assert look_up(table, keys) == oracle(kept, keys)
    # Entries taken away are found no more; the others are.
    gone = kept[::2]
    for entry in gone:
        table.delete(entry.match, entry.priority)
    assert look_up(table, keys) == oracle([entry for entry in kept if entry not in gone], keys)
    assert len(table) == len(kept) - len(gone)


def refused(code: Code, action: object) -> None:
    assert callable(action)
    with pytest.raises(ControlError) as caught:
        action()
    assert caught.value.code is code


def test_an_entry_is_added_once_modified_and_deleted_once() -> None:
    table = SwitchTable(spec(MatchKind.EXACT))
    table.add(ControlEntry({"k0": 5}, "set", {"number": 7}))
    refused(Code.ALREADY_EXISTS, lambda: table.add(ControlEntry({"k0": 5}, "none")))
    assert look_up(table, (5,)) == 7
    table.modify(ControlEntry({"k0": 5}, "set", {"number": 8}))
    assert look_up(table, (5,)) == 8
    refused(Code.NOT_FOUND, lambda: table.modify(ControlEntry({"k0": 6}, "none")))
    table.delete({"k0": 5})
    assert look_up(table, (5,)) is None
    refused(Code.NOT_FOUND, lambda: table.delete({"k0": 5}))


def test_a_full_table_refuses_one_more_and_takes_it_when_one_is_gone() -> None:
    table = SwitchTable(spec(MatchKind.EXACT, size=2))
    for number in (1, 2):
        table.add(ControlEntry({"k0": number}, "none"))
    refused(Code.RESOURCE_EXHAUSTED, lambda: table.add(ControlEntry({"k0": 3}, "none")))
    table.delete({"k0": 1})
    table.add(ControlEntry({"k0": 3}, "none"))


def test_a_value_wider_than_its_field_is_out_of_range() -> None:
    table = SwitchTable(spec(MatchKind.EXACT))
    refused(Code.OUT_OF_RANGE, lambda: table.add(ControlEntry({"k0": 64}, "none")))
    refused(Code.OUT_OF_RANGE, lambda: table.add(ControlEntry({"k0": -1}, "none")))
    refused(Code.OUT_OF_RANGE, lambda: table.add(ControlEntry({"k0": 1}, "set", {"number": 512})))
    table.add(ControlEntry({"k0": 63}, "set", {"number": 511}))


@pytest.mark.parametrize(
    ("kind", "entry"),
    [
        (MatchKind.EXACT, ControlEntry({}, "none")),
        (MatchKind.EXACT, ControlEntry({"k0": 1, "other": 2}, "none")),
        (MatchKind.EXACT, ControlEntry({"k0": Ternary(1, 1)}, "none")),
        (MatchKind.EXACT, ControlEntry({"k0": 1}, "missing")),
        (MatchKind.EXACT, ControlEntry({"k0": 1}, "set")),
        (MatchKind.EXACT, ControlEntry({"k0": 1}, "set", {"number": 1, "more": 2})),
        (MatchKind.EXACT, ControlEntry({"k0": 1}, "none", priority=1)),
        (MatchKind.LPM, ControlEntry({"k0": Lpm(0, 0)}, "none")),
        (MatchKind.LPM, ControlEntry({"k0": Lpm(0, 7)}, "none")),
        (MatchKind.LPM, ControlEntry({"k0": Lpm(0b100001, 3)}, "none")),
        (MatchKind.TERNARY, ControlEntry({"k0": Ternary(1, 1)}, "none")),
        (MatchKind.TERNARY, ControlEntry({"k0": Ternary(3, 1)}, "none", priority=1)),
        (MatchKind.TERNARY, ControlEntry({"k0": Ternary(0, 0)}, "none", priority=1)),
        (MatchKind.RANGE, ControlEntry({"k0": Range(3, 2)}, "none", priority=1)),
    ],
)
def test_a_malformed_entry_is_an_invalid_argument_and_changes_nothing(kind: MatchKind, entry: ControlEntry) -> None:
    table = SwitchTable(spec(kind))
    refused(Code.INVALID_ARGUMENT, lambda: table.add(entry))
    assert len(table) == 0


def test_equal_matches_of_different_priority_are_different_entries() -> None:
    table = SwitchTable(spec(MatchKind.TERNARY))
    table.add(ControlEntry({"k0": Ternary(1, 1)}, "set", [1], priority=1))
    table.add(ControlEntry({"k0": Ternary(1, 1)}, "set", [2], priority=2))
    assert look_up(table, (3,)) == 2
    table.delete({"k0": Ternary(1, 1)}, priority=2)
    assert look_up(table, (3,)) == 1


def test_a_better_entry_with_another_mask_is_found_behind_one_that_hits_first() -> None:
    table = SwitchTable(spec(MatchKind.TERNARY))
    table.add(ControlEntry({"k0": Ternary(0b10, 0b11)}, "set", [10], priority=10))
    table.add(ControlEntry({"k0": Ternary(0b01, 0b11)}, "set", [1], priority=1))
    table.add(ControlEntry({"k0": Ternary(0b00, 0b10)}, "set", [5], priority=5))
    # The first two have one mask, of which the best does not match here, and the other is worse than the third.
    assert look_up(table, (0b01,)) == 5
    assert look_up(table, (0b10,)) == 10


def test_a_const_default_stays_and_another_can_be_set_and_reset() -> None:
    refused(Code.PERMISSION_DENIED, lambda: SwitchTable(spec(MatchKind.EXACT, const=True)).default("none"))
    table = SwitchTable(spec(MatchKind.EXACT))
    table.default("set", [4])
    assert table.default_row[0][:2] == (0, 4)
    table.reset_default()
    assert table.default_row[0][0] == 1


def test_registers_counters_and_sets_refuse_what_is_outside() -> None:
    register = RegisterArray("r", 4, 8)
    register[3] = 255
    assert list(register) == [0, 0, 0, 255]
    refused(Code.OUT_OF_RANGE, lambda: register.__setitem__(3, 256))
    refused(Code.OUT_OF_RANGE, lambda: register.__getitem__(4))
    refused(Code.OUT_OF_RANGE, lambda: register.__getitem__(-1))
    refused(Code.OUT_OF_RANGE, lambda: CounterArray("c", 2).__getitem__(2))
    values = ValueSet("v", 4, 1)
    refused(Code.OUT_OF_RANGE, lambda: values.add(16))
    values.add(15)
    refused(Code.ALREADY_EXISTS, lambda: values.add(15))
    refused(Code.RESOURCE_EXHAUSTED, lambda: values.add(1))
    values.remove(15)
    refused(Code.NOT_FOUND, lambda: values.remove(15))


def test_a_group_is_ordered_by_instance_then_port_and_has_no_replica_twice() -> None:
    groups = Replication("multicast group", 0xFFFF)
    groups.set(1, [(3, 1), (2, 0), (1, 1)])
    assert groups[1] == ((2, 0), (1, 1), (3, 1))
    refused(Code.INVALID_ARGUMENT, lambda: groups.set(0, [(1, 0)]))
    refused(Code.INVALID_ARGUMENT, lambda: groups.set(2, [(1, 0), (1, 0)]))
    groups.delete(1)
    refused(Code.NOT_FOUND, lambda: groups.delete(1))


def test_a_meter_is_red_above_the_peak_and_yellow_above_the_committed_rate() -> None:
    meter = Meter(in_bytes=False)
    assert meter.execute(0, 100) == 0
    # A token each 100 ms committed, four at once; peak ten times that, six at once.
    meter.configure(MeterConfig(cir=10, cburst=4, pir=100, pburst=6))
    assert [meter.execute(0, 100) for _ in range(7)] == [0, 0, 0, 0, 1, 1, 2]
    # 10 ms later there is one peak token and no committed one; 100 ms later there is one of these, too.
    assert [meter.execute(10_000, 100) for _ in range(2)] == [1, 2]
    assert [meter.execute(100_000, 100) for _ in range(2)] == [0, 1]


def test_a_meter_of_bytes_takes_as_many_tokens_as_a_packet_is_long() -> None:
    meter = Meter(in_bytes=True)
    meter.configure(MeterConfig(cir=1_000, cburst=100, pir=1_000, pburst=200))
    assert [meter.execute(0, 60), meter.execute(0, 60), meter.execute(0, 90)] == [0, 1, 2]
    refused(Code.INVALID_ARGUMENT, lambda: meter.configure(MeterConfig(cir=2, cburst=1, pir=1, pburst=1)))
