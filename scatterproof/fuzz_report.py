"""What a user sees of fuzzing: how far it is, what it found, and the exit code."""

from __future__ import annotations

import shlex
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from scatterproof.conformance.verdict import Verdict
from scatterproof.console import CANNOT_RUN, INCONCLUSIVE, OK, VIOLATIONS, Progress, out, print_table
from scatterproof.fuzz.fuzzer import FoundFailure, FuzzResult, OnProgress, OnShrink
from scatterproof.fuzz.shrink import size_in_words
from scatterproof.fuzz.spread import Distinct, SpreadResult
from scatterproof.spec.schedule import Schedule

_SIGNALS = {number.name: number for number in (signal.SIGINT, signal.SIGTERM)}


def drawing(progress: Progress, examples: int | None, seconds: float | None) -> OnProgress:
    """Says how many schedules were run."""
    start = time.monotonic()

    def say(done: int, failed: int) -> None:
        of = "" if examples is None else f" of {examples}"
        within = "" if seconds is None else f", {time.monotonic() - start:.0f} of {seconds:g} s"
        progress(f"{done}{of} schedules{within}, {failed} clauses broken")

    return say


def shrinking(progress: Progress) -> OnShrink:
    """Says how small a failure has become."""

    def say(clause: str, runs: int, smallest: Schedule) -> None:
        progress(f"making {clause} small: {runs} runs tried, {size_in_words(smallest)} so far")

    return say


def exit_code(result: FuzzResult) -> int:
    """What was found wins over how it ended."""
    if result.failures:
        return VIOLATIONS
    if result.stopped:
        return 128 + _SIGNALS[result.stopped] if result.stopped in _SIGNALS else CANNOT_RUN
    verdicts = {standing.verdict for standing in result.clauses.values()}
    if result.unjudged or Verdict.INCONCLUSIVE in verdicts:
        return INCONCLUSIVE
    # Nothing that is not applicable may look like a pass.
    return OK if Verdict.PASS in verdicts else CANNOT_RUN


def show(result: FuzzResult, profile: Path | None) -> None:
    """Print the whole result as text. profile: the file that says what is claimed."""
    claimed = "" if profile is None else f", as claimed in {profile.name}"
    _say(
        f"{result.examples} schedules, {result.rows} events, {result.schedules_per_second:.0f} schedules/s,"
        f" seed {result.seed}{claimed}"
    )
    print_table(
        "",
        ("clause", "verdict", "times at stake", "why"),
        [
            (clause, standing.verdict, standing.at_stake, standing.reason)
            for clause, standing in result.clauses.items()
            if standing.verdict is not Verdict.NOT_APPLICABLE
        ],
    )
    for reason, clauses in _not_applicable(result):
        _say(f"not applicable: {', '.join(clauses)}: {reason}")
    if result.unjudged:
        _say(f"{result.unjudged} of {result.examples} schedules could not be run, or their traces not be judged:")
        for sentence in result.because:
            _say(f"  {sentence}")
    for failure in result.failures:
        _show_failure(failure, result.iut, profile)
    if isinstance(result, SpreadResult):
        for clause, count in result.failing.items():
            shrunk = min(count, result.per_clause)
            kinds = sum(failure.clause == clause for failure in result.failures)
            _say(f"{clause}: broken by {count} of {result.examples} schedules; {shrunk} shrunk, {kinds} distinct")
    if result.stopped:
        _say(f"stopped by {result.stopped}, at {result.stopped_at}; above is what was found until then")


def _not_applicable(result: FuzzResult) -> Iterator[tuple[str, list[str]]]:
    """Each reason, with the clauses that it is given for."""
    by_reason: dict[str, list[str]] = {}
    for clause, standing in result.clauses.items():
        if standing.verdict is Verdict.NOT_APPLICABLE:
            by_reason.setdefault(standing.reason, []).append(clause)
    yield from by_reason.items()


def _show_failure(failure: FoundFailure, iut: str, profile: Path | None) -> None:
    notes = "; ".join(failure.notes) or "nothing says why"
    _say(failure.violation.sentence if failure.violation is not None else f"{failure.clause}: cut short: {notes}")
    words = ["scatterproof", "replay", failure.file, "--iut", iut]
    _say("  " + shlex.join([*words, *([] if profile is None else ["--profile", str(profile)])]))
    if isinstance(failure, Distinct):
        alike = f", and {failure.further} more like it" if failure.further else ""
        _say(f"  found by schedule {failure.found_at}{alike}")
        return
    _say(f"  found by schedule {failure.found_at} ({failure.as_found}); {how_small(failure)}")


def how_small(failure: FoundFailure) -> str:
    """How far it was made small, and what it is then."""
    size = size_in_words(failure.schedule)
    if not failure.repeats:
        return "it did not fail when it was run again: the implementation is not deterministic"
    if failure.minimal:
        return f"as small as it can be after {failure.runs} runs: {size}"
    return f"not yet as small as it can be after {failure.runs} runs: {size}; `replay --shrink` goes on"


def _say(sentence: str) -> None:
    out.print(sentence, markup=False, highlight=False, soft_wrap=True)
