"""The layers in which the reference implementation runs under schedules that are drawn: fuzzing, and a corpus that is
made and mined on Spark."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scatterproof import iuts
from scatterproof.fuzz.fuzzer import FuzzResult, fuzz
from scatterproof.layer_report import LayerReport, Status, StatusCell, detail, gravest
from scatterproof.layers.job import OF_VERDICT, Found, Lane, MainJob, Unit, report_of

if TYPE_CHECKING:
    from scatterproof.spark.mined import MineResult

SCHEDULES = 400
RUNS = 60


def fuzz_units(job: MainJob) -> list[Unit]:
    return [Unit(text=f"{SCHEDULES * job.effort} schedules", weight=12.0 * job.effort, work=partial(_fuzz, job))]


def _fuzz(job: MainJob) -> FuzzResult:
    return fuzz(
        job.protocol,
        iuts.find("reference", job.protocol, job.results),
        examples=SCHEDULES * job.effort,
        seed=job.seed,
        folder=job.results / "failures",
    )


def fuzz_report(job: MainJob, found: Found) -> LayerReport:
    (result,) = found["fuzz"]
    failed = {failure.clause: failure for failure in result.failures}
    cells = {
        clause: StatusCell(
            OF_VERDICT[standing.verdict],
            failed[clause].file if clause in failed else f"{standing.at_stake} times at stake",
        )
        for clause, standing in result.clauses.items()
    }
    status = Status.FAIL if failed else gravest(cell.status for cell in cells.values())
    return report_of(
        status,
        f"{result.examples} schedules, {result.rows} events, seed {job.seed}: {len(failed)} clauses broken",
        cells,
        detail(
            "Failures found by fuzzing",
            ("clause", "verdict", "schedule"),
            [(f.clause, Status.FAIL, f.file) for f in result.failures],
            [_replayed(f.file) for f in result.failures],
        ),
    )


def _replayed(file: str) -> str:
    """The commands that run a schedule again, and step through what it leaves."""
    trace = f"results/replay/{Path(file).stem}.ndjson"
    return f"{shlex.join(['scatterproof', 'replay', file])}; {shlex.join(['scatterproof', 'explore', trace])}"


def mine_units(job: MainJob) -> list[Unit]:
    return [
        Unit(
            text=f"{RUNS * job.effort} runs", weight=30.0 + 10.0 * job.effort, work=partial(_mine, job), lane=Lane.SPARK
        )
    ]


# One session for all protocols, as long as the process that does their units.
_session = ExitStack()


def _mine(job: MainJob) -> MineResult:
    from scatterproof.spark.corpus import make_corpus  # not everybody has Spark
    from scatterproof.spark.mine import mine
    from scatterproof.spark.session import MASTER, session_on

    _session.enter_context(session_on(MASTER))
    folder = job.results / "corpus"
    make_corpus(job.protocol, RUNS * job.effort, job.seed, folder, MASTER)
    return mine(folder, MASTER)


def stop_spark() -> None:
    _session.close()


def mine_report(job: MainJob, found: Found) -> LayerReport:
    (result,) = found["mine"]
    cells = {
        clause.clause: StatusCell(OF_VERDICT[clause.verdict], f"{clause.held} times at stake")
        for clause in result.clauses
    }
    return report_of(
        gravest(cell.status for cell in cells.values()),
        f"{result.runs} runs, {result.events} events, {result.violations} violations",
        cells,
        detail(
            "Mined clauses",
            ("clause", "verdict", "held", "broken", "reason"),
            [(c.clause, c.verdict, c.held, c.broken, c.reason) for c in result.clauses],
        ),
    )
