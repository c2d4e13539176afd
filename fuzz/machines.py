"""Runs state machines for their verdict alone: their first failure, or none."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

STEPS = 30
# A run of Hypothesis goes on varying what it drew first, so that several short ones see more than a long one.
WALKS_A_SEED = 8


def first_failure(machines: Sequence[type[RuleBasedStateMachine]], seeds: int, *, steps: int = STEPS) -> str | None:
    """The message of the first failure in `WALKS_A_SEED` walks of each machine for each of `seeds` seeds, the same ones
    each time; None when all hold."""
    for number in range(seeds):
        for machine in machines:
            failure = _walk(machine, number, steps)
            if failure is not None:
                return failure
    return None


def _walk(machine: type[RuleBasedStateMachine], number: int, steps: int) -> str | None:
    chosen = settings(
        max_examples=WALKS_A_SEED,
        stateful_step_count=steps,
        database=None,
        deadline=None,
        derandomize=False,
        phases=(Phase.generate,),
        report_multiple_bugs=False,
        suppress_health_check=tuple(HealthCheck),
        verbosity=Verbosity.quiet,
        print_blob=False,
    )
    seed(number)(machine)
    try:
        run_state_machine_as_test(machine, settings=chosen)
    except AssertionError as failure:
        return str(failure).splitlines()[0] if str(failure) else "an assertion of the machine fails"
    return None
