"""The clauses of uniform reliable, FIFO and localized causal broadcast."""

from __future__ import annotations

from scatterproof.conformance.broadcast.oracles.links import wrongly_begun, wrongly_delivered
from scatterproof.conformance.broadcast.oracles.whole import Event, MessageId, Whole, look
from scatterproof.conformance.oracles.whole import before, positions
from scatterproof.spec.broadcast.messages import Level, PacketKind
from scatterproof.spec.trace import Kind, Trace


def own_is_delivered(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for end in whole.settled_with_a_live_majority:
        for process in whole.live:
            # Above level urb it is BC-FIFO-FLOW's that all is begun with.
            handed = len(whole.at(Kind.SUBMITTED, process)) if whole.level is Level.URB else 0
            if whole.next_of(process, process, end) <= max(whole.begun(process, end), handed):
                broken.add(end.position)
    return broken


def delivered_once(trace: Trace) -> set[int]:
    return look(trace).repeated


def delivered_was_begun(trace: Trace) -> set[int]:
    whole = look(trace)
    broken = wrongly_delivered(whole) | wrongly_begun(whole)
    for event in whole.of(Kind.SENT):
        if event.packet == PacketKind.DATA and event.sender == event.node:
            last = whole.begun(event.node, event)
            if not 1 <= event.number <= last or event.last > last:
                broken.add(event.position)
    return broken


def uniform_agreement(trace: Trace) -> set[int]:
    whole = look(trace)
    messages = {(event.sender, event.number) for event in whole.deliveries}
    return {
        end.position
        for end in whole.settled_with_a_live_majority
        for process in whole.live
        for message in messages
        if not whole.has_delivered(process, message, end)
    }


def oneself_counts(trace: Trace) -> set[int]:
    whole = look(trace)
    for end in whole.settled:
        for process, message in _undelivered(whole, end):
            creator, number = message
            in_turn = whole.level is Level.URB or number <= whole.next_of(process, creator, end)
            if in_turn and whole.is_majority(whole.heard(process, message, end)):
                return positions(whole.settled)
    return set()


def _undelivered(whole: Whole, end: Event) -> list[tuple[int, tuple[int, int]]]:
    """The messages that live processes have begun with or received, and have not delivered by the end."""
    return [told for told in whole.first_told if told[0] in whole.live and not whole.has_delivered(*told, end)]


def majority_has_it(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in whole.of(Kind.DELIVERED):
        message = (event.sender, event.number)
        heard = whole.heard(event.node, message, event)
        carriers = heard | {event.sender} if heard else heard
        if event.position not in whole.repeated and not whole.is_majority(carriers):
            broken.add(event.position)
    for event in whole.data_sent:
        if event.sender != event.node and not all(
            _came_so(whole, event, message, number == 0) for number, message in enumerate(event.messages)
        ):
            broken.add(event.position)
    for end in whole.settled:
        for number, link in enumerate(whole.links):
            if whole.joins_live(number) and whole.put_on(number, end) < whole.known(link.source, end):
                broken.add(end.position)
    return broken


def _came_so(whole: Whole, event: Event, message: tuple[int, int], first: bool) -> bool:
    """Whether a process that sends a message of another has it with these contents. Of messages that it has delivered
    nobody knows more than the number."""
    if whole.has_delivered(event.node, message, event):
        return True
    had = whole.sighting(event.node, message, event)
    if had is None or had.digest != event.digest:
        return False
    return not first or (had.clock_sum, had.clock_weighted) == (event.clock_sum, event.clock_weighted)


def delivered_is_forgotten(trace: Trace) -> set[int]:
    whole = look(trace)
    return {
        event.position for event in whole.first_sent if whole.put_on(event.link, event) > whole.known(event.node, event)
    }


def minority_delivers_nothing(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in whole.of(Kind.DELIVERED):
        arrived = [other for other in before(whole.data_arrived, event.position) if other.node == event.node]
        heard = {event.node} | {other.sender for other in arrived}
        heard |= {whole.links[other.link].source for other in arrived}
        if event.position not in whole.repeated and not whole.is_majority(heard):
            broken.add(event.position)
    return broken


def _ahead(whole: Whole) -> set[int]:
    """Deliveries ahead of some earlier message of the same creator."""
    return {
        event.position for event in whole.deliveries if whole.next_of(event.node, event.sender, event) <= event.number
    }


def delivered_in_sending_order(trace: Trace) -> set[int]:
    return _ahead(look(trace))


def own_undelivered_is_bounded(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in whole.of(Kind.BEGUN):
        runs = [run for run in whole.at(Kind.BEGUN, event.node) if run.position <= event.position and run.is_run]
        begun = {number for run in runs for number in range(run.number, run.last + 1)}
        undelivered = [n for n in begun if not whole.has_delivered(event.node, (event.node, n), event)]
        if len(undelivered) > whole.set_to["most_undelivered"]:
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
        and whole.misses(event.node, (event.sender, event.number), event)
    }


def others_delay_nothing(trace: Trace) -> set[int]:
    whole = look(trace)
    return {event.position for event in whole.deliveries if whole.is_up(event) and _overtakes(whole, event)}


def _overtakes(whole: Whole, event: Event) -> bool:
    """Whether a message is delivered ahead of another creator's next message, though that one could have been delivered
    when the message came, and depends on none of its creator's."""
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
    came, _ = whole.first_told[process, message]
    return whole.begun(message[0], came) >= message[1]


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
