"""The controller takes an ingress link out of minimums, and lets it in again: no barrier falls (TO-BAR-RISE)."""

from __future__ import annotations

from scatterproof.impl.totalorder.p4.chip import Chip
from scatterproof.impl.totalorder.p4.control import Controlled, SwitchControl, in_order
from scatterproof.impl.totalorder.p4.embedded import EmbeddedTarget
from scatterproof.impl.totalorder.p4.frames import Ask
from scatterproof.impl.totalorder.tests.nodes import switch_config
from scatterproof.spec.core import Send
from scatterproof.spec.topology import LinkId
from scatterproof.spec.totalorder.messages import Packet, PacketKind

DATA, BEACON = int(PacketKind.DATA), int(PacketKind.BEACON)


class Controlling:
    """The switch of `nodes.switch_config`: links 1, 2 and 3 come in, 20 is reached by all, 21 by 2 and 3 alone."""

    def __init__(self, build: str, environment: str = "C") -> None:
        config = switch_config(environment=environment)
        self._control = SwitchControl(config, in_order(config))
        self._chip = Chip(EmbeddedTarget(build, 8), self._control.ports, self._control.entries())
        self._seqs = dict.fromkeys(config.ingress, 0)
        self._now = 0
        self.barriers: dict[LinkId, list[int]] = {link: [] for link in config.egress}

    def beacon(self, link: LinkId, barrier: int) -> None:
        """A beacon comes over a link, long after whatever came before."""
        self._take(link, Packet(BEACON, 50 + link, 0, 0, self._seqs[link], 0, barrier, b""))

    def data(self, link: LinkId, timestamp: int) -> None:
        """A data message for host 0 comes over a link, and leaves on link 20."""
        self._take(link, Packet(DATA, 50 + link, 0, 1, self._seqs[link], timestamp, timestamp, b"payload"))

    def _take(self, link: LinkId, packet: Packet) -> None:
        self._now += 1_000
        self._seqs[link] += 1
        self._note([sent for sent in self._chip.arrive(self._now, link, packet) if isinstance(sent, Send)])

    def count(self, *left_out: LinkId) -> None:
        """From now on all links but these count; returns what is told then."""
        self._note(self._chip.ask(self._now, Ask.SETTLE))
        self._chip.write(self._control.entries(Controlled(left_out=frozenset(left_out))))
        self._now += 1_000
        self._note(self._chip.ask(self._now, Ask.TRIGGER))

    def settle(self) -> None:
        self._note(self._chip.ask(self._now, Ask.SETTLE))

    def _note(self, sent: list[Send[Packet]]) -> None:
        for one in sent:
            self.barriers[one.link].append(one.packet.barrier)


def out_and_in(build: str) -> dict[LinkId, list[int]]:
    switch = Controlling(build)
    for link, barrier in ((1, 10), (2, 20), (3, 30)):
        switch.beacon(link, barrier)
    switch.count(1)
    switch.beacon(2, 25)
    switch.count()
    # It comes back with less than the others have been told.
    switch.beacon(1, 12)
    switch.data(3, 40)
    switch.beacon(1, 60)
    switch.beacon(2, 50)
    return switch.barriers


def test_to_bar_rise_a_link_that_is_let_in_again_lowers_no_barrier() -> None:
    # 20: the least of all; without link 1, that of link 2; with it again 25 stays, until all have passed it.
    assert out_and_in("default") == {20: [10, 20, 25, 25, 40], 21: [20, 25, 40]}


def test_to_bar_rise_without_the_guard_it_does() -> None:
    assert out_and_in("no_monotone_guard")[20] == [10, 20, 25, 12, 25, 40]


def test_to_fail_where_no_link_is_left_what_was_told_stays_and_the_clock_is_told() -> None:
    switch = Controlling("default")
    for link, barrier in ((1, 10), (2, 20), (3, 30)):
        switch.beacon(link, barrier)
    switch.count(1, 2, 3)
    assert switch.barriers == {20: [10], 21: [20]}
    switch.settle()
    switch.count(1, 2, 3)
    assert switch.barriers == {20: [10, 4_000], 21: [20, 4_000]}
