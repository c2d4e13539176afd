"""The clauses of FIFO and of localized causal broadcast."""

from __future__ import annotations

from scatterproof.conformance.broadcast.oracles.whole import Event, MessageId, Whole, look
from scatterproof.conformance.oracles.whole import before
from scatterproof.spec.trace import Kind, Trace


def _ahead(whole: Whole) -> set[int]:
    """Deliveries before which some earlier message of the creator was not delivered."""
    return {
        event.position for event in whole.deliveries if whole.next_of(event.node, event.sender, event) <= event.number
    }


def delivered_in_sending_order(trace: Trace) -> set[int]:
    return _ahead(look(trace))


def own_undelivered_is_bounded(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in whole.of(Kind.BEGUN):
        last = whole.begun(event.node, event)
        undelivered = last - whole.next_of(event.node, event.node, event) + 1
        if event.is_run and undelivered > whole.set_to["most_undelivered"]:
            broken.add(event.position)
    for end in whole.settled_with_a_live_majority:
        for process in whole.live:
            if whole.begun(process, end) < len(whole.at(Kind.SUBMITTED, process)):
                broken.add(end.position)
    return broken


def dependencies_first(trace: Trace) -> set[int]:
    whole = look(trace)
    return {
        event.position
        for event in whole.deliveries
        if whole.is_up(event)
        and event.number <= whole.begun(event.sender, event)
        and whole.missing(event.node, (event.sender, event.number), event)
    }


def others_delay_nothing(trace: Trace) -> set[int]:
    whole = look(trace)
    return {event.position for event in whole.deliveries if whole.is_up(event) and _overtakes(whole, event)}


def _overtakes(whole: Whole, event: Event) -> bool:
    """Whether a message came when the next one of another creator, which does not depend on the first one's, could have
    been delivered, and yet is delivered before that."""
    came = whole.sighting(event.node, (event.sender, event.number), event)
    if came is None:
        return False
    arrivals = [other for other in before(whole.data_arrived, event.position) if other.node == event.node]
    for creator in whole.processes:
        if creator != event.sender and event.sender not in whole.depends[creator]:
            number = whole.next_of(event.node, creator, event)
            for arrival in arrivals:
                if (
                    arrival.position <= came.event.position
                    and whole.next_of(event.node, creator, arrival) == number
                    and _brings_news(whole, arrival)
                    and whole.is_deliverable(event.node, creator, arrival)
                    and _was_begun_when_it_came(whole, event.node, (creator, number))
                ):
                    return True
    return False


def _was_begun_when_it_came(whole: Whole, process: int, message: MessageId) -> bool:
    came = whole.sighting(process, message, whole.events[-1])
    return came is not None and whole.begun(message[0], came.event) >= message[1]


def _brings_news(whole: Whole, arrival: Event) -> bool:
    after = arrival.moved(arrival.position + 1)
    return whole.known(arrival.node, after) > whole.known(arrival.node, arrival)


def fifo_without_dependencies(trace: Trace) -> set[int]:
    return _ahead(look(trace))


def dependency_clock_at_beginning(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in whole.data_sent:
        message = (event.sender, event.number)
        if event.sender == event.node and not whole.has_delivered(event.node, message, event):
            made = whole.sighting(event.node, message, event)
            if made and (event.clock_sum, event.clock_weighted) != (made.clock_sum, made.clock_weighted):
                broken.add(event.position)
    return broken


def waiting_is_looked_at_again(trace: Trace) -> set[int]:
    whole = look(trace)
    return {
        end.position
        for end in whole.settled
        for process in whole.live
        for creator in whole.processes
        if whole.is_deliverable(process, creator, end)
    }
