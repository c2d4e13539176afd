"""What is made for the page beside the layers' reports: runs that must deliver the same, and actions
that TLC sees taken."""

from __future__ import annotations

from functools import partial

from scatterproof.layers.job import Beside, MainJob, Unit
from scatterproof.verify_page_parts import coverage_of, equivalence_of

# TLC reads some hundred rows a second. The more are enough for nearly every action.
EVERYDAY_ROWS, FULL_ROWS = 2_500, 8_000
ROW_S = 0.003


def _equivalence(job: MainJob) -> list[Unit]:
    return [Unit(text="variants", weight=2.0, work=partial(equivalence_of, job.protocol, job.results))]


def _coverage(job: MainJob) -> list[Unit]:
    rows = FULL_ROWS if job.full else EVERYDAY_ROWS
    work = partial(coverage_of, job.protocol, job.results, rows)
    return [Unit(text=f"TLC reads {rows} rows", weight=ROW_S * rows, work=work)]


BESIDE = (Beside("equivalence", "conform", _equivalence), Beside("coverage", "tlc", _coverage))
