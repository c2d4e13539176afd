"""Mining: the compiled checks over traces of any size, in Spark tasks that open their own files.

Spark shares out names of files and collects counts. No row crosses from Java to Python, and none is shuffled: a run
lies in one file, so one task sees it whole.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from conformance.protocol import load
from conformance.verdict import Verdict
from spark.arrange import arrange, arranged_path
from spark.coverage import Coverage, coverage
from spark.importing.mapping import Mapping
from spark.jobs import OnProgress, run_tasks
from spark.judge_part import judge_part, warm
from spark.layout import MINED, replaced_folder
from spark.measured import Histogram, Measured, Packed, together
from spark.read import (
    Part,
    entries_of,
    parts_of,
    quarantined_rows,
)
from spark.session import MASTER, session_on
from spec.files import write_atomically

SUMMARY = "summary.json"
VIOLATIONS = pa.schema(
    [
        ("clause", pa.string()),
        ("run", pa.int64()),
        ("position", pa.int64()),
        ("expected", pa.int64()),
        ("found", pa.int64()),
        ("witness", pa.int64()),
        ("sentence", pa.string()),
        ("replay", pa.string()),
    ]
)


class ClauseSummary(msgspec.Struct, frozen=True):
    """One clause over all runs. verdict: fail when a run fails, else pass when a run passes, else what the runs say.

    runs: how many runs gave which verdict. held and broken: at how many rows the clause was at stake and held, or was
    broken. reason: that of the first run without a say, when there is no run with one.
    """

    clause: str
    name: str
    verdict: Verdict
    runs: dict[Verdict, int]
    held: int
    broken: int
    reason: str = ""


class MineResult(msgspec.Struct, frozen=True):
    """What was found in the corpus at `path`; the violations themselves are in its folder `mined/violations`.

    quarantined: rows that import could not read; the runs that they belong to are inconclusive where they matter.
    histograms, coverage: what else the runs show; of a protocol that measures nothing, no histograms and no actions.
    """

    path: str
    protocol: str
    files: int
    runs: int
    events: int
    violations: int
    clauses: tuple[ClauseSummary, ...]
    quarantined: int = 0
    histograms: tuple[Histogram, ...] = ()
    coverage: Coverage | None = None

    @property
    def holds(self) -> bool:
        return self.violations == 0

    def table(self) -> pa.Table:
        """The violations: clause, run, position, expected, found, witness, sentence, and the command that replays the
        run alone; by run, position and clause."""
        found = sorted((Path(self.path) / MINED / "violations").glob("*.parquet"))
        tables = [pq.read_table(path, schema=VIOLATIONS) for path in found]
        table = pa.concat_tables(tables) if tables else VIOLATIONS.empty_table()
        return table.sort_by([("run", "ascending"), ("position", "ascending"), ("clause", "ascending")])


class _Tally(msgspec.Struct):
    """A clause over the runs of one file."""

    name: str
    runs: Counter[Verdict]
    held: int = 0
    broken: int = 0
    reason: str = ""


def mine(
    path: Path, master: str = MASTER, on_progress: OnProgress | None = None, *, mapping: Mapping | None = None
) -> MineResult:
    """Judge every run of the corpus at `path`, and leave what was found in its folder `mined/`.

    on_progress counts events. mapping: the files are in a layout of the user's own, and are sorted into a corpus beside
    them first (`spark.arrange`), which is then what the result speaks of. Raises BadInput for a folder without traces,
    a file that cannot be read or lacks a column, traces of several protocols, and rows that no check may look at;
    CannotRun without Java.
    """
    if mapping is not None:
        with session_on(master, arranged_path(path.absolute()).parent) as session:
            return mine(arrange(path, mapping, session), master, on_progress)
    path = path.absolute()  # the tasks may run elsewhere
    parts = parts_of(path)
    protocol = parts[0].protocol
    warm(parts)
    with replaced_folder(path / MINED, SUMMARY) as folder, session_on(master, path) as session:
        (folder / "violations").mkdir()
        mined = run_tasks(
            session,
            parts,
            partial(_mine_part, folder=folder / "violations", corpus=path),
            weights=[part.rows for part in parts],
            on_progress=on_progress,
        )
        clauses = tuple(_summaries(protocol, [tallies for tallies, _ in mined]))
        measured, entries = together(protocol, (part for _, part in mined)), entries_of(path, parts)
        result = MineResult(
            path=str(path),
            protocol=protocol,
            files=len(parts),
            runs=sum(part.runs for part in parts),
            events=sum(part.rows for part in parts),
            violations=sum(clause.broken for clause in clauses),
            clauses=clauses,
            quarantined=quarantined_rows(path),
            histograms=measured.histograms(),
            coverage=coverage(protocol, entries, [(one.clause, one.held, one.runs) for one in clauses], measured),
        )
        # Loaded here, as it draws: no task and no other command needs that, and it takes longer to load than the rest.
        from spark.report import write_report

        write_report(folder, result, entries)
        write_atomically(folder / SUMMARY, msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")
    return result


def _mine_part(part: Part, folder: Path, corpus: Path) -> tuple[dict[str, _Tally], Packed]:
    """In a task: judge one file, write its violations beside those of the others, and return counts by clause, and what
    was measured."""
    tallies: dict[str, _Tally] = {}
    violations: list[tuple[str | int, ...]] = []
    measured = Measured(part.protocol)
    for span, results in judge_part(part, measured=measured):
        replay = f"scatterproof replay --corpus {shlex.quote(str(corpus))} --run {span.header.run}"
        for result in results:
            tally = tallies.setdefault(result.clause, _Tally(result.name, Counter()))
            tally.runs[result.verdict] += 1
            tally.held += result.held
            tally.broken += result.broken
            tally.reason = tally.reason or result.reason
            for found in result.violations:
                numbers = (found.position, found.expected, found.found, found.witness)
                violations.append((found.clause, span.header.run, *numbers, found.sentence, replay))
    if violations:
        columns = [list(column) for column in zip(*violations, strict=True)]
        pq.write_table(pa.table(columns, schema=VIOLATIONS), folder / f"{part.events.stem}.parquet")
    return tallies, measured.packed()


def _summaries(protocol: str, tallies: Sequence[dict[str, _Tally]]) -> Iterable[ClauseSummary]:
    for check in load(protocol).checks:
        own = [tally[check.clause] for tally in tallies if check.clause in tally]
        runs: Counter[Verdict] = sum((tally.runs for tally in own), Counter())
        order = (Verdict.FAIL, Verdict.PASS, Verdict.INCONCLUSIVE)
        verdict = next((verdict for verdict in order if runs[verdict]), Verdict.NOT_APPLICABLE)
        decided = verdict in (Verdict.FAIL, Verdict.PASS)
        yield ClauseSummary(
            clause=check.clause,
            name=check.name,
            verdict=verdict,
            runs=dict(runs),
            held=sum(tally.held for tally in own),
            broken=sum(tally.broken for tally in own),
            reason="" if decided else next((tally.reason for tally in own if tally.reason), ""),
        )
