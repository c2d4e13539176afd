"""Mining: the compiled checks over traces of any size, in Spark tasks that open their own files.

Spark shares out names of files and collects counts. No row crosses from Java to Python, and none is shuffled: a run
lies in one file, so one task sees it whole.
"""

from __future__ import annotations

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
from conformance.judge import conclude, kernel
from conformance.protocol import load
from conformance.verdict import ClauseResult, Verdict
from spark.jobs import OnProgress, run_tasks
from spark.layout import MINED, replaced_folder
from spark.read import BATCH_ROWS, Part, RunSpan, parts_of, quarantined_rows, read_batches, read_rows, read_spans
from spark.session import MASTER, local_session
from spec.errors import BadInput
from spec.files import write_atomically
from spec.trace import Header

SUMMARY = "summary.json"
NETWORKS_KEPT = 256
_KNOWN: dict[tuple[object, ...], Surroundings] = {}
VIOLATIONS = pa.schema(
    [
        ("clause", pa.string()),
        ("run", pa.int64()),
        ("position", pa.int64()),
        ("expected", pa.int64()),
        ("found", pa.int64()),
        ("witness", pa.int64()),
        ("sentence", pa.string()),
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
    """

    path: str
    protocol: str
    files: int
    runs: int
    events: int
    violations: int
    clauses: tuple[ClauseSummary, ...]
    quarantined: int = 0

    @property
    def holds(self) -> bool:
        return self.violations == 0

    def table(self) -> pa.Table:
        """The violations: clause, run, position, expected, found, witness, sentence; by run, position and clause."""
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


def mine(path: Path, master: str = MASTER, on_progress: OnProgress | None = None) -> MineResult:
    """Judge every run of the corpus at `path`, and leave what was found in its folder `mined/`.

    on_progress counts events. Raises BadInput for a folder without traces, a file that cannot be read or lacks a
    column, traces of several protocols, and rows that no check may look at; CannotRun without Java.
    """
    path = path.absolute()  # the tasks may run elsewhere
    parts = parts_of(path)
    protocol = parts[0].protocol
    _warm(parts)
    with replaced_folder(path / MINED, SUMMARY) as folder, local_session(master) as session:
        (folder / "violations").mkdir()
        tallies = run_tasks(
            session,
            parts,
            partial(_mine_part, folder=folder / "violations"),
            weights=[part.rows for part in parts],
            on_progress=on_progress,
        )
        clauses = tuple(_summaries(protocol, tallies))
        result = MineResult(
            path=str(path),
            protocol=protocol,
            files=len(parts),
            runs=sum(part.runs for part in parts),
            events=sum(part.rows for part in parts),
            violations=sum(clause.broken for clause in clauses),
            clauses=clauses,
            quarantined=quarantined_rows(path),
        )
        write_atomically(folder / SUMMARY, msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")
    return result


def judge_part(part: Part, batch_rows: int = BATCH_ROWS) -> list[tuple[RunSpan, list[ClauseResult]]]:
    """Every run of one file, judged by the compiled checks; every violation is put into words."""
    spans = read_spans(part)
    plugin = load(part.protocol)
    judged = _feed(part, spans, batch_rows)
    rows = read_rows(
        part, {span.first + broken.position for span, (_, found) in zip(spans, judged, strict=True) for broken in found}
    )
    results: list[tuple[RunSpan, list[ClauseResult]]] = []
    for span, (held, broken) in zip(spans, judged, strict=True):
        own = {violation.position: rows[span.first + violation.position] for violation in broken}
        place = f"{part.events}: run {span.header.run}"
        results.append((span, conclude(plugin, span.header, held, broken, own, shown=len(broken), place=place)))
    return results


def _feed(part: Part, spans: Sequence[RunSpan], batch_rows: int) -> list[tuple[list[int], list[Broken]]]:
    """What the kernel counted and found in each run. Batches are cut where runs end."""
    compiled = kernel(part.protocol)
    batches = read_batches(part, ("run", *compiled.columns), batch_rows)
    judged: list[tuple[list[int], list[Broken]]] = []
    batch, at, left = {}, 0, 0
    for span in spans:
        place = f"{part.events}: run {span.header.run}"
        run, done, ended = compiled.run(_surroundings(span.header)), 0, False
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
            at, left, done = at + take, left - take, done + take
        judged.append((run.held.tolist(), run.broken))
    return judged


def _surroundings(header: Header) -> Surroundings:
    """Of this run's network, or of an equal one: steps only read them, and routing costs more than a short run."""
    key = (header.protocol, header.topology, tuple(sorted(header.parameters.items())))
    known = _KNOWN.get(key)
    if known is None:
        if len(_KNOWN) == NETWORKS_KEPT:
            _KNOWN.clear()
        known = _KNOWN[key] = load(header.protocol).surroundings(header)
    return known


def _mine_part(part: Part, folder: Path) -> dict[str, _Tally]:
    """In a task: judge one file, write its violations beside those of the others, and return counts by clause."""
    tallies: dict[str, _Tally] = {}
    violations: list[tuple[str | int, ...]] = []
    for span, results in judge_part(part):
        for result in results:
            tally = tallies.setdefault(result.clause, _Tally(result.name, Counter()))
            tally.runs[result.verdict] += 1
            tally.held += result.held
            tally.broken += result.broken
            tally.reason = tally.reason or result.reason
            for found in result.violations:
                run = span.header.run
                violations.append(
                    (found.clause, run, found.position, found.expected, found.found, found.witness, found.sentence)
                )
    if violations:
        columns = [list(column) for column in zip(*violations, strict=True)]
        pq.write_table(pa.table(columns, schema=VIOLATIONS), folder / f"{part.events.stem}.parquet")
    return tallies


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
    for span in chain.from_iterable(map(read_spans, parts)):
        needed = {check.part for check in plugin.applicable(span.header)}
        if not needed <= warm:
            compiled.run(plugin.surroundings(span.header)).feed(nothing)
            warm |= needed
        if warm == every:
            break
