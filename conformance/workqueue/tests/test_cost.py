"""What judging costs where many groups wait."""

from __future__ import annotations

import pytest

from scatterproof.conformance.case_files import WrittenCase
from scatterproof.conformance.judge import judge
from scatterproof.conformance.network.run import simulate
from scatterproof.conformance.workqueue import knowledge
from scatterproof.conformance.workqueue.cases.building import CASE_WORDS
from scatterproof.impl.workqueue import make_core

GROUPS = 12


def test_all_groups_are_gone_over_once_for_a_call_that_takes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each group that waits would be cubic in the groups."""
    waiting = [f"0 1 group one correlation={number}" for number in range(1, GROUPS + 1)]
    calls = "\n".join([*waiting, *["100_000 2 takes"] * GROUPS])
    written = WrittenCase(id="Q-NEXT/many", stimulus="", duty="", network="served 2", steps=calls)
    trace = simulate(CASE_WORDS.case(written).schedule, make_core)
    asked: list[int] = []
    plain = knowledge.is_let_through

    def counting(slot: int, *told: object) -> bool:
        asked.append(slot)
        return plain(slot, *told)  # type: ignore[arg-type]

    monkeypatch.setattr(knowledge, "is_let_through", counting)
    judge(trace)
    assert len(asked) == GROUPS
