"""The relay between nodes with real sockets: what a schedule does to the packets of a link, and in which order the rest
arrives."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scatterproof.conformance.network.delays import Delays
from scatterproof.conformance.relay.links import CARRIED, LOST, LinkRelay
from scatterproof.conformance.relay.ports import LOOPBACK
from scatterproof.conformance.supervisor import MARK, Child, stop
from scatterproof.spec.schedule import Delay, Fault, FaultKind

PATIENCE_S = 10.0
MILLISECOND = 1_000_000


@contextmanager
def receiver() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.bind((LOOPBACK, 0))
        opened.settimeout(PATIENCE_S)
        yield opened


def send(relay: LinkRelay, link: int, *contents: bytes) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for each in contents:
            sender.sendto(each, (LOOPBACK, relay.port(link)))


def carry(relay: LinkRelay, link: int, received: int) -> list[int]:
    """Carry until this many datagrams came, and none waits; their fates."""
    latest = time.monotonic() + PATIENCE_S
    carriage = relay.links[link]
    while carriage.received < received or not set(carriage.fates) <= {LOST, CARRIED}:
        assert time.monotonic() < latest, list(carriage.fates)
        relay.turn(time.monotonic_ns() + MILLISECOND)
    return list(carriage.fates)


def relay_of(*faults: Fault, delay_ns: int = 0, jitter_ns: int = 0) -> LinkRelay:
    return LinkRelay([0, 1], Delays(1, [Delay(delay_ns, jitter_ns)] * 2), faults)


def test_the_packets_that_the_schedule_names_are_lost_on_their_link_alone() -> None:
    with receiver() as target, relay_of(Fault(0, 1, FaultKind.LOSE), Fault(0, 5, FaultKind.LOSE)) as relay:
        relay.lead(0, target.getsockname()[1])
        relay.lead(1, target.getsockname()[1])
        relay.begin()
        send(relay, 0, b"0", b"1", b"2")
        assert carry(relay, 0, 3) == [CARRIED, LOST, CARRIED]
        assert [target.recv(9) for _ in range(2)] == [b"0", b"2"]
        send(relay, 1, b"other", b"link")
        assert carry(relay, 1, 2) == [CARRIED, CARRIED]
        assert relay.links[0].lost == 1
        assert [fault.index for fault in relay.to_come()] == [5]


def test_faults_count_from_the_beginning_of_the_schedule() -> None:
    with receiver() as target, relay_of(Fault(0, 0, FaultKind.LOSE)) as relay:
        relay.lead(0, target.getsockname()[1])
        send(relay, 0, b"before")
        relay.begin()
        send(relay, 0, b"first", b"second")
        assert carry(relay, 0, 3) == [CARRIED, LOST, CARRIED]
        assert [target.recv(9) for _ in range(2)] == [b"before", b"second"]


def test_a_packet_that_is_held_back_holds_up_those_behind_it() -> None:
    with receiver() as target, relay_of(Fault(0, 0, FaultKind.DELAY, 80 * MILLISECOND)) as relay:
        relay.lead(0, target.getsockname()[1])
        relay.begin()
        begun = time.monotonic_ns()
        send(relay, 0, b"late", b"behind", b"it")
        carry(relay, 0, 3)
        assert time.monotonic_ns() - begun >= 80 * MILLISECOND
        assert [target.recv(9) for _ in range(3)] == [b"late", b"behind", b"it"]
        assert relay.links[0].delayed == 1


def test_packets_keep_their_order_whatever_their_delays() -> None:
    with receiver() as target, relay_of(delay_ns=MILLISECOND, jitter_ns=20 * MILLISECOND) as relay:
        relay.lead(0, target.getsockname()[1])
        relay.begin()
        send(relay, 0, *(bytes([number]) for number in range(60)))
        carry(relay, 0, 60)
        assert [target.recv(9) for _ in range(60)] == [bytes([number]) for number in range(60)]


def test_a_cut_link_loses_what_is_on_it_and_what_is_put_on_it_until_it_is_mended() -> None:
    with receiver() as target, relay_of(delay_ns=20 * MILLISECOND) as relay:
        relay.lead(0, target.getsockname()[1])
        send(relay, 0, b"on it")
        relay.drain(0)
        relay.cut(0)
        send(relay, 0, b"put on it")
        relay.mend(0)
        assert list(relay.links[0].fates) == [LOST, LOST]
        assert set(relay.links[0].lost_ns) == {0, 1}
        send(relay, 0, b"carried again")
        assert carry(relay, 0, 3) == [LOST, LOST, CARRIED]
        assert target.recv(99) == b"carried again"


def test_a_link_that_is_flooded_is_told_and_takes_no_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    for bound, name in ((3, "MOST_DATAGRAMS"), (8, "MOST_WAITING_BYTES")):
        with monkeypatch.context() as patched, relay_of(delay_ns=3_600_000 * MILLISECOND) as relay:
            patched.setattr(f"scatterproof.conformance.relay.links.{name}", bound)
            send(relay, 0, b"ab", b"cd", b"ef")
            relay.drain(0)
            assert relay.links[0].received == 3
            assert not relay.flooded
            send(relay, 0, b"ghi")
            relay.drain(0)
            assert relay.links[0].received == 3
            assert relay.flooded == {0}


@pytest.mark.parametrize("again", [False, True])
def test_what_comes_where_nobody_is_is_lost(again: bool) -> None:
    with receiver() as target, relay_of() as relay:
        relay.lead(0, None)
        send(relay, 0, b"nobody")
        carry(relay, 0, 1)
        if again:
            relay.lead(0, target.getsockname()[1])
        send(relay, 0, b"somebody")
        assert carry(relay, 0, 2) == [LOST, CARRIED if again else LOST]


@contextmanager
def another(relay: LinkRelay, contents: str, folder: Path, *wrapped: str) -> Iterator[Child]:
    """Another process that has put this on link 0, started by way of other commands."""
    script = f"""
