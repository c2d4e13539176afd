"""The queue: wrong rules, runs, and what is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from scatterproof.conformance.workqueue.crash_checks import ANSWER, REQUEST
from scatterproof.conformance.workqueue.tests.runs import NAMES, run
from scatterproof.impl.workqueue import RULES
from scatterproof.impl.workqueue.literal_rules import LITERAL
from scatterproof.impl.workqueue.rules import Standing
from scatterproof.spark.corpus import Plant
from scatterproof.spark.tests.material import Material
from scatterproof.spec.schedule import FailureKind, FaultKind, Schedule
from scatterproof.spec.trace import Trace
from scatterproof.spec.workqueue.messages import CallName


def twice_at_once(tries: int) -> int:
    return tries + 2


def everybody(heard_ns: int, before_ns: int) -> bool:
    return True


def always(locked: bool) -> bool:
    return True


def last_of(groups: Sequence[Standing]) -> Standing:
    return groups[-1]


def lowest_first(priority: int, place: int) -> tuple[int, int]:
    return (-priority, place)


def one_token(token: int) -> int:
    return 1


def _leases(schedule: Schedule) -> bool:
    return schedule.parameters.get("leased") == 1


def _knows_ids_by_group(schedule: Schedule) -> bool:
    return schedule.parameters.get("by_group") == 1


def _cleans(schedule: Schedule) -> bool:
    return any(call.call == CallName.CLEAN for call in schedule.calls)


def _store_fails(schedule: Schedule) -> bool:
    return any(failure.node == 0 for failure in schedule.failures)


def _client_never_comes_back(schedule: Schedule) -> bool:
    down = [failure.node for failure in schedule.failures if failure.kind is FailureKind.CRASH]
    up = [failure.node for failure in schedule.failures if failure.kind is FailureKind.RESTART]
    return bool(set(down) - set(up) - {0})


def _duplicates_packets(schedule: Schedule) -> bool:
    return any(fault.kind is FaultKind.DUPLICATE for fault in schedule.faults)


@cache
def _traces() -> tuple[Trace, ...]:
    return tuple(run(name) for name in NAMES)


MATERIAL = Material(
    environments=(),
    choices=(
        *(_leases, _knows_ids_by_group, _cleans),
        *(_store_fails, _client_never_comes_back, _duplicates_packets),
    ),
    traces=_traces,
    parted=lambda: (run("Q-ONCE/two-workers"), run("Q-PRIORITY/same-priority")),
    plant=Plant("tries_with/twice-at-once", replace(RULES, tries_with=twice_at_once)),
    plants=(
        *(
            (Plant(name, rules), "", name.rpartition("-lit-")[0])
            for name, rules in LITERAL.items()
            # By one of figure 3 the order of a correlation is broken, by the other calls are refused.
            if not name.startswith("Q-NEXT")
        ),
        (Plant("tries_with/twice-at-once", replace(RULES, tries_with=twice_at_once)), "quiet", "Q-RETRY"),
        (Plant("is_dead/everybody", replace(RULES, is_dead=everybody)), "lossy", "Q-CRASH-SEND"),
        (Plant("is_ready/always", replace(RULES, is_ready=always)), "crashing", "Q-LOCK-SEND"),
        (Plant("head_of/last", replace(RULES, head_of=last_of)), "", "Q-ORDER-CORR"),
        (Plant("rank/lowest-first", replace(RULES, rank=lowest_first)), "", "Q-PRIORITY"),
        (Plant("next_token/one", replace(RULES, next_token=one_token)), "", "Q-CRASH-DEAD"),
    ),
    seed=2,
    damaged=("group", "token", "message", "digest", "retries"),
    by_damage={"Q-META", "Q-RETRY", "Q-CALL-ONCE", "Q-ATOMIC"},
    reconciled=("operation", "group", "token"),
    owed={REQUEST, ANSWER},
)
