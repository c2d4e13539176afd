"""Small drawn runs of every protocol, right and wrong, of which checks and oracles say the same."""

from __future__ import annotations

import pytest

from scatterproof.conformance import protocol
from scatterproof.fuzz.judging import by_checks, by_oracles
from scatterproof.fuzz.protocol import load
from scatterproof.spec.clauses import protocols

# How many are drawn, of which part at the most a premise may refuse, and clauses that are broken among them.
_DRAWN = {
    "totalorder": (400, 0.6, {"TO-FLAG-HOST", "TO-ADJ-2", "TO-LOSSCTR", "TO-RETX-BAR", "TO-BAR-FILL"}),
    "broadcast": (400, 0.6, {"BC-PL-ONCE", "BC-URB-AGREE", "BC-FIFO-ORDER", "BC-LCB-CHECK", "BC-LCB-CLOCKS"}),
    "workqueue": (600, 0.2, {"Q-NEXT", "Q-CALL-ONCE", "Q-LOCK-SEND", "Q-AS-PUT"}),
    "pubsub": (800, 0.25, {check.clause for check in protocol.load("pubsub").checks} - {"PS-EXPIRE", "PS-PERSISTED"}),
}


@pytest.mark.parametrize("name", sorted(protocols()))
def test_checks_and_oracles_say_the_same_of_drawn_runs(name: str) -> None:
    (count, most_refused, among), history, plugin = _DRAWN[name], load(name).history, protocol.load(name)
    assert history is not None
    broken, refused = set[str](), 0
    for number in range(count):
        trace = history(number)
        said = by_checks(trace, ())
        assert said.refused or said.broken == by_oracles(plugin, trace).broken, number
        refused += said.refused
        broken |= {clause for clause, _ in said.broken}
    assert refused < count * most_refused
    assert broken >= among
    assert len(broken) >= 10
