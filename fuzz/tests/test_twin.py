"""The weakest twins use what the clauses leave free: no check accuses them, in any case or drawn schedule."""

from __future__ import annotations

from itertools import islice

import pytest

from scatterproof.conformance.case import cases, run_case
from scatterproof.conformance.network.run import SimulatedIut
from scatterproof.conformance.protocol import Case
from scatterproof.conformance.verdict import Verdict
from scatterproof.fuzz.corpus import drawn_schedules
from scatterproof.fuzz.fuzzer import violations_of
from scatterproof.fuzz.protocol import load
from scatterproof.impl.protocol import load as plugin_of
from scatterproof.impl.protocol import maker
from scatterproof.spec.clauses import protocols

PROTOCOLS = tuple(protocol for protocol in protocols() if "twin" in plugin_of(protocol).further)
TWINS = {protocol: SimulatedIut("twin", maker(protocol, "twin")) for protocol in PROTOCOLS}
REFERENCE = {protocol: SimulatedIut("reference", load(protocol).node_with({})) for protocol in PROTOCOLS}
DRAWN = 24
# What they are about hangs on when packets come, and the twin's come otherwise; or on two best-effort messages, of
# which the twin loses one; or on a batch, of which it hands out one at a time.
NOT_AT_STAKE = {
    *("BC-LCB-CAUSAL/answer-overtakes-the-question", "BC-LCB-LOCAL/stranger-is-late"),
    "BC-LCB-CHECK/dependency-comes-last",
    "PS-MULTIPATH/around-a-ring-at-level-0",
    "Q-DEDUP/none-is-no-id",
}
GROUPS = [(protocol, group) for protocol in PROTOCOLS for group in range(len(load(protocol).groups))]


@pytest.mark.parametrize("case", [case for protocol in PROTOCOLS for case in cases(protocol)], ids=lambda case: case.id)
def test_twin_passes_every_case(case: Case) -> None:
    found = run_case(case, TWINS[case.schedule.protocol])
    assert found.verdict is (Verdict.INCONCLUSIVE if case.id in NOT_AT_STAKE else Verdict.PASS), found.reason


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "group"), GROUPS)
def test_neither_the_twin_nor_the_reference_breaks_a_clause_in_drawn_runs(protocol: str, group: int) -> None:
    differs = 0
    for schedule in islice(drawn_schedules(protocol, 17, group), DRAWN):
        trace, usual = TWINS[protocol].run(schedule), REFERENCE[protocol].run(schedule)
        assert violations_of(trace) == violations_of(usual) == {}
        differs += trace.rows != usual.rows
    assert 2 * differs > DRAWN
