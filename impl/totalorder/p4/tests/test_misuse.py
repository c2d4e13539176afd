"""A controller's mistakes are refused with P4Runtime's codes, and the switch goes on as it was."""

from __future__ import annotations

import pytest

from scatterproof.impl.totalorder.p4.control import SwitchControl, in_order
from scatterproof.impl.totalorder.p4.embedded import EmbeddedTarget
from scatterproof.impl.totalorder.p4.entries import MulticastGroup, TableEntry
from scatterproof.impl.totalorder.p4.frames import frame
from scatterproof.impl.totalorder.p4.tests.misuse import GROUPS, MISUSES, Misuse, towards
from scatterproof.impl.totalorder.tests.nodes import switch_config
from scatterproof.impl.v1model import ControlEntry, ControlError
from scatterproof.spec.totalorder.messages import Packet, PacketKind

DATA = Packet(int(PacketKind.DATA), 3, 0, 1, 0, 9, 9, b"payload")


def target() -> EmbeddedTarget:
    """The switch of `nodes.switch_config`, told what it needs."""
    config = switch_config()
    made = EmbeddedTarget("default", 8)
    made.write(SwitchControl(config, in_order(config)).entries())
    return made


def write(to: EmbeddedTarget, entry: TableEntry) -> None:
    to.switch.tables[entry.table].add(ControlEntry(entry.match, entry.action_name, entry.params))


def behaviour(of: EmbeddedTarget) -> object:
    """What the switch does with some packets."""
    return [of.process(port, frame(DATA), 100 + port) for port in range(4)]


@pytest.mark.parametrize("misuse", MISUSES, ids=lambda misuse: misuse.name)
def test_a_wrong_entry_is_refused_and_changes_nothing(misuse: Misuse) -> None:
    written = target()
    *sound, wrong = misuse.entries
    for entry in sound:
        write(written, entry)
    with pytest.raises(ControlError) as caught:
        write(written, wrong)
    assert caught.value.code == misuse.code
    assert behaviour(written) == behaviour(target())


@pytest.mark.parametrize(("group", "code"), GROUPS)
def test_a_wrong_group_is_refused_and_changes_nothing(group: MulticastGroup, code: str) -> None:
    written = target()
    with pytest.raises(ControlError) as caught:
        written.switch.multicast.set(group.number, group.replicas)
    assert caught.value.code == code
    assert behaviour(written) == behaviour(target())


def test_what_is_not_there_is_neither_changed_nor_taken_out() -> None:
    written = target()
    table = written.switch.tables[towards().table]
    absent = ControlEntry(towards().match, towards().action_name, towards().params)
    with pytest.raises(ControlError) as modified:
        table.modify(absent)
    with pytest.raises(ControlError) as deleted:
        table.delete(absent.match)
    assert (modified.value.code, deleted.value.code) == ("NOT_FOUND", "NOT_FOUND")
    assert behaviour(written) == behaviour(target())


def test_an_exact_table_has_no_priorities() -> None:
    with pytest.raises(ControlError) as caught:
        target().switch.tables[towards().table].add(
            ControlEntry(towards().match, towards().action_name, towards().params, priority=3)
        )
    assert caught.value.code == "INVALID_ARGUMENT"


def test_a_sound_entry_is_taken() -> None:
    written = target()
    assert behaviour(written) != [[]] * 4
    written = target()
    write(written, towards())
    assert written.switch.tables[towards().table].entries()
    assert behaviour(written) == behaviour(target())
