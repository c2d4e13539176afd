"""Hand-written mutants of total order: literal rules of the source document, and nodes that spoil what correct rules
give.

The second kind wraps a reference core and changes its effects, as a faulty implementation would look from outside.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from scatterproof.fuzz.altered import Alter, In, Out, deliveries
from scatterproof.fuzz.protocol import HandMutant
from scatterproof.fuzz.totalorder.altered import TheCore, altered, by_rules, packets
from scatterproof.impl.totalorder import make_core
from scatterproof.spec.core import Deliver, NodeConfig, PacketArrived, Send
from scatterproof.spec.topology import LinkId, Role
from scatterproof.spec.totalorder.messages import NO_BARRIER, Delivery, Environment, Packet, PacketKind

_DATA, _BEACON = int(PacketKind.DATA), int(PacketKind.BEACON)


class Restarting:
    """A switch that loses all it held after some packets, and goes on as a new one."""

    def __init__(self, config: NodeConfig, after: int) -> None:
        self._config = config
        self._core: TheCore = make_core(config)
        self._left = after

    def handle(self, event: In) -> Sequence[Out]:
        if self._left == 0:
            self._core = make_core(self._config)
        self._left -= 1
        return self._core.handle(event)

    def next_deadline(self) -> int | None:
        return self._core.next_deadline()


def least_ever(held: int, arrived: int) -> int:
    """Literal TO-BAR-MIN: the earlier minimum takes part."""
    return min(held, arrived) if held else arrived


def greatest_ever(held: int, arrived: int) -> int:
    """As TO-RETX-BAR asks of registers where messages are resent."""
    return max(held, arrived)


def spoken_only(barriers: Sequence[int]) -> int:
    """Literal TO-BAR-MIN: the minimum of the barriers received; a link that has not spoken is left out."""
    return min([barrier for barrier in barriers if barrier] or [0])


def first_only(barriers: Sequence[int]) -> int:
    """The barrier of one link for all."""
    return barriers[0]


def newest_first(timestamp: int, sender: int) -> tuple[int, int]:
    """The order reversed."""
    return (-timestamp, sender)


def sender_falling(timestamp: int, sender: int) -> tuple[int, int]:
    """Ties in reverse order."""
    return (timestamp, -sender)


def switch_keeps_data_barrier(config: NodeConfig) -> Alter:
    return packets(lambda event, packet: _with_incoming_barrier(event, packet, _DATA))


def switch_beacons_with_incoming_barrier(config: NodeConfig) -> Alter:
    return packets(lambda event, packet: _with_incoming_barrier(event, packet, _BEACON))


def _with_incoming_barrier(event: In, packet: Packet, kind: int) -> Packet:
    if packet.kind == kind and isinstance(event, PacketArrived) and event.packet.barrier != NO_BARRIER:
        return replace(packet, barrier=event.packet.barrier)
    return packet


def switch_barrier_one_late(config: NodeConfig) -> Alter:
    held: dict[LinkId, int] = {}

    def alter(event: In, effects: Sequence[Out]) -> Sequence[Out]:
        late: list[Out] = []
        for effect in effects:
            if isinstance(effect, Send) and effect.packet.barrier != NO_BARRIER:
                before = held.get(effect.link, effect.packet.barrier)
                held[effect.link] = effect.packet.barrier
                effect = Send(effect.link, replace(effect.packet, barrier=before))
            late.append(effect)
        return late

    return alter


def switch_holds_data_back(config: NodeConfig) -> Alter:
    """Every second data message of a link waits until another packet has left there, and takes that one's number."""
    held: dict[LinkId, Packet] = {}
    count: dict[LinkId, int] = {}

    def alter(event: In, effects: Sequence[Out]) -> Sequence[Out]:
        out: list[Out] = []
        for effect in effects:
            if not isinstance(effect, Send):
                out.append(effect)
                continue
            link, packet = effect.link, effect.packet
            waiting = held.pop(link, None)
            if waiting is not None:
                out.append(Send(link, replace(packet, link_seq=waiting.link_seq)))
                barrier = waiting.barrier if waiting.barrier == NO_BARRIER else max(packet.barrier, waiting.barrier)
                out.append(Send(link, replace(waiting, link_seq=packet.link_seq, barrier=barrier)))
                continue
            if packet.kind == _DATA:
                count[link] = count.get(link, 0) + 1
            if packet.kind == _DATA and count[link] % 2 == 0:
                held[link] = packet
            else:
                out.append(effect)
        return out

    return alter


def switch_drops_data(config: NodeConfig) -> Alter:
    seen = [0]

    def alter(event: In, effects: Sequence[Out]) -> Sequence[Out]:
        kept: list[Out] = []
        for effect in effects:
            if isinstance(effect, Send) and effect.packet.kind == _DATA:
                seen[0] += 1
                if seen[0] % 3 == 0:
                    continue
            kept.append(effect)
        return kept

    return alter


