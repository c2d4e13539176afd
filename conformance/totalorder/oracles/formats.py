"""The clauses of what packets carry under loss, and of two variants."""

from __future__ import annotations

from scatterproof.conformance.oracles.whole import before
from scatterproof.conformance.totalorder.oracles.best_effort import hasty_beacons
from scatterproof.conformance.totalorder.oracles.whole import Event, Whole, look
from scatterproof.spec.totalorder.messages import NO_BARRIER
from scatterproof.spec.trace import Trace


def _carries(event: Event) -> tuple[bool, bool]:
    return (event.barrier != NO_BARRIER, event.ack_barrier != NO_BARRIER)


def _misshapen(whole: Whole) -> set[int]:
    """Packets that do not carry what the message structure of the run wants."""
    environment = whole.environment
    data = (environment.data_carry_barriers, environment.data_carry_ack_barriers)
    broken: set[int] = set()
    for event in whole.sent:
        allowed = [data] if event.is_data else environment.beacons if event.is_beacon else [(False, False)]
        left_to_switch = whole.is_on("fill_barrier") and whole.is_host(event.node) and not event.resent
        if event.is_data and left_to_switch:
            allowed = [data, (False, data[1])]
        if event.is_data and whole.began(event.node, event.position) >= 0:
            allowed = [*allowed, (data[0], False), (False, data[1]), (False, False)]
        if _carries(event) not in allowed or event.loss_record < 0 or event.greatest < 0:
            broken.add(event.position)
    return broken


def structure_all_on_data(trace: Trace) -> set[int]:
    return _misshapen(look(trace))


def structure_ack_barrier_on_beacon(trace: Trace) -> set[int]:
    return _misshapen(look(trace))


def structure_two_beacons(trace: Trace) -> set[int]:
    return _misshapen(look(trace))


def structure_one_beacon(trace: Trace) -> set[int]:
    return _misshapen(look(trace))


def structure_all_on_data_and_idle_beacons(trace: Trace) -> set[int]:
    whole = look(trace)
    return _misshapen(whole) | hasty_beacons(whole)


def beacons_with_new_minimum_only(trace: Trace) -> set[int]:
    whole = look(trace)
    broken: set[int] = set()
    for event in whole.sent:
        if whole.is_host(event.node) or not event.is_beacon:
            continue
        earlier = [other for other in before(whole.sent, event.position) if other.link == event.link]
        new = event.barrier > max([0] + [other.barrier for other in earlier])
        new_ack = event.ack_barrier > max([0] + [other.ack_barrier for other in earlier])
        if not (new or new_ack or event.loss_record > 0):
            broken.add(event.position)
    return broken


def first_switch_fills_barrier(trace: Trace) -> set[int]:
    whole = look(trace)
    return {
        event.position
        for event in whole.sent
        if whole.is_host(event.node) and event.is_data and not event.resent and event.barrier != NO_BARRIER
    }
