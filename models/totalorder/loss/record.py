"""TO-FLAG-SW, TO-LOSSCTR: the record of a gap, the least that is right; and barriers withheld, with no record sent.

A packet shows a gap on a link that holds barrier B and record R. What was lost in the gap was put on the link before
the packet, so that its timestamp is at or below the packet's greatest g; and the link had promised that what is
strictly below B has come, was received, or is at or below R.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import z3

from scatterproof.models.claim import Claim, Obligation, Rules, mutant
from scatterproof.models.symbolic import lift
from scatterproof.models.totalorder.barriers.aggregation_rules import minimum_of
from scatterproof.models.totalorder.barriers.network import BOOL, INT, LINK, greater
from scatterproof.models.totalorder.loss import rules as wrong
from scatterproof.models.totalorder.loss.rules import RUN_RULES
from scatterproof.models.totalorder.loss.safety import (
    RUNS,
    beacons_follow,
    by,
    first_link,
    last_link,
    last_link_after_all_have_spoken,
    two_ingress_links,
)

HELD, RECORD = z3.Ints("barrier_held record_held")
BARRIER, ACK, GREATEST = z3.Ints("packet_barrier packet_ack packet_greatest")
LEAST, LOST = z3.Ints("least_barrier lost")
LARGEST = greater(HELD, BARRIER)
NATURAL = (HELD >= 0, RECORD >= 0, BARRIER >= 0, ACK >= 0, GREATEST > 0, LEAST >= 0, LEAST <= LARGEST, LOST > 0)
SHOW = {
    "barrier held": HELD,
    "record held": RECORD,
    "packet's barrier": BARRIER,
    "packet's greatest": GREATEST,
    "lost": LOST,
}


def lost_in_gap(timestamp: Any) -> z3.BoolRef:
    """Whether a message of this timestamp may be lost in the gap, and is not made good."""
    return z3.And(timestamp > ACK, timestamp <= GREATEST, z3.Or(timestamp >= HELD, timestamp <= RECORD))


def _record(using: Rules) -> Iterable[Obligation]:
    noticed = lift(using["noticed_record"])(LEAST, LARGEST, GREATEST)
    show = {**SHOW, "record": noticed}
    yield Obligation(
        "at_or_above_all_that_may_be_lost", (*NATURAL, lost_in_gap(LOST)), greater(RECORD, noticed) >= LOST, show=show
    )
    smaller = z3.Int("smaller")
    yield Obligation(
        "any_smaller_record_misses_one",
        (*NATURAL, GREATEST >= HELD, GREATEST > ACK, smaller < noticed),
        z3.And(lost_in_gap(GREATEST), smaller < GREATEST),
        show={**show, "smaller": smaller},
    )
    yield from by(first_link, last_link, last_link_after_all_have_spoken)(using)


def _below_barrier(using: Rules) -> Iterable[Obligation]:
    noticed = lift(using["noticed_under"])(HELD, GREATEST)
    show = {**SHOW, "record": noticed}
    yield Obligation(
        "at_or_above_all_that_may_be_lost", (*NATURAL, lost_in_gap(LOST)), greater(RECORD, noticed) >= LOST, show=show
    )
    yield Obligation(
        "no_loss_state_without_a_message_that_may_be_lost",
        (*NATURAL, noticed > ACK, noticed > RECORD),
        lost_in_gap(noticed),
        show=show,
    )


def _host_link(using: Rules) -> Iterable[Obligation]:
    noticed = lift(using["noticed_record"])(LEAST, LARGEST, GREATEST)
    yield Obligation(
        "at_or_above_all_that_may_be_lost",
        (*NATURAL, lost_in_gap(LOST), using["packet_promises"](LOST, BARRIER)),
        greater(RECORD, noticed) >= LOST,
        show={**SHOW, "record": noticed},
    )


def _data_counted(using: Rules) -> Iterable[Obligation]:
    """``before(k)``: how many of the packets ahead of number k bear data. The far end expects ``first``."""
    before, is_data = z3.Function("data_before", INT, INT), z3.Function("bears_data", INT, BOOL)
    first, k, lost, j = z3.Ints("expected taken lost_number j")

    def one_more(at: Any) -> z3.BoolRef:
        return before(at + 1) == before(at) + z3.If(is_data(at), 1, 0)

    counted = using["number_told"](before(k), is_data(k), before(first))
    noticed = counted != before(first)
    # Induction over j: the count never falls.
    yield Obligation(
        "count_never_falls",
        (j >= lost + 1, before(j) >= before(lost + 1), one_more(j)),
        before(j + 1) >= before(lost + 1),
        show={"before": before(j), "after": before(j + 1)},
    )
    gap = (first >= 0, first <= lost, lost < k, one_more(lost))
    rises = (before(lost) >= before(first), before(k) >= before(lost + 1))
    show = {"expected": first, "lost": lost, "taken": k, "data of it": is_data(k)}
    yield Obligation("lost_data_are_noticed", (*gap, *rises, is_data(lost)), noticed, show=show)
    yield Obligation("lost_beacons_are_not", (*gap, before(k) == before(first)), z3.Not(noticed), show=show)


def next_withheld(held: int, barrier: int, ack: int, record: int) -> int:
    """A link's barrier that does not rise in the loss state beyond what the ack barrier covers."""
    return max(held, ack + 1, barrier if record <= ack else 0)


