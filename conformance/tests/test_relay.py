"""The relay between processes: addresses that fit, faults by seed alone, bounds that hold under a flood."""

from __future__ import annotations

import socket
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from scatterproof.conformance.relay import ports
from scatterproof.conformance.relay.faults import Fates, Faults, Partition, partition
from scatterproof.conformance.relay.ports import LOOPBACK, free_addresses
from scatterproof.conformance.relay.relay import Relay, RelayBounds
from scatterproof.conformance.supervisor import Child, stop
from scatterproof.spec.errors import BadInput, CannotRun

MS = 1_000_000
HOUR = 3600 * 1000 * MS
PATIENCE_S = 60.0


class Peers:
    """Sockets that stand for processes, with a relay between them."""

    def __init__(self, count: int, faults: Faults, seed: int = 1, bounds: RelayBounds | None = None) -> None:
        self.sockets = [self.open() for _ in range(count)]
        homes = [own.getsockname() for own in self.sockets]
        self.relay = Relay(homes, faults, seed, bounds or RelayBounds())
        self.others: list[socket.socket] = []
        self.put = 0  # datagrams so far

    def open(self) -> socket.socket:
        own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        own.bind((LOOPBACK, 0))
        own.setblocking(False)
        return own

    def send(self, source: int, target: int, contents: bytes, by: socket.socket | None = None) -> None:
        self.answer(by or self.sockets[source], contents, self.relay.address(source, target))

    def answer(self, by: socket.socket, contents: bytes, address: tuple[str, int]) -> None:
        by.sendto(contents, address)
        self.put += 1

    def take(self) -> None:
        """Have the relay take all that was sent."""
        latest = time.monotonic() + PATIENCE_S
        while self.relay.traffic() < self.put:
            assert time.monotonic() < latest, (self.relay.traffic(), self.put)
            self.relay.run(time.monotonic() + 0.001)

    def carry(self) -> None:
        """Have the relay carry all that was sent."""
        self.take()
        latest = time.monotonic() + PATIENCE_S
        while self.relay.waiting:
            assert time.monotonic() < latest, self.relay.waiting
            self.relay.run(time.monotonic() + 0.001)

    def received(self, target: int) -> list[tuple[bytes, tuple[str, int]]]:
        return received(self.sockets[target])

    def close(self) -> None:
        self.relay.close()
        for own in (*self.sockets, *self.others):
            own.close()


def received(at: socket.socket) -> list[tuple[bytes, tuple[str, int]]]:
    found: list[tuple[bytes, tuple[str, int]]] = []
    while True:
        try:
            found.append(at.recvfrom(1 << 16))
        except BlockingIOError:
            return found


@pytest.fixture
def made() -> Iterator[list[Peers]]:
    peers: list[Peers] = []
    yield peers
    for each in peers:
        each.close()


def make(made: list[Peers], count: int, faults: Faults, seed: int = 1, bounds: RelayBounds | None = None) -> Peers:
    made.append(Peers(count, faults, seed, bounds))
    return made[-1]


def test_a_datagram_comes_from_the_address_that_its_receiver_knows_the_sender_by(made: list[Peers]) -> None:
    peers = make(made, 3, Faults())
    for source in range(3):
        for target in range(3):
            if source != target:
                peers.send(source, target, b"%d to %d" % (source, target))
    peers.carry()

    for target in range(3):
        expected = {(b"%d to %d" % (s, target), peers.relay.address(target, s)) for s in range(3) if s != target}
        assert set(peers.received(target)) == expected


def test_what_answers_the_address_of_a_datagram_reaches_its_sender(made: list[Peers]) -> None:
    peers = make(made, 2, Faults())
    peers.send(0, 1, b"question")
    peers.carry()
    [(_, address)] = peers.received(1)
    peers.answer(peers.sockets[1], b"answer", address)
    peers.carry()

    assert peers.received(0) == [(b"answer", peers.relay.address(0, 1))]


def test_another_port_of_a_process_has_a_door_of_its_own_and_gets_the_answer(made: list[Peers]) -> None:
    peers = make(made, 2, Faults())
    other = peers.open()
    peers.others.append(other)
    peers.send(0, 1, b"question", by=other)
    peers.carry()
    [(_, address)] = peers.received(1)
    assert address != peers.relay.address(1, 0)
    peers.answer(peers.sockets[1], b"answer", address)
    peers.carry()

    assert received(other) == [(b"answer", peers.relay.address(0, 1))]
    assert peers.received(0) == []


