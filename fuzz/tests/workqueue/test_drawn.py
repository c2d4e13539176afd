"""Small histories of both kinds of queue, right and wrong, of which checks and oracles say the same."""

from __future__ import annotations

from scatterproof.conformance.workqueue.plugin import PLUGIN
from scatterproof.fuzz.judging import by_checks, by_oracles
from scatterproof.fuzz.workqueue.drawn import drawn_history


def test_checks_and_oracles_say_the_same_of_drawn_histories() -> None:
    broken, refused = set[str](), 0
    for number in range(600):
        trace = drawn_history(number)
        said = by_checks(trace, ())
        assert said.refused or said.broken == by_oracles(PLUGIN, trace).broken, number
        refused += said.refused
        broken |= {clause for clause, _ in said.broken}
    assert refused < 120
    assert broken >= {"Q-NEXT", "Q-CALL-ONCE", "Q-LOCK-SEND", "Q-AS-PUT"}
    assert len(broken) >= 10