def host_delivers_on_arrival(config: NodeConfig) -> Alter:
    def alter(event: In, effects: Sequence[Out]) -> Sequence[Out]:
        out: list[Out] = [effect for effect in effects if not isinstance(effect, Deliver)]
        if isinstance(event, PacketArrived) and event.packet.kind == _DATA:
            packet = event.packet
            out.append(Deliver(Delivery(packet.sender, packet.number, packet.timestamp, packet.payload)))
        return out

    return alter


def host_skips_a_message(config: NodeConfig) -> Alter:
    return deliveries(lambda number, message: [] if number % 2 == 0 else [message])


def host_delivers_twice(config: NodeConfig) -> Alter:
    return deliveries(lambda number, message: [message, message] if number % 2 == 0 else [message])


def host_changes_contents(config: NodeConfig) -> Alter:
    return deliveries(lambda number, message: [replace(message, payload=message.payload + b"?")])


def host_swaps_neighbours(config: NodeConfig) -> Alter:
    """Messages that become deliverable together are handed over the last first."""

    def alter(event: In, effects: Sequence[Out]) -> Sequence[Out]:
        delivered = [effect for effect in effects if isinstance(effect, Deliver)]
        return [*(effect for effect in effects if not isinstance(effect, Deliver)), *reversed(delivered)]

    return alter


def host_repeats_number(config: NodeConfig) -> Alter:
    return packets(lambda event, packet: replace(packet, number=1) if packet.kind == _DATA else packet)


def host_timestamp_per_copy(config: NodeConfig) -> Alter:
    """The k-th message of a scattering is stamped k ns later than the first."""

    def alter(event: In, effects: Sequence[Out]) -> Sequence[Out]:
        out: list[Out] = []
        copies = 0
        for effect in effects:
            if isinstance(effect, Send) and effect.packet.kind == _DATA:
                packet = effect.packet
                effect = Send(effect.link, replace(packet, timestamp=packet.timestamp + copies))
                copies += 1
            out.append(effect)
        return out

    return alter


def _host_as_in(played: Environment, real: Environment, sentence: str) -> HandMutant:
    """Hosts that act as in environment `played` in a run of `real`."""

    def make_node(config: NodeConfig) -> TheCore:
        if config.role is Role.HOST and config.parameters["environment"] == real:
            config = replace(config, parameters={**config.parameters, "environment": played.value})
        return make_core(config)

    name = f"host/as-in-{played.lower()}-where-{real.lower()}"
    return HandMutant(name=name, sentence=sentence, make_node=make_node)


def _restarting(config: NodeConfig) -> TheCore:
    return Restarting(config, after=6) if config.role is Role.SWITCH else make_core(config)


_HOST, _SWITCH = Role.HOST, Role.SWITCH
MUTANTS = (
    by_rules("register/least-ever", "Literal: a running minimum over everything received.", register=least_ever),
    by_rules("register/greatest-ever", "The greatest barrier of a link is kept.", register=greatest_ever),
    by_rules("aggregate/spoken-only", "Literal: a link that has not spoken is left out.", aggregate=spoken_only),
    by_rules("aggregate/first-only", "One ingress link stands for all.", aggregate=first_only),
    by_rules("precedence/newest-first", "The newest message first.", precedence=newest_first),
    by_rules("precedence/sender-falling", "Among equal timestamps, the last sender first.", precedence=sender_falling),
    altered("keeps-data-barrier", _SWITCH, "Data go on with the barrier they came with.", switch_keeps_data_barrier),
    altered(
        "beacons-with-incoming-barrier",
        _SWITCH,
        "A beacon goes on with the barrier that came, not with the minimum.",
        switch_beacons_with_incoming_barrier,
    ),
    altered("barrier-one-late", _SWITCH, "Each barrier is the one before it.", switch_barrier_one_late),
    altered("holds-data-back", _SWITCH, "Data leave after a packet that came later.", switch_holds_data_back),
    altered("drops-data", _SWITCH, "Every third data message is not forwarded.", switch_drops_data),
    HandMutant(
        name="switch/restarts-empty",
        sentence="A switch restarts with nothing held, and its barriers begin again.",
        make_node=_restarting,
    ),
    altered("delivers-on-arrival", _HOST, "Messages are delivered as they arrive.", host_delivers_on_arrival),
    altered("skips-a-message", _HOST, "Every second message is never delivered.", host_skips_a_message),
    altered("delivers-twice", _HOST, "Every second message is delivered again.", host_delivers_twice),
    altered("changes-contents", _HOST, "The contents are not those that were sent.", host_changes_contents),
    altered("swaps-neighbours", _HOST, "Messages delivered together come in reverse.", host_swaps_neighbours),
    altered("repeats-number", _HOST, "Every message has number 1.", host_repeats_number),
    altered("timestamp-per-copy", _HOST, "The messages of a scattering differ in timestamp.", host_timestamp_per_copy),
    _host_as_in(Environment.C, Environment.A, "Hosts send beacons in environment A."),
    _host_as_in(Environment.C, Environment.B, "Hosts put barriers on data messages in environment B."),
    _host_as_in(Environment.B, Environment.C, "Hosts leave the barrier out of data messages in environment C."),
)
