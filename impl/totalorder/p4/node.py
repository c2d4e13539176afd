"""A node whose switches are P4 switches: packets are encoded, given to the program, and decoded as they leave.

Clauses: TO-SW-1, TO-SW-3, TO-SW-4; those of other forms are in `split` and `failing`. Hosts are the reference hosts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, assert_never

from scatterproof.impl.totalorder.host import In, Out
from scatterproof.impl.totalorder.p4.chip import Chip, Target, until
from scatterproof.impl.totalorder.p4.control import Controlled, SwitchControl, in_order
from scatterproof.impl.totalorder.p4.frames import Ask, Reason
from scatterproof.impl.totalorder.settings import settings
from scatterproof.spec.core import LocalProtocolError, NodeConfig, PacketArrived, Submitted, TimerFired
from scatterproof.spec.topology import LinkId
from scatterproof.spec.totalorder.messages import Packet

# A target for a program of that many ports.
MakeTarget: TypeAlias = Callable[[int], Target]


class P4Switch:
    """One processor. The controller keeps the time: the program tells it of beacons that wait."""

    def __init__(self, config: NodeConfig, make_target: MakeTarget, *, clock_in_frame: bool = False) -> None:
        chosen = settings(config)
        self._node = config.node
        self._interval = chosen.beacon_interval_ns
        self._every_beacon = chosen.every_beacon and chosen.beacons_exist
        self._control = SwitchControl(config, in_order(config))
        self._chip = Chip(
            make_target(self._control.size),
            self._control.ports,
            self._control.entries(),
            clock_in_frame=clock_in_frame,
        )
        self._deadline: int | None = 0 if self._every_beacon else None

    def handle(self, event: In) -> Sequence[Out]:
        if isinstance(event, PacketArrived):
            return self._receive(event.now, event.link, event.packet)
        if isinstance(event, TimerFired):
            return self._wake(event.now)
        if isinstance(event, Submitted):
            raise LocalProtocolError(f"node {self._node} is a switch; only hosts take submissions")
        assert_never(event)

    def arrive_frame(self, now: int, link: LinkId, data: bytes) -> Sequence[Out]:
        """What leaves when any frame comes over a link, or that it was refused."""
        return self._chip.arrive_frame(now, link, data)

    def close(self) -> None:
        self._chip.close()

    def next_deadline(self) -> int | None:
        return self._deadline

    def _receive(self, now: int, link: LinkId, packet: Packet) -> Sequence[Out]:
        effects = self._chip.arrive(now, link, packet)
        self._note(now)
        return effects

    def _note(self, now: int) -> None:
        """Note when the beacons that wait are due."""
        for told in self._chip.told:
            if told.reason is Reason.HELD:
                due = until(now, told.until)
                if self._deadline is None or due < self._deadline:
                    self._deadline = due
        self._chip.told.clear()

    def _wake(self, now: int) -> Sequence[Out]:
        if self._deadline is None or now < self._deadline:
            return ()
        asks = True
        if self._every_beacon:
            # At the start only the first multiple of the interval is looked for.
            asks = self._deadline > 0
            self._deadline = (now // self._interval + 1) * self._interval
        else:
            self._deadline = None
        effects = self._chip.ask(now, Ask.TRIGGER) if asks else []
        self._note(now)
        return effects

    def _tell(self, controlled: Controlled) -> None:
        self._chip.write(self._control.entries(controlled))