def let_by_registers(barrier: Any, ack: Any, record: Any) -> Any:
    """The least timestamp that deliverable_under_loss refuses: it delivers what is strictly below."""
    return z3.If(record <= ack, greater(barrier, ack + 1), ack + 1)


def _withheld(using: Rules) -> Iterable[Obligation]:
    held, barrier, ack, record, timestamp = z3.Ints("withheld barrier ack_barrier record timestamp")
    rule: Callable[..., Any] = lift(using["next_withheld"])
    after = rule(held, barrier, ack, record)
    natural = (held >= 0, barrier >= 0, ack >= 0, record >= 0, timestamp > 0)
    show = {"withheld": held, "barrier": barrier, "ack barrier": ack, "record": record, "after": after}
    yield Obligation("never_falls", natural, after >= held, show=show)
    missing = z3.And(timestamp > ack, z3.Or(timestamp >= barrier, timestamp <= record))
    yield Obligation(
        "nothing_below_it_is_missing",
        (*natural, timestamp >= held, timestamp < after),
        z3.Not(missing),
        show={**show, "missing": timestamp},
    )
    yield Obligation(
        "delivers_no_less_on_one_link", natural, after >= let_by_registers(barrier, ack, record), show=show
    )
    yield from _withheld_by_switch(rule)


def _withheld_by_switch(rule: Callable[..., Any]) -> Iterable[Obligation]:
    """Behind a switch with any links: the least withheld barrier, against the three values combined and sent on."""
    b, a, r, w = (z3.Function(f"{name}_of", LINK, INT) for name in ("barrier", "ack", "record", "withheld"))
    barrier, ack, record, least = z3.Ints("barrier_sent ack_sent record_sent withheld_sent")
    i, link = z3.Consts("i link", LINK)

    def counts(_: Any) -> Any:
        return z3.BoolVal(True)

    given = (
        z3.ForAll([i], z3.And(b(i) >= 0, a(i) >= 0, r(i) >= 0, w(i) >= 0)),
        minimum_of(barrier, b, counts, link),
        minimum_of(ack, a, counts, link),
        minimum_of(-record, lambda e: -r(e), counts, link),
        minimum_of(least, lambda e: rule(w(e), b(e), a(e), r(e)), counts, link),
    )
    yield Obligation(
        "delivers_no_less_behind_a_switch",
        given,
        least >= let_by_registers(barrier, ack, record),
        show={"barrier": barrier, "ack barrier": ack, "record": record, "withheld": least},
    )
    earlier = rule(0, 5, 0, 0)
    now = rule(earlier, 9, 2, 7)
    yield Obligation(
        "message_4_is_delivered_though_7_is_lost",
        (z3.BoolVal(True),),
        z3.And(z3.IntVal(4) < now, z3.Not(z3.IntVal(4) < let_by_registers(9, 2, z3.IntVal(7)))),
        show={"withheld": now + z3.IntVal(0), "by the registers": let_by_registers(9, 2, z3.IntVal(7))},
    )


GAP = (
    "A message lost in a gap was put before the packet that shows it: its timestamp is at or below the greatest.",
    "The promises that the link has made are true.",
)

