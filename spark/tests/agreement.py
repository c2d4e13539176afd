"""What the four judges of traces say of a protocol's traces, and where they differ: the checks in plain Python, the
oracles, the checks compiled in Spark tasks, and TLC.

The traces are those of ``conformance/traces``. Traces for which TLC says something else are listed by the protocol:
``spark/tests/<protocol>/differences.py``.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

import msgspec

from scatterproof.conformance.judge import judge, judge_by_oracles
from scatterproof.conformance.protocol import load
from scatterproof.conformance.verdict import ClauseResult, Verdict
from scatterproof.models.protocol import load as models_of
from scatterproof.models.trace_validation import Judgement, Validation, validate_all
from scatterproof.spark.layout import events_path, runs_path
from scatterproof.spark.mine import mine
from scatterproof.spark.session import MASTER
from scatterproof.spec import clauses, trace_ndjson
from scatterproof.spec.trace import Trace
from scatterproof.spec.trace_parquet import write_runs

TRACES = Path(__file__).resolve().parents[2] / "conformance" / "traces"
PROTOCOLS = [protocol for protocol in clauses.protocols() if (TRACES / protocol).is_dir()]
EVERY = 1 << 62  # violations to put into words

# Which clause is broken in which row.
Broken: TypeAlias = frozenset[tuple[str, int]]
# By clause: in how many traces there is each verdict, and in how many rows it held and was broken.
Counts: TypeAlias = Mapping[str, tuple[Mapping[Verdict, int], int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Otherwise:
    """What TLC says of one trace in place of what the checks say.

    why: a sentence.
    position: the row that it rejects; None where it rejects none.
    """

    why: str
    judgement: Judgement = Judgement.REJECTED
    position: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """left_out: the clauses that the module for traces does not check, each with the reason, from its record.
    otherwise: by name, the traces for which TLC says something else for another reason.
    """

    left_out: Mapping[str, str] = field(default_factory=dict)
    otherwise: Mapping[str, Otherwise] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One trace.

    conforming: whether it must break nothing.
    at_stake: the clauses that pass.
    online, oracles, mined: what it breaks by the checks in plain Python, by the oracles, and by the checks in Spark
        tasks.
    """

    name: str
    conforming: bool
    at_stake: frozenset[str]
    online: Broken
    oracles: Broken
    mined: Broken
    by_tlc: Validation


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """All traces of a protocol. clauses: those that have a check. online, mined: what is counted over all traces."""

    clauses: Sequence[str]
    traces: Sequence[Judged]
    online: Counts
    mined: Counts
    differences: Differences


def traces_of(protocol: str) -> dict[str, tuple[bool, Trace]]:
    """By name: whether the trace conforms, and the trace, numbered."""
    files = sorted([*TRACES.glob(f"{protocol}/conforming/*.ndjson"), *TRACES.glob(f"{protocol}/violating/*.ndjson")])
    read = {file.stem: (file.parent.name == "conforming", trace_ndjson.read(file)) for file in files}
    return {
        name: (conforming, Trace(msgspec.structs.replace(trace.header, run=run), trace.rows))
        for run, (name, (conforming, trace)) in enumerate(read.items())
    }


def differences_of(protocol: str) -> Differences:
    traces = models_of(protocol).traces
    left_out = traces().left_out if traces is not None else {}
    name = f"scatterproof.spark.tests.{protocol}.differences"
    if find_spec(f"scatterproof.spark.tests.{protocol}") is None or find_spec(name) is None:
        return Differences(left_out=left_out)
    found: Differences = importlib.import_module(name).DIFFERENCES
    return replace(found, left_out=left_out)


def agreement_of(protocol: str, folder: Path) -> Agreement:
    """Let them all judge: one mining of all traces, put into `folder` as a corpus, and as few starts of TLC as can
    be."""
    named = traces_of(protocol)
    traces = [trace for _, trace in named.values()]
    write_runs(events_path(folder, 0), runs_path(folder, 0), traces)
    result = mine(folder, MASTER)
    mined: list[set[tuple[str, int]]] = [set() for _ in traces]
    for row in result.table().to_pylist():
        mined[row["run"]].add((row["clause"], row["position"]))
    online = [judge(trace, shown=EVERY) for trace in traces]
    by_tlc = validate_all(traces)
    return Agreement(
        clauses=[check.clause for check in load(protocol).checks],
        traces=[
            Judged(
                name=name,
                conforming=conforming,
                at_stake=frozenset(one.clause for one in online[run] if one.verdict is Verdict.PASS),
                online=_broken(online[run]),
                oracles=_broken(judge_by_oracles(trace, shown=EVERY)),
                mined=frozenset(mined[run]),
                by_tlc=by_tlc[run],
            )
            for run, (name, (conforming, trace)) in enumerate(named.items())
        ],
        online=_counts(online),
        mined={one.clause: (Counter(one.runs), one.held, one.broken) for one in result.clauses},
        differences=differences_of(protocol),
    )


def _broken(results: Iterable[ClauseResult]) -> Broken:
    return frozenset((found.clause, found.position) for result in results for found in result.violations)


