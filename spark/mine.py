"""Mining: the compiled checks over traces of any size, in Spark tasks that open their own files.

Spark shares out names of files and collects counts. No row crosses from Java to Python, and none is shuffled: a run
lies in one file, so one task sees it whole.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from conformance.checks.online import Broken
from conformance.checks.rows import refuse_bad_rows, refuse_rows_after_end
from conformance.checks.surroundings import Surroundings
from conformance.judge import conclude, kernel, limits
from conformance.measures import gauge
from conformance.protocol import load
from conformance.verdict import ClauseResult, Verdict
from spark.arrange import arrange
from spark.coverage import Coverage, coverage
from spark.importing.mapping import Mapping
from spark.jobs import OnProgress, run_tasks
from spark.layout import MINED, replaced_folder
from spark.measured import Histogram, Measured, Packed, together, with_hops
from spark.read import (
    BATCH_ROWS,
    Part,
    RunSpan,
    entries_of,
    parts_of,
    quarantined_rows,
    read_batches,
    read_rows,
    read_spans,
)
from spark.session import MASTER, local_session
from spec.errors import BadInput
from spec.files import write_atomically
from spec.trace import Header

SUMMARY = "summary.json"
NETWORKS_KEPT = 256
_KNOWN: dict[tuple[object, ...], tuple[Surroundings, Surroundings]] = {}
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
        with local_session(master) as session:
            return mine(arrange(path, mapping, session), master, on_progress)
    path = path.absolute()  # the tasks may run elsewhere
    parts = parts_of(path)
    protocol = parts[0].protocol
    _warm(parts)
    with replaced_folder(path / MINED, SUMMARY) as folder, local_session(master) as session:
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


def judge_part(
    part: Part, batch_rows: int = BATCH_ROWS, measured: Measured | None = None
) -> list[tuple[RunSpan, list[ClauseResult]]]:
    """Every run of one file, judged by the compiled checks; every violation is put into words. measured: takes what
    else the same pass shows."""
    spans = read_spans(part)
    plugin = load(part.protocol)
    judged = _feed(part, spans, batch_rows, measured)
    rows = read_rows(
        part, {span.first + broken.position for span, (_, found) in zip(spans, judged, strict=True) for broken in found}
    )
    results: list[tuple[RunSpan, list[ClauseResult]]] = []
    for span, (held, broken) in zip(spans, judged, strict=True):
        own = {violation.position: rows[span.first + violation.position] for violation in broken}
        place = f"{part.events}: run {span.header.run}"
        results.append((span, conclude(plugin, span.header, held, broken, own, shown=len(broken), place=place)))
    return results


def _feed(
    part: Part, spans: Sequence[RunSpan], batch_rows: int, measured: Measured | None
) -> list[tuple[list[int], list[Broken]]]:
    """What the kernel counted and found in each run. Batches are cut where runs end."""
    compiled, measures = kernel(part.protocol), gauge(part.protocol) if measured is not None else None
    more = () if measures is None else measures.kernel.columns
    batches = read_batches(part, tuple(dict.fromkeys(("run", *compiled.columns, *more))), batch_rows)
    judged: list[tuple[list[int], list[Broken]]] = []
    batch, at, left = {}, 0, 0
    for span in spans:
        place = f"{part.events}: run {span.header.run}"
        around, with_more = _surroundings(span.header)
        run, done, ended = compiled.run(around, limits(span.header)), 0, False
        measuring = None if measures is None else measures.kernel.run(with_more)
        while done < span.rows:
            if not left:
                batch, at = next(batches), 0
                left = len(batch["kind"])
            take = min(left, span.rows - done)
            piece = {name: values[at : at + take] for name, values in batch.items()}
            if (piece["run"] != span.header.run).any():
                raise BadInput(f"{place} is mixed with others, or not in the order of {part.runs_file}; make it again")
            refuse_bad_rows(piece, span.header.topology, base=done, place=place)
            ended = refuse_rows_after_end(piece, ended=ended, place=place)
            run.feed(piece)
            if measuring is not None:
                measuring.feed(piece)
            at, left, done = at + take, left - take, done + take
        judged.append((run.held.tolist(), run.broken))
        if measured is not None and measures is not None and measuring is not None:
            measured.add_run(span.header, measuring, measures)
    return judged


def _surroundings(header: Header) -> tuple[Surroundings, Surroundings]:
    """What checks and measures read of this run's network, or of an equal one: steps only read them, and routing costs
    more than a short run."""
    key = (header.protocol, header.topology, tuple(sorted(header.parameters.items())))
    known = _KNOWN.get(key)
    if known is None:
        if len(_KNOWN) == NETWORKS_KEPT:
            _KNOWN.clear()
        around = load(header.protocol).surroundings(header)
        known = _KNOWN[key] = (around, with_hops(around, header))
    return known


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


def _warm(parts: Sequence[Part]) -> None:
    """Compile here, once, what these runs put at stake, so that the tasks find it in the cache and do not all compile
    it."""
    plugin, compiled = load(parts[0].protocol), kernel(parts[0].protocol)
    nothing = {name: np.zeros(1, dtype=np.int64) for name in compiled.columns}  # a row of kind 0: no check reads it
    every, warm = {check.part for check in plugin.checks}, set[str]()
    measures = gauge(parts[0].protocol)
    if measures is not None:
        header = read_spans(parts[0])[0].header
        idle = {name: np.zeros(1, dtype=np.int64) for name in measures.kernel.columns}
        measures.kernel.run(_surroundings(header)[1]).feed(idle)
    for span in chain.from_iterable(map(read_spans, parts)):
        needed = {check.part for check in plugin.applicable(span.header)}
        if not needed <= warm:
            compiled.run(plugin.surroundings(span.header)).feed(nothing)
            warm |= needed
        if warm == every:
            break
