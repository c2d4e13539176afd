"""Every clause of every protocol that has a check is judged alike, on conforming and on violating traces, by the checks
in plain Python, by the oracles, by the checks compiled in Spark tasks, and by TLC, which reads traces row by row.

Checks, oracles and Spark name the same clauses in the same rows. TLC stops at one row: the first that breaks anything,
and by a clause that breaks there. Each exception is data with a reason, and is refused once it is needed no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from scatterproof.conformance.verdict import Verdict
from scatterproof.models.trace_validation import Judgement, Validation
from scatterproof.spark.tests.agreement import (
    PROTOCOLS,
    Agreement,
    Differences,
    Judged,
    Otherwise,
    agreement_of,
    parted,
    read_otherwise,
    uncovered,
)

ACCEPTED = Validation(judgement=Judgement.ACCEPTED)
NOT_RUN = Validation(judgement=Judgement.CANNOT_RUN)


def rejected(position: int, *clauses: str) -> Validation:
    return Validation(judgement=Judgement.REJECTED, position=position, clauses=clauses)


@pytest.mark.slow
@pytest.mark.timeout(1200)  # all checks may have to be compiled first, on a machine that does other things, too
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_all_judges_agree_on_every_clause(session: SparkSession, tmp_path: Path, protocol: str) -> None:
    agreement = agreement_of(protocol, tmp_path)
    told = [*parted(agreement), *read_otherwise(agreement), *uncovered(agreement)]
    assert not told, "\n".join(told)


def judged(name: str, broken: Mapping[str, int], by_tlc: Validation, *, at_stake: str = "") -> Judged:
    pairs = frozenset(broken.items())
    return Judged(
        name=name,
        conforming=not broken,
        at_stake=frozenset(at_stake.split()),
        online=pairs,
        oracles=pairs,
        mined=pairs,
        by_tlc=by_tlc,
    )


GOOD = judged("good", {}, ACCEPTED, at_stake="X-1 X-2 X-3")
ONE = judged("one", {"X-1": 4, "X-2": 6}, rejected(4, "X-1"))
TWO = judged("two", {"X-2": 5}, rejected(5, "X-2"))
UNASKED = judged("unasked", {"X-3": 2}, ACCEPTED)
EARLY = judged("early", {"X-1": 9}, rejected(7))
COUNTS = {clause: ({Verdict.PASS: 1, Verdict.FAIL: 1}, 3, 1) for clause in ("X-1", "X-2", "X-3")}
LEFT_OUT = {"X-3": "it speaks of what no row shows"}
OTHERWISE = {"early": Otherwise(position=7, why="TLC notices before harm is done")}
SOUND = Agreement(
    clauses=("X-1", "X-2", "X-3"),
    traces=(GOOD, ONE, TWO, UNASKED, EARLY),
    online=COUNTS,
    mined=COUNTS,
    differences=Differences(left_out=LEFT_OUT, otherwise=OTHERWISE),
)


def with_trace(old: Judged, new: Judged) -> Agreement:
    return replace(SOUND, traces=[new if one is old else one for one in SOUND.traces])


def without(*traces: Judged) -> Agreement:
    return replace(SOUND, traces=[one for one in SOUND.traces if one not in traces])


def excepting(left_out: Mapping[str, str] = LEFT_OUT, otherwise: Mapping[str, Otherwise] = OTHERWISE) -> Agreement:
    return replace(SOUND, differences=Differences(left_out=left_out, otherwise=otherwise))


MOVED, MISSED = frozenset({("X-2", 6)}), frozenset[tuple[str, int]]()
# What is made wrong in a sound agreement, by what it is found, and in which words.
FLAWS: dict[str, tuple[Agreement, Callable[[Agreement], list[str]], str]] = {
    "a check is blind": (with_trace(TWO, replace(TWO, online=MISSED)), parted, "two: by the checks [], by the oracles"),
    "a check is blind, and its oracle": (
        with_trace(TWO, replace(TWO, online=MISSED, oracles=MISSED)), parted, "two: by the checks [], by Spark",
    ),
    "all are blind": (
        with_trace(TWO, replace(TWO, online=MISSED, oracles=MISSED, mined=MISSED)), parted, "two shall break something",
    ),
    "an oracle is one row off": (with_trace(TWO, replace(TWO, oracles=MOVED)), parted, "by the oracles [('X-2', 6)]"),
    "Spark is one row off": (with_trace(TWO, replace(TWO, mined=MOVED)), parted, "by Spark [('X-2', 6)]"),
    "Spark finds what is not there": (with_trace(GOOD, replace(GOOD, mined=MOVED)), parted, "good: by the checks []"),
    "all find what is not there": (
        with_trace(GOOD, replace(GOOD, online=MOVED, oracles=MOVED, mined=MOVED)), parted, "good shall conform",
    ),
    "Spark counts otherwise": (
        replace(SOUND, mined={**COUNTS, "X-1": ({Verdict.PASS: 2}, 3, 1)}), parted, "X-1: counted",
    ),
    "Spark leaves a clause out": (
        replace(SOUND, mined={"X-1": COUNTS["X-1"], "X-2": COUNTS["X-2"]}), parted, "other clauses: ['X-3']",
    ),
    "TLC rejects what conforms": (with_trace(GOOD, replace(GOOD, by_tlc=rejected(3, "X-1"))), read_otherwise, "good:"),
    "TLC accepts a violation": (with_trace(ONE, replace(ONE, by_tlc=ACCEPTED)), read_otherwise, "one: TLC says acc"),
    "TLC is a row early": (with_trace(ONE, replace(ONE, by_tlc=rejected(3, "X-1"))), read_otherwise, "one: TLC says"),
    "TLC is a row late": (with_trace(ONE, replace(ONE, by_tlc=rejected(5, "X-1"))), read_otherwise, "one: TLC says"),
    "TLC stops at the second violation": (
        with_trace(ONE, replace(ONE, by_tlc=rejected(6, "X-2"))), read_otherwise, "one: TLC says rejected",
    ),
    "TLC names another clause": (with_trace(ONE, replace(ONE, by_tlc=rejected(4, "X-2"))), read_otherwise, "one: TLC"),
    "TLC cannot run": (
        with_trace(ONE, replace(ONE, by_tlc=NOT_RUN)), read_otherwise, "one: TLC says cannot run",
    ),
    "an exception is missing": (excepting(otherwise={}), read_otherwise, "early: TLC says rejected"),
    "an exception says another row": (
        excepting(otherwise={"early": Otherwise(position=8, why="")}), read_otherwise, "excepted is rejected 8",
    ),
    "an exception is needed no more": (
        with_trace(EARLY, replace(EARLY, by_tlc=rejected(9, "X-1"))), read_otherwise, "take it out",
    ),
    "an exception is of no trace": (without(EARLY), read_otherwise, "there is no such trace"),
    "a clause is not left out": (excepting(left_out={}), read_otherwise, "unasked: TLC says accepted"),
    "nor covered": (excepting(left_out={}), uncovered, "TLC rejects no trace by X-3"),
    "a clause is left out needlessly": (excepting({**LEFT_OUT, "X-2": ""}), uncovered, "X-2 is left out, though"),
    "an unknown clause is left out": (excepting({**LEFT_OUT, "X-9": ""}), uncovered, "X-9 is left out, and has no"),
    "nothing conforms": (without(GOOD), uncovered, "X-1 is at stake in no conforming trace"),
    "nothing is at stake": (with_trace(GOOD, replace(GOOD, at_stake=frozenset())), uncovered, "X-2 is at stake in no"),
    "what conforms is never accepted": (
        with_trace(GOOD, replace(GOOD, by_tlc=rejected(3))), uncovered, "X-1 is at stake in no conforming trace",
    ),
    "nothing breaks a clause": (without(UNASKED), uncovered, "X-3 is broken by no trace"),
    "TLC never names a clause": (
        with_trace(TWO, replace(TWO, by_tlc=rejected(5))), uncovered, "TLC rejects no trace by X-2",
    ),
}  # fmt: skip


def test_nothing_is_told_of_a_sound_agreement() -> None:
    assert [*parted(SOUND), *read_otherwise(SOUND), *uncovered(SOUND)] == []


@pytest.mark.parametrize("flaw", FLAWS)
def test_a_flaw_is_told(flaw: str) -> None:
    agreement, tell, words = FLAWS[flaw]
    assert any(words in sentence for sentence in tell(agreement)), tell(agreement)


def test_there_are_protocols() -> None:
    assert PROTOCOLS
