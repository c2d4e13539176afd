"""What the product itself draws, in fuzzing and in the walks of state machines, asks no profile of Hypothesis."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest
from hypothesis import Phase, Verbosity, settings

from scatterproof.fuzz.corpus import drawn_schedules
from scatterproof.fuzz.machines import first_failure
from scatterproof.fuzz.protocol import load
from scatterproof.spec.clauses import protocols

PLUGIN = load("totalorder")
NO_TIE_BREAK = PLUGIN.node_with({"precedence": lambda timestamp, sender: (timestamp,)})


@pytest.fixture
def odd_profile() -> Iterator[str]:
    """The name of a profile in which nothing is as usual; whatever a test loads, the one before it comes back."""
    before = settings.get_current_profile_name()
    odd = settings(
        max_examples=3,
        derandomize=not settings().derandomize,
        stateful_step_count=2,
        phases=(Phase.explicit,),
        verbosity=Verbosity.normal,
        deadline=1,
        suppress_health_check=(),
    )
    settings.register_profile("odd", odd)
    yield "odd"
    settings.load_profile(before)


@pytest.mark.parametrize("protocol", protocols())
def test_schedules_of_a_seed_are_the_same_in_every_profile(protocol: str, odd_profile: str) -> None:
    usual = list(islice(drawn_schedules(protocol, 1), 20))
    settings.load_profile(odd_profile)
    assert list(islice(drawn_schedules(protocol, 1), 20)) == usual


def test_walks_of_a_machine_are_the_same_in_every_profile(odd_profile: str) -> None:
    usual = first_failure(PLUGIN.machines(NO_TIE_BREAK), 2)
    assert usual is not None
    settings.load_profile(odd_profile)
    assert first_failure(PLUGIN.machines(NO_TIE_BREAK), 2) == usual