def _counts(judged: Iterable[Sequence[ClauseResult]]) -> Counts:
    """A clause may have several results in a trace: a doubt is listed only where there is one."""
    verdicts: dict[str, Counter[Verdict]] = {}
    rows: dict[str, tuple[int, int]] = {}
    for results in judged:
        for clause in {one.clause for one in results}:
            own = [one for one in results if one.clause == clause]
            verdicts.setdefault(clause, Counter())[gravest(own)] += 1
            held, broken = rows.get(clause, (0, 0))
            rows[clause] = held + sum(one.held for one in own), broken + sum(one.broken for one in own)
    return {clause: (verdicts[clause], *rows[clause]) for clause in verdicts}


def gravest(results: Iterable[ClauseResult]) -> Verdict:
    """What is said of a clause in one trace."""
    order = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS, Verdict.NOT_APPLICABLE)
    return min((one.verdict for one in results), key=order.index)


def parted(agreement: Agreement) -> list[str]:
    """A sentence for each trace of which checks, oracles and Spark do not say the same, and for each count that
    differs."""
    told: list[str] = []
    for one in agreement.traces:
        for who, said in (("the oracles", one.oracles), ("Spark", one.mined)):
            if said != one.online:
                told.append(f"{one.name}: by the checks {sorted(one.online)}, by {who} {sorted(said)}")
        if one.conforming == bool(one.online):
            told.append(f"{one.name} shall {'conform' if one.conforming else 'break something'}: {sorted(one.online)}")
    if agreement.online.keys() != agreement.mined.keys():
        told.append(f"mined are other clauses: {sorted(agreement.online.keys() ^ agreement.mined.keys())}")
    for clause in agreement.online.keys() & agreement.mined.keys():
        if agreement.online[clause] != agreement.mined[clause]:
            told.append(f"{clause}: counted {agreement.online[clause]}, mined {agreement.mined[clause]}")
    return told


def first_broken(one: Judged, left_out: Iterable[str]) -> tuple[int | None, frozenset[str]]:
    """The first row that breaks a clause other than these, and which it breaks."""
    counted = {(clause, position) for clause, position in one.online if clause not in set(left_out)}
    first = min((position for _, position in counted), default=None)
    return first, frozenset(clause for clause, position in counted if position == first)


def is_named(one: Judged, left_out: Iterable[str]) -> frozenset[str]:
    """The clauses that TLC names in the very row in which the checks find them broken first."""
    position, broken = first_broken(one, left_out)
    return broken & set(one.by_tlc.clauses) if position is not None and one.by_tlc.position == position else frozenset()


def read_otherwise(agreement: Agreement) -> list[str]:
    """A sentence for each trace for which TLC does not say what it must. It must accept a trace that breaks none of the
    clauses that it checks; reject another one in the first row that breaks one, by such a clause; and say of an
    exception exactly what is listed."""
    left_out, excepted = agreement.differences.left_out, agreement.differences.otherwise
    told = [f"{name} is excepted, and there is no such trace" for name in excepted.keys() - _names(agreement)]
    for one in agreement.traces:
        said, (position, broken) = one.by_tlc, first_broken(one, left_out)
        due = Judgement.ACCEPTED if position is None else Judgement.REJECTED
        agrees = (said.judgement, said.position) == (due, position) and (not broken or bool(is_named(one, left_out)))
        words = f"{one.name}: TLC says {said.judgement} {said.reason}"
        if one.name in excepted:
            other = excepted[one.name]
            if agrees:
                told.append(f"{words}, as the checks do: take it out of the exceptions")
            elif (said.judgement, said.position) != (other.judgement, other.position):
                told.append(f"{words}, excepted is {other.judgement} {other.position}")
        elif not agrees:
            told.append(f"{words}; the checks find {sorted(broken)} broken, first in row {position}")
    return told


def _names(agreement: Agreement) -> frozenset[str]:
    return frozenset(one.name for one in agreement.traces)


def uncovered(agreement: Agreement) -> list[str]:
    """A sentence for each clause with a check that lacks a conforming trace in which it is at stake and that TLC
    accepts, a violating trace, or a trace that TLC rejects by its name; and for each clause that is left out without
    need."""
    told: list[str] = []
    left_out = agreement.differences.left_out
    told += [f"{clause} is left out, and has no check" for clause in left_out.keys() - set(agreement.clauses)]
    for clause in agreement.clauses:
        passed = [one for one in agreement.traces if one.conforming and clause in one.at_stake]
        breaking = [one for one in agreement.traces if any(clause == name for name, _ in one.online)]
        named = any(clause in is_named(one, ()) for one in breaking)
        if not any(one.by_tlc.judgement is Judgement.ACCEPTED or clause in left_out for one in passed):
            told.append(f"{clause} is at stake in no conforming trace that TLC accepts")
        if not breaking:
            told.append(f"{clause} is broken by no trace")
        elif named and clause in left_out:
            told.append(f"{clause} is left out, though TLC rejects a trace by it: take it out of the exceptions")
        elif not named and clause not in left_out:
            told.append(f"TLC rejects no trace by {clause} in the row that breaks it")
    return told
