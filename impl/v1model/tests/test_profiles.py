"""Action profiles and selectors: what entries share, what a hash chooses, and what the control plane may not do."""

from __future__ import annotations

from functools import partial

import pytest

from scatterproof.impl.v1model import Code, ControlEntry, ControlError, EmbeddedSwitch, Lpm, Member, SelectorGroup
from scatterproof.impl.v1model.tests.samples import pack, switch
from scatterproof.impl.v1model.tests.test_behaviour import arc


def flow(kind: int, source: int = 0, destination: int = 0, mark: int = 0) -> bytes:
    return pack((kind, 8), (source, 16), (destination, 16), (mark, 8))


def filled() -> EmbeddedSwitch:
    made = switch("selectors")
    shared, paths = made.profiles["Enter.shared"], made.profiles["Enter.paths"]
    shared.add_member(1, "Enter.mark", {"value": 0x11})
    shared.add_member(2, "Enter.drop")
    for kind, member in ((1, 1), (2, 1), (3, 2)):
        made.tables["Enter.marks"].add(ControlEntry({"hdr.flow.kind": kind}, Member(member)))
    for port in range(1, 5):
        paths.add_member(10 * port, "Enter.to", {"port": port, "value": port})
    paths.set_group(5, [30, 10, 20])
    routes = made.tables["Enter.routes"]
    routes.add(ControlEntry({"hdr.flow.destination": Lpm(0x0A00, 8)}, SelectorGroup(5)))
    routes.add(ControlEntry({"hdr.flow.destination": Lpm(0x0B00, 8)}, Member(40)))
    return made


def refused(code: Code, action: object) -> None:
    assert callable(action)
    with pytest.raises(ControlError) as caught:
        action()
    assert caught.value.code is code


def test_entries_of_one_member_do_the_same_until_the_member_is_changed() -> None:
    made = filled()
    for kind in (1, 2):
        assert made.process(0, flow(kind)) == [(7, flow(0xFF, mark=0x11))]
    assert made.process(0, flow(3)) == []
    made.profiles["Enter.shared"].modify_member(1, "Enter.mark", {"value": 0x22})
    for kind in (1, 2):
        assert made.process(0, flow(kind)) == [(7, flow(0xFF, mark=0x22))]
    # Without an entry nothing is done.
    assert made.process(0, flow(9)) == [(7, flow(0xFF))]


def test_the_hash_of_the_selectors_keys_chooses_a_member_of_the_group() -> None:
    made = filled()
    reached = set()
    for source in range(40):
        destination = 0x0A00 + source
        chosen = (10, 20, 30)[arc(pack((source, 16), (destination, 16))) % 3] // 10
        reached.add(chosen)
        left = flow(9, source, destination, mark=chosen)
        assert made.process(0, flow(9, source, destination)) == [(chosen, left)]
    assert reached == {1, 2, 3}
    assert made.process(0, flow(9, 7, 0x0B01)) == [(4, flow(9, 7, 0x0B01, mark=4))]


def test_a_group_may_change_under_its_entries() -> None:
    made = filled()
    paths = made.profiles["Enter.paths"]
    paths.set_group(5, [20])
    assert made.process(0, flow(9, 1, 0x0A01)) == [(2, flow(9, 1, 0x0A01, mark=2))]
    paths.modify_member(20, "Enter.to", {"port": 6, "value": 9})
    assert made.process(0, flow(9, 1, 0x0A01)) == [(6, flow(9, 1, 0x0A01, mark=9))]
    # A hit that finds no member does nothing.
    paths.set_group(5, [])
    assert made.process(0, flow(9, 1, 0x0A01)) == [(7, flow(9, 1, 0x0A01))]


def test_what_is_in_use_cannot_be_deleted_and_what_is_free_can() -> None:
    made = filled()
    shared, paths = made.profiles["Enter.shared"], made.profiles["Enter.paths"]
    marks, routes = made.tables["Enter.marks"], made.tables["Enter.routes"]
    for action in (partial(shared.delete_member, 2), partial(paths.delete_member, 20), partial(paths.delete_group, 5)):
        refused(Code.FAILED_PRECONDITION, action)
    marks.modify(ControlEntry({"hdr.flow.kind": 3}, Member(1)))
    shared.delete_member(2)
    routes.delete({"hdr.flow.destination": Lpm(0x0A00, 8)})
    paths.delete_group(5)
    paths.delete_member(20)
    marks.clear()
    shared.delete_member(1)


def test_members_and_groups_are_refused_as_entries_are() -> None:
    made = filled()
    shared, paths = made.profiles["Enter.shared"], made.profiles["Enter.paths"]
    marks = made.tables["Enter.marks"]
    refused(Code.ALREADY_EXISTS, lambda: shared.add_member(1, "Enter.drop"))
    refused(Code.NOT_FOUND, lambda: shared.modify_member(9, "Enter.drop"))
    refused(Code.INVALID_ARGUMENT, lambda: shared.add_member(9, "Enter.to", {"port": 1, "value": 1}))
    refused(Code.INVALID_ARGUMENT, lambda: shared.set_group(1, [1]))
    refused(Code.OUT_OF_RANGE, lambda: shared.add_member(9, "Enter.mark", [256]))
    for number in (3, 4):
        shared.add_member(number, "Enter.drop")
    refused(Code.RESOURCE_EXHAUSTED, lambda: shared.add_member(5, "Enter.drop"))
    refused(Code.NOT_FOUND, lambda: paths.set_group(5, [10, 99]))
    refused(Code.INVALID_ARGUMENT, lambda: paths.set_group(5, [10, 10]))
    refused(Code.NOT_FOUND, lambda: marks.add(ControlEntry({"hdr.flow.kind": 8}, Member(99))))
    refused(Code.NOT_FOUND, lambda: marks.add(ControlEntry({"hdr.flow.kind": 8}, SelectorGroup(5))))
    refused(Code.INVALID_ARGUMENT, lambda: marks.add(ControlEntry({"hdr.flow.kind": 8}, "Enter.drop")))
    refused(Code.INVALID_ARGUMENT, lambda: marks.default("Enter.drop"))
    refused(Code.NOT_FOUND, lambda: made.profiles["Enter.none"])
    plain = switch("l2_forward").tables["Enter.addresses"]
    refused(Code.INVALID_ARGUMENT, lambda: plain.add(ControlEntry({"hdr.ethernet.destination": 1}, Member(1))))
