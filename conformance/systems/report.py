"""Set-ups run and judged, and the table of the results."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scatterproof.conformance.adapters.log_folder import read_logs
from scatterproof.conformance.judge import judge
from scatterproof.conformance.profile import read_profile
from scatterproof.conformance.systems.history import write_logs
from scatterproof.conformance.systems.setup import PROFILES, Setup
from scatterproof.conformance.verdict import ClauseResult, Verdict
from scatterproof.spec.errors import CannotRun


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemResult:
    """results: one for each clause that the set-up is held to.
    deliveries: of all hosts together.
    not_run: the reason, or nothing.
    """

    setup: Setup
    versions: str = ""
    results: tuple[ClauseResult, ...] = ()
    deliveries: int = 0
    not_run: str = ""

    @property
    def as_meant(self) -> bool:
        """Whether every clause holds; or, where one must break, that one breaks."""
        broken = {result.clause for result in self.results if result.verdict is Verdict.FAIL}
        if self.setup.breaks:
            return self.setup.breaks in broken
        return bool(self.results) and all(result.verdict is Verdict.PASS for result in self.results)


def run(setup: Setup, folder: Path) -> SystemResult:
    """Run and judge one set-up; `folder` keeps what hosts and server wrote, and a folder of logs for each profile."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotRun(f"{folder}: cannot be made: {error.strerror}; give another --results folder") from None
    system = importlib.import_module(f"scatterproof.conformance.systems.{setup.system}")
    try:
        versions, history = system.versions(), system.play(setup, folder)
    except CannotRun as error:
        return SystemResult(setup=setup, not_run=str(error))
    results: list[ClauseResult] = []
    for name in setup.profiles:
        profile = read_profile(PROFILES / f"{name}.toml")
        write_logs(history, profile.protocol, folder / name)
        trace = read_logs(folder / name, setup.name)
        judged = profile.of_claimed(judge(trace, place=str(folder / name)))
        results += [result for result in judged if profile.claims(result.clause)]
    return SystemResult(
        setup=setup,
        versions=versions,
        results=tuple(results),
        deliveries=sum(event.what == "delivered" for events in history.hosts for event in events),
    )


def run_all(setups: Sequence[Setup], folder: Path, say: Callable[[str], None]) -> list[SystemResult]:
    outcomes = []
    for setup in setups:
        say(f"{setup.name}: {setup.text}")
        outcomes.append(run(setup, folder / setup.name))
    return outcomes


def table(outcomes: Sequence[SystemResult]) -> str:
    """The table of the results, in Markdown."""
    lines = ["| set-up | clause | verdict | held | broken | the first that broke it |", "|---|---|---|---|---|---|"]
    for outcome in outcomes:
        if outcome.not_run:
            lines.append(f"| {outcome.setup.name} | | not run | | | {_cell(outcome.not_run)} |")
        for result in outcome.results:
            first = result.violations[0].sentence if result.violations else result.reason
            cells = (outcome.setup.name, result.clause, result.verdict, result.held, result.broken, _cell(first))
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def page(outcomes: Sequence[SystemResult]) -> str:
    """The record that RESULTS.md is."""
    known = ", ".join(dict.fromkeys(outcome.versions for outcome in outcomes if outcome.versions))
    lines = [
        "# Real systems, judged",
        "",
        "Made by `python -m scatterproof.conformance.systems --record`; set-ups are in [setup.py](setup.py), "
        "what they are held to",
        f"in [profiles](profiles). Versions: {known or 'none was there'}.",
        "",
        "A clause that is not in the table is not claimed. A run leaves its logs behind, which are judged again by",
        "`scatterproof conform --logs results/systems/core/nats-core`.",
        "",
    ]
    for outcome in outcomes:
        wrong = f" It has to break {outcome.setup.breaks}." if outcome.setup.breaks else ""
        counted = f" {outcome.deliveries} deliveries at {outcome.setup.hosts} hosts." if outcome.results else ""
        lines.append(f"- **{outcome.setup.name}**: {outcome.setup.text}.{wrong}{counted}")
    return "\n".join(lines) + "\n\n" + table(outcomes)


def _cell(text: str) -> str:
    return text.replace("|", "/").replace("\n", " ")
