"""Small drawn runs of protocols with packets, right and wrong, of which checks and oracles say the same."""

from __future__ import annotations

import pytest

from scatterproof.conformance import protocol
from scatterproof.fuzz.judging import by_checks, by_oracles
from scatterproof.fuzz.protocol import load

_BROKEN = {
    "totalorder": {"TO-FLAG-HOST", "TO-ADJ-2", "TO-LOSSCTR", "TO-RETX-BAR", "TO-BAR-FILL"},
    "broadcast": {"BC-PL-ONCE", "BC-URB-AGREE", "BC-FIFO-ORDER", "BC-LCB-CHECK", "BC-LCB-CLOCKS"},
}


@pytest.mark.parametrize("name", _BROKEN)
def test_checks_and_oracles_say_the_same_of_drawn_runs(name: str) -> None:
    history, plugin = load(name).history, protocol.load(name)
    assert history is not None
    broken, refused, drawn = set[str](), 0, range(400)
    for number in drawn:
        trace = history(number)
        said = by_checks(trace, ())
        assert said.refused or said.broken == by_oracles(plugin, trace).broken, number
        refused += said.refused
        broken |= {clause for clause, _ in said.broken}
    assert refused < len(drawn) * 0.6
    assert broken >= _BROKEN[name]
