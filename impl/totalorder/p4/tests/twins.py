"""A reference switch and a P4 switch side by side: whatever comes is given to both, and what leaves must be equal, byte
for byte and port for port."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from scatterproof.impl import node
from scatterproof.impl.totalorder import AnyCore, make_core
from scatterproof.impl.totalorder.codec import encode
from scatterproof.impl.totalorder.host import In, Out
from scatterproof.impl.totalorder.p4.builds import DEFAULT
from scatterproof.impl.totalorder.p4.chip import Target
from scatterproof.impl.totalorder.p4.control import in_order
from scatterproof.impl.totalorder.p4.core import switch_on
from scatterproof.impl.totalorder.p4.embedded import EmbeddedTarget
from scatterproof.impl.totalorder.p4.entries import Entries
from scatterproof.impl.totalorder.p4.frames import CPU_PORT, frame
from scatterproof.spec.core import NodeConfig, Refuse, Send
from scatterproof.spec.topology import LinkId, Role
from scatterproof.spec.totalorder.messages import Packet

MakeCore = Callable[[NodeConfig], AnyCore]


class Recording:
    """A target that notes the frames that leave its links."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.left: list[tuple[int, bytes]] = []

    def write(self, entries: Entries) -> None:
        self._target.write(entries)

    def process(self, port: int, data: bytes, tick: int) -> Sequence[tuple[int, bytes]]:
        found = self._target.process(port, data, tick)
        self.left += [(out, left) for out, left in found if out != CPU_PORT]
        return found

    def refusals(self) -> Sequence[int]:
        return self._target.refusals()

    def close(self) -> None:
        self._target.close()


class Twin:
    """One switch. `differences` gets a sentence for each thing that is not equal; the reference's effects go on."""

    def __init__(self, config: NodeConfig, reference: AnyCore, build: str, differences: list[str]) -> None:
        self._made: list[Recording] = []
        self._reference = reference
        self._p4 = switch_on(config, self._target(build), clock_in_frame=False)
        self._ports = in_order(config)
        self._node = config.node
        self._differences = differences
        self.events = 0

    def _target(self, build: str) -> Callable[[int], Target]:
        def make(size: int) -> Target:
            self._made.append(Recording(EmbeddedTarget(build, size)))
            return self._made[-1]

        return make

    def handle(self, event: In) -> Sequence[Out]:
        first = self._made[0]
        first.left.clear()
        expected, found = self._reference.handle(event), self._p4.handle(event)
        self.events += 1
        self._compare(f"effects of {event}", [*map(_plain, expected)], [*map(_plain, found)])
        frames = [
            (self._ports.egress[e.link], frame(e.packet, checksum=False)) for e in expected if isinstance(e, Send)
        ]
        self._compare(f"frames after {event}", _by_port(frames), _by_port(first.left))
        return expected

    def arrive_frame(self, now: int, link: LinkId, data: bytes) -> Sequence[Out]:
        """Give a frame to the P4 switch alone."""
        return self._p4.arrive_frame(now, link, data)

    def take_malformed(self, now: int, link: LinkId, data: bytes) -> None:
        """A frame that holds no packet: nothing leaves."""
        found = self._p4.arrive_frame(now, link, data)
        self.events += 1
        self._compare(f"effects of {data.hex()}", [("refuse", link, b"")], [*map(_plain, found)])

    def next_deadline(self) -> int | None:
        expected = self._reference.next_deadline()
        self._compare("deadline", expected, self._p4.next_deadline())
        return expected

    def _compare(self, what: str, expected: object, found: object) -> None:
        if expected != found:
            self._differences.append(
                f"switch {self._node}, event {self.events}: {what}\n  is     {found}\n  not    {expected}"
            )


def _plain(effect: Out) -> tuple[str, int, bytes]:
    if isinstance(effect, Send):
        packet: Packet = effect.packet
        return "send", effect.link, encode(packet)
    assert isinstance(effect, Refuse)
    return "refuse", effect.link, b""


def _by_port(frames: Iterable[tuple[int, bytes]]) -> dict[int, list[bytes]]:
    found = defaultdict[int, list[bytes]](list)
    for port, left in frames:
        found[port].append(left)
    return dict(found)


class Twins:
    """A factory of nodes whose switches are twins. reference: makes the reference's."""

    def __init__(self, build: str = DEFAULT, reference: MakeCore = make_core) -> None:
        self._build = build
        self._reference = reference
        self.differences: list[str] = []
        self.switches: list[Twin] = []

    def __call__(self, config: NodeConfig) -> AnyCore:
        core = self._reference(config)
        node.check(config)
        return core if config.role is Role.HOST else self.twin(config)

    def twin(self, config: NodeConfig) -> Twin:
        """The twins of one switch."""
        self.switches.append(Twin(config, self._reference(config), self._build, self.differences))
        return self.switches[-1]

    @property
    def events(self) -> int:
        return sum(twin.events for twin in self.switches)
