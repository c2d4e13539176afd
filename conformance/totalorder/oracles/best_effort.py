"""The clauses of environments A, B and C."""

from __future__ import annotations

from scatterproof.conformance.oracles.whole import before, positions
from scatterproof.conformance.totalorder.oracles.whole import GREATEST, Event, Whole, barriers, from_switches, look
from scatterproof.spec.totalorder.messages import NO_BARRIER, NOT_SPOKEN, Environment, PacketKind
from scatterproof.spec.trace import ABSENT, Kind, Trace

FORWARDED = (PacketKind.DATA, PacketKind.ACK)
OF_ROUNDS = (PacketKind.ADJUST, PacketKind.ADJUSTED)


def one_timestamp_per_scattering(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for messages in whole.scatterings:
        first, _ = messages[0]
        broken |= positions(sending for sending, _ in messages if sending.timestamp != first.timestamp)
    if any(sending is None for _, sending in whole.sendings) and not whole.is_on("failure_timeout_ns"):
        broken |= positions(event for event in whole.of(Kind.ENDED) if event.settled)
    return broken


def timestamps_rise(trace: Trace) -> set[int]:
    whole = look(trace)
    firsts = [messages[0] for messages in whole.scatterings]
    broken: set[int] = set()
    for given, submission in firsts:
        earlier = [
            other.timestamp for other, _ in firsts if other.node == given.node and other.position < given.position
        ]
        sent = [event for event in before(whole.sent, given.position) if event.node == given.node]
        promised = [event.barrier for event in barriers(sent)]
        promised += [event.ack_barrier + 1 for event in sent]
        rises = given.timestamp > max([ABSENT, *earlier])
        # What a host adds to its clock is not known here.
        clocks_count = not whole.is_on("adjustment_interval_ns")
        keeps_up = not clocks_count or given.timestamp >= submission.clock_ns
        # The clock, the last timestamp plus 1, and the promises: one of them must ask for this timestamp.
        asked_for = [given.clock_ns, *promised, *([max(earlier) + 1] if earlier else [])]
        ahead = given.clock_ns >= 0 and given.timestamp > max(asked_for)
        runs_ahead = ahead and clocks_count and not whole.is_on("causal")
        if not rises or not keeps_up or runs_ahead:
            broken.add(given.position)
    return broken


def host_barrier_is_its_promise(trace: Trace) -> set[int]:
    whole = look(trace)
    given_earlier = {sending.position for messages in whole.scatterings for sending, _ in messages[1:]}
    broken: set[int] = set()
    for event in whole.sent:
        if not whole.is_host(event.node):
            continue
        earlier = [other for other in before(whole.sent, event.position) if other.node == event.node]
        if event.is_data:
            own = event.barrier in (NO_BARRIER, event.timestamp)
            promised = max([NO_BARRIER, *(other.barrier for other in earlier)])
            kept = event.position in given_earlier or event.timestamp >= promised
            if not (event.resent and whole.environment.loses) and not (own and kept):
                broken.add(event.position)
        elif event.barrier != NO_BARRIER and not is_current(whole, event, earlier):
            broken.add(event.position)
    return broken


def is_current(whole: Whole, event: Event, earlier: list[Event]) -> bool:
    """Whether the event's barrier is what its host can promise by its clock and by what it sent."""
    timestamps = [other.timestamp for other in earlier if other.is_data]
    said = [NOT_SPOKEN, *timestamps, *(other.barrier for other in earlier)]
    said += [min(other.ack_barrier + 1, GREATEST) for other in earlier]
    if event.clock_ns < 0 or whole.is_on("adjustment_interval_ns"):
        return event.barrier >= max(said)
    return event.barrier == max([event.clock_ns, *said])


def switch_barrier_is_minimum(trace: Trace) -> set[int]:
    whole = look(trace)
    may_be_low = whole.late and not whole.failure_timeout
    return {
        event.position
        for event in barriers(from_switches(whole))
        if any(event.barrier > whole.newest(link, event.position) for link in whole.live(event))
        or (event.barrier < _least(whole, event) and not may_be_low)
    }


def _least(whole: Whole, event: Event) -> int:
    """The least barrier, in ns, of all ingress links of the event's switch. Of one that may have been given up: what it
    was then."""
    return min(whole.low(link, event, whole.newest) for link in whole.ingress(event.node))


def only_reaching_links_count(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in barriers(from_switches(whole)):
        minimum = min(whole.low(link, event, whole.newest) for link in whole.routes.reaching[event.link])
        if _least(whole, event) <= event.barrier < minimum:
            broken.add(event.position)
    return broken


def barrier_promise_holds(trace: Trace) -> set[int]:
    whole = look(trace)
    sent = whole.sent
    return {
        data.position
        for data in sent
        if data.is_data and not (data.resent and whole.environment.loses)
        for earlier in barriers(before(sent, data.position))
        if earlier.link == data.link and data.timestamp < earlier.barrier
    }


def barriers_never_fall(trace: Trace) -> set[int]:
    sent = barriers(look(trace).sent)
    return {
        event.position
        for event in sent
        for earlier in before(sent, event.position)
        if earlier.link == event.link and event.barrier < earlier.barrier
    }


def deliver_below_barrier(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for delivery in whole.delivered:
        ingress, at = whole.ingress(delivery.node), delivery.position
        if not ingress:
            broken.add(at)
            continue
        covered = all(delivery.timestamp < whole.newest(link, at) for link in ingress)
        if whole.environment.loses:
            ack = min(whole.newest_ack(link, at) for link in ingress)
            in_loss_state = any(whole.record(link, at) > ack for link in ingress)
            covered = covered or in_loss_state or delivery.timestamp <= ack
        if not covered:
            broken.add(at)
    return broken


def delivered_in_total_order(trace: Trace) -> set[int]:
    delivered = look(trace).delivered
    return {
        later.position
        for later in delivered
        for earlier in before(delivered, later.position)
        if earlier.node == later.node and (earlier.timestamp, earlier.sender) >= (later.timestamp, later.sender)
    }


def delivered_once_as_sent(trace: Trace) -> set[int]:
    whole = look(trace)
    sendings = {submission.key: (submission, sending) for submission, sending in whole.sendings}
    broken: set[int] = set()
    for delivery in whole.delivered:
        submission, sending = sendings.get(delivery.key, (None, None))
        earlier = [
            other
            for other in before(whole.delivered, delivery.position)
            if submission is not None
            and other.position > submission.position
            and other.key == delivery.key
            and other.node == other.receiver
        ]
        genuine = (
            delivery.node == delivery.receiver
            and submission is not None
            and submission.digest == delivery.digest
            and sending is not None
            and sending.position < delivery.position
            and sending.timestamp == delivery.timestamp
        )
        if not genuine or earlier:
            broken.add(delivery.position)
    return broken


def arrived_is_delivered(trace: Trace) -> set[int]:
    whole = look(trace)
    # Rounds of adjustment never end: where switches may be late, the last messages may still be in one.
    forwarded = FORWARDED if whole.late else FORWARDED + OF_ROUNDS
    for_others = _originals([event for event in whole.arrived if event.packet in forwarded])
    delivered = {(delivery.node, delivery.sender, delivery.number) for delivery in whole.delivered}
    kept = [
        event
        for event in whole.arrived
        if event.is_data
        and whole.is_host(event.node)
        and not whole.stopped(event.node)
        and event.receiver == event.node
        and (event.node, event.sender, event.number) not in delivered
    ]
    without_beacons = whole.environment in (Environment.A, Environment.D5)
    out = _still_out(whole)
    if without_beacons or out or whole.failure_timeout:
        kept = [event for event in kept if _must_be_delivered(whole, event)]
    kept = [event for event in kept if not (whole.fell_silent(event.node) or _is_discarded(whole, event))]
    began = {switch: whole.began(switch, len(whole.events)) for switch in whole.topology.switches()}
    # Messages to a host that crashed are sent again for ever; the last ones may be in a switch that may be late.
    for_ever = whole.failure_timeout or (whole.late and out)
    swallowed = not for_ever and any(
        sum(event.node == switch and event.position > since for event in for_others)
        > sum(event.node == switch and event.position > since and event.packet in forwarded for event in whole.sent)
        for switch, since in began.items()
        if not whole.stopped(switch)
    )
    return positions(event for event in whole.of(Kind.ENDED) if event.settled and (kept or swallowed))


def _still_out(whole: Whole) -> int:
    """How many nodes and links stopped and did not come back, with the hosts that did: they have lost what they had."""
    out = 0
    for event in whole.events:
        if event.kind == Kind.CRASHED:
            out += 1
        elif event.kind == Kind.RESTARTED and not (event.link < 0 and whole.is_host(event.node)):
            out = max(0, out - 1)
    return out


def _is_discarded(whole: Whole, message: Event) -> bool:
    """Whether the receiver was told to discard the message: by a notice, all of the sender's from some timestamp on, or
    by a recall, this one."""
    to_receiver = [event for event in (*whole.notices, *whole.recalls) if event.node == message.node]
    return any(
        event.sender == message.sender
        and (event.number == message.number if event.number else 0 <= event.timestamp <= message.timestamp)
        for event in to_receiver
    )


def _originals(arrived: list[Event]) -> list[Event]:
    """The packets that arrived, without copies that the network made. A copy bears a number that came already, since
    the node that numbers began."""
    return [
        event
        for event in arrived
        if not any(
            other.link == event.link
            and (
                other.incarnation > event.incarnation
                or (other.incarnation == event.incarnation and other.link_seq >= event.link_seq >= 0)
            )
            for other in before(arrived, event.position)
        )
    ]


def _must_be_delivered(whole: Whole, event: Event) -> bool:
    """Whether the receiver's barriers have passed the message in the end; where failures are handled, whether its ack
    barriers have."""
    end, ingress = len(whole.events), whole.ingress(event.node)
    if not ingress:
        return False
    covered = all(event.timestamp < whole.newest(link, end) for link in ingress)
    if not whole.environment.loses:
        return covered
    ack = min(whole.newest_ack(link, end) for link in ingress)
    in_loss_state = whole.failure_timeout or any(whole.most_record(link, end) > ack for link in ingress)
    return NOT_SPOKEN < ack >= event.timestamp or (covered and not in_loss_state)


def barriers_on_data_only(trace: Trace) -> set[int]:
    whole = look(trace)
    return positions(event for event in whole.sent if event.is_beacon or _lacks_barrier(whole, event))


def _lacks_barrier(whole: Whole, event: Event) -> bool:
    left_to_switch = whole.is_on("fill_barrier") and whole.is_host(event.node)
    return event.is_data and event.barrier == NO_BARRIER and not left_to_switch


def barriers_on_beacons_only(trace: Trace) -> set[int]:
    whole = look(trace)
    with_barrier = positions(event for event in whole.sent if event.is_data and event.barrier != NO_BARRIER)
    return with_barrier | positions(event for event in whole.sent if event.is_beacon and event.barrier == NO_BARRIER)


def beacons_only_when_idle(trace: Trace) -> set[int]:
    whole = look(trace)
    return hasty_beacons(whole) | positions(event for event in whole.sent if _lacks_barrier(whole, event))


def hasty_beacons(whole: Whole) -> set[int]:
    """Beacons less than an interval after the last data message on their link, where both clocks are known. A node that
    has begun anew knows of none that it had sent until then."""
    broken: set[int] = set()
    for beacon in whole.sent:
        since = whole.began(beacon.node, beacon.position)
        data = [
            other
            for other in before(whole.sent, beacon.position)
            if other.is_data and other.link == beacon.link and other.position > since
        ]
        clocks_known = bool(data) and beacon.clock_ns >= 0 and data[-1].clock_ns >= 0
        if beacon.is_beacon and clocks_known and beacon.clock_ns - data[-1].clock_ns < whole.interval:
            broken.add(beacon.position)
    return broken
