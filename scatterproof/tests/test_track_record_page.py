"""The page of the track record says of each mistake what came of it, and its verdict is the worst of them."""

from __future__ import annotations

import pytest

from scatterproof.conformance.systems.track_record import known
from scatterproof.conformance.systems.track_runs import Played, sides
from scatterproof.track_record_page import page, sentence


def outcome(named: int, held: int, not_run: str | None = None) -> Played:
    mistake = next(one for one in known() if one.seen is None)
    bad, good = sides(mistake)
    for side in (bad, good):
        side.runs, side.named, side.held, side.not_run = 2, named if side.is_bad else 0, held, not_run
    return Played(mistake, bad, good)


@pytest.mark.parametrize(
    ("named", "held", "verdict", "said"),
    [(2, 2, "pass", "as recorded"), (1, 2, "fail", "in 1 of 2 bad runs"), (2, 1, "fail", "in 1 of 2 good runs")],
)
def test_the_page_has_each_mistake_and_the_worst_verdict(named: int, held: int, verdict: str, said: str) -> None:
    one = outcome(named, held)
    text = page([outcome(2, 2), one])
    assert f'<strong id="verdict" class="{verdict}">{verdict}</strong>' in text
    assert said in text
    assert all(f"<code>{step.replace('>', '&gt;')}</code>" in text for step in one.of.steps)


def test_what_is_not_run_is_said_and_spoils_nothing() -> None:
    missing = outcome(0, 0, "there is no <server>; install one")
    assert "there is no &lt;server&gt;; install one" in page([outcome(2, 2), missing])
    assert 'class="not-run">not run</strong>' in page([missing])
    assert sentence([missing]) == "1 mistake of 1 system: 0 as recorded, 0 not as recorded, 0 inconclusive, 1 not run"
