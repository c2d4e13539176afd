"""The cases given to an implementation, one after the other or several at once; the results are the same."""

from __future__ import annotations

import shutil
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from scatterproof.conformance.case import CaseResult, Claims, run_case
from scatterproof.conformance.protocol import Case, load
from scatterproof.conformance.report.run import folder_name
from scatterproof.iuts import NODES, MakeIut
from scatterproof.jobs import in_order


class CaseRun(NamedTuple):
    """seconds: what the case took, the start and the end of all nodes included."""

    result: CaseResult
    seconds: float


def run_cases(
    selected: Sequence[Case], make_iut: MakeIut, claims: Claims, folder: Path, jobs: int = 1
) -> Generator[CaseRun, None, None]:
    """The result of each case, in their order; `jobs` cases run at once. Nodes write into NODES of the case's own
    folder in `folder`, which is removed before the case runs."""
    if selected:
        load(selected[0].schedule.protocol)  # here, and not in every process: checks bring a compiler with them

    def run(number: int) -> CaseRun:
        case = selected[number]
        place = folder / folder_name(case.id)
        shutil.rmtree(place / NODES, ignore_errors=True)
        start = time.monotonic()
        result = run_case(case, make_iut(place), claims)
        return CaseRun(result, time.monotonic() - start)

    with closing(in_order(run, len(selected), jobs)) as runs:
        for number, done in enumerate(runs):
            # The case itself, not the copy that another process has sent.
            yield done._replace(result=replace(done.result, case=selected[number]))
