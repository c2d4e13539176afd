"""A conformance run in Markdown, for the page that a CI shows beside a job."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from scatterproof.conformance.case import CaseResult
from scatterproof.conformance.report.run import ConformanceRun, broken, printable
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec.errors import CannotRun

SHOWN = 20  # cases that do not pass; the artifact has them all
_TOLD = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.NOT_RUN)


def append(path: Path, run: ConformanceRun) -> None:
    """Append to the file: other steps of a job may have written to it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write("\n".join(_lines(run)) + "\n")
    except OSError as error:
        raise CannotRun(f"{path}: the summary cannot be written: {error.strerror}") from None


def _lines(run: ConformanceRun) -> Iterator[str]:
    yield f"## Conformance of {_plain(run.iut)}: {run.verdict}"
    yield ""
    claimed = f", as claimed in {_plain(run.profile)}" if run.profile else ""
    yield f"{run.protocol}, clauses {run.catalogue}{claimed}, {sum(run.seconds.values()):.1f} s"
    yield ""
    yield "| " + " | ".join(run.counts) + " |"
    yield "|" + "---|" * len(run.counts)
    yield "| " + " | ".join(map(str, run.counts.values())) + " |"
    told = [result for result in run.results if result.verdict in _TOLD]
    if told:
        yield ""
        yield "| case | verdict | why |"
        yield "|---|---|---|"
        yield from (f"| {_plain(r.case.id)} | {r.verdict} | {_plain(_why(r))} |" for r in told[:SHOWN])
    if len(told) > SHOWN:
        yield ""
        yield f"and {len(told) - SHOWN} more"
    yield ""


def _why(result: CaseResult) -> str:
    """What the case wants, and the first sentence of what was found."""
    found = broken(result)
    sentence = found[0].violations[0].sentence if found else result.reason
    return f"When {result.case.stimulus}, it {result.case.duty}. {sentence}"


def _plain(said: str) -> str:
    """Text that is neither Markdown nor HTML, in one line: an implementation's words may be in it."""
    line = " ".join(printable(said).split())
    return "".join(f"&#{ord(sign)};" if sign in "<>&|*_`[]!\\~#@" else sign for sign in line)
