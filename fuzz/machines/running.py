"""Runs a state machine for its verdict alone: what it found first, or nothing."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

STEPS = 40


def first_failure(machine: type[RuleBasedStateMachine], examples: int, *, steps: int = STEPS) -> str | None:
    """The message of the first failure in `examples` walks, the same ones each time; None when all hold."""
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        database=None,
        deadline=None,
        derandomize=True,
        phases=(Phase.generate,),
        report_multiple_bugs=False,
        suppress_health_check=tuple(HealthCheck),
        verbosity=Verbosity.quiet,
        print_blob=False,
    )
    try:
        run_state_machine_as_test(machine, settings=chosen)
    except AssertionError as failure:
        return str(failure).splitlines()[0] if str(failure) else "an assertion of the machine fails"
    return None
