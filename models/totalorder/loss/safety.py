"""TO-LOSS-SAFE: whatever is lost, receivers deliver in one order; for any network, by induction, and by runs.

The induction (`invariant`) covers any number of hosts, switches, links and messages, any routes with one way a message,
any clocks, any adjustment of them, any loss; the runs show what each wrong rule does.

TLA+: ``OrderSurvivesLoss``, ``SwitchNoticesLoss``, ``ReceiverNoticesLoss``, ``BeaconsCarryLossFlag``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import z3

from scatterproof.models.claim import INDUCTION, Claim, Obligation, Rules, mutant
from scatterproof.models.totalorder.loss import rules as wrong
from scatterproof.models.totalorder.loss.invariant import agree, covered, kept
from scatterproof.models.totalorder.loss.rules import RUN_RULES
from scatterproof.models.totalorder.loss.runs import LossRun

Scenario = Callable[[LossRun], z3.BoolRef]


def first_link(run: LossRun) -> z3.BoolRef:
    """Host 1's message is lost before the switch; a beacon shows the gap while host 2 is silent."""
    missing = run.scatter(1, lost="first link")
    run.beacon(1)
    message = run.scatter(2)
    run.scatter(2)
    return run.overtaken(message, missing)


def beacons_follow(run: LossRun) -> z3.BoolRef:
    """The same, but only beacons come after host 2's message."""
    missing = run.scatter(1, lost="first link")
    message = run.scatter(2)
    run.beacon(1)
    run.beacon(2)
    run.switch_beacon()
    return run.overtaken(message, missing)


def last_link(run: LossRun) -> z3.BoolRef:
    """Host 1's message is lost behind the switch; its next one shows the gap while host 2 is silent."""
    missing = run.scatter(1, lost="last link")
    run.scatter(1)
    message = run.scatter(2)
    run.scatter(2)
    return run.overtaken(message, missing)


def last_link_after_all_have_spoken(run: LossRun) -> z3.BoolRef:
    """Both hosts have spoken when host 1's message is lost behind the switch; host 2's ack barrier follows."""
    run.beacon(1)
    run.beacon(2)
    missing = run.scatter(1, lost="last link")
    run.scatter(1)
    message = run.scatter(2)
    run.learn(message)
    run.beacon(2)
    run.switch_beacon()
    return run.overtaken(message, missing)


def gap_shown_by_another_host(run: LossRun) -> z3.BoolRef:
    """Host 1's first message is lost behind the switch, and host 2's shows the gap."""
    missing = run.scatter(1, lost="last link")
    message = run.scatter(2)
    run.beacon(1)
    run.scatter(2)
    return run.overtaken(message, missing)


def two_receivers(run: LossRun) -> z3.BoolRef:
    """Host 1 scatters to A and B; the copy for A is lost, and B's is acknowledged."""
    missing = run.scatter(1, lost="first link")
    run.learn(run.scatter_more(1, "B"))
    run.beacon(1)
    message = run.scatter(2)
    run.learn(message)
    run.beacon(2)
    run.switch_beacon()
    return run.overtaken(message, missing)


def packets_without_flag_follow(run: LossRun) -> z3.BoolRef:
    """Host 1's message is lost before the switch; two beacons follow, and the first shows the gap."""
    missing = run.scatter(1, lost="first link")
    run.beacon(1)
    run.beacon(1)
    message = run.scatter(2)
    run.scatter(2)
    return run.overtaken(message, missing)


def two_ingress_links(run: LossRun) -> z3.BoolRef:
    """Receiver A has a link from each host; one loses a message, the other brings one, without a flag."""
    missing = run.scatter(1, lost="first link")
    run.beacon(1)
    message = run.scatter(2)
    run.beacon(2)
    return run.overtaken(message, missing)


BY_SWITCH: tuple[Scenario, ...] = (
    first_link,
    beacons_follow,
    last_link,
    last_link_after_all_have_spoken,
    gap_shown_by_another_host,
    two_receivers,
    packets_without_flag_follow,
)


def overtaking(using: Rules, *scenarios: Scenario, host_records: bool = False) -> Iterable[Obligation]:
    """No message is delivered past a lost one that precedes it, in any of the runs."""
    for scenario in scenarios or (*BY_SWITCH, two_ingress_links):
        run = LossRun(using, direct=scenario is two_ingress_links, host_records=host_records)
        goal = z3.Not(scenario(run))
        yield Obligation(f"run_{scenario.__name__}", run.guards, goal, show=run.show)


def by(*scenarios: Scenario, host_records: bool = False) -> Callable[[Rules], Iterable[Obligation]]:
    return lambda using: overtaking(using, *scenarios, host_records=host_records)


def _order_is_kept(using: Rules) -> Iterable[Obligation]:
    yield from kept(using)
    yield from covered(using)
    yield agree(using)


def _barriers_rise(using: Rules) -> Iterable[Obligation]:
    """A link's barriers never fall when a message is resent."""
    run = LossRun(using)
    message = run.scatter(1)
    run.beacon(2)
    run.beacon(1)
    run.switch_beacon()
    run.resend(message)
    yield Obligation("run_resent_message", run.guards, run.barriers_rise(), show=run.show)


