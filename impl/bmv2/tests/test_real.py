"""On the real switch, where it is found: each test that takes `bmv2` is not run elsewhere (conftest says so)."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from scatterproof.impl.bmv2.record import fresh, without_aborts
from scatterproof.impl.bmv2.recording import RecordedPacket, play, replay
from scatterproof.impl.bmv2.vary import Variety
from scatterproof.impl.conftest import Open
from scatterproof.impl.v1model import Code, ControlEntry, ControlError, EmbeddedSwitch, load
from scatterproof.spec.errors import BadInput, CannotRun

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = ROOT / "impl" / "v1model" / "tests" / "programs"
BRIDGE, CONTROLLER = PROGRAMS / "l2_forward.json", PROGRAMS / "controller.json"
FRAME = bytes.fromhex("0000000000aa0000000000bb0900") + b"payload"
STEADY = ("l2_forward", "acl", "fanout", "label_stack")


def destination(address: int, port: int) -> ControlEntry:
    return ControlEntry({"hdr.ethernet.destination": address}, "Enter.forward", {"port": port})


@pytest.mark.parametrize("name", STEADY)
def test_both_targets_do_the_same_with_what_is_drawn(name: str, bmv2: Open) -> None:
    path, program = PROGRAMS / f"{name}.json", load(PROGRAMS / f"{name}.json")
    info = path.with_suffix(".p4info.txtpb").read_text()
    drawn = list(Variety(path.read_bytes(), info, ports=range(4), cpu_port=None, seed=77).steps(40, entries=15))
    steps = without_aborts(drawn, path, ports=range(4), cpu_port=None)
    done = list(play(steps, fresh(bmv2(path)), cpu_port=None))
    assert replay(done, lambda: EmbeddedSwitch(program, ports=4), cpu_port=None) == []
    assert any(isinstance(step, RecordedPacket) and step.out for step in done)


def test_what_leaves_is_complete_when_process_returns(bmv2: Open) -> None:
    switch = bmv2(BRIDGE)
    switch.multicast.set(1, [(0, 1), (1, 1), (2, 1), (3, 1)])
    for number in range(100):
        frame = FRAME + bytes([number])
        assert switch.process(number % 4, frame) == [(port, frame) for port in range(4) if port != number % 4]


@pytest.mark.parametrize("instances", [(0, 5), (5, 0), (9, 3, 7, 1, 300)])
def test_replicas_at_one_port_leave_by_instance(instances: tuple[int, ...], bmv2: Open) -> None:
    program = PROGRAMS / "fanout.json"
    switch, other = bmv2(program), EmbeddedSwitch(load(program), ports=4)
    for groups in (switch.multicast, other.multicast):
        groups.set(1, [(3, instance) for instance in instances])
    frame = b"\x00\x01" + bytes(20)
    left = switch.process(0, frame)
    assert left == other.process(0, frame)
    assert [data[3] for _, data in left] == [instance & 0xFF for instance in sorted(instances)]


@pytest.mark.parametrize("type_", ["8100", "88a8"])
def test_a_tag_that_the_kernel_takes_out_is_put_back(type_: str, bmv2: Open) -> None:
    switch = bmv2(BRIDGE)
    switch.tables["Enter.addresses"].default("Enter.forward", {"port": 3})
    tagged = FRAME[:12] + bytes.fromhex(type_ + "6fff") + FRAME[12:]
    assert switch.process(0, tagged) == [(3, tagged)]


def test_p4runtime_refuses_as_the_embedded_target_does(bmv2: Open) -> None:
    for switch in (bmv2(BRIDGE), EmbeddedSwitch(load(BRIDGE), ports=4)):
        table = switch.tables["Enter.addresses"]
        for address in range(4):
            table.add(destination(address, 1))
        refused = {
            Code.ALREADY_EXISTS: partial(table.add, destination(0, 2)),
            Code.RESOURCE_EXHAUSTED: partial(table.add, destination(9, 1)),
            Code.NOT_FOUND: partial(table.modify, destination(9, 1)),
        }
        for code, ask in refused.items():
            with pytest.raises(ControlError) as caught:
                ask()
            # BMv2 does not say why it takes no more.
            assert caught.value.code in {code, Code.UNKNOWN if code is Code.RESOURCE_EXHAUSTED else code}


def test_a_packet_in_and_a_packet_out_are_plain_bytes(bmv2: Open) -> None:
    switch = bmv2(CONTROLLER, cpu_port=255)
    frame = b"\x01" + bytes(20)
    assert switch.process(2, frame) == [(255, b"\x00\x02" + frame)]
    assert switch.process(255, b"\x00\x03" + frame) == [(3, frame)]
    with pytest.raises(BadInput, match="a packet-out of 1 bytes is shorter than its header of 2"):
        switch.process(255, b"\x00")


def test_digests_arrive_once(bmv2: Open) -> None:
    switch = bmv2(CONTROLLER)
    switch.process(3, b"\x02" + bytes(20))
    assert [digest.fields for digest in switch.take_digests()] == [(2, 3)]
    assert switch.take_digests() == []


def test_after_a_reset_nothing_is_known(bmv2: Open) -> None:
    switch = bmv2(BRIDGE)
    switch.multicast.set(1, [(2, 1)])
    switch.tables["Enter.addresses"].add(destination(0xAA, 3))
    assert switch.process(0, FRAME) == [(3, FRAME)]
    switch.reset()
    assert len(switch.tables["Enter.addresses"]) == 0
    assert switch.process(0, FRAME) == []


def test_two_switches_at_once_do_not_meet(bmv2: Open) -> None:
    first, second = bmv2(BRIDGE), bmv2(BRIDGE)
    first.tables["Enter.addresses"].default("Enter.forward", {"port": 1})
    second.tables["Enter.addresses"].default("Enter.forward", {"port": 2})
    assert first.process(0, FRAME) == [(1, FRAME)]
    assert second.process(0, FRAME) == [(2, FRAME)]


def test_paced_packets_come_through_and_are_counted(bmv2: Open) -> None:
    switch = bmv2(BRIDGE)
    switch.tables["Enter.addresses"].default("Enter.forward", {"port": 1})
    frames = [(0, FRAME + number.to_bytes(2, "big")) for number in range(200)]
    paced = switch.paced(frames, rate=1000)
    assert (paced.sent, paced.lost) == (200, 0)
    assert paced.packets == [(1, frame) for _, frame in frames]
    assert paced.seconds >= 0.19


@pytest.mark.parametrize("port", [4, 511, -1])
def test_a_port_that_is_not_there_is_refused(port: int, bmv2: Open) -> None:
    with pytest.raises(BadInput, match=f"port {port} is none of the switch's; there are 0, 1, 2, 3"):
        bmv2(BRIDGE).process(port, FRAME)


def test_what_is_no_program_of_bmv2_is_told_in_one_sentence(bmv2: Open, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_bytes(BRIDGE.read_bytes())
    other.with_suffix(".p4info.txtpb").write_text("tables without end {")
    with pytest.raises(CannotRun, match="P4Runtime server of BMv2 does not do its part") as caught:
        bmv2(other)
    assert "\n" not in str(caught.value)


def test_when_the_owner_is_killed_the_switch_is_gone(bmv2: Open) -> None:
    program = (
        "import sys; from pathlib import Path; from scatterproof.impl.bmv2 import Bmv2Switch\n"
        f"switch = Bmv2Switch(Path({str(BRIDGE)!r}), ports=2)\n"
        "print(switch.pid, flush=True)\nsys.stdin.read()\n"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    switch = os.pidfd_open(int(owner.stdout.readline()))
    owner.send_signal(signal.SIGKILL)
    owner.communicate()
    assert gone(switch)
    os.close(switch)


def gone(process: int, patience_s: float = 20.0) -> bool:
    """Whether a process ends within that time."""
    poll = select.poll()
    poll.register(process, select.POLLIN)
    return bool(poll.poll(patience_s * 1000))