def test_more_ports_than_doors_share_the_usual_address(made: list[Peers]) -> None:
    peers = make(made, 2, Faults(), bounds=RelayBounds(doors=2))
    for _ in range(3):
        peers.others.append(peers.open())
        peers.send(0, 1, b"x", by=peers.others[-1])
        peers.carry()

    seen = [address for _, address in peers.received(1)]
    assert len(set(seen)) == 3
    assert seen[2] == peers.relay.address(1, 0)
    assert peers.relay.counts()[0, 1].undoored == 1


def test_fates_hang_on_seed_pair_and_index_alone() -> None:
    faults = Faults(loss=0.3, duplicate=0.2, reorder=0.1, delay_ns=MS, jitter_ns=MS, hold_ns=3 * MS)
    whole = list(Fates(7, faults)(3, 0, 1000))
    parts = [*Fates(7, faults)(3, 0, 100), *Fates(7, faults)(3, 100, 900)]
    assert whole == parts
    assert whole != list(Fates(8, faults)(3, 0, 1000))
    assert whole != list(Fates(7, faults)(4, 0, 1000))


def test_fates_have_the_shares_that_were_asked_for() -> None:
    faults = Faults(loss=0.3, duplicate=0.2, reorder=0.1, delay_ns=10, jitter_ns=4, hold_ns=100)
    fates = Fates(1, faults)(0, 0, 100_000)
    copies = Counter(len(fate) for fate in fates)
    assert copies[0] / 100_000 == pytest.approx(0.3, abs=0.01)
    assert copies[2] / (copies[1] + copies[2]) == pytest.approx(0.2, abs=0.01)
    firsts = Counter(fate[0] for fate in fates if fate)
    assert set(firsts) == {*range(10, 15), *range(110, 115)}
    assert sum(firsts[delay] for delay in range(110, 115)) / sum(firsts.values()) == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(("loss", "left"), [(0.0, 100), (1.0, 0)])
def test_no_loss_loses_nothing_and_full_loss_everything(made: list[Peers], loss: float, left: int) -> None:
    peers = make(made, 2, Faults(loss=loss))
    for _ in range(100):
        peers.send(0, 1, b"x")
    peers.carry()

    assert len(peers.received(1)) == left
    counts = peers.relay.counts()[0, 1]
    assert (counts.received, counts.lost, counts.sent) == (100, 100 - left, left)


def test_the_same_datagrams_are_lost_under_the_same_seed_whatever_others_send(made: list[Peers]) -> None:
    def survivors(noise: int) -> list[bytes]:
        peers = make(made, 3, Faults(loss=0.5), seed=5)
        for number in range(300):
            peers.send(0, 1, b"%d" % number)
            for _ in range(noise):
                peers.send(2, 1, b"noise")
            peers.take()
        peers.carry()
        return [contents for contents, _ in peers.received(1) if contents != b"noise"]

    quiet = survivors(0)
    assert 100 < len(quiet) < 200
    assert survivors(2) == quiet


def test_delay_without_jitter_keeps_the_order_and_takes_its_time(made: list[Peers]) -> None:
    peers = make(made, 2, Faults(delay_ns=50 * MS))
    begun = time.monotonic_ns()
    for number in range(50):
        peers.send(0, 1, b"%d" % number)
    peers.carry()
    assert time.monotonic_ns() - begun >= 50 * MS
    assert [contents for contents, _ in peers.received(1)] == [b"%d" % number for number in range(50)]


def test_reordered_datagrams_are_overtaken_and_duplicated_ones_come_twice(made: list[Peers]) -> None:
    peers = make(made, 2, Faults(duplicate=0.3, reorder=0.3, hold_ns=10 * MS))
    for number in range(200):
        peers.send(0, 1, b"%03d" % number)
    peers.carry()

    found = [contents for contents, _ in peers.received(1)]
    counts = peers.relay.counts()[0, 1]
    assert len(found) == 200 + counts.duplicated
    assert counts.duplicated > 20
    assert counts.reordered > 20
    assert found != sorted(found)
    assert len(set(found)) == 200


@pytest.mark.parametrize(("end_ns", "parted"), [(HOUR, True), (1, False)])
def test_a_partition_parts_its_members_from_the_others_for_its_time(
    made: list[Peers], end_ns: int, parted: bool
) -> None:
    apart = Partition(start_ns=0, end_ns=end_ns, members=frozenset({0, 1}))
    peers = make(made, 3, Faults(partitions=(apart,)))
    peers.relay.start()
    for source, target in ((0, 1), (0, 2), (2, 1)):
        peers.send(source, target, b"from %d" % source)
    peers.carry()

    assert {contents for contents, _ in peers.received(1)} == ({b"from 0"} if parted else {b"from 0", b"from 2"})
    assert [contents for contents, _ in peers.received(2)] == ([] if parted else [b"from 0"])
    assert peers.relay.counts()[0, 2].parted == parted