NETWORK = (
    "Any number of hosts, switches, links and messages; each message has one route, and routes end at hosts.",
    "Links are FIFO and lose any packets; clocks show any number at each reading.",
    "A switch takes and forwards a data message in one step; a receiver takes and buffers it in one.",
    "A scattering sends no further message after a promise above its timestamp.",
    "A receiver gets at most one message of a scattering.",
)
RUNS = ("Two hosts, one switch, two receivers; which packets are lost is fixed in each run, every number is free.",)

CLAIMS = (
    Claim(
        name="order_survives_loss",
        scope=INDUCTION,
        clauses=("TO-LOSS-SAFE", "TO-ORDER", "TO-ACK-MEAN", "TO-BAR-LINK"),
        sentence="Whatever is lost, every message that precedes a delivered one, for the same receiver, was delivered "
        "earlier; so any two receivers deliver the scatterings that both get in one order.",
        hypotheses=NETWORK,
        rules=RUN_RULES,
        obligations=by(),
        induction=_order_is_kept,
        mutants=(
            wrong.LEAST_IS_RECORD,
            wrong.LARGEST_IS_RECORD,
            wrong.LARGEST_OR_ONE_IS_RECORD,
            wrong.ONE_BELOW_GREATEST,
            wrong.GREATEST_EARLIER,
            wrong.LEAST_OF_RECORDS,
            wrong.MAX_OF_ACKS,
            wrong.LARGEST_ACKNOWLEDGED,
            wrong.AT_OUTSTANDING,
            wrong.STATELESS_FLAG,
            wrong.BARRIER_ALONE,
        ),
    ),
    Claim(
        name="switch_notices_loss",
        scope="runs of two hosts, one switch and two receivers",
        clauses=("TO-SWLOSS",),
        sentence="A switch that takes gaps and carried records for losses, and keeps them as maxima, passes no barrier "
        "on past a lost message without a record.",
        hypotheses=RUNS,
        rules=RUN_RULES,
        obligations=by(first_link, beacons_follow, packets_without_flag_follow),
        mutants=(wrong.GAPS_UNHEEDED, wrong.RECORD_NOT_PASSED, wrong.NEWEST_RECORD),
    ),
    Claim(
        name="receiver_notices_loss",
        scope="runs of two hosts, one switch and two receivers",
        clauses=("TO-LASTHOP",),
        sentence="A message lost on the last link is not overtaken, when the receiver counts what comes over it.",
        hypotheses=RUNS,
        rules=RUN_RULES,
        obligations=by(last_link, last_link_after_all_have_spoken, gap_shown_by_another_host, two_ingress_links),
        mutants=(wrong.LAST_HOP_UNWATCHED, wrong.GREATEST_EARLIER),
    ),
    Claim(
        name="beacons_carry_loss_flag",
        scope="runs of two hosts, one switch and two receivers",
        clauses=("TO-FLAG-BEACON",),
        sentence="A beacon that carries a barrier past a lost message carries the record of the loss.",
        hypotheses=RUNS,
        rules=RUN_RULES,
        obligations=by(beacons_follow, two_receivers),
        mutants=(wrong.BEACONS_WITHOUT_FLAG,),
    ),
    Claim(
        name="host_sets_loss_flag",
        scope="runs of two hosts, one switch and two receivers",
        clauses=("TO-FLAG-HOST",),
        sentence="Hosts may set any loss record at any time, or none at all: the order does not depend on it.",
        hypotheses=(*RUNS, "The induction of order_survives_loss has hosts that say any record, too."),
        rules=RUN_RULES,
        obligations=by(host_records=True),
        mutants=(wrong.GAPS_UNHEEDED,),
    ),
    Claim(
        name="resent_carries_current_barrier",
        scope="runs of two hosts, one switch and two receivers",
        clauses=("TO-RETX-BAR", "TO-BAR-RISE"),
        sentence="A resent message lowers no barrier, since it carries the current one and registers are maxima.",
        hypotheses=RUNS,
        rules=RUN_RULES,
        obligations=_barriers_rise,
        mutants=(
            mutant(
                "old_timestamp_and_last_arrived",
                "The literal barrier of a resent message, in a register that keeps what arrived last.",
                resent_barrier=lambda timestamp, current: timestamp,
                **wrong.LAST_ARRIVED.rules,
            ),
        ),
    ),
    *(
        Claim(
            name=f"either_half_of_the_resent_barrier_is_enough_{name}",
            scope="runs of two hosts, one switch and two receivers"
            + ("; that resending keeps the invariant: any number of nodes" if induction else ""),
            clauses=("TO-RETX-BAR", "TO-BAR-RISE"),
            sentence=sentence,
            hypotheses=RUNS,
            rules={**RUN_RULES, **half},
            obligations=lambda using: (*_barriers_rise(using), *overtaking(using)),
            induction=induction,
            normative=False,
            mutants=(mutant("the_other_half_too", "Both halves literal.", **other),),
        )
        for name, sentence, half, other, induction in (
            (
                "register_by_maximum",
                "With registers by maximum a resent message may carry its timestamp as barrier.",
                {"resent_barrier": lambda timestamp, current: timestamp},
                wrong.LAST_ARRIVED.rules,
                lambda using: kept(using, "host_resends"),
            ),
            (
                "current_barrier",
                "With the current barrier on resent messages a register may keep what arrived last.",
                wrong.LAST_ARRIVED.rules,
                {"resent_barrier": lambda timestamp, current: timestamp},
                None,
            ),
        )
    ),
)
