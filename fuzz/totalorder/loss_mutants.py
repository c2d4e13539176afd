"""Hand-written mutants of environments D and F: rules as the source document has them, and nodes that spoil what
correct rules give."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from scatterproof.fuzz.altered import Alter, In, Out
from scatterproof.fuzz.protocol import HandMutant
from scatterproof.fuzz.totalorder.altered import altered, by_rules, packets
from scatterproof.impl.totalorder import RULES
from scatterproof.impl.totalorder.literal_embodiments import LITERAL
from scatterproof.spec.core import NodeConfig, PacketArrived, Send
from scatterproof.spec.topology import Role
from scatterproof.spec.totalorder.messages import NO_LOSS, NOT_SPOKEN, PacketKind

LOSS, ADJUSTMENT, SPLIT = 1, 2, 3  # groups of runs
_DATA, _BEACON, _ACK = int(PacketKind.DATA), int(PacketKind.BEACON), int(PacketKind.ACK)


def largest_acknowledged(outstanding: int | None, acknowledged: int, next_possible: int) -> int:
    """Literal TO-ACK-INIT: the largest timestamp that some receiver has acknowledged."""
    return acknowledged


def kept_when_idle(outstanding: int | None, acknowledged: int, next_possible: int) -> int:
    """Literal TO-ACK-IDLE: a sender with nothing outstanding keeps its value."""
    return acknowledged if outstanding is None else outstanding - 1


def least_noticed(least: int, largest: int, greatest: int) -> int:
    """Literal TO-FLAG-SW: the barrier minimum."""
    return least


def least_passed(carried: int, least: int, largest: int, greatest: int) -> int:
    """Literal TO-FLAG-RX: whoever sees a flag records its own barrier minimum."""
    return least


def data_alone(kind: int) -> bool:
    """Literal TO-FLAG-BEACON, TO-LOSSCTR: data messages only."""
    return kind == _DATA


def nobody() -> bool:
    """Literal TO-LASTHOP: the counter watches the links between switches."""
    return False


def own_timestamp(timestamp: int, current: int) -> int:
    """Literal TO-RETX-BAR: the barrier of a data message is its timestamp."""
    return timestamp


def last_arrived(held: int, arrived: int) -> int:
    """Registers as without loss."""
    return arrived


def one_bound_at_a_time(timestamp: int, barrier: int, ack: int, record: int) -> bool:
    """Literal TO-FLAG-RX: strictly below the ack barrier in the loss state, else strictly below the barrier."""
    return timestamp < (barrier if record <= ack else ack)


def other_sign(returned: int, round_trip_time: int, local: int) -> int:
    """Literal S2304 and F1: the local time less the third timestamp."""
    return local - (returned + round_trip_time)


def added_up(in_force: int, measured: int) -> int:
    """Literal TO-ADJ-2: the adjustment is added to what the clock shows, which has the last one in it."""
    return in_force + measured


def everyone(same_host: bool) -> bool:
    """Literal TO-ADJ-2: all receivers, the host itself among them."""
    return True


def without_promise(reading: int, last: int, promised: int) -> int:
    """A beacon at or above earlier timestamps, but not earlier promises."""
    return max(reading, last)


def host_never_resends(config: NodeConfig) -> Alter:
    def alter(event: In, effects: Sequence[Out]) -> Sequence[Out]:
        return [effect for effect in effects if not (isinstance(effect, Send) and effect.packet.resent)]

    return alter


def host_resends_with_new_timestamp(config: NodeConfig) -> Alter:
    return packets(lambda event, packet: replace(packet, timestamp=packet.timestamp + 1) if packet.resent else packet)


def host_acknowledges_too_much(config: NodeConfig) -> Alter:
    return packets(lambda event, packet: replace(packet, number=packet.number + 1) if packet.kind == _ACK else packet)


def host_answers_no_duplicate(config: NodeConfig) -> Alter:
    return _without_acknowledgement(lambda resent: resent)


def host_acknowledges_duplicates_only(config: NodeConfig) -> Alter:
    return _without_acknowledgement(lambda resent: not resent)


def _without_acknowledgement(silent_on: Callable[[bool], bool]) -> Alter:
    """silent_on: given whether a data message is resent, whether it gets no acknowledgement."""

    def alter(event: In, effects: Sequence[Out]) -> Sequence[Out]:
        data = isinstance(event, PacketArrived) and event.packet.kind == _DATA
        if not data or not isinstance(event, PacketArrived) or not silent_on(event.packet.resent):
            return effects
        return [effect for effect in effects if not (isinstance(effect, Send) and effect.packet.kind == _ACK)]

    return alter


def switch_drops_record(config: NodeConfig) -> Alter:
    return packets(lambda event, packet: replace(packet, loss_record=NO_LOSS))


def switch_drops_greatest(config: NodeConfig) -> Alter:
    return packets(lambda event, packet: replace(packet, greatest=NOT_SPOKEN, loss_record=NO_LOSS))


def switch_keeps_ack_barrier(config: NodeConfig) -> Alter:
    """A switch forwards the ack barrier that a data message arrived with, in place of the minimum."""

    def alter(event: In, effects: Sequence[Out]) -> Sequence[Out]:
        if not isinstance(event, PacketArrived) or event.packet.kind != _DATA:
            return effects
        came = event.packet.ack_barrier
        return [
            Send(effect.link, replace(effect.packet, ack_barrier=came))
            if isinstance(effect, Send) and effect.packet.kind == _DATA
            else effect
            for effect in effects
        ]

    return alter


def switch_forgets_resent(config: NodeConfig) -> Alter:
    return packets(lambda event, packet: replace(packet, resent=False))


def _split(name: str, sentence: str) -> HandMutant:
    """Switches with two processors, one of which acts as the document allows."""
    make = LITERAL[name]
    return HandMutant(
        name=f"switch/{name.replace(' ', '-')}",
        sentence=sentence,
        make_node=lambda config: make(config, RULES),
        group=SPLIT,
    )


_HOST, _SWITCH = Role.HOST, Role.SWITCH
MUTANTS = (
    by_rules(
        "ack_barrier/largest-acknowledged",
        "Literal: the largest acknowledged timestamp.",
        LOSS,
        ack_barrier=largest_acknowledged,
    ),
    by_rules("ack_barrier/kept-when-idle", "Literal: an idle sender keeps its own.", LOSS, ack_barrier=kept_when_idle),
    by_rules(
        "record/of-the-minimum",
        "Literal: a loss and a flag record the barrier minimum.",
        LOSS,
        noticed_record=least_noticed,
        passed_record=least_passed,
    ),
    by_rules("flag_on/data-alone", "Literal: beacons carry no loss flag.", LOSS, flag_on=data_alone),
    by_rules("counts/data-alone", "Literal: the loss counter spans data messages only.", LOSS, counts=data_alone),
    by_rules("last_hop_watched/nobody", "Literal: nobody watches the last link.", LOSS, last_hop_watched=nobody),
    by_rules(
        "resent_barrier/own-timestamp",
        "Literal: a resent message has its timestamp as barrier, and registers take what came last.",
        LOSS,
        resent_barrier=own_timestamp,
        register_under_loss=last_arrived,
    ),
    by_rules(
        "deliverable_under_loss/one-bound-at-a-time",
        "Literal: the ack barrier counts in the loss state alone.",
        LOSS,
        deliverable_under_loss=one_bound_at_a_time,
    ),
    altered("never-resends", _HOST, "What is lost is never sent again.", host_never_resends, LOSS),
    altered(
        "resends-with-new-timestamp",
        _HOST,
        "A resent message has another timestamp.",
        host_resends_with_new_timestamp,
        LOSS,
    ),
    altered(
        "acknowledges-too-much",
        _HOST,
        "Acknowledgements name the next message, too.",
        host_acknowledges_too_much,
        LOSS,
    ),
    altered("answers-no-duplicate", _HOST, "A resent message is not acknowledged.", host_answers_no_duplicate, LOSS),
    altered(
        "acknowledges-duplicates-only",
        _HOST,
        "A message is acknowledged only when it comes again.",
        host_acknowledges_duplicates_only,
        LOSS,
    ),
    altered("drops-record", _SWITCH, "No loss record goes on.", switch_drops_record, LOSS),
    altered("drops-greatest", _SWITCH, "What is greatest on a link does not go on.", switch_drops_greatest, LOSS),
    altered("keeps-ack-barrier", _SWITCH, "Data keep the ack barrier they came with.", switch_keeps_ack_barrier, LOSS),
    altered("forgets-resent", _SWITCH, "A resent message goes on as a new one.", switch_forgets_resent, LOSS),
    by_rules("difference/other-sign", "Literal: the difference has the other sign.", ADJUSTMENT, difference=other_sign),
    by_rules("in_force_next/added-up", "Literal: rounds add up.", ADJUSTMENT, in_force_next=added_up),
    by_rules("measured_over/everyone", "Literal: a host measures itself too.", ADJUSTMENT, measured_over=everyone),
    by_rules(
        "adjusted_beacon/without-promise",
        "A beacon may fall below an earlier one when the adjustment falls.",
        ADJUSTMENT,
        adjusted_beacon=without_promise,
    ),
    _split("beacons overtake data", "Literal: nothing orders the two processors of a switch."),
    _split("beacons leave as made", "The second processor writes whole beacons: the loss record that it knew of, too."),
)