import socket, sys
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.sendto({contents.encode()!r}, ({LOOPBACK!r}, {relay.port(0)}))
print("sent", flush=True)
sys.stdin.read()
"""
    child = Child(contents, [*wrapped, sys.executable, "-c", script], folder)
    try:
        assert child.line(PATIENCE_S) == b"sent"
        yield child
    finally:
        stop([child])


def test_datagrams_of_strangers_are_dropped_and_spend_no_fault(tmp_path: Path) -> None:
    with (
        receiver() as target,
        relay_of(Fault(0, 0, FaultKind.LOSE)) as relay,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as strange,
    ):
        relay.lead(0, target.getsockname()[1])
        relay.begin()
        strange.sendto(b"strange", (LOOPBACK, relay.port(0)))
        with another(relay, "first", tmp_path) as child:
            relay.admit(0, child.process, f"{MARK}={child.mark}".encode())
            relay.drain(0)
            if sys.platform != "linux":  # the system does not tell whose a socket is: nobody is a stranger
                assert (relay.links[0].received, relay.links[0].strange) == (2, 0)
                return
            assert list(relay.links[0].fates) == [LOST]
            send(relay, 0, b"of a socket that is closed, and not the one that is known")
            relay.drain(0)
        assert (relay.links[0].received, relay.links[0].strange) == (1, 2)


def test_what_the_source_has_started_and_what_it_sends_by_sockets_that_are_closed_is_its_own(tmp_path: Path) -> None:
    with receiver() as target, relay_of() as relay:
        relay.lead(0, target.getsockname()[1])
        relay.admit(0, os.getpid(), b"nobody has this mark")
        send(relay, 0, b"closed")
        assert carry(relay, 0, 1) == [CARRIED]
        with another(relay, "marked", tmp_path) as child:
            relay.admit(0, 1 << 30, f"{MARK}={child.mark}".encode())  # no process has this id
            assert carry(relay, 0, 2) == [CARRIED, CARRIED]
        bare = ("sh", "-c", 'env -i "$@"; exit $?', "sh")
        with another(relay, "without environment", tmp_path, *bare) as child:
            relay.admit(0, child.process, b"nobody has this mark")
            assert carry(relay, 0, 3) == [CARRIED] * 3
        assert [target.recv(99) for _ in range(3)] == [b"closed", b"marked", b"without environment"]