CLAIMS = (
    Claim(
        name="switch_sets_loss_flag",
        scope="one link",
        clauses=("TO-FLAG-SW",),
        sentence="The packet's greatest, as record of a gap, is at or above every message that may be lost in it; and "
        "any smaller record may miss one, if the greatest is not below the barrier held.",
        hypotheses=GAP,
        rules=RUN_RULES,
        obligations=_record,
        mutants=(
            wrong.LEAST_IS_RECORD,
            wrong.LARGEST_IS_RECORD,
            wrong.LARGEST_OR_ONE_IS_RECORD,
            wrong.ONE_BELOW_GREATEST,
            mutant(
                "one_above_greatest_is_record",
                "Safe, but the loss state ends too late.",
                noticed_record=lambda least, largest, greatest: greatest + 1,
            ),
        ),
    ),
    Claim(
        name="gap_below_the_barrier_loses_nothing",
        scope="one link",
        clauses=("TO-FLAG-SW",),
        sentence="A gap needs a record only if the greatest is at or above the barrier that the link held before: so "
        "beacons lost on an idle link start no loss state.",
        hypotheses=GAP,
        rules={"noticed_under": lambda held, greatest: greatest if greatest >= held else 0},
        obligations=_below_barrier,
        normative=False,
        mutants=(
            mutant("every_gap", "Each gap is recorded: safe, but more than needed.", noticed_under=lambda h, g: g),
            mutant(
                "strictly_above_the_barrier",
                "The greatest at the barrier counts as covered, which is strictly below.",
                noticed_under=lambda held, greatest: greatest if greatest > held else 0,
            ),
        ),
    ),
    Claim(
        name="largest_barrier_is_record_enough_next_to_a_host",
        scope="one link",
        clauses=("TO-FLAG-SW",),
        sentence="On a link from a host the greatest barrier seen is a record as good: every packet bears a barrier at "
        "or above all timestamps put before.",
        hypotheses=(*GAP, "The packet that shows the gap carries a barrier at or above what was put before."),
        rules={
            "noticed_record": lambda least, largest, greatest: largest,
            "packet_promises": lambda lost, barrier: lost <= barrier,
        },
        obligations=_host_link,
        normative=False,
        mutants=(
            mutant(
                "behind_a_switch", "A barrier is a minimum there.", packet_promises=lambda lost, b: z3.BoolVal(True)
            ),
        ),
    ),
    Claim(
        name="loss_counter_spans_link",
        scope="runs of two hosts, one switch and two receivers",
        clauses=("TO-LOSSCTR",),
        sentence="With one counter over data and beacons, looked at before a packet's values are used, a lost message "
        "is not overtaken.",
        hypotheses=RUNS,
        rules=RUN_RULES,
        obligations=by(first_link, beacons_follow, two_ingress_links),
        mutants=(wrong.DATA_COUNTED_ALONE,),
    ),
    Claim(
        name="data_counted_in_every_packet_is_enough",
        scope="one link, any number of packets, by induction",
        clauses=("TO-LOSSCTR",),
        sentence="A counter of data alone is enough if every packet, beacons too, tells how many data messages went "
        "ahead of it: lost data are noticed by the next packet, and lost beacons start no loss state.",
        hypotheses=("order_survives_loss leaves open whether a gap without data is noticed.",),
        rules={"number_told": lambda before, is_data, expected: before},
        obligations=_data_counted,
        normative=False,
        mutants=(
            mutant(
                "told_by_data_alone",
                "A beacon tells no count: the gap stays unseen until the next data message.",
                number_told=lambda before, is_data, expected: z3.If(is_data, before, expected),
            ),
        ),
    ),
    Claim(
        name="withheld_barrier_needs_no_record",
        scope="one switch, any number of links",
        clauses=("TO-FLAG-SW", "TO-FLAG-RX", "TO-FLAG-BEACON"),
        sentence="A switch that holds the barrier of a losing link back, until its ack barrier has reached the record, "
        "need send no record or flag at all: nothing below such a barrier is missing, it never falls, and receivers "
        "deliver no less, and sometimes more, than by barrier, ack barrier and record.",
        hypotheses=(
            "The registers of each link keep their promises; any number of links.",
            "That the order is kept with barriers withheld, or with records, or both in one network, is part of the "
            "induction of order_survives_loss.",
        ),
        rules={"next_withheld": next_withheld},
        obligations=_withheld,
        normative=False,
        mutants=(
            mutant(
                "not_withheld",
                "The barrier goes on: a lost message is below it.",
                next_withheld=lambda held, barrier, ack, record: max(held, ack + 1, barrier),
            ),
            mutant(
                "falls_back_to_the_ack_barrier",
                "Not kept where it was: it falls.",
                next_withheld=lambda held, barrier, ack, record: barrier if record <= ack else ack + 1,
            ),
            mutant(
                "stands_still_altogether",
                "The ack barrier does not raise it: late.",
                next_withheld=lambda held, barrier, ack, record: max(held, barrier if record <= ack else 0),
            ),
        ),
    ),
)
