"""The page of the track record: each known mistake with its steps, and what came of both sides when played."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from scatterproof.conformance.report.look import TABLES, Head, render
from scatterproof.conformance.systems.track_runs import Played, Standing

_VERDICTS = {
    Standing.NOT_AS_RECORDED: "fail",
    Standing.INCONCLUSIVE: "inconclusive",
    Standing.AS_RECORDED: "pass",
    Standing.NOT_RUN: "not run",
}


def sentence(outcomes: Sequence[Played]) -> str:
    """The result in one sentence."""
    states = Counter(outcome.state for outcome in outcomes)
    listed = ", ".join(f"{states[state]} {state}" for state in Standing)
    counts = {"mistake": len(outcomes), "system": len({one.of.system for one in outcomes})}
    return " of ".join(f"{count} {name}{'s' * (count != 1)}" for name, count in counts.items()) + f": {listed}"


def page(outcomes: Sequence[Played]) -> str:
    """The page as HTML. Its verdict is the worst of its mistakes; `not run` only where nothing was run."""
    states = {outcome.state for outcome in outcomes}
    return render(
        Path(__file__).with_name("track_record.html.jinja"),
        Head(
            title="Track record",
            verdict=next((word for state, word in _VERDICTS.items() if state in states), "not run"),
            sentence=sentence(outcomes),
        ),
        styles=TABLES.styles,
        outcomes=[(outcome, _VERDICTS[outcome.state]) for outcome in outcomes],
    ).text