def test_a_partition_begins_at_its_start_and_is_over_at_its_end() -> None:
    apart = Partition(start_ns=10, end_ns=20, members=frozenset({0}))
    assert [now for now in range(30) if apart.parts(0, 1, now)] == list(range(10, 20))


@pytest.mark.parametrize("seed", range(20))
def test_a_drawn_partition_leaves_at_least_half_together(seed: int) -> None:
    drawn = partition(seed, 5, 10, 20, 7)
    assert 1 <= len(drawn.members) <= 2
    assert 10 <= drawn.start_ns <= 20
    assert drawn.end_ns == drawn.start_ns + 7
    assert drawn == partition(seed, 5, 10, 20, 7)


def test_a_flood_is_bounded_counted_and_starves_nobody(made: list[Peers]) -> None:
    bounds = RelayBounds(queue_bytes=1)  # at least a megabyte a pair
    peers = make(made, 3, Faults(delay_ns=HOUR), bounds=bounds)
    for _ in range(20):
        for _ in range(100):
            peers.send(0, 1, b"x" * 1400)
        peers.take()
    counts = peers.relay.counts()[0, 1]
    assert counts.overflowed > 0
    assert peers.relay.waiting <= (1 << 20) // 1400
    assert counts.received == peers.relay.waiting + counts.overflowed
    peers.send(2, 1, b"small")
    peers.take()
    assert peers.relay.counts()[2, 1].overflowed == 0


def test_what_has_left_makes_room_for_what_comes(made: list[Peers]) -> None:
    """Twice as much as may wait at once, and all of it passes, since it does not come at once."""
    peers = make(made, 2, Faults(delay_ns=1), bounds=RelayBounds(queue_bytes=1))
    for _ in range(40):
        for _ in range(50):
            peers.send(0, 1, b"x" * 1000)
        peers.carry()
        assert len(peers.received(1)) == 50
    counts = peers.relay.counts()[0, 1]
    assert (counts.sent, counts.overflowed) == (2000, 0)


def test_a_run_ends_in_time_though_datagrams_keep_coming(made: list[Peers], tmp_path: Path) -> None:
    peers = make(made, 2, Faults(delay_ns=MS))
    script = (
        "import socket; own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        f"while True: own.sendto(b'x' * 1000, {peers.relay.address(0, 1)!r})"
    )
    flooder = Child("flooder", [sys.executable, "-c", script], tmp_path)
    try:
        for _ in range(3):  # each time more has come, and the run has ended all the same
            carried, latest = peers.relay.traffic(), time.monotonic() + PATIENCE_S
            while peers.relay.traffic() == carried:
                assert time.monotonic() < latest
                peers.relay.run(time.monotonic() + 0.05)
    finally:
        stop([flooder])


def test_a_peer_that_is_gone_harms_nobody(made: list[Peers]) -> None:
    peers = make(made, 3, Faults())
    peers.sockets[1].close()
    for _ in range(5):
        peers.send(0, 1, b"nobody is there")
        peers.carry()
    peers.send(0, 2, b"somebody")
    peers.carry()
    assert [contents for contents, _ in peers.received(2)] == [b"somebody"]


def test_empty_and_greatest_datagrams_pass(made: list[Peers]) -> None:
    peers = make(made, 2, Faults(delay_ns=MS))
    greatest = b"x" * 65_507
    peers.send(0, 1, b"")
    peers.send(0, 1, greatest)
    peers.carry()
    assert [contents for contents, _ in peers.received(1)] == [b"", greatest]


@pytest.mark.parametrize("faults", [{"loss": 1.5}, {"duplicate": -0.1}, {"reorder": float("nan")}, {"delay_ns": -1}])
def test_shares_and_times_out_of_range_are_refused(faults: dict[str, float]) -> None:
    with pytest.raises(BadInput, match=next(iter(faults))):
        Faults(**faults)  # type: ignore[arg-type]


def test_free_addresses_can_be_bound_and_differ() -> None:
    with free_addresses(20) as addresses:
        assert len(set(addresses)) == 20
        for address in addresses:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
                own.bind(address)


def test_addresses_are_not_free_for_another_run_as_long_as_they_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    with free_addresses(1) as [(_, port)]:
        monkeypatch.setattr(ports, "_FIRST", port)
        monkeypatch.setattr(ports, "_LAST", port + 1)
        with pytest.raises(CannotRun, match="only 0 of 1 UDP ports are free"), free_addresses(1):
            pass
    with free_addresses(1) as again:
        assert again == [(LOOPBACK, port)]
