"""The clauses of perfect links, and that messages are real, which higher levels share."""

from __future__ import annotations

from scatterproof.conformance.broadcast.oracles.whole import Event, Whole, look
from scatterproof.conformance.oracles.whole import before, positions
from scatterproof.spec.broadcast.messages import Level, PacketKind
from scatterproof.spec.trace import Kind, Trace


def sent_is_delivered(trace: Trace) -> set[int]:
    whole = look(trace)
    live = set(whole.live)
    for sent in whole.first_sent:
        later = [event for event in whole.data_arrived if event.position > sent.position]
        arrived = any((event.link, event.pseq) == (sent.link, sent.pseq) for event in later)
        if whole.joins_live(sent.link) and not arrived:
            return positions(whole.settled)
    for handed in whole.of(Kind.SUBMITTED):  # above level pl for nobody
        delivered = any(
            (event.sender, event.number) == (handed.sender, handed.number) and event.position > handed.position
            for event in whole.at(Kind.DELIVERED, handed.receiver)
        )
        if {handed.sender, handed.receiver} <= live and not delivered:
            return positions(whole.settled)
    return set()


def link_delivers_once(trace: Trace) -> set[int]:
    return look(trace).repeated


def link_delivers_sent(trace: Trace) -> set[int]:
    whole = look(trace)
    broken = wrongly_delivered(whole) | wrongly_begun(whole)
    for event in whole.of(Kind.SENT):
        if event.packet == PacketKind.DATA:
            last = whole.begun(event.node, event, whole.links[event.link].target)
            own = event.sender == event.node and 1 <= event.number <= last
            if not own or event.last > last:
                broken.add(event.position)
    return broken


def link_numbers_apart(trace: Trace) -> set[int]:
    whole = look(trace)
    return {
        event.position
        for event in whole.of(Kind.SENT)
        if event.packet == PacketKind.DATA and not _is_numbered_rightly(whole, event)
    }


def _is_numbered_rightly(whole: Whole, event: Event) -> bool:
    if not whole.is_data(event):
        return False
    earlier = before(whole.first_on[event.link], event.position)
    greatest = max((sent.pseq for sent in earlier), default=0)
    if event.pseq > greatest:
        same = [sent for sent in earlier if (sent.sender, sent.number) == (event.sender, event.number)]
        again = any(not whole.is_acknowledged(sent, event) for sent in same)
        return event.pseq == greatest + 1 and not again and event.flags == 0
    # Numbers that were passed over, or are acknowledged, are not compared.
    same = [sent for sent in earlier if sent.pseq == event.pseq and not whole.is_acknowledged(sent, event)]
    return all(_contents(sent) == _contents(event) and event.flags == 1 for sent in same)


def _contents(event: Event) -> tuple[int, ...]:
    return (event.sender, event.number, event.count, event.digest, event.clock_sum, event.clock_weighted)


def unacknowledged_is_resent(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in whole.of(Kind.SENT):
        if event.packet == PacketKind.ACK:
            if not _has_come(whole, event):
                broken.add(event.position)
        elif whole.is_data(event):
            acks = [ack for ack in whole.acks_arrived(event.link, event) if ack.number >= event.pseq]
            sent = [first for ack in acks for first in before(whole.first_on[event.link], ack.position)]
            if any(first.pseq >= event.pseq for first in sent):
                broken.add(event.position)
    for end in whole.settled:
        due = [sent for sent in whole.first_sent if whole.joins_live(sent.link)]
        if not all(whole.is_acknowledged(sent, end) for sent in due) or _unanswered(whole):
            broken.add(end.position)
    return broken


def _come(whole: Whole, ack: Event) -> set[int]:
    """The numbers that had come over the acknowledged link by this row."""
    back = whole.opposite[ack.link]
    return {event.pseq for event in before(whole.data_arrived, ack.position) if event.link == back}


def _prefix(numbers: set[int]) -> int:
    last = 0
    while last + 1 in numbers:
        last += 1
    return last


def _has_come(whole: Whole, ack: Event) -> bool:
    come = _come(whole, ack)
    if not whole.is_ack(ack) or ack.number > _prefix(come):
        return False
    covered = {pseq for pseq in come if ack.pseq <= pseq < ack.pseq + ack.count}
    return len(covered) == ack.count


def _unanswered(whole: Whole) -> bool:
    last_copy = {(event.link, event.pseq): event for event in whole.data_arrived}
    for (link, pseq), copy in last_copy.items():
        answers = [
            event
            for event in whole.at(Kind.SENT, copy.node)
            if event.position > copy.position and event.link == whole.opposite[link] and whole.is_ack(event)
        ]
        refusals = [
            event
            for event in whole.at(Kind.REFUSED, copy.node)
            if _newest(whole, event) == copy and not _is_said(whole, pseq, event)
        ]
        if copy.node in whole.live and not refusals and not any(answer.covers(pseq) for answer in answers):
            return True
    return False


def _is_said(whole: Whole, pseq: int, refusal: Event) -> bool:
    """Whether the process has said that all up to this packet have come."""
    acks = [event for event in before(whole.at(Kind.SENT, refusal.node), refusal.position) if whole.is_ack(event)]
    return any(ack.number >= pseq for ack in acks if ack.link == whole.opposite[refusal.link])


def _newest(whole: Whole, refusal: Event) -> Event | None:
    arrived = [event for event in before(whole.data_arrived, refusal.position) if event.link == refusal.link]
    return arrived[-1] if arrived else None


def delivered_prefix_collapses(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in whole.first_sent:
        earlier = before(whole.first_on[event.link], event.position)
        oldest = next((sent.pseq for sent in earlier if not whole.is_acknowledged(sent, event)), event.pseq)
        if event.pseq - oldest >= whole.set_to["window"]:
            broken.add(event.position)
    for event in whole.of(Kind.SENT):
        if whole.is_ack(event) and event.number < _prefix(_come(whole, event)):
            broken.add(event.position)
    return broken


def wrongly_delivered(whole: Whole) -> set[int]:
    """Deliveries of messages that the process does not have, or has with other contents. Repeated ones are another
    clause's."""
    broken: set[int] = set()
    for event in whole.of(Kind.DELIVERED):
        if event.position not in whole.repeated:
            had = whole.sighting(event.node, (event.sender, event.number), event)
            if had is None or had.digest != event.digest:
                broken.add(event.position)
    return broken


def wrongly_begun(whole: Whole) -> set[int]:
    """Beginnings with other messages than the next ones handed over, or with other contents."""
    return {event.position for event in whole.of(Kind.BEGUN) if not _is_next(whole, event)}


def _is_next(whole: Whole, event: Event) -> bool:
    receiver = event.receiver if whole.level is Level.PL else None
    earlier = [other for other in before(whole.at(Kind.BEGUN, event.node), event.position) if other.is_run]
    numbers = [other.last for other in earlier if receiver in (None, other.receiver)]
    handed = {
        other.number: other.digest
        for other in before(whole.at(Kind.SUBMITTED, event.node), event.position)
        if other.receiver == event.receiver
    }
    if not event.is_run or event.number != max(numbers, default=0) + 1:
        return False
    return all(handed.get(number) == event.digest for number in range(event.number, event.last + 1))
