"""Mutants of the parts of a run beside the rules: its structure of messages, its variants, and what happens when nodes
fail. Most are reference cores that act as in another run."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from scatterproof.fuzz.altered import Alter
from scatterproof.fuzz.protocol import HandMutant
from scatterproof.fuzz.totalorder.altered import TheCore, altered, by_rules, packets
from scatterproof.impl.totalorder import make_core
from scatterproof.spec.core import NodeConfig, Parameter
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import NO_BARRIER, Packet, PacketKind

_DATA, _BEACON = int(PacketKind.DATA), int(PacketKind.BEACON)
_HOST, _SWITCH = Role.HOST, Role.SWITCH
# The groups of `scatterproof.fuzz.totalorder.plugin` in whose runs these show.
LOSS, ADJUSTMENT, SLOW, FAILING = 1, 2, 4, 5

Change = Callable[[dict[str, Parameter]], dict[str, Parameter]]


def _told(name: str, role: Role, sentence: str, change: Change, group: int = 0) -> HandMutant:
    """Nodes of that role with other parameters than the run's."""

    def make_node(config: NodeConfig) -> TheCore:
        if config.role is role:
            config = replace(config, parameters=config.parameters | change(config.parameters))
        return make_core(config)

    return HandMutant(name=f"{role}/{name}", sentence=sentence, make_node=make_node, group=group)


def _set(**parameters: Parameter) -> Change:
    """Set these parameters, as far as the run has them."""
    return lambda given: {name: value for name, value in parameters.items() if name in given}


def _times(name: str, factor: int) -> Change:
    return lambda given: {name: factor * int(given[name])} if name in given else {}


def host_leaves_numbers_out(config: NodeConfig) -> Alter:
    """Every message has twice its number."""
    return packets(lambda event, packet: replace(packet, number=2 * packet.number) if packet.kind == _DATA else packet)


def in_structure(environment: str, change: Callable[[Packet], Packet]) -> Callable[[NodeConfig], Alter]:
    """Changes packets in runs of this structure of messages alone."""

    def alter(config: NodeConfig) -> Alter:
        asked = config.parameters["environment"] == environment
        return packets(lambda event, packet: change(packet) if asked else packet)

    return alter


def without_ack_barrier(packet: Packet) -> Packet:
    return replace(packet, ack_barrier=NO_BARRIER)


def with_barrier_on_beacons(packet: Packet) -> Packet:
    """Beacons that carry the ack barrier alone carry it as barrier, too."""
    return replace(packet, barrier=packet.ack_barrier) if packet.kind == _BEACON else packet


def with_both_on_beacons(packet: Packet) -> Packet:
    """A beacon takes the barrier that it lacks from the one that it has."""
    if packet.kind != _BEACON:
        return packet
    if packet.barrier == NO_BARRIER:
        return replace(packet, barrier=packet.ack_barrier)
    return replace(packet, ack_barrier=packet.ack_barrier if packet.ack_barrier != NO_BARRIER else 0)


def with_barrier_on_data(packet: Packet) -> Packet:
    return replace(packet, barrier=packet.timestamp) if packet.kind == _DATA and not packet.resent else packet


def barrier_alone(timestamp: int, ack: int, barrier: int) -> bool:
    """In place of `may_deliver`: reliable delivery does not wait for acknowledgements."""
    return timestamp < barrier


def at_the_barrier(ack: int, barrier: int) -> int:
    """In place of `cut_off`: what the barrier promised counts, though some receivers may lack it."""
    return barrier


def at_nothing(ack: int, barrier: int) -> int:
    """In place of `cut_off`: nothing of a dead sender is delivered any more, though some receivers have delivered
    it."""
    return 0


MUTANTS = (
    altered("leaves-numbers-out", _HOST, "Message numbers have gaps.", host_leaves_numbers_out, LOSS),
    altered(
        "no-ack-barrier-in-d5",
        _HOST,
        "Structure 5 without ack barriers.",
        in_structure("D5", without_ack_barrier),
        LOSS,
    ),
    altered(
        "barrier-on-beacons-in-d6",
        _SWITCH,
        "Structure 6 with barriers on beacons.",
        in_structure("D6", with_barrier_on_beacons),
        LOSS,
    ),
    altered(
        "one-beacon-in-d7",
        _SWITCH,
        "Structure 7 with one beacon for both.",
        in_structure("D7", with_both_on_beacons),
        LOSS,
    ),
    altered(
        "barrier-on-data-in-d8",
        _HOST,
        "Structure 8 with barriers on data.",
        in_structure("D8", with_barrier_on_data),
        LOSS,
    ),
    altered(
        "no-ack-barrier-in-d9",
        _HOST,
        "Structure 9 without ack barriers.",
        in_structure("D9", without_ack_barrier),
        LOSS,
    ),
    _told("fills-barriers", _HOST, "Barriers that are the first switch's to fill are written.", _set(fill_barrier=0)),
    _told("says-no-loss", _HOST, "Hosts do not say what they know to be lost.", _set(host_flags=0), LOSS),
    _told("asks-seldom", _HOST, "Rounds come a fifth as often.", _times("adjustment_interval_ns", 5), ADJUSTMENT),
    _told("sends-every-beacon", _SWITCH, "Beacons that say nothing new go on.", _set(every_beacon=1), SLOW),
    _told("replies-too-low", _HOST, "A reply may be ordered ahead of what it answers.", _set(causal=0), SLOW),
    _told("gives-nobody-up", _SWITCH, "A silent link holds everyone up.", _times("failure_timeout_ns", 1000), FAILING),
    _told(
        "forgets-that-it-began-anew",
        _SWITCH,
        "A switch that began anew says at once that it knows nothing.",
        _set(incarnation=0),
        FAILING,
    ),
    by_rules("cut_off/at-the-barrier", "The cut-off is the barrier.", FAILING, cut_off=at_the_barrier),
    by_rules("cut_off/at-nothing", "The cut-off is below all.", FAILING, cut_off=at_nothing),
    by_rules("may_deliver/barrier-alone", "Reliable delivery does not wait.", FAILING, may_deliver=barrier_alone),
)
