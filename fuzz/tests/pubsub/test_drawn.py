"""Small runs of brokers and appliances, right and wrong, of which checks and oracles say the same."""

from __future__ import annotations

from scatterproof.conformance.pubsub.plugin import PLUGIN
from scatterproof.fuzz.judging import by_checks, by_oracles
from scatterproof.fuzz.pubsub.drawn import drawn_history


def test_checks_and_oracles_say_the_same_of_drawn_histories() -> None:
    broken, refused = set[str](), 0
    for number in range(800):
        trace = drawn_history(number)
        said = by_checks(trace, ())
        assert said.refused or said.broken == by_oracles(PLUGIN, trace).broken, number
        refused += said.refused
        broken |= {clause for clause, _ in said.broken}
    assert refused < 200
    assert broken >= {check.clause for check in PLUGIN.checks} - {"PS-EXPIRE", "PS-PERSISTED"}  # seldom
