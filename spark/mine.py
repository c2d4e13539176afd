"""Mining: the compiled checks over traces of any size, in Spark tasks that open their own files; over few rows in this
process, with the same result to the byte, before Spark would have started.

Spark shares out names of files and collects counts. No row crosses from Java to Python, and none is shuffled: a run
lies in one file, so one task sees it whole. Files that are known are not judged again
(`scatterproof.spark.incremental`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from scatterproof.conformance.protocol import load
from scatterproof.conformance.verdict import Verdict
from scatterproof.spark.coverage import coverage
from scatterproof.spark.found import PartFindings
from scatterproof.spark.incremental import SUMMARY, Kept, Say, kept_results
from scatterproof.spark.judge_part import is_interpreted
from scatterproof.spark.layout import RunClass, folder_of
from scatterproof.spark.mapping import Mapping
from scatterproof.spark.measured import together
from scatterproof.spark.mined import ClauseSummary, MineResult
from scatterproof.spark.read import Part, pairs_of, quarantined_rows
from scatterproof.spark.tallies import VERDICTS
from scatterproof.spec.files import write_atomically
from scatterproof.spec.storage import reached

if TYPE_CHECKING:  # it loads Spark
    from pyspark.sql import SparkSession

    from scatterproof.spark.jobs import OnProgress

# Judged in this process within seconds: compiled, and in plain Python.
FEW_ROWS, FEW_INTERPRETED = 10_000_000, 1_000_000


def mine(
    path: Path,
    master: str | None = None,
    on_progress: OnProgress | None = None,
    *,
    mapping: Mapping | None = None,
    again: bool = False,
    say: Say = lambda sentence: None,
) -> MineResult:
    """Judge every run of the corpus at `path`, and leave what was found in its folder `mined/`; files that were judged
    before, and have not changed since, are not judged again, unless `again` is set.

    master: of Spark; None for this machine's cores, and for this process alone where there are few rows.
    on_progress counts events. mapping: the files are in a layout of the user's own, and are sorted into a corpus beside
    them first (`scatterproof.spark.arrange`), which is then what the result speaks of. say: takes sentences on what is
    known and what is not.

    A file that cannot be read or lacks a column, is of another protocol than those before it, or has a row that no
    check may look at, is left out, and the result says why. Raises BadInput for a folder without traces, and where no
    file is left; the last result is left as it was then. CannotRun without Java.
    """
    if mapping is not None:
        from scatterproof.spark.arrange import arrange, arranged_path, look_at
        from scatterproof.spark.session import session_on

        folder = folder_of(path, "what is to be sorted")
        look_at(folder, mapping)  # before Spark starts, which takes a while
        with session_on(master, arranged_path(folder.absolute()).parent) as session:
            return mine(arrange(folder, mapping, session), master, on_progress, say=say)
    corpus = reached(path).absolute()  # the tasks may run elsewhere
    pairs = pairs_of(corpus)
    with kept_results(corpus, say) as kept:
        missing = kept.look(pairs, again=again)
        wanted, flaws = kept.sound(missing)
        where, on = _where([part for part, _ in wanted], master, corpus)
        say(f"{len(wanted)} files to judge{where if wanted else ''}, {len(pairs) - len(missing)} known")
        if wanted:
            with on as session:
                outcomes = kept.judge(session, wanted, on_progress)
            flaws |= kept.take_all(wanted, outcomes)
        if not kept.found:
            raise flaws[min(flaws)]
        result, runs = summed_up(kept, [str(flaws[pair]) for pair in sorted(flaws)])
        leave(kept, result, runs)
    return result


def _where(
    parts: Sequence[Part], master: str | None, corpus: Path
) -> tuple[str, AbstractContextManager[SparkSession | None]]:
    """Where these are judged, in words and as a session; None for this process."""
    if master is None and sum(part.rows for part in parts) <= (FEW_INTERPRETED if is_interpreted(parts) else FEW_ROWS):
        return " in this process", nullcontext()
    from scatterproof.spark.session import session_on

    return " on Spark", session_on(master, corpus)


def summed_up(kept: Kept, left_out: Sequence[str] = ()) -> tuple[MineResult, dict[int, RunClass]]:
    """The result over all kept pairs, at least one, and the classes of the runs in them, by run."""
    every, protocol = kept.in_order(), kept.protocol
    assert protocol is not None
    clauses = tuple(_summaries(protocol, every))
    measured, runs = together(protocol, (found.measured for found in every)), kept.classes()
    result = MineResult(
        path=str(kept.corpus),
        protocol=protocol,
        files=len(every),
        runs=len(runs),
        events=sum(found.rows for found in every),
        violations=sum(clause.broken for clause in clauses),
        clauses=clauses,
        quarantined=quarantined_rows(kept.corpus),
        left_out=tuple(left_out),
        histograms=measured.histograms(),
        coverage=coverage(
            protocol, Counter(runs.values()), [(one.clause, one.held, one.runs) for one in clauses], measured
        ),
    )
    return result, runs


def leave(kept: Kept, result: MineResult, runs: dict[int, RunClass]) -> None:
    """Write the page and then the summary, unless they say this already."""
    # Loaded here, as it draws: no task and no other command needs that, and it takes longer to load than the rest.
    from scatterproof.spark.report import REPORT, write_report

    kept.drop_others()
    summary, text = kept.folder / SUMMARY, msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n"
    if not (summary.is_file() and summary.read_bytes() == text and (kept.folder / REPORT).is_file()):
        write_report(kept.folder, result, runs, _times(kept.in_order()), kept.tables())
        write_atomically(summary, text)


def _times(every: Iterable[PartFindings]) -> dict[tuple[str, int], int]:
    """By clause and run, how many rows break it."""
    return {
        (clause, run): count
        for found in every
        for clause, tally in found.tallies.items()
        for run, count in tally.broken_in.items()
    }


def _summaries(protocol: str, every: Sequence[PartFindings]) -> Iterable[ClauseSummary]:
    """One of each clause, which may have several checks."""
    names: dict[str, str] = {}
    for check in load(protocol).checks:
        names.setdefault(check.clause, check.name)
    for clause, name in names.items():
        own = [found.tallies[clause] for found in every if clause in found.tallies]
        counts = ((verdict, sum(tally.runs[at] for tally in own)) for at, verdict in enumerate(VERDICTS))
        runs = {verdict: count for verdict, count in counts if count}
        order = (Verdict.FAIL, Verdict.PASS, Verdict.INCONCLUSIVE)
        verdict = next((verdict for verdict in order if verdict in runs), Verdict.NOT_APPLICABLE)
        decided = verdict in (Verdict.FAIL, Verdict.PASS)
        yield ClauseSummary(
            clause=clause,
            name=name,
            verdict=verdict,
            runs=runs,
            held=sum(tally.held for tally in own),
            broken=sum(sum(tally.broken_in.values()) for tally in own),
            reason="" if decided else next((tally.reason for tally in own if tally.reason), ""),
        )
