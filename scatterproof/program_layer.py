"""The layer over real sockets of a protocol whose reference implementation is a program with a command line of its own:
it runs under stress at each level, and is judged by what it wrote."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scatterproof.conformance.verdict import Verdict
from scatterproof.layer_report import LayerReport, Status, StatusCell, detail, gravest
from scatterproof.program_runs import ProgramRun, run_program
from scatterproof.spec import clauses
from scatterproof.stress_options import StressOptions

# A level takes seconds: it ends when everything is there.
PROCESSES, MESSAGES, LOSS, SECONDS = 5, 200, 0.2, 60.0
UNSEEN = "what the programs wrote does not show it"


def program_at(protocol: str, command: str, level: str, seed: int, folder: Path) -> ProgramRun:
    """Run the command at this level of the protocol; each level has a folder of its own in `folder`."""
    options = StressOptions(level=level, processes=PROCESSES, messages=MESSAGES, loss=LOSS, seconds=SECONDS, seed=seed)
    return run_program(protocol, command, options, folder / level, lambda text: None)


def summarise_programs(protocol: str, runs: Sequence[ProgramRun]) -> LayerReport:
    """The report of the layer. A clause passes if it passes at one level and fails at none; one that no level shows is
    not run."""
    cells: dict[str, StatusCell] = {}
    for clause in clauses.load(protocol).clauses:
        found = {
            run.level: result.verdict
            for run in runs
            for result in run.judgement.clauses
            if result.clause == clause.id and result.verdict in (Verdict.PASS, Verdict.FAIL)
        }
        if found:
            worst = Status.FAIL if Verdict.FAIL in found.values() else Status.PASS
            cells[clause.id] = StatusCell(worst, f"at {', '.join(found)}")
        else:
            cells[clause.id] = StatusCell(Status.NOT_RUN, UNSEEN)
    ended = {run.level: run.judgement.verdict for run in runs}
    of = {Verdict.PASS: Status.PASS, Verdict.FAIL: Status.FAIL}
    rows = [
        (run.level, result.clause, result.verdict, result.held, result.broken, result.reason)
        for run in runs
        for result in run.judgement.clauses
    ]
    return LayerReport(
        layer="",
        title="",
        status=gravest(of.get(verdict, Status.INCONCLUSIVE) for verdict in ended.values()),
        sentence="the reference program under stress, judged by its output: "
        + ", ".join(f"{level} {verdict}" for level, verdict in ended.items())
        + f"; {sum(run.judgement.deliveries for run in runs)} deliveries",
        seconds=0.0,
        cells=cells,
        details=(detail("Programs under stress", ("level", "clause", "verdict", "held", "broken", "reason"), rows),),
    )
